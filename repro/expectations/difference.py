"""Differences of means, or of ranks: is a lower, higher, or just different?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from repro.errors import ClaimError
from repro.expectations import base
from repro.expectations.base import Found, pair
from repro.expectations.decision_rules import WITHOUT_INTERVAL, conclude_difference
from repro.expectations.declared import (
    PAIRED_TESTS,
    Context,
    Declared,
    Mistake,
    Pair,
    unfitting_test,
)
from repro.expectations.exact import least_pairs, least_splits
from repro.expectations.phrases import (
    OTHER,
    RULE,
    SMALLEST,
    Compared,
    Side,
    against,
    against_smallest,
    both_p,
    claimed_side,
    compared,
    difference_words,
    digits,
    ends,
    headed,
    margin_limit,
    margin_words,
    p_words,
)
from repro.expectations.sequential import SEQUENTIAL, MeansKind, is_sequential
from repro.expectations.verdict_words import Conclusion, Finding
from repro.schema import numbers as fmt
from repro.schema.base import Margin, Spec
from repro.stats.records import Alternative, Arm, TestResult

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest
    from repro.stats.replication import OriginalTest
    from repro.stats.stopping import Question

TestOfDifference = Literal[
    "welch", "student", "paired", "permutation", "paired_permutation", "brunner_munzel", "yuen"
]


class Folds(Spec):
    """Pairs that are folds or repeated splits of one data set, whose training data overlap.

    ``test_to_train`` is the size of a test set over that of its training set: 1 / (k - 1) for k
    folds, so 0.111 for ten.
    """

    test_to_train: Annotated[float, Field(gt=0, le=100)]


class Difference(Declared):
    """The mean of a is lower (or higher) than that of b.

    The test follows the design unless one is named: Welch's t-test of independent arms, the
    t-test of the differences within pairs. Its two tails find a direction at half of alpha;
    with ``tails: 1`` it is found at alpha, as a margin is, and so is the contrary.
    ``rule: as_published`` repeats the paper's own rule (only as context): p above alpha is read
    as "no difference", which is what was published and is no evidence of equality.
    ``folds``, in a paired design, are seeds that are folds of one data set: the corrected resampled
    t-test of Nadeau and Bengio.
    """

    kind: Literal["difference"]
    of: Pair
    direction: Literal["lower", "higher", "different"]
    test: TestOfDifference = "welch"
    tails: Literal[1, 2] = 2
    smallest_effect: Margin | None = None
    rule: Literal["standard", "as_published"] = "standard"
    folds: Folds | None = None

    @property
    def sign(self) -> int:
        """That of a minus b on the claimed side."""
        return -1 if self.direction == "lower" else 1

    @property
    def smallest(self) -> float:
        """The size of the smallest effect of interest, or 0."""
        return 0.0 if self.smallest_effect is None else self.smallest_effect.size


NAMES: Mapping[TestOfDifference, str] = {
    "welch": "Welch's t-test",
    "student": "Student's t-test",
    "paired": "the paired t-test",
    "permutation": "the permutation test of Welch's t",
    "paired_permutation": "the permutation test within pairs",
    "brunner_munzel": "the Brunner-Munzel test",
    "yuen": "Yuen's test of trimmed means",
}

INDEPENDENT: Mapping[TestOfDifference, str] = {
    "welch": "Welch's t-test",
    "student": "Student's t-test (equal variances)",
    "permutation": "permutation of Welch's t",
    "brunner_munzel": "Brunner-Munzel test (ranks)",
    "yuen": "Yuen's test (trimmed means)",
}

PAIRED: Mapping[TestOfDifference, str] = {test: NAMES[test] for test in PAIRED_TESTS}

OF_MEANS = ("welch", "student", "permutation", *PAIRED)
"""Tests of the same question, whether the means differ; ranks and trimmed means are others."""

SLOW_SPLITS = 20_000
"""With more splits than this (8 and 8 have 12,870) a permutation test takes a second or more."""

FEW_SPLITS = 100
"""Splits of both arms up to which the permutation test's own power is simulated."""


