"""Plain stochastic gradient descent, its rate schedule, and the average of its iterates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from repro.lm.model import LanguageModel
from repro.lm.output.plif import PlifOutput
from repro.specs.recipe import Averaging, FromEpoch, NonMonotonic, Recipe


class Sgd:
    """p <- p - rate (g + weight_decay p), after the gradients' global norm is clipped.

    Every parameter that is trained has the recipe's rate, but PLIF slopes their own. The clip
    bounds the norm over all gradients together; weight decay is added after it.
    """

    def __init__(self, model: LanguageModel, recipe: Recipe) -> None:
        slopes = model.output.slopes if isinstance(model.output, PlifOutput) else None
        slope_rate = model.output.learning_rate if isinstance(model.output, PlifOutput) else 0.0
        self._clip = recipe.clip
        self._weight_decay = recipe.weight_decay
        self._rates = [
            (parameter, slope_rate if parameter is slopes else recipe.learning_rate)
            for parameter in model.parameters()
            if parameter.requires_grad
        ]

    @torch.no_grad()
    def step(self, scale: float) -> None:
        """One update with every rate multiplied by ``scale``; the gradients are consumed."""
        parameters = [parameter for parameter, _ in self._rates]
        nn.utils.clip_grad_norm_(parameters, self._clip)
        for parameter, rate in self._rates:
            gradient = parameter.grad
            if gradient is None:
                continue
            if self._weight_decay:
                gradient.add_(parameter, alpha=self._weight_decay)
            parameter.sub_(gradient, alpha=rate * scale)
            parameter.grad = None


class Average:
    """Running mean of the weights from the second step after the switch on.

    The first step's weights stand for the mean until the second's replace them: this is
    ``torch.optim.ASGD`` with ``lambd=0, t0=0``, but for one thing. There a change of the
    learning rate takes effect one step late; here only where the recipe says ``rate: late``.
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
        for name, parameter in self._parameters.items():
            mean = self.weights[name]
            mean.add_(parameter - mean, alpha=1 / (self.steps - 1))

    def restore(self, steps: int, weights: dict[str, Tensor]) -> None:
        """Go on from a saved mean."""
        self.steps = steps
        self.weights = {
            name: weights[name].to(p.device, copy=True)
            for name, p in self._parameters.items()
            if steps
        }

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model has the averaged weights inside the block, and its own again after it."""
        raw = {name: self._parameters[name].data for name in self.weights}
        try:
            for name, mean in self.weights.items():
                self._parameters[name].data = mean
            yield
        finally:
            for name, own in raw.items():
                self._parameters[name].data = own


def switches(averaging: Averaging, earlier: Sequence[float], loss: float) -> bool:
    """Whether averaging starts after the epoch that ended with validation ``loss``.

    ``earlier`` are the validation losses of the epochs before it. Asked only while there is no
    averaging yet. ``nt``: the loss is above the best of all but the last n of them (and there
    are more than n). ``et``: the epoch is the one that was fixed.
    """
    match averaging:
        case NonMonotonic(n=n):
            return stalls(n, earlier, loss)
        case FromEpoch(epoch=epoch):
            return len(earlier) + 1 == epoch
        case _:
            return False


def stalls(n: int, earlier: Sequence[float], loss: float) -> bool:
    """The NT rule: ``loss`` is above the best of all ``earlier`` ones but the last n."""
    return len(earlier) > n and loss > min(earlier[:-n])


def finished(recipe: Recipe, losses: Sequence[float]) -> bool:
    """Whether nothing is left to train after epochs that ended with these validation losses."""
    tuning, own = recipe.finetuning, losses[recipe.epochs :]
    if tuning is None or not own:
        return len(losses) >= recipe.most_epochs
    return len(own) >= tuning.epochs or stalls(tuning.n, own[:-1], own[-1])
