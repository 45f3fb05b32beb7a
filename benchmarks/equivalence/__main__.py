"""The command: ``python -m benchmarks.equivalence``."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import torch

from benchmarks.equivalence.plan import report
from benchmarks.equivalence.publish import COLUMNS, MEASUREMENT, RESULTS, by_arm, publish
from benchmarks.equivalence.runs import ARMS, Arm, ours, theirs, training_spec
from repro.trainers.language_model.corpus import load_corpus

VALUES: Final = Path(__file__).with_name("values.csv")
PILOT: Final = Path(__file__).with_name("pilot.csv")

EPILOG = """
Each finished seed is appended to the CSV, and one that is there already is not trained again, so
a command that was stopped goes on where it was. With --plan nothing is trained: the values in the
CSV are a pilot, and what is printed is how many seeds an arm their scatter asks for. With --publish
values.csv is judged, and results/equivalence-DATE.{json,md} are written.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains what is missing, or plans, or publishes."""
    given = _parser().parse_args(arguments)
    if given.plan:
        print(report(by_arm(read(given.out))))
        return 0
    if given.publish:
        print(publish(read(PILOT), read(VALUES), given.commits, RESULTS))
        return 0
    train_missing(given)
    return 0


def train_missing(given: argparse.Namespace) -> None:
    """The seeds that the CSV lacks, ours and theirs in turn."""
    torch.set_num_threads(1)
    spec = training_spec()
    corpus = load_corpus(spec.corpus, given.data)
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for arm in ARMS:
            if (arm, seed) in read(given.out):
                continue
            began = time.monotonic()
            value = (
                ours(seed, spec, corpus)
                if arm == "ours"
                else theirs(seed, spec, corpus, given.references)
            )
            append(given.out, arm, seed, value)
            print(f"{arm} {seed}: {value:.3f} ({time.monotonic() - began:.0f} s)", flush=True)


def read(path: Path) -> dict[tuple[str, int], float]:
    """Values by arm and seed; none where there is no file yet."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {(row["arm"], int(row["seed"])): float(row["value"]) for row in csv.DictReader(file)}


def append(path: Path, arm: Arm, seed: int, value: float) -> None:
    """One more row, below the header."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerow([arm, seed, MEASUREMENT, repr(value)])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.equivalence",
        description="Trains a small Softmax model on Penn Treebank, theirs and ours.",
        epilog=EPILOG,
    )
    parser.add_argument("--out", type=Path, default=VALUES, help="CSV to be added to")
    parser.add_argument("--plan", action="store_true", help="say how many seeds the CSV asks for")
    parser.add_argument("--publish", action="store_true", help="judge, and write the results")
    parser.add_argument("--commits", default="", help="what was run, for --publish")
    parser.add_argument("--references", type=Path, help="folder of the reference implementations")
    parser.add_argument("--data", type=Path, help="folder of the corpora")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of each (default 3)")
    parser.add_argument("--first-seed", type=int, default=0, help="number of the first")
    return parser


if __name__ == "__main__":
    sys.exit(main())
