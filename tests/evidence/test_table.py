"""The tidy CSV: what is read, exactly, and how every mistake is named."""

from __future__ import annotations

import hashlib
import os
import time
import tracemalloc
from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.evidence.csv_table import MAX_BYTES, read_table
from repro.schema.rows import LIMIT, MAX_COLUMNS, MOST
from tests.evidence.tidy import HEADER, small

GOOD = f"{HEADER}\na,0,ppl,90.5\na,1,ppl,91.25\nb,0,ppl,88\nb,1,ppl,8.75e1\n"


def written(folder: Path, content: str | bytes) -> Path:
    """A file with this content, to the byte."""
    path = folder / "results.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def mistakes(folder: Path, content: str | bytes) -> list[str]:
    """What is said about a file: `line:column: what`, in reading order."""
    with pytest.raises(SpecError) as caught:
        read_table(written(folder, content), small())
    assert caught.value.exit_code == 2
    return [f"{one.place.line}:{one.place.column}: {one.what}" for one in caught.value.problems]


def test_values_keep_every_bit(tmp_path: Path) -> None:
    """A value is the float that its digits name, and seeds come in order."""
    text = f"{HEADER}\na,7,ppl,0.1\na,3,ppl,90.123456789012345\nb,0,ppl,1e-30\n"
    table = read_table(written(tmp_path, text), small())
    assert table.values == {
        "a": {3: {"ppl": 90.123456789012345}, 7: {"ppl": 0.1}},
        "b": {0: {"ppl": 1e-30}},
    }
    assert list(table.values["a"]) == [3, 7]


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    """The SHA-256 is the one that sha256sum prints, and the name is without its folders."""
    table = read_table(written(tmp_path, GOOD), small())
    assert table.source.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()
    assert table.source.file == "results.csv"


@pytest.mark.parametrize(
    "content",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        "\ufeff" + GOOD,
        GOOD + "\n\n",
        GOOD.rstrip("\n"),
        GOOD.replace(",", " , "),
        '"arm","seed","measurement","value"\n' + GOOD.partition("\n")[2].replace("a,", '"a",'),
        "value,measurement,seed,arm\n90.5,ppl,0,a\n91.25,ppl,1,a\n88,ppl,0,b\n87.5,ppl,1,b\n",
        f"{HEADER}\nb,1,ppl,87.50\na,1,ppl,+91.25\nb,0,ppl,88.\na,0,ppl,.905E+2\n",
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace(",", " ; "),
        '"arm";"seed";"measurement";"value"\n' + GOOD.partition("\n")[2].replace(",", ";"),
    ],
)
def test_what_spreadsheets_write_is_read_alike(tmp_path: Path, content: str) -> None:
    """Line ends, a byte-order mark, quotes, blanks and the order of rows mean nothing."""
    table = read_table(written(tmp_path, content), small())
    assert table.values == read_table(written(tmp_path, GOOD), small()).values


