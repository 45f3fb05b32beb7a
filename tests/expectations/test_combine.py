from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import ClaimError
from repro.expectations.verdict_words import Conclusion, Finding
from repro.judging.verdict import conclude_conjunction, conclude_disjunction, conclude_tree
from tests.expectations.trees import all_of, any_of

CONFIRMED, CONTRADICTED = Conclusion.CONFIRMED, Conclusion.CONTRADICTED
INCONCLUSIVE, TRIVIAL = Conclusion.INCONCLUSIVE, Conclusion.TRIVIAL
NOT_TESTED = Conclusion.NOT_TESTED
SEED = 1979

YES, NO = Finding(CONFIRMED, 0.001, 0.999), Finding(CONTRADICTED, 0.99, 0.01)
OPEN, SMALL = Finding(INCONCLUSIVE, 0.4, 0.6), Finding(TRIVIAL, 0.9, 0.02)
WEAK = Finding(CONFIRMED, 0.03, 0.97)
REFUSED = Finding(NOT_TESTED, 1.0, 1.0)

ANY = [
    ("one holds", (YES, OPEN, NO), CONFIRMED),
    ("one holds, but not at its Holm level", (WEAK, OPEN), INCONCLUSIVE),
    ("at its Holm level exactly", (Finding(CONFIRMED, 0.025, 0.9), NO), CONFIRMED),
    ("alone it needs no correction", (WEAK,), CONFIRMED),
    ("Holm steps down", (YES, WEAK), CONFIRMED),
    ("all contradicted", (NO, NO), CONTRADICTED),
    ("contradicted and open", (NO, OPEN), INCONCLUSIVE),
    ("one trivial, none confirmed", (SMALL, OPEN, NO), TRIVIAL),
    ("one trivial, one confirmed at its own level only", (SMALL, WEAK), INCONCLUSIVE),
    ("one trivial, one confirmed", (SMALL, YES), CONFIRMED),
    ("all open", (OPEN, OPEN), INCONCLUSIVE),
    ("one holds, one was not tested", (YES, REFUSED), CONFIRMED),
    ("not at its Holm level, which counts the one not tested", (WEAK, REFUSED), INCONCLUSIVE),
    ("contradicted, one not tested", (NO, REFUSED), INCONCLUSIVE),
    ("trivial, one not tested", (SMALL, REFUSED), TRIVIAL),
    ("open, one not tested", (OPEN, REFUSED), INCONCLUSIVE),
    ("none was tested", (REFUSED, REFUSED), NOT_TESTED),
]

ALL = [
    ("all others hold", (YES, REFUSED, YES), NOT_TESTED),
    ("one trivial", (SMALL, REFUSED), NOT_TESTED),
    ("one open", (OPEN, REFUSED), NOT_TESTED),
    ("one contradicted at its Holm level", (NO, REFUSED, YES), CONTRADICTED),
    ("its Holm level counts the one not tested", (Finding(CONTRADICTED, 0.9, 0.03), REFUSED),
     NOT_TESTED),
    ("none was tested", (REFUSED,), NOT_TESTED),
]  # fmt: skip


@pytest.mark.parametrize(
    ("leaves", "conclusion"), [row[1:] for row in ALL], ids=[r[0] for r in ALL]
)
def test_a_conjunction_of_which_a_part_was_not_tested(leaves, conclusion):
    """
    It is not tested either, unless another part contradicts the whole.
    """
    found = conclude_conjunction(leaves)
    assert found.conclusion is conclusion
    assert conclude_conjunction(leaves[::-1]) == found
    assert found.p == 1


@pytest.mark.parametrize(
    ("leaves", "conclusion"), [row[1:] for row in ANY], ids=[r[0] for r in ANY]
)
def test_a_disjunction(leaves, conclusion):
    """
    At least one holds: a leaf at its Holm level; none does: all contradicted.
    """
    assert conclude_disjunction(leaves).conclusion is conclusion
    assert conclude_disjunction(leaves[::-1]) == conclude_disjunction(leaves)


def test_the_p_values_of_a_disjunction():
    """
    Its p is the smallest after Holm, that of its contrary the largest.
    """
    found = conclude_disjunction([Finding(CONFIRMED, 0.01, 0.99), OPEN])
    assert found == Finding(CONFIRMED, 0.02, 0.99)
    assert conclude_disjunction([OPEN]) == OPEN


def test_the_level_is_that_of_the_node():
    """
    A stricter level needs a stronger leaf.
    """
    leaves = [Finding(CONFIRMED, 0.01, 0.99), OPEN]
    assert conclude_disjunction(leaves, alpha=0.02).conclusion is CONFIRMED
    assert conclude_disjunction(leaves, alpha=0.0199).conclusion is INCONCLUSIVE


