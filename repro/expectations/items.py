"""Two models on the same items: which answers more of them, by the differences per item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from repro.errors import ClaimError
from repro.expectations import base
from repro.expectations.base import Found, Read, samples_of
from repro.expectations.declared import Context, Mistake
from repro.expectations.difference import Difference, DifferenceKind
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.stats.records import Alternative, TestResult, expect, known

if TYPE_CHECKING:
    from repro.stats.item_scores import ItemsResult
    from repro.stats.planning import PlannedTest


OTHERS = {
    "t": "t-test of the differences per item, of these trained models",
    "crossed": "seeds crossed with items, for any seeds",
    "mcnemar": "McNemar's exact test",
}
"""The tests, as an analysis besides the declared one calls them."""


class ItemsDifference(Difference):
    """The mean of a over items is lower (or higher) than that of b, which has the same items.

    Differences per item are tested, of items that ``seeds.items`` names; ``seeds.clusters`` says
    which belong together. With ``t`` each item is averaged over the runs of an arm, and what is
    found is about these trained models. ``crossed`` is about runs with any seeds: it takes three
    runs of each arm or more, each on all items. ``mcnemar`` is exact, for items that are 0 or 1,
    one run of each arm and no clusters.
    """

    kind: Literal["items"]  # type: ignore[assignment]
    test: Literal["t", "crossed", "mcnemar"] = "t"  # type: ignore[assignment]
    rule: Literal["standard"] = "standard"


class ItemsKind(DifferenceKind):
    """The t-test of differences per item, clustered where items have clusters; McNemar's."""

    Declared: ClassVar[type[Difference]] = ItemsDifference
    test_of_design = False
    on_means = False
    compares_means = False
    paired = False
    counts_seeds = False
    no_power = "what the items can find depends on their answers, and stands with the test"

    def test(self, declared: Difference, context: Context, read: Read) -> TestResult:
        from repro.stats import item_scores as items

        a, b = samples_of(declared, read)
        tail: Alternative = "less" if declared.direction == "lower" else "greater"
        asked: Alternative = "two-sided" if declared.tails == 2 else tail
        if _is_crossed(declared):
            return items.items_crossed(a, b, alternative=asked, alpha=context.alpha)
        paired = items.paired_items(a, b)
        test = items.items_t
        if _is_exact(declared):
            test = items.mcnemar if declared.smallest_effect is None else items.mcnemar_and_t
        return test(paired, alternative=asked, alpha=context.alpha)

    def mistakes(self, declared: Difference, context: Context) -> Iterator[Mistake]:
        plain = declared.model_copy(update={"test": "paired" if context.paired else "welch"})
        yield from super().mistakes(plain, context)

    def conclude_at_once(self, declared: Difference, result: TestResult) -> Finding:
        """By McNemar's test, never more than what is shown of no difference."""
        if not _is_exact(declared) or declared.smallest_effect is None:
            return super().conclude_at_once(declared, result)
        found = super().conclude_at_once(declared, replace(result, df=_typed(result).items - 1.0))
        return Finding(found.conclusion, max(found.p, known(result.p)), found.p_opposite)

    def needs_values(self, declared: Difference, context: Context) -> Mistake | None:
        return super(DifferenceKind, self).needs_values(declared, context)

    def on_logarithms(self, declared: Difference) -> bool:
        return False

    def least_seeds(self, declared: Difference, alpha: float, *, paired: bool) -> int:
        return base.LEAST_SEEDS if _is_crossed(declared) else 1

    def replicate(self, declared: Difference, planned: int) -> str:
        return "" if _is_crossed(declared) else "run"

    def lone(self, declared: Difference) -> tuple[str, ...]:
        return () if _is_crossed(declared) else declared.of

    def keeps_seeds(self, declared: Difference) -> str:
        return "" if _is_crossed(declared) else "what is counted are items, and no run is left out"

    def cannot_settle(self, declared: Difference, result: TestResult) -> str:
        if _is_crossed(declared):
            return _more_of_both(_typed(result), self.border(declared))
        settle = _typed(result).settling(self.border(declared))
        if settle is None:
            return "More items would settle it, not more seeds."
        many = f"About {fmt.count(settle)} items"
        return f"{many} would settle it in four cases of five, were this the effect."

    def name_of_test(self, declared: Difference, context: Context) -> str:
        sided = "two-sided" if declared.tails == 2 else "one-sided"
        if _is_exact(declared):
            return f"McNemar's exact test, {sided}"
        if _is_crossed(declared):
            return f"t-test of seeds crossed with items, {sided}"
        return f"t-test of the differences per item, {sided}"

    def found(self, declared: Difference, context: Context, found: Found) -> str:
        """With what it is about, which the box has to say."""
        result = _typed(found.result)
        items = fmt.number_of(result.items, "item")
        return f"{super().found(declared, context, found)} on {items}, for {_models(result)}"

    def details(self, declared: Difference, context: Context, result: TestResult) -> dict[str, str]:
        found, (a, b) = _typed(result), context.labels(declared)
        about = _models(found)
        about += "" if found.of_seeds is not None else "; models trained again may differ"
        facts = {"items": f"{fmt.count(found.items)}, answered by both", "what it is about": about}
        if found.clusters is not None:
            facts["clusters"] = f"{fmt.count(found.clusters)}; the standard error is clustered"
        if found.apart is not None:
            won, lost = map(fmt.count, found.apart)
            facts["right in one alone"] = f"{won} in {a}, {lost} in {b}"
        if found.of_seeds is not None:
            facts["share of seeds in the variance"] = fmt.share(found.of_seeds, 2)
        facts |= _within_reach(declared, found)
        if (settle := found.settling(self.border(declared))) is not None:
            facts["items that would settle it"] = (
                f"about {fmt.count(settle)}, in four cases of five, were this the effect"
            )
        return facts

    def planned(
        self, declared: Difference, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        raise ClaimError(self.no_power)

    def other_tests(
        self, declared: Difference, n: Sequence[int], *, paired: bool
    ) -> tuple[base.OtherTest[Difference], ...]:
        """McNemar's of one run of each; of several, both what is said of these and of any runs."""
        others = ("mcnemar",) if max(n) == 1 else ("crossed",) if min(n) >= base.LEAST_SEEDS else ()
        found = []
        for test in ("t", *others):
            if test != declared.test:
                other = declared.model_copy(update={"test": test})
                found.append(base.OtherTest(other, OTHERS[test], same_question=max(n) == 1))
        return tuple(found)


def _within_reach(declared: Difference, found: ItemsResult) -> dict[str, str]:
    """What so many items can find; nothing where the answers do not vary."""
    if not found.se:
        return {}
    said = (
        f"{fmt.significant(found.detectable, 2)} is told from no difference in four cases of five"
    )
    if declared.smallest:
        power = fmt.chance(found.power(declared.smallest))
        said += f"; {declared.smallest:g}, the smallest that matters, in {power}"
    return {"what so many items can find": said}


def _more_of_both(found: ItemsResult, border: float) -> str:
    """What makes most of the variance, seeds or items, and how many of them would settle it."""
    of_seeds, runs = known(found.of_seeds), max(found.runs)
    shares = (
        ("Seeds", of_seeds, found.more(of_seeds, runs, border), "runs of each arm"),
        ("Items", 1 - of_seeds, found.more(1 - of_seeds, found.items, border), "items"),
    )
    most, share, needed, unit = max(shares, key=lambda each: each[1])
    said = f"{most} make {fmt.share(share, 2)} of the variance"
    if needed is None:
        return f"{said}, but more of them alone would not settle it: add seeds and items."
    chance = "in four cases of five, were this the effect"
    return f"{said}: about {fmt.count(needed)} {unit} would settle it {chance}."


def _is_crossed(declared: Difference) -> bool:
    return str(declared.test) == "crossed"


def _is_exact(declared: Difference) -> bool:
    return str(declared.test) == "mcnemar"


def _models(found: ItemsResult) -> str:
    """What the finding is about."""
    if found.of_seeds is not None:
        return f"any seeds, by {found.runs[0]} and {found.runs[1]} trained models"
    if found.runs == (1, 1):
        return "these two trained models"
    return f"these {found.runs[0]} and {found.runs[1]} trained models"


def _typed(result: TestResult) -> ItemsResult:
    from repro.stats.item_scores import ItemsResult

    return expect(result, ItemsResult)