BAD: dict[str, tuple[str | bytes, list[str]]] = {
    "empty": ("", ["1:1: the file is empty"]),
    "only blank lines": ("\n \n", ["1:1: the file is empty"]),
    "header only": (
        HEADER,
        ["1:1: there are no rows for arm 'a'", "1:1: there are no rows for arm 'b'"],
    ),
    "missing column": ("arm,seed,value\na,0,1\n", ["1:1: row 1: there is no column 'measurement'"]),
    "unknown column": (
        "arm,seed,measurment,value\na,0,ppl,1\n",
        ["1:10: row 1: unknown column 'measurment'"],
    ),
    "columns of another form": (
        "seed,baseline,ours\n0,1,2\n",
        ["1:1: row 1: there are no columns 'arm', 'measurement' and 'value'"],
    ),
    "a column in capitals beside it": (
        f"{HEADER},Value\na,0,ppl,1,2\n",
        ["1:28: row 1: unknown column 'Value'"],
    ),
    "capitals": (
        "Arm,seed,measurement,value\n",
        ["1:1: row 1: unknown column 'Arm'"],
    ),
    "too many columns": (
        HEADER + ",x" * MAX_COLUMNS,
        [f"1:{len(HEADER) + 2 * (MAX_COLUMNS - 4) + 1}: row 1: more than 1,000 cells"],
    ),
    "column twice": (f"{HEADER},arm\n", ["1:28: row 1: column 'arm' stands there twice"]),
    "JSON": ('{"results": {"a": [1, 2]}}\n', ["1:1: the file is JSON"]),
    "bars": (
        "arm|seed|measurement|value\na|0|ppl|1\n",
        ["1:1: row 1: there are no columns 'arm', 'seed', 'measurement' and 'value'"],
    ),
    "commas and points": (
        GOOD.replace(",", ";").replace("90.5", "90,5"),
        ["2:9: row 2, column value: '90,5' is not a finite number"],
    ),
    "percent and none": (
        GOOD.replace("90.5", "90.5%"),
        ["2:9: row 2, column value: '90.5%' is not a finite number"],
    ),
    "unknown arm": (f"{GOOD}aa,0,ppl,1\n", ["6:1: row 6, column arm: the claim has no arm 'aa'"]),
    "arm of another place": (
        f"{GOOD}c,0,ppl,1\n",
        ["6:1: row 6, column arm: the values of 'c' are not read from here"],
    ),
    "the same name in many rows": (
        GOOD + "".join(f"x,{seed},pl,1\n" for seed in range(64)) + "c,0,ppl,1\n" * 2,
        [
            "6:1: row 6, column arm: the claim has no arm 'x' (63 more rows)",
            "70:1: row 70, column arm: the values of 'c' are not read from here (1 more row)",
        ],
    ),
    "unknown measurement": (
        f"{GOOD}a,2,pl,1\n",
        ["6:5: row 6, column measurement: the claim has no measurement 'pl'"],
    ),
    "a misspelt measurement in many rows": (
        GOOD.replace("ppl", "pl"),
        ["2:5: row 2, column measurement: the claim has no measurement 'pl' (3 more rows)"],
    ),
    "duplicate": (f"{GOOD}a,1,ppl,2\n", ["6:1: row 6: arm 'a', seed 1, measurement 'ppl' again"]),
    "not a number": (
        f"{GOOD}a,2,ppl,ninety\n",
        ["6:9: row 6, column value: 'ninety' is not a finite number"],
    ),
    "nan": (f"{GOOD}a,2,ppl,NaN\n", ["6:9: row 6, column value: 'NaN' is not a finite number"]),
    "infinity": (
        f"{GOOD}a,2,ppl,-inf\n",
        ["6:9: row 6, column value: '-inf' is not a finite number"],
    ),
    "too large": (
        f"{GOOD}a,2,ppl,1e999\n",
        ["6:9: row 6, column value: '1e999' is not a finite number"],
    ),
    "decimal comma": (
        f'{GOOD}a,2,ppl,"90,5"\n',
        ["6:9: row 6, column value: '90,5' is not a finite number"],
    ),
    "next to nothing": (
        f"{GOOD}a,2,ppl,1e-400\n",
        ["6:9: row 6, column value: '1e-400' is too small to compute with"],
    ),
    "a no-break space": (
        f"{GOOD}a,2,ppl,\u00a01\n",
        ["6:9: row 6, column value: '\\u00a01' is not a finite number"],
    ),
    "a line separator": (
        f"{GOOD}a,2,ppl,1\u2028\n",
        ["6:9: row 6, column value: '1\\u2028' is not a finite number"],
    ),
    "an arm that turns the text round": (
        f"{GOOD}\u202ea,2,ppl,1\n",
        ["6:1: row 6, column arm: the claim has no arm '\\u202ea'"],
    ),
    "NEL": (f"{GOOD}a,2,ppl,1\u0085\n", ["6:10: row 6: character U+0085 is not allowed"]),
    "CSI": (f"{GOOD}a,2,ppl,\u009b1\n", ["6:9: row 6: character U+009B is not allowed"]),
    "underscore": (
        f"{GOOD}a,2,ppl,1_0\n",
        ["6:9: row 6, column value: '1_0' is not a finite number"],
    ),
    "no value": (f"{GOOD}a,2,ppl,\n", ["6:9: row 6, column value: the cell is empty"]),
    "no arm": (f"{GOOD},2,ppl,1\n", ["6:1: row 6, column arm: the cell is empty"]),
    "negative seed": (
        f"{GOOD}a,-1,ppl,1\n",
        ["6:3: row 6, column seed: '-1' is no number of a replicate"],
    ),
    "fractional seed": (
        f"{GOOD}a,1.5,ppl,1\n",
        ["6:3: row 6, column seed: '1.5' is no number of a replicate"],
    ),
    "seed with zeros": (
        f"{GOOD}a,01,ppl,1\n",
        ["6:3: row 6, column seed: '01' is no number of a replicate"],
    ),
    "no seed": (f"{GOOD}a,,ppl,1\n", ["6:3: row 6, column seed: the cell is empty"]),
    "few cells": (f"{GOOD}a,2,ppl\n", ["6:1: row 6: 3 cells in a table of 4 columns"]),
    "many cells": (f"{GOOD}a,2,ppl,1,234\n", ["6:1: row 6: 5 cells in a table of 4 columns"]),
    "blank line inside": (
        f"{HEADER}\n\n{GOOD.partition(chr(10))[2]}",
        ["2:1: row 2: the row is empty"],
    ),
    "open quote": (
        f'{GOOD}a,2,"ppl,1\n',
        ["6:5: row 6: a quote inside a cell, or one that is not closed"],
    ),
    "NUL": (f"{GOOD}a,2,ppl,1\0\n", ["6:10: row 6: character U+0000 is not allowed"]),
    "seeds that differ": (
        f"{GOOD}a,0,rank,34\n",
        ["3:1: row 3: seed 1 of arm 'a' has no value of measurement 'rank'"],
    ),
    "an arm without rows": (f"{HEADER}\na,0,ppl,1\n", ["1:1: there are no rows for arm 'b'"]),
    "what decides is missing": (
        f"{HEADER}\na,0,rank,1\nb,0,ppl,1\n",
        ["1:1: there are no rows for measurement 'ppl' of arm 'a'"],
    ),
    "not UTF-8": (GOOD.encode() + b"a,2,ppl,\xff\n", ["6:9: byte 0xFF is not UTF-8"]),
    "UTF-16": (GOOD.encode("utf-16"), ["1:1: byte 0xFF is not UTF-8"]),
    "all at once": (
        f"{GOOD}x,-1,y,nan\na,0,ppl,1\n",
        [
            "6:1: row 6, column arm: the claim has no arm 'x'",
            "6:3: row 6, column seed: '-1' is no number of a replicate",
            "7:1: row 7: arm 'a', seed 0, measurement 'ppl' again",
        ],
    ),
}


