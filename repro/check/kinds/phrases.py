"""Numbers inside sentences: with as many digits as it takes to tell them from the limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from repro.report import document as doc
from repro.report import format as fmt
from repro.stats.result import TestResult


def apart(
    values: Sequence[float], limits: Sequence[float], text: Callable[[float, int], str]
) -> list[str]:
    """Values as text, with as many more digits as it takes to tell each from every limit."""
    texts: list[str] = []
    for more in range(6):
        texts = [text(value, more) for value in values]
        hidden = any(
            one == text(limit, more) and value != limit
            for one, value in zip(texts, values, strict=True)
            for limit in limits
        )
        if not hidden:
            break
    return texts


def ends(
    interval: doc.Interval | None, limits: Sequence[float], text: Callable[[float, int], str]
) -> str:
    """` (95% interval a to b)`, or nothing where there is no interval with two ends."""
    if interval is None or interval.low is None or interval.high is None:
        return ""
    low, high = apart([interval.low, interval.high], limits, text)
    return f" ({fmt.percent(interval.level)} interval {low} to {high})"


def difference_ends(interval: doc.Interval | None, limits: Sequence[float], shown: int) -> str:
    """The interval of a difference in the units of its measurement."""
    return ends(interval, limits, lambda v, more: fmt.plus(v, shown + more))


def relative_ends(interval: doc.Interval | None, limits: Sequence[float]) -> str:
    """The interval of a relative difference, in per cent."""
    return ends(interval, limits, fmt.relative)


def correlation_ends(interval: doc.Interval | None, limits: Sequence[float]) -> str:
    """The interval of a correlation."""
    return ends(interval, limits, lambda v, more: fmt.plus(v, 2 + more))


def difference_words(result: TestResult, names: list[str], what: str, shown: int) -> str:
    """`The mean test perplexity of MoS is 0.30 below that of Softmax`."""
    size = _visible(result, lambda more: fmt.fixed(abs(result.effect), shown + more))
    if not size:
        return f"The mean {what} of {names[0]} equals that of {names[1]} as far as printed"
    side = "above" if result.effect > 0 else "below"
    return f"The mean {what} of {names[0]} is {size} {side} that of {names[1]}"


def relative_words(result: TestResult, names: list[str], what: str) -> str:
    """`The mean test perplexity of MoS is 1.2% below that of Softmax`."""
    size = _visible(result, lambda more: fmt.relative(abs(result.effect), more).lstrip("+"))
    if not size:
        return f"The mean {what} of {names[0]} equals that of {names[1]} as far as printed"
    side = "above" if result.effect > 0 else "below"
    return f"The mean {what} of {names[0]} is {size} {side} that of {names[1]}"


def _visible(result: TestResult, text: Callable[[int], str]) -> str:
    """The size of an effect; nothing where it prints as zero, unless a difference was found."""
    own = result.interval
    found = result.p is not None and result.p <= result.alpha if own is None else 0 not in own
    texts = (text(more) for more in range(6 if found else 1))
    return next((one for one in texts if one.strip("0.%")), "")


def p_words(result: TestResult, *, against_none: bool = False) -> str:
    """`p = 0.013`, or that there is none.

    ``against_none`` says of which hypothesis it is, where another one is declared beside it.
    """
    if result.p is None:
        return "no p-value"
    return f"{fmt.p_value(result.p)}{' against no difference' if against_none else ''}"
