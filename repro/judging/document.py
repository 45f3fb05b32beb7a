"""The report document: what `report.json` holds, and what every rendering is a function of.

Numbers are raw here; `repro.report.view` turns them into text once, for all formats.
`provenance` holds everything that derives from time or machine, and nothing else does: two
documents of the same claim and the same runs are equal outside it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from repro.expectations.base import EffectScale, IntervalPart, LimitPart, Point, Side
from repro.expectations.verdict_words import Agreement, Conclusion, Validity
from repro.judging.document_parts import (
    ControlPart,
    DesignPart,
    FamilyPart,
    LevelPart,
    RanksPart,
    RegistrationPart,
    ReplicationPart,
    Robustness,
    SequentialPart,
    Strength,
    VariationPart,
)
from repro.registry.verdicts import KeptVerdict
from repro.schema.base import Name, Spec


class SourcePart(Spec):
    """Where the claim is printed."""

    paper: str
    citation: str
    locator: str
    quote: str


class AuthorPart(Spec):
    """Why the author of its file claims it; no paper prints it."""

    own: str


class ClaimPart(Spec):
    """The claim as declared; ``digest`` is of its decisive fields, ``unit`` names a replicate."""

    id: str
    title: str
    source: SourcePart | AuthorPart
    file: str
    digest: str
    design: Literal["independent", "paired"]
    unit: str = "seed"


class ScalePart(Spec):
    """How large the claim was run; ``notice`` says in plain words what that means.

    ``name`` is `declared` where the claim names no scales.
    """

    name: Name
    notice: str


class FlagPart(Spec):
    """A reason why a verdict is fragile."""

    kind: str
    text: str


class VerdictPart(Spec):
    """The verdict in its three fields, never one word; conclusion only when VALID.

    ``sentence`` says why in one sentence. ``expected`` is what the claim file declares for this
    scale (absent: nothing declared, CONFIRMED counts as expected), ``expected_why`` its reason.
    ``strength`` is that of the weakest part of the claim.
    """

    validity: Validity
    validity_reason: str
    conclusion: Conclusion | None
    agreement: Agreement
    agreement_reason: str
    flags: tuple[FlagPart, ...]
    sentence: str
    expected: str
    expected_why: str
    as_expected: bool
    strength: Strength | None = None


class MeasurementPart(Spec):
    """A measurement: ``key`` joins it to values; ``digits`` after the point when printed.

    ``formula`` says how it follows from others of the same run, where it does. Values of
    ``censored_at`` are of runs that did not get there in their budget.
    """

    key: str
    label: str
    kind: str
    better: Literal["lower", "higher"]
    digits: Annotated[int, Field(ge=0, le=100)]
    formula: str = ""
    censored_at: float | None = None


class SummaryPart(Spec):
    """Values over the replicates of one arm; sd has n - 1 and is absent for n = 1.

    Over runs of several tasks the mean is that of the tasks' means, and there is no sd.

    For a published arm these are the printed numbers, without a range, and n may be unknown;
    ``as_printed`` is how they are printed, digit by digit.
    """

    measurement: str
    n: int | None
    mean: float
    sd: float | None
    geometric_mean: float | None
    low: float | None
    high: float | None
    as_printed: str | None = None


class ReplicatePart(Spec):
    """One replicate: its number, state and its values by measurement key.

    ``key`` is that of its run, empty for a row of a table. ``imputed``: it diverged, and counts
    as worse than any that finished. ``task`` is that of its values, where there are several.
    """

    number: int
    key: str
    state: Literal["finished", "diverged", "missing", "excluded", "imputed"]
    values: dict[str, float]
    task: str = ""


class Assumption(Spec):
    """A value that no paper prints, and why it was chosen."""

    path: str
    value: str
    why: str


class SearchPart(Spec):
    """How many settings were tried before an arm's were chosen, on which split, and who says so."""

    settings: int
    selected_on: Literal["valid", "test", "not stated"]
    source: str


class TableFilePart(Spec):
    """The table that values were read from: its name, and the SHA-256 of its bytes."""

    file: str
    sha256: str


class ReadFilesPart(TableFilePart):
    """The files that an import read: ``sha256`` is that of all together, ``files`` has each's."""

    files: dict[str, str]


class Code(Spec):
    """Code from outside repro that an arm was trained with: `module:object`, and its version."""

    use: str
    version: str


