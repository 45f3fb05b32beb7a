"""Numbers that follow from the singular values of a rank, which a store keeps: no model is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from repro.errors import DataError
from repro.schema.base import Count, Positive
from repro.schema.messages import Words
from repro.trainers.curve import CurveMark
from repro.trainers.language_model.measurements.changed_matrix import (
    CentredSpectrum,
    Noise,
    NoisyRank,
)
from repro.trainers.language_model.measurements.rank import (
    Rank,
    RankOfMatrix,
    Resolved,
    some_contexts,
)
from repro.trainers.measurement import NAMES, Measured, MeasurementSpec, Split

Epsilon = Annotated[float, Field(ge=1e-9, lt=1)]
"""A share of the sum of squares in which rounding is nothing: squares of 10,000 x 3e-7."""


COUNTS = ("above", "numpy", "empirical")
"""Statistics that count the singular values above a size."""


class _Statistic(NamedTuple):
    """What is taken of a spectrum: its words, its digits, and the key of its one setting."""

    words: str
    digits: int
    setting: str = ""


class Spectral(MeasurementSpec):
    """A statistic of the singular values that a ``rank`` of the same split leaves in the store.

    ``statistic``: ``effective``, the least number that holds 1 - ``epsilon`` of the sum of squares;
    ``above``, the number above ``threshold`` times the largest; ``numpy``, that above
    max(rows, columns) eps; ``empirical``, the number above ``singular_value``, which is not
    relative: Lim et al. (2018) take the first one that a model of known rank should not have;
    ``stable``, the sum of squares over the largest square; ``entropy``, exp
    of the entropy of the values as shares of their sum; ``share``, what part of their sum the
    largest ``first`` hold. ``batch_size`` and ``contexts`` are those of the rank.

    With ``noise`` they are those of the matrix with that noise in every entry, which a
    ``noisy_rank`` leaves. ``centred: true`` takes those of the matrix without its mean row, which a
    ``centred_spectrum`` leaves; then no statistic counts what is above a size.
    """

    STATISTICS: ClassVar[Mapping[str, _Statistic]] = {
        "effective": _Statistic("effective rank, ε = {:g}", 0, "epsilon"),
        "above": _Statistic("rank above {:g} of the largest singular value", 0, "threshold"),
        "numpy": _Statistic("rank by numpy's threshold", 0),
        "empirical": _Statistic("rank by an empirical bound of {:g}", 0, "singular_value"),
        "stable": _Statistic("stable rank", 2),
        "entropy": _Statistic("entropy rank", 1),
        "share": _Statistic("share of the first {:,} singular values", 3, "first"),
    }
    trainers: ClassVar[tuple[str, ...]] = Rank.trainers
    logarithmic: ClassVar[bool] = True

    kind: Literal["spectral"]
    statistic: Literal[
        "effective", "above", "numpy", "empirical", "stable", "entropy", "share"
    ]  # fmt: skip
    better: Literal["lower", "higher"] = "higher"
    epsilon: Epsilon | None = None
    threshold: Resolved | None = None
    singular_value: Positive | None = None
    first: Count | None = None
    split: Split = "test"
    batch_size: Count = 1
    contexts: Count | None = None
    noise: Noise | None = None
    centred: Literal[True] | None = None

    @model_validator(mode="after")
    def _of_one_matrix(self) -> Self:
        if self.centred and self.noise is not None:
            raise ValueError("noise and centred: true are of two matrices: leave one of them out")
        if self.centred and self.statistic in COUNTS:
            raise ValueError(
                f"the statistic {self.statistic} counts what is above a size, which is of the "
                "matrix with its mean row: leave centred out"
            )
        return self

    @model_validator(mode="after")
    def _the_setting_of_its_statistic(self) -> Self:
        needed = self._of.setting
        for key in ("epsilon", "threshold", "singular_value", "first"):
            given = getattr(self, key) is not None
            if given and key != needed:
                mistake = f"{key} changes nothing of the statistic {self.statistic}"
                raise ValueError(f"{mistake}: leave it out")
            if key == needed and not given:
                raise ValueError(f"the statistic {self.statistic} needs {key}")
        return self

    @property
    def _of(self) -> _Statistic:
        return self.STATISTICS[self.statistic]

    @property
    def label(self) -> str:
        words = self._of.words.format(getattr(self, self._of.setting or "kind"))
        changed = ", without the mean row" if self.centred else ""
        if self.noise is not None:
            changed = f", with noise of {self.noise:g}"
        return f"{NAMES[self.split]} {words}{changed}{some_contexts(self.contexts)}"

    @property
    def digits(self) -> int:
        return self._of.digits

    @property
    def sources(self) -> tuple[RankOfMatrix | CentredSpectrum]:
        rows = {"split": self.split, "batch_size": self.batch_size, "contexts": self.contexts}
        if self.centred:
            return (CentredSpectrum.model_validate(rows),)
        if self.noise is not None:
            return (NoisyRank.model_validate({**rows, "noise": self.noise}),)
        return (Rank.model_validate(rows),)

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        yield from self.sources[0].unsuited(training, whose)

    def derive(self, *found: Measured) -> Measured:
        (source,) = found
        return Measured(float(self._taken(source.arrays["singular_values"], source.details)))

    def curve_mark(self, details: Mapping[str, Any], value: float) -> CurveMark | None:
        """A threshold that is in no curve by itself, or an effective rank, on rank(tolerance)."""
        if self.statistic == "above":
            return CurveMark("threshold of the claim", self.threshold)
        if self.statistic == "effective":
            return CurveMark(f"effective rank, ε = {self.epsilon:g}", value=value)
        largest = float(details.get("largest_singular_value") or 0.0)
        if self.statistic == "empirical" and largest:
            bound = self.singular_value or 0.0
            return CurveMark(f"empirical bound of {bound:g}", bound / largest)
        return None

    def _taken(self, values: Any, details: Mapping[str, Any]) -> float:
        from repro.rank import spectrum as rank  # noqa: PLC0415 - numpy

        taken: dict[str, Callable[[], float]] = {
            "effective": lambda: rank.effective_rank(values, self.epsilon or 0.0),
            "above": lambda: rank.count_above(values, self.threshold or 0.0),
            "numpy": lambda: _above_numpys(values, details),
            "empirical": lambda: self._above_bound(values),
            "stable": lambda: rank.stable_rank(values),
            "entropy": lambda: rank.entropy_rank(values),
            "share": lambda: float(rank.cumulative_share(values)[: self.first][-1]),
        }
        return taken[self.statistic]()

    def _above_bound(self, values: Any) -> int:
        """The rank by ``singular_value``; DataError for one that stored spectra do not resolve."""
        from repro.rank import spectrum as rank  # noqa: PLC0415 - numpy
        from repro.rank.reduction import GRAM_RESOLUTION  # noqa: PLC0415 - scipy

        bound, least = self.singular_value or 0.0, GRAM_RESOLUTION * float(values[0])
        if bound < least:
            raise DataError(
                f"a singular value of {bound:g}: below {least:.3g} rounding hides what a spectrum "
                f"has, whose largest is {values[0]:.6g}\n  expected: at least {least:.3g}\n"
                "  to do: take a larger bound"
            )
        return rank.empirical_rank(values, bound)


def _above_numpys(values: Any, details: Mapping[str, Any]) -> int:
    """The rank by numpy's threshold, the eps of which is in that of Press."""
    from repro.rank import spectrum as rank  # noqa: PLC0415 - numpy

    rows, columns = int(details["rows"]), int(details["columns"])
    eps = float(details["relative_threshold"]) / rank.press_threshold(rows, columns, 1.0)
    return rank.count_above(values, rank.numpy_threshold(rows, columns, eps))
