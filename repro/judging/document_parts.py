"""Parts of the report document about how a judgement was reached, and what it hangs on."""

from __future__ import annotations

import math
from typing import Literal

from repro.expectations.verdict_words import Conclusion
from repro.schema.base import Spec

Stop = Literal["confirmed", "contradicted", "trivial", "futile", "go on"]

Choice = Literal[
    "declared",
    "test",
    "quantity",
    "design",
    "scale",
    "prior",
    "seed",
    "task",
    "tolerance",
    "schedule",
    "measurement",
]
"""``test``: another one of the same quantity; ``quantity``: a test of another one; ``design``:
independent arms where pairs were declared."""


def finite(value: float | None) -> float | None:
    """A number as a document holds it: an end that is infinite is absent."""
    return value if value is not None and math.isfinite(value) else None


class Strength(Spec):
    """How strong a conclusion is: how often tests would draw it where it is not true, at most.

    ``one_sided_level`` is absent where nothing is left to chance, as in a bound that every seed
    keeps. ``tails`` is 2 for a claim of *different*, which may err on both sides: the level is
    that of both together. ``looks``: ``one``, all ``planned`` ones, or ``every`` one, however
    one stops. ``family`` is how the level was kept over several claims, and absent for one.
    """

    one_sided_level: float | None
    tails: Literal[1, 2] = 1
    looks: Literal["one", "planned", "every"] = "one"
    family: Literal["holm", "bh", "e_bh"] | None = None


class ComponentPart(Spec):
    """One source of variation of an arm: how many levels it had, and the scatter that it makes.

    ``sd`` is in the units of the measurement, 0 where the estimate is negative (``truncated``);
    ``share`` of the variance of a run whose every source is redrawn. ``low`` and ``high`` bound
    ``sd`` as a multiple of that of the rest; without ``low`` there is no interval, and an upper end
    that is absent is infinite.
    """

    source: str
    levels: int
    sd: float
    share: float
    truncated: bool
    low: float | None
    high: float | None


class VariationPart(Spec):
    """Where the scatter of an arm comes from: its sources, and what no source explains.

    ``refused`` says why it is not told apart. ``nested``: each source lies within the one before.
    """

    arm: str
    measurement: str
    sources: tuple[ComponentPart, ...] = ()
    rest_sd: float | None = None
    rest_share: float | None = None
    nested: bool = False
    refused: str = ""


class Analysis(Spec):
    """One admissible analysis of an expectation: what was chosen, and what it concludes.

    ``effect`` and the interval are in the units of the declared analysis; absent where this one
    has other units. ``conclusion`` is absent where the analysis refuses the evidence, and
    ``refused`` says why. ``declared`` marks the one that the verdict uses.
    """

    choice: Choice
    name: str
    effect: float | None
    low: float | None
    high: float | None
    p: float | None
    conclusion: Conclusion | None
    refused: str = ""
    declared: bool = False


class Robustness(Spec):
    """All admissible analyses of one decisive expectation, the declared one first."""

    expectation: str
    analyses: tuple[Analysis, ...]


class DesignPart(Spec):
    """What the declared design could find, for one expectation, at the planned scatter.

    ``sd`` is the standard deviation that was planned with, and ``sd_source`` where it comes
    from. ``power`` is the chance to confirm ``assumed_effect``; ``minimum_detectable`` the effect
    that is found in four of five repetitions; the seeds are for 80 and 90 % power. Absent:
    not computed, and ``note`` says why. ``refused``: why the design cannot decide.
    """

    expectation: str
    seeds: int
    sd: tuple[float, ...]
    sd_source: str
    assumed_effect: str
    power: float | None
    minimum_detectable: float | None
    seeds_80: int | None
    seeds_90: int | None
    note: str = ""
    refused: str = ""


class LookPart(Spec):
    """One look at the seeds so far: ``e`` or ``p`` at this look, and the confidence sequence."""

    seeds: int
    e: float | None
    p: float
    low: float | None
    high: float | None
    conclusion: Conclusion


