"""Averaged SGD as the papers' code had it: torch's own, with the rates set before each step."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from repro.trainers.language_model.corpus import draw_windows, load_corpus
from repro.trainers.language_model.evaluation import mean_loss
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.recipe import WindowLength
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import RunSpec


def losses_by_asgd(
    model: LanguageModel, run: RunSpec, epochs: Sequence[int], rate: float, window: WindowLength
) -> list[float]:
    """Validation losses of the averaged weights after each of ``epochs``, without dropout.

    ``model``, in float64, is trained in batches of 4 with clip 0.25.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # that of torch's rates and of the weights of its mean
    try:
        return _losses(model, run, epochs, rate, window)
    finally:
        torch.set_default_dtype(before)


def _losses(
    model: LanguageModel, run: RunSpec, epochs: Sequence[int], rate: float, window: WindowLength
) -> list[float]:
    corpus = load_corpus(TrainingSpec.of(run).corpus, None)
    text = corpus.train.view(4, 150).t()
    asgd = torch.optim.ASGD(model.parameters(), lr=rate, lambd=0, t0=0)
    losses = []
    for epoch in epochs:
        lengths, state = Streams(run).open("window_length", epoch), model.zero_state(4)
        for part in draw_windows(149, window, lengths):
            output = model(part.inputs(text), tuple((h.detach(), c.detach()) for h, c in state))
            state = output.state
            asgd.zero_grad()
            model.output.loss(output.context, part.targets(text)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            asgd.param_groups[0]["lr"] = rate * part.rate
            asgd.step()
        raw = [parameter.data.clone() for parameter in model.parameters()]
        for parameter in model.parameters():
            parameter.data = asgd.state[parameter]["ax"].clone()
        losses.append(mean_loss(model, corpus.valid, 10)[0])
        for parameter, data in zip(model.parameters(), raw, strict=True):
            parameter.data = data
    return losses
