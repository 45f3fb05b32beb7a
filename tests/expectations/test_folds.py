"""Folds of one data set: the corrected test, what is not tried again, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from repro.judging.assemble import check_claim
from repro.judging.document import Document
from tests.judging.made import made, seen

X = (0.81, 0.79, 0.84, 0.80, 0.78, 0.83, 0.82, 0.80, 0.79, 0.85)
Y = (0.80, 0.79, 0.83, 0.80, 0.77, 0.80, 0.83, 0.78, 0.78, 0.83)
FOLDS = {
    "kind": "difference",
    "of": ["a", "b"],
    "direction": "higher",
    "test": "paired",
    "folds": {"test_to_train": 1 / 9},
}


def document(**keys: object) -> Document:
    claim = made({**FOLDS, **keys}, design="paired", seeds={"min": 10, "plan": 10})
    return check_claim(claim, seen(claim, {"a": X, "b": Y}))


def test_a_difference_that_the_plain_test_finds_is_open() -> None:
    """Ten folds: p = .02 by the paired t-test, and .09 by the corrected one (by hand)."""
    differences = np.array(X) - np.array(Y)
    t = differences.mean() / np.sqrt((1 / 10 + 1 / 9) * differences.var(ddof=1))
    one = document().results[0]
    assert one.p == pytest.approx(2 * stats.t.sf(t, 9))
    assert one.conclusion == "INCONCLUSIVE"
    assert document(folds=None).results[0].conclusion == "CONFIRMED"
    assert one.test == "corrected resampled t-test (Nadeau and Bengio), two-sided"


def test_no_test_of_independent_pairs_is_tried_with_it() -> None:
    """Exchanges within pairs, and arms that share nothing, know nothing of the overlap."""
    choices = {each.choice for each in document().robustness[0].analyses}
    assert choices == {"declared", "scale", "seed"}
    assert "test" in {each.choice for each in document(folds=None).robustness[0].analyses}
    (design,) = document().design
    assert "folds, whose training data overlap" in design.note


def test_how_often_the_test_errs_is_said() -> None:
    """By simulated data sets with as many folds, and where folds correlate by more; 5 x 2 apart."""
    tenths = document().results[0].details["error rate"]
    said = "1 % with 10 folds of simulated data sets; 11 % if folds correlate by 0.2 (measured)"
    assert tenths == said
    halves = document(folds={"test_to_train": 1}).results[0].details["error rate"]
    assert halves == "3.4 % with 10 folds of simulated data sets (measured)"


def test_more_folds_are_not_asked_for() -> None:
    """They are of the same data, and would add training data in common."""
    one = document().results[0]
    assert one.sentence.endswith("would not settle it; other data sets might.")
    assert one.details["folds"] == "10 per arm"
