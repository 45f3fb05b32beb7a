"""The names that users import for their own parts, on one page: they stay when modules move.

Each is loaded when it is first used, so that a measurement needs no torch and a layer no pydantic.
The paths that some had before still import for one release, with a warning.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_NAMES = {
    "Engine": "repro.running.engine",
    "ExpectationKind": "repro.expectations.base:Kind",
    "FilesRead": "repro.results.importer",
    "Finished": "repro.trainers.trainer",
    "FoundRun": "repro.results.forms",
    "Importer": "repro.results.importer:CustomImporter",
    "Measured": "repro.trainers.measurement",
    "Measurement": "repro.trainers.measurement:OwnMeasurement",
    "OutputLayer": "repro.trainers.language_model.output.layer",
    "OwnExpectation": "repro.expectations.declared",
    "OwnSource": "repro.evidence.base",
    "OwnTrunk": "repro.trainers.language_model.model",
    "PointwiseOutput": "repro.trainers.language_model.output.layer",
    "ReportFormat": "repro.report.formats",
    "TableSource": "repro.evidence.evidence",
    "TestResult": "repro.stats.records",
    "TidyTable": "repro.evidence.evidence",
    "Trainer": "repro.trainers.trainer",
    "Training": "repro.trainers.base",
    "TrunkOutput": "repro.trainers.language_model.model",
    "by_p": "repro.expectations.decision_rules",
    "linear": "repro.trainers.language_model.precision",
    "numbers_in": "repro.results.series",
    "samples_of": "repro.expectations.base",
    "uniform": "repro.trainers.language_model.randomness",
}

__all__ = list(_NAMES)

MOVED = {
    "repro.lm": "repro.trainers.language_model",
    "repro.lm.awd_lstm": "repro.trainers.language_model.model",
    "repro.lm.initialisation": "repro.trainers.language_model.randomness",
    "repro.lm.output": "repro.trainers.language_model.output",
    "repro.lm.output.base": "repro.trainers.language_model.output.layer",
    "repro.lm.output.pointwise": "repro.trainers.language_model.output.layer",
    "repro.lm.own_trunk": "repro.trainers.language_model.custom",
    "repro.lm.precision": "repro.trainers.language_model.precision",
}
"""Old module -> the module that has its names now."""


def __getattr__(name: str) -> Any:
    return public(__name__, _NAMES, name)


def public(module: str, names: Mapping[str, str], name: str) -> Any:
    """What a module's public name stands for; ``names`` says where each is, `module[:object]`."""
    if name not in names:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    place, _, attribute = names[name].partition(":")
    return getattr(import_module(place), attribute or name)


class _OldPath:
    """Finds and loads the modules of `MOVED`; each hands on what the new module has.

    It does without the base classes of `importlib.abc`, which take longer to import than repro.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        loader: Any = self
        return ModuleSpec(name, loader, is_package=True) if name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual kind of module."""

    def exec_module(self, module: ModuleType) -> None:
        new = import_module(MOVED[module.__name__])
        module.__dict__.update({k: v for k, v in vars(new).items() if not k.startswith("__")})
        warnings.warn(
            f"{module.__name__} has moved: import from repro.extend instead",
            DeprecationWarning,
            stacklevel=2,
        )


def install_old_paths() -> None:
    """Let the old paths import; once is enough."""
    if not any(isinstance(finder, _OldPath) for finder in sys.meta_path):
        sys.meta_path.append(_OldPath())