class SequentialPart(Spec):
    """All looks of one expectation; ``crossing`` is the number of seeds that decided it first.

    ``bound`` is what e must reach (above 1), or what p, which allows for all looks, must not
    exceed: planned looks and margins, whose e-values are one-sided, are decided by p.
    ``stop`` says whether more seeds are of use: a decision, ``futile`` or ``go on``.
    ``order``: the looks were ``observed``, follow from the order that a table ``declared``, or are
    ``unknown``: then all seeds were judged at once, and that is the only look.
    """

    expectation: str
    method: Literal["eprocess_t", "group_obf"]
    bound: float
    looks: tuple[LookPart, ...]
    order: Literal["observed", "declared", "unknown"] = "observed"
    crossing: int | None
    stop: Stop
    sensitivity: dict[str, float]


class Edit(Spec):
    """A change of the claim's decisive fields after it was first registered.

    ``paths`` are the fields that changed; ``after_results`` whether results were visible.
    """

    paths: tuple[str, ...]
    after_results: bool


class RegistrationPart(Spec):
    """When the decisive fields were fixed, relative to the results: never the time itself.

    ``state``: ``before`` the first result was visible, ``after`` it, ``none`` on record, or
    ``exploratory``: written from the results themselves.
    ``earlier_processes`` are sequential processes of other versions of the claim. ``on_record``
    is false where this could not be written down, as in a store that can only be read.
    """

    state: Literal["before", "after", "none", "exploratory"]
    digest: str
    edits: tuple[Edit, ...]
    earlier_processes: int = 0
    on_record: bool = True


class ControlPart(Spec):
    """A negative control over all its nights: how often a difference was found where none is."""

    nights: int
    found: int
    alpha: float
    low: float
    high: float


class FamilyMember(Spec):
    """One claim of a family: its evidence before and after the adjustment."""

    claim: str
    judged: bool
    value: float | None
    adjusted: float | None


class FamilyPart(Spec):
    """The family that this claim is judged in; ``value`` of a member is p, or e for e-BH."""

    name: str
    method: Literal["holm", "bh", "e_bh"]
    why: str
    members: tuple[FamilyMember, ...]


class ReplicationPart(Spec):
    """Our effect and the paper's, by the measures of replication research.

    Effects are differences (or logarithms of ratios, when ``scale`` says so). An interval end
    that is absent is infinite or does not exist. The sceptical p-values are one-sided.
    """

    scale: Literal["difference", "ratio"]
    original: float
    ours: float
    prediction: tuple[float, float]
    inside: bool
    effect_ratio: float | None
    effect_ratio_low: float | None
    effect_ratio_high: float | None
    same_sign: bool
    significant: bool
    original_in_interval: bool
    detectable: float | None
    telescope_p: float | None
    sceptical_nominal: float | None
    sceptical_golden: float | None
    sceptical_controlled: float | None
    pooled: float
    pooled_low: float
    pooled_high: float
    q: float
    q_p: float
    notes: tuple[str, ...] = ()


class LevelPart(Spec):
    """A measured error rate of a test where it loses its level, near the present design."""

    expectation: str
    test: str
    text: str


class RankOfArm(Spec):
    """The mean rank of an arm over the tasks; 1 is best in all."""

    arm: str
    rank: float


class RanksPart(Spec):
    """Mean ranks of all arms over the tasks of a measurement, as context: they decide nothing.

    ``chi_squared`` and ``p`` are Friedman's, corrected for ties; ``f`` (absent where infinite) and
    ``p_of_f`` those of Iman and Davenport; ``critical_difference`` is Nemenyi's, at ``level``.
    """

    measurement: str
    tasks: int
    arms: tuple[RankOfArm, ...]
    chi_squared: float
    p: float
    f: float | None
    p_of_f: float
    critical_difference: float
    level: float
