"""The rules from one test result to one finding (statistics.md 2.1).

Orientation: positive is as claimed. ``alpha`` is two-sided for a difference and an association
and one-sided for everything else, whose interval therefore has level ``1 - 2 alpha``.

An interval that touches the edge of the claimed region from inside confirms nothing; from
outside it contradicts, unless the claim is *at least* and so includes its edge.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from repro.errors import ClaimError
from repro.expectations.verdict_words import Conclusion, Finding
from repro.stats.records import TestResult, beyond, expect, known

Direction: TypeAlias = Literal["higher", "lower", "different"]

DIFFERENCES = (
    *("student", "welch", "paired", "permutation", "paired_permutation", "folds", "halves"),
    *("brunner_munzel", "yuen", "items_t", "items_crossed", "mcnemar"),
)

WITHOUT_INTERVAL = ("permutation", "paired_permutation", "brunner_munzel")
_TAIL = {"higher": "greater", "lower": "less"}
_SIGN = {"higher": 1, "lower": -1}


def by_sign(result: TestResult, *, sign: int | None, null: float = 0.0) -> Finding:
    """By p alone; two-sided, a p belongs to the side of ``null`` that was seen.

    ``sign`` is 1 where above is claimed, -1 where below, ``None`` where either side is, which
    cannot be contradicted.
    """
    p = known(result.p)
    p_opposite = 1.0 if result.p_opposite is None else result.p_opposite
    if result.p_opposite is None and sign is not None:
        claimed = sign * (result.effect - null)
        p, p_opposite = (p if claimed > 0 else 1.0), (p if claimed < 0 else 1.0)
    return _by_p(p, p_opposite, result.alpha)


def by_p(result: TestResult) -> Finding:
    """By the p of what is claimed, and by that of its contrary."""
    return _by_p(known(result.p), known(result.p_opposite), result.alpha)


def by_interval(result: TestResult, *, edge_is_claimed: bool = False) -> Finding:
    """By where the interval lies: inside the claimed region, from ``low`` to ``high``, or beyond.

    ``edge_is_claimed`` where what is claimed is *at least*.
    """
    interval = known(result.interval)
    low, high = result.low, result.high
    at_edge = edge_is_claimed and (interval.low == high or interval.high == low)
    inside = low is None or low < interval.low, high is None or interval.high < high
    beyond = low is not None and interval.high <= low, high is not None and interval.low >= high
    conclusion = decide(confirmed=all(inside), contradicted=any(beyond) and not at_edge)
    return Finding(conclusion, known(result.p), known(result.p_opposite))


def certain(*, holds: bool) -> Finding:
    """Of what leaves nothing to chance: it holds, or it does not."""
    return _by_p(float(not holds), float(holds), 0.0)


def conclude_difference(
    result: TestResult, *, direction: Direction, smallest_effect: float | None = None
) -> Finding:
    """Concludes from any test of ``comparison``: A is higher or lower than B, or different.

    With ``smallest_effect`` (above 0, units of the measurement) the interval decides, and a
    real difference below it is TRIVIAL. *Different* cannot be contradicted. ``ClaimError`` for
    another test, a one-sided alternative that is not the direction, and a smallest effect of
    *different* or of a test that has no interval in its units.
    """
    _need(result, *DIFFERENCES)
    tail = result.alternative
    if tail in ("greater", "less") and tail != _TAIL.get(direction):
        raise ClaimError(f"a test with alternative {tail} says nothing about {direction}")
    if smallest_effect is not None:
        return _against_smallest_effect(result, direction, smallest_effect)
    null = 0.5 if result.test == "brunner_munzel" else 0.0
    return by_sign(result, sign=_SIGN.get(direction), null=null)


def conclude_ratio(result: TestResult) -> Finding:
    """Concludes from a ratio of geometric or arithmetic means: its interval lies above the least.

    Two constant arms are compared exactly: a ratio equal to the least one is CONFIRMED.
    """
    _need(result, "ratio", "ratio_of_means")
    if result.exact:
        return certain(holds=not beyond(known(result.low), result.effect))
    return by_interval(result, edge_is_claimed=True)


def conclude_sequential(result: TestResult) -> Finding:
    """Concludes from a sequential test by its first crossing, which stands whatever came later."""
    from repro.stats.stopping import SequentialResult

    decided = expect(result, SequentialResult).decided or "inconclusive"
    return Finding(Conclusion(decided.upper()), known(result.p), known(result.p_opposite))


def decide(*, confirmed: bool, contradicted: bool) -> Conclusion:
    """CONFIRMED before CONTRADICTED before INCONCLUSIVE."""
    if confirmed:
        return Conclusion.CONFIRMED
    return Conclusion.CONTRADICTED if contradicted else Conclusion.INCONCLUSIVE


def _against_smallest_effect(result: TestResult, direction: Direction, smallest: float) -> Finding:
    """The rule of a difference with a smallest effect of interest."""
    from repro.stats.contrast import Contrast

    if direction not in _SIGN or not smallest > 0:
        raise ClaimError("a smallest effect is above 0 and belongs to a claim of higher or lower")
    if result.test in WITHOUT_INTERVAL:
        raise ClaimError(
            f"a smallest effect needs an interval in the units of the measurement, and "
            f"{result.test} has none",
            advice="use welch, student, paired or yuen",
        )
    sign, interval = _SIGN[direction], known(result.interval)
    low, high = sorted((sign * interval.low, sign * interval.high))
    conclusion = decide(confirmed=low > smallest, contradicted=low <= 0 and high < smallest)
    if low > 0 and high < smallest:
        conclusion = Conclusion.TRIVIAL
    oriented = Contrast(sign * result.effect, known(result.se), known(result.df))
    tails = 1 if result.p_opposite is not None else 2
    beyond_it, short_of_it = oriented.p_greater(smallest), oriented.p_less(smallest)
    return Finding(conclusion, min(1.0, tails * beyond_it), min(1.0, tails * short_of_it))


def _by_p(p: float, p_opposite: float, alpha: float) -> Finding:
    return Finding(decide(confirmed=p <= alpha, contradicted=p_opposite <= alpha), p, p_opposite)


def _need(result: TestResult, *tests: str) -> None:
    if result.test not in tests:
        raise ClaimError(f"a result of {result.test} cannot be judged by the rule of {tests[0]}")