class ParametersOfPart(Spec):
    """How many parameters a part of a model has."""

    part: str
    parameters: int


class ArmPart(Spec):
    """One side of a comparison, where its values are from, and its replicates.

    ``configuration``, its ``source``, ``parameters``, also by part, and ``training`` are declared
    of an arm that is trained; values that come from a ``table`` are only said to be of that
    training.
    ``evidence`` is ``runs``, ``table`` or ``published``, or what a source of others is called.
    ``code`` is what is needed of others to train it. ``tuning`` is absent where nothing is stated
    of a search for its settings. ``measured`` are the settings of measurements that not all arms
    share, by measurement. ``planned`` is the number of seeds that the claim plans.
    """

    id: str
    label: str
    evidence: str = "runs"
    table: ReadFilesPart | TableFilePart | None = None
    planned: int | None = None
    configuration: str | None
    parameters: int | None
    parameters_by_part: tuple[ParametersOfPart, ...] = ()
    bound: int | None = Field(alias="rank_bound")
    source: str | None
    assumed: tuple[Assumption, ...]
    tuning: SearchPart | None = None
    code: tuple[Code, ...] = ()
    training: dict[str, Any]
    measured: dict[str, Any] = {}
    replicates: tuple[ReplicatePart, ...]
    summaries: tuple[SummaryPart, ...]

    @property
    def tasks(self) -> int:
        """How many tasks its replicates are of; 0 where they have none."""
        return len({run.task for run in self.replicates if run.task})

    @property
    def trained(self) -> bool:
        """Whether its values are those of runs."""
        return self.evidence == "runs"

    @property
    def tabled(self) -> bool:
        """Whether its values were made elsewhere, one per seed."""
        return not (self.trained or self.printed)

    @property
    def printed(self) -> bool:
        """Whether printed numbers are all that is known."""
        return self.evidence == "published"


class LeftOut(Spec):
    """The conclusion without one replicate of one arm; absent where ``refused`` says why."""

    arm: str
    replicate: int
    conclusion: Conclusion | None
    refused: str = ""


FEW_SEEDS = "few_seeds"
"""The fact of a result that says what so few seeds cannot show; a report has it once, in sight."""


class Result(Spec):
    """One tested expectation.

    ``scale`` is that of effect, interval and limits: a ``difference`` of means, one ``relative``
    to the mean of b, a ``ratio``, a ``correlation``, a ``share``, or ``none`` for exact
    statements (separation, bound). ``digits`` are those after the point of a difference, or of a
    relative one in percent; absent on other scales, and in older reports, which have those of the
    measurement. ``claimed`` is the side of the limits where the claim says the effect lies.
    ``sentence`` is the finding in one sentence, ``statement`` what was declared. ``against`` and
    ``points`` belong to associations: the other measurement, and the points.
    ``ordered``: the arms stand in an order that is declared.
    ``strength`` goes with the conclusion, and is absent where there is none. ``p`` is that of what
    is claimed and ``p_against`` that of the contrary, where the test has one.
    """

    id: str
    kind: str
    role: Literal["decisive", "context"]
    statement: str
    measurement: str
    against: str | None = None
    arms: tuple[str, ...]
    ordered: bool = False
    test: str
    alpha: float
    scale: EffectScale
    digits: Annotated[int, Field(ge=0, le=100)] | None = None
    effect_label: str
    effect: float | None
    interval: IntervalPart | None
    limits: tuple[LimitPart, ...]
    claimed: Side
    p: float | None
    p_against: float | None = None
    df: float | None
    conclusion: Conclusion | None
    sentence: str
    smallest_confirmable_margin: float | None
    left_out: tuple[LeftOut, ...]
    points: tuple[Point, ...] = ()
    details: dict[str, str]
    strength: Strength | None = None


class JudgedControl(Spec):
    """A control: something whose outcome is known beforehand."""

    id: str
    statement: str
    expected: str
    measured: str
    state: Literal["passed", "flagged", "failed", "missing"]


class CurveMarkPart(Spec):
    """A threshold on a curve, or a rank that no threshold decides: one a replicate.

    ``measurement`` is the one that it is of, where the claim has it.
    """

    label: str
    measurement: str = ""
    tolerances: tuple[float, ...] = ()
    ranks: tuple[float, ...] = ()


