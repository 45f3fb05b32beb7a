"""The gate of quality: planted faults are flagged by the right rule, by every public road."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from benchmarks.quality.faults import FAULTS, Fault
from benchmarks.quality.gate import gate
from benchmarks.quality.honest import Drawn, as_rows, claim_document
from benchmarks.quality.measure import PROMISED, RULES, false_alarms
from repro import judge, load_claim
from repro.evidence.evidence import PublishedArm, TableSource, TidyTable
from repro.evidence.published import PublishedNumbers
from repro.expectations.verdict_words import FlagKind
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.exit_status import exit_code, verdict_of
from repro.judging.gather import from_table, gather
from repro.judging.quality import examine
from repro.specs.arm import Arm
from repro.specs.claim import Seeds
from repro.store.run_store import RunStore
from repro.workflows.verify import Options, verify_claims
from tests.judging.evidence import claim as named
from tests.judging.evidence import fair, judged
from tests.judging.made import made, seen

CSV = "arm,seed,measurement,value"


def claim_file(folder: Path, drawn: Drawn, **measurement: Any) -> Path:
    """A claim about a table that lies beside it."""
    rows = "\n".join(f"{a},{s},{m},{v!r}" for a, s, m, v in as_rows(drawn.columns))
    (folder / "table.csv").write_text(f"{CSV}\n{rows}\n", encoding="utf-8")
    document = claim_document(drawn, **measurement)
    (folder / "claim.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    return folder / "claim.yaml"


def kinds(document: Document) -> set[str]:
    """The kinds of the flags of a document."""
    return {flag.kind for flag in document.verdict.flags}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_raises_its_flag(fault: Fault) -> None:
    """In half of ten tables, or as often as few seeds let it; `benchmarks/results` has rates."""
    rng = np.random.default_rng([7, *map(ord, fault.name)])
    found = [{flag.kind.value for flag in gate(fault.draw(rng)).flags} for _ in range(10)]
    assert sum(fault.flag in each for each in found) >= 10 * fault.least


ONE_OF_EACH = {fault.flag: fault for fault in reversed(FAULTS)}
"""The first fault of each kind."""


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_frames_and_tables_are_looked_at_alike(kind: str, tmp_path: Path) -> None:
    """`repro.judge` and arms with a `table` raise the same flags, whatever the test says."""
    drawn = ONE_OF_EACH[kind].draw(np.random.default_rng(1))
    file = claim_file(tmp_path, drawn)
    claim = load_claim(file, "paper")
    told = judge(claim, pd.DataFrame(as_rows(drawn.columns), columns=CSV.split(",")))
    assert kind in kinds(told)
    read = check_claim(claim, gather(claim, RunStore(tmp_path / "store")))
    assert [flag.kind for flag in read.verdict.flags] == [flag.kind for flag in told.verdict.flags]


@pytest.mark.parametrize("fault", ["an arm copied, 5 seeds, 2 decimals", "a factor of 1,000"])
def test_results_in_a_file_are_looked_at(fault: str, tmp_path: Path) -> None:
    """`verify --results`: copied arms are INVALID, status 4; any other flag changes no status."""
    (own,) = (one for one in FAULTS if one.name == fault)
    claim = load_claim(claim_file(tmp_path, own.draw(np.random.default_rng(1))), "paper")
    options = Options(
        RunStore(tmp_path / "store"), reports=tmp_path / "reports", results=tmp_path / "table.csv"
    )
    (document,) = verify_claims([claim], options).documents
    assert own.flag in kinds(document)
    copied = own.flag == FlagKind.COPIED
    assert document.verdict.validity == ("INVALID" if copied else "VALID")
    assert (exit_code([verdict_of(document)]) == 4) == copied
    if copied:
        assert "arm 0 and arm 1 have 5 values of 5 in common" in document.verdict.sentence


def test_honest_tables_raise_few_alarms() -> None:
    """Of 1,470 honest tables of all kinds: the bound of each rule's rate is as promised."""
    alarms = false_alarms(draws=10, seed=5)
    assert alarms.tables >= 1000
    for kind in RULES:
        assert alarms.bound(kind) <= PROMISED, (kind, alarms.found[kind])


MADE = {"kind": "difference", "of": ["a", "b"], "direction": "different"}
OTHER = [91.02, 90.41, 90.87, 90.63, 90.55, 90.71]


def flags(values: dict[str, Any], **fields: Any) -> dict[str, str]:
    """The flags of the gate on these values, by kind."""
    claim = made(MADE, seeds={"min": 2, "plan": 2, **fields.pop("seeds", {})}, **fields)
    return {flag.kind: flag.message for flag in examine(claim, seen(claim, values)).flags}


def test_a_flag_says_where_and_what_to_do() -> None:
    """Measurement, arm, file, seeds and values; and what a reader should do."""
    said = flags({"a": [90.12345, 90.61234, 90.12345, 89.98765], "b": OTHER})[FlagKind.REPEATED]
    assert said.startswith("loss of A (made.csv): 2 seeds have the same value, 90.12345")
    assert "(seeds 0 and 2)" in said
    assert "Count each run once" in said


