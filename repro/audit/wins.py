"""Printed counts of wins against the scores that they were counted from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repro.audit.grade import Grade
from repro.audit.printed import PrintedNumber
from repro.audit.record import Audited
from repro.specs.audit import Wins


def wins(entry: Wins, columns: Mapping[str, Sequence[str]]) -> Audited:
    """Whether every printed count follows from the printed scores of two models.

    Scores that are printed alike may each be the higher one before rounding: a count that needs
    such a tie is CONSISTENT-IF. ``details`` count the cells of each sort; ``ties`` are pairs of
    models on one benchmark.
    """
    counts = [
        (model, other, count, *_counted(columns[model], columns[other]))
        for model, row in entry.counts.items()
        for other, count in row.items()
    ]
    exact = [cell for cell in counts if cell[2] == cell[3]]
    wrong = [cell for cell in counts if not cell[3] <= cell[2] <= cell[3] + cell[4]]
    grade, condition = Grade.CONSISTENT, ""
    if wrong:
        grade = Grade.INCONSISTENT
    elif len(exact) < len(counts):
        grade, condition = Grade.CONSISTENT_IF, "equal scores differ before rounding"
    said = f"{entry.locator}: {len(exact)} of {len(counts)} counts follow from the printed scores"
    findings = [said]
    findings += [
        f"{model} over {other}: printed {count}, counted {least}"
        + (f" to {least + equal}" if equal else "")
        for model, other, count, least, equal in counts
        if count != least
    ]
    return Audited(
        id=entry.id,
        grade=grade,
        kind="wins",
        condition=condition,
        findings=(*findings, entry.note) if entry.note else tuple(findings),
        details={
            "cells": len(counts),
            "exact": len(exact),
            "wrong": len(wrong),
            "ties": sum(cell[4] for cell in counts) // 2,
            "benchmarks": len(next(iter(columns.values()))),
        },
    )


def _counted(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """How often the first score is higher as printed, and how often rounding leaves it open."""
    higher = equal = 0
    for one, other in zip(first, second, strict=True):
        a, b = PrintedNumber.read(one), PrintedNumber.read(other)
        if max(a.low, b.low) < min(a.high, b.high):
            equal += 1
        elif a.value > b.value:
            higher += 1
    return higher, equal
