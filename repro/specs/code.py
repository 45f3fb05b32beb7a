"""Code of others: the `module:object` that configurations name, and where they name it.

It is part of a model that is trained here, and runs with the rights of whoever trains it. So it
is imported only with consent; a plan, a verdict and a report need none.
"""

from __future__ import annotations

from repro.specs.base import Spec
from repro.specs.model import Own
from repro.specs.run import AnyTraining, TrainingSpec


class NamedCode(Spec):
    """An object in a module, the version that is stated, and the places that lead to it.

    ``place`` is where `use` is written, ``arm`` where the claim names the configuration.
    """

    use: str
    version: str
    place: str
    arm: str


def code_of(training: AnyTraining) -> dict[str, Own]:
    """The parts of a model that are code of others, `trunk` before `output`."""
    trunk = training.model.trunk if isinstance(training, TrainingSpec) else None
    parts = {"trunk": trunk, "output": training.model.output}
    return {name: part for name, part in parts.items() if isinstance(part, Own)}