class DifferenceKind(MeansKind[Difference]):
    """Which of two arms has the lower mean (Brunner-Munzel: which tends to lower values)."""

    Declared = Difference
    test_of_design = True

    def scale(self, declared: Difference) -> base.EffectScale:
        return "share" if declared.test == "brunner_munzel" else "difference"

    def test_at_once(
        self, declared: Difference, context: Context, arms: Sequence[Arm]
    ) -> TestResult:
        """With its tails: with one, whether the difference is as claimed."""
        from repro.stats.t_tests import TESTS, paired

        a, b = arms
        tail: Alternative = "less" if declared.direction == "lower" else "greater"
        asked: Alternative = "two-sided" if declared.tails == 2 else tail
        if declared.folds is not None:
            shares = declared.folds.test_to_train
            return paired(a, b, alternative=asked, alpha=context.alpha, test_to_train=shares)
        return TESTS[declared.test](a, b, alternative=asked, alpha=context.alpha)

    def question(self, declared: Difference, context: Context) -> Question:
        from repro.stats import stopping as ask

        return ask.difference(declared.direction, smallest_effect=declared.smallest)

    def conclude_at_once(self, declared: Difference, result: TestResult) -> Finding:
        smallest = declared.smallest or None
        return conclude_difference(result, direction=declared.direction, smallest_effect=smallest)

    def statement(self, declared: Difference, context: Context) -> str:
        names, value = context.labels(declared), context.measured(declared)
        if declared.rule == "as_published":
            test = "Student's test" if declared.test == "student" else NAMES[declared.test]
            return headed(value, f"the paper's own rule, {test}, on {pair(names)}")
        if declared.direction == "different":
            return headed(value, f"{pair(names)} differ")
        least = ""
        if declared.smallest_effect is not None:
            least = f" by more than {margin_words(declared.smallest_effect)}"
        side = claimed_side(declared.direction, context.measurement(declared).better)
        return headed(value, f"{names[0]} is {declared.direction} ({side}) than {names[1]}{least}")

    def name_of_test(self, declared: Difference, context: Context) -> str:
        sided = "two-sided" if declared.tails == 2 else "one-sided"
        if declared.folds is not None:
            return f"corrected resampled t-test (Nadeau and Bengio), {sided}"
        return f"{NAMES[declared.test]}, {sided}".removeprefix("the ")

    def effect_label(self, declared: Difference, context: Context) -> str:
        names, value = context.labels(declared), context.measured(declared)
        if declared.test == "brunner_munzel":
            return f"{value}, share of pairs in which {names[0]} is higher than {names[1]}"
        return f"{value}, {names[0]} minus {names[1]}"

    def sentence(self, declared: Difference, context: Context, found: Found) -> str:
        if declared.rule == "as_published":
            said = self.found(declared, context, found)
            return f"{said}. {_as_published(context, found.result)}"
        return super().sentence(declared, context, found)

    def found(self, declared: Difference, context: Context, found: Found) -> str:
        names, value = context.labels(declared), context.measured(declared)
        if declared.test == "brunner_munzel":
            chance = f"{fmt.share(found.result.effect)} of pairs of {context.unit}s"
            reach = ends(found.interval, (0.5,), digits(fmt.share, 3))
            return headed(value, f"{names[0]} is higher than {names[1]} in {chance}{reach}")
        limits = [limit.value for limit in self.limits(declared, context)]
        said = difference_words(found.result, names, value, digits(fmt.fixed, found.digits))
        return f"{said}{ends(found.interval, (0.0, *limits), digits(fmt.plus, found.digits))}"

    def therefore(self, declared: Difference, context: Context, found: Found) -> str:
        if found.conclusion is None:
            return p_words(found.result).strip(" ()")
        pair = _compared(declared, context, found)
        if declared.direction == "different":
            return _differs(pair, found)
        side = claimed_side(declared.direction, pair.better)
        if declared.smallest_effect is None:
            return _on_one_side(pair, side, found)
        return _beyond_smallest(pair, side, margin_words(declared.smallest_effect), found)

    def limits(self, declared: Difference, context: Context) -> tuple[base.LimitPart, ...]:
        if declared.smallest_effect is None:
            value = 0.5 if declared.test == "brunner_munzel" else 0.0
            return (base.LimitPart(value=value, label=f"no difference, {value:g}", why=""),)
        return (margin_limit(declared.sign, declared.smallest_effect, SMALLEST),)

    def claimed(self, declared: Difference, context: Context) -> base.Side:
        sides: dict[str, base.Side] = {"lower": "below", "higher": "above", "different": "none"}
        return "none" if declared.rule == "as_published" else sides[declared.direction]

    def mistakes(self, declared: Difference, context: Context) -> Iterator[Mistake]:
        if declared.role == "decisive" or declared.test in PAIRED_TESTS:
            yield from unfitting_test(declared.test, context)
        if declared.rule == "as_published":
            yield from _published_rule(declared)
        if declared.tails == 1 and declared.direction == "different":
            mistake = "a test with one tail has a direction, and different has none"
            advice = "name the direction, or leave tails out"
            yield Mistake(("direction",), mistake, "one of lower, higher", advice)
        if declared.smallest_effect is not None:
            yield from _smallest_effect(declared, declared.smallest_effect)
        if is_sequential(declared, context):
            yield from _at_looks(declared, context)
        if declared.folds is not None:
            yield from _of_folds(declared, context)

    def least_seeds(self, declared: Difference, alpha: float, *, paired: bool) -> int:
        """Enough for complete separation to be unlikely, where that is what is counted."""
        if declared.test == "permutation":
            return max(base.LEAST_SEEDS, least_splits(alpha, tails=declared.tails))
        if declared.test == "paired_permutation":
            return max(base.LEAST_SEEDS, least_pairs(alpha, tails=declared.tails))
        return base.LEAST_SEEDS

    def replicate(self, declared: Difference, planned: int) -> str:
        return "" if declared.folds is None else "fold"

    def cannot_settle(self, declared: Difference, result: TestResult) -> str:
        if declared.folds is None:
            return ""
        return "More folds of one data set would not settle it; other data sets might."

    def details(self, declared: Difference, context: Context, result: TestResult) -> dict[str, str]:
        """With p of a smallest effect, and the measured error rate of the test of folds."""
        found = super().details(declared, context, result)
        if declared.smallest_effect is not None and result.test not in SEQUENTIAL:
            rule = self.conclude_at_once(declared, result)
            least = f"by more than {margin_words(declared.smallest_effect)}"
            p, contrary = fmt.p_value(rule.p), fmt.p_value(rule.p_opposite)
            found = {**found, RULE: f"{least}: {p}; against it, {contrary}"}
        if declared.folds is None:
            return found
        share = f"{declared.folds.test_to_train:.3g} of their training sets"
        return {**found, "test sets of folds": share, "error rate": _measured(result)}

    def by_order(self, declared: Difference) -> bool:
        return declared.test == "brunner_munzel"

    def needs_values(self, declared: Difference, context: Context) -> Mistake | None:
        if declared.test in ("welch", "student"):
            return None
        mistake = f"test {declared.test} needs the value of every seed"
        advice = "name one of these tests, or give the arm a table"
        return Mistake(("test",), mistake, "welch or student", advice)

    def concludes(self, declared: Difference) -> bool:
        return declared.rule != "as_published"

    def either_way(self, declared: Difference) -> bool:
        return declared.direction == "different"

    def is_slow(self, declared: Difference, n: Sequence[int]) -> bool:
        return declared.test == "permutation" and math.comb(sum(n), n[0]) > SLOW_SPLITS

    def other_tests(
        self, declared: Difference, n: Sequence[int], *, paired: bool
    ) -> tuple[base.OtherTest[Difference], ...]:
        """Every other test of the design; a permutation test only where it is quick."""
        if declared.folds is not None:
            return ()
        found = []
        for test, name in (PAIRED if paired else INDEPENDENT).items():
            if test != declared.test:
                other = declared.model_copy(update={"test": test})
                slow = self.is_slow(other, n)
                refused = "its splits are too many to be tried again here" if slow else ""
                same = {test, declared.test} <= set(OF_MEANS)
                found.append(base.OtherTest(other, name, same_question=same, refused=refused))
        return tuple(found)

    def unpaired(self, declared: Difference) -> Difference | None:
        """Nothing for folds, which share their data in any design."""
        return None if declared.folds is not None else super().unpaired(declared)

    def on_logarithms(self, declared: Difference) -> bool:
        """Of means, with no size in the units of the measurement."""
        of_means = declared.test in ("welch", "student", "paired", "yuen")
        return of_means and declared.smallest_effect is None

    def original_test(self, declared: Difference) -> OriginalTest:
        return "student" if declared.test == "student" else "welch"

    def published_test(self, declared: Difference) -> OriginalTest | None:
        if declared.rule == "as_published" and declared.test in ("student", "welch"):
            return self.original_test(declared)
        return None

    def effect_of_means(self, declared: Difference, a: float, b: float) -> float:
        difference = (a - b) * declared.sign
        return abs(difference) if declared.direction == "different" else difference

    def planned(
        self, declared: Difference, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        """By its test; a permutation test of several seeds by Welch's, whose t it uses."""
        from repro.stats.planning import PlannedDifference, PlannedSequential

        if declared.folds is not None:
            raise ClaimError("no power is computed for folds, whose training data overlap")
        design = plan.design(context)
        design["alpha"] *= 2 if declared.tails == 1 else 1
        design["low"] = declared.smallest
        if context.sequential and context.sequential.g:
            return PlannedSequential(**design, **context.looks)
        test = "welch" if _by_welch(declared, context, plan) else declared.test
        return PlannedDifference(test=test, **design)

    def on_power(self, declared: Difference, context: Context, plan: base.PlannedSeeds) -> str:
        if not _by_welch(declared, context, plan):
            return ""
        return "Computed by Welch's t-test, whose t the permutation test uses."

    def border(self, declared: Difference) -> float:
        return declared.smallest * declared.sign

    def way(self, declared: Difference, result: TestResult) -> str:
        """As claimed, as too small to matter, or against the claim."""
        if declared.direction == "different":
            return ""
        effect = result.effect * declared.sign
        if effect < 0:
            return base.AGAINST
        if declared.smallest_effect is None or effect >= declared.smallest_effect.size:
            return ""
        return f", as not more than {margin_words(declared.smallest_effect)}"


def _by_welch(declared: Difference, context: Context, plan: base.PlannedSeeds) -> bool:
    """Whether Welch's power stands for that of a permutation test, which uses the same t.

    At n = 5 they are .767 and .771, and simulating takes minutes; at n = 4, .607 and .473.
    """
    if declared.test != "permutation":
        return False
    splits = math.comb(2 * plan.n, plan.n)
    return splits > FEW_SPLITS and declared.tails / splits <= context.alpha


def _published_rule(declared: Difference) -> Iterator[Mistake]:
    if declared.role == "decisive":
        mistake = "the paper's own rule cannot decide: p above alpha is no evidence of equality"
        advice = "add `role: context`, and let another expectation decide"
        yield Mistake(("rule",), mistake, "role context", advice)
    if declared.test not in ("welch", "student", "paired"):
        mistake = f"the paper's own rule is that of a t-test, and {declared.test} is none"
        advice = "name the paper's test, or leave the rule out"
        yield Mistake(("test",), mistake, "one of student, welch, paired", advice)


def _smallest_effect(declared: Difference, smallest: Margin) -> Iterator[Mistake]:
    """A smallest effect is held against an interval on one side of no difference."""
    key = "smallest_effect"
    if declared.test in WITHOUT_INTERVAL:
        mistake = f"test {declared.test} has no interval in the units of the measurement "
        mistake += "to hold it to"
        expected, advice = "a test such as welch, student or yuen", "name another test, or "
        yield Mistake((key,), mistake, expected, f"{advice}leave it out")
    if declared.direction == "different":
        mistake = "a smallest effect has a sign, and direction different has none"
        advice = "name the direction, or leave it out"
        yield Mistake(("direction",), mistake, "one of lower, higher", advice)
    if smallest.relative is not None:
        mistake = "a relative smallest effect is not implemented: the interval of a difference "
        mistake += "is in the units of the measurement"
        advice = "write it as `abs` or `of_gain`"
        yield Mistake((key, "relative"), mistake, "one of abs, of_gain", advice)


def _of_folds(declared: Difference, context: Context) -> Iterator[Mistake]:
    """Both arms are trained on the same folds, and their t-test alone has a correction."""
    if not context.paired:
        mistake = f"folds pair the arms, and {context.design_name} takes them as independent"
        advice = "give a fold one number in both arms, and write `design: paired`"
        yield Mistake(("folds",), mistake, "a paired design", advice)
    elif declared.test != "paired":
        mistake = f"test {declared.test} has no correction for folds"
        yield Mistake(("test",), mistake, "paired", "leave the test out")
    if is_sequential(declared, context):
        mistake = "folds are of one data set, and are there at once"
        yield Mistake(("folds",), mistake, "a claim without `sequential`", "leave it out")


def _at_looks(declared: Difference, context: Context) -> Iterator[Mistake]:
    if declared.test not in ("welch", "paired"):
        fitting = "paired" if context.paired else "welch"
        mistake = f"test {declared.test} has no sequential form"
        yield Mistake(("test",), mistake, fitting, "leave the test out")
    if declared.tails == 1:
        mistake = "a sequential test of a difference has two tails"
        yield Mistake(("tails",), mistake, "2", "leave tails out")


def _compared(declared: Difference, context: Context, found: Found) -> Compared:
    limits = () if declared.smallest_effect is None else (declared.smallest_effect.size,)
    pair = compared(declared, context, found, limits)
    if declared.test == "brunner_munzel":
        return replace(pair, effect=pair.effect - 0.5, interval=None)
    return pair


def _differs(pair: Compared, found: Found) -> str:
    p = p_words(found.result)
    if found.conclusion is Conclusion.CONFIRMED:
        which = f": {pair.a} is {pair.seen}" if pair.seen else ""
        return f"They differ, as claimed{p}{which}."
    return f"A difference is not shown{p}{pair.reach()}."


def _on_one_side(pair: Compared, side: Side, found: Found) -> str:
    p, contrary = both_p(found.result)
    other = OTHER[side]
    if found.conclusion is Conclusion.CONFIRMED:
        return f"{side.capitalize()}, as claimed{p}."
    if found.conclusion is Conclusion.CONTRADICTED:
        return f"{other.capitalize()}, against the claim that it is {side}{contrary}."
    if pair.seen is None:
        return f"{side.capitalize()} is not shown{p}{pair.reach()}."
    if pair.seen == side:
        looks = f"So {pair.a} looks {side}, as claimed, but that is not shown"
        return f"{looks}{p}{pair.reaches(other)}."
    return against(f"{pair.a} looks {other}", f"{contrary}{pair.reaches(side)}")


def _beyond_smallest(pair: Compared, side: Side, least: str, found: Found) -> str:
    p = contrary = ""
    if found.result.test not in SEQUENTIAL:
        p, contrary = both_p(found.result)
    word, (begins, ends_at) = side.capitalize(), pair.ends(side)
    if found.conclusion is Conclusion.CONFIRMED:
        return f"{word}{p}, and by more than {least}, as claimed: the whole interval lies beyond."
    if found.conclusion is Conclusion.TRIVIAL and ends_at is not None:
        short = f"the interval ends at {pair.size(ends_at)}"
        return f"{word}, yes{p}; by more than {least}, no: {short}, which is too small to matter."
    if found.conclusion is Conclusion.CONTRADICTED and ends_at is not None:
        if ends_at < 0 and contrary:
            contrary = p_words(found.result, opposite=True, against=" against no difference")
        return against_smallest(pair, side, least, contrary if ends_at < 0 else p, ends_at)
    if begins is not None and begins > 0:
        down = f"the interval reaches down to {pair.size(begins)}"
        return f"{word}, yes{p}; by more than {least}, not shown: {down}."
    if pair.seen == OTHER[side]:
        return against(f"{pair.a} looks {OTHER[side]}", f"{contrary}{pair.reach()}")
    return f"{word} is not shown{p}, nor {side} by more than {least}{pair.reach()}."


def _as_published(context: Context, result: TestResult) -> str:
    """The paper's own rule; a large p-value comes with the warning that it needs."""
    rule, p = "By the paper's rule the difference is", p_words(result)
    if result.p is not None and result.p <= context.alpha:
        return f"{rule} significant{p}."
    return f"{rule} not significant{p}. A large p-value is no evidence of equality."


def _measured(result: TestResult) -> str:
    """The measured rate at the nearest number of folds, and that of folds that correlate more."""
    from repro.stats.error_rates import key_of
    from repro.stats.measured_cells import rates_of

    key, n = key_of(result), result.n[0]
    near = min(rates_of(key), key=lambda cell: (cell.distribution != "normal", abs(cell.n - n)))
    said = f"{100 * near.rate:.2g} % with {near.n} folds of simulated data sets"
    for cell in rates_of("folds correlated"):
        if cell.n == near.n and cell.loses and key == "folds paired":
            said += f"; {100 * cell.rate:.2g} % if folds correlate by 0.2"
    return f"{said} (measured)"
