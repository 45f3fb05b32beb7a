"""The names that users import for their own parts, on one page: they stay when modules move.

Each is loaded when it is first used, so that a measurement needs no torch and a layer no pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {
    "OutputLayer": "repro.trainers.language_model.output.layer",
    "OwnTrunk": "repro.trainers.language_model.custom",
    "PointwiseOutput": "repro.trainers.language_model.output.pointwise",
    "ReportFormat": "repro.report.formats",
    "TrunkOutput": "repro.trainers.language_model.trunk",
    "linear": "repro.trainers.language_model.precision",
    "uniform": "repro.trainers.language_model.randomness",
}

__all__ = [
    "OutputLayer",
    "OwnTrunk",
    "PointwiseOutput",
    "ReportFormat",
    "TrunkOutput",
    "linear",
    "uniform",
]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        message = f"module 'repro.extend' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_NAMES[name]), name)
