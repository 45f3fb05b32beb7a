"""In how many benchmarks, contexts or tasks does a beat b?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from repro.errors import TooFewError
from repro.expectations import base
from repro.expectations.base import Found, Kind, Read
from repro.expectations.decision_rules import by_p
from repro.expectations.declared import Context, Declared, Mistake, Pair
from repro.expectations.phrases import against, both_p, follows
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.schema.base import Name
from repro.stats.records import Sample, TestResult, expect, require_sample, summarise

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest


def _form(value: Any) -> str:
    """Which of the forms of clusters is written, so that only that one is checked."""
    if isinstance(value, list | tuple):
        return "list"
    return "text" if isinstance(value, str) else "number"


Clusters = Annotated[
    Annotated[Literal["none"], Tag("text")]
    | Annotated[int, Field(ge=2), Tag("number")]
    | Annotated[tuple[tuple[Name, ...], ...], Tag("list")],
    Discriminator(_form),
]
"""Which units belong together: none, so many in a row, or those in one list."""


class Proportion(Declared):
    """a beats b in more than a share of benchmarks, contexts or tasks; exact sign test.

    The units are the replicates of ``measurement``, matched by number (contexts, tasks), or,
    with ``also``, the measurements themselves (benchmarks), each by the means of its arms.
    ``clusters`` says which units belong together; it must be declared: ``none``, or lists of
    measurements, or the number of consecutive replicates that form a cluster.
    """

    kind: Literal["proportion"]
    of: Pair
    also: tuple[Name, ...] = ()
    more_than: Annotated[float, Field(gt=0, lt=1)] = 0.5
    clusters: Clusters

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.measurement, *self.also)

    def names(self) -> dict[str, Any]:
        """By key, the names of measurements; those of clusters in lists of lists."""
        clusters = self.clusters if isinstance(self.clusters, tuple) else ()
        return {"measurement": self.measurement, "also": self.also, "clusters": clusters}


class ProportionKind(Kind[Proportion]):
    """Exact sign test over units; with clusters, the cluster is the unit."""

    Declared = Proportion
    effect_scale = "share"
    claimed_side = "above"
    paired = False
    counts_seeds = False

    def mistakes(self, declared: Proportion, context: Context) -> Iterator[Mistake]:
        for name, times in Counter(declared.reads).items():
            if times > 1:
                mistake = f"measurement '{name}' is counted {times} times"
                advice = "remove the repetition"
                yield Mistake(("also",), mistake, "every measurement once", advice)
        if declared.clusters != "none" and declared.more_than != 0.5:
            mistake = (
                "with clusters only more than one half can be tested, because signs are flipped"
            )
            advice = "leave it out, or write `clusters: none`"
            yield Mistake(("more_than",), mistake, "0.5", advice)
        yield from _unfit_clusters(declared, context)
        yield from _too_few_units(declared, context.alpha)

    def least_seeds(self, declared: Proportion, alpha: float, *, paired: bool) -> int:
        """Of units that are replicates, enough to win in all of them."""
        size = declared.clusters if isinstance(declared.clusters, int) else 1
        return 1 if declared.also else size * fewest_units(declared, alpha)

    def by_order(self, declared: Proportion) -> bool:
        """Of replicates; the measurements that are units are read by their means."""
        return not declared.also

    def needs_values(self, declared: Proportion, context: Context) -> Mistake | None:
        return None if declared.also else super().needs_values(declared, context)

    def needs_means(self, declared: Proportion) -> bool:
        return bool(declared.also)

    def test(self, declared: Proportion, context: Context, read: Read) -> TestResult:
        from repro.stats.counts import paired_outcomes

        a, b = (_units(declared, context, read, arm) for arm in declared.of)
        _require_partners(context.labels(declared), a, b)
        return paired_outcomes(
            a, b, clusters=_clusters(declared, a), more_than=declared.more_than, alpha=context.alpha
        )

    def conclude(self, declared: Proportion, result: TestResult) -> Finding:
        return by_p(result)

    def statement(self, declared: Proportion, context: Context) -> str:
        a, b = context.labels(declared)
        share, name = fmt.percent(declared.more_than), _name(declared, context)
        return f"Over {name}: {a} beats {b} in more than {share}, ties left out"

    def name_of_test(self, declared: Proportion, context: Context) -> str:
        if declared.clusters == "none":
            return "exact sign test, one-sided, ties left out"
        return "sign-flip test of whole clusters, one-sided, ties left out"

    def effect_label(self, declared: Proportion, context: Context) -> str:
        a, b = context.labels(declared)
        return f"{_name(declared, context)}, share in which {a} beats {b}"

    def sentence(self, declared: Proportion, context: Context, found: Found) -> str:
        from repro.stats.counts import OutcomesResult

        (a, b), units = context.labels(declared), expect(found.result, OutcomesResult)
        said = f"Over {_name(declared, context)}: {a} beats {b} in {units.wins}"
        ties = f", {fmt.number_of(units.ties, 'tie')} left out" if units.ties else ""
        return f"{said} and loses in {units.losses}{ties}. {_therefore(declared, found)}".rstrip()

    def limits(self, declared: Proportion, context: Context) -> tuple[base.LimitPart, ...]:
        label = f"share, {fmt.percent(declared.more_than)}"
        return (base.LimitPart(value=declared.more_than, label=label, why=""),)

    def planned(
        self, declared: Proportion, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        from repro.stats.planning import PlannedProportion

        units = len(declared.reads) if declared.also else plan.n
        if isinstance(declared.clusters, int):
            units = max(1, plan.n // declared.clusters)
        elif isinstance(declared.clusters, tuple):
            units = len(declared.clusters)
        return PlannedProportion(
            (units,), alpha=context.alpha, effect=plan.effect, low=declared.more_than
        )

    def details(self, declared: Proportion, context: Context, result: TestResult) -> dict[str, str]:
        """Wins, losses and ties, which the picture names; and the measurements that are units."""
        from repro.stats.counts import OutcomesResult

        units = expect(result, OutcomesResult)
        facts = {"wins": f"{units.wins}", "losses": f"{units.losses}", "ties": f"{units.ties}"}
        if declared.also:
            facts["units"] = ", ".join(context.measurements[name].label for name in declared.reads)
        return facts

    def takes_draws(self, declared: Proportion) -> bool:
        return False

    def goes_whole(self, declared: Proportion) -> bool:
        return not declared.also

    def keeps_seeds(self, declared: Proportion) -> str:
        """Clusters may be so many units in a row."""
        if not isinstance(declared.clusters, int):
            return ""
        return "clusters are so many units in a row, and one fewer would move all after it"


def _unfit_clusters(declared: Proportion, context: Context) -> Iterator[Mistake]:
    """Clusters must hold every unit exactly once."""
    steps = ("clusters",)
    if isinstance(declared.clusters, int) and declared.also:
        mistake = "the units are measurements, and a number counts consecutive replicates"
        expected = "none, or lists of measurements"
        yield Mistake(steps, mistake, expected, "say which measurements belong together")
    if not isinstance(declared.clusters, tuple):
        return
    if not declared.also:
        mistake = "the units are replicates, and lists name measurements"
        expected = "none, or how many consecutive replicates form a cluster"
        yield Mistake(steps, mistake, expected, "write the number, or add `also`")
        return
    counted = Counter(name for cluster in declared.clusters for name in cluster)
    for name in context.measurements:
        if name in counted and name not in declared.reads:
            mistake, advice = f"'{name}' is in a cluster, and is no unit", "remove it"
        elif name in declared.reads and counted[name] != 1:
            mistake = f"'{name}' is in {counted[name] or 'no'} cluster{'s' * (counted[name] > 1)}"
            advice = "put it into one cluster"
        else:
            continue
        yield Mistake(steps, mistake, "every measurement in exactly one cluster", advice)


def _too_few_units(declared: Proportion, alpha: float) -> Iterator[Mistake]:
    """Winning everywhere must be unlikely enough by chance; replicates are counted as seeds."""
    if not declared.also or declared.role != "decisive":
        return
    clusters = declared.clusters if isinstance(declared.clusters, tuple) else None
    units, least = len(clusters or declared.reads), fewest_units(declared, alpha)
    if units < least:
        words = "measurements" if clusters is None else "clusters"
        p = declared.more_than**units
        mistake = f"{units} {words} cannot decide: winning in all has p = {p:.2g} at best"
        expected = f"at least {least} {words} at alpha {alpha:g}"
        advice = "add measurements, or make the expectation `role: context`"
        yield Mistake(("also",), mistake, expected, advice)


def fewest_units(declared: Proportion, alpha: float) -> int:
    """Fewest units, or clusters of them, that could all be won with p at most alpha."""
    return math.ceil(math.log(alpha) / math.log(declared.more_than) - 1e-9)


def _therefore(declared: Proportion, found: Found) -> str:
    share, (p, contrary) = fmt.percent(declared.more_than), both_p(found.result)
    shown = f"More than {share} is not shown{p}."
    if found.result.effect < declared.more_than:
        shown = against(f"it looks like less than {share}", contrary)
    more, less = f"More than {share}, as claimed{p}.", f"Less than {share}, against the claim"
    return follows(found, more, f"{less}{contrary}.", shown)


def _name(declared: Proportion, context: Context) -> str:
    if declared.also:
        return f"{len(declared.reads)} measurements"
    return f"the units of {context.measured(declared)}"


def _units(declared: Proportion, context: Context, read: Read, arm: str) -> Sample:
    """One value a unit, larger being better: every replicate, or the mean of every measurement."""
    signs = [1 if context.measurements[name].better == "higher" else -1 for name in declared.reads]
    if declared.also:
        means = [summarise(read(arm, name)).mean for name in declared.reads]
        return Sample.of(*(sign * mean for sign, mean in zip(signs, means, strict=True)))
    sample = require_sample(read(arm, declared.measurement), declared.kind)
    return Sample(tuple(signs[0] * value for value in sample.values), sample.replicates)


def _require_partners(names: list[str], a: Sample, b: Sample) -> None:
    """ClaimError where an arm has a unit that the other lacks."""
    in_a, in_b = set(a.replicates), set(b.replicates)
    alone = [
        f"{', '.join(map(str, sorted(numbers)))} only in {name}"
        for name, numbers in zip(names, (in_a - in_b, in_b - in_a), strict=True)
        if numbers
    ]
    if alone:
        raise TooFewError(
            f"units are matched by number, and some have no partner: {'; '.join(alone)}",
            advice="leave them out of every arm, or add their partners",
        )


def _clusters(declared: Proportion, units: Sample) -> list[int] | None:
    """The cluster of each unit, counted from the first; None where each stands for itself."""
    if declared.clusters == "none":
        return None
    if isinstance(declared.clusters, int):
        first = min(units.replicates)
        return [(number - first) // declared.clusters for number in units.replicates]
    return [
        next(i for i, members in enumerate(declared.clusters) if name in members)
        for name in declared.reads
    ]
