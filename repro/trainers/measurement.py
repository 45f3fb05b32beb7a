"""What is measured on a trained model, as specifications; each has a key of its own in a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from repro.digest import digest
from repro.errors import DataError
from repro.plugins import load_object
from repro.results.series import BestBy, NumberName, Reduction, not_finite
from repro.schema.base import Censored, Count, ObjectName, Positive, Size, Spec
from repro.schema.messages import Words
from repro.schema.value_scale import ValueScale, scale_mistakes
from repro.trainers.base import LEAST_TOKENS, Training, revisions_of, too_short
from repro.trainers.curve import Curve, CurveMark, CurveWords

if TYPE_CHECKING:
    from numpy import ndarray

Split = Literal["train", "valid", "test"]

NAMES: dict[Split, str] = {"train": "training", "valid": "validation", "test": "test"}
"""What a reader calls a split."""

LARGEST = 2**53
"""Counts beyond this have no float64 of their own."""

MOST_DIGITS = 12

Natural = Annotated[int, Field(ge=0, le=LARGEST)]


class DivergedError(DataError):
    """A run has no value of a measurement, which counts as a divergence of the run."""


class Details(BaseModel):
    """What a measurement says beside its value; there may be more than is known here."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    def contradiction(self, value: float) -> str:
        """Why the value cannot be that of these details; empty where it can."""
        return ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A number, small facts about it (JSON), and arrays worth keeping."""

    value: float
    details: dict[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, ndarray[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """A finished run, as a measurement sees it.

    ``model`` has the weights of the best checkpoint and is as it was afterwards; ``corpus`` is
    what its trainer read. In ``place``, where there is one, a measurement may keep what it goes on
    from after a stop, in a folder of the name of its key. A trainer adds what its models can be
    asked.
    """

    run: Any
    model: Any
    history: Sequence[Any]
    best_epoch: int
    corpus: Any
    device: Any
    place: Path | None = None


class MeasurementSpec(Spec):
    """What is measured, as a claim declares it, how, and all that others must know of it.

    A field is part of its key in a store. All but ``measure`` have an answer that suits most
    measurements, in the order of those who ask.
    """

    # --- every measurement answers these ---

    kind: str

    if TYPE_CHECKING:  # each has them, as a field or as a property

        @property
        def label(self) -> str:
            """What a reader calls it."""

        @property
        def better(self) -> Literal["lower", "higher"]:
            """Which direction is an improvement."""

        @property
        def digits(self) -> int:
            """Digits after the point that a reader sees, as in the papers."""

    trainers: ClassVar[tuple[str, ...]] = ()
    """Those whose runs it is taken of; a number without any is not measured here."""

    def measure(self, subject: Any) -> Measured:
        """Take it of a finished run; torch is imported here, for the class loads without it."""
        raise NotImplementedError(f"{self.kind} is not measured here")

    # --- loading a claim asks ---

    controls: ClassVar[tuple[str, ...]] = ()
    """The kinds of controls without which no expectation may rest on it."""

    bounded: ClassVar[bool] = False
    """Whether the structure of a model may bound its values."""

    @property
    def made_of(self) -> tuple[str, ...]:
        """The names of the measurements of a claim from whose values, run by run, it follows."""
        return ()

    def mistakes(self) -> Iterator[tuple[str, Words]]:
        """The key of each setting that gives it no value, and what to say of it."""
        yield from ()

    @property
    def named_arms(self) -> Mapping[str, tuple[str, ...]]:
        """By key, the arms of a claim for which it has other settings."""
        return {}

    def of_arm(self, arm: str) -> Self:
        """As it is taken of an arm: with the settings for that arm alone."""
        del arm
        return self

    def taken_of(self, training: Training) -> bool:
        """Whether the runs of a training have it."""
        return training.trained_by in self.trainers

    def unsuited(self, training: Training, whose: str) -> Iterator[tuple[str, Words]]:
        """The key of each setting that the runs of a training cannot have, and what to say.

        The key is empty where it is said of the whole measurement.
        """
        if self.taken_of(training):
            yield from self.misfits(training, whose)
        else:
            mistake = f"{whose} is {training.noun}, which has no {self.kind}"
            yield "kind", (mistake, "what it has", "measure something else, or name other arms")

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """The same of a training that has it, and whose settings or corpus do not suit it."""
        yield from ()

    def bound(self, training: Training) -> int | None:
        """The largest value that the structure of a model lets it have, where one is known."""
        return None

    # --- planning asks ---

    def cost(self, training: Training) -> float:
        """Floating-point operations that it takes, roughly."""
        return 0.0

    def shares_work(self, other: MeasurementSpec) -> bool:
        """Whether most of its work is done once ``other`` is measured on the same model."""
        return False

    def memory(self, training: Training) -> float:
        """Bytes that it holds beside the weights of the model, roughly."""
        return 0.0

    def stored(self, training: Training) -> float:
        """Bytes of what it leaves in a store."""
        return 0.0

    def lacking(self, training: Training, data: Path | None) -> str:
        """The first thing that is wrong with what it reads below ``data``; or nothing."""
        return ""

    # --- the store asks ---

    @property
    def key(self) -> str:
        """Its name inside a run: kind and the head of its digest; another in another revision."""
        document = self.model_dump(mode="json", exclude_none=True)
        document.update(revisions_of([self.kind]))
        return f"{self.kind}-{digest(document)[:16]}"

    Details: ClassVar[type[Details]] = Details
    """The class by which its details are checked."""

    lies_open: ClassVar[bool] = False
    """Whether it can be read in what a run leaves, also where it was not taken."""

    @property
    def sources(self) -> tuple[MeasurementSpec, ...]:
        """The measurements from which it follows by ``derive``; none: it is taken of a model."""
        return ()

    def derive(self, *found: Measured) -> Measured:
        """What follows from what its sources left in the store, given in their order."""
        raise NotImplementedError(f"{self.kind} follows from nothing else")

    # --- judging asks ---

    readings: ClassVar[Mapping[str, str]] = {}
    """Other values of it among its details, each with the words that follow "at"."""

    logarithmic: ClassVar[bool] = False
    """Whether its values are compared by their ratio."""

    @property
    def censored_at(self) -> float | None:
        """From which value on it says only that it is as large, or larger; None where nowhere."""
        return None

    @property
    def value_scale(self) -> ValueScale | None:
        """The values that it can have, where they are declared."""
        return None

    def least_step(self) -> float | None:
        """The step between values that can be told apart, where it is declared."""
        return None

    def at_scatter(self, scatter: float) -> Self:
        """Itself, with as many digits as values of this standard deviation need."""
        return self

    def largest(self, details: Mapping[str, Any]) -> int | None:
        """The largest value that it could have had where it was taken, where one is known."""
        return None

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """Whether ``other`` is the same but for the held-out split that it reads."""
        return False

    def from_history(self) -> tuple[str, Callable[[float], float]] | None:
        """The value of another epoch: its name, and how it follows from validation perplexity."""
        return None

    @property
    def caution(self) -> str:
        """Why its values should be read with caution, as a sentence after its label; or nothing."""
        return ""

    def caution_under(self, name: str) -> str:
        """As ``caution``, of a measurement that a claim has under this name."""
        del name
        return self.caution

    # --- reports and `repro measure` ask ---

    def formula(self, measurements: Mapping[str, MeasurementSpec]) -> str:
        """How it follows from these, by their labels; empty where it does not."""
        return ""

    curve_words: ClassVar[CurveWords] = CurveWords()
    """The words of its curves."""

    def curve(self, details: Mapping[str, Any]) -> Curve | None:
        """What it would have been under other settings, where it has any."""
        return None

    def curve_mark(self, details: Mapping[str, Any], value: float) -> CurveMark | None:
        """Where its ``value`` stands on the curve of its source, which left these ``details``."""
        return None

    by_context: ClassVar[tuple[str, str]] = ("", "contexts")
    """The array of a number for each context, the same for every model; such contexts, in words."""

    def remarks(self, details: Mapping[str, Any]) -> Iterator[str]:
        """What `repro measure` tells of the details below the value, a line each."""
        yield from ()


class MeasurementByCode(MeasurementSpec):
    """A measurement that is not built in.

    ``use`` is where its code is, `module:object`, and ``version`` that in which it is here: both
    are in its key, so that it is taken again when it is changed.
    """

    use: ObjectName
    version: Annotated[str, Field(min_length=1, max_length=100)] = ""


class OwnMeasurement(MeasurementByCode):
    """A measurement that is not built in, as a class: its fields are its keys in a claim."""

    better: ClassVar[Literal["lower", "higher"]] = "lower"
    digits: ClassVar[int] = 2


class FunctionMeasurement(MeasurementByCode):
    """A measurement that is a function: of the folder with what was kept of a program, a number.

    ``label``, ``better`` and ``digits`` are as in a reported number.
    """

    trainers: ClassVar[tuple[str, ...]] = ("command",)

    kind: Literal["function"] = "function"
    label: Annotated[str, Field(min_length=2, max_length=60)]
    better: Literal["lower", "higher"]
    digits: Annotated[int, Field(ge=0, le=MOST_DIGITS)] = 2

    def measure(self, subject: KeepsFiles) -> Measured:
        """What the function says of what was kept."""
        with subject.unpacked() as folder:
            found = load_object(self.use)(folder)
        try:
            value = float(found)
        except (TypeError, ValueError, OverflowError):
            raise DataError(
                f"{self.use}: it gave {str(found)[:100]!r}, which is no number\n"
                "  expected: a number of the run\n  to do: correct the function"
            ) from None
        if not math.isfinite(value):
            raise not_finite(f"{self.use} is not finite")
        return Measured(value)


class OthersMeasurement(MeasurementSpec):
    """A measurement that is not built in; what it declares are its other keys.

    ``use`` names its class, `module:object`, or a function of what a program left. A measurement
    that an installed package adds is named by ``kind``, as those that are built in.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra={"required": ["use"]})

    kind: str = ""
    use: ObjectName = ""

    @property
    def label(self) -> str:
        return self.use or self.kind


