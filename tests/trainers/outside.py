"""Trunks and output layers from outside the package: the docs', and more beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from repro.digest import file_digest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-layer.md"
LAYER = Path(__file__).parents[1] / "extension" / "output_layer.py"
GRU_PARAMETERS = 2 * (3 * 6 * (6 + 6) + 2 * 3 * 6)
WINDOW = '''

import torch
from repro.trainers.language_model.regularisation import QUIET


class Window(OwnTrunk):
    """Each context is a mean of the last words, kept in a nested state beside a count."""

    def __init__(self, embedding_size, hidden_size, context_size, layers, dtype):
        super().__init__()
        self.mix = nn.Parameter(torch.empty(context_size, embedding_size, dtype=dtype))

    def initial(self):
        return {"mix": uniform(1.0)}

    def zero_state(self, batch_size, like):
        return (like.new_zeros(batch_size, self.mix.shape[0]), (like.new_zeros(1), ()))

    def forward(self, vectors_TBE, state, regularisation=QUIET):
        past, (count, _) = state
        raw = []
        for x_BE in vectors_TBE:
            past, count = 0.5 * past + x_BE @ self.mix.T, count + 1
            raw.append(torch.tanh(past))
        raw = torch.stack(raw)
        return TrunkOutput(regularisation.locked("output", raw), raw, (past, (count, ())))
'''


SHIFTED = """

import torch
from torch import nn
from repro.trainers.language_model.randomness import zeros


class Shifted(PointwiseOutput):
    def __init__(self, vocabulary, embedding_size, context_size, dtype):
        super().__init__(vocabulary, embedding_size, dtype)
        self.shift = nn.Parameter(torch.empty(2, dtype=dtype))

    def initial(self):
        return {**super().initial(), "shift": zeros()}

    def parameters_of_transform(self):
        return (self.shift,)

    def transform(self, z, *parameters):
        return z + parameters[0][0] * z.sin() + parameters[0][1] * z.cos()


def linear(vocabulary, embedding_size, context_size, dtype):
    return nn.Linear(embedding_size, vocabulary)
"""


def example() -> str:
    """The layer and the trunk of the docs, as one module."""
    (trunk,) = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return f"{LAYER.read_text(encoding='utf-8')}\n\n{trunk}"


def own(path: Path, name: str, **changes: Any) -> dict[str, Any]:
    """How a configuration names a class of the module."""
    version = f"sha256:{file_digest(path)[:16]}"
    return {"kind": "own", "use": f"my_layers:{name}", "version": version, **changes}


def own_gru(path: Path, **changes: Any) -> dict[str, Any]:
    """The docs' trunk in a model of ``small``."""
    return own(path, "Gru", **{"parameters": GRU_PARAMETERS, **changes})


def own_window(path: Path, name: str = "Window") -> dict[str, Any]:
    """The trunk of ``WINDOW``, or one that is made of it."""
    return own(path, name, parameters=36)
