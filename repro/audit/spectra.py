"""Printed ranks against the singular values that are drawn in a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.audit.grade import Grade
from repro.audit.printed import PrintedNumber
from repro.audit.record import Audited, Value
from repro.errors import ClaimError
from repro.specs.audit import Spectrum

Array: TypeAlias = npt.NDArray[np.floating[Any]]

PRECISION = float(np.finfo(np.float32).eps)
"""The rounding unit of the numbers whose rank is printed; single precision, as in the papers."""


def spectrum(entry: Spectrum, columns: Mapping[str, Sequence[str]]) -> Audited:
    """Whether each printed rank is that of the drawn singular values, to their accuracy.

    A rank agrees within that share of it, and always within one. ClaimError for singular values
    that do not descend, or are not above 0.
    """
    values = singular_values(columns["index"], columns[entry.column])
    drawn: dict[str, tuple[str, int]] = {}
    if entry.press is not None:
        drawn["press"] = (entry.press, press_rank(values, entry.rows))
    for one in entry.effective:
        rank = effective_rank(values, PrintedNumber.read(one.epsilon).value)
        drawn[f"effective_{one.epsilon}"] = (one.rank, rank)
    wrong = [name for name, pair in drawn.items() if not _agree(*pair, entry.accuracy)]
    findings = [
        f"{entry.locator}: {name.replace('_', ' ')} rank is printed {text}; the singular values of "
        f"{entry.column} give {rank}"
        for name, (text, rank) in drawn.items()
        if name in wrong
    ]
    said = f"{entry.locator}: {len(drawn) - len(wrong)} of {len(drawn)} printed ranks of "
    said += f"{entry.column} are those of its singular values, to {entry.accuracy:.0%}"
    details: dict[str, Value] = {name: rank for name, (_, rank) in drawn.items()}
    return Audited(
        id=entry.id,
        grade=Grade.INCONSISTENT if wrong else Grade.CONSISTENT,
        kind="spectrum",
        findings=tuple(filter(None, [said, *findings, entry.note])),
        details={**details, "wrong": ", ".join(wrong) or None},
    )


def singular_values(index: Sequence[str], cells: Sequence[str]) -> Array:
    """Every singular value, from those at some indices; their logarithm is linear between."""
    places, values = (np.array([float(cell) for cell in column]) for column in (index, cells))
    if places[0] != 1 or np.any(np.diff(places) <= 0) or not np.all(values > 0):
        raise ClaimError("singular values are above 0, and their indices ascend from 1")
    if np.any(np.diff(values) > 0):
        raise ClaimError("singular values descend")
    every = np.arange(1, int(places[-1]) + 1)
    filled: Array = np.exp(np.interp(every, places, np.log(values)))
    return filled


def press_rank(values: Array, rows: int) -> int:
    """The number above the expected roundoff error of single precision (Press et al. 2007)."""
    tolerance = 0.5 * math.sqrt(rows + len(values) + 1) * float(values[0]) * PRECISION
    return int(np.sum(values > tolerance))


def effective_rank(values: Array, epsilon: float) -> int:
    """The fewest whose squares sum to the share ``1 - epsilon`` of all (Parthiban et al. 2021)."""
    sums = np.cumsum(values**2)
    return int(np.searchsorted(sums, (1 - epsilon) * sums[-1])) + 1


def _agree(text: str, rank: int, accuracy: float) -> bool:
    printed = PrintedNumber.read(text)
    away = max(printed.low - rank, rank - printed.high, 0.0)
    return away <= max(1.0, accuracy * printed.value)
