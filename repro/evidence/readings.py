"""What a cell of a table says, and what a claim needs of a table."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from repro.schema.base import LARGEST, SMALLEST
from repro.schema.messages import Words

if TYPE_CHECKING:
    from repro.trainers.measurement import MeasurementSpec

TASK = "task"
"""The column of the task, in a table of runs over several."""

DIVERGED = "diverged"
"""In the place of a value: the run diverged, and has none."""

EMPTY = "the cell is empty"

RunState: TypeAlias = Literal["finished", "diverged", "missing"]

STATES: Mapping[str, RunState] = {
    "finished": "finished",
    "diverged": "diverged",
    "failed": "diverged",
    "crashed": "diverged",
    "killed": "diverged",
    "running": "missing",
}
"""What a column `state` may say: a run that ended without a value is treated as diverged."""

MAX_DIGITS = 1_000


_NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")


def number_in(cell: str) -> float | None:
    """The number that a cell holds; None for anything else, also for what is not finite."""
    if len(cell) > MAX_DIGITS or not _NUMBER.fullmatch(cell):
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


def badly_sized(cell: str, number: float) -> Literal["large", "small"] | None:
    """Whether a number is too large or too small to compute with.

    A float of 0 whose digits are not all 0 was too small for a float.
    """
    if abs(number) > LARGEST:
        return "large"
    digits = re.split("[eE]", cell, maxsplit=1)[0]
    vanished = number == 0 and any(digit in "123456789" for digit in digits)
    return "small" if vanished or 0 < abs(number) < SMALLEST else None


def value_of(cell: str, spec: MeasurementSpec | None = None) -> float | Words:
    """The value that a cell gives a run; or what is wrong, what was expected, and what to do.

    ``spec`` is its measurement, where it is known. A budget after a > is the value of a run that
    did not get there in it.
    """
    if cell.startswith(">"):
        return _censored_value(cell, None if spec is None else spec.censored_at)
    number = number_in(cell)
    if number is None:
        text = f"'{short(cell)}' is not a finite number" if cell else EMPTY
        return text, "a finite number", advice_on(cell)
    size = badly_sized(cell, number)
    if size is None:
        scale = None if spec is None else spec.value_scale
        return number if scale is None else scale.refusal(number) or number
    unit = "larger" if size == "large" else "smaller"
    return (
        f"'{short(cell)}' is too {size} to compute with",
        f"0, or a size from {SMALLEST:g} to {LARGEST:g}",
        f"correct it, or write every value in a {unit} unit",
    )


def _censored_value(cell: str, censored_at: float | None) -> float | Words:
    if censored_at is None:
        mistake = f"'{short(cell)}' is censored, and the claim declares no budget"
        return mistake, "a finite number", "add `censored: {at: ..., why: ...}` to the measurement"
    if number_in(cell[1:].strip()) == censored_at:
        return float(censored_at)
    mistake = f"'{short(cell)}' is censored, and the budget of the claim is {censored_at:g}"
    advice = f"write >{censored_at:g} for a run that did not get there in its budget"
    return mistake, f"a finite number, or >{censored_at:g}", advice


def time_of(cell: str) -> tuple[str, float] | None:
    """What sort of time a cell holds, and that time as a number; None for none.

    The sorts are a number of any unit, and a date of ISO 8601 with and without a zone.
    """
    number = number_in(cell)
    if number is not None:
        return "number", number
    try:
        moment = datetime.fromisoformat(cell)
        if moment.tzinfo is None:
            return "date", (moment - datetime.min).total_seconds()  # noqa: DTZ901
        return "date with a time zone", moment.timestamp()
    except (ValueError, OverflowError):
        return None


def short(cell: str) -> str:
    """A cell as it is quoted in a message: what cannot be seen is written as its number."""
    text = cell if len(cell) <= 40 else f"{cell[:40]}..."
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def cell_text(value: Any) -> str:
    """A value of a frame as the text that a CSV would hold; empty for one that is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return str(int(value)) if isinstance(value, numbers.Integral) else repr(float(value))
    return str(value)


def advice_on(cell: str) -> str:
    """What to do about a cell that should be a number."""
    hidden = next((c for c in cell if not c.isprintable()), None)
    if hidden is not None:
        return f"remove the character U+{ord(hidden):04X}"
    if "," in cell:
        return "write a decimal point, and no commas between thousands"
    if "%" in cell:
        return "write the number in the unit of the other rows, without a percent sign"
    if cell.lstrip("+-").lower() in ("nan", "na", "n/a", "inf", "infinity", "none", ""):
        return f"write `{DIVERGED}` if the run diverged, or the value"
    return "write digits and a decimal point, without units"


@dataclass(frozen=True, slots=True)
class TableSchema:
    """``arms`` are read from the table, ``elsewhere`` says why other arms are not.

    ``needed`` are the measurements without which a decisive expectation cannot be judged,
    ``order`` the column that says in which order the replicates came, where the claim declares one.
    ``specs`` are the measurements as they are declared, ``tasks`` those of which each arm has runs,
    where the claim is over tasks. ``unit`` is the column of the unit, where its rows are averaged
    later, and ``sources`` are the columns of the sources of variation.
    """

    arms: tuple[str, ...]
    measurements: tuple[str, ...]
    needed: Mapping[str, tuple[str, ...]]
    elsewhere: Mapping[str, str]
    order: str | None = None
    specs: Mapping[str, Any] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    unit: str | None = None
    sources: tuple[str, ...] = ()

    @property
    def more_columns(self) -> tuple[str, ...]:
        """The columns of task, unit, sources and order, as far as there are to be any."""
        units = () if self.unit is None else (self.unit,)
        return tuple(dict.fromkeys((*self.of_tasks, *units, *self.sources, *self.in_order)))

    @property
    def in_order(self) -> tuple[str, ...]:
        """The column of the order, if there is to be one."""
        return () if self.order is None else (self.order,)

    @property
    def of_tasks(self) -> tuple[str, ...]:
        """The column of the task, if there is to be one."""
        return (TASK,) if self.tasks else ()
