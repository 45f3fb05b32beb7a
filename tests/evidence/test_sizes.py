"""Sizes that float64 can be trusted with: no value of any other size is read, and those are safe.

So are numbers of replicates: a table has no more of an arm than a claim could plan.
"""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import ClaimError, SpecError
from repro.evidence.csv_table import MAX_SEEDS, frame_table, read_table
from repro.evidence.evidence import Evidence
from repro.expectations.verdict_words import Validity
from repro.judging.assemble import check_claim
from repro.judging.gather import gather
from repro.judging.judge import judge_claim
from repro.schema.base import LARGEST, SMALLEST, SeedCount
from repro.specs.load import load_claim
from repro.stats.records import ROUND_OFF
from repro.store.sealed import read_sealed, seal
from tests.evidence.tidy import HEADER, small
from tests.judging.made import seen
from tests.properties.kinds import KINDS, known_claim
from tests.workflows.test_runs import FILE, filled

TOO_LARGE, TOO_SMALL = ("1e308", "-1e61", "1.0001e60"), ("1e-61", "-1e-300", "5e-324")


@pytest.mark.parametrize("cell", [*TOO_LARGE, *TOO_SMALL, "1e-400", "-0.00001e-9999"])
def test_a_value_of_an_absurd_size_is_refused(tmp_path: Path, cell: str) -> None:
    """A number that squares and ratios would lose is refused where it stands, in a table."""
    path = tmp_path / "results.csv"
    path.write_text(f"{HEADER}\na,0,ppl,1\nb,0,ppl,{cell}\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_table(path, small())
    unit = "larger" if cell in TOO_LARGE else "smaller"
    assert str(caught.value) == (
        f"{path}:3:9: row 3, column value: '{cell}' is too "
        f"{'large' if cell in TOO_LARGE else 'small'} to compute with\n"
        "  expected: 0, or a size from 1e-60 to 1e+60\n"
        f"  to do: correct it, or write every value in a {unit} unit"
    )


@pytest.mark.parametrize("cell", [*TOO_LARGE, *TOO_SMALL])
def test_a_value_of_an_absurd_size_is_refused_in_a_frame(cell: str) -> None:
    """A frame is read as strictly as a table."""
    rows = [("a", 0, "ppl", 1.0), ("b", 0, "ppl", float(cell))]
    with pytest.raises(SpecError, match=r"row 1, column value: .* to compute with"):
        frame_table(pd.DataFrame(rows, columns=HEADER.split(",")), small())


@pytest.mark.parametrize("value", [1e308, -1e308, 1e61, 1e-61, 1e-320])
def test_a_stored_value_of_an_absurd_size_is_no_evidence(tmp_path: Path, value: float) -> None:
    """A run's own number, and one that a stranger has sealed: INVALID, with the run's place."""
    store, claim = filled(tmp_path / "store"), load_claim(FILE, "quick")
    sealed = ((path, read_sealed(path) or {}) for path in store.root.rglob("measurements/*.json"))
    path, document = next(each for each in sealed if each[1]["value"] == 50.0)
    path.write_bytes(seal({**document, "value": value}))
    verdict = check_claim(claim, gather(claim, store)).verdict
    assert verdict.validity == "INVALID"
    size = "large" if abs(value) > 1 else "small"
    said = f"{path.parents[1]}: test_perplexity is {value:g}, which is too {size} to compute with"
    assert said in verdict.validity_reason


@pytest.mark.parametrize("cell", ["0", "-0.0", "0e999", "1e60", "-1e60", "1e-60", "-1e-60"])
def test_sizes_at_the_ends_are_read(tmp_path: Path, cell: str) -> None:
    """0 is a size like any other, and so are the largest and the smallest."""
    path = tmp_path / "results.csv"
    path.write_text(f"{HEADER}\na,0,ppl,1\nb,0,ppl,{cell}\n", encoding="utf-8")
    assert read_table(path, small()).values["b"][0]["ppl"] == float(cell)


def test_the_ends_are_safe() -> None:
    """The fourth power of any spread that counts has all its digits, as has one over it."""
    smallest = (SMALLEST * ROUND_OFF) ** 4
    assert smallest > 2.3e-308
    assert math.isfinite(1 / smallest)
    assert math.isfinite((2 * LARGEST) ** 4 * MAX_SEEDS)


def test_a_table_has_no_more_replicates_than_a_plan(tmp_path: Path) -> None:
    """One seed too many of an arm is refused where it stands, in one sentence."""
    (limit,) = (one.le for one in get_args(SeedCount)[1].metadata if hasattr(one, "le"))
    assert limit == MAX_SEEDS
    rows = [f"{arm},{seed},ppl,1" for seed in range(MAX_SEEDS) for arm in "ab"]
    path = tmp_path / "results.csv"
    path.write_text("\n".join([HEADER, *rows, ""]), encoding="utf-8")
    assert len(read_table(path, small()).values["a"]) == MAX_SEEDS
    more = [f"b,{MAX_SEEDS + i},ppl,1" for i in range(200)]
    path.write_text("\n".join([HEADER, *rows, *more, ""]), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_table(path, small())
    assert str(caught.value).replace(str(tmp_path), "") == (
        "/results.csv:20002:1: row 20002: arm 'b' has more than 10,000 seeds\n"
        "  expected: at most 10,000 seeds per arm\n"
        "  to do: leave some out, chosen without regard to values"
    )


ALIKE = {
    "large": (LARGEST, -LARGEST, LARGEST / 2, LARGEST * (1 - 10 * ROUND_OFF)),
    "large, above 0": (LARGEST, LARGEST / 2, LARGEST * (1 - 10 * ROUND_OFF)),
    "small": (SMALLEST, -SMALLEST, 2 * SMALLEST, 0.0),
    "small, above 0": (SMALLEST, 2 * SMALLEST, SMALLEST * (1 + 10 * ROUND_OFF)),
}
MIXED = (
    (LARGEST, -LARGEST, 0.0, SMALLEST, 1.0, 2.0, 7.5),
    (LARGEST, SMALLEST, 1.0, 2.0, 7.5),
)
APART = ("relative", "yuen", "student", "permutation", "pearson")
"""Tests that are not asked about arms which lie further apart than float64 has digits."""


def drawn(
    name: str, sizes: tuple[float, ...], data: st.DataObject, *, alike: bool = True
) -> Evidence:
    """Evidence for a kind, its values drawn from some sizes.

    Arms that are not ``alike`` have a hundredth more or less of them each, and share only 0.
    """
    kind = KINDS[name]
    column = st.lists(st.sampled_from(sizes), min_size=kind.n, max_size=kind.n)
    values = {}
    for place, arm in enumerate(kind.arms):
        share = 0.0 if alike else place / 100
        values[arm] = {
            measurement: [_inward(size, share) for size in data.draw(column)]
            for measurement in ("loss", "size")
        }
    return seen(known_claim(name), values)


def _inward(size: float, share: float) -> float:
    """A size changed by a share of itself, a large one down and a small one up."""
    return size * (1 - share if abs(size) > 1 else 1 + share)


@pytest.mark.parametrize("sizes", ALIKE)
@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=3)
@given(data=st.data())
def test_no_value_that_is_read_ends_in_an_accident(
    name: str, sizes: str, data: st.DataObject
) -> None:
    """Values at either end are judged by every kind, or refused: no accident, no warning."""
    with suppress(ClaimError):
        claim = known_claim(name)
        judgement = judge_claim(claim, drawn(name, ALIKE[sizes], data))
        assert [part.expectation.id for part in judgement.judged] == [
            each.id for each in claim.expectations
        ]


@pytest.mark.parametrize("sizes", ["large", "small, above 0"])
@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=1)
@given(data=st.data())
def test_a_report_of_such_values_is_whole(name: str, sizes: str, data: st.DataObject) -> None:
    """Whatever else a report computes from them: no accident, no warning."""
    with suppress(ClaimError):
        claim = known_claim(name)
        document = check_claim(claim, drawn(name, ALIKE[sizes], data))
        assert [result.id for result in document.results] == [
            each.id for each in claim.expectations
        ]


