"""Numbers inside sentences: with as many digits as it takes to tell them from the limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from repro.report import document as doc
from repro.report import format as fmt
from repro.stats.comparison import TESTS
from repro.stats.result import TestResult
from repro.stats.stopping import SequentialResult


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
    """`Test perplexity: MoS is 0.30 lower than Softmax`."""
    return _compared(result, names, what, lambda v, more: fmt.fixed(v, shown + more))


def relative_words(result: TestResult, names: list[str], what: str) -> str:
    """`Test perplexity: MoS is 1.2% lower than Softmax`."""
    return _compared(result, names, what, relative_size)


def relative_size(value: float, more: int) -> str:
    """A relative difference without its sign: `1.2%`."""
    return fmt.relative(abs(value), more).lstrip("+")


def headed(what: str, said: str) -> str:
    """`Test perplexity: ...`: the measurement first, so that any label of an arm fits behind it."""
    return f"{upper(what)}: {said}"


def against(looks: str, rest: str = "") -> str:
    """`So MoS looks better, against the claim, but that is not shown either (p = 0.09)`."""
    return f"So {looks}, against the claim, but that is not shown either{rest}."


def upper(text: str) -> str:
    """The text with a capital at its start."""
    return f"{text[:1].upper()}{text[1:]}"


def _compared(
    result: TestResult, names: list[str], what: str, text: Callable[[float, int], str]
) -> str:
    a, b = names
    size = _visible(result, lambda more: text(abs(result.effect), more))
    if not size:
        return headed(what, f"the difference between {a} and {b} rounds to 0")
    side = "higher" if result.effect > 0 else "lower"
    return headed(what, f"{a} is {size} {side} than {b}")


def _visible(result: TestResult, text: Callable[[int], str]) -> str:
    """The size of an effect; nothing where it prints as zero, unless a difference was found."""
    own = result.interval
    found = result.p is not None and result.p <= result.alpha if own is None else 0 not in own
    texts = (text(more) for more in range(6 if found else 1))
    return next((one for one in texts if one.strip("0.%")), "")


def p_words(result: TestResult, *, opposite: bool = False, against: str = "") -> str:
    """` (p = 0.013)`, of the contrary where ``opposite``; nothing where there is none.

    ``against`` names the null where the sentence speaks of another: ` against no difference`.
    """
    p = result.p_opposite if opposite and result.p_opposite is not None else result.p
    one_tail = result.test in TESTS and result.alternative != "two-sided"
    if p is None:
        return ""
    smallest = ""
    if isinstance(result, SequentialResult) and len(result.looks) > 1:
        smallest = f", the smallest of {len(result.looks)} looks"
    return f" ({'one-sided ' if one_tail else ''}{fmt.p_value(p)}{against}{smallest})"
