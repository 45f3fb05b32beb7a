"""The published code, run beside ours from a folder outside the project.

The folder holds clones of ``zihangdai/mos``, ``salesforce/awd-lstm-lm`` and
``benkrause/dynamic-evaluation`` under the names ``mos``, ``awd-lstm-lm`` and
``dynamic-evaluation``. Nothing of them is part of the project: their modules are imported from
there, and functions of their scripts, which train when they are imported, are compiled from
there one by one (``benchmarks.published`` runs them). Their files stay as they are, and no
module of theirs stays importable by its short name.

One thing is done around their modules, for the torch of today. In evaluation ``F.dropout``
returns the parameter itself; torch then registers it a second time, under the name of the
dropped matrix, and the next step of training may not replace it. The second registration is
taken back before a matrix is set; the matrix that is used is the same.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final, Literal

import torch
from torch import nn

from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.recipe import Recipe
from repro.trainers.language_model.spec import Model, MoS, Softmax

Name = Literal["mos", "awd-lstm-lm"]
MODULES: Final = ("model", "utils", "data", "weight_drop", "locked_dropout", "embed_regularize")


@dataclass(frozen=True)
class Reference:
    """One of the two published trainings: its modules, and the source of its scripts."""

    name: Name
    folder: Path
    modules: dict[str, ModuleType]

    def build(self, model: Model, vocabulary: int, recipe: Recipe) -> nn.Module:
        """Their model of these sizes and dropouts, tied, with the weights that they draw.

        In torch's default precision. Raises ValueError for an output layer that they do not have.
        """
        p = recipe.dropout
        sizes = [model.embedding_size, model.hidden_size]
        dropouts = [p.output, p.hidden, p.input, p.embedding, p.weight]
        make = self.modules["model"].RNNModel
        arguments: list[Any]
        match self.name, model.output:
            case "mos", MoS(components=components, log_epsilon=1e-8):
                sizes.append(model.context_size)
                arguments = [*sizes, model.layers, *dropouts, True, p.latent, components]
            case "awd-lstm-lm", Softmax():
                arguments = [*sizes, model.layers, *dropouts, True]
            case _:
                message = f"{self.name} has no output layer like {model.output!r}"
                raise ValueError(message)
        with contextlib.redirect_stdout(io.StringIO()):
            built: nn.Module = make("LSTM", vocabulary, *arguments)
        return built

    def function(self, script: str, name: str, namespace: dict[str, Any]) -> FunctionType:
        """The function ``name`` of one of their scripts, with ``namespace`` for its globals."""
        return script_function(self.folder / script, name, namespace)


def load_reference(root: Path, name: Name) -> Reference:
    """Import the modules of ``root / name``. Raises FileNotFoundError where they are missing."""
    folder = root / name
    wanted = [*MODULES, "splitcross"] if name == "awd-lstm-lm" else [*MODULES]
    for module in wanted:
        if not (folder / f"{module}.py").is_file():
            message = f"{folder} has no {module}.py; clone the reference implementation there"
            raise FileNotFoundError(message)
    with _alone(folder, wanted):
        modules = {module: importlib.import_module(module) for module in wanted}
    _allow_training_after_evaluation(modules["weight_drop"].WeightDrop)
    return Reference(name, folder, modules)


def weight_names(model: LanguageModel, theirs: nn.Module) -> dict[str, str]:
    """Our name of each parameter -> theirs."""
    names = {"output.weight": "encoder.weight", "output.bias": "decoder.bias"}
    dropped = any(name.endswith("_raw") for name, _ in theirs.named_parameters())
    middle, suffix = ("module.", "_raw") if dropped else ("", "")
    for layer in range(model.spec.layers):
        ours, prefix = f"trunk.layers.{layer}", f"rnns.{layer}.{middle}"
        names[f"{ours}.input_weight"] = f"{prefix}weight_ih_l0"
        names[f"{ours}.recurrent_weight"] = f"{prefix}weight_hh_l0{suffix}"
        names[f"{ours}.input_bias"] = f"{prefix}bias_ih_l0"
        names[f"{ours}.recurrent_bias"] = f"{prefix}bias_hh_l0"
    if isinstance(model.spec.output, MoS):
        names["output.mixture.latent_weight"] = "latent.0.weight"
        names["output.mixture.latent_bias"] = "latent.0.bias"
        names["output.mixture.prior_weight"] = "prior.weight"
    return names


@torch.no_grad()
def copy_weights(model: LanguageModel, theirs: nn.Module) -> None:
    """Give their model our weights, in our precision."""
    theirs.to(model.output.weight.dtype)
    own = dict(model.named_parameters())
    for name, their_name in weight_names(model, theirs).items():
        theirs.get_parameter(their_name).copy_(own[name])


@torch.no_grad()
def take_weights(model: LanguageModel, theirs: nn.Module) -> None:
    """Give our model their weights."""
    own = dict(model.named_parameters())
    for name, their_name in weight_names(model, theirs).items():
        own[name].copy_(theirs.get_parameter(their_name))


def script_function(script: Path, name: str, namespace: dict[str, Any]) -> FunctionType:
    """The function ``name`` of a script that is not run, with ``namespace`` for its globals.

    Raises LookupError when the script has none.
    """
    for node in ast.parse(script.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return _compiled(node, namespace)
    message = f"{script} has no function {name}"
    raise LookupError(message)


def function_of(name: str, body: Sequence[ast.stmt], namespace: dict[str, Any]) -> FunctionType:
    """A function without arguments that runs ``body``."""
    (node,) = ast.parse(f"def {name}(): pass").body
    assert isinstance(node, ast.FunctionDef)
    node.body = list(body)
    return _compiled(node, namespace)


def _compiled(node: ast.FunctionDef, namespace: dict[str, Any]) -> FunctionType:
    module = ast.fix_missing_locations(ast.Module([node], []))
    constants = compile(module, f"<{node.name}>", "exec").co_consts
    (code,) = [constant for constant in constants if hasattr(constant, "co_code")]
    defaults = tuple(ast.literal_eval(default) for default in node.args.defaults)
    return FunctionType(code, namespace, node.name, defaults)


@contextlib.contextmanager
def _alone(folder: Path, names: Sequence[str]) -> Iterator[None]:
    """Inside the block ``names`` are modules of ``folder``; after it as before."""
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    path, bytecode = sys.path[:], sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, bytecode
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def _allow_training_after_evaluation(weight_drop: Any) -> None:
    original = weight_drop._setweights

    def set_weights(self: Any) -> None:
        for name in self.weights:
            self.module._parameters.pop(name, None)
        original(self)

    weight_drop._setweights = set_weights
