"""The parts of the report document that say what a measurement is under other settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repro.evidence.evidence import Evidence
from repro.judging import document as doc
from repro.specs.claim import Claim
from repro.trainers.curve import Curve, CurveMark

Named = Sequence[tuple[str, CurveMark]]
"""Marks of a replicate, each after the name of the measurement that it is of."""


def curves(claim: Claim, evidence: Evidence) -> tuple[doc.CurvePart, ...]:
    """What each measurement would have been at other thresholds, of every arm."""
    found = []
    for name, measurement in claim.measurements.items():
        for arm in claim.arms:
            runs = [run for run in evidence.finished(arm) if run.details.get(name)]
            of_runs = [(run, measurement.curve(run.details[name])) for run in runs]
            known = [(run, curve) for run, curve in of_runs if curve is not None]
            grids = {curve.settings for _, curve in known}
            if len(grids) != 1:  # they are of matrices of several shapes, and not comparable
                continue
            first = known[0][1]
            marks = [[*_marks(claim, name, run, curve)] for run, curve in known]
            found.append(
                doc.CurvePart(
                    arm=arm,
                    measurement=name,
                    tolerances=first.settings,
                    ranks=tuple(curve.values for _, curve in known),
                    threshold=first.declared,
                    marks=tuple(_joined(marks)),
                    apart=first.apart,
                )
            )
    return tuple(found)


def _marks(claim: Claim, name: str, run: Any, curve: Curve) -> Iterator[tuple[str, CurveMark]]:
    """What readers know on a curve, and what the claim's other measurements of the run say."""
    yield from (("", mark) for mark in curve.marks)
    for other, measurement in claim.measurements.items():
        if claim.measurements[name] in measurement.sources and other in run.values:
            details: Mapping[str, Any] = run.details[name]
            if mark := measurement.curve_mark(details, run.values[other]):
                yield other, mark


def _joined(marks: Sequence[Named]) -> Iterator[doc.CurveMarkPart]:
    """The marks of all replicates, one after another."""
    for key in dict.fromkeys((name, mark.label) for each in marks for name, mark in each):
        same = [mark for each in marks for name, mark in each if (name, mark.label) == key]
        yield doc.CurveMarkPart(
            label=key[1],
            measurement=key[0],
            tolerances=tuple(mark.setting for mark in same if mark.setting is not None),
            ranks=tuple(mark.value for mark in same if mark.value is not None),
        )
