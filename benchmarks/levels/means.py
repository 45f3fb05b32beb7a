"""Rules about two means: difference, margins, ratio; and about pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from benchmarks.levels.cells import Array, Data, Mask, Outcome, Rule
from repro.expectations.decision_rules import (
    Direction,
    by_interval,
    conclude_difference,
    conclude_ratio,
)
from repro.expectations.verdict_words import Finding
from repro.stats import simulated
from repro.stats import t_tests as margins
from repro.stats.contrast import scaled_contrast, trimmed
from repro.stats.records import Sample, TestResult
from repro.stats.t_tests import TESTS, ratio_of_geometric_means

Kernel = Callable[[Array, Array], tuple[Array, Array, Array]]
"""Effect, standard error and degrees of freedom of each draw."""

Against = Callable[[float, float], tuple[Mask, Mask, Mask | bool]]
"""From a border and a tail: whether the effect lies above it, below, and the test can be had."""


def sample(row: Array) -> Sample:
    """One draw of one arm, as the engine takes it."""
    return Sample.of(*map(float, row))


def welch_kernel(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Each arm with its own variance."""
    n_a, n_b = a.shape[-1], b.shape[-1]
    part_a, part_b = a.var(-1, ddof=1) / n_a, b.var(-1, ddof=1) / n_b
    df = (part_a + part_b) ** 2 / (part_a**2 / (n_a - 1) + part_b**2 / (n_b - 1))
    return a.mean(-1) - b.mean(-1), np.sqrt(part_a + part_b), df


