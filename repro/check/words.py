"""What is declared and what was found, in plain sentences. Numbers come from the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from repro.report import document as doc
from repro.report import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import (
    Bound,
    Difference,
    Equivalence,
    Expectation,
    NonSuperiority,
    Ratio,
    Separation,
)
from repro.specs.measurement import Measurement, Rank
from repro.stats.result import TestResult
from repro.verdict import Conclusion


def digits(measurement: Measurement) -> int:
    """Digits after the point that a reader sees: ranks are whole, perplexities as printed."""
    return 0 if isinstance(measurement, Rank) else 2


def least_ratio(one: Ratio | Separation) -> str:
    """The declared least ratio, as it was declared: `10 times`."""
    return f"{one.at_least.value:g} times"


def statement(one: Expectation, claim: Claim) -> str:
    """What the claim file declares, in a sentence."""
    what = claim.measurements[one.measurement].label
    labels = [claim.arms[arm].label for arm in one.of]
    match one:
        case Difference():
            return _difference_statement(one, what, labels)
        case Equivalence():
            return f"The {what} of {_pair(labels)} differs by less than {one.margin.abs:g}"
        case NonSuperiority():
            return (
                f"{labels[0]} is not better than {labels[1]} in {what} by "
                f"{one.margin.abs:g} or more"
            )
        case Ratio():
            least = least_ratio(one)
            return f"The {what} of {labels[0]} is at least {least} that of {labels[1]}"
        case Separation():
            least = least_ratio(one)
            return f"Every {what} of {labels[0]} is above {least} every one of {labels[1]}"
        case Bound():
            return f"The {what} of {labels[0]} keeps within its bound in every seed"
        case _:
            assert_never(one)


def _difference_statement(one: Difference, what: str, labels: list[str]) -> str:
    if one.rule == "as_published":
        return f"The paper's own rule: Student's test on the {what} of {_pair(labels)}"
    if one.direction == "different":
        return f"The {what} of {_pair(labels)} differs"
    least = f" by more than {one.smallest_effect.abs:g}" if one.smallest_effect else ""
    return f"The {what} of {labels[0]} is {one.direction} than that of {labels[1]}{least}"


def name_of_test(one: Expectation) -> str:
    """The test as a statistician calls it."""
    match one:
        case Difference():
            name = "Student's t-test" if one.test == "student" else "Welch's t-test"
            return f"{name}, two-sided"
        case Equivalence():
            return "two one-sided Welch tests (TOST)"
        case NonSuperiority():
            return "Welch's t-test against the margin, one-sided"
        case Ratio():
            return "Welch's t-test on logarithms, one-sided (ratio of geometric means)"
        case Separation():
            return "complete separation, exact"
        case Bound():
            return "bound in every replicate, exact"
        case _:
            assert_never(one)


def effect_label(one: Expectation, claim: Claim) -> str:
    """The name of the effect's axis."""
    what = claim.measurements[one.measurement].label
    labels = [claim.arms[arm].label for arm in one.of]
    if isinstance(one, Ratio):
        return f"{what}, {labels[0]} / {labels[1]}"
    if isinstance(one, Separation):
        return f"share of pairs in which {labels[0]} is above {labels[1]}"
    if isinstance(one, Bound):
        return f"share of seeds of {labels[0]} within the bound"
    return f"{what}, {labels[0]} minus {labels[1]}"


def sentence(
    one: Expectation,
    claim: Claim,
    result: TestResult,
    interval: doc.Interval | None,
    conclusion: Conclusion | None,
) -> str:
    """What was found, in one sentence."""
    labels = [claim.arms[arm].label for arm in one.of]
    what = claim.measurements[one.measurement].label
    shown = digits(claim.measurements[one.measurement])
    match one:
        case Separation():
            pairs = result.n[0] * result.n[1]
            held = round(result.effect * pairs)
            return (
                f"{labels[0]} is above {labels[1]} by the declared factor in {held} of {pairs} "
                f"pairs of seeds."
            )
        case Bound():
            inside = round(result.effect * result.n[0])
            return f"{inside} of {result.n[0]} seeds of {labels[0]} keep within the bound."
        case Ratio():
            effect, ends = ratio_texts(result, interval, one.at_least.value)
            return (
                f"The {what} of {labels[0]} is {effect} times that of {labels[1]}{ends}, "
                f"where at least {least_ratio(one)} was declared."
            )
        case Difference() if one.rule == "as_published":
            return _as_published(claim, result, _difference(result, labels, what, shown))
        case Difference():
            ends = _interval(interval, (0.0,), shown)
            return f"{_difference(result, labels, what, shown)}{ends}, {_p(result)}."
        case Equivalence() | NonSuperiority():
            margin = one.margin.abs
            ends = _interval(interval, (-margin, margin), shown)
            note = _excluded_zero(one, interval, conclusion)
            return (
                f"{_difference(result, labels, what, shown)}{ends}, where a margin of "
                f"{margin:g} was declared{note}."
            )
        case _:
            assert_never(one)


