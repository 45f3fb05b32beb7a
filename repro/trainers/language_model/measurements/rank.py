"""Rank: the numerical rank of the matrix of log-probabilities, contexts x vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from repro.schema.base import Count, Name
from repro.schema.messages import Words
from repro.trainers.control import Control, ControlledArm, ControlOfDetails, ControlOutcome
from repro.trainers.curve import Curve, CurveMark, CurveWords, TurnedWords
from repro.trainers.measurement import (
    NAMES,
    Details,
    Measured,
    MeasurementSpec,
    Natural,
    OfSplit,
    Split,
)

Tolerance = Annotated[float, Field(ge=1e-60, le=1e60)]

Resolved = Annotated[float, Field(ge=3e-7, lt=1)]
"""A threshold that every Gram matrix resolves (`repro.rank.reduction`)."""


class KnownRankDetails(Details):
    """The control of a rank: a matrix of known rank, by the same reduction."""

    expected: Natural
    measured: Natural


class RankDetails(Details):
    """The matrix, Press's relative threshold, the ranks about it, and rank(tolerance).

    There is no ``tenth`` where float64 does not resolve a tenth of the threshold, and none of
    ``counts_only``, whose ``tolerances`` are all at which anything was counted.
    """

    rows: Annotated[Natural, Field(ge=1)]
    columns: Annotated[Natural, Field(ge=1)]
    relative_threshold: Tolerance
    tenth: Natural | None = None
    tenfold: Natural
    tolerances: tuple[Tolerance, ...]
    curve: tuple[Natural, ...]
    known_rank: KnownRankDetails
    counts_only: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(self.curve) != len(self.tolerances):
            raise ValueError(f"curve: {len(self.curve)} ranks at {len(self.tolerances)} tolerances")
        largest = min(self.rows, self.columns)
        points = [("curve", rank) for rank in self.curve]
        for name, rank in (("tenth", self.tenth), ("tenfold", self.tenfold), *points):
            if rank is not None and rank > largest:
                raise ValueError(f"{name}: a rank of {rank} of {self.rows} x {self.columns}")
        return self

    def contradiction(self, value: float) -> str:
        """No rank is above the smaller side of its matrix."""
        if 0 <= value <= min(self.rows, self.columns):
            return ""
        return f"a rank of {value:g} of {self.rows} x {self.columns}"


class OfRows(OfSplit):
    """A measurement of the first ``contexts`` rows that are read of a split (absent: all)."""

    if TYPE_CHECKING:  # each has it, in the order of its keys
        contexts: int | None

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """There must be as many contexts as are to be read, and a text must fill its streams."""
        yield from super().misfits(training, whose)
        rows, asked = training.predicted(self.split, self.batch_size), self.contexts
        if asked is not None and 0 < rows < asked:
            mistake = f"contexts is {asked:,}, and the {self.split} split of {whose} has {rows:,}"
            advice = "take fewer, or leave it out for all"
            yield "contexts", (mistake, f"at most {rows:,}", advice)

    def stored(self, training: Any) -> float:
        return 8.0 * training.corpus.vocabulary


class RankOfMatrix(OfRows):
    """What ranks of the log-probabilities of a split have in common, as they are or changed.

    ``contexts`` (absent: all) are the rows that are read first.
    """

    trainers: ClassVar[tuple[str, ...]] = ("language_model", "dialog")
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    digits: ClassVar[int] = 0
    readings: ClassVar[Mapping[str, str]] = {
        "tenth": "a tenth of Press's threshold",
        "tenfold": "ten times Press's threshold",
    }
    logarithmic: ClassVar[bool] = True
    curve_words: ClassVar[CurveWords] = CurveWords(
        "tolerance",
        "tolerance, relative to the largest singular value",
        "Press's threshold",
        "A numerical rank counts the singular values above a threshold, so it depends on the"
        " threshold: one line per seed. Upright lines are thresholds; the rank is that at A.",
        TurnedWords(
            "singular values",
            "place of the singular value",
            "size, relative to the largest",
            "The same counts as a spectrum: the size of a singular value lies between the"
            " tolerances at which the rank passes its place, and that of the largest is 1. What is"
            " above a level line is counted by its threshold; the rank is that of A.",
            "An upright line is a rank that no threshold decides.",
        ),
        "A level line is a rank that no threshold decides.",
        "Dots are counts at some thresholds alone, without a spectrum: between them, and of single"
        " singular values, nothing is known.",
    )
    Details: ClassVar[type[Details]] = RankDetails

    split: Split = "test"
    batch_size: Count = 1
    threshold: Literal["press"] = "press"
    contexts: Count | None = None

    def largest(self, details: Mapping[str, Any]) -> int | None:
        return min(int(details["rows"]), int(details["columns"]))

    def curve(self, details: Mapping[str, Any]) -> Curve | None:
        """rank(tolerance), tolerances relative to the largest singular value."""
        counts, threshold = tuple(details["curve"]), details["relative_threshold"]
        marks, apart = tuple(self.known_marks(details)), bool(details.get("counts_only"))
        return Curve(tuple(details["tolerances"]), counts, threshold, marks, apart)

    def known_marks(self, details: Mapping[str, Any]) -> Iterator[CurveMark]:
        """The other thresholds of every rank; the eps of numpy's is in Press's."""
        from repro.rank.spectrum import numpy_threshold, press_threshold  # noqa: PLC0415 - numpy

        rows, columns = int(details["rows"]), int(details["columns"])
        threshold = float(details["relative_threshold"])
        if details.get("tenth") is not None:
            yield CurveMark(self.readings["tenth"], threshold / 10)
        yield CurveMark(self.readings["tenfold"], 10 * threshold)
        eps = threshold / press_threshold(rows, columns, 1.0)
        yield CurveMark("numpy's threshold", numpy_threshold(rows, columns, eps))

    def memory(self, training: Any) -> float:
        """What the reduction takes that resolves a tenth of the threshold."""
        return self.memory_of(training, spectrum=True)

    def memory_of(self, training: Any, *, spectrum: bool) -> float:
        """Bytes of a reduction to a spectrum, or to counts at the threshold."""
        from repro.rank.reduction import QR_RESOLUTION, needed, reduction_for  # noqa: PLC0415 - scipy
        from repro.rank.rounded import eps_of  # noqa: PLC0415 - numpy
        from repro.rank.spectrum import press_threshold  # noqa: PLC0415 - numpy

        columns, rows = training.corpus.vocabulary, self.contexts or training.tokens(self.split)
        press = press_threshold(rows, columns, eps_of(training.recipe.precision))
        least = max(press / 10 if spectrum else press, QR_RESOLUTION)
        reduction = reduction_for(least, spectrum=spectrum)
        return needed(reduction, columns, copies=1 if spectrum else 0)


class Rank(RankOfMatrix):
    """Numerical rank of the matrix of log-probabilities, contexts x vocabulary, of a split.

    The number of singular values above ``threshold``: Press's 1/2 sqrt(m + n + 1) sigma_1 eps,
    eps that of the precision in which the log-probabilities were computed. ``contexts`` (absent:
    all) are the rows that are read first: the papers' code stops on WikiText-2 after 33,320, the
    first windows of 70 with more rows than words.

    ``spectrum: false`` takes counts alone, in the room of one matrix of words times words: at the
    threshold, ten times it, numpy's, and each of ``thresholds`` (relative to the largest singular
    value). There is no curve, and nothing that follows from singular values.
    """

    controls: ClassVar[tuple[str, ...]] = ("rank_bound", "known_rank")
    bounded: ClassVar[bool] = True

    kind: Literal["rank"] = "rank"
    spectrum: Literal[False] | None = None
    thresholds: Annotated[tuple[Resolved, ...], Field(min_length=1, max_length=20)] | None = None

    @model_validator(mode="after")
    def _thresholds_of_counts(self) -> Self:
        if self.thresholds and self.spectrum is None:
            raise ValueError(
                "thresholds without spectrum: false: with a spectrum, add measurements of kind "
                "spectral and statistic above"
            )
        return self

    @property
    def label(self) -> str:
        counts = "" if self.spectrum is None else ", by counts alone"
        return f"{NAMES[self.split]} rank{some_contexts(self.contexts)}{counts}"

    def measure(self, subject: Any) -> Measured:
        from repro.trainers.language_model.measurements import model_rank  # noqa: PLC0415 - torch

        rows = subject.rows(self.split, self.batch_size)
        output = subject.model.output
        if self.spectrum is None:
            chunks = subject.log_probabilities(self.split, self.batch_size)
            value, details, spectrum = model_rank.rank_of(chunks, output, rows, self.contexts)
            return Measured(value, details, {"singular_values": spectrum})

        def read(start: int) -> Iterator[Any]:
            yield from subject.log_probabilities(self.split, self.batch_size, start)

        at, place = self.thresholds or (), subject.place
        with model_rank.kept_reading(place and place / self.key, subject.device) as kept:
            return Measured(*model_rank.counts_of(read, output, rows, self.contexts, at, kept))

    def bound(self, training: Any) -> int | None:
        return training.bound

    def known_marks(self, details: Mapping[str, Any]) -> Iterator[CurveMark]:
        """As of every rank, and the thresholds of its own."""
        yield from super().known_marks(details)
        for number, declared in enumerate(self.thresholds or (), 1):
            yield CurveMark(f"declared threshold {number}", declared)

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        return isinstance(other, Rank)

    def cost(self, training: Any) -> float:
        """Half a symmetric product, and eigenvalues twice: the control's too. Or factorisations."""
        cubes = 4.0 if self.spectrum is None else (4 + len(self.thresholds or ())) / 3
        reading = cost_of_reading(training, self.split, self.contexts)
        return reading + cubes * training.corpus.vocabulary**3

    def memory(self, training: Any) -> float:
        """What the reduction takes that resolves a tenth of the threshold, or the threshold."""
        return self.memory_of(training, spectrum=self.spectrum is None)

    def stored(self, training: Any) -> float:
        return 0.0 if self.spectrum is False else super().stored(training)