@pytest.mark.parametrize(
    "values",
    [
        {"a": [34.0] * 5, "b": [797.0, 830.0, 795.0, 798.0, 791.0]},
        {"a": [34.0] * 5, "b": [34.0] * 5},
        {"a": [402.0] * 3, "b": [282.0] * 3},
        {"a": [402.0, 402.0, 401.0, 402.0], "b": [9981.0, 9983.0, 9981.0, 9978.0]},
    ],
)
def test_structural_values_are_no_repeats(values: dict[str, list[float]]) -> None:
    """Ranks that every seed reaches are whole numbers, and may be the same in two arms."""
    assert flags(values) == {}


def test_a_declared_granularity_explains_equal_values() -> None:
    """Accuracies of 50 examples to 4 decimals; and decimals that say less than is known."""
    values = {"a": [0.9412, 0.9608, 0.9608, 0.9216], "b": [0.9804, 0.9608, 0.9412, 0.9608]}
    fine = {"kind": "reported", "label": "accuracy", "better": "higher", "granularity": 1e-5}
    coarse = {**fine, "granularity": 0.02}
    assert flags(values, measurements={"loss": coarse}) == {}
    twice = {"a": [0.9, 0.8, 0.9, 0.6, 0.7], "b": [0.81, 0.52, 0.93, 0.44, 0.65]}
    assert flags(twice) == {}
    assert FlagKind.REPEATED in flags(twice, measurements={"loss": fine})


def test_any_numbers_are_seeds_unless_the_other_arm_has_more() -> None:
    """42 and 1337 are fine, and so are arms that are numbered apart."""
    loss = dict(enumerate(OTHER))
    assert not numbered({42: 1.0, 1337: 1.2, 7: 1.1}, {42: 1.3, 1337: 1.5, 7: 1.25})
    assert not numbered(loss, {number + 10: value + 1 for number, value in loss.items()})
    assert not numbered(loss, {number: loss[number] + 1 for number in (0, 1, 2, 3)})
    (said,) = numbered({n: loss[n] + 1 for n in (0, 2, 3, 5)}, loss)
    assert said.startswith("A lacks seeds 1 and 4, which B has")


def test_declared_numbers_are_the_range(tmp_path: Path) -> None:
    """Both arms lack a seed that the claim declares, and have one that it does not."""
    said = numbered({0: 1.0, 1: 1.2, 7: 1.1}, {0: 2.0, 1: 2.2, 7: 2.1}, numbers=(0, 2))
    assert [text.split(". ")[0] for text in said] == [
        "A lacks seed 2 of the declared 0 to 2",
        "A has seed 7, outside the declared 0 to 2",
        "B lacks seed 2 of the declared 0 to 2",
        "B has seed 7, outside the declared 0 to 2",
    ]


def numbered(a: dict[int, float], b: dict[int, float], **seeds: Any) -> list[str]:
    """What is said of the numbers of the seeds of two arms."""
    claim = made(MADE, seeds={"min": 2, "plan": 2, **seeds})
    rows = {
        arm: {number: {"loss": value} for number, value in sorted(values.items())}
        for arm, values in (("a", a), ("b", b))
    }
    evidence = from_table(claim, TidyTable(TableSource("made.csv", "0" * 64), rows))
    return [flag.message for flag in examine(claim, evidence).flags if flag.kind == FlagKind.GAPS]


def test_pairs_may_share_a_value_and_correlate() -> None:
    """In a paired design only: an arm that changes nothing for some seeds is the same there."""
    a = [90.1234567, 90.7654321, 89.9876543, 90.3456789, 90.2222333, 90.9191919]
    b = [*a[:2], *(value + 0.01 * place for place, value in enumerate(a[2:], 1))]
    assert set(flags({"a": a, "b": b})) == {FlagKind.SHARED, FlagKind.CORRELATED}
    assert flags({"a": a, "b": b}, design="paired") == {}
    assert set(flags({"a": a, "b": a}, design="paired")) == {FlagKind.COPIED}


def test_pairs_that_are_all_equal_are_flagged_however_few_their_digits() -> None:
    """Three seeds to three digits are no proof, for pairs may go together; 0.9 of any are none."""
    a = [0.903, 0.911, 0.897]
    assert set(flags({"a": a, "b": a}, design="paired")) == {FlagKind.SHARED}
    assert set(flags({"a": a, "b": a})) == {FlagKind.COPIED}
    assert flags({"a": a, "b": [0.903, 0.911, 0.898]}, design="paired") == {}
    coarse = [0.90, 0.91, 0.90]
    assert FlagKind.SHARED not in flags({"a": coarse, "b": coarse}, design="paired")


