"""Properties of the tidy form: whatever the bytes, a table or every mistake, and never a change."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import SpecError
from repro.evidence.csv_table import frame_table, read_table
from repro.evidence.evidence import TidyTable
from repro.schema.base import LARGEST, SMALLEST
from tests.evidence.tidy import HEADER, small

PIECES = st.sampled_from(
    [
        *("a", "b", "c", "ppl", "rank", "nan", "0", "1", "7", "-", ".", "e", "9" * 400, HEADER),
        *(",", ",", ",", "\n", "\n", "\r", '"', " ", "\t"),
        *("\0", "\ufeff", "\u2028", "\x85", "\xe9"),
    ]
)
SIZES = st.floats(SMALLEST, LARGEST)
FINITE = SIZES | SIZES.map(lambda size: -size) | st.sampled_from((0.0, -0.0))
SEEDS = st.lists(st.integers(0, 2**53 - 1), min_size=1, max_size=6, unique=True)


def read(content: bytes) -> TidyTable | SpecError:
    """What comes of a file with these bytes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(content)
        try:
            return read_table(path, small())
        except SpecError as error:
            return error


@given(st.lists(PIECES, max_size=60), st.booleans())
def test_any_text_is_a_table_or_mistakes(pieces: list[str], headed: bool) -> None:
    """No text makes the reader fail in another way, and each mistake has a place in the file."""
    text = (f"{HEADER}\n" if headed else "") + "".join(pieces)
    found = read(text.encode())
    if isinstance(found, TidyTable):
        assert set(found.values) == {"a", "b"}
    else:
        assert found.problems
        assert all(one.place.line >= 1 and one.place.column >= 1 for one in found.problems)


@given(st.binary(max_size=80))
def test_any_bytes_are_mistakes(content: bytes) -> None:
    """Nor do bytes that are no text: too few for a table, they are refused in words."""
    found = read(HEADER.encode() + b"\n" + content)
    assert isinstance(found, TidyTable) or found.problems


@given(SEEDS, st.data())
def test_what_pandas_writes_is_read_to_the_bit(seeds: list[int], data: st.DataObject) -> None:
    """A frame, its CSV and what is read of both hold the same floats for the same seeds."""
    rows = [(arm, seed, "ppl", data.draw(FINITE)) for arm in ("a", "b") for seed in seeds]
    frame = pd.DataFrame(rows, columns=["arm", "seed", "measurement", "value"])
    expected = {
        arm: {seed: {"ppl": value} for a, seed, _, value in rows if a == arm} for arm in ("a", "b")
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        frame.to_csv(path, index=False)
        assert read_table(path, small()).values == expected
    assert frame_table(frame, small()).values == expected


@given(st.permutations(range(12)))
def test_the_order_of_rows_means_nothing(order: list[int]) -> None:
    """Rows may come in any order: values are known by arm, seed and measurement."""
    rows = [
        (a, s, m, 10 * s + (a == "a")) for a in "ab" for s in (1, 5, 3) for m in ("ppl", "rank")
    ]
    columns = ["arm", "seed", "measurement", "value"]
    one = frame_table(pd.DataFrame(rows, columns=columns), small())
    other = frame_table(pd.DataFrame([rows[i] for i in order], columns=columns), small())
    assert one.values == other.values
    assert list(other.values["a"]) == [1, 3, 5]
