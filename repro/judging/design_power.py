"""The design doctor: what could the declared seeds find, were the planned scatter the truth?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repro.errors import ClaimError, DesignError
from repro.expectations.base import PlannedSeeds
from repro.expectations.kinds import Expectation, kind_of
from repro.expectations.sequential import is_sequential
from repro.judging.document_parts import DesignPart
from repro.schema import numbers as fmt
from repro.specs.claim import Claim, Published
from repro.stats.planning import Assessment, assess

FIXED = "that of a single look at the largest number of seeds; a sequential test has less power"


@dataclass(frozen=True, slots=True)
class Scatter:
    """The planned standard deviations of both arms and where they come from; or why not."""

    sd: tuple[float, ...]
    source: str
    lacking: str = ""


def design_parts(claim: Claim) -> tuple[DesignPart, ...]:
    """What the planned seeds can find, for every decisive expectation."""
    return tuple(
        _part(expectation, claim)
        for expectation in claim.expectations
        if expectation.role == "decisive"
    )


def refuse_designs(claims: Sequence[Claim]) -> None:
    """DesignError for a claim whose design cannot decide, or hardly ever, unless it is forced."""
    refused = [
        f"{claim.file}: '{part.expectation}': {part.refused}"
        for claim in claims
        if claim.forced is None
        for part in design_parts(claim)
        if part.refused
    ]
    if refused:
        raise DesignError(refused)


def _part(expectation: Expectation, claim: Claim) -> DesignPart:
    scatter = _scatter(expectation, claim)
    effect, assumed = _effect(expectation, claim)
    seeds = claim.seeds.max if claim.sequential and claim.seeds.max else claim.seeds.plan
    kind, context = kind_of(expectation), claim.context()
    plan = PlannedSeeds(
        seeds, scatter.sd, scatter.lacking, effect, _sizes(expectation, claim, seeds)
    )
    on_power = kind.on_power(expectation, context, plan)
    try:
        found = assess(kind.planned(expectation, context, plan))
    except ClaimError as error:
        found = Assessment(not_computed=str(error))
    return DesignPart(
        expectation=expectation.id,
        seeds=seeds,
        sd=scatter.sd,
        sd_source=scatter.source,
        assumed_effect=assumed,
        power=found.power,
        minimum_detectable=found.minimum_detectable,
        seeds_80=found.seeds80,
        seeds_90=found.seeds90,
        note=_note(
            found,
            f"{on_power} {_stops(found, claim, assumed)}".strip(),
            looks=is_sequential(expectation, context),
        ),
        refused=found.refused,
    )


def _sizes(expectation: Expectation, claim: Claim, seeds: int) -> dict[str, int]:
    """The seeds of its arms, as far as they are known before a table is read."""
    sizes = dict.fromkeys(claim.trained, seeds)
    for name in expectation.of:
        printed = (claim.arms[name].published or {}).get(expectation.measurement)
        if printed is not None and printed.n is not None:
            sizes[name] = printed.n
    return sizes


def _note(found: Assessment, on_power: str, *, looks: bool) -> str:
    """Why there is no power, and what to know about it or about what can be found."""
    if found.not_computed:
        why = f"{fmt.upper_first(found.not_computed)}."
        return why if found.minimum_detectable is None else f"{why} {on_power}".strip()
    if found.power is None:
        return ""
    how = f"The power is {FIXED}." if looks else ""
    if found.monte_carlo_error:
        how = f"The power is simulated, with a standard error of {found.monte_carlo_error:.3f}."
    return f"{how} {on_power}".strip()


def _stops(whole: Assessment, claim: Claim, assumed: str) -> str:
    """How many seeds an e-process takes, and with which prior it would take fewer."""
    declared, found = claim.context().looks.get("g"), whole.stopping
    if found is None or whole.stops_at is None or declared is None:
        return ""
    truth = assumed or f"a difference of {fmt.significant(whole.stops_at)}"
    seeds, fewest = fmt.fixed(found.mean, 1), fmt.fixed(found.best_mean, 1)
    if found.best_g == declared or seeds == fewest:
        prior = f"The prior suits it: g = {fmt.setting(declared)}"
    else:
        prior = f"With g = {fmt.setting(found.best_g)} it would take {fewest}"
    most = f"by {found.nine_in_ten} in nine cases of ten"
    if found.nine_in_ten is None:
        all_of_them = claim.seeds.max or claim.seeds.plan
        most = f"{all_of_them} are too few in more than one case of ten"
    average = f"If the truth is {truth}, it stops after {seeds} seeds per arm on average"
    return f"{average}, and {most}. {prior}."


def _scatter(expectation: Expectation, claim: Claim) -> Scatter:
    """What the claim plans with, else what the paper prints for the arms of this expectation."""
    planned = claim.planned_sd.get(expectation.measurement)
    kind = kind_of(expectation)
    relative = kind.scale(expectation) in ("ratio", "relative")
    paired = kind.plans_effects or (claim.design == "paired" and kind.paired)
    key = f"{'relative_' if relative else ''}sd{'_of_differences' if paired else ''}"
    if planned is not None:
        size: float | None = getattr(planned, key)
        if size is not None:
            return Scatter((size,), planned.why)
    lacking = "the claim plans no {} of '{}' (planned_sd)"
    if planned is not None or paired:
        return Scatter((), "", lacking.format(key, expectation.measurement))
    for printed in claim.published if claim.scale == "paper" else ():
        if printed.expectation == expectation.id and (
            sds := _printed(expectation, printed, relative=relative)
        ):
            return Scatter(sds, printed.locator)
    return Scatter((), "", lacking.format("scatter", expectation.measurement))


def _printed(expectation: Expectation, printed: Published, *, relative: bool) -> tuple[float, ...]:
    """The printed standard deviations of its arms, as shares of the means where it needs them."""
    sds = []
    for name in expectation.of:
        arm = printed.arms.get(name)
        if arm is None or arm.sd is None:
            return ()
        size = abs(float(arm.mean)) if relative else 1.0
        if size == 0:
            return ()  # no share of nothing
        sds.append(float(arm.sd) / size)
    return tuple(sds)


def _effect(expectation: Expectation, claim: Claim) -> tuple[float | None, str]:
    """The effect to plan for, positive as claimed: the printed one, or none where 0 is claimed."""
    kind = kind_of(expectation)
    assumed = kind.assumes(expectation)
    if assumed or claim.scale != "paper" or len(expectation.of) != 2:
        return None, assumed
    for printed in claim.published:
        arms = [printed.arms.get(arm) for arm in expectation.of]
        if printed.expectation == expectation.id and all(arms):
            a, b = (float(arm.mean) for arm in arms if arm)
            effect = kind.effect_of_means(expectation, a, b)
            return effect, "" if effect is None else f"as printed in {printed.locator}"
    return None, ""