def test_a_printed_arm_may_be_in_another_unit() -> None:
    """A mean in percent beside fractions of one's own; and 12 seeds beside 3 of one's own."""
    printed = {"loss": PublishedArm(mean="90.2", sd="0.4", n=12)}
    of = made(MADE)
    arms = {**of.arms, "b": Arm(label="B", source=PublishedNumbers(published=printed))}
    claim = of.model_copy(update={"arms": arms})
    rows = {"a": {seed: {"loss": value} for seed, value in enumerate([0.905, 0.911, 0.902])}}
    evidence = from_table(claim, TidyTable(TableSource("made.csv", "0" * 64), rows))
    found = {flag.kind for flag in examine(claim, evidence).flags}
    assert found == {FlagKind.UNITS, FlagKind.UNEQUAL}


def test_percent_beside_fractions_is_told_though_the_arms_differ_much() -> None:
    """94 percent beside 0.71: a third apart in one unit, and no effect of a hundred times."""
    a, b = [94.12, 93.87, 94.31, 94.05, 93.98], [0.7106, 0.7133, 0.7089, 0.7147, 0.7112]
    assert set(flags({"a": a, "b": b})) == {FlagKind.UNITS}
    assert flags({"a": a, "b": [100 * value for value in b]}) == {}


PERCENTS = [94.12, 93.87, 94.31, 94.05, 93.98]
FRACTIONS = [0.7106, 0.7133, 0.7089, 0.7147, 0.7112]


@pytest.mark.parametrize("most", [1, 100, None])
@pytest.mark.parametrize("mixed", [False, True])
def test_percent_beside_fractions_is_invalid_where_a_range_is_declared(
    most: int | None, *, mixed: bool
) -> None:
    """Between arms or within one: exit 4. Without a range it stays a flag, as any other."""
    a, b = PERCENTS, FRACTIONS
    if mixed:
        a, b = [*PERCENTS[:4], 0.9398], [100 * value for value in FRACTIONS]
    declared = {} if most is None else {"range": [0, most]}
    loss = {"kind": "reported", "label": "loss", "better": "lower", **declared}
    claim = made(MADE, measurements={"loss": loss})
    document = check_claim(claim, seen(claim, {"a": a, "b": b}))
    assert document.verdict.validity == ("VALID" if most is None else "INVALID")
    assert FlagKind.UNITS in kinds(document)
    if most == 100:
        reason = document.verdict.validity_reason
        assert "percent beside fractions (its range is 0 to 100)" in reason
        assert document.verdict.sentence.startswith("Percent beside fractions")


FAST, SLOW = [12.1, 12.4, 11.9, 12.2, 12.3], [118.0, 121.0, 119.0, 123.0, 120.0]


@pytest.mark.parametrize(
    ("claimed", "flagged"),
    [
        ({"kind": "ratio", "of": ["b", "a"], "at_least": {"value": 8, "why": "the claim"}}, False),
        (
            {"kind": "separation", "of": ["b", "a"], "at_least": {"value": 9, "why": "the claim"}},
            False,
        ),
        ({"kind": "ratio", "of": ["a", "b"], "at_least": {"value": 8, "why": "the claim"}}, True),
        ({"kind": "ratio", "of": ["b", "a"], "at_least": {"value": 2, "why": "the claim"}}, True),
        (MADE, True),
    ],
)
def test_a_factor_that_is_claimed_is_no_other_unit(claimed: Any, *, flagged: bool) -> None:
    """Ten times faster: 12.1 against 118 ms, in the direction and of the size that are claimed."""
    claim = made(claimed)
    found = examine(claim, seen(claim, {"a": FAST, "b": SLOW})).flags
    assert ("units that differ" in {flag.kind for flag in found}) == flagged
    if flagged:
        (said,) = (flag.message for flag in found if flag.kind == FlagKind.UNITS)
        assert "or claim the factor with `kind: ratio`" in said


def test_runs_are_looked_at_too() -> None:
    """Runs of different configurations that are equal to the last bit are INVALID."""
    softmax = fair(0.2)["softmax"]
    of = named("fair_mos", "paper", seeds=Seeds(min=5, plan=10))
    document = judged(of, {"mos": softmax, "softmax": softmax})
    assert document.verdict.validity == "INVALID"
    assert FlagKind.COPIED in kinds(document)


def test_tasks_are_no_seeds() -> None:
    """Accuracies on ten tasks: some are hard, and hard for both; equal ones are ties."""
    a = [91.2, 45.1, 88.7, 67.3, 72.9, 95.5, 3.2, 81.8, 59.4, 77.7]
    b = [value + step for value, step in zip(a, (1, 0, 2, 1, 1, 2, 0, 1, 3, 1), strict=True)]
    wins = {"kind": "proportion", "of": ["a", "b"], "clusters": "none"}
    claim = made(wins, seeds={"min": 10, "plan": 10})
    assert examine(claim, seen(claim, {"a": a, "b": b})).flags == ()
    assert FlagKind.CORRELATED in flags({"a": a, "b": b})
