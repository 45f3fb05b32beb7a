"""Hsu's comparison with the best: which methods of a column may be the best, all said together.

Equal n and one deviation for all (pooled) are assumed. The constant is Dunnett's one-sided one
(Hsu 1984): each method against the best of the others, with a chance of 5 % of any error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

import numpy as np
from scipy import optimize
from scipy.special import gammainccinv, gammaincinv, gammaln, ndtr

from repro.audit.comparison import PrintedArm

ALPHA = 0.05
MOST_APART = 3.0
"""The largest deviation of a column, in smallest ones, at which they are still pooled."""

NAMED = 5
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(120)


@cache
def constant(others: int, df: int, alpha: float = ALPHA) -> float:
    """Dunnett's one-sided constant: of ``others`` methods against one, correlation 1/2.

    The (1 - alpha) quantile of the largest of that many t with one denominator of ``df``.
    """
    z, weight_z = 9 * _NODES, 9 * _WEIGHTS * np.exp(-((9 * _NODES) ** 2) / 2) / np.sqrt(2 * np.pi)
    half = df / 2
    low, high = np.sqrt([gammaincinv(half, 1e-13) / half, gammainccinv(half, 1e-13) / half])
    scale = low + (high - low) * (_NODES + 1) / 2
    squared = half * scale**2  # half a chi-squared variable of df degrees of freedom
    density = np.exp(half * np.log(squared) - squared - gammaln(half)) * 2 / scale
    weight = _WEIGHTS * density * (high - low) / 2

    def beyond(d: float) -> float:
        below = ndtr(z[:, None] + np.sqrt(2) * d * scale[None, :]) ** others
        return float(weight_z @ below @ weight) - (1 - alpha)

    return float(optimize.brentq(beyond, 0.0, 60.0))


def compared_with_the_best(
    arms: Mapping[str, PrintedArm], better: Literal["higher", "lower"], column: str
) -> Iterator[str]:
    """A sentence on three or more methods of equal n; none where a number is missing.

    A method is ruled out, or the best, only if it is so for every rounding of the numbers.
    """
    full = {name: arm for name, arm in arms.items() if None not in (arm.mean, arm.sd, arm.n)}
    sizes = {arm.n for arm in full.values()}
    if len(full) < 3 or len(full) < len(arms) or len(sizes) != 1:
        return
    n = sizes.pop() or 0
    sds = np.array([arm.sd.value for arm in full.values() if arm.sd is not None])
    if not sds.all() or sds.max() > MOST_APART * sds.min():
        return
    widths = [
        constant(len(full) - 1, len(full) * (n - 1)) * pooled * (2 / n) ** 0.5
        for pooled in _pooled(full)
    ]
    sign = 1 if better == "higher" else -1
    ends = {
        name: sorted((sign * arm.mean.low, sign * arm.mean.high))
        for name, arm in full.items()
        if arm.mean is not None
    }
    out, kept, unsure = [], [], []
    for name, (low, high) in ends.items():
        others = [each for other, each in ends.items() if other != name]
        least, most = max(each[0] for each in others), max(each[1] for each in others)
        if high + widths[1] < least:
            out.append(name)
        elif low + widths[0] >= most:
            kept.append(name)
        else:
            unsure.append(name)
    yield _sentence(column, out, kept, unsure)


def _pooled(arms: Mapping[str, PrintedArm]) -> tuple[float, float]:
    """The least and the greatest pooled deviation that the printed ones allow."""
    known = [arm.sd for arm in arms.values() if arm.sd is not None]
    low = np.mean([max(sd.low, 0.0) ** 2 for sd in known]) ** 0.5
    return float(low), float(np.mean([sd.high**2 for sd in known]) ** 0.5)


def _sentence(column: str, out: list[str], kept: list[str], unsure: list[str]) -> str:
    parts = []
    if len(kept) == 1 and not unsure:
        parts.append(f"{kept[0]} is the best")
    elif kept:
        parts.append(f"{_some(kept)} may be the best")
    if out:
        parts.append(f"ruled out: {_some(out)}")
    if unsure:
        parts.append(f"open by rounding: {_some(unsure)}")
    return (
        f"{column}: by Hsu's comparison with the best (context; one deviation for all is "
        f"assumed), {'; '.join(parts)}."
    )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