class OfSplit(MeasurementSpec):
    """A measurement of a split of the corpus, which is read in ``batch_size`` parallel streams."""

    if TYPE_CHECKING:  # each has them, in the order of its keys
        split: Split
        batch_size: int

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """A text must fill its streams; responses are read one by one."""
        if training.in_streams:
            streams = self.batch_size
            yield from too_many_streams("batch_size", streams, training, self.split, whose)
        elif self.batch_size != 1:
            mistake = f"batch_size changes nothing of {whose}: responses are read one by one"
            yield "batch_size", (mistake, "no batch_size", "leave it out")

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """All but the split is equal, and neither was trained on."""
        if not isinstance(other, type(self)):
            return False
        held_out = "train" not in (self.split, other.split)
        return held_out and self.model_copy(update={"split": other.split}) == other


def too_many_streams(
    key: str, streams: int, training: Any, split: Split, whose: str
) -> Iterator[tuple[str, Words]]:
    """What to say of a split that is read in more streams than it fills."""
    tokens = training.tokens(split)
    if tokens // streams < LEAST_TOKENS:
        yield "", too_short(f"{key}, for {whose},", streams, tokens, split)


def with_sources(measurements: Iterable[MeasurementSpec]) -> tuple[MeasurementSpec, ...]:
    """The measurements, each after those from which it follows."""
    groups = ((*with_sources(each.sources), each) for each in measurements)
    return tuple(dict.fromkeys(each for group in groups for each in group))


