"""Correlations beside each other: two of them, part of the range, one point left out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from repro.errors import ClaimError
from repro.stats.coefficients import (
    FEWEST,
    Method,
    aligned,
    correlate,
    correlate_weighted,
)
from repro.stats.fisher_z import fisher_interval
from repro.stats.result import Interval, TestResult, check_alpha, check_finite, known
from repro.stats.sample import Sample


@dataclass(frozen=True, slots=True)
class RestrictedRange:
    """A correlation inside a window of y, and what the choice of the window alone predicts.

    ``u`` is the standard deviation of y inside the window over that of all points.
    ``interval`` is that of the observed coefficient; ``None`` for a perfect one.
    """

    full: float
    observed: float
    predicted: float
    n: int
    n_window: int
    u: float
    interval: Interval | None

    @property
    def explained(self) -> bool:
        """Whether restriction alone is compatible with what is observed in the window."""
        return self.interval is not None and self.predicted in self.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCorrelations(TestResult):
    """The result of two correlations; ``difference`` is that of the coefficients themselves."""

    difference: float
    difference_interval: tuple[float, float]


def restricted(
    x: Sample, y: Sample, *, low: float, high: float, level: float = 0.95
) -> RestrictedRange:
    """Pearson's correlation among the points with ``low <= y <= high``.

    Choosing points by y shrinks the correlation mechanically. For a linear relation of even
    scatter the full-range r becomes ``r u / sqrt(1 + r^2 (u^2 - 1))`` (Thorndike 1949,
    case 2, run forwards). ``ClaimError`` as ``association`` for the points, all of them and
    those in the window. METHODS.md 1.4; FACTS.md 6.1 a.
    """
    if not check_finite("low", low) < check_finite("high", high):
        raise ClaimError(f"a window runs from low to high, not {low} to {high}")
    all_x, all_y = aligned(x, y, "pearson")
    kept = (low <= all_y) & (all_y <= high)
    window = [Sample.of(*map(float, values[kept])) for values in (all_x, all_y) if kept.any()]
    if len(window) < 2:
        raise ClaimError(f"no point lies between {low} and {high}")
    full = float(correlate(all_x, all_y, "pearson"))
    observed = float(correlate(*aligned(window[0], window[1], "pearson"), "pearson"))
    u = float(np.std(all_y[kept], ddof=1) / np.std(all_y, ddof=1))
    return RestrictedRange(
        full=full,
        observed=observed,
        predicted=restricted_r(full, u),
        n=x.n,
        n_window=window[0].n,
        u=u,
        interval=fisher_interval("pearson", observed, window[0].n, level),
    )


def restricted_r(r: float, u: float) -> float:
    """The correlation left when selection makes the standard deviation ``u`` times its size."""
    return r * u / math.sqrt(1 + r**2 * (u**2 - 1))


def leave_one_out(x: Sample, y: Sample, *, method: Method) -> tuple[float, float, int]:
    """Lowest and highest coefficient with one point left out; the most influential replicate.

    That is the one whose absence moves the coefficient most. ``ClaimError`` as
    ``association``, and where one point fewer would be too few.
    """
    if x.n <= FEWEST[method]:
        raise ClaimError(f"{method} without one of {x.n} points has too few of them")
    aligned(x, y, method)
    partner = dict(zip(y.replicates, y.values, strict=True))
    first = np.array(x.values)
    second = np.array([partner[number] for number in x.replicates])
    without = correlate_weighted(first, second, 1 - np.eye(x.n), method)
    moved = np.abs(without - correlate(first, second, method))
    return float(without.min()), float(without.max()), x.replicates[int(moved.argmax())]


def compare_independent(
    r1: float, n1: int, r2: float, n2: int, *, alpha: float = 0.05
) -> ComparedCorrelations:
    """Two-sided test that the correlations of two separate sets of points are equal.

    ``effect`` and ``interval`` (level ``1 - alpha``) are the difference of Fisher's z, to
    which p belongs. ``difference`` is the plain one, with its interval (Zou 2007).
    ``ClaimError`` unless both lie between -1 and 1, and for fewer than four points.
    Fisher 1921.
    """
    for r, n in ((r1, n1), (r2, n2)):
        _check(n, r)
    se = math.sqrt(1 / (n1 - 3) + 1 / (n2 - 3))
    return _comparison("compare_independent", (r1, r2), (n1, n2), se, 0.0, alpha)


def compare_dependent(
    r_xy: float, r_zy: float, r_xz: float, n: int, *, alpha: float = 0.05
) -> ComparedCorrelations:
    """Two-sided test that x and z correlate equally with y, all three at the same points.

    Result and errors as ``compare_independent``; also ``ClaimError`` for three correlations
    that no data can have together. Meng, Rosenthal & Rubin 1992; Zou 2007.
    """
    _check(n, r_xy, r_zy, r_xz)
    if 1 + 2 * r_xy * r_zy * r_xz < r_xy**2 + r_zy**2 + r_xz**2:
        raise ClaimError(f"no data have the correlations {r_xy}, {r_zy} and {r_xz} together")
    mean_square = (r_xy**2 + r_zy**2) / 2
    share = min(1.0, (1 - r_xz) / (2 * (1 - mean_square)))
    h = (1 - share * mean_square) / (1 - mean_square)
    se = math.sqrt(2 * (1 - r_xz) * h / (n - 3))
    together = (r_xz - r_xy * r_zy / 2) * (1 - r_xy**2 - r_zy**2 - r_xz**2) + r_xz**3
    correlation = together / ((1 - r_xy**2) * (1 - r_zy**2))
    return _comparison("compare_dependent", (r_xy, r_zy), (n, n), se, correlation, alpha)


def _comparison(
    test: str,
    r: tuple[float, float],
    n: tuple[int, int],
    se: float,
    correlation: float,
    alpha: float,
) -> ComparedCorrelations:
    check_alpha(alpha)
    effect = math.atanh(r[0]) - math.atanh(r[1])
    reach = -float(ndtri(alpha / 2)) * se
    return ComparedCorrelations(
        test=test,
        effect=effect,
        alpha=alpha,
        n=n if test == "compare_independent" else n[:1],
        interval=Interval(effect - reach, effect + reach, 1 - alpha),
        p=2 * float(ndtr(-abs(effect) / se)),
        statistic=effect / se,
        se=se,
        alternative="two-sided",
        difference=r[0] - r[1],
        difference_interval=_zou(r, n, correlation, 1 - alpha),
    )


def _zou(
    r: tuple[float, float], n: tuple[int, int], correlation: float, level: float
) -> tuple[float, float]:
    """Interval of a difference of correlations from their own intervals (Zou 2007)."""
    first, second = (
        known(fisher_interval("pearson", *one, level)) for one in zip(r, n, strict=True)
    )

    def reach(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one**2 + other**2 - 2 * correlation * one * other))

    return (
        r[0] - r[1] - reach(r[0] - first.low, second.high - r[1]),
        r[0] - r[1] + reach(first.high - r[0], r[1] - second.low),
    )


def _check(n: int, *coefficients: float) -> None:
    if n < FEWEST["pearson"]:
        raise ClaimError(f"a correlation needs at least {FEWEST['pearson']} points, not {n}")
    for r in coefficients:
        if not abs(r) < 1:
            raise ClaimError(f"correlations that can be compared lie between -1 and 1, not {r}")
