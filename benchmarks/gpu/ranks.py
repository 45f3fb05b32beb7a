"""The command: ``python -m benchmarks.gpu.ranks --device cuda --out FOLDER``.

Seconds of a perplexity and of a rank over every context of the papers' test texts, with random
weights at the papers' sizes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch

from benchmarks.gpu.command import add_device, add_out, computing, surroundings, write
from benchmarks.gpu.stopwatch import forget_peak, peak_bytes
from benchmarks.gpu.workloads import corpus_of, specification
from benchmarks.speed.shapes import run_of
from benchmarks.speed.table import piped
from repro.trainers.language_model.evaluation import log_probability_rows, mean_loss
from repro.trainers.language_model.measurements.model_rank import rank_of
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams, initialise

HEAD: Final = ("what", "seconds", "found", "peak, GB")
BATCH: Final = {False: 1, True: 4}
"""Streams of the test text, as the papers read it; of a tiny one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table, and writes it after each row."""
    given = _parser().parse_args(arguments)
    rows: list[tuple[str, ...]] = []
    with computing(given.device) as facts:
        device = torch.device(given.device)
        for name in given.only:
            for row in of_workload(name, device, tiny=given.device == "cpu"):
                rows.append(row)
                print(" | ".join(row), flush=True)
                text = f"# Ranks on a device\n\n{surroundings(facts)}\n\n{piped([HEAD, *rows])}\n"
                records = [dict(zip(HEAD, one, strict=True)) for one in rows]
                write(given.out, "ranks", {"facts": facts, "findings": records}, text)
    return 0


def of_workload(name: str, device: torch.device, *, tiny: bool) -> Iterator[tuple[str, ...]]:
    """Perplexity of the test text, then its rank, and the rank again with the control known."""
    spec = specification(name, tiny=tiny)
    corpus = corpus_of(spec)
    model = LanguageModel(spec.model, spec.corpus.vocabulary)
    initialise(model, Streams(run_of(spec)))
    model.to(device)
    test, batch = corpus.test.to(device), BATCH[tiny]
    count = (len(test) // batch - 1) * batch

    def timed(what: str, found: Any) -> tuple[str, ...]:
        forget_peak(device)
        began = time.monotonic()
        value = found()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds = time.monotonic() - began
        peak = peak_bytes(device) / 1e9
        return (f"{name}, {what}", f"{seconds:.1f}", f"{value:,.2f}", f"{peak:.1f}")

    def rank() -> float:
        chunks = log_probability_rows(model, test, batch)
        return rank_of(chunks, model.output, count, None)[0]

    yield timed("mean loss of the test text", lambda: mean_loss(model, corpus.test, batch)[0])
    yield timed("rank and its control", rank)
    yield timed("rank, the control being known", rank)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.ranks",
        description="Seconds of a rank at the papers' sizes.",
    )
    add_device(parser)
    add_out(parser)
    parser.add_argument(
        "--only", nargs="+", default=("ptb_softmax", "ptb_mos", "wt2_mos"), help="only these"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
