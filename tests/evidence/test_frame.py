"""A pandas frame in the tidy form: the same values, the same checks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from repro.errors import SpecError
from repro.evidence.csv_table import frame_table, read_table
from repro.judging.gather import from_table
from tests.evidence.tidy import RANKS, needed, rank_csv
from tests.judging.evidence import claim

ROWS = [(arm, i, "rank", value) for arm, values in RANKS.items() for i, value in enumerate(values)]
COLUMNS = ["arm", "seed", "measurement", "value"]


def mistakes(frame: pd.DataFrame) -> list[str]:
    """What is said about a frame."""
    with pytest.raises(SpecError) as caught:
        frame_table(frame, needed())
    return [one.what for one in caught.value.problems]


def test_a_frame_is_read_like_its_csv(tmp_path: Path) -> None:
    """What pandas writes to a file reads back as the frame itself, digest included."""
    frame = pd.DataFrame(ROWS, columns=COLUMNS)
    (tmp_path / "results.csv").write_text(rank_csv(), encoding="utf-8")
    there, here = read_table(tmp_path / "results.csv", needed()), frame_table(frame, needed())
    assert here.values == there.values
    assert here.source.sha256 == there.source.sha256


def test_evidence_goes_to_a_frame_and_back() -> None:
    """`Evidence.table()` is the tidy form, and judging takes it again without a change."""
    of = claim("mos_rank")
    evidence = from_table(of, frame_table(pd.DataFrame(ROWS, columns=COLUMNS), needed()))
    assert list(evidence.table().columns) == COLUMNS
    assert from_table(of, frame_table(evidence.table(), needed())) == evidence


def test_every_bit_of_a_frame_is_kept() -> None:
    """Floats of any width are the numbers that they are."""
    values = np.array([0.1, 1 / 3, 1e59, 5e-59, 2**53 + 2.0], dtype=np.float64)
    frame = pd.DataFrame(ROWS, columns=COLUMNS)
    frame.loc[frame["arm"] == "mos", "value"] = values
    found = frame_table(frame, needed()).values["mos"]
    assert [found[i]["rank"] for i in range(5)] == values.tolist()


@pytest.mark.parametrize("kind", ["int64", "uint8", "Int64", "object", "string"])
def test_seeds_of_any_whole_type_are_seeds(kind: str) -> None:
    """A seed is a whole number, however pandas holds it."""
    frame = pd.DataFrame(ROWS, columns=COLUMNS).astype({"seed": kind, "arm": "category"})
    assert list(frame_table(frame, needed()).values["mos"]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("column", "value", "what"),
    [
        ("value", float("nan"), "row 2, column value: 'nan' is not a finite number"),
        ("value", None, "row 2, column value: the cell is empty"),
        ("value", pd.NA, "row 2, column value: the cell is empty"),
        ("value", True, "row 2, column value: 'True' is not a finite number"),
        ("value", "high", "row 2, column value: 'high' is not a finite number"),
        ("seed", 1.0, "row 2, column seed: '1.0' is no number of a replicate"),
        ("seed", -1, "row 2, column seed: '-1' is no number of a replicate"),
        ("seed", 1, "row 2: arm 'mos', seed 1, measurement 'rank' again"),
        ("arm", "Mos", "row 2, column arm: the claim has no arm 'Mos'"),
        ("measurement", None, "row 2, column measurement: the cell is empty"),
    ],
)
def test_a_mistake_is_named_by_the_position_of_its_row(
    column: str, value: object, what: str
) -> None:
    """Rows count from 0, as iloc does, whatever the index of the frame is."""
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    rows[2][column] = value
    frame = pd.DataFrame(rows, dtype=object, index=[f"row {i}" for i in range(len(rows))])
    assert mistakes(frame)[0] == what


def test_a_frame_of_another_form_is_refused() -> None:
    """A wide frame lacks the columns of the tidy form, and each is named."""
    said = mistakes(pd.DataFrame({"mos": [1.0], "softmax": [2.0]}))
    assert said == ["row 0: there are no columns 'arm', 'seed', 'measurement' and 'value'"]
    assert mistakes(pd.DataFrame(columns=COLUMNS))[0] == "there are no rows for arm 'moc'"