class CurvePart(Spec):
    """rank(tolerance) of one arm: one row of counts a replicate.

    ``tolerances`` are relative to the largest singular value; ``threshold`` is Press's. ``apart``:
    there is no spectrum, and nothing is known between the tolerances.
    """

    arm: str
    measurement: str
    settings: tuple[float, ...] = Field(alias="tolerances")
    values: tuple[tuple[int, ...], ...] = Field(alias="ranks")
    declared: float = Field(alias="threshold")
    marks: tuple[CurveMarkPart, ...] = ()
    apart: bool = False

    @model_validator(mode="after")
    def _one_rank_a_tolerance(self) -> Self:
        if any(len(row) != len(self.settings) for row in self.values):
            raise ValueError("every row of ranks has one count a tolerance")
        return self


class ScaleStep(Spec):
    """Something that would change or sharpen the verdict, with the command for it if any."""

    text: str
    command: str | None


class Document(Spec):
    """One judged claim at one scale."""

    schema_version: Literal[1] = Field(alias="schema")
    claim: ClaimPart
    scale: ScalePart
    verdict: VerdictPart
    measurements: tuple[MeasurementPart, ...]
    results: tuple[Result, ...]
    arms: tuple[ArmPart, ...]
    canaries: tuple[JudgedControl, ...]
    curves: tuple[CurvePart, ...]
    published: tuple[PublishedPart, ...]
    changes: tuple[ScaleStep, ...]
    robustness: tuple[Robustness, ...] = ()
    design: tuple[DesignPart, ...] = ()
    sequential: tuple[SequentialPart, ...] = ()
    registration: RegistrationPart | None = None
    control: ControlPart | None = None
    family: FamilyPart | None = None
    levels: tuple[LevelPart, ...] = ()
    variation: tuple[VariationPart, ...] = ()
    mean_ranks: tuple[RanksPart, ...] = ()
    provenance: Provenance


class CostPart(Spec):
    """What training cost, of the runs of an arm of which it is known.

    ``flops`` are counted, for a token; ``seconds_per_epoch`` and ``tokens_per_second`` are
    means over ``runs``, and ``peak_memory``, in bytes, is the largest.
    """

    arm: str
    runs: int
    flops: float | None
    seconds_per_epoch: float | None
    tokens_per_second: float | None
    peak_memory: int | None


class HistoryPart(Spec):
    """The last verdicts on this claim, oldest first, one for each time that it changed.

    The last is the present one. ``news``: it differs from the one before, so that it was written
    down now; ``note`` says why it could not be.
    """

    verdicts: Annotated[tuple[KeptVerdict, ...], Field(min_length=1)]
    news: bool
    note: str = ""

    @property
    def before(self) -> KeptVerdict | None:
        """The verdict whose word is another one now; None where the word is as it was."""
        if not self.news or len(self.verdicts) < 2:
            return None
        before, now = self.verdicts[-2:]
        return before if before.word != now.word else None

    @property
    def since(self) -> str:
        """When the word of the present verdict was first found, of those that are here."""
        *earlier, now = self.verdicts
        found = now.created
        for each in reversed(earlier):
            if each.word != now.word:
                break
            found = each.created
        return found


class Provenance(Spec):
    """Everything that derives from time or machine; never compared, never in a key.

    ``code_revision`` is the commit of the checkout that judged, where it was one, with `+` where
    its files were changed. ``checked`` is when the report was last found to be what would be made
    again; empty where it was made then. ``postponed`` says which runs did not fit in a budget of
    time.
    ``without_weights`` is how many runs were exported without their
    weights and spectra.
    """

    created: str
    checked: str = ""
    repro_version: str
    python: str
    packages: dict[str, str]
    platform: str
    processor: str
    cores: int
    devices: tuple[str, ...]
    threads_per_run: int
    run_seconds: dict[str, float]
    costs: tuple[CostPart, ...] = ()
    command: str
    without_weights: int = 0
    code_revision: str = ""
    history: HistoryPart | None = None
    postponed: tuple[str, ...] = ()


class PublishedArmPart(Spec):
    """Printed numbers of one arm, as the strings they were printed as."""

    arm: str
    mean: str
    sd: str | None
    n: int | None


class PublishedPart(Spec):
    """A printed comparison that an expectation is about, and whether ours agrees with it."""

    expectation: str
    locator: str
    arms: tuple[PublishedArmPart, ...]
    p: str | None
    agreement: Agreement
    reason: str
    replication: ReplicationPart | None = None
