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

    def scale(self, declared: Proportion) -> base.EffectScale:
        """A share."""
        return "share"

    def test(self, declared: Proportion, claim: Claim, read: Read) -> TestResult:
        """Wins, losses and ties of a over b, unit by unit."""
        a, b = (_units(declared, claim, read, arm) for arm in declared.of)
        _require_partners(labels(declared, claim), a, b)
        return paired_outcomes(
            a, b, clusters=_clusters(declared, a), more_than=declared.more_than, alpha=claim.alpha
        )

    def conclude(self, declared: Proportion, result: TestResult) -> Finding:
        """By p one way, and p the other."""
        return by_p(result)

    def statement(self, declared: Proportion, claim: Claim) -> str:
        """That a wins in more than a share."""
        a, b = labels(declared, claim)
        share, name = fmt.percent(declared.more_than), _name(declared, claim)
        return f"Over {name}: {a} beats {b} in more than {share}, ties left out"

    def name_of_test(self, declared: Proportion, claim: Claim) -> str:
        """The sign test."""
        if declared.clusters == "none":
            return "exact sign test, one-sided, ties left out"
        return "sign-flip test of whole clusters, one-sided, ties left out"

    def effect_label(self, declared: Proportion, claim: Claim) -> str:
        """The share of wins."""
        a, b = labels(declared, claim)
        return f"{_name(declared, claim)}, share in which {a} beats {b}"

    def sentence(self, declared: Proportion, claim: Claim, found: Found) -> str:
        """Wins, losses, ties; then what that says of the share."""
        a, b = labels(declared, claim)
        found_units = expect(found.result, OutcomesResult)
        said = f"Over {_name(declared, claim)}: {a} beats {b} in {found_units.wins}"
        said += f" and loses in {found_units.losses}"
        ties = found_units.ties
        left = f", {fmt.number_of(ties, 'tie')} left out" if ties else ""
        return f"{said}{left}. {_therefore(declared, found)}".rstrip()

    def limits(self, declared: Proportion, claim: Claim) -> tuple[base.Limit, ...]:
        """The declared share."""
        label = f"share, {fmt.percent(declared.more_than)}"
        return (base.Limit(value=declared.more_than, label=label, why=""),)

    def region(self, declared: Proportion) -> tuple[float | None, float | None]:
        """Above the declared share."""
        return declared.more_than, None

    def claimed(self, declared: Proportion, claim: Claim) -> base.Side:
        """Above it."""
        return "above"

    def details(self, declared: Proportion, claim: Claim, result: TestResult) -> dict[str, str]:
        """Wins, losses and ties, which the picture names; and the measurements that are units."""
        units = expect(result, OutcomesResult)
        facts = {"wins": f"{units.wins}", "losses": f"{units.losses}", "ties": f"{units.ties}"}
        if declared.also:
            facts["units"] = ", ".join(claim.measurements[name].label for name in declared.reads)
        return facts


def _therefore(declared: Proportion, found: Found) -> str:
    share = fmt.percent(declared.more_than)
    p, contrary = (p_words(found.result, opposite=side) for side in (False, True))
    if found.conclusion is Conclusion.CONFIRMED:
        return f"More than {share}, as claimed{p}."
    if found.conclusion is Conclusion.CONTRADICTED:
        return f"Less than {share}, against the claim{contrary}."
    if found.conclusion is not Conclusion.INCONCLUSIVE:
        return ""
    if found.result.effect < declared.more_than:
        return against(f"it looks like less than {share}", contrary)
    return f"More than {share} is not shown{p}."


def _name(declared: Proportion, claim: Claim) -> str:
    if declared.also:
        return f"{len(declared.reads)} measurements"
    return f"the units of {claim.measurements[declared.measurement].label}"


def _units(declared: Proportion, claim: Claim, read: Read, arm: str) -> Sample:
    """One value a unit, larger being better: every replicate, or the mean of every measurement."""
    signs = [1 if claim.measurements[name].better == "higher" else -1 for name in declared.reads]
    if declared.also:
        means = [summarise(read(arm, name)).mean for name in declared.reads]
        return Sample.of(*(sign * mean for sign, mean in zip(signs, means, strict=True)))
    sample = require_sample(read(arm, declared.measurement), declared.kind)
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
