"""What a reader is warned of beside a verdict, and claims that do not fit together."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import ClaimError
from repro.expectations.verdict_words import FlagKind, Validity
from repro.judging.agreement import judge_published
from repro.judging.judge import agree_on_families
from repro.specs.claim import Claim, Family, Published
from repro.stats.records import Sample, Summary
from repro.stats.t_tests import welch
from repro.store.run_store import RunStore
from repro.workflows.verify import Options, verify_claims
from tests.judging.made import judged, made

LOWER = {"kind": "difference", "of": ["a", "b"], "direction": "lower"}
APART = {"a": [1.0, 1.1, 1.2, 0.9], "b": [3.0, 3.2, 2.8, 3.1]}
MARGIN = {"abs": 0.5, "why": "made for the tests of this project"}


def kinds(claim: Claim, values: dict[str, list[float]]) -> set[str]:
    """The kinds of the flags of a claim on these values."""
    return {flag.kind for flag in judged(claim, values).verdict.flags}


@pytest.mark.parametrize(("planned", "flagged"), [(4, False), (3, True)])
def test_more_seeds_than_planned_are_a_flag(planned: int, *, flagged: bool) -> None:
    """A table that has grown beyond its plan may have grown until it suited."""
    claim = made(LOWER, seeds={"min": 3, "plan": planned})
    assert (FlagKind.MORE_SEEDS in kinds(claim, APART)) == flagged


def test_arms_of_unequal_size_by_design_are_no_growth() -> None:
    """Three seeds against five: a plan has one number, which is that of the smaller arm."""
    claim = made(LOWER, seeds={"min": 3, "plan": 3})
    unequal = {"a": APART["a"][:3], "b": [*APART["b"], 3.05]}
    assert FlagKind.MORE_SEEDS not in kinds(claim, unequal)


ERRS = (
    "Loss, A minus B: {}'s test: with {} replicates per arm, standard deviations {} it errs in {} "
    "of cases instead of 5 % (measured)."
)


@pytest.mark.parametrize(
    ("test", "seeds", "texts"),
    [
        ("student", 3, [ERRS.format("Student", 3, "3:1", "7.5 %")]),
        ("welch", 3, [ERRS.format("Welch", 3, "4:1", "5.7 %")]),
        ("student", 4, [ERRS.format("Student", 4, "3:1", "7.0 %")]),
        ("welch", 4, []),
    ],
)
def test_a_test_that_loses_its_level_here_is_a_flag(
    test: str, seeds: int, texts: list[str]
) -> None:
    """Unequal spreads: Student's test errs at three and four seeds, Welch's a little at three."""
    values = {"a": [1.0, 1.01, 0.99, 1.006], "b": [3.0, 3.3, 2.7, 2.81]}
    claim = made({**LOWER, "test": test}, seeds={"min": 3, "plan": seeds})
    flags = judged(claim, {arm: own[:seeds] for arm, own in values.items()}).verdict.flags
    assert [flag.text for flag in flags if flag.kind == FlagKind.LEVEL] == texts


def test_a_shared_baseline_cancels_on_either_side() -> None:
    """[ours, printed] and [printed, ours] of mirrored numbers agree alike with the paper.

    With the error or the digits of the baseline on top, ours would lie inside the prediction.
    """
    mine, printed = Sample.of(5.0, 5.2, 4.8, 5.1), Summary(10, 6.0, 0.2)
    words = set()
    for of in (["a", "b"], ["b", "a"]):
        claim = made({**LOWER, "of": of, "direction": "different"}, published=[PRINTED])
        arms = tuple(mine if arm == "a" else printed for arm in of)
        compared = {"e0": (welch(arms[0], arms[1]), (arms[0], arms[1]))}
        (found,) = judge_published(claim, Validity.VALID, compared)
        words.add(found.agreement)
        assert (found.replication is None) == (of == ["b", "a"])
    assert words == {"LARGER"}


PRINTED = Published.model_validate(
    {
        "expectation": "e0",
        "locator": "Table 1",
        "arms": {
            "a": {"mean": "5.30", "sd": "0.20", "n": 10},
            "b": {"mean": "6.0", "sd": "0.2", "n": 10},
        },
    },
    strict=False,
)


def test_claims_of_one_family_declare_the_same_members() -> None:
    """Two claims that disagree about their family are refused, with both files named."""
    first = made(LOWER, family=family("one", "two"), id="one", file="one.yaml")
    second = made(LOWER, family=family("one", "two", "three"), id="two", file="two.yaml")
    agree_on_families([first, made(LOWER, family=family("one", "two"), id="two")])
    with pytest.raises(ClaimError, match=r"two\.yaml: family 'both' .* one\.yaml"):
        agree_on_families([first, second])


def family(*members: str) -> Family:
    """A family of these members."""
    why = "made for the tests of this project"
    return Family(name="both", method="holm", members=members, why=why)


def test_no_scale_is_advised_that_the_claim_lacks() -> None:
    """A claim of one scale is not told to run at a larger one."""
    claim = made(LOWER, declared=("quick",), scale="quick")
    assert not [step for step in judged(claim, APART).changes if step.command]
    more = made(LOWER, declared=("quick", "paper"), scale="quick")
    (step,) = [step for step in judged(more, APART).changes if step.command]
    assert step.command == "repro verify made.yaml --scale paper"


def test_a_changed_value_of_a_sequential_table_is_noticed(tmp_path: Path) -> None:
    """What a look has seen must stay, in a table too: else it is INVALID until it is back."""
    table = tmp_path / "made.csv"
    seeds = {"min": 4, "plan": 4, "max": 20}
    claim = made(LOWER, sequential={"method": "eprocess_t"}, seeds=seeds)
    claim = claim.model_copy(update={"file": str(tmp_path / "made.yaml")})
    options = Options(RunStore(tmp_path / "store"), reports=tmp_path / "reports")
    changed = [9.0, *APART["a"][1:]]
    for values, validity in ((APART["a"], "VALID"), (changed, "INVALID"), (APART["a"], "VALID")):
        rows = [f"a,{i},loss,{v}" for i, v in enumerate(values)]
        rows += [f"b,{i},loss,{v}" for i, v in enumerate(APART["b"])]
        table.write_text("\n".join(["arm,seed,measurement,value", *rows]) + "\n", encoding="utf-8")
        (document,) = verify_claims([claim], options).documents
        assert document.verdict.validity == validity
        if validity == "INVALID":
            assert document.changes[0].text == "Restore the runs or results as they were looked at."


def test_a_changed_order_of_a_table_is_noticed(tmp_path: Path) -> None:
    """Seeds that were looked at keep their places in a declared order; new ones come after them."""
    table = tmp_path / "made.csv"
    seeds = {"min": 4, "plan": 4, "max": 20}
    claim = made(LOWER, sequential={"method": "eprocess_t", "order": "day"}, seeds=seeds)
    claim = claim.model_copy(update={"file": str(tmp_path / "made.yaml")})
    options = Options(RunStore(tmp_path / "store"), reports=tmp_path / "reports")
    for days, validity in (
        ([3, 1, 2, 4], "VALID"),
        ([3, 1, 2, 4, 5], "VALID"),
        ([4, 1, 2, 3, 5], "INVALID"),
    ):
        rows = [
            f"{arm},{seed},loss,{[*APART[arm], APART[arm][0] + 0.05][seed]},{day}"
            for arm in "ab"
            for seed, day in enumerate(days)
        ]
        text = "\n".join(["arm,seed,measurement,value,day", *rows]) + "\n"
        table.write_text(text, encoding="utf-8")
        (document,) = verify_claims([claim], options).documents
        assert document.verdict.validity == validity


@pytest.mark.parametrize(("kind", "bound"), [("difference", 20.0), ("equivalence", 0.05)])
def test_what_is_drawn_against_the_bound_is_what_decides(kind: str, bound: float) -> None:
    """A difference is decided by its e-value, a margin by its p, where that first crosses."""
    own = LOWER if kind == "difference" else {"kind": kind, "of": ["a", "b"], "margin": MARGIN}
    claim = made(own, sequential={"method": "eprocess_t"}, seeds={"min": 4, "plan": 4, "max": 20})
    noise = [0.02 * (i % 5 - 2) for i in range(12)]
    gap = 1.0 if kind == "difference" else 0.0
    values = {"a": [5 + x for x in noise], "b": [5 + gap + x for x in reversed(noise)]}
    (part,) = judged(claim, values, order="finished").sequential
    assert part.bound == bound
    beyond = [
        look.seeds
        for look in part.looks
        if (look.e is not None and look.e >= bound if bound > 1 else look.p <= bound)
    ]
    assert part.crossing == min(beyond)