FOUND = {"yes": YES, "no": NO, "open": OPEN, "small": SMALL, "weak": WEAK, "refused": REFUSED}


@pytest.mark.parametrize(
    ("tree", "conclusion"),
    [
        ("yes", CONFIRMED),
        (all_of(("yes", "weak")), CONFIRMED),
        (all_of(("yes", "small")), TRIVIAL),
        (all_of(("yes", "no")), CONTRADICTED),
        (all_of(("yes", any_of(("no", "yes")))), CONFIRMED),
        (all_of(("yes", any_of(("no", "no")))), CONTRADICTED),
        (all_of(("yes", any_of(("weak", "open")))), INCONCLUSIVE),
        (any_of((all_of(("yes", "no")), "yes")), CONFIRMED),
        (any_of((all_of(("yes", "no")), "no")), CONTRADICTED),
        (any_of((all_of(("weak", "weak")), "open")), INCONCLUSIVE),
        (any_of((all_of(("small", "yes")), "open")), TRIVIAL),
        (all_of((all_of((all_of(("yes",)),)),)), CONFIRMED),
        ("refused", NOT_TESTED),
        (all_of(("yes", any_of(("refused", "yes")))), CONFIRMED),
        (all_of(("yes", any_of(("refused", "refused")))), NOT_TESTED),
        (any_of((all_of(("refused", "yes")), "yes")), CONFIRMED),
        (any_of((all_of(("refused", "yes")), "no")), INCONCLUSIVE),
    ],
)
def test_a_tree_is_joined_bottom_up(tree, conclusion):
    """
    Each node of a tree is judged by its rule over its own parts.
    """
    assert conclude_tree(tree, FOUND).conclusion is conclusion


def test_an_inner_node_hands_up_its_p_values():
    """
    Up the tree p is the largest of *all*, the smallest after Holm of *any*.
    """
    inner = conclude_disjunction([YES, OPEN])
    assert conclude_tree(all_of(("weak", any_of(("yes", "open")))), FOUND) == conclude_conjunction(
        [WEAK, inner]
    )
    assert conclude_tree(any_of(("open", all_of(("yes", "weak")))), FOUND).p == pytest.approx(0.06)


def test_one_level_is_the_plain_rule():
    """
    A tree of one level is the conjunction or disjunction of its leaves, at its alpha.
    """
    ids = tuple(FOUND)
    leaves = list(FOUND.values())
    for alpha in (0.05, 0.001):
        assert conclude_tree(all_of(ids), FOUND, alpha=alpha) == conclude_conjunction(
            leaves, alpha=alpha
        )
        assert conclude_tree(any_of(ids), FOUND, alpha=alpha) == conclude_disjunction(
            leaves, alpha=alpha
        )


def test_trees_without_parts_or_findings_are_refused():
    """
    Nothing to join, and an id without a finding, are refused.
    """
    for empty in (conclude_conjunction, conclude_disjunction):
        with pytest.raises(ClaimError, match="at least one decisive expectation"):
            empty([])
    with pytest.raises(ClaimError, match="nothing was found for 'other'; known: yes, no"):
        conclude_tree(all_of(("yes", "other")), FOUND)


findings = st.builds(
    lambda p, q: Finding(
        CONFIRMED if p <= 0.05 else CONTRADICTED if q <= 0.05 else INCONCLUSIVE, p, q
    ),
    st.floats(0, 1),
    st.floats(0.06, 1),
)


@given(st.lists(findings, min_size=1, max_size=6))
def test_confirmed_is_p_at_most_alpha(leaves):
    """
    Of leaves that are confirmed where p is at most alpha, both joins are confirmed where theirs
    is.
    """
    for join in (conclude_conjunction, conclude_disjunction):
        found = join(leaves)
        assert (found.conclusion is CONFIRMED) == (found.p <= 0.05)


@pytest.mark.parametrize("leaves", [2, 5])
def test_a_false_disjunction_is_rarely_confirmed(leaves):
    """
    Where no leaf holds, one is confirmed alone in 10 or 23 % of cases, and the disjunction in
    at most 5 %.
    """
    draws, rng = 4000, np.random.default_rng([SEED, leaves])
    found = [
        [Finding(CONFIRMED if p <= 0.05 else INCONCLUSIVE, p, 1 - p) for p in row]
        for row in rng.uniform(size=(draws, leaves)).tolist()
    ]
    alone = np.mean([any(leaf.conclusion is CONFIRMED for leaf in row) for row in found])
    joint = np.mean([conclude_disjunction(row).conclusion is CONFIRMED for row in found])
    error = 4 * math.sqrt(0.05 * 0.95 / draws)
    assert abs(alone - (1 - 0.95**leaves)) <= 4 * math.sqrt(0.25 / draws)
    assert abs(joint - (1 - (1 - 0.05 / leaves) ** leaves)) <= error
