"""Claims judged together: each conclusion at its level among all of the family.

What is adjusted, over all members: the p of what is claimed, which keeps or loses CONFIRMED,
and, apart from it, the p of the contrary, which keeps or loses CONTRADICTED. A member that is
not judged counts as p = 1 (e = 0) in both. TRIVIAL, of which no p is claimed, stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from repro.errors import ClaimError
from repro.stats.multiplicity import adjusted_e_values, benjamini_hochberg, holm
from repro.verdict.words import Conclusion, Finding


def adjust_family(
    findings: Sequence[Finding | None], *, method: Literal["holm", "bh"], alpha: float = 0.05
) -> tuple[Finding | None, ...]:
    """The findings with adjusted p-values, INCONCLUSIVE where these no longer reach ``alpha``.

    ``None`` is a member that is not judged, and stays so; the order is kept. Holm keeps the
    chance of any false conclusion of one sort below alpha, bh their expected share.
    ``ClaimError`` for an unknown method.
    """
    if method not in ("holm", "bh"):
        raise ClaimError(f"a family is adjusted by holm or bh, not {method!r}")
    adjust = holm if method == "holm" else benjamini_hochberg
    return _weakened(
        findings,
        adjust([1.0 if one is None else one.p for one in findings]),
        adjust([1.0 if one is None else one.p_opposite for one in findings]),
        alpha,
    )


def adjust_family_by_e(
    findings: Sequence[Finding | None],
    e_values: Sequence[tuple[float, float] | None],
    *,
    alpha: float = 0.05,
) -> tuple[Finding | None, ...]:
    """The same by e-BH: the expected share of false conclusions however the claims depend.

    ``e_values`` are the current ones of each claim and of its contrary, never their maxima
    over time. The new p-values are ``1 / e`` of the adjusted e-values, at most 1. ``ClaimError``
    where a finding has no e-values.
    """
    if len(e_values) != len(findings):
        raise ClaimError(f"{len(e_values)} pairs of e-values for {len(findings)} findings")
    own = []
    for one, pair in zip(findings, e_values, strict=True):
        if one is not None and pair is None:
            raise ClaimError(
                "e_bh needs the e-values of every claim; only sequential ones have any"
            )
        own.append((0.0, 0.0) if one is None or pair is None else pair)
    ps, opposites = (
        [min(1.0, 1 / e) if e > 0 else 1.0 for e in adjusted_e_values(values)]
        for values in ([pair[0] for pair in own], [pair[1] for pair in own])
    )
    return _weakened(findings, ps, opposites, alpha)


def _weakened(
    findings: Sequence[Finding | None],
    ps: Sequence[float],
    opposites: Sequence[float],
    alpha: float,
) -> tuple[Finding | None, ...]:
    return tuple(
        None if one is None else Finding(_kept(one.conclusion, p, opposite, alpha), p, opposite)
        for one, p, opposite in zip(findings, ps, opposites, strict=True)
    )


def _kept(conclusion: Conclusion, p: float, opposite: float, alpha: float) -> Conclusion:
    deciding = {Conclusion.CONFIRMED: p, Conclusion.CONTRADICTED: opposite}
    lost = deciding.get(conclusion, 0.0) > alpha
    return Conclusion.INCONCLUSIVE if lost else conclusion
