"""The design doctor: what could the declared seeds find, were the planned scatter the truth?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from repro.errors import ClaimError, DesignError
from repro.expectations.association import Association
from repro.expectations.base import EProcess
from repro.expectations.difference import Difference
from repro.expectations.exact import Bound, Separation
from repro.expectations.kinds import Expectation, kind_of
from repro.expectations.margins import Equivalence, NonInferiority, NonSuperiority
from repro.expectations.order import Ordering, Trend
from repro.expectations.proportion import Proportion
from repro.expectations.ratio import Ratio
from repro.expectations.sequential import is_sequential
from repro.judging.document_parts import DesignPart
from repro.specs.claim import Claim, Published
from repro.stats.planning import Assessment, PlannedTest, assess

NO_SCATTER = (Bound, Association, Proportion, Trend, Ordering)
"""Kinds whose power needs no standard deviation, or is not computed."""


MARGINS = (Equivalence, NonSuperiority, NonInferiority)


ONE_SIDED = (NonSuperiority, NonInferiority)


FEW_SPLITS = 100
"""Splits of both arms up to which the permutation test's own power is simulated."""


FIXED = "that of a single look at the largest number of seeds; a sequential test has less power"


@dataclass(frozen=True, slots=True)
class Scatter:
    """The planned standard deviations of both arms and where they come from; or why not."""

    sd: tuple[float, ...]
    source: str
    lacking: str = ""


def design_parts(claim: Claim) -> tuple[DesignPart, ...]:
    """What the planned seeds can find, for every decisive expectation."""
    return tuple(_part(one, claim) for one in claim.expectations if one.role == "decisive")


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
    try:
        found = assess(_planned(expectation, claim, scatter, seeds, effect))
    except ClaimError as error:
        found = Assessment(None, None, None, None, None, "", str(error))
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
        note=_note(expectation, claim, found),
        refused=found.refused,
    )


def _note(expectation: Expectation, claim: Claim, found: Assessment) -> str:
    """Why there is no power, or what to know of it, as a sentence."""
    if found.not_computed:
        return f"{found.not_computed[0].upper()}{found.not_computed[1:]}."
    if found.power is not None and _by_welch(expectation, claim):
        return "The power is that of Welch's t-test, whose t the permutation test uses."
    if found.monte_carlo_error:
        return f"The power is simulated, with a standard error of {found.monte_carlo_error:.3f}."
    looks = is_sequential(expectation, claim.context())
    return f"The power is {FIXED}." if looks and found.power is not None else ""


def _scatter(expectation: Expectation, claim: Claim) -> Scatter:
    """What the claim plans with, else what the paper prints for the arms of this expectation."""
    planned = claim.planned_sd.get(expectation.measurement)
    relative = isinstance(expectation, Ratio) or _relative_margin(expectation)
    paired = claim.design == "paired"
    wanted = f"{'relative_' if relative else ''}sd{'_of_differences' if paired else ''}"
    if planned is not None:
        size: float | None = getattr(planned, wanted)
        if size is not None:
            return Scatter((size,), planned.why)
    if planned is not None or paired:
        return Scatter(
            (), "", f"the claim plans no {wanted} of '{expectation.measurement}' (planned_sd)"
        )
    for printed in claim.published if claim.scale == "paper" else ():
        if printed.expectation == expectation.id and (
            sds := _printed(expectation, printed, relative=relative)
        ):
            return Scatter(sds, printed.locator)
    return Scatter(
        (), "", f"the claim plans no scatter of '{expectation.measurement}' (planned_sd)"
    )


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


def _relative_margin(expectation: Expectation) -> bool:
    margin = getattr(expectation, "margin", None)
    return margin is not None and margin.relative is not None


def _effect(expectation: Expectation, claim: Claim) -> tuple[float | None, str]:
    """The effect to plan for, positive as claimed: the printed one, or none where 0 is claimed."""
    if isinstance(expectation, MARGINS):
        return None, "no difference"
    if not isinstance(expectation, Difference | Ratio) or claim.scale != "paper":
        return None, ""
    for printed in claim.published:
        arms = [printed.arms.get(arm) for arm in expectation.of]
        if printed.expectation != expectation.id or not all(arms):
            continue
        a, b = (float(arm.mean) for arm in arms if arm)
        source = f"as printed in {printed.locator}"
        if isinstance(expectation, Ratio):
            return (a / b, source) if a > 0 and b > 0 else (None, "")
        sign = -1 if expectation.direction == "lower" else 1
        size = abs(a - b) if expectation.direction == "different" else sign * (a - b)
        return size, source
    return None, ""


def _planned(
    expectation: Expectation, claim: Claim, scatter: Scatter, seeds: int, effect: float | None
) -> PlannedTest:
    """The expectation as a planned test; ClaimError where nothing can be computed."""
    if not scatter.sd and not _without_scatter(expectation, claim):
        raise ClaimError(scatter.lacking)
    low, high = kind_of(expectation).region(expectation)
    kind: str = (
        "share"
        if isinstance(expectation, Bound) and expectation.share is not None
        else expectation.kind
    )
    alpha = claim.alpha
    if isinstance(expectation, Association) and expectation.direction is not None:
        alpha, low = alpha / 2, 0.0
    if isinstance(expectation, Difference) and expectation.tails == 1:
        alpha = 2 * alpha
    if isinstance(claim.sequential, EProcess) and isinstance(expectation, Difference):
        kind = "sequential"
    if isinstance(claim.sequential, EProcess) and isinstance(expectation, ONE_SIDED):
        kind, alpha, effect, low, high = (
            "sequential",
            2 * alpha,
            expectation.margin.size,
            None,
            None,
        )
    test = (
        expectation.method
        if isinstance(expectation, Association)
        else getattr(expectation, "test", "welch")
    )
    return PlannedTest(
        kind=kind,
        n=(_units(expectation, seeds),),
        sd=() if _without_scatter(expectation, claim) else scatter.sd[:2],
        alpha=alpha,
        test="welch" if _by_welch(expectation, claim) else test,
        effect=effect,
        low=low,
        high=high,
        paired=claim.design == "paired" and kind_of(expectation).paired,
    )


def _without_scatter(expectation: Expectation, claim: Claim) -> bool:
    return isinstance(expectation, NO_SCATTER) or (
        claim.design == "paired" and isinstance(expectation, Separation)
    )


def _by_welch(expectation: Expectation, claim: Claim) -> bool:
    """From five replicates on a permutation test has nearly the power of Welch's, whose t it uses.

    There (.771 and .767 at n = 5) its own would be simulated, split by split, and take minutes;
    with four it is simulated, for there Welch's is far too high (.607, where it has .473).
    """
    n = claim.seeds.plan
    if not isinstance(expectation, Difference) or expectation.test != "permutation":
        return False
    splits = math.comb(2 * n, n)
    return splits > FEW_SPLITS and expectation.tails / splits <= claim.alpha


def _units(expectation: Expectation, seeds: int) -> int:
    """Replicates an arm; of an association or a proportion its independent points or units.

    Of an association over replicates of several arms these are, at worst, the arms.
    """
    if isinstance(expectation, Association):
        return (
            len(expectation.of)
            if expectation.points == "arms" or len(expectation.of) > 1
            else seeds
        )
    if not isinstance(expectation, Proportion):
        return seeds
    if isinstance(expectation.clusters, int):
        return max(1, seeds // expectation.clusters)
    if isinstance(expectation.clusters, tuple):
        return len(expectation.clusters)
    return len(expectation.reads) if expectation.also else seeds
