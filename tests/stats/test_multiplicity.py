from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from repro.errors import ClaimError
from repro.stats.multiplicity import holm

PAPER = (3.92e-1, 2.62e-1, 1.91e-5, 2.02e-15, 3.46e-4, 2.74e-2, 2.98e-7, 2.04e-13)


def test_the_papers_eight():
    """
    Among the paper's eight tests GSS on WikiText-2, p = .0274, becomes .082.
    """
    assert round(holm(PAPER)[5], 3) == 0.082


@settings(max_examples=15)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_statsmodels_agrees(ps):
    """
    The adjusted p-values are those of statsmodels.
    """
    assert holm(ps) == pytest.approx(multipletests(ps, method="holm")[1], rel=1e-12)


@given(st.lists(st.floats(0, 1), max_size=8), st.randoms())
def test_order_never_matters(ps, shuffler):
    """
    Each p is adjusted alike wherever it stands, and never becomes smaller.
    """
    shuffled = list(ps)
    shuffler.shuffle(shuffled)
    assert sorted(zip(ps, holm(ps), strict=True)) == sorted(
        zip(shuffled, holm(shuffled), strict=True)
    )
    assert all(before <= after <= 1 for before, after in zip(ps, holm(ps), strict=True))


def test_one_p_value_and_none():
    """
    A single p-value stays as it is, and an empty family is empty.
    """
    assert holm([0.03]) == (0.03,)
    assert holm([]) == ()


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_a_p_value_is_a_probability(bad):
    """
    A number that is no probability is refused.
    """
    with pytest.raises(ClaimError, match="a p-value lies between 0 and 1"):
        holm([0.5, bad])
