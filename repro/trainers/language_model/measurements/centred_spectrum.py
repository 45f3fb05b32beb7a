"""Centred spectrum: the singular values of log-probabilities without their mean row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from repro.schema.base import Count
from repro.schema.messages import Words
from repro.trainers.language_model.measurements.rank import (
    Rank,
    cost_of_reading,
    some_contexts,
    unsuited_rows,
)
from repro.trainers.measurement import NAMES, Details, Measured, MeasurementSpec, Natural, Split


class CentredDetails(Details):
    """The shape of the matrix."""

    rows: Annotated[Natural, Field(ge=1)]
    columns: Annotated[Natural, Field(ge=1)]

    def contradiction(self, value: float) -> str:
        """No singular value is below 0."""
        return "" if value >= 0 else f"a singular value of {value:g}"


class CentredSpectrum(MeasurementSpec):
    """Largest singular value of the log-probabilities of a split, less their mean row.

    All of them are kept, for measurements of kind ``spectral`` with ``centred: true``. There is no
    rank by a threshold: rounding hides what it hides without centring, and of the singular values
    above any size at most one is lost with the mean row.
    """

    trainers: ClassVar[tuple[str, ...]] = Rank.trainers
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    digits: ClassVar[int] = 1
    logarithmic: ClassVar[bool] = True
    Details: ClassVar[type[Details]] = CentredDetails

    kind: Literal["centred_spectrum"] = "centred_spectrum"
    split: Split = "test"
    batch_size: Count = 1
    contexts: Count | None = None

    @property
    def label(self) -> str:
        words = "largest singular value, without the mean row"
        return f"{NAMES[self.split]} {words}{some_contexts(self.contexts)}"

    def measure(self, subject: Any) -> Measured:
        from repro.trainers.language_model.measurements import model_changed  # noqa: PLC0415 - torch

        def read() -> Iterator[Any]:
            yield from subject.log_probabilities(self.split, self.batch_size)

        rows, output = subject.rows(self.split, self.batch_size), subject.model.output
        details, spectrum = model_changed.centred_spectrum_of(read, output, rows, self.contexts)
        return Measured(float(spectrum[0]), details, {"singular_values": spectrum})

    def unsuited(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """As a rank of the same rows."""
        if not self.taken_of(training):
            yield from super().unsuited(training, whose)
            return
        yield from unsuited_rows(self, training, whose)

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """Every other one."""
        return isinstance(other, CentredSpectrum)

    def cost(self, training: Any) -> float:
        """The rows are computed twice, and reduced once."""
        reading = cost_of_reading(training, self.split, self.contexts)
        return 2 * reading + 2.0 * training.corpus.vocabulary**3

    def memory(self, training: Any) -> float:
        from repro.rank.room import needed  # noqa: PLC0415 - scipy

        return needed("gram", training.corpus.vocabulary, copies=1)

    def stored(self, training: Any) -> float:
        return 8.0 * training.corpus.vocabulary
