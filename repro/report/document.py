"""The report document: what `report.json` holds, and what every rendering is a function of.

Numbers are raw here; `repro.report.view` turns them into text once, for all formats.
`provenance` holds everything that derives from time or machine, and nothing else does: two
documents of the same claim and the same runs are equal outside it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from repro.specs.base import Spec

DOCUMENT_SCHEMA = 1

ValidityWord = Literal["VALID", "INVALID", "INCOMPLETE", "STALE", "NOT-COMPARABLE"]
ConclusionWord = Literal["CONFIRMED", "CONTRADICTED", "INCONCLUSIVE", "TRIVIAL"]
AgreementWord = Literal["COMPATIBLE", "LARGER", "SMALLER", "OPPOSITE", "NOT-CHECKABLE"]


class Source(Spec):
    """Where the claim is printed."""

    paper: str
    citation: str
    locator: str
    quote: str


class ClaimPart(Spec):
    """The claim as declared. ``digest`` covers its decisive fields at this scale."""

    id: str
    title: str
    source: Source
    file: str
    digest: str
    design: Literal["independent", "paired"]


class ScalePart(Spec):
    """How large the claim was run; ``notice`` says in plain words what that means."""

    name: Literal["quick", "bench", "paper"]
    notice: str


class Flag(Spec):
    """A reason why a verdict is fragile."""

    kind: str
    text: str


class VerdictPart(Spec):
    """The verdict in its three fields, never one word; conclusion only when VALID.

    ``sentence`` says why in one sentence. ``expected`` is what the claim file declares for this
    scale (absent: nothing declared, CONFIRMED counts as expected), ``expected_why`` its reason.
    """

    validity: ValidityWord
    validity_reason: str
    conclusion: ConclusionWord | None
    agreement: AgreementWord
    agreement_reason: str
    flags: tuple[Flag, ...]
    sentence: str
    expected: str
    expected_why: str
    as_expected: bool


class MeasurementPart(Spec):
    """A measurement: ``key`` joins it to values; ``digits`` after the point when printed."""

    key: str
    label: str
    kind: Literal["perplexity", "rank"]
    better: Literal["lower", "higher"]
    digits: int


class Summary(Spec):
    """Values over the replicates of one arm; sd has n - 1 and is absent for n = 1."""

    measurement: str
    n: int
    mean: float
    sd: float | None
    geometric_mean: float | None
    low: float
    high: float


class Replicate(Spec):
    """One run: its number, key, state and its values by measurement key."""

    number: int
    key: str
    state: Literal["finished", "diverged", "missing", "excluded"]
    values: dict[str, float]


class Assumption(Spec):
    """A value that no paper prints, and why it was chosen."""

    path: str
    value: str
    why: str


class Arm(Spec):
    """One side of a comparison: its configuration, resolved, and its replicates."""

    id: str
    label: str
    configuration: str
    parameters: int
    rank_bound: int | None
    source: str
    assumed: tuple[Assumption, ...]
    training: dict[str, Any]
    replicates: tuple[Replicate, ...]
    summaries: tuple[Summary, ...]


class Interval(Spec):
    """A confidence interval; an end that is absent is infinite."""

    low: float | None
    high: float | None
    level: float


class Limit(Spec):
    """A declared limit on the effect axis of an expectation: a margin, a least ratio, zero."""

    value: float
    label: str
    why: str


class LeftOut(Spec):
    """The conclusion without one replicate of one arm; absent where too few are left to test."""

    arm: str
    replicate: int
    conclusion: ConclusionWord | None


class Result(Spec):
    """One tested expectation.

    ``scale`` is that of effect, interval and limits: a ``difference`` of means, a ``ratio``, or
    ``none`` for exact statements (separation, bound). ``claimed`` is the side of the limits
    where the claim says the effect lies. ``sentence`` is the finding in one sentence,
    ``statement`` what was declared.
    """

    id: str
    kind: str
    role: Literal["decisive", "context"]
    statement: str
    measurement: str
    arms: tuple[str, ...]
    test: str
    alpha: float
    scale: Literal["difference", "ratio", "none"]
    effect_label: str
    effect: float | None
    interval: Interval | None
    limits: tuple[Limit, ...]
    claimed: Literal["below", "above", "between", "none"]
    p: float | None
    df: float | None
    conclusion: ConclusionWord | None
    sentence: str
    smallest_confirmable_margin: float | None
    left_out: tuple[LeftOut, ...]
    details: dict[str, str]


class Canary(Spec):
    """A control: something whose outcome is known beforehand."""

    id: str
    statement: str
    expected: str
    measured: str
    state: Literal["passed", "flagged", "failed", "missing"]


class Curve(Spec):
    """rank(tolerance) of one arm: one row of counts a replicate.

    ``tolerances`` are relative to the largest singular value; ``threshold`` is Press's.
    """

    arm: str
    measurement: str
    tolerances: tuple[float, ...]
    ranks: tuple[tuple[int, ...], ...]
    threshold: float


class PublishedArm(Spec):
    """Printed numbers of one arm, as the strings they were printed as."""

    arm: str
    mean: str
    sd: str | None
    n: int | None


class Published(Spec):
    """A printed comparison that an expectation is about, and whether ours agrees with it."""

    expectation: str
    locator: str
    arms: tuple[PublishedArm, ...]
    p: str | None
    agreement: AgreementWord
    reason: str


class ScaleStep(Spec):
    """Something that would change or sharpen the verdict, with the command for it if any."""

    text: str
    command: str | None


class Provenance(Spec):
    """Everything that derives from time or machine; never compared, never in a key."""

    created: str
    repro_version: str
    python: str
    packages: dict[str, str]
    platform: str
    processor: str
    cores: int
    devices: tuple[str, ...]
    threads_per_run: int
    run_seconds: dict[str, float]
    command: str


class Document(Spec):
    """One judged claim at one scale."""

    schema_version: Literal[1] = Field(alias="schema")
    claim: ClaimPart
    scale: ScalePart
    verdict: VerdictPart
    measurements: tuple[MeasurementPart, ...]
    results: tuple[Result, ...]
    arms: tuple[Arm, ...]
    canaries: tuple[Canary, ...]
    curves: tuple[Curve, ...]
    published: tuple[Published, ...]
    changes: tuple[ScaleStep, ...]
    provenance: Provenance