NEAR = [n for n in KINDS if not any(word in n for word in APART)]


@pytest.mark.parametrize("sizes", MIXED)
@pytest.mark.parametrize("name", NEAR)
@settings(max_examples=3)
@given(data=st.data())
def test_values_from_end_to_end_are_judged(
    name: str, sizes: tuple[float, ...], data: st.DataObject
) -> None:
    """Values of all sizes at once are judged, or refused: no accident, no warning."""
    with suppress(ClaimError):
        judgement = judge_claim(known_claim(name), drawn(name, sizes, data, alike=False))
        assert (judgement.validity, judgement.reason) == (Validity.VALID, "")


@pytest.mark.parametrize("sizes", MIXED)
@pytest.mark.parametrize("name", NEAR)
@settings(max_examples=3)
@given(data=st.data())
def test_arms_that_share_values_from_end_to_end_are_judged_or_copies(
    name: str, sizes: tuple[float, ...], data: st.DataObject
) -> None:
    """Arms may have any of these values in common: they are judged, unless one is a copy."""
    with suppress(ClaimError):
        judgement = judge_claim(known_claim(name), drawn(name, sizes, data))
        copies = judgement.quality.invalid
        assert judgement.validity is (Validity.INVALID if copies else Validity.VALID)
        assert all(fault.reason.startswith("copied values: ") for fault in copies)


@pytest.mark.parametrize("unit", [SMALLEST, 1.0, LARGEST / 16])
def test_a_copy_is_seen_at_every_size(unit: float) -> None:
    """An arm with the values of another is no evidence, and one with values of its own is."""
    own = [unit * value for value in (9.013, 8.127, 8.961, 9.344, 8.589)]
    other = [unit * value for value in (9.207, 8.458, 8.822, 9.115, 8.736)]
    claim = known_claim("difference, welch")
    copy = judge_claim(claim, seen(claim, {"a": _both(own), "b": _both(own)}))
    assert copy.validity is Validity.INVALID
    assert copy.reason.startswith("copied values: loss: A and B have 5 values of 5 in common")
    sound = judge_claim(claim, seen(claim, {"a": _both(own), "b": _both(other)}))
    assert (sound.validity, sound.quality.flags) == (Validity.VALID, ())


def _both(values: list[float]) -> dict[str, list[float]]:
    return {"loss": values, "size": values}
