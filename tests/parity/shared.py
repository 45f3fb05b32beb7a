"""Their training on our random numbers: the same weights, masks and windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from benchmarks.published import Published
from benchmarks.references import Name, copy_weights, load_reference, weight_names
from repro.trainers.language_model.corpus import CorpusData
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.regularisation import LockedPlace, Regularisation
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import RunSpec
from tests.trainers import small

OUTPUTS: dict[Name, dict[str, Any]] = {
    "awd-lstm-lm": small.SOFTMAX,
    "mos": {"kind": "mos", "components": 3, "log_epsilon": 1e-8},
}
NAMES = list(OUTPUTS)


def run_of(name: Name, **recipe: Any) -> RunSpec:
    """A small run in float64, with streams that the recipe does not decide."""
    values = {"precision": "float64", **recipe}
    context = {"context_size": 7} if name == "mos" else {}
    model = small.model(OUTPUTS[name], layers=3, **context)
    run = small.run(OUTPUTS[name], small.recipe(**values), streams="paired")
    return run.model_copy(
        update={"training": TrainingSpec.of(run).model_copy(update={"model": model})}
    )


def model_of(run: RunSpec) -> LanguageModel:
    """Our model with the run's initial values."""
    precision = getattr(torch, TrainingSpec.of(run).recipe.precision)
    model = LanguageModel(
        TrainingSpec.of(run).model, TrainingSpec.of(run).corpus.vocabulary, precision
    )
    initialise(model, Streams(run))
    return model


@torch.no_grad()
def excited(model: LanguageModel) -> LanguageModel:
    """The same model with weights so large that every gate and every softmax is bent."""
    generator = torch.Generator().manual_seed(11)
    for parameter in model.parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        parameter.add_(noise.to(parameter.dtype), alpha=0.7)
    return model


def corpus() -> CorpusData:
    """Random words, cut where no epoch of ``test_training`` leaves a rest of one step.

    The vocabulary's last word does not occur. See ``test_loss`` and ``test_windows_are_theirs``.
    """
    generator = torch.Generator().manual_seed(0)
    train, valid, test = torch.randint(29, (3, 664), generator=generator).unbind()
    return CorpusData(train, valid, test, tuple(f"w{number}" for number in range(30)))


class Theirs:
    """Their model and training with our weights, and the masks and windows of one of our runs."""

    def __init__(
        self,
        root: Path,
        name: Name,
        run: RunSpec,
        ours: LanguageModel,
        texts: tuple[Tensor, Tensor | None],
        monkeypatch: pytest.MonkeyPatch,
        trained: int = 0,
    ) -> None:
        """``trained`` epochs are over; their script is that of the stage that follows."""
        training, recipe = TrainingSpec.of(run), TrainingSpec.of(run).recipe.stage(trained + 1)
        script = "finetune.py" if trained else "main.py"
        self._run, self._masks = run, cast("Iterator[Tensor]", iter(()))
        reference = load_reference(root, name)
        self.model = reference.build(training.model, training.corpus.vocabulary, recipe)
        self.names = weight_names(ours, self.model)
        copy_weights(ours, self.model)
        lengths = SimpleNamespace(random=self._uniform, normal=self._normal)
        self.published = Published(reference, self.model, recipe, *texts, lengths, script)
        self.published.namespace["gc"] = SimpleNamespace(
            collect=lambda: None
        )  # a tenth of a second
        self._train = self.published.namespace["train"]
        self.published.namespace["train"] = self.train
        self.epoch = trained
        monkeypatch.setattr(torch.Tensor, "bernoulli_", self._fill())
        monkeypatch.setattr(torch.nn.functional, "dropout", self._dropout)

    def train(self) -> None:
        """Their next epoch."""
        self.epoch += 1
        self._lengths = Streams(self._run).open("window_length", self.epoch)
        self._masks = masks(self._run, self.epoch)
        self._train()

    def named(self, of: Any) -> dict[str, Tensor]:
        """``of`` each of their parameters, under our names."""
        return {ours: of(self.model.get_parameter(name)) for ours, name in self.names.items()}

    def _uniform(self) -> float:
        return 1 - self._lengths.random()  # theirs are short above 0.95, ours below 0.05

    def _normal(self, mean: float, deviation: float) -> float:
        return self._lengths.normal(mean, deviation)

    def _fill(self) -> Callable[[Tensor, float], Tensor]:
        """A method of tensors, in place of ``bernoulli_``."""

        def fill(tensor: Tensor, keep: float) -> Tensor:
            mask = next(self._masks)
            assert tensor.shape == mask.shape
            return tensor.copy_(mask)

        return fill

    def _dropout(self, tensor: Tensor, p: float, training: bool) -> Tensor:
        if not training:
            return tensor
        mask = next(self._masks)
        assert tensor.shape == mask.shape
        return tensor * mask.to(tensor.dtype) / (1 - p)


def masks(run: RunSpec, epoch: int) -> Iterator[Tensor]:
    """Our masks of an epoch, 0 or 1, in the order in which their model asks for them."""
    recipe = TrainingSpec.of(run).recipe
    regularisation = Regularisation.of_epoch(recipe, Streams(run), epoch)
    return chain.from_iterable(iter(lambda: _masks_of_window(run, regularisation), None))


def _masks_of_window(run: RunSpec, regularisation: Regularisation) -> list[Tensor]:
    """Embedding, input; of each layer its matrix and its output; latent. None where p is 0."""
    model, recipe = TrainingSpec.of(run).model, TrainingSpec.of(run).recipe
    batch = recipe.small_batch_size or recipe.batch_size

    def locked(place: LockedPlace, size: int) -> list[Tensor]:
        p = getattr(recipe.dropout, place)
        return [regularisation.locked(place, torch.ones(1, batch, size)) > 0] if p else []

    found = []
    if recipe.dropout.embedding:
        words_V1 = torch.arange(TrainingSpec.of(run).corpus.vocabulary).unsqueeze(1)
        ones_V1 = torch.ones(len(words_V1), 1)
        found += [regularisation.embed(words_V1, ones_V1).squeeze(-1) > 0]
    found += locked("input", model.embedding_size)
    sizes = model.layer_sizes()
    for depth, (_, hidden) in enumerate(sizes, start=1):
        if recipe.dropout.weight:
            found += [regularisation.weight(torch.ones(4 * hidden, hidden)) > 0]
        found += locked("output" if depth == len(sizes) else "hidden", hidden)
    if model.output.maps_contexts:
        found += locked("latent", model.output.components * model.embedding_size)  # type: ignore[union-attr]
    return found
