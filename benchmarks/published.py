"""Their training, function by function, out of the scripts of a reference implementation.

Their statements run as they stand, with globals that are given to them here:

- *Printing, logging and saving* do nothing: who wants the weights asks.
- *Arguments* are a record instead of a command line, and ``cuda`` is off.
- *Random numbers* of numpy are an object that the caller gives (by default numpy's own), so
  that window lengths can be fixed, or shared with ours.

None of these touches a number. What their code does differently from ours stays in: the
gradient of the vocabulary's last word lacks the part of the lookup (``padding_idx`` -1, written to
mean no word, means the last one to the torch of today).
"""

from __future__ import annotations

import ast
import gc
import math
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.references import Reference, function_of, script_function
from repro.trainers.language_model.recipe import NonMonotonic, Recipe

GLOBALS_OF_THE_LOOP: Final = ("optimizer", "stored_loss", "best_val_loss", "val_loss")


class Published:
    """Their ``train``, ``evaluate`` and loop over epochs, of ``main.py`` or ``finetune.py``.

    ``train_LB`` and ``valid_LB`` are texts in columns. ``random`` has ``random()`` and
    ``normal(mean, deviation)``, from which their window lengths are drawn.
    """

    def __init__(
        self,
        reference: Reference,
        model: nn.Module,
        recipe: Recipe,
        train_LB: Tensor,
        valid_LB: Tensor | None = None,
        random: Any = np.random,
        script: str = "main.py",
    ) -> None:
        self.model = model
        self._script = reference.folder / script
        self.namespace = self._namespace(reference, recipe, random)
        self.namespace |= {"train_data": train_LB, "val_data": valid_LB}
        for name in ("train", "evaluate"):
            self.namespace[name] = script_function(self._script, name, self.namespace)
        self._evaluate = self.namespace["evaluate"]

    def _namespace(self, reference: Reference, recipe: Recipe, random: Any) -> dict[str, Any]:
        criterion = nn.Module()
        if reference.name == "awd-lstm-lm":
            size = self.model.ninp
            criterion = reference.modules["splitcross"].SplitCrossEntropyLoss(size, splits=[])
        utils, rate, decay = reference.modules["utils"], recipe.learning_rate, recipe.weight_decay
        dictionary = range(self.model.get_parameter("decoder.bias").numel())
        return {
            "torch": torch,
            "nn": nn,
            "math": math,
            "time": time,
            "gc": gc,
            "np": SimpleNamespace(random=random),
            "args": arguments(recipe),
            "model": self.model,
            "parallel_model": self.model,
            "criterion": criterion,
            "params": list(self.model.parameters()),
            "corpus": SimpleNamespace(dictionary=dictionary),
            "optimizer": torch.optim.SGD(self.model.parameters(), lr=rate, weight_decay=decay),
            "get_batch": utils.get_batch,
            "repackage_hidden": utils.repackage_hidden,
            **dict.fromkeys(("print", "logging", "model_save", "save_checkpoint"), _nothing),
            "epoch": 1,
            "eval_batch_size": recipe.valid_batch_size,
            "stored_loss": 100000000,
            "best_val_loss": [],
        }

    @property
    def best_loss(self) -> float:
        """Lowest validation loss that their loop has met, in nats a predicted token."""
        return self._per_prediction(self.namespace["stored_loss"], self.namespace["val_data"])

    def when_saving(self, action: Callable[[], None]) -> None:
        """Do ``action`` where their loop saves the model: at a new best validation loss."""
        saving = dict.fromkeys(("model_save", "save_checkpoint"), lambda *_, **__: action())
        self.namespace |= saving

    def average(self) -> None:
        """Go on with their averaged SGD, as their fine-tuning begins."""
        given = self.namespace["args"]
        self.namespace["optimizer"] = torch.optim.ASGD(
            self.model.parameters(), lr=given.lr, t0=0, lambd=0.0, weight_decay=given.wdecay
        )

    def train(self) -> None:
        """One epoch: their loop over windows, with the optimiser that is in force."""
        self.namespace["train"]()

    def evaluate(self, text_LB: Tensor) -> float:
        """Mean loss in nats a token over the L - 1 steps that are predicted.

        Theirs divides by L.
        """
        return self._per_prediction(self.evaluate_as_published(text_LB), text_LB)

    def evaluate_as_published(self, text_LB: Tensor) -> float:
        """The sum over the L - 1 steps that are predicted, divided by L."""
        loss: float = self._evaluate(text_LB, text_LB.shape[1])
        return loss

    @staticmethod
    def _per_prediction(loss: float, text_LB: Tensor) -> float:
        return loss * len(text_LB) / (len(text_LB) - 1)

    def run_epochs(self, epochs: int | None = None) -> None:
        """Their loop over so many epochs (by default all), with the switch to averaging."""
        if epochs is not None:
            self.namespace["args"].epochs = epochs
        loop = _loop_over_epochs(ast.parse(self._script.read_text("utf-8")))
        body: list[ast.stmt] = [ast.Global([*GLOBALS_OF_THE_LOOP]), loop]
        function_of("run_epochs", body, self.namespace)()


def published_step(
    reference: Reference, model: nn.Module, recipe: Recipe, text_LB: Tensor
) -> Callable[[], None]:
    """One training step as published, on a window of L - 1 steps: to be timed.

    Forward from a zero state, loss with AR and TAR, backward, clip and SGD, by their ``train``.
    """
    base = float(len(text_LB) - 1)
    fixed = SimpleNamespace(random=lambda: 0.0, normal=lambda *_: base)
    return Published(reference, model, recipe, text_LB, random=fixed).train


def arguments(recipe: Recipe) -> SimpleNamespace:
    """What their scripts read from the command line."""
    rule = recipe.averaging
    return SimpleNamespace(
        model="LSTM",
        cuda=False,
        optimizer="sgd",
        when=[-1],
        save="",
        lr=recipe.learning_rate,
        clip=recipe.clip,
        wdecay=recipe.weight_decay,
        alpha=recipe.activation,
        beta=recipe.temporal,
        log_interval=200,
        epochs=recipe.epochs,
        batch_size=recipe.batch_size,
        small_batch_size=recipe.small_batch_size or recipe.batch_size,
        bptt=recipe.window.base,
        max_seq_len_delta=recipe.window.max_delta or 10**6,
        nonmono=rule.n if isinstance(rule, NonMonotonic) else 10**6,
    )


def _loop_over_epochs(tree: ast.Module) -> ast.For:
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    (loop,) = [node for node in loops if ast.unparse(node.target) == "epoch"]
    return loop


def _nothing(*_: object, **__: object) -> None:
    """Print, log and save nothing."""
