"""The command: ``python -m benchmarks.gpu.correctness --device cuda --out FOLDER``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from benchmarks.gpu import passes, trainings
from benchmarks.gpu.cases import PAPER, SMALL, TINY, Size
from benchmarks.gpu.checks import Check, table
from benchmarks.gpu.command import add_device, add_out, computing, surroundings, write
from repro.trainers.language_model.recipe import Products

TITLE = "Correctness on a device"
EPILOG = """
Each output layer's loss and gradients beside float64 on the CPU, for the same weights and masks;
trainings of replicates together and alone, repeated, poisoned with NaN, moved to the CPU; masks;
ranks. Exit status: 0 every bound is kept, 1 not, 2 wrong usage.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table, and says by its exit status whether a bound is broken."""
    given = _parser().parse_args(arguments)
    size = TINY if given.tiny else SMALL
    done: list[Check] = []
    with computing(given.device) as own:
        facts = {**own, "determinism": determinism()}
        for check in checks(torch.device(given.device), size, paper=given.device == "cuda"):
            done.append(check)
            print(f"{check.what}: {check.value:.2g} {check.word}", file=sys.stderr, flush=True)
            write(given.out, "correctness", _document(facts, done), _markdown(facts, done))
    print(_markdown(facts, done))
    return int(not all(check.kept for check in done))


def checks(device: torch.device, size: Size, *, paper: bool) -> Iterator[Check]:
    """All of them, the quick ones first; ``paper`` adds one window of the papers' sizes."""
    precisions: list[Products | None] = [None, "tf32", "bf16"]
    yield from passes.of_outputs(passes.all_layers(), size, device, precisions)
    if device.type == "cuda":
        yield passes.tf32_is_in_force(size, device)
    yield from passes.of_masks(size, device)
    yield from passes.of_rank(size, device)
    yield from trainings.of_together("softmax", size, device)
    yield from trainings.of_together("mos", size, device)
    yield from trainings.of_devices("mos", size, device)
    yield from trainings.of_nan("softmax", size, device)
    yield from trainings.of_checkpoint("mos", size, device)
    for output in ("softmax", "plif", "mos"):
        yield from trainings.of_repetition(output, size, device)
    if paper:
        yield from passes.of_outputs(["softmax", "mos"], PAPER, device, precisions)


def determinism() -> dict[str, str | int | bool]:
    """What torch was told, and what the libraries read from the environment."""
    return {
        "torch.use_deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "torch.backends.cudnn.deterministic": torch.backends.cudnn.deterministic,
        "torch.backends.cudnn.benchmark": torch.backends.cudnn.benchmark,
        "CUBLAS_WORKSPACE_CONFIG": os.environ.get("CUBLAS_WORKSPACE_CONFIG", "not set"),
    }


def _document(facts: dict[str, Any], done: Sequence[Check]) -> dict[str, Any]:
    return {
        "facts": facts,
        "checks": [check.record() for check in done],
    }


def _markdown(facts: dict[str, Any], done: Sequence[Check]) -> str:
    broken = sum(not check.kept for check in done)
    settings = "; ".join(f"{name}: {value}" for name, value in facts["determinism"].items())
    parts = [
        f"# {TITLE}",
        surroundings(facts),
        f"Determinism in force: {settings}.",
        table(done),
        f"{len(done)} checks, {broken} broken.",
    ]
    return "\n\n".join(parts) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.correctness",
        description="Does the device compute what the CPU computes?",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_device(parser)
    add_out(parser)
    parser.add_argument("--tiny", action="store_true", help="smaller models, for a test")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
