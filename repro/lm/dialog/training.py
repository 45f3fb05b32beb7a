"""Training on dialogs: all responses in a new order each epoch, one Adam step a batch of them.

Runs are trained one after the other. What happens between epochs (validation, the best weights,
divergence, checkpoints) is that of language models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from repro.lm.dialog.batches import batch_of, shuffled
from repro.lm.dialog.corpus import DialogData, DialogSplit
from repro.lm.dialog.evaluation import mean_loss
from repro.lm.dialog.model import DialogModel
from repro.lm.dialog.optimiser import AdamOptimiser, masks_of_epoch
from repro.lm.dialog.start import begin
from repro.lm.evaluation import full_precision
from repro.lm.optimiser import Average
from repro.lm.randomness import Streams
from repro.lm.records import Phase, Progress, TrainedRun
from repro.lm.replicates import DTYPES, Losses, TrainingReplicate
from repro.specs.dialog import DialogRecipe
from repro.specs.run import RunSpec

Report = Callable[[Progress], None]


def train(
    batch: Sequence[RunSpec],
    corpus: DialogData,
    *,
    device: torch.device,
    folders: Sequence[Path | None],
    progress: Report | None = None,
) -> list[TrainedRun[DialogModel]]:
    """Train each run of ``batch``, one after the other, and return them in the same order.

    ``folders`` gives each run the place of its checkpoint, or None for no checkpoint. A run
    whose folder holds one goes on from there and ends, on a CPU, with the same bits as if it
    had never stopped. Raises ValueError when the corpus is not that of the runs, StoreError when
    a folder holds the checkpoint of another run.
    """
    for run in batch:
        if run.dialog.corpus.vocabulary != corpus.vocabulary:
            message = f"run {run.key} is not for a corpus of {corpus.vocabulary} words"
            raise ValueError(message)
    report = progress or (lambda _: None)
    with full_precision():
        return [
            _train(run, corpus, device, folder, report)
            for run, folder in zip(batch, folders, strict=True)
        ]


def _train(
    run: RunSpec, corpus: DialogData, device: torch.device, folder: Path | None, report: Report
) -> TrainedRun[DialogModel]:
    spec = run.dialog
    model = DialogModel(spec.model, corpus.vocabulary, DTYPES[spec.recipe.precision])
    begin(model, spec.recipe, Streams(run), corpus.train)
    model.to(device)
    adam, average = AdamOptimiser(model, spec.recipe), Average(model)
    replicate = TrainingReplicate(run, folder, model, spec.recipe, average, adam).resumed()
    train_split = corpus.train.to(device)
    while not replicate.ended:
        losses = _train_epoch(replicate, adam, train_split, report)
        replicate.end_epoch(
            losses, lambda: mean_loss(model, corpus.valid)[0], train_split.predicted
        )
    return replicate.result()


def _train_epoch(
    replicate: TrainingReplicate[DialogModel, DialogRecipe],
    adam: AdamOptimiser,
    split: DialogSplit,
    report: Report,
) -> Losses:
    """One pass over all responses; the losses are taken before each step, dropout on."""
    recipe, epoch, streams = replicate.begin_epoch(), replicate.epoch, Streams(replicate.run)
    regularisation = masks_of_epoch(recipe, streams, epoch)
    batches = shuffled(split, recipe.batch_size, streams.open("batch_order", epoch))
    done, in_all = (epoch - 1) * split.predicted, recipe.epochs * split.predicted

    def tell(step: int, phase: Phase) -> None:
        where = (epoch, recipe.epochs, step, len(batches), done, in_all)
        report(Progress(replicate.run.key, *where, phase))

    by_token, by_step = torch.zeros(2, dtype=torch.float64, device=split.tokens.device)
    tell(0, "train")
    for step, examples in enumerate(batches, start=1):
        batch = batch_of(split, examples)
        loss = replicate.model.loss(batch, regularisation)
        loss.backward()
        adam.step()
        by_token += loss.detach().double() * batch.tokens
        by_step += loss.detach().double()
        done += batch.tokens
        tell(step, "train")
    tell(len(batches), "valid")
    return Losses(float(by_token) / split.predicted, float(by_step) / len(batches))