@pytest.mark.parametrize("name", list(BAD))
def test_every_mistake_is_named_with_its_row_and_column(tmp_path: Path, name: str) -> None:
    """A table with mistakes is refused, and all of them are said, each where it is."""
    content, expected = BAD[name]
    assert mistakes(tmp_path, content) == expected


def test_a_message_has_four_parts(tmp_path: Path) -> None:
    """Where, what, what was expected, and what to do, to the letter."""
    with pytest.raises(SpecError) as caught:
        read_table(written(tmp_path, f"{GOOD}b,1,ppl,80\na,2,rnk,80\na,3,ppl,80%\n"), small())
    assert str(caught.value).replace(str(tmp_path), "") == (
        "/results.csv:6:1: row 6: arm 'b', seed 1, measurement 'ppl' again\n"
        "  expected: one value for each\n"
        "  to do: remove one of the two; the first is row 5\n"
        "/results.csv:7:5: row 7, column measurement: the claim has no measurement 'rnk'\n"
        "  expected: one of ppl, rank\n"
        "  to do: did you mean 'rank'?\n"
        "/results.csv:8:9: row 8, column value: '80%' is not a finite number\n"
        "  expected: a finite number\n"
        "  to do: write the number in the unit of the other rows, without a percent sign"
    )


def test_the_number_of_messages_has_an_end(tmp_path: Path) -> None:
    """Of a thousand bad rows the first are named, and the rest are counted."""
    said = mistakes(tmp_path, f"{HEADER}\n" + "a,x,ppl,1\n" * 1000)
    assert len(said) == MOST + 1
    assert said[-1].endswith(f"{1000 - MOST} more mistakes from here on")


