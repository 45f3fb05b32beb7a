"""The numbers that a program leaves, in four forms, and which of a series is taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repro.errors import DataError
from repro.results.pattern_rows import PatternRows
from repro.results.series import AtRow, BestBy, Row, chosen
from repro.trainers.command.left import Left
from repro.trainers.command.results import printed, rows_of
from repro.trainers.command.spec import Results

ROWS: list[Row] = [
    {"step": 1, "loss": 3.0, "acc": 0.1},
    {"step": 2, "loss": 1.0, "acc": 0.3},
    {"step": 3, "loss": 2.0, "acc": None},
    {"step": 4},
]


def read(folder: Path, form: str, text: str | bytes) -> list[Row]:
    path = folder / "found"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return rows_of(Results(**{form: "{out}/found"}), {"out": str(folder)}, folder)


def test_json_nested_or_flat(tmp_path: Path) -> None:
    """Texts, lists, switches and nulls are no numbers; a number in quotes is one."""
    document = {"a": 1, "test": {"acc": {"top1": 0.5}}, "name": "x", "list": [1], "ok": True}
    found = read(tmp_path, "file", json.dumps({**document, "none": None, "quoted": "2.5"}))
    assert found == [{"a": 1.0, "test.acc.top1": 0.5, "quoted": 2.5}]


def test_not_finite_is_told_apart_from_absent(tmp_path: Path) -> None:
    assert read(tmp_path, "file", '{"a": NaN, "b": 1e999, "c": "inf"}') == [
        {"a": None, "b": None, "c": None}
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_with_any_separator(tmp_path: Path, separator: str) -> None:
    text = f"step{separator}loss\n1{separator}3.5\n2{separator}nan\n"
    assert read(tmp_path, "csv", text) == [{"step": 1, "loss": 3.5}, {"step": 2, "loss": None}]


@pytest.mark.parametrize(
    ("form", "text"),
    [("file", '{"loss": 2.5}'), ("jsonl", '{"loss": 2.5}\n'), ("csv", "loss\n2.5\n")],
)
def test_a_byte_order_mark_is_no_part_of_the_results(tmp_path: Path, form: str, text: str) -> None:
    """Programs on Windows write it before UTF-8."""
    assert read(tmp_path, form, text.encode("utf-8-sig")) == [{"loss": 2.5}]


def test_json_lines(tmp_path: Path) -> None:
    text = '{"step": 1, "loss": 3}\n\n{"step": 2, "valid": {"loss": 4}}\n'
    assert read(tmp_path, "jsonl", text) == [{"step": 1, "loss": 3}, {"step": 2, "valid.loss": 4}]


def test_the_output_of_the_program() -> None:
    search = PatternRows(r"^(?:step (?P<step>\d+) )?val_bpb:\s+(?P<val_bpb>\S+)")
    for line in ("step 1 val_bpb:  1.5", "noise val_bpb: 3", "val_bpb: nan", "val_bpb: soon"):
        search(line)
    assert search.rows == [{"step": 1, "val_bpb": 1.5}, {"val_bpb": None}, {}]


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("file", "{", "cannot be read as file"),
        ("file", "[1]", "it holds no object at its top"),
        ("file", "{}", "no numbers"),
        ("file", '{"name": "x"}', "no numbers"),
        ("file", b"\xff\xfe", "no UTF-8"),
        ("file", "[" * 100_000, "cannot be read as file"),
        ("file", '{"a": ' * 100_000, "cannot be read as file"),
        ("jsonl", '{"a": 1}\n[2]', "line 2 holds no object"),
        ("jsonl", '{"a": 1}\n{"a":', "cannot be read as jsonl"),
        ("csv", "", "no numbers"),
        ("csv", 'a,b\n"1,2', "cannot be read as csv"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, form: str, text: str | bytes, said: str) -> None:
    with pytest.raises(DataError) as refused:
        read(tmp_path, form, text)
    assert said in str(refused.value)
    assert "to do: correct `results`" in str(refused.value)


def test_results_that_are_missing_or_lead_elsewhere(tmp_path: Path) -> None:
    """A link is not followed: what is behind it was not made by this run."""
    (tmp_path / "link").symlink_to("/etc/passwd")
    for name in ("nothing", "link", "."):
        results = Results(file=f"{{out}}/{name}")
        with pytest.raises(DataError, match="cannot be read"):
            rows_of(results, {"out": str(tmp_path)}, tmp_path)


@pytest.mark.parametrize("form", ["file", "jsonl"])
def test_a_number_that_is_written_twice_is_refused(tmp_path: Path, form: str) -> None:
    """Nobody knows which of the two is meant; to take the last would drop the first silently."""
    (tmp_path / "r").write_text('{"eval": {"x": 1, "x": 2}}\n', "utf-8")
    with pytest.raises(DataError, match="'x' stands there twice"):
        rows_of(Results(**{form: "{out}/r"}), {"out": str(tmp_path)}, tmp_path)


def test_a_log_has_its_numbers_in_its_lines(tmp_path: Path) -> None:
    """As a program writes it beside its results; a line without the pattern has none."""
    (tmp_path / "main.log").write_text("start\n[INFO] acc=0.5\n[INFO] acc=0.75\n", "utf-8")
    results = Results(log="{out}/main.log", pattern=r"acc=(?P<acc>\S+)")
    assert rows_of(results, {"out": str(tmp_path)}, tmp_path) == [
        {"acc": 0.5},
        {"acc": 0.75},
    ]
    other = Results(log="{out}/main.log", pattern=r"loss=(?P<loss>\S+)")
    with pytest.raises(DataError, match=r"main.log: no line has the pattern"):
        rows_of(other, {"out": str(tmp_path)}, tmp_path)


def test_an_output_without_the_pattern() -> None:
    with pytest.raises(DataError, match="no line has the pattern"):
        printed(Left(output=b"y"), "(?P<a>x)")


@pytest.mark.parametrize(
    ("reduction", "value"),
    [
        ("first", 3.0),
        ("last", 2.0),
        (AtRow(at={"step": 2.0}), 1.0),
        (BestBy(best_by="loss", better="lower"), 1.0),
        (BestBy(best_by="loss", better="higher"), 3.0),
        (BestBy(best_by="acc", better="higher"), 1.0),
        (BestBy(best_by="acc", better="lower"), 3.0),
    ],
)
def test_a_series_is_reduced_as_declared(reduction: Any, value: float) -> None:
    assert chosen(ROWS, "loss", reduction)[0] == value


def test_the_first_of_equals_is_best() -> None:
    rows: list[Row] = [{"a": 2.0, "b": 5.0}, {"a": 1.0, "b": 6.0}, {"a": 1.0, "b": 7.0}]
    assert chosen(rows, "b", BestBy(best_by="a", better="lower")) == (6.0, 1)


def test_one_value_needs_no_reduction() -> None:
    assert chosen([{"a": 1.0}, {"b": 2.0}], "b", None) == (2.0, 1)


@pytest.mark.parametrize(
    ("name", "reduction", "said"),
    [
        ("los", "last", "did you mean 'loss'"),
        ("loss", None, "3 values of 'loss'"),
        ("loss", AtRow(at={"step": 9.0}), "no rows in which 'step' is 9"),
        ("loss", AtRow(at={"epoch": 1.0}), "no rows in which 'epoch' is 1"),
        ("loss", BestBy(best_by="f1", better="higher"), "no row with 'f1'"),
        ("acc", "last", "'acc' is not finite"),
    ],
)
def test_a_number_that_is_not_there(name: str, reduction: Any, said: str) -> None:
    with pytest.raises(DataError) as refused:
        chosen(ROWS, name, reduction)
    assert said in str(refused.value)


def test_a_file_that_is_missing_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    """Ten at most, and what could not be printed is written out; links are not followed."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "all_results.json").write_text("{}")
    (tmp_path / "out\x1b[31m.txt").write_text("")
    (tmp_path / "elsewhere").symlink_to("/")
    results, values = Results(file="{out}/results.json"), {"out": str(tmp_path)}
    with pytest.raises(DataError) as error:
        rows_of(results, values, tmp_path)
    assert str(error.value).splitlines()[1] == (
        "  expected: the results of the run; {out} has 'out\\x1b[31m.txt', 'run/all_results.json'"
    )
    for number in range(10, 30):
        (tmp_path / f"a{number}{100 * 'x'}").write_text("")
    with pytest.raises(DataError) as error:
        rows_of(results, values, tmp_path)
    (said,) = (line for line in str(error.value).splitlines() if "expected" in line)
    assert said.count("'a") == 10
    assert said.endswith("xx' and 12 more")
    assert len(said) < 1_000
