from __future__ import annotations

import pytest

from repro.errors import ClaimError
from repro.expectations.decision_rules import by_sign, conclude_difference
from repro.expectations.verdict_words import Agreement, Conclusion, Finding, Validity, Verdict
from repro.judging.agreement import agree
from repro.judging.verdict import (
    adjust_family,
    adjust_family_by_e,
    conclude_conjunction,
    conclude_tree,
)
from repro.stats.counts import BoundResult
from repro.stats.records import Interval, TestResult, expect
from repro.stats.replication import Prediction
from tests.expectations.trees import all_of, any_of

CONFIRMED, CONTRADICTED = Conclusion.CONFIRMED, Conclusion.CONTRADICTED
INCONCLUSIVE, TRIVIAL = Conclusion.INCONCLUSIVE, Conclusion.TRIVIAL
UP = TestResult("welch", 1.0, 0.05, (5, 5), p=0.01, alternative="two-sided")


def test_the_level_holds_at_inner_nodes_too():
    """
    A node inside a tree is joined at the tree's level, not at .05.
    """
    findings = {
        "a": Finding(CONFIRMED, 0.001, 0.9),
        "b": Finding(CONFIRMED, 0.02, 0.9),
        "c": Finding(INCONCLUSIVE, 0.9, 0.9),
    }
    tree = all_of(("a", any_of(("b", "c"))))
    assert conclude_tree(tree, findings, alpha=0.05).conclusion is CONFIRMED
    assert conclude_tree(tree, findings, alpha=0.01).conclusion is INCONCLUSIVE


def test_an_unjudged_member_has_no_evidence_whatever_its_e_values():
    """
    A member without a finding counts as e = 0, even if e-values came with it.
    """
    own = Finding(CONFIRMED, 0.02, 0.9)
    alone = adjust_family_by_e([own, None], [(50.0, 0.0), None])
    beside = adjust_family_by_e([own, None], [(50.0, 0.0), (1e6, 1e6)])
    assert alone == beside
    assert alone[0] == Finding(CONFIRMED, 2 / 50, 1.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: Verdict(Validity.VALID, ""),
            "valid evidence has a conclusion, be it INCONCLUSIVE",
        ),
        (
            lambda: Verdict(Validity.STALE, "old runs", CONFIRMED),
            "evidence that is STALE concludes and agrees with nothing",
        ),
        (lambda: Verdict(Validity.STALE, ""), "evidence that is STALE needs a reason"),
        (lambda: conclude_conjunction([]), "a claim needs at least one decisive expectation"),
        (
            lambda: conclude_tree(
                "c", {"a": Finding(CONFIRMED, 0, 1), "b": Finding(TRIVIAL, 0, 1)}
            ),
            "nothing was found for 'c'; known: a, b",
        ),
        (
            lambda: adjust_family([], method="none"),  # type: ignore[arg-type]
            "a family is adjusted by holm or bh, not 'none'",
        ),
        (
            lambda: adjust_family_by_e([None], []),
            "0 pairs of e-values for 1 findings",
        ),
        (
            lambda: adjust_family_by_e([Finding(CONFIRMED, 0.01, 1)], [None]),
            "e_bh needs the e-values of every claim; only sequential ones have any",
        ),
        (
            lambda: expect(UP, BoundResult),
            "a result of welch is no BoundResult",
        ),
        (
            lambda: conclude_difference(UP, direction="different", smallest_effect=1.0),
            "a smallest effect is above 0 and belongs to a claim of higher or lower",
        ),
        (
            lambda: conclude_difference(
                TestResult("permutation", 1.0, 0.05, (5, 5), p=0.01),
                direction="higher",
                smallest_effect=1.0,
            ),
            (
                "a smallest effect needs an interval in the units of the measurement, and "
                "permutation has none; use welch, student, paired or yuen"
            ),
        ),
        (
            lambda: conclude_difference(
                TestResult("welch", 1.0, 0.05, (5, 5), p=0.01, alternative="less"),
                direction="higher",
            ),
            "a test with alternative less says nothing about higher",
        ),
    ],
)
def test_a_refusal_says_why(wrong, message):
    """
    What cannot be judged is refused, with the whole reason.
    """
    with pytest.raises((ClaimError, ValueError)) as caught:
        wrong()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("effect", "interval", "agreement"),
    [
        (1.0, (0.5, 1.5), Agreement.COMPATIBLE),
        (3.5, (3.0, 4.0), Agreement.LARGER),
        (0.5, (0.2, 0.8), Agreement.SMALLER),
        (-0.5, (-1.0, 0.0), Agreement.SMALLER),
        (-0.5, (-1.0, -0.1), Agreement.OPPOSITE),
        (0.0, (0.0, 0.0), Agreement.SMALLER),
    ],
)
def test_agreement_at_its_edges(effect, interval, agreement):
    """
    An end of the prediction belongs to it; an own interval that touches *no difference* does
    not exclude it.
    """
    prediction = Prediction(2.0, Interval(1.0, 3.0, 0.95), 0.0, 9.0)
    own = TestResult(
        "welch", effect, 0.05, (5, 5), interval=Interval(interval[0], interval[1], 0.95)
    )
    assert agree(prediction, own) is agreement


def test_a_conjunction_of_what_is_open_has_no_contrary():
    """
    Without a contradicted leaf the p of the contrary is 1.
    """
    leaves = [Finding(INCONCLUSIVE, 0.3, 0.2), Finding(CONFIRMED, 0.01, 0.99)]
    assert conclude_conjunction(leaves) == Finding(INCONCLUSIVE, 0.3, 1.0)


def test_an_association_of_exactly_nothing_is_open():
    """
    A coefficient of 0 belongs to neither sign.
    """
    own = TestResult("association", 0.0, 0.05, (9,), p=0.01)
    assert by_sign(own, sign=1) == Finding(INCONCLUSIVE, 1.0, 1.0)
