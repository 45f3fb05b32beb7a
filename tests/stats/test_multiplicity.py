from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from repro.errors import ClaimError
from repro.stats.multiplicity import adjusted_e_values, benjamini_hochberg, holm

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


def test_the_papers_eight_by_benjamini_and_hochberg():
    """
    Among the paper's eight tests GSS on WikiText-2 becomes .0365 (statistics.md 1.6).
    """
    assert round(benjamini_hochberg(PAPER)[5], 4) == 0.0365


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_statsmodels_agrees_on_benjamini_and_hochberg(ps):
    """
    The p-values of Benjamini and Hochberg are those of statsmodels.
    """
    assert benjamini_hochberg(ps) == pytest.approx(
        multipletests(ps, method="fdr_bh")[1], rel=1e-9, abs=1e-300
    )


@given(st.lists(st.floats(0, 1e6), max_size=8), st.floats(0.01, 0.2))
def test_e_bh_by_its_definition(es, alpha):
    """
    e-BH rejects the k largest for the largest k whose k-th e-value is at least m / (alpha k)
    (Wang & Ramdas 2022).
    """
    descending = sorted(es, reverse=True)
    ks = [k for k, e in enumerate(descending, 1) if alpha * (k * e / len(es)) >= 1]
    border = descending[max(ks) - 1] if ks else float("inf")
    adjusted = adjusted_e_values(es)
    assert [alpha * e >= 1 for e in adjusted] == [e >= border for e in es]


def test_e_bh_by_hand():
    """
    Of 100, 30 and 1 the first two reach 1 / .05, for 30 is 3 / (.05 x 2); of 50, 29, 1 none does.
    """
    assert adjusted_e_values([1.0, 29.0, 50.0]) == pytest.approx((1.0, 58 / 3, 58 / 3))
    assert adjusted_e_values([1.0, 30.0, 100.0]) == pytest.approx((1.0, 20.0, 100 / 3))
    assert adjusted_e_values([1.0, 60.0, 30.0]) == pytest.approx((1.0, 20.0, 20.0))
    assert adjusted_e_values([1.0, 1.0, float("inf")]) == (1.0, 1.0, float("inf"))


@pytest.mark.parametrize("method", [benjamini_hochberg, adjusted_e_values])
def test_an_empty_family_is_empty(method):
    """
    A family without members has no results.
    """
    assert method([]) == ()


def test_numbers_that_are_none_are_refused():
    """
    What is no probability or no e-value is refused.
    """
    with pytest.raises(ClaimError, match="a p-value lies between 0 and 1"):
        benjamini_hochberg([0.5, 1.5])
    for bad in (-1.0, float("nan")):
        with pytest.raises(ClaimError, match="an e-value is at least 0"):
            adjusted_e_values([1.0, bad])
