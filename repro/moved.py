"""Old paths of the names in `repro.extend`: they still import for one release, with a warning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "repro.lm": "repro.trainers.language_model",
    "repro.lm.awd_lstm": "repro.trainers.language_model.trunk",
    "repro.lm.initialisation": "repro.trainers.language_model.randomness",
    "repro.lm.output": "repro.trainers.language_model.output",
    "repro.lm.output.base": "repro.trainers.language_model.output.layer",
    "repro.lm.output.pointwise": "repro.trainers.language_model.output.pointwise",
    "repro.lm.own_trunk": "repro.trainers.language_model.custom",
    "repro.lm.precision": "repro.trainers.language_model.precision",
}
"""Old module -> the module that has its names now."""


class _OldPath(MetaPathFinder, Loader):
    """Finds the modules of `MOVED`; each hands on what the new module has."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return ModuleSpec(name, self, is_package=True) if name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        del spec

    def exec_module(self, module: ModuleType) -> None:
        new = import_module(MOVED[module.__name__])
        module.__dict__.update({k: v for k, v in vars(new).items() if not k.startswith("__")})
        warnings.warn(
            f"{module.__name__} has moved: import from repro.extend instead",
            DeprecationWarning,
            stacklevel=2,
        )


def install() -> None:
    """Lets the old paths import; once is enough."""
    if not any(isinstance(finder, _OldPath) for finder in sys.meta_path):
        sys.meta_path.append(_OldPath())
