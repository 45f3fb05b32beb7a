"""The command: ``python -m benchmarks.gpu.paper --minutes 9 --data DATA --out FOLDER``.

Trains a paper's configuration as long as the time allows, stops at the end of an epoch, and
writes what can be said of the best weights so far. What it writes is evidence to look at, and
goes into no store.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from benchmarks.gpu.carried import NOTE, continued, origin_of
from benchmarks.gpu.command import add_device, add_out, computing
from benchmarks.gpu.stopwatch import forget_peak, peak_bytes
from benchmarks.speed.shapes import CONFIGURATIONS
from repro.errors import ReproError, StoreError
from repro.specs.configuration import read_sheet
from repro.trainers.language_model.checkpoint import FILE_NAME, Checkpoint, load_checkpoint
from repro.trainers.language_model.corpus import CorpusData, load_corpus
from repro.trainers.language_model.evaluation import log_probability_rows, mean_loss
from repro.trainers.language_model.measurements.model_rank import rank_of
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Progress

EVIDENCE, SPECTRUM = "evidence.json", "spectrum.npy"
TEST_BATCH: Final = 1
RESERVE: Final = 60.0
"""Seconds that are kept for the measurements after the last epoch."""
EXPLORATORY: Final = (
    "A training that was stopped when its time was over, to be looked at: no evidence of a claim, "
    "and no run of a store."
)


class TimeIsOverError(Exception):
    """Another epoch would not end in time."""


@dataclass
class Deadline:
    """Listens to the progress of one run, and stops it between two epochs.

    A report of step 0 comes after the checkpoint of the epoch before. At least one epoch is
    trained, and no other is begun that, as long as the longest so far, would end too late.
    """

    ends: float
    now: Callable[[], float] = time.monotonic
    seconds: list[float] = field(default_factory=list)
    _before: float | None = None

    def __call__(self, where: Progress) -> None:
        """A report; raises TimeIsOverError."""
        if where.step or where.phase != "train":
            return
        now = self.now()
        if self._before is not None:
            self.seconds.append(now - self._before)
            if now + max(self.seconds) > self.ends:
                raise TimeIsOverError
        self._before = now


def explore(
    run: RunSpec,
    corpus: CorpusData,
    device: torch.device,
    folder: Path,
    deadline: Deadline,
) -> tuple[dict[str, Any], np.ndarray]:
    """Train ``run`` on from what ``folder`` holds; the evidence, and the singular values.

    Raises StoreError when the checkpoint in the folder is of another run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    run = continued(run, folder)
    forget_peak(device)
    with suppress(TimeIsOverError):
        train([run], corpus, device=device, folders=[folder], progress=deadline)
    peak = peak_bytes(device)
    checkpoint, note = load_checkpoint(folder, run.key)
    if checkpoint is None or not checkpoint.best_epoch:
        raise StoreError(note or f"{folder}: no epoch has ended with a finite loss")
    measured, spectrum = _measured(run, checkpoint, corpus, device)
    origin = origin_of(folder)
    return {
        "notes": [EXPLORATORY, *([NOTE] if origin else [])],
        "run": run.key,
        "origin": None if origin is None else asdict(origin),
        "training": TrainingSpec.of(run).model_dump(mode="json", exclude_none=True),
        "history": [asdict(record) for record in checkpoint.history],
        "best_epoch": checkpoint.best_epoch,
        "diverged": checkpoint.diverged,
        "averaging": checkpoint.averaging,
        "epoch_seconds": deadline.seconds,
        "peak_bytes": peak,
        **measured,
    }, spectrum


def _measured(
    run: RunSpec, checkpoint: Checkpoint, corpus: CorpusData, device: torch.device
) -> tuple[dict[str, Any], np.ndarray]:
    """Perplexities and rank of the best weights."""
    spec = TrainingSpec.of(run)
    model = LanguageModel(spec.model, spec.corpus.vocabulary)
    model.load_state_dict(checkpoint.best)
    model.to(device)
    batches = {"valid": spec.recipe.valid_batch_size, "test": TEST_BATCH}
    perplexities = {
        name: math.exp(mean_loss(model, corpus.split(name), batch)[0])  # type: ignore[arg-type]
        for name, batch in batches.items()
    }
    rows = (len(corpus.test) // TEST_BATCH - 1) * TEST_BATCH
    chunks = log_probability_rows(model, corpus.test.to(device), TEST_BATCH)
    rank, details, spectrum = rank_of(chunks, model.output, rows, None)
    return {
        "perplexity": perplexities,
        "rank": rank,
        "rank_bound": spec.model.rank_bound(),
        "rank_details": details,
    }, spectrum


def specification(name: str, products: str | None) -> TrainingSpec:
    """The configuration ``name``, with these products."""
    sheet = read_sheet(CONFIGURATIONS / f"{name}.yaml")
    if sheet.configuration is None:
        raise StoreError("; ".join(map(str, sheet.problems)))
    document = sheet.configuration.training().model_dump(mode="json", exclude_none=True)
    if products is not None:
        document["recipe"]["products"] = products
    return TrainingSpec.model_validate_json(json.dumps(document))


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains, measures, writes, and prints what it came to."""
    began = time.monotonic()
    given = _parser().parse_args(arguments)
    out: Path = given.out
    folder: Path = given.resume or out.with_name(f"{out.name}-checkpoint")
    if given.resume is None and (folder / FILE_NAME).exists():
        print(f"{folder} holds a checkpoint: go on with --resume {folder}", file=sys.stderr)
        return 2
    deadline = Deadline(began + 60 * given.minutes - RESERVE)
    try:
        spec = specification(given.configuration, given.products)
        run = RunSpec(training=spec, replicate=given.replicate)
        with computing(given.device) as facts:
            corpus = load_corpus(spec.corpus, given.data)
            device = torch.device(given.device)
            evidence, spectrum = explore(run, corpus, device, folder, deadline)
    except ReproError as error:
        print(error, file=sys.stderr)
        return 1
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**evidence, "facts": facts}, indent=1)
    (out / EVIDENCE).write_text(text + "\n", encoding="utf-8")
    np.save(out / SPECTRUM, spectrum)
    print(_summary(evidence, folder))
    return 0


def _summary(evidence: dict[str, Any], folder: Path) -> str:
    seconds = evidence["epoch_seconds"]
    each = f", {float(np.median(seconds)):.2f} s an epoch" if seconds else ""
    perplexity, bound = evidence["perplexity"], evidence["rank_bound"]
    return (
        f"{len(evidence['history'])} epochs{each}; best: {evidence['best_epoch']}\n"
        f"perplexity: {perplexity['valid']:.2f} valid, {perplexity['test']:.2f} test\n"
        f"rank {evidence['rank']:.0f} (bound {bound}); checkpoint in {folder}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.paper",
        description="A paper's training for as many epochs as the time allows.",
        epilog=EXPLORATORY,
    )
    add_device(parser)
    add_out(parser)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--minutes", type=float, default=9.0, help="in all (%(default)s)")
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="FOLDER",
        help="with the checkpoint to go on from, and to be written (a new one beside --out)",
    )
    parser.add_argument(
        "--configuration", default="merity2018/ptb/softmax", help="its name (%(default)s)"
    )
    parser.add_argument("--products", choices=("tf32", "bf16"), help="of lower precision")
    parser.add_argument("--replicate", type=int, default=0, help="its number (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