def test_reading_stops_after_very_many_mistakes(tmp_path: Path) -> None:
    """A file of nothing but mistakes is not read to its end, and the message says where it was."""
    said = mistakes(tmp_path, f"{HEADER}\n" + "a,x,ppl,1\n" * (10 * LIMIT))
    assert len(said) == MOST + 1
    last = f"{LIMIT + 1}:3: {LIMIT - MOST:,} more mistakes until here, where reading stopped"
    assert said[-1] == last


HUGE = 1_000_000
LARGE: dict[str, str] = {
    "blanks before a quote": f'a,{" " * HUGE}"',
    "an open quote": f'a,"{"x" * HUGE}',
    "quotes": '"' * (HUGE + 1),
    "digits": f"a,2,ppl,{'1' * HUGE}x",
    "digits and a point": f"a,2,ppl,{'1' * HUGE}.",
    "an exponent": f"a,2,ppl,1e{'1' * HUGE}",
    "a name": "x" * HUGE,
    "commas": "," * HUGE,
    "rows of one cell": "a\n" * (HUGE // 2),
    "blank rows": f"{chr(10) * HUGE}a,2,ppl,1",
    "names": "\n".join(f"x{place},0,ppl,1" for place in range(HUGE // 16)),
    "seeds": "\n".join(f"a,{place},ppl,1" for place in range(HUGE // 16)),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_table_of_mistakes_takes_seconds_and_little_memory(
    tmp_path: Path, name: str
) -> None:
    """Megabytes of whatever a reader could stumble on are refused at once, not in an hour."""
    path = written(tmp_path, f"{GOOD}{LARGE[name]}\n")
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(SpecError) as caught:
        read_table(path, small())
    took = time.process_time() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 10
    assert peak < 60_000_000
    assert len(str(caught.value)) < 100_000


EXTRA = "run_id,arm,seed,measurement,value,note\n" + "".join(
    f'{place},{row},"an own, note"\n'
    for place, row in enumerate(
        (*GOOD.splitlines()[1:], "a,0,loss,nan", "a,1,loss,x", "b,0,loss,", "b,1,loss,0.5")
    )
)


def test_what_is_not_of_the_claim_is_left_unread(tmp_path: Path) -> None:
    """Other columns and other measurements of the same seeds change nothing, and are named."""
    table = read_table(written(tmp_path, EXTRA), small())
    assert table.values == read_table(written(tmp_path, GOOD), small()).values
    table = read_table(written(tmp_path, EXTRA), small())
    assert table.source.ignored == ("column 'run_id'", "column 'note'", "measurement 'loss'")


def test_of_many_columns_the_first_are_named(tmp_path: Path) -> None:
    """A report does not list the thirty columns of an export."""
    head, *rows = GOOD.splitlines()
    more = ",".join(f"x{place}" for place in range(30))
    text = "\n".join([f"{head},{more}", *(f"{row}{',1' * 30}" for row in rows)])
    assert read_table(written(tmp_path, text), small()).source.ignored == (
        *(f"column 'x{place}'" for place in range(5)),
        "25 more",
    )


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    """A folder is refused in words."""
    with pytest.raises(SpecError, match=r"not a regular file(.|\n)*expected: a CSV file"):
        read_table(tmp_path, small())


def test_a_device_is_no_table() -> None:
    """A device that never ends is refused before anything is read."""
    with pytest.raises(SpecError, match="not a regular file"):
        read_table(Path("/dev/zero"), small())


def test_a_pipe_does_not_wait(tmp_path: Path) -> None:
    """A pipe that nobody writes to is refused at once."""
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(SpecError, match="not a regular file"):
        read_table(tmp_path / "pipe.csv", small())


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The path and the reason are said."""
    with pytest.raises(SpecError, match=r"nothing\.csv(.|\n)*no such file"):
        read_table(tmp_path / "nothing.csv", small())


def test_an_endless_file_is_refused(tmp_path: Path) -> None:
    """A file above the limit is not read to its end."""
    path = tmp_path / "large.csv"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(SpecError, match="too large"):
        read_table(path, small())
