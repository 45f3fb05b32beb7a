"""Numbers and directions in the sentences of expectations: what was found, and what follows.

A label of the user stands where any label fits: as a subject or after *than*, never after *of*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from repro.expectations import base
from repro.expectations.base import Found
from repro.expectations.declared import Context, Declared
from repro.expectations.verdict_words import Conclusion
from repro.schema import numbers as fmt
from repro.schema.base import Margin
from repro.stats.records import TestResult

SMALLEST = "smallest effect of interest"
"""How the limit of a difference is labelled: its interval decides, and p is of no difference."""

RULE = "smallest effect"
"""The fact that holds p of a smallest effect, by which a difference is judged."""


def margin_limit(sign: int, margin: Margin, name: str = "margin") -> base.LimitPart:
    value = sign * margin.size
    shown = fmt.signed(f"{value:+g}")
    if margin.relative is not None:
        shown = fmt.signed(f"{100 * value:+g}%")
    return base.LimitPart(value=value, label=f"{name}, {shown}", why=margin.why)


def margin_words(margin: Margin) -> str:
    """A margin as it was declared: `0.3`, `1%`, `0.29, a share of 0.1 of the claimed 2.88`."""
    if margin.relative is not None:
        return fmt.percent(margin.relative)
    size = f"{margin.size:.4g}"
    if margin.of_gain is None:
        return size
    return f"{size} ({fmt.percent(margin.of_gain.share)} of the claimed {margin.of_gain.gain})"


def apart(
    values: Sequence[float], limits: Sequence[float], text: Callable[[float, int], str]
) -> list[str]:
    """Values as text, with as many more digits as it takes to tell each from every limit."""
    texts: list[str] = []
    for more in range(6):
        texts = [text(value, more) for value in values]
        hidden = any(
            each == text(limit, more) and value != limit
            for each, value in zip(texts, values, strict=True)
            for limit in limits
        )
        if not hidden:
            break
    return texts


def ends(
    interval: base.IntervalPart | None, limits: Sequence[float], text: Callable[[float, int], str]
) -> str:
    """` (95% interval a to b)`, or from a up, or up to b; nothing where there is no end."""
    if interval is None or (interval.low is None and interval.high is None):
        return ""
    known = [end for end in (interval.low, interval.high) if end is not None]
    said = " to ".join(apart(known, limits, text))
    if interval.low is None:
        said = f"up to {said}"
    elif interval.high is None:
        said = f"from {said} up"
    return f" ({fmt.percent(interval.level)} interval {said})"


def digits(text: Callable[[float, int], str], usual: int) -> Callable[[float, int], str]:
    """Numbers by ``text``, with so many digits more than usual."""
    return lambda value, more: text(value, usual + more)


def relative_size(value: float, places: int) -> str:
    """A relative difference without its sign: `1.2%`."""
    return fmt.relative(abs(value), places).lstrip("+")


def headed(measurement: str, said: str) -> str:
    """`Test perplexity: ...`: the measurement first, so that any label of an arm fits behind it."""
    return f"{fmt.upper_first(measurement)}: {said}"


def against(looks: str, rest: str = "") -> str:
    """`So MoS looks better, against the claim, but that is not shown either (p = 0.09)`."""
    return f"So {looks}, against the claim, but that is not shown either{rest}."


def follows(found: Found, confirmed: str, contradicted: str, shown: str) -> str:
    """What follows for a claim; ``shown`` where neither is, and nothing where none was asked."""
    words = {
        Conclusion.CONFIRMED: confirmed,
        Conclusion.CONTRADICTED: contradicted,
        Conclusion.INCONCLUSIVE: shown,
    }
    return "" if found.conclusion is None else words.get(found.conclusion, "")


def both_p(result: TestResult) -> tuple[str, str]:
    return p_words(result), p_words(result, opposite=True)


def difference_words(
    result: TestResult, names: list[str], measurement: str, text: Callable[[float, int], str]
) -> str:
    """`Test perplexity: MoS is 0.30 lower than Softmax`."""
    a, b = names
    size = _visible(result, lambda more: text(abs(result.effect), more))
    if not size:
        return headed(measurement, f"the difference between {a} and {b} rounds to 0")
    side = "higher" if result.effect > 0 else "lower"
    return headed(measurement, f"{a} is {size} {side} than {b}")


def _visible(result: TestResult, text: Callable[[int], str]) -> str:
    """The size of an effect; nothing where it prints as zero, unless a difference was found."""
    found = result.p is not None and result.p <= result.alpha
    if result.interval is not None:
        found = 0 not in result.interval
    texts = (text(more) for more in range(6 if found else 1))
    return next((each for each in texts if each.strip("0.%")), "")


def p_words(result: TestResult, *, opposite: bool = False, against: str = "") -> str:
    """` (p = 0.013)`, of the contrary where ``opposite``; nothing where there is none.

    One of a test with one side says so: ` (one-sided p = 0.013)`.

    ``against`` names the null where the sentence speaks of another: ` against no difference`.
    """
    from repro.stats.stopping import SequentialResult, one_sided

    p = result.p_opposite if opposite and result.p_opposite is not None else result.p
    if p is None:
        return ""
    smallest = ""
    if isinstance(result, SequentialResult) and len(result.looks) > 1:
        smallest = f", the smallest of {len(result.looks)} looks"
    return f" ({'one-sided ' if one_sided(result) else ''}{fmt.p_value(p)}{against}{smallest})"


Better = Literal["lower", "higher"]
Side = Literal["better", "worse"]
OTHER: dict[Side, Side] = {"better": "worse", "worse": "better"}


def claimed_side(direction: str, better: Better) -> Side:
    """The side that a claim of *lower* or *higher* speaks of."""
    return "better" if direction == better else "worse"


@dataclass(frozen=True, slots=True)
class Compared:
    """Two arms compared: ``effect`` and ``interval`` are a minus b, ``limits`` the declared sizes.

    ``text`` writes a size without its sign, with so many digits more than usual. ``interval`` is
    absent where it is on another axis.
    """

    a: str
    better: Better
    effect: float
    interval: base.IntervalPart | None
    limits: tuple[float, ...]
    text: Callable[[float, int], str]

    @property
    def seen(self) -> Side | None:
        """The side on which a is seen; None where the effect prints as 0."""
        if not self.text(abs(self.effect), 0).strip("0.%"):
            return None
        return self._side(self.effect)

    def reach(self) -> str:
        """`: the interval reaches from 0.99 worse to 6.23 better`; nothing without two ends."""
        interval = self.interval
        if interval is None or interval.low is None or interval.high is None:
            return ""
        both = [interval.low, interval.high]
        if both == [0, 0] == [self.effect, 0]:
            return ": all values are equal, and nothing is left to test"
        worst, best = both if self.better == "higher" else both[::-1]
        return f": the interval reaches from {self._end(worst)} to {self._end(best)}"

    def reaches(self, side: Side) -> str:
        """`: the interval reaches to 0.40 worse`; nothing where it ends short of that side."""
        _, end = self.ends(side)
        if end is None or end < 0:
            return ""
        return f": the interval reaches to {self.size(end)} {side}" if end else self.reach()

    def excludes_none(self) -> bool:
        low, high = self.ends("better")
        return (low is not None and low > 0) or (high is not None and high < 0)

    def size(self, value: float) -> str:
        """The size of an end, with as many digits as tell it from every limit."""
        return apart([abs(value)], [0.0, *self.limits], self.text)[0]

    def ends(self, side: Side) -> tuple[float | None, float | None]:
        """Where the interval begins on a side and ends; negative on the other side."""
        if self.interval is None:
            return None, None
        low, high = self.interval.low, self.interval.high
        if (side == "better") == (self.better == "higher"):
            return low, high
        return (None if high is None else -high), (None if low is None else -low)

    def _side(self, value: float) -> Side:
        return "better" if (value < 0) == (self.better == "lower") else "worse"

    def _end(self, value: float) -> str:
        return f"{self.size(value)} {self._side(value)}" if value else "no difference"


def compared(
    declared: Declared, context: Context, found: Found, limits: tuple[float, ...]
) -> Compared:
    """The two arms of an expectation compared, in the units of the measurement."""
    measurement = context.measurement(declared)
    return Compared(
        a=context.labels(declared)[0],
        better=measurement.better,
        effect=found.result.effect,
        interval=found.interval,
        limits=limits,
        text=digits(fmt.fixed, found.digits),
    )


def against_smallest(pair: Compared, side: Side, least: str, p: str, ends_at: float) -> str:
    """Against a claim of an effect: on the other side, or too small."""
    if ends_at < 0:
        other = OTHER[side].capitalize()
        return f"{other}, against the claim that it is {side} by more than {least}{p}."
    short = f"the interval ends at {pair.size(ends_at)}"
    more = f"{side} by any amount is not shown{p}"
    return f"Not {side} by more than {least}, against the claim: {short}, and {more}."
