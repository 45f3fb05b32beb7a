"""Adam, with the clip of the gradients' norm, and the masks of an epoch."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from repro.lm.dialog.model import DialogModel
from repro.lm.randomness import Streams
from repro.lm.regularisation import Regularisation
from repro.specs.dialog import DialogRecipe

MOMENTS = ("mean", "square")


class AdamOptimiser:
    """p <- p - rate m / (sqrt(v) + epsilon), m and v running means of g and g squared.

    Both are divided by 1 - beta^t, t counting from 1, because they begin with zero. The clip
    bounds the norm over all gradients together. Every parameter that is trained has the recipe's
    rate, but those that the output layer has a rate for. Reference: Kingma and Ba 2015.
    """

    def __init__(self, model: DialogModel, recipe: DialogRecipe) -> None:
        own = {f"output.{name}": rate for name, rate in model.output.learning_rates().items()}
        self._clip, self._spec = recipe.clip, recipe.optimiser
        self._parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self._rates = {
            name: own.get(name, recipe.optimiser.learning_rate) for name in self._parameters
        }
        self.steps = 0
        self.moments: dict[str, Tensor] = {
            f"{moment}/{name}": torch.zeros_like(parameter, requires_grad=False)
            for moment in MOMENTS
            for name, parameter in self._parameters.items()
        }

    @torch.no_grad()
    def step(self, scale: float = 1.0) -> None:
        """One update with every rate multiplied by ``scale``; the gradients are consumed."""
        nn.utils.clip_grad_norm_(self._parameters.values(), self._clip)
        self.steps += 1
        beta1, beta2 = self._spec.beta1, self._spec.beta2
        unbias = 1 / (1 - beta1**self.steps)
        root = math.sqrt(1 - beta2**self.steps)
        for name, parameter in self._parameters.items():
            gradient = parameter.grad
            if gradient is None:
                continue
            mean, square = (self.moments[f"{moment}/{name}"] for moment in MOMENTS)
            mean.lerp_(gradient, 1 - beta1)
            square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            divisor = square.sqrt().div_(root).add_(self._spec.epsilon)
            parameter.addcdiv_(mean, divisor, value=-self._rates[name] * scale * unbias)
            parameter.grad = None

    def restore(self, steps: int, moments: dict[str, Tensor]) -> None:
        """Go on from saved moments."""
        self.steps = steps
        for name, moment in self.moments.items():
            moment.copy_(moments[name])


def masks_of_epoch(recipe: DialogRecipe, streams: Streams, epoch: int) -> Regularisation:
    """The masks that ``recipe`` asks for in one epoch, always the same ones."""
    probabilities = recipe.dropout.model_dump()
    return Regularisation(probabilities, 0.0, lambda name: streams.open(name, epoch))