def student_kernel(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """One pooled variance."""
    n_a, n_b = a.shape[-1], b.shape[-1]
    squares = (n_a - 1) * a.var(-1, ddof=1) + (n_b - 1) * b.var(-1, ddof=1)
    df = n_a + n_b - 2
    se = np.sqrt(squares / df * (1 / n_a + 1 / n_b))
    return a.mean(-1) - b.mean(-1), se, np.full(len(se), float(df))


def paired_kernel(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The differences within pairs."""
    own = a - b
    se = own.std(-1, ddof=1) / math.sqrt(own.shape[-1])
    return own.mean(-1), se, np.full(len(own), own.shape[-1] - 1.0)


def yuen_kernel(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Means without the lowest and highest fifth, with winsorised variances (Yuen 1974)."""
    effect, se, df = map(np.asarray, scaled_contrast(trimmed(a, 0.2), trimmed(b, 0.2), 1.0))
    return effect, se, df


KERNELS: dict[str, Kernel] = {
    "welch": welch_kernel,
    "student": student_kernel,
    "paired": paired_kernel,
    "yuen": yuen_kernel,
}
SIMULATED = {
    "permutation": simulated.permutation,
    "paired_permutation": simulated.paired_permutation,
    "brunner_munzel": simulated.brunner_munzel,
}


def p_above(t: Array, df: Array) -> Array:
    """One-sided p of *not above*."""
    return np.asarray(stdtr(df, -t))


def rare_p(t: Array, df: Array, most: float | Array) -> Array:
    """``p_above`` where it may be at most ``most``, else 1.

    Student's tails are heavier than the normal's, so that it is larger up to its quantile.
    """
    far = t > -ndtri(most)
    p = np.ones_like(t)
    p[far] = p_above(t[far], df[far])
    return p


def within(kernel: Kernel, level: float) -> Callable[[Data, float], Mask]:
    """Whether the interval of this level holds the truth: no tail beyond it is as rare."""

    def covers(data: Data, truth: float) -> Mask:
        effect, se, df = kernel(*data)
        return p_above(np.abs(effect - truth) / se, df) >= (1 - level) / 2

    return covers


def difference(
    test: str, direction: Direction, alpha: float, smallest: float | None = None
) -> Rule:
    """Two-sided test of two means; with ``smallest`` the interval must lie beyond it."""

    def judge(row: Data) -> Finding:
        result = TESTS[test](sample(row[0]), sample(row[1]), alpha=alpha)
        return conclude_difference(result, direction=direction, smallest_effect=smallest)

    if test in SIMULATED:
        return Rule(lambda data: _by_decisions(test, data, direction, alpha), judge)
    kernel = KERNELS[test]

    def decide(data: Data) -> Outcome:
        effect, se, df = kernel(*data)
        up, down = (_above(sign * effect, se, df, alpha / 2) for sign in (1, -1))
        if smallest is None:
            return _sided(up, down, direction)
        sign = 1 if direction == "higher" else -1
        beyond = _above(sign * effect - smallest, se, df, alpha / 2, strict=True)
        short = _above(smallest - sign * effect, se, df, alpha / 2, strict=True)
        real = _above(sign * effect, se, df, alpha / 2, strict=True)
        return Outcome(beyond, short & ~real)

    return Rule(decide, judge, within(kernel, 1 - alpha))


def one_sided(alpha: float) -> Rule:
    """Welch's test of a higher mean at the whole of alpha, as `tails: 1` declares it."""

    def judge(row: Data) -> Finding:
        a, b = sample(row[0]), sample(row[1])
        result = TESTS["welch"](a, b, alternative="greater", alpha=alpha)
        return conclude_difference(result, direction="higher")

    def decide(data: Data) -> Outcome:
        effect, se, df = welch_kernel(*data)
        return Outcome(_above(effect, se, df, alpha), _above(-effect, se, df, alpha))

    return Rule(decide, judge)


def region(
    kind: str,
    alpha: float,
    low: float | None,
    high: float | None,
    *,
    relative: bool = False,
    paired: bool = False,
) -> Rule:
    """Equivalence, non-superiority or non-inferiority: the interval lies within the margins.

    Absolute margins may be judged on ``paired`` arms.
    """
    kernel = paired_kernel if paired else welch_kernel

    def judge(row: Data) -> Finding:
        arms = sample(row[0]), sample(row[1])
        result = _region_result(kind, arms, low, high, alpha, relative, paired=paired)
        if kind == "equivalence":
            return by_interval(result)
        return by_interval(result)

    def decide(data: Data) -> Outcome:
        size = len(data[0])
        inside, outside = np.ones(size, bool), np.zeros(size, bool)
        against = partial(_relative, data) if relative else _against(*kernel(*data))
        for border, sign in ((low, 1), (high, -1)):
            if border is not None:
                above, below, safe = against(border, alpha)
                inside &= (above if sign > 0 else below) & safe
                outside |= (below if sign > 0 else above) & safe
        return Outcome(inside, outside)

    level = 1 - 2 * alpha
    return Rule(decide, judge, covers_relative(level) if relative else within(kernel, level))


def region_p(data: Data, low: float | None, high: float | None, most: float) -> tuple[Array, Array]:
    """The ``rare_p`` of lying inside the absolute margins, and of lying beyond one of them."""
    effect, se, df = welch_kernel(*data)
    inside, outside = np.zeros(len(effect)), np.ones(len(effect))
    for border, sign in ((low, 1), (high, -1)):
        if border is not None:
            t = sign * (effect - border) / se
            inside = np.maximum(inside, rare_p(t, df, most))
            outside = np.minimum(outside, rare_p(-t, df, most))
    return inside, outside


def ratio(at_least: float, alpha: float, *, paired: bool = False) -> Rule:
    """The ratio of geometric means is at least so large; Welch or paired t on logarithms."""
    border = math.log(at_least)
    kernel = paired_kernel if paired else welch_kernel

    def judge(row: Data) -> Finding:
        a, b = sample(row[0]), sample(row[1])
        return conclude_ratio(
            ratio_of_geometric_means(a, b, at_least=at_least, alpha=alpha, paired=paired)
        )

    def decide(data: Data) -> Outcome:
        effect, se, df = kernel(*map(np.log, data))
        up = _above(effect - border, se, df, alpha, strict=True)
        return Outcome(up, _above(border - effect, se, df, alpha, strict=True))

    def covers(data: Data, truth: float) -> Mask:
        logs = (np.log(data[0]), np.log(data[1]))
        return within(kernel, 1 - 2 * alpha)(logs, math.log(truth))

    return Rule(decide, judge, covers)


def covers_relative(level: float) -> Callable[[Data, float], Mask]:
    """Whether the interval of the relative difference holds the truth; refused counts as such."""

    def covers(data: Data, truth: float) -> Mask:
        above, below, safe = _relative(data, truth, (1 - level) / 2)
        return np.asarray(~(above | below) | ~safe)

    return covers


def _region_result(
    kind: str,
    arms: tuple[Sample, Sample],
    low: float | None,
    high: float | None,
    alpha: float,
    relative: bool,
    *,
    paired: bool = False,
) -> TestResult:
    a, b = arms
    size = high if high is not None else -low if low is not None else 0.0
    if kind == "equivalence" and relative:
        return margins.tost_relative(a, b, relative=size, alpha=alpha)
    if kind == "equivalence":
        return margins.tost(a, b, low=-size, high=size, alpha=alpha, paired=paired)
    if kind == "non_superiority" and relative:
        return margins.non_superiority_relative(a, b, relative=size, better="higher", alpha=alpha)
    if kind == "non_superiority":
        return margins.non_superiority(
            a, b, margin=size, better="higher", alpha=alpha, paired=paired
        )
    if relative:
        return margins.non_inferiority_relative(a, b, relative=size, better="higher", alpha=alpha)
    return margins.non_inferiority(a, b, margin=size, better="higher", alpha=alpha, paired=paired)


def _against(effect: Array, se: Array, df: Array) -> Against:
    def against(border: float, tail: float) -> tuple[Mask, Mask, bool]:
        above = _above(effect - border, se, df, tail, strict=True)
        return above, _above(border - effect, se, df, tail, strict=True), True

    return against


def _relative(data: Data, border: float, tail: float) -> tuple[Mask, Mask, Mask]:
    """As ``Against``, by the contrast ``mean A - (1 + border) mean B``; B is above 0."""
    moments = [
        (arm.mean(-1), arm.std(-1, ddof=1) / math.sqrt(arm.shape[-1]), arm.shape[-1])
        for arm in data
    ]
    effect, se, df = scaled_contrast(moments[0], moments[1], 1 + border)
    mean_b, error_b, n_b = moments[1]
    safe = -stdtrit(n_b - 1, tail) * error_b < np.abs(mean_b)
    t, df = np.asarray(effect / se), np.asarray(df)
    return rare_p(t, df, tail) < tail, rare_p(-t, df, tail) < tail, safe


def _above(distance: Array, se: Array, df: Array, tail: float, *, strict: bool = False) -> Mask:
    """Whether the distance is significantly above 0; ``strict`` where an interval decides."""
    p = rare_p(distance / se, df, tail)
    return np.asarray(p < tail if strict else p <= tail)


def _by_decisions(test: str, data: Data, direction: Direction, alpha: float) -> Outcome:
    decide = SIMULATED[test]
    up, down = decide(data[0], data[1], alpha), decide(data[1], data[0], alpha)
    return _sided(up, down, direction)


def _sided(up: Mask, down: Mask, direction: Direction) -> Outcome:
    if direction == "different":
        return Outcome(up | down, np.zeros(len(up), bool))
    return Outcome(up, down) if direction == "higher" else Outcome(down, up)
