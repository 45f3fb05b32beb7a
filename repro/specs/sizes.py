"""Declared sizes: margins, ratios, limits, each with the reason for its size."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from repro.specs.base import PositiveSize, PrintedSize, Reason, Size, Spec


class ShareOfGain(Spec):
    """A share of a gain that was claimed, in the units of the measurement, as it was printed."""

    share: Annotated[PositiveSize, Field(le=1)]
    gain: PrintedSize

    @property
    def size(self) -> float:
        """The share times the gain, above 0."""
        return self.share * abs(float(self.gain))


class Margin(Spec):
    """A declared limit with the reason for its size, in one of three ways.

    ``abs`` is in the units of the measurement, ``relative`` a share of the mean of b, and
    ``of_gain`` a share of the gain that was claimed.
    """

    abs: PositiveSize | None = None
    relative: Annotated[PositiveSize, Field(lt=1)] | None = None
    of_gain: ShareOfGain | None = None
    why: Reason

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [self.abs, self.relative, self.of_gain]
        if sum(way is not None for way in ways) != 1:
            raise ValueError("a margin has one size: either abs, relative or of_gain")
        if self.of_gain is not None and self.of_gain.size == 0:
            raise ValueError("a share of no gain leaves no margin: write the gain as printed")
        return self

    @property
    def size(self) -> float:
        """The margin: in the units of the measurement, or a share if it is relative."""
        if self.relative is not None:
            return self.relative
        return self.of_gain.size if self.of_gain is not None else self.abs or 0.0


class LeastRatio(Spec):
    """A declared least ratio, with the reason for its size."""

    value: Annotated[Size, Field(ge=1)]
    why: Reason


class Limit(Spec):
    """A fixed bound, or the structural bound d + 2 of the arm's own output layer."""

    value: Size | Literal["structural"]
    why: Reason


class Share(Spec):
    """A declared share, such as that of the replicates that must keep a bound."""

    value: Annotated[float, Field(gt=0, lt=1)]
    why: Reason


class Magnitude(Spec):
    """A declared size of a correlation, without its sign."""

    value: Annotated[float, Field(gt=0, lt=1)]
    why: Reason


class Window(Spec):
    """The range of a measurement to which points are restricted, ends included."""

    low: Size
    high: Size
    why: Reason

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.low >= self.high:
            raise ValueError("a window runs from low to high: low must be below high")
        return self
