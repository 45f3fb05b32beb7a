"""Rows of numbers by name: none is left out silently, and none is another's."""

from __future__ import annotations

import csv
import io
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import DataError
from repro.results import series
from repro.results.series import BestBy, NotFiniteError, chosen, records_in, rows_in
from repro.schema.rows import lenient_rows


@given(st.lists(st.sampled_from(["a", "1.5", " ", '"', '""', "\n", ";", "x y", "\t"]), max_size=14))
def test_an_export_is_cut_as_the_module_of_python_cuts_it(parts: list[str]) -> None:
    """Its cells, the number of each row's last line, and what is wrong with the first bad one."""

    def cut(rows: Any) -> Any:
        found: list[Any] = []
        try:
            found += (row for row in rows if row[1])
        except (ValueError, csv.Error) as error:
            return str(error)
        return found

    text = "".join(parts)
    lines = csv.reader(
        io.StringIO(text, newline=""), delimiter=";", strict=True, skipinitialspace=True
    )
    theirs = cut((lines.line_num, cells) for cells in lines)
    assert cut(lenient_rows(text, ";")) == theirs


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", "loss\n" + "1\n" * 11),
        ("jsonl", '{"loss": 1}\n' * 11),
    ],
)
def test_more_rows_than_are_read_are_refused(
    form: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last of those that are read is not the last one."""
    monkeypatch.setattr(series, "MOST_ROWS", 11)
    assert len(rows_in(text, form)) == 11
    monkeypatch.setattr(series, "MOST_ROWS", 10)
    with pytest.raises(ValueError, match="more than 10 rows, of which none may be left out"):
        rows_in(text, form)


def test_a_row_may_have_any_number_of_names() -> None:
    (row,) = rows_in(json.dumps({f"n{i}": i for i in range(5_000)}), "file")
    assert row["n4999"] == 4999


def test_a_row_that_is_longer_than_its_header_is_refused() -> None:
    """A decimal comma makes two cells of a number; 4 would be read for 4,21."""
    text = "method,seed,error\nplain,0,5\nmixup,0,4,21\n"
    with pytest.raises(ValueError, match="line 3 has 4 cells, and the header 3"):
        records_in(text, "csv")
    assert len(records_in("method,seed,error\nmixup,0,4,\n\nplain,0,5,,\n", "csv")) == 2


def test_a_column_that_stands_there_twice_is_refused() -> None:
    for header in ("step,loss,loss", "step,loss, loss"):
        with pytest.raises(ValueError, match="the column 'loss' stands there twice"):
            records_in(f"{header}\n1,2,3\n", "csv")
    assert rows_in(",,loss\n0,1,2\n", "csv") == [{"loss": 2.0}]


def test_a_header_that_comes_again_is_refused_unless_attempts_may_have_written_it() -> None:
    text = "step,loss\n1,2\nstep,loss\n1,3\n"
    with pytest.raises(ValueError, match="line 3 is the header again"):
        rows_in(text, "csv")
    assert rows_in(text, "csv", appended=True) == [{"step": 1, "loss": 2}, {"step": 1, "loss": 3}]


@pytest.mark.parametrize("form", ["file", "jsonl"])
def test_a_path_that_is_written_in_two_ways_is_refused(form: Any) -> None:
    with pytest.raises(ValueError, match=r"'eval\.x' stands there twice"):
        records_in('{"eval": {"x": 1}, "eval.x": 2}', form)


def test_a_text_in_json_may_have_any_line_end_of_unicode() -> None:
    assert rows_in('{"name": "a\u2028b", "loss": 1}\r\n{"loss": 2}\n', "jsonl") == [
        {"loss": 1},
        {"loss": 2},
    ]


def test_what_to_choose_by_is_never_finite() -> None:
    """That is a divergence; a name that no row has is a mistake."""
    rows: list[series.Row] = [{"loss": 1.0, "valid": None}, {"loss": 2.0, "valid": None}]
    with pytest.raises(NotFiniteError, match="'valid' is finite in no row"):
        chosen(rows, "loss", BestBy(best_by="valid", better="lower"))
    with pytest.raises(DataError) as refused:
        chosen(rows, "loss", BestBy(best_by="vald", better="lower"))
    assert not isinstance(refused.value, NotFiniteError)


def test_a_name_that_a_program_wrote_forges_no_line() -> None:
    rows = rows_in(json.dumps({"loss\x1b[2J\nKEEP": 1}), "file")
    with pytest.raises(DataError) as refused:
        chosen(rows, "loss", None)
    assert "expected: loss\\x1b[2J\\nKEEP" in str(refused.value)
    with pytest.raises(ValueError, match=r"'a\\nb' stands there twice"):
        rows_in('{"a\\nb": 1, "a\\nb": 2}', "file")


@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("csv", ",".join(f"n{i}" for i in range(40_000)) + "\n", "more than 10,000 columns"),
        ("csv", ",".join(f"n{i}" for i in range(9_000)) + ",n8999\n", "'n8999' stands there twice"),
        (
            "file",
            "{" + "".join(f'"n{i}": 1, ' for i in range(200_000)) + '"n199999": 2}',
            "'n199999' stands there twice",
        ),
    ],
)
def test_names_are_counted_in_linear_time(form: Any, text: str, words: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match=words):
        rows_in(text, form)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("cell", ["1_000", "\N{ARABIC-INDIC DIGIT FOUR}", "4\N{NO-BREAK SPACE}"])
def test_only_digits_and_a_point_make_a_number(cell: str) -> None:
    assert rows_in(f"step,loss\n1,{cell}\n", "csv") == [{"step": 1.0}]
    assert rows_in(json.dumps({"loss": cell}), "file") == [{}]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_program_may_write_decimal_commas(separator: str) -> None:
    """As awk does in many countries."""
    text = f"epoche{separator}fehler\n1{separator}9,880\n2{separator}0,912\n"
    assert rows_in(text, "csv") == [{"epoche": 1, "fehler": 9.88}, {"epoche": 2, "fehler": 0.912}]


def test_json_in_lines_may_be_called_a_file() -> None:
    text = '{"loss": 2, "config": {"seed": 1}}\n{"loss": 1, "config": {"seed": 1}}\n'
    assert [row["loss"] for row in rows_in(text, "file")] == [2, 1]
    with pytest.raises(ValueError, match="Extra data"):
        rows_in('{"loss":\n 2}\n{"loss": 1}', "file")


@pytest.mark.parametrize("key", ["key", "tag", "Metric"])
def test_values_of_several_numbers_are_called_by_their_keys(key: str) -> None:
    """Else the last `value` of an accuracy would be the learning rate of the row below."""
    text = f"step,{key},Value\n1,acc,0.5\n1,lr,0.1\n2,acc,0.6\n2,lr,0.1\n"
    found = [{"step": 1.0, "acc": 0.5}, {"step": 1.0, "lr": 0.1}]
    assert rows_in(text, "csv") == [*found, {"step": 2.0, "acc": 0.6}, {"step": 2.0, "lr": 0.1}]
    lines = text.splitlines()[1:]
    rows = [dict(zip((key, "value"), line.split(",")[1:], strict=True)) for line in lines]
    written = "\n".join(json.dumps(row | {"value": float(row["value"])}) for row in rows)
    assert rows_in(written, "jsonl")[:2] == [{"acc": 0.5}, {"lr": 0.1}]


def test_values_of_one_key_or_of_numbered_ones_keep_their_name() -> None:
    assert rows_in("key,value\nacc,0.5\nacc,0.6\n", "csv") == [{"value": 0.5}, {"value": 0.6}]
    assert rows_in("key,value\n1,0.5\n2,0.6\n", "csv")[0] == {"key": 1.0, "value": 0.5}


def test_a_key_that_is_the_name_of_another_column_overwrites_none() -> None:
    """A key `step` next to a column `step` took its place."""
    rows = rows_in("step,key,value\n1,step,7\n1,loss,0.5\n", "csv")
    assert [row["step"] for row in rows] == [1, 1]
    rows = rows_in("step,key,value\n1,acc,7\n1,loss,0.5\n", "csv")
    assert rows == [{"step": 1, "acc": 7}, {"step": 1, "loss": 0.5}]
