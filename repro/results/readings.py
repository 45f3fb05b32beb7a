"""What a cell of a table says: a value, how its run ended, a time."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from repro.schema.base import LARGEST, SMALLEST
from repro.schema.messages import Words
from repro.schema.value_scale import ValueScale

TASK = "task"
"""The column of the task, in a table of runs over several."""

DIVERGED = "diverged"
"""In the place of a value: the run diverged, and has none."""

EMPTY = "the cell is empty"

RunState: TypeAlias = Literal["finished", "diverged", "missing"]

STATE_COLUMNS = ("state", "status")
"""Columns of a table that may say how a run ended."""

_WORDS: Mapping[RunState, tuple[str, ...]] = {
    "finished": (
        *("finished", "complete", "completed", "done", "ok", "success", "succeeded"),
        *("successful", "terminated"),
    ),
    "diverged": (
        *("diverged", "failed", "fail", "failure", "crashed", "crash", "killed", "error"),
        *("errored", "aborted", "oom", "out_of_memory", "timeout", "timed_out"),
        *("node_fail", "boot_fail", "deadline", "cancelled", "canceled", "preempted"),
        *("revoked", "pruned"),
    ),
    "missing": (
        *("running", "started", "starting", "pending", "waiting", "queued", "scheduled"),
        *("submitted", "paused", "suspended", "preempting", "configuring", "completing"),
        *("requeued", "in_progress"),
    ),
}
"""Of trackers and schedulers, Optuna, Ray (`TERMINATED` is its end), SLURM, MLflow and W&B.

A run that was pruned, cancelled, or out of time or memory ended without a value of its own.
"""

STATES: Mapping[str, RunState] = {word: state for state, words in _WORDS.items() for word in words}
"""What a column `state` may say: a run that ended without a value is treated as diverged."""

EXPECTED_STATES = "one of finished, diverged, failed, running, or the word of a tracker for these"


def state_of(cell: object) -> RunState | None:
    """How a run ended, in a word of any tracker: `Out of memory`, `FAILED`; None for another."""
    return STATES.get(re.sub(r"[\s-]+", "_", str(cell).strip().casefold()))


LOOP_WORDS = frozenset({"keep", "kept", "discard", "discarded", "revert", "reverted"})
"""What the log of a research loop says of experiments, all of which have finished."""


def loop_advice(words: Iterable[str], path: Path) -> str:
    """Where the log of a research loop is read; empty for any other words."""
    if not {word.casefold() for word in words} & LOOP_WORDS:
        return ""
    return (
        "this is the log of a research loop, single runs without seeds: `repro noise BASELINE "
        f"--log {path.name}` says what luck would keep"
    )


MAX_DIGITS = 1_000


_NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")


def number_in(cell: str) -> float | None:
    """The number that a cell holds; None for anything else, also for what is not finite."""
    cell = cell.replace("−", "-")
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


class ValueBounds(Protocol):
    """What the declaration of a measurement says of its values."""

    @property
    def censored_at(self) -> float | None: ...
    @property
    def value_scale(self) -> ValueScale | None: ...


def value_of(cell: str, spec: ValueBounds | None = None) -> float | Words:
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
