from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from repro.errors import ClaimError
from repro.expectations.verdict_words import Conclusion, Finding, FlagKind
from repro.judging.verdict import adjust_family, adjust_family_by_e

CONFIRMED, CONTRADICTED = Conclusion.CONFIRMED, Conclusion.CONTRADICTED
INCONCLUSIVE, TRIVIAL = Conclusion.INCONCLUSIVE, Conclusion.TRIVIAL

# Parthiban et al. 2021, Table 4: the eight printed p-values of "better than Softmax".
PAPER = (3.92e-1, 2.62e-1, 1.91e-5, 2.02e-15, 3.46e-4, 2.74e-2, 2.98e-7, 2.04e-13)

probabilities = st.floats(0, 1)


def by_p(p: float, p_opposite: float = 1.0) -> Finding:
    """The finding that these p-values make at .05."""
    if p <= 0.05:
        return Finding(CONFIRMED, p, p_opposite)
    return Finding(CONTRADICTED if p_opposite <= 0.05 else INCONCLUSIVE, p, p_opposite)


@pytest.mark.parametrize(("method", "kept"), [("holm", 5), ("bh", 6)])
def test_the_papers_eight(method, kept):
    """
    Of the paper's six significant differences GSS on WikiText-2 (p = .0274) is lost by Holm at
    .082, and kept by Benjamini and Hochberg at .0365.
    """
    adjusted = adjust_family([by_p(p) for p in PAPER], method=method)
    words = [one.conclusion for one in adjusted if one is not None]
    assert words.count(CONFIRMED) == kept
    assert words.count(INCONCLUSIVE) == 8 - kept
    own = adjusted[5]
    assert own is not None
    assert round(own.p, 4) == {"holm": 0.0822, "bh": 0.0365}[method]


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(probabilities, probabilities), min_size=1, max_size=6))
def test_statsmodels_agrees(rows):
    """
    Both p-values of every finding are adjusted apart, as by statsmodels, and each decides its
    own word.
    """
    methods: list[tuple[Literal["holm", "bh"], str]] = [("holm", "holm"), ("bh", "fdr_bh")]
    for method, name in methods:
        before = [by_p(*row) for row in rows]
        after = adjust_family(before, method=method)
        ps = multipletests([p for p, _ in rows], method=name)[1]
        opposites = multipletests([q for _, q in rows], method=name)[1]
        for one, raw, p, q in zip(after, before, ps, opposites, strict=True):
            assert one is not None
            assert (one.p, one.p_opposite) == pytest.approx((p, q), rel=1e-9, abs=1e-300)
            lost = one.conclusion is not raw.conclusion
            word = {CONFIRMED: p, CONTRADICTED: q}.get(raw.conclusion, 0.0)
            assert lost == (word > 0.05)
            assert not lost or one.conclusion is INCONCLUSIVE


@pytest.mark.parametrize("method", ["holm", "bh"])
def test_members_that_are_not_judged_count(method):
    """
    A member that is not judged counts as p = 1, and stays unjudged.
    """
    alone = adjust_family([by_p(0.03)], method=method)
    among = adjust_family([by_p(0.03), None], method=method)
    assert alone == (Finding(CONFIRMED, 0.03, 1.0),)
    assert among == (Finding(INCONCLUSIVE, 0.06, 1.0), None)
    assert adjust_family([by_p(0.9, 0.03), None], method=method) == (
        Finding(INCONCLUSIVE, 1.0, 0.06),
        None,
    )


def test_trivial_stays():
    """
    TRIVIAL, of which no p is claimed, is not weakened.
    """
    adjusted = adjust_family([Finding(TRIVIAL, 0.9, 0.04), None, None], method="holm")
    assert adjusted[0] == Finding(TRIVIAL, 1.0, 0.12)


def test_the_family_has_its_own_alpha():
    """
    At its alpha exactly a conclusion stands; at a stricter one it falls.
    """
    family = [by_p(0.01), by_p(0.5)]
    kept, lost = (adjust_family(family, method="holm", alpha=a)[0] for a in (0.02, 0.0199))
    assert kept is not None
    assert lost is not None
    assert (kept.conclusion, lost.conclusion) == (CONFIRMED, INCONCLUSIVE)


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=6))
def test_e_values_decide_as_e_bh_does(es):
    """
    With e-values a conclusion stands exactly where e-BH rejects: the k largest e-values, for the
    largest k whose k-th is at least m / (alpha k) (Wang & Ramdas 2022).
    """
    descending = sorted(es, reverse=True)
    ks = [k for k, e in enumerate(descending, 1) if 0.05 * k * e >= len(es)]
    rejected = [bool(ks) and e >= descending[max(ks) - 1] for e in es]
    before = [Finding(CONFIRMED, 0.01, 1.0)] * len(es)
    after = adjust_family_by_e(before, [(e, 0.0) for e in es])
    kept = [one is not None and one.conclusion is CONFIRMED for one in after]
    sharp = [one is None or abs(one.p - 0.05) > 1e-12 for one in after]
    for mine, theirs, decided in zip(kept, rejected, sharp, strict=True):
        assert mine == theirs or not decided


def test_e_values_of_the_contrary_and_of_nobody():
    """
    The contrary has its own e-values, an unjudged member counts as e = 0, and a claim without
    any is refused.
    """
    against = Finding(CONTRADICTED, 1.0, 0.01)
    after = adjust_family_by_e([against, None], [(0.1, 50.0), None])
    assert after == (Finding(CONTRADICTED, 1.0, 0.04), None)
    weaker = adjust_family_by_e([against, None], [(0.1, 39.0), None])
    assert weaker[0] is not None
    assert weaker[0].conclusion is INCONCLUSIVE
    with pytest.raises(ClaimError, match="e_bh needs the e-values of every claim"):
        adjust_family_by_e([against], [None])
    with pytest.raises(ClaimError, match="1 pairs of e-values for 2 findings"):
        adjust_family_by_e([against, None], [None])


def test_other_methods_are_refused():
    """
    A family is adjusted by Holm or by Benjamini and Hochberg.
    """
    other: Any = "bonferroni"
    with pytest.raises(ClaimError, match="holm or bh, not 'bonferroni'"):
        adjust_family([None], method=other)


def test_every_flag_has_its_words():
    """
    The kinds of flags that judging a design, a level and an edit need have words of their own.
    """
    words = {
        FlagKind.MORE_SEEDS: "more seeds than planned",
        FlagKind.FORCED: "forced design",
        FlagKind.EDITED: "declared after results were visible",
        FlagKind.LEVEL: "test loses its level here",
    }
    assert {kind: kind.value for kind in words} == words
    assert len({kind.value for kind in FlagKind}) == len(FlagKind)
