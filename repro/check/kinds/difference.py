"""Differences of means, or of ranks: is a lower, higher, or just different?"""

from __future__ import annotations

from repro.check.kinds.base import (
    Found,
    Kind,
    Read,
    arms_of,
    digits,
    labels,
    margin_limit,
    margin_words,
    pair,
    what,
)
from repro.check.kinds.phrases import difference_ends, difference_words, ends, p_words
from repro.check.kinds.sequential import (
    SEQUENTIAL,
    is_sequential,
    run_sequential,
    stands,
)
from repro.report import document as doc
from repro.report import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import Difference
from repro.stats.comparison import TESTS
from repro.stats.result import TestResult
from repro.verdict import Finding, conclude_difference, conclude_sequential

NAMES = {
    "welch": "Welch's t-test",
    "student": "Student's t-test",
    "paired": "the paired t-test",
    "permutation": "the permutation test of Welch's t",
    "brunner_munzel": "the Brunner-Munzel test",
    "yuen": "Yuen's test of trimmed means",
}


class DifferenceKind(Kind[Difference]):
    """Which of two arms has the lower mean (Brunner-Munzel: which tends to lower values)."""

    def scale(self, one: Difference) -> doc.EffectScale:
        """Brunner-Munzel's effect is a probability; all others are in the measurement's units."""
        return "share" if one.test == "brunner_munzel" else "difference"

    def test(self, one: Difference, claim: Claim, read: Read) -> TestResult:
        """The declared test, two-sided; or the sequential process."""
        a, b = arms_of(one, read)
        if is_sequential(one, claim):
            return run_sequential(one, claim, a, b)
        return TESTS[one.test](a, b, alpha=claim.alpha)

    def conclude(self, one: Difference, result: TestResult) -> Finding:
        """By p and sign, or by the interval where a smallest effect is declared."""
        if result.test in SEQUENTIAL:
            return conclude_sequential(result)
        smallest = None if one.smallest_effect is None else one.smallest_effect.size
        return conclude_difference(result, direction=one.direction, smallest_effect=smallest)

    def statement(self, one: Difference, claim: Claim) -> str:
        """What is declared of the two means."""
        names, value = labels(one, claim), what(one, claim)
        if one.rule == "as_published":
            return f"The paper's own rule: {_own(one)} on the {value} of {pair(names)}"
        if one.direction == "different":
            return f"The {value} of {pair(names)} differs"
        least = ""
        if one.smallest_effect is not None:
            least = f" by more than {margin_words(one.smallest_effect)}"
        return f"The {value} of {names[0]} is {one.direction} than that of {names[1]}{least}"

    def name_of_test(self, one: Difference, claim: Claim) -> str:
        """The declared test by its name."""
        return f"{NAMES[one.test]}, two-sided".removeprefix("the ")

    def effect_label(self, one: Difference, claim: Claim) -> str:
        """A minus B, or the chance that A is larger."""
        names, value = labels(one, claim), what(one, claim)
        if one.test == "brunner_munzel":
            return f"chance that the {value} of {names[0]} is above that of {names[1]}"
        return f"{value}, {names[0]} minus {names[1]}"

    def sentence(self, one: Difference, claim: Claim, found: Found) -> str:
        """Which mean is lower, by how much, with interval and p."""
        names, value = labels(one, claim), what(one, claim)
        shown = digits(claim.measurements[one.measurement])
        result = found.result
        if one.test == "brunner_munzel":
            chance = fmt.significant(result.effect, 2)
            said = f"The chance that the {value} of {names[0]} is above that of {names[1]} is "
            reach = ends(found.interval, (0.5,), lambda v, more: fmt.significant(v, 2 + more))
            return f"{said}{chance}{reach}, {p_words(result)}."
        said = difference_words(result, names, value, shown)
        if one.rule == "as_published":
            return _as_published(claim, result, said)
        limits = [limit.value for limit in self.limits(one, claim)]
        reach = difference_ends(found.interval, (0.0, *limits), shown)
        p = p_words(result, against_none=one.smallest_effect is not None)
        return f"{said}{reach}, {p}{_least(one)}{stands(result)}."

    def limits(self, one: Difference, claim: Claim) -> tuple[doc.Limit, ...]:
        """No difference, or the smallest effect of interest on the claimed side."""
        if one.smallest_effect is None:
            value = 0.5 if one.test == "brunner_munzel" else 0.0
            return (doc.Limit(value=value, label=f"no difference, {value:g}", why=""),)
        sign = -1 if one.direction == "lower" else 1
        return (margin_limit(sign, one.smallest_effect, "smallest effect of interest"),)

    def region(self, one: Difference) -> tuple[float | None, float | None]:
        """Above the smallest effect of interest, or above 0."""
        return (0.0 if one.smallest_effect is None else one.smallest_effect.size), None

    def claimed(self, one: Difference, claim: Claim) -> doc.Side:
        """Below or above the limit; nothing where the paper's rule is only repeated."""
        sides: dict[str, doc.Side] = {"lower": "below", "higher": "above", "different": "none"}
        return "none" if one.rule == "as_published" else sides[one.direction]


def _least(one: Difference) -> str:
    if one.smallest_effect is None:
        return ""
    return f", where more than {margin_words(one.smallest_effect)} was declared"


def _own(one: Difference) -> str:
    return "Student's test" if one.test == "student" else NAMES[one.test]


def _as_published(claim: Claim, result: TestResult, difference: str) -> str:
    """The paper's own rule; a large p-value comes with the warning that it needs."""
    if result.p is not None and result.p <= claim.alpha:
        return (
            f"{difference}, {p_words(result)}: by the paper's rule the difference is significant."
        )
    return (
        f"{difference}, {p_words(result)}: by the paper's rule the difference is not significant. "
        "A large p-value is no evidence of equality."
    )
