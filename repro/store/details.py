"""What a measurement says beside its value, typed by its kind, and checked whenever it is read.

A detail that judging reads has its type here; more details are let through, as a newer version
may say more. No details at all is no damage: then nothing is known beside the value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from repro.specs.measurement import Bleu, Measurable, Perplexity, Rank

LARGEST = 2**53
"""Counts beyond this have no float64 of their own."""

Natural = Annotated[int, Field(ge=0, le=LARGEST)]
Count = Annotated[int, Field(ge=1, le=LARGEST)]
Share = Annotated[float, Field(ge=0, le=1)]
Tolerance = Annotated[float, Field(ge=1e-60, le=1e60)]


class _Details(BaseModel):
    """Details that may be more than are known here."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)


class KnownRankDetails(_Details):
    """The control of a rank: a matrix of known rank, by the same reduction."""

    expected: Natural
    measured: Natural


class RankDetails(_Details):
    """The matrix, Press's relative threshold, the ranks about it, and rank(tolerance)."""

    rows: Count
    columns: Count
    relative_threshold: Tolerance
    tenth: Natural
    tenfold: Natural
    tolerances: tuple[Tolerance, ...]
    curve: tuple[Natural, ...]
    known_rank: KnownRankDetails

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(self.curve) != len(self.tolerances):
            raise ValueError(f"curve: {len(self.curve)} ranks at {len(self.tolerances)} tolerances")
        largest = min(self.rows, self.columns)
        for name, rank in (("tenth", self.tenth), ("tenfold", self.tenfold), *self._points()):
            if rank > largest:
                raise ValueError(f"{name}: a rank of {rank} of {self.rows} x {self.columns}")
        return self

    def _points(self) -> tuple[tuple[str, int], ...]:
        return tuple(("curve", rank) for rank in self.curve)


class PerplexityDetails(_Details):
    """How many tokens were predicted."""

    tokens: Natural | None = None


class BleuDetails(_Details):
    """Both sides of a BLEU, and what it is the mean of."""

    precision: Share | None = None
    recall: Share | None = None
    responses: Natural | None = None
    answers: Natural | None = None


KINDS: Mapping[type[Measurable], type[_Details]] = {
    Rank: RankDetails,
    Perplexity: PerplexityDetails,
    Bleu: BleuDetails,
}


def wrong_detail(measurement: Measurable, value: float, details: Mapping[str, JsonValue]) -> str:
    """The first thing that is wrong with the details of a measurement, by its name; or nothing."""
    if not details:
        return ""
    try:
        read = KINDS[type(measurement)].model_validate_json(json.dumps(details))
    except (ValidationError, ValueError, RecursionError) as error:
        return _first(error)
    if isinstance(read, RankDetails) and not 0 <= value <= min(read.rows, read.columns):
        return f"value: a rank of {value:g} of {read.rows} x {read.columns}"
    return ""


def _first(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"details: {error}"
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(("details", *(str(part) for part in first["loc"])))
    return f"{place}: {first['msg'].removeprefix('Value error, ')}"
