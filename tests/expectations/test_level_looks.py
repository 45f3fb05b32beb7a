"""A level that is judged whenever a seed has come: a mean against a constant, look by look."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.expectations.kinds import kind_of
from repro.expectations.sequential import run_sequential
from repro.judging.document import Document
from repro.specs.claim import Claim
from repro.stats.anytime import sequential
from repro.stats.records import Sample
from repro.stats.stopping import level
from tests.judging.made import judged, made

LIMIT = {"value": 3.28, "why": "the rule of the contest"}
NIGHTLY = {"sequential": {"method": "eprocess_t"}, "seeds": {"min": 6, "plan": 6, "max": 30}}
PLANNED = {
    "sequential": {"method": "group_obf", "looks": [6, 12]},
    "seeds": {"min": 6, "plan": 6, "max": 12},
}
LOSSES = (3.2776, 3.2785, 3.2763, 3.2791, 3.2772, 3.2779, 3.2768, 3.2790, 3.2775, 3.2781)


def claim(how: dict[str, Any], **limits: Any) -> Claim:
    declared = {"kind": "level", "of": ["a"], **(limits or {"at_most": LIMIT})}
    return made(declared, arms="a", **how)


def seen(made_claim: Claim, losses: Any) -> Document:
    return judged(made_claim, {"a": list(losses)}, order="started")


def test_it_is_decided_when_enough_has_been_seen() -> None:
    """The first look that leaves nothing open decides, and later seeds are said beside it."""
    (result,) = seen(claim(NIGHTLY), LOSSES).results
    assert result.conclusion == "CONFIRMED"
    assert result.test == "t e-process of one sample, one-sided, valid at every look"
    assert "Loss, first 6 seeds: the mean of A is" in result.sentence
    assert "That was decided at 6 seeds and stands, whatever came later. All 10 seeds:" in (
        result.sentence
    )
    assert result.limits[0].value == 3.28


def test_the_looks_are_in_the_report() -> None:
    """Each look with its e-value, from the first on."""
    (part,) = seen(claim(NIGHTLY), LOSSES).sequential
    assert [look.seeds for look in part.looks] == [6, 7, 8, 9, 10]
    assert part.crossing == 6
    assert part.stop == "confirmed"


def test_it_is_the_e_process_of_the_distances_from_the_limit() -> None:
    """That of differences within pairs, of which one side is always the limit."""
    sample = Sample.of(*LOSSES)
    fixed = Sample.of(*[3.28] * len(LOSSES))
    made_claim = claim(NIGHTLY)
    (declared,) = made_claim.expectations
    context = made_claim.context()
    question = kind_of(declared).question(declared, context)
    ours = run_sequential(declared, question, context, [sample])
    looks = range(6, 11)
    theirs = sequential(sample, fixed, level("at_most", 0.0), looks=looks, paired=True)
    assert ours.p == pytest.approx(theirs.p, rel=1e-9)
    assert ours.effect == pytest.approx(theirs.effect + 3.28, rel=1e-12)
    assert ours.n == (10,)


@pytest.mark.parametrize(
    ("limits", "conclusion"),
    [
        ({"at_least": LIMIT}, "CONTRADICTED"),
        ({"at_most": {"value": 3.2779, "why": "where it is, or so"}}, "INCONCLUSIVE"),
        ({"at_least": {"value": 3.27, "why": "far below them all"}}, "CONFIRMED"),
    ],
)
def test_other_limits(limits: dict[str, Any], conclusion: str) -> None:
    (result,) = seen(claim(NIGHTLY, **limits), LOSSES).results
    assert result.conclusion == conclusion


def test_planned_looks_take_one_arm_too() -> None:
    """The t-test of one sample at the declared numbers of seeds."""
    (result,) = seen(claim(PLANNED), [*LOSSES, 3.2777, 3.2783]).results
    assert result.test.startswith("t-test of one sample at planned looks")
    assert result.conclusion == "CONFIRMED"


def test_a_median_has_no_looks() -> None:
    made_claim = claim(NIGHTLY, at_most=LIMIT, statistic="median")
    (declared,) = made_claim.expectations
    (mistake,) = kind_of(declared).mistakes(declared, made_claim.context())
    assert mistake.what == "a median has no sequential test"


def test_a_known_standard_deviation_has_no_looks() -> None:
    known = {"value": 0.0013, "why": "the rule of the contest assumes it"}
    made_claim = claim(NIGHTLY, at_most=LIMIT, sd=known)
    (declared,) = made_claim.expectations
    (mistake,) = kind_of(declared).mistakes(declared, made_claim.context())
    assert mistake.what == "a sequential test estimates the standard deviation"


def test_stopping_early_costs_nothing() -> None:
    """At the limit itself, looked at from the 6th to the 20th seed, at most 1 % are confirmed.

    The t-test of the contest's rule, at each of the same looks, errs in more than 3 %.
    """
    draws = np.random.default_rng(20).standard_normal((3000, 20))
    n = np.arange(6, 21)
    mean = np.cumsum(draws, axis=1)[:, 5:] / n
    squares = np.cumsum(draws**2, axis=1)[:, 5:] - n * mean**2
    t = mean / np.sqrt(squares / (n - 1) / n)
    from scipy.special import stdtr

    from repro.stats.anytime import threshold

    by_rule = np.any(stdtr(n - 1, t) < 0.01, axis=1)
    by_process = np.any(-t > threshold(n, None, alpha=0.02), axis=1)
    assert by_rule.mean() > 0.03
    assert by_process.mean() < 0.01
