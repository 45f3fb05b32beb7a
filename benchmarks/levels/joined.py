"""Rules that join several findings: all of them, at least one, a family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from benchmarks.levels.cells import Array, Data, Outcome, Rule
from benchmarks.levels.means import rare_p, region, region_p, sample, welch_kernel
from repro.expectations.decision_rules import conclude_difference
from repro.expectations.verdict_words import Conclusion, Finding
from repro.judging.verdict import adjust_family, conclude_conjunction, conclude_disjunction
from repro.stats.t_tests import welch

Margin = tuple[float | None, float | None]


def joined(how: Literal["all", "any"], leaves: Sequence[Margin], alpha: float) -> Rule:
    """Leaves about the same two arms by other measurements: leaf i has arms 2i and 2i + 1.

    Each leaf asserts that the difference lies between its margins (one-sided if one is None).
    """
    rules = [region(_kind(margin), alpha, *margin) for margin in leaves]
    conclude = conclude_conjunction if how == "all" else conclude_disjunction

    def judge(row: Data) -> Finding:
        found = [rule.judge(row[2 * place : 2 * place + 2]) for place, rule in enumerate(rules)]
        return conclude(found, alpha=alpha)

    def decide(data: Data) -> Outcome:
        own = [data[2 * place : 2 * place + 2] for place in range(len(leaves))]
        outcomes = [rule.decide(part) for rule, part in zip(rules, own, strict=True)]
        ps = [region_p(part, *margin, alpha) for part, margin in zip(own, leaves, strict=True)]
        confirmed = np.stack([one.confirmed for one in outcomes], axis=-1)
        contradicted = np.stack([one.contradicted for one in outcomes], axis=-1)
        if how == "all":
            opposite = holm(np.stack([p[1] for p in ps], axis=-1))
            against = np.any(contradicted & (opposite <= alpha), axis=-1)
            return Outcome(np.asarray(confirmed.all(-1)), against)
        adjusted = holm(np.stack([p[0] for p in ps], axis=-1))
        found = np.any(confirmed & (adjusted <= alpha), axis=-1)
        return Outcome(found, np.asarray(contradicted.all(-1)))

    return Rule(decide, judge)


def family(method: Literal["holm", "bh"], alpha: float) -> Rule:
    """Claims of a higher mean judged as a family; CONFIRMED where any of them still is."""

    def judge(row: Data) -> Finding:
        pairs = [(sample(row[i]), sample(row[i + 1])) for i in range(0, len(row), 2)]
        found = [
            conclude_difference(welch(a, b, alpha=alpha), direction="higher") for a, b in pairs
        ]
        judged = adjust_family(found, method=method, alpha=alpha)
        words = {one.conclusion for one in judged if one is not None}
        for word in (Conclusion.CONFIRMED, Conclusion.CONTRADICTED):
            if word in words:
                return Finding(word, 0.0, 0.0)
        return Finding(Conclusion.INCONCLUSIVE, 1.0, 1.0)

    def decide(data: Data) -> Outcome:
        up, down = [], []
        for place in range(0, len(data), 2):
            effect, se, df = welch_kernel(data[place], data[place + 1])
            p = 2 * rare_p(np.abs(effect) / se, df, alpha / 2)
            up.append(np.where(effect > 0, p, 1.0))
            down.append(np.where(effect < 0, p, 1.0))
        adjust = holm if method == "holm" else benjamini_hochberg
        confirmed, contradicted = (
            np.any(adjust(np.stack(side, axis=-1)) <= alpha, axis=-1) for side in (up, down)
        )
        return Outcome(confirmed, contradicted & ~confirmed)

    return Rule(decide, judge)


def holm(p: Array) -> Array:
    """Holm's adjusted p-values along the last axis."""
    order = np.argsort(p, axis=-1)
    factors = np.arange(p.shape[-1], 0, -1)
    ascending = np.minimum(np.take_along_axis(p, order, axis=-1) * factors, 1.0)
    return _back(np.maximum.accumulate(ascending, axis=-1), order)


def benjamini_hochberg(p: Array) -> Array:
    """Benjamini and Hochberg's adjusted p-values along the last axis."""
    order = np.argsort(p, axis=-1)
    factors = p.shape[-1] / np.arange(1, p.shape[-1] + 1)
    ascending = np.minimum(np.take_along_axis(p, order, axis=-1) * factors, 1.0)
    return _back(np.minimum.accumulate(ascending[..., ::-1], axis=-1)[..., ::-1], order)


def _back(ascending: Array, order: npt.NDArray[np.signedinteger[Any]]) -> Array:
    adjusted = np.empty_like(ascending)
    np.put_along_axis(adjusted, order, ascending, axis=-1)
    return adjusted


def _kind(margin: Margin) -> str:
    if None not in margin:
        return "equivalence"
    return "non_superiority" if margin[0] is None else "non_inferiority"
