"""The command: ``python -m benchmarks.speed``."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.speed import machine, table
from benchmarks.speed.rows import Found, Settings
from benchmarks.speed.together import NoReferencesError
from repro.machine import cores

MEASUREMENTS = {
    "mos_step": ("steps:mos", "A training step of MoS, K = 15, at the paper's PTB sizes"),
    "awd_step": ("steps:awd", "A training step of AWD-LSTM with Softmax, the same"),
    "mos_step_bf16": ("steps:mos_bf16", "MoS with bf16 products beside the published float32"),
    "awd_step_bf16": ("steps:awd_bf16", "Softmax with bf16 products beside the published float32"),
    "loss_memory": ("loss_memory:measure", "The mixture loss above its inputs and gradients"),
    "evaluation": ("evaluation:measure", "Evaluation without gradients, batch 10"),
    "replicates": ("replicates:measure", "Many replicates through the default engine"),
    "linear": ("linear:measure", "The time of a step against K and V"),
    "dask": ("dask_overhead:ratio", "A hundred small replicates through dask, over processes"),
    "dask_cost": ("dask_overhead:cost", "What dask takes for a hundred replicates of any size"),
    "warm_pool": ("warm_pool:measure", "Overhead of a replicate in a warm pool"),
}

EPILOG = """
The published code is run from --references PATH (by default $REPRO_REFERENCES), a folder with
clones of zihangdai/mos and salesforce/awd-lstm-lm; before it is timed, its loss must equal ours
on the same weights, before and after a training step. Leave the machine alone meanwhile.
Exit status: 0 all floors (and aims without a floor) are reached, 1 not all, 2 wrong usage.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what is asked for, prints it, writes it, and says whether all is reached."""
    own = sys.argv[1:] if arguments is None else arguments
    given = _parser().parse_args(own)
    settings = Settings(given.references, given.samples, given.threads)
    document = _document(own, given)
    for name in given.only or MEASUREMENTS:
        place, title = MEASUREMENTS[name]
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            found = _measure(place, settings)
        except NoReferencesError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
        document["measurements"][name] = {"title": title, **found.record()}
        if given.out is not None:
            _write(given.out, document)
    print(table.markdown(document))
    rows = [row for found in document["measurements"].values() for row in found["rows"]]
    return int(any(row["verdict"] == "not reached" for row in rows))


def _measure(place: str, settings: Settings) -> Found:
    module, _, name = place.partition(":")
    found: Found = getattr(importlib.import_module(f"benchmarks.speed.{module}"), name)(settings)
    return found


def _document(own: Sequence[str], given: argparse.Namespace) -> dict[str, Any]:
    return {
        "command": " ".join(["python -m benchmarks.speed", *_without_places(own)]),
        "date": datetime.now(UTC).date().isoformat(),
        "samples": given.samples,
        "threads": given.threads,
        **machine.description(),
        "measurements": {},
    }


def _without_places(own: Sequence[str]) -> list[str]:
    """The command line with names in the place of folders, which are nobody's business."""
    words, before = [], ""
    for word in own:
        words.append({"--references": "PATH", "--out": "STEM"}.get(before, word))
        before = word
    return words


def _write(stem: Path, document: dict[str, Any]) -> None:
    """``stem.json`` and ``stem.md``."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=1)
    stem.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    stem.with_suffix(".md").write_text(table.markdown(document), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description="How fast is it, beside the published code and the machine's own limit?",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        choices=tuple(MEASUREMENTS),
        help=f"only these: {', '.join(MEASUREMENTS)}",
    )
    named = os.environ.get("REPRO_REFERENCES")
    parser.add_argument(
        "--references",
        type=Path,
        default=Path(named) if named else None,
        metavar="PATH",
        help="folder of the published code",
    )
    parser.add_argument("--samples", type=_count, default=5, help="undisturbed (%(default)s)")
    parser.add_argument("--threads", type=_count, default=cores(), help="a step (%(default)s)")
    parser.add_argument(
        "--out", type=Path, metavar="STEM", help="write STEM.md and STEM.json (results/speed-DATE)"
    )
    return parser


def _count(text: str) -> int:
    if not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and 1000")
    return int(text)


if __name__ == "__main__":
    raise SystemExit(main())
