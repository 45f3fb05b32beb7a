"""Results of tests made by hand, and what each kind of expectation concludes from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from repro.expectations.decision_rules import (
    Direction,
    by_interval,
    by_p,
    certain,
    conclude_difference,
    conclude_ratio,
)
from repro.expectations.verdict_words import Conclusion, Finding
from repro.judging.verdict import conclude_conjunction
from repro.stats.counts import bound, share
from repro.stats.ranks import separation
from repro.stats.records import Interval, Sample, TestResult
from repro.stats.t_tests import ratio_of_geometric_means

CONFIRMED, CONTRADICTED = Conclusion.CONFIRMED, Conclusion.CONTRADICTED
INCONCLUSIVE, TRIVIAL = Conclusion.INCONCLUSIVE, Conclusion.TRIVIAL
Judge: TypeAlias = Callable[[], Finding]
Ends: TypeAlias = tuple[float, float]


def difference(effect: float = 1.0, p: float = 0.5, interval: Ends = (-1.0, 1.0)) -> TestResult:
    """A result of Welch's test, two-sided at .05."""
    return TestResult(
        "welch",
        effect,
        0.05,
        (5, 5),
        interval=Interval(interval[0], interval[1], 0.95),
        p=p,
        se=0.1,
        df=8.0,
        alternative="two-sided",
    )


def region(
    test: str, interval: Ends, low: float | None = None, high: float | None = None
) -> TestResult:
    """A result of a test that asserts a region."""
    return TestResult(
        test,
        sum(interval) / 2,
        0.05,
        (5, 5),
        interval=Interval(interval[0], interval[1], 0.9),
        p=0.5,
        p_opposite=0.5,
        low=low,
        high=high,
    )


def higher(effect: float, p: float) -> Judge:
    """The conclusion that A is higher."""
    return lambda: conclude_difference(difference(effect, p), direction="higher")


def lower(effect: float, p: float) -> Judge:
    """The conclusion that A is lower."""
    return lambda: conclude_difference(difference(effect, p), direction="lower")


def different(effect: float, p: float) -> Judge:
    """The conclusion that A is different."""
    return lambda: conclude_difference(difference(effect, p), direction="different")


def at_least(low: float, high: float, direction: Direction = "higher") -> Judge:
    """The conclusion against a smallest effect of 1."""
    result = difference(effect=(low + high) / 2, interval=(low, high))
    return lambda: conclude_difference(result, direction=direction, smallest_effect=1.0)


def equivalent(low: float, high: float) -> Judge:
    """The conclusion of equivalence within 1."""
    return lambda: by_interval(region("tost", (low, high), -1.0, 1.0))


def not_better(low: float, high: float, better: str = "higher") -> Judge:
    """The conclusion of non-superiority by 1."""
    below, above = (None, 1.0) if better == "higher" else (-1.0, None)
    return lambda: by_interval(region("non_superiority", (low, high), below, above))


def not_worse(low: float, high: float) -> Judge:
    """The conclusion of non-inferiority by 1, higher being better."""
    return lambda: by_interval(region("non_inferiority", (low, high), -1.0, None))


def ratio(low: float, high: float) -> Judge:
    """The conclusion of a ratio of at least 3."""
    return lambda: conclude_ratio(region("ratio", (low, high), 3.0))


def exact_ratio(a: float, b: float) -> Judge:
    """The conclusion of a ratio of at least 3 between constant arms."""
    arms = Sample.of(a, a, a), Sample.of(b, b, b)
    return lambda: conclude_ratio(ratio_of_geometric_means(*arms, at_least=3.0))


def separated(
    a: Sequence[float],
    b: Sequence[float],
    factor: float = 1.0,
    direction: Literal["higher", "lower"] = "higher",
) -> Judge:
    """The conclusion of separation."""
    result = separation(Sample.of(*a), Sample.of(*b), direction=direction, factor=factor)
    return lambda: by_p(result)


def bounded(*values: float) -> Judge:
    """The conclusion of a structural bound of 402."""
    return lambda: certain(holds=not bound(Sample.of(*values), at_most=402).violators)


def shared(k: int, n: int) -> Judge:
    """The conclusion that more than seven in ten lie within the limit."""
    sample = Sample.of(*([1.0] * k + [2.0] * (n - k)))
    return lambda: by_interval(share(sample, of=0.7, at_most=1), edge_is_claimed=True)


def joined(*leaves: tuple[Conclusion, float]) -> Judge:
    """The conjunction of leaves, each a conclusion and the p of its contrary."""
    findings = [Finding(conclusion, 0.01, p) for conclusion, p in leaves]
    return lambda: conclude_conjunction(findings)


YES, NO, OPEN, SMALL = (CONFIRMED, 0.99), (CONTRADICTED, 0.01), (INCONCLUSIVE, 0.6), (TRIVIAL, 0.9)