class KeepsFiles(Protocol):
    """A finished run of a program, of which files were kept."""

    def unpacked(self) -> AbstractContextManager[Path]:
        """A folder with them, by the names that they had; while within."""


class LeavesNumbers(Protocol):
    """A finished run of a program, as a measurement sees it."""

    def number(self, name: str, reduction: Reduction | None) -> Measured:
        """The number of that name; of a series the one that the reduction chooses. Or DataError."""


class DeclaredMeasurement(MeasurementSpec):
    """A number that is not measured here, so that its claim says what it is and how to show it.

    ``digits`` are the fewest after the point that a reader sees.
    """

    label: Annotated[str, Field(min_length=2, max_length=60)]
    better: Literal["lower", "higher"]
    digits: Annotated[int, Field(ge=0, le=MOST_DIGITS)] = 2

    def at_scatter(self, scatter: float) -> Self:
        """With two digits of the scatter's own, where it is less than one in the last digit."""
        if not 0 < scatter < 10.0**-self.digits:
            return self
        digits = min(MOST_DIGITS, 1 - math.floor(math.log10(scatter)))
        return self.model_copy(update={"digits": digits})


class Reported(DeclaredMeasurement):
    """A number that is not measured here: from a table, printed in a paper, or left by a program.

    ``from`` is its name in the results of a program, ``reduce`` which of a series of them it is.
    ``granularity`` is the step between values that can be told apart: 0.01 for an accuracy in
    percent of 10,000 examples. Where it is absent, it is guessed from the values. ``censored`` is
    the budget of a time: the values of runs that did not get there. ``range`` are the least and
    the largest value that can be, such as [0, 1]; a value outside is refused. ``items`` says that a
    value is the share of so many that a run got right, from the one end of the range to the other.
    """

    lies_open: ClassVar[bool] = True

    kind: Literal["reported"]
    granularity: Positive | None = None
    range: tuple[Size, Size] | None = None
    items: Count | None = None
    from_: Annotated[NumberName | None, Field(alias="from")] = None
    reduce: Reduction | None = None
    censored: Censored | None = None

    @model_serializer(mode="wrap")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = handler(self)
        found = {"from": document.pop("from_", None)}
        found |= {key: document.pop(key, None) for key in ("range", "items", "reduce", "censored")}
        return document | {key: value for key, value in found.items() if value is not None}

    @property
    def key(self) -> str:
        """As in MeasurementSpec, of what it is alone: a new label changes no number."""
        named = self.model_dump(mode="json", include={"kind", "from_", "reduce"})
        return f"{self.kind}-{digest(named)[:16]}"

    def taken_of(self, training: Training) -> bool:
        """Of the runs of a program, where it says which number it is."""
        return self.from_ is not None and training.leaves_numbers

    def measure(self, subject: LeavesNumbers) -> Measured:
        """The number that the program left."""
        return subject.number(self.from_ or "", self.reduce)

    def caution_under(self, name: str) -> str:
        """The best of a series looks better than the run would on new data."""
        series = self.from_ or name
        if not (isinstance(self.reduce, BestBy) and self.reduce.best_by == series):
            return ""
        best = "lowest" if self.reduce.better == "lower" else "highest"
        return (
            f"the {best} value in the series of each run is judged, chosen by that value itself, "
            "which flatters runs that scatter more."
        )

    def mistakes(self) -> Iterator[tuple[str, Words]]:
        """A range without values, and items whose steps are not known, or are declared twice."""
        yield from scale_mistakes(self.range, self.items, self.granularity)

    def least_step(self) -> float | None:
        return self.granularity if self.value_scale is None else self.value_scale.step

    @property
    def censored_at(self) -> float | None:
        return None if self.censored is None else self.censored.at

    @property
    def value_scale(self) -> ValueScale | None:
        low, high = self.range or (0.0, 0.0)
        return ValueScale(low, high, self.items, self.granularity) if low < high else None
