"""What an audit returns: one frozen record a printed row, one a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repro.audit.grade import Grade

Value = bool | int | float | str | tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Audited:
    """One printed statement and what was found about it.

    Rows that are no comparison of two means (``kind``: "correlation", "disagreement", ...)
    leave the fields of a comparison at their defaults and keep their own numbers in
    ``details``. ``p_interval`` holds every p that the assumed test could give from the
    unrounded numbers; ``p_student`` and ``p_welch`` are two-sided, from the numbers as
    printed. ``holm`` and ``bh`` are adjusted over ``family``.
    ``smallest_confirmable_margin`` is in the units of the means: TOST by Welch, alpha
    one-sided. ``equals_rounded`` says whether the assumed test on the rounded numbers gives
    the printed p to every printed digit. ``condition`` is the x of CONSISTENT-IF(x),
    ``findings`` are plain sentences.
    """

    id: str
    grade: Grade
    kind: str = "comparison"
    p_printed: str | None = None
    p_interval: tuple[float, float] | None = None
    p_student: float | None = None
    p_welch: float | None = None
    matches: tuple[str, ...] = ()
    decision_survives_rounding: bool | None = None
    holm: float | None = None
    bh: float | None = None
    smallest_confirmable_margin: float | None = None
    assumed: str | None = None
    assumed_why: str = ""
    alpha: float | None = None
    family: str | None = None
    rounding: str = "round"
    equals_rounded: bool | None = None
    condition: str = ""
    findings: tuple[str, ...] = ()
    details: Mapping[str, Value] = field(default_factory=dict, hash=False)

    @property
    def grade_text(self) -> str:
        """The grade as it is printed: CONSISTENT-IF with what it takes."""
        return f"{self.grade}({self.condition})" if self.condition else str(self.grade)


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of one file: ``source`` is its path, ``findings`` concern the whole of it.

    What is found about a single statement belongs to its row; every file has at least one row.
    """

    title: str
    source: str
    rows: tuple[Audited, ...]
    findings: tuple[str, ...] = ()
