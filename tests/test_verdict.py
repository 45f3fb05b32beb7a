from __future__ import annotations

import itertools
from typing import get_args

import pytest

from repro.expectations.verdict_words import Agreement, Conclusion, Validity, Verdict
from repro.judging.agreement import agree
from repro.judging.exit_status import exit_code
from repro.judging.verdict import roll_up
from repro.specs.claim import Expect
from repro.stats.records import Interval, TestResult
from repro.stats.replication import Prediction

CONFIRMED, CONTRADICTED = Conclusion.CONFIRMED, Conclusion.CONTRADICTED
INCONCLUSIVE, TRIVIAL = Conclusion.INCONCLUSIVE, Conclusion.TRIVIAL
NOT_TESTED = Conclusion.NOT_TESTED

PREDICTION = Prediction(2.0, Interval(1.0, 3.0, 0.95), 0.0, 9.0)
MIRRORED = Prediction(-2.0, Interval(-3.0, -1.0, 0.95), 0.0, 9.0)
RATIO = Prediction(20.0, Interval(10.0, 40.0, 0.95), 1.0, 9.0)
NOTHING = Prediction(0.0, Interval(-1.0, 1.0, 0.95), 0.0, 9.0)


@pytest.mark.parametrize(
    ("prediction", "effect", "interval", "agreement"),
    [
        (PREDICTION, 2.5, (2, 3), Agreement.COMPATIBLE),
        (PREDICTION, 3.0, (2, 4), Agreement.COMPATIBLE),
        (PREDICTION, 1.0, (0, 2), Agreement.COMPATIBLE),
        (PREDICTION, 3.1, (2, 4), Agreement.LARGER),
        (PREDICTION, 0.9, (0.5, 1.3), Agreement.SMALLER),
        (PREDICTION, -0.5, (-1, 0.0), Agreement.SMALLER),
        (PREDICTION, -0.5, (-1, -0.01), Agreement.OPPOSITE),
        (PREDICTION, 0.0, (-1, 1), Agreement.SMALLER),
        (MIRRORED, -3.1, (-4, -2), Agreement.LARGER),
        (MIRRORED, -0.9, (-1.3, -0.5), Agreement.SMALLER),
        (MIRRORED, 0.5, (0.01, 1), Agreement.OPPOSITE),
        (RATIO, 41.0, (30, 50), Agreement.LARGER),
        (RATIO, 9.0, (8, 10), Agreement.SMALLER),
        (RATIO, 0.5, (0.4, 0.6), Agreement.OPPOSITE),
        (RATIO, 0.5, (0.2, 1.2), Agreement.SMALLER),
        (RATIO, 0.5, None, Agreement.OPPOSITE),
        (NOTHING, 1.5, (1, 2), Agreement.LARGER),
        (NOTHING, -1.5, (-2, -1), Agreement.LARGER),
        (None, 2.0, (1, 3), Agreement.NOT_CHECKABLE),
    ],
)
def test_agreement(prediction, effect, interval, agreement):
    """
    Agreement follows the prediction interval, the paper's sign and our own interval; of an
    exact comparison, which has none, the effect itself.
    """
    own = Interval(interval[0], interval[1], 0.95) if interval else None
    ours = TestResult("welch", effect, 0.05, (5, 5), interval=own, exact=own is None)
    assert agree(prediction, ours) is agreement


def test_only_valid_evidence_concludes():
    """
    A conclusion or an agreement without validity, validity without a conclusion, and
    invalidity without a reason cannot be built.
    """
    for validity in Validity:
        if validity is Validity.VALID:
            continue
        assert Verdict(validity, "a control failed").conclusion is None
        with pytest.raises(ValueError, match="concludes and agrees with nothing"):
            Verdict(validity, "a control failed", CONFIRMED)
        with pytest.raises(ValueError, match="concludes and agrees with nothing"):
            Verdict(validity, "a control failed", agreement=Agreement.COMPATIBLE)
        with pytest.raises(ValueError, match="needs a reason"):
            Verdict(validity, "")
    with pytest.raises(ValueError, match="has a conclusion"):
        Verdict(Validity.VALID, "")


