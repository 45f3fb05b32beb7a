"""Log-probabilities that are changed before they are reduced: noise in every entry, or centred."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from repro.schema.base import Count
from repro.trainers.language_model.measurements.rank import (
    OfRows,
    Rank,
    RankDetails,
    RankOfMatrix,
    cost_of_reading,
    some_contexts,
)
from repro.trainers.measurement import NAMES, Details, Measured, MeasurementSpec, Natural, Split

Noise = Annotated[float, Field(gt=0, le=1e6)]
"""Expected sum of squares of the noise, as a share of the largest squared singular value."""


class NoisyRankDetails(RankDetails):
    """As of a rank; ``deviation`` is that of the noise in each entry, in nats."""

    deviation: Annotated[float, Field(ge=0)]


class NoisyRank(RankOfMatrix):
    """Rank, by Press's threshold, of the log-probabilities of a split with noise in every entry.

    The noise is independent and normal, of variance ``noise`` / (m n) times the largest squared
    singular value without it, so that its sum of squares is expected to be ``noise`` times that
    (Parthiban et al. 2021, supplement, Tables 15 and 16, for m = n). It is the same for every
    model. The threshold keeps the eps of the precision of the log-probabilities, and is relative to
    the largest singular value with noise. No structure of a model bounds it. Statistics of the
    singular values with noise are measurements of kind ``spectral`` with the same ``noise``.
    """

    controls: ClassVar[tuple[str, ...]] = ("known_rank",)
    Details: ClassVar[type[Details]] = NoisyRankDetails

    kind: Literal["noisy_rank"] = "noisy_rank"
    noise: Noise

    @property
    def label(self) -> str:
        words = f"rank with noise of {self.noise:g}"
        return f"{NAMES[self.split]} {words}{some_contexts(self.contexts)}"

    def measure(self, subject: Any) -> Measured:
        from repro.trainers.language_model.measurements import model_rank  # noqa: PLC0415 - torch

        def read() -> Iterator[Any]:
            yield from subject.log_probabilities(self.split, self.batch_size)

        rows, output = subject.rows(self.split, self.batch_size), subject.model.output
        value, details, spectrum = model_rank.noisy_rank_of(
            read, output, rows, self.contexts, self.noise
        )
        return Measured(value, details, {"singular_values": spectrum})

    def remarks(self, details: Mapping[str, Any]) -> Iterator[str]:
        yield f"noise of {details['deviation']:.3g} nats per entry"

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        return isinstance(other, NoisyRank) and self.noise == other.noise

    def cost(self, training: Any) -> float:
        """As a rank, whose rows are read once more for the largest singular value."""
        reading = cost_of_reading(training, self.split, self.contexts)
        return 2 * reading + 6.0 * training.corpus.vocabulary**3


class CentredDetails(Details):
    """The shape of the matrix."""

    rows: Annotated[Natural, Field(ge=1)]
    columns: Annotated[Natural, Field(ge=1)]

    def contradiction(self, value: float) -> str:
        """No singular value is below 0."""
        return "" if value >= 0 else f"a singular value of {value:g}"


class CentredSpectrum(OfRows):
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
        from repro.trainers.language_model.measurements import model_rank  # noqa: PLC0415 - torch

        def read() -> Iterator[Any]:
            yield from subject.log_probabilities(self.split, self.batch_size)

        rows, output = subject.rows(self.split, self.batch_size), subject.model.output
        details, spectrum = model_rank.centred_spectrum_of(read, output, rows, self.contexts)
        return Measured(float(spectrum[0]), details, {"singular_values": spectrum})

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        return isinstance(other, CentredSpectrum)

    def cost(self, training: Any) -> float:
        """The rows are computed twice, and reduced once."""
        reading = cost_of_reading(training, self.split, self.contexts)
        return 2 * reading + 2.0 * training.corpus.vocabulary**3

    def memory(self, training: Any) -> float:
        from repro.rank.reduction import needed  # noqa: PLC0415 - scipy

        return needed("gram", training.corpus.vocabulary, copies=1)