def cost_of_reading(training: Any, split: Split, contexts: int | None) -> float:
    """Operations of computing the rows once, and of half a symmetric product of them."""
    tokens, vocabulary = training.tokens(split), training.corpus.vocabulary
    rows = contexts or tokens
    return 2.0 * training.multiplied_weights * rows + float(rows) * vocabulary**2


def some_contexts(contexts: int | None) -> str:
    """What a label says of the rows that are read; nothing where all are."""
    return "" if contexts is None else f" (first {contexts:,} contexts)"


class RankBound(Control):
    """No rank of these arms is above the structural bound d + 2; below is a flag."""

    kind: Literal["rank_bound"]
    id: Name
    measurement: Name
    arms: Annotated[tuple[Name, ...], Field(min_length=1)]

    @property
    def named(self) -> tuple[str, ...]:
        return self.arms

    def controls(self, arm: ControlledArm) -> bool:
        """Where there is a rank and a bound."""
        return bool(arm.values) and arm.bound is not None

    def outcome(self, arms: Mapping[str, ControlledArm], *, uncontrolled: bool) -> ControlOutcome:
        """Above d + 2: failed. Below: flagged, for a model trained normally reaches it."""
        having = list(arms.values())
        pairs = [(v, arm.bound) for arm in having for v in arm.values if arm.bound is not None]
        known = [f"{arm.label} {arm.bound:,}" for arm in having if arm.bound is not None]
        seen = [f"{arm.label} {span(arm.values)}" for arm in having if arm.values]
        outcome = ControlOutcome(
            f"No rank of {' and '.join(arm.label for arm in having)} is above its structural "
            "bound, d + 2",
            ", ".join(known) or "d + 2",
            "; ".join(seen) or "nothing measured",
            "passed",
        )
        if any(rank > bound for rank, bound in pairs):
            return outcome._replace(state="failed")
        if uncontrolled or not all(arm.values for arm in having):
            return outcome._replace(state="missing")
        below = any(rank < bound for rank, bound in pairs)
        return outcome._replace(state="flagged") if below else outcome


class KnownRank(ControlOfDetails):
    """A synthetic matrix of known rank, measured with every rank, must come out exactly."""

    subject = "how ranks are computed"

    kind: Literal["known_rank"]
    id: Name
    measurement: Name

    def outcome(self, arms: Mapping[str, ControlledArm], *, uncontrolled: bool) -> ControlOutcome:
        """Exact in every one of the ranks that have it."""
        statement = "A synthetic matrix of known rank, by the same reduction, comes out exactly"
        pairs = [details["known_rank"] for arm in arms.values() for details in arm.details]
        if not pairs:
            return ControlOutcome(statement, "exact", "nothing measured", "missing")
        exact = sum(pair["measured"] == pair["expected"] for pair in pairs)
        measured = f"{span([int(p['measured']) for p in pairs])}, exact in {exact} of {len(pairs)}"
        expected = span(sorted({int(pair["expected"]) for pair in pairs}))
        state: Literal["passed", "failed"] = "passed" if exact == len(pairs) else "failed"
        return ControlOutcome(statement, expected, measured, state)


def span(values: Sequence[float]) -> str:
    """`42`, or `42 to 60`."""
    low, high = min(values), max(values)
    return f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"