def test_the_worst_validity_dominates():
    """
    INVALID is worst, then NOT-COMPARABLE, STALE, INCOMPLETE, VALID, in any order of leaves.
    """
    worst_first = ["INVALID", "NOT-COMPARABLE", "STALE", "INCOMPLETE", "VALID"]
    for count in range(1, 6):
        for leaves in itertools.permutations(worst_first, count):
            expected = min(leaves, key=worst_first.index)
            assert roll_up(Validity(word) for word in leaves) == expected
    assert roll_up([]) is Validity.VALID


def valid(conclusion: Conclusion) -> Verdict:
    """A valid verdict."""
    return Verdict(Validity.VALID, "", conclusion)


EXIT_CODES = [
    ([], 0),
    ([(valid(CONFIRMED), CONFIRMED)], 0),
    ([(valid(CONTRADICTED), CONTRADICTED)], 0),
    ([(valid(INCONCLUSIVE), INCONCLUSIVE)], 0),
    ([(valid(CONTRADICTED), CONFIRMED)], 1),
    ([(valid(TRIVIAL), CONFIRMED)], 1),
    ([(valid(CONFIRMED), CONTRADICTED)], 1),
    ([(valid(CONFIRMED), INCONCLUSIVE)], 1),
    ([(valid(INCONCLUSIVE), CONFIRMED)], 3),
    ([(valid(NOT_TESTED), CONFIRMED)], 3),
    ([(valid(NOT_TESTED), INCONCLUSIVE)], 3),
    ([(valid(NOT_TESTED), NOT_TESTED)], 0),
    ([(valid(CONFIRMED), NOT_TESTED)], 1),
    ([(Verdict(Validity.INCOMPLETE, "3 of 5 seeds"), CONFIRMED)], 3),
    ([(Verdict(Validity.STALE, "corpus"), CONFIRMED)], 3),
    ([(Verdict(Validity.NOT_COMPARABLE, "parameters"), CONFIRMED)], 3),
    ([(Verdict(Validity.INVALID, "control"), CONFIRMED)], 4),
]


@pytest.mark.parametrize(("verdicts", "code"), EXIT_CODES)
def test_the_exit_code_of_one_verdict(verdicts, code):
    """
    The exit code says whether a verdict is as its claim expects, deviates, is open or invalid.
    """
    assert exit_code(verdicts) == code
    assert exit_code(verdicts, infrastructure=True) == 5


@pytest.mark.parametrize("one", EXIT_CODES)
@pytest.mark.parametrize("other", EXIT_CODES)
def test_the_gravest_exit_code_wins(one, other):
    """
    Of several verdicts 4 comes before 1 before 3 before 0.
    """
    gravest = next(code for code in (4, 1, 3, 0) if code in (one[1], other[1]))
    assert exit_code([*one[0], *other[0]]) == gravest


@pytest.mark.parametrize("code", [5, 4, 2, 1, 3, 0])
def test_a_crash_is_graver_than_anything(code):
    """
    70 of a claim that crashed comes before all, and what an error stopped before the verdicts.
    """
    assert exit_code([], stopped=[code, 70]) == 70
    assert exit_code([], stopped=[code]) == code
    assert exit_code([(valid(CONTRADICTED), CONFIRMED)], stopped=[4]) == 4
    assert exit_code([(valid(CONTRADICTED), CONFIRMED)], infrastructure=True, stopped=[4]) == 5


def test_a_flip_is_graver_than_the_verdict_and_less_than_what_is_not_judged():
    """6 before 1 and 3, after whatever says that something could not be judged."""
    undecided = [(valid(INCONCLUSIVE), CONFIRMED), (valid(CONTRADICTED), CONFIRMED)]
    assert exit_code(undecided, flipped=True) == 6
    assert exit_code(undecided, flipped=True, stopped=[2]) == 2
    assert exit_code(undecided, flipped=True, infrastructure=True) == 5


def test_a_claim_may_expect_every_conclusion():
    """A claim file names them as Python does, in lower case; the report has the words."""
    words = get_args(Expect.model_fields["conclusion"].annotation)
    assert words == tuple(each.name.lower() for each in Conclusion)
