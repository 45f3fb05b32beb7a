"""The names that users import for their own parts, on one page: they stay when modules move.

Each is loaded when it is first used, so that a measurement needs no torch and a layer no pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {
    "ExpectationKind": "repro.expectations.base:Kind",
    "Finished": "repro.trainers.trainer",
    "Measured": "repro.trainers.measurement",
    "Measurement": "repro.trainers.measurement:OwnMeasurement",
    "OutputLayer": "repro.trainers.language_model.output.layer",
    "OwnExpectation": "repro.expectations.base:OwnExpectation",
    "OwnSource": "repro.evidence.source",
    "OwnTrunk": "repro.trainers.language_model.custom",
    "PointwiseOutput": "repro.trainers.language_model.output.pointwise",
    "ReportFormat": "repro.report.formats",
    "TableSource": "repro.evidence.base",
    "TestResult": "repro.stats.records",
    "TidyTable": "repro.evidence.base",
    "Trainer": "repro.trainers.trainer",
    "Training": "repro.trainers.base",
    "TrunkOutput": "repro.trainers.language_model.trunk",
    "by_p": "repro.expectations.rules",
    "linear": "repro.trainers.language_model.precision",
    "samples_of": "repro.expectations.base",
    "uniform": "repro.trainers.language_model.randomness",
}

__all__ = [
    "ExpectationKind",
    "Finished",
    "Measured",
    "Measurement",
    "OutputLayer",
    "OwnExpectation",
    "OwnSource",
    "OwnTrunk",
    "PointwiseOutput",
    "ReportFormat",
    "TableSource",
    "TestResult",
    "TidyTable",
    "Trainer",
    "Training",
    "TrunkOutput",
    "by_p",
    "linear",
    "samples_of",
    "uniform",
]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        message = f"module 'repro.extend' has no attribute {name!r}"
        raise AttributeError(message)
    module, _, attribute = _NAMES[name].partition(":")
    return getattr(import_module(module), attribute or name)