def _as_published(claim: Claim, result: TestResult, difference: str) -> str:
    """The paper's own rule; a large p-value comes with the warning that it needs."""
    if result.p is not None and result.p <= claim.alpha:
        return f"{difference}, {_p(result)}: by the paper's rule the difference is significant."
    return (
        f"{difference}, {_p(result)}: by the paper's rule the difference is not significant. "
        "A large p-value is no evidence of equality."
    )


def ratio_texts(result: TestResult, interval: doc.Interval | None, least: float) -> tuple[str, str]:
    """A ratio and its interval, with enough digits to be told from the least one."""
    ends = [] if interval is None else [e for e in (interval.low, interval.high) if e is not None]
    texts = apart([result.effect, *ends], (least,), lambda v, more: fmt.significant(v, 3 + more))
    if interval is None or len(ends) < 2:
        return texts[0], ""
    return texts[0], f" ({fmt.percent(interval.level)} interval {texts[1]} to {texts[2]})"


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


def _difference(result: TestResult, labels: list[str], what: str, shown: int) -> str:
    size = fmt.fixed(abs(result.effect), shown)
    if not size.strip("0."):
        return f"The mean {what} of {labels[0]} equals that of {labels[1]} as far as printed"
    side = "above" if result.effect > 0 else "below"
    return f"The mean {what} of {labels[0]} is {size} {side} that of {labels[1]}"


def _interval(interval: doc.Interval | None, limits: Sequence[float], shown: int) -> str:
    """An interval of a difference, with enough digits to be told from the limits."""
    if interval is None or interval.low is None or interval.high is None:
        return ""
    low, high = apart(
        [interval.low, interval.high], limits, lambda v, more: fmt.plus(v, shown + more)
    )
    return f" ({fmt.percent(interval.level)} interval {low} to {high})"


def _excluded_zero(
    one: Expectation, interval: doc.Interval | None, conclusion: Conclusion | None
) -> str:
    """Equivalent does not mean equal: say when a difference was found inside the margin."""
    if not isinstance(one, Equivalence) or conclusion is not Conclusion.CONFIRMED:
        return ""
    if interval is None or interval.low is None or interval.high is None:
        return ""
    if interval.low <= 0 <= interval.high:
        return ""
    return " (there is a difference, smaller than the margin)"


def _pair(labels: list[str]) -> str:
    return f"{labels[0]} and {labels[1]}"


HEADS = {
    Conclusion.CONFIRMED: "{n} decisive expectations hold",
    Conclusion.CONTRADICTED: "{n} decisive expectations are contradicted",
    Conclusion.INCONCLUSIVE: "{n} decisive expectations are not decided",
    Conclusion.TRIVIAL: "{n} effects are real but smaller than was declared to matter",
}


ALONE = "Contradicted on its own, but not at its Holm level among {n} expectations"


def why(conclusion: Conclusion, found: Sequence[doc.Result]) -> str:
    """Why, in one sentence: the findings that decide, as clauses where there are several."""
    deciding = [one.sentence for one in found if one.conclusion == conclusion.value]
    if conclusion is Conclusion.INCONCLUSIVE:
        alone = [one.sentence for one in found if one.conclusion == "CONTRADICTED"]
        if alone:
            return f"{ALONE.format(n=len(found))}: {'; '.join(_clause(one) for one in alone)}."
    if len(deciding) == 1:
        return deciding[0]
    head = HEADS[conclusion].format(n=_count(len(deciding), conclusion))
    return f"{head}: {'; '.join(_clause(one) for one in deciding)}."


def _count(n: int, conclusion: Conclusion) -> str:
    """`Both` where all must be meant, since a conjunction holds only if every part does."""
    words = {2: "Two", 3: "Three", 4: "Four"}
    if conclusion is not Conclusion.CONFIRMED:
        return words.get(n, str(n))
    return "Both" if n == 2 else f"All {words.get(n, str(n)).lower()}"


def _clause(sentence: str) -> str:
    """A sentence inside another; a name at its head keeps its capital."""
    clause = sentence.rstrip(".")
    return f"the {clause[4:]}" if clause.startswith("The ") else clause


def _p(result: TestResult) -> str:
    return "no p-value" if result.p is None else fmt.p_value(result.p)
