"""Plain stochastic gradient descent, its rates, and the average of its iterates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, _foreach_add_, _foreach_sub, _foreach_sub_, nn

from repro.errors import DataError
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.recipe import Recipe


class Sgd:
    """p <- p - rate (g + weight_decay p), the norm of all gradients together clipped before."""

    def __init__(self, model: LanguageModel, recipe: Recipe) -> None:
        rates = learning_rates(model, recipe)
        self._clip = recipe.clip
        self._weight_decay = recipe.weight_decay
        self._parameters = [model.get_parameter(name) for name in rates]
        self._groups: dict[float, list[nn.Parameter]] = {}
        for parameter, rate in zip(self._parameters, rates.values(), strict=True):
            self._groups.setdefault(rate, []).append(parameter)

    @torch.no_grad()
    def step(self, scale: float) -> None:
        """One update with every rate multiplied by ``scale``; the gradients are consumed."""
        nn.utils.clip_grad_norm_(self._parameters, self._clip)
        for rate, group in self._groups.items():
            parameters: list[Tensor] = [p for p in group if p.grad is not None]
            gradients = [p.grad for p in parameters if p.grad is not None]
            if self._weight_decay and parameters:
                _foreach_add_(gradients, parameters, alpha=self._weight_decay)
            if parameters:
                _foreach_sub_(parameters, gradients, alpha=rate * scale)
            for parameter in parameters:
                parameter.grad = None


def learning_rates(model: LanguageModel, recipe: Recipe) -> dict[str, float]:
    """The rate of every parameter that is trained, by its name, before a step's factor.

    That of the longest name which is the parameter's or begins it up to a dot, in the recipe's
    ``learning_rates`` and those of the output layer (of the same name, the recipe's); else the
    recipe's ``learning_rate``. Raises DataError for a name in the recipe that no parameter has.
    """
    trained = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    of_output = model.output.learning_rates().items()
    named = {f"output.{name}": rate for name, rate in of_output} | (recipe.learning_rates or {})
    for name in recipe.learning_rates or {}:
        if not any(name in _beginnings(parameter) for parameter in trained):
            raise DataError(
                f"recipe.learning_rates: no parameter that is trained is named '{name}'\n"
                f"  expected: one of {', '.join(trained)}, or its beginning up to a dot\n"
                "  to do: correct the name in the configuration, or remove it"
            )
    return {
        parameter: next(
            (named[name] for name in _beginnings(parameter) if name in named),
            recipe.learning_rate,
        )
        for parameter in trained
    }


def _beginnings(name: str) -> list[str]:
    """The name and each part of it that ends at a point, the longest first."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


class Average:
    """Running mean of the weights from the second step after the switch on.

    The first step's weights stand for the mean until the second's replace them. This is
    ``torch.optim.ASGD`` with ``lambd=0, t0=0``, but for the rate, late only with ``rate: late``.
    """

    def __init__(self, model: nn.Module) -> None:
        self._parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.steps = 0
        self.weights: dict[str, Tensor] = {}

    @torch.no_grad()
    def update(self) -> None:
        """Take in the weights that a step has just produced."""
        self.steps += 1
        if self.steps <= 2:
            self.weights = {name: p.detach().clone() for name, p in self._parameters.items()}
            return
        means = [self.weights[name] for name in self._parameters]
        changes = _foreach_sub(list[Tensor](self._parameters.values()), means)
        _foreach_add_(means, changes, alpha=1 / (self.steps - 1))

    def restore(self, steps: int, weights: dict[str, Tensor]) -> None:
        """Go on from a saved mean."""
        self.steps = steps
        averaged = self._parameters.items() if steps else ()
        self.weights = {name: weights[name].to(p.device, copy=True) for name, p in averaged}

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model has the averaged weights inside the block, and its own again after it."""
        raw = {name: self._parameters[name].data for name in self.weights}
        try:
            for name, mean in self.weights.items():
                self._parameters[name].data = mean
            yield
        finally:
            for name, weights in raw.items():
                self._parameters[name].data = weights
