"""In how many benchmarks, contexts or tasks does a beat b?"""

from __future__ import annotations

from repro.errors import TooFewError
from repro.expectations import base
from repro.expectations.base import Found, Kind, Read, labels
from repro.expectations.rules import Conclusion, Finding, by_p
from repro.expectations.sentences import against, p_words
from repro.schema import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import Proportion
from repro.stats.counts import OutcomesResult, paired_outcomes
from repro.stats.records import Sample, TestResult, expect, require_sample, summarise


class ProportionKind(Kind[Proportion]):
    """Exact sign test over units; with clusters, the cluster is the unit."""

    def scale(self, one: Proportion) -> base.EffectScale:
        """A share."""
        return "share"

    def test(self, one: Proportion, claim: Claim, read: Read) -> TestResult:
        """Wins, losses and ties of a over b, unit by unit."""
        a, b = (_units(one, claim, read, arm) for arm in one.of)
        _require_partners(labels(one, claim), a, b)
        return paired_outcomes(
            a, b, clusters=_clusters(one, a), more_than=one.more_than, alpha=claim.alpha
        )

    def conclude(self, one: Proportion, result: TestResult) -> Finding:
        """By p one way, and p the other."""
        return by_p(result)

    def statement(self, one: Proportion, claim: Claim) -> str:
        """That a wins in more than a share."""
        a, b = labels(one, claim)
        share, name = fmt.percent(one.more_than), _name(one, claim)
        return f"Over {name}: {a} beats {b} in more than {share}, ties left out"

    def name_of_test(self, one: Proportion, claim: Claim) -> str:
        """The sign test."""
        if one.clusters == "none":
            return "exact sign test, one-sided, ties left out"
        return "sign-flip test of whole clusters, one-sided, ties left out"

    def effect_label(self, one: Proportion, claim: Claim) -> str:
        """The share of wins."""
        a, b = labels(one, claim)
        return f"{_name(one, claim)}, share in which {a} beats {b}"

    def sentence(self, one: Proportion, claim: Claim, found: Found) -> str:
        """Wins, losses, ties; then what that says of the share."""
        a, b = labels(one, claim)
        found_units = expect(found.result, OutcomesResult)
        said = f"Over {_name(one, claim)}: {a} beats {b} in {found_units.wins}"
        said += f" and loses in {found_units.losses}"
        ties = found_units.ties
        left = f", {fmt.number_of(ties, 'tie')} left out" if ties else ""
        return f"{said}{left}. {_therefore(one, found)}".rstrip()

    def limits(self, one: Proportion, claim: Claim) -> tuple[base.Limit, ...]:
        """The declared share."""
        label = f"share, {fmt.percent(one.more_than)}"
        return (base.Limit(value=one.more_than, label=label, why=""),)

    def region(self, one: Proportion) -> tuple[float | None, float | None]:
        """Above the declared share."""
        return one.more_than, None

    def claimed(self, one: Proportion, claim: Claim) -> base.Side:
        """Above it."""
        return "above"

    def details(self, one: Proportion, claim: Claim, result: TestResult) -> dict[str, str]:
        """Wins, losses and ties, which the picture names; and the measurements that are units."""
        units = expect(result, OutcomesResult)
        facts = {"wins": f"{units.wins}", "losses": f"{units.losses}", "ties": f"{units.ties}"}
        if one.also:
            facts["units"] = ", ".join(claim.measurements[name].label for name in one.reads)
        return facts


def _therefore(one: Proportion, found: Found) -> str:
    share = fmt.percent(one.more_than)
    p, contrary = (p_words(found.result, opposite=side) for side in (False, True))
    if found.conclusion is Conclusion.CONFIRMED:
        return f"More than {share}, as claimed{p}."
    if found.conclusion is Conclusion.CONTRADICTED:
        return f"Less than {share}, against the claim{contrary}."
    if found.conclusion is not Conclusion.INCONCLUSIVE:
        return ""
    if found.result.effect < one.more_than:
        return against(f"it looks like less than {share}", contrary)
    return f"More than {share} is not shown{p}."


def _name(one: Proportion, claim: Claim) -> str:
    if one.also:
        return f"{len(one.reads)} measurements"
    return f"the units of {claim.measurements[one.measurement].label}"


def _units(one: Proportion, claim: Claim, read: Read, arm: str) -> Sample:
    """One value a unit, larger being better: every replicate, or the mean of every measurement."""
    signs = [1 if claim.measurements[name].better == "higher" else -1 for name in one.reads]
    if one.also:
        means = [summarise(read(arm, name)).mean for name in one.reads]
        return Sample.of(*(sign * mean for sign, mean in zip(signs, means, strict=True)))
    sample = require_sample(read(arm, one.measurement), one.kind)
    return Sample(tuple(signs[0] * value for value in sample.values), sample.replicates)


def _require_partners(names: list[str], a: Sample, b: Sample) -> None:
    """ClaimError where an arm has a unit that the other lacks."""
    alone = [
        f"{', '.join(map(str, sorted(set(own.replicates) - set(other.replicates))))} only in {name}"
        for name, own, other in ((names[0], a, b), (names[1], b, a))
        if set(own.replicates) - set(other.replicates)
    ]
    if alone:
        raise TooFewError(
            f"units are matched by number, and some have no partner: {'; '.join(alone)}; leave "
            "them out of every arm, or add their partners"
        )


def _clusters(one: Proportion, units: Sample) -> list[int] | None:
    """The cluster of each unit, counted from the first; None where each stands for itself."""
    if one.clusters == "none":
        return None
    if isinstance(one.clusters, int):
        first = min(units.replicates)
        return [(number - first) // one.clusters for number in units.replicates]
    return [
        next(i for i, members in enumerate(one.clusters) if name in members) for name in one.reads
    ]
