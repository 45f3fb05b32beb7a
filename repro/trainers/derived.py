"""Numbers that follow from two others of the same run: their difference, or their ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from decimal import Context, Decimal, InvalidOperation, localcontext
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from repro.schema.base import LARGEST, Name
from repro.schema.messages import Words
from repro.trainers.measurement import DeclaredMeasurement, MeasurementSpec

Parts = Annotated[tuple[Name, ...], Field(min_length=2, max_length=2)]

DIGITS = 40
"""Decimal digits of the computation: more than any float has."""


class DerivedMeasurement(DeclaredMeasurement):
    """A number that follows from two other measurements of the same run.

    ``difference: [a, b]`` is a - b, ``ratio: [a, b]`` is a / b, of measurements that are declared
    above it; these may be derived themselves. It is computed in decimals, of the shortest that
    stand for the floats, so that runs which are equal in print are equal.
    """

    kind: Literal["derived"]
    difference: Parts | None = None
    ratio: Parts | None = None

    @model_serializer(mode="wrap")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = handler(self)
        return {key: value for key, value in document.items() if value is not None}

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.difference is None) == (self.ratio is None):
            raise ValueError("a derived measurement is either a difference or a ratio")
        return self

    @property
    def made_of(self) -> tuple[str, ...]:
        return self.difference or self.ratio or ()

    @property
    def way(self) -> Literal["difference", "ratio"]:
        """The key that names its parts."""
        return "ratio" if self.difference is None else "difference"

    def mistakes(self) -> Iterator[tuple[str, Words]]:
        """The same number twice gives 0, or 1, of every run."""
        a, b = self.made_of
        if a == b:
            mistake = f"the {self.way} of '{a}' and itself is the same for every run"
            yield self.way, (mistake, "two measurements", "name another for one of the two")

    def value_of(self, a: float, b: float) -> float | None:
        """The value of a run, from those of its parts; None where that is no number."""
        first, second = Decimal(repr(a)), Decimal(repr(b))
        with localcontext(Context(prec=DIGITS, traps=[InvalidOperation])):
            if self.way == "difference":
                found = float(first - second)
            else:
                found = float(first / second) if second else math.nan
        return found if abs(found) <= LARGEST else None

    def formula(self, measurements: Mapping[str, MeasurementSpec]) -> str:
        """What it is, by the labels of its parts."""
        a, b = (measurements[name].label for name in self.made_of)
        return f"{a} − {b}" if self.way == "difference" else f"{a} ÷ {b}"


def with_parts(
    names: Iterable[str], measurements: Mapping[str, MeasurementSpec]
) -> tuple[str, ...]:
    """The measurements, and all that they are made of, each once; unknown names stay as they are.

    A name that is made of itself, by whatever way, ends there.
    """
    found: dict[str, None] = {}
    ahead = list(names)
    while ahead:
        name = ahead.pop(0)
        if name not in found:
            found[name] = None
            ahead += measurements[name].made_of if name in measurements else ()
    return tuple(found)


def with_derived(
    values: Mapping[str, float], measurements: Mapping[str, MeasurementSpec]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """The values of a run and those that follow from them, in the order of the measurements.

    The second part names those that are no number: a ratio to 0, or one too large to compute with.
    What follows from a value that is not there is not there.
    """
    follows = {name for name, each in measurements.items() if each.made_of}
    found = {name: value for name, value in values.items() if name not in follows}
    undefined = []
    for name, each in measurements.items():
        if isinstance(each, DerivedMeasurement) and all(part in found for part in each.made_of):
            value = each.value_of(*(found[part] for part in each.made_of))
            if value is None:
                undefined.append(name)
            else:
                found[name] = value
    return found, tuple(undefined)
