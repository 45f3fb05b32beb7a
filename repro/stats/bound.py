"""Does every replicate, or a share of them, stay within a limit?"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import bdtr, bdtrc, betaincinv

from repro.errors import ClaimError
from repro.stats.result import Interval, TestResult, check_alpha, check_finite
from repro.stats.sample import Arm, Sample, beyond, require_sample


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundResult(TestResult):
    """The result of a bound or a share of replicates that keep one.

    ``violators`` are the numbers of the replicates that do not; ``smallest`` and ``largest`` are
    values, in the units of the measurement.
    """

    violators: tuple[int, ...]
    smallest: float
    largest: float


def bound(
    a: Arm, *, at_least: float | None = None, at_most: float | None = None, alpha: float = 0.05
) -> BoundResult:
    """Structural bound: every replicate lies within the limits, which belong to it.

    Nothing is estimated, so there is no p; ``violators`` lists the replicates
    outside, those that diverged among them; a limit is kept up to round-off. ``effect`` is the
    share inside and ``interval`` its Clopper-Pearson interval of level ``1 - 2 alpha``: what
    these replicates say about those that were not run. ``ClaimError`` for a summary or without
    a limit. Clopper & Pearson 1934; METHODS.md 1.3.
    """
    sample, violators = _outside(a, "bound", at_least, at_most)
    return _result("bound", sample, violators, alpha)


def share(
    a: Arm,
    *,
    of: float,
    at_least: float | None = None,
    at_most: float | None = None,
    alpha: float = 0.05,
) -> BoundResult:
    """Exact binomial test: more than the share ``of`` of all replicates lies within the limits.

    ``p`` and ``p_opposite`` are one-sided; effect, interval and errors as ``bound``,
    and ``ClaimError`` unless ``0 < of < 1``. METHODS.md 2.1.
    """
    if not 0 < of < 1:
        raise ClaimError(f"a share lies between 0 and 1, not {of}")
    sample, violators = _outside(a, "share", at_least, at_most)
    inside, n = sample.n - len(violators), sample.n
    p = float(bdtrc(inside - 1, n, of)) if inside else 1.0
    return _result("share", sample, violators, alpha, of=(of, p, float(bdtr(inside, n, of))))


def clopper_pearson(k: int, n: int, *, level: float) -> Interval:
    """Exact interval of a probability after ``k`` successes in ``n``; each side errs (1 - level)/2.

    ``ClaimError`` unless ``0 <= k <= n`` and ``n >= 1``.
    """
    if not 0 <= k <= n or n < 1:
        raise ClaimError(f"{k} successes of {n} are impossible")
    tail = (1 - level) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Interval(low, high, level)


def _outside(
    a: Arm, test: str, at_least: float | None, at_most: float | None
) -> tuple[Sample, tuple[int, ...]]:
    sample = require_sample(a, test)
    if at_least is None and at_most is None:
        raise ClaimError("a bound needs a limit: at_least, at_most or both")
    low = check_finite("at_least", at_least) if at_least is not None else float("-inf")
    high = check_finite("at_most", at_most) if at_most is not None else float("inf")
    if low > high:
        raise ClaimError(f"no value is at least {low} and at most {high}")
    return sample, tuple(
        replicate
        for replicate, value in zip(sample.replicates, sample.values, strict=True)
        if replicate in sample.diverged or beyond(low, value) or beyond(value, high)
    )


def _result(
    test: str,
    sample: Sample,
    violators: tuple[int, ...],
    alpha: float,
    of: tuple[float, float, float] | None = None,
) -> BoundResult:
    inside = sample.n - len(violators)
    low, p, p_opposite = of if of is not None else (None, None, None)
    return BoundResult(
        test=test,
        effect=inside / sample.n,
        alpha=check_alpha(alpha),
        n=(sample.n,),
        interval=clopper_pearson(inside, sample.n, level=1 - 2 * alpha),
        p=p,
        p_opposite=p_opposite,
        low=low,
        exact=True,
        violators=violators,
        smallest=min(sample.values),
        largest=max(sample.values),
    )
