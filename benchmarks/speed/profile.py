"""Where the time of a training step goes: ``python -m benchmarks.speed.profile``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from benchmarks.speed import machine, table
from benchmarks.speed.shapes import Shape
from benchmarks.speed.steps import BF16
from benchmarks.speed.together import in_process
from repro.machine import cores

WARM_UPS, STEPS, SHOWN = 2, 3, 15
TITLES: dict[Shape, str] = {"mos": "MoS, K = 15", "awd": "AWD-LSTM with Softmax"}


class _EnoughError(Exception):
    """All steps that were wanted are profiled."""


def profile(shape: Shape, threads: int, recipe: Mapping[str, Any]) -> list[tuple[str, float, int]]:
    """Operators of a training step, the costliest first: name, ms a step, calls a step."""
    import torch

    from benchmarks.speed.ours import CPU, computing
    from benchmarks.speed.shapes import random_corpus, run_of, training
    from repro.trainers.language_model.training import train
    from repro.trainers.trainer import Progress

    spec = training(shape, recipe=recipe)
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])

    def progress(state: Progress) -> None:
        if state.step == WARM_UPS:
            profiler.start()
        if state.step == WARM_UPS + STEPS:
            profiler.stop()
            raise _EnoughError

    corpus = random_corpus(spec, windows=WARM_UPS + STEPS + 1)
    try:
        with computing(threads):
            train([run_of(spec)], corpus, device=CPU, folders=[None], progress=progress)
    except _EnoughError:
        found = [
            (event.key, event.self_cpu_time_total / 1000 / STEPS, round(event.count / STEPS))
            for event in profiler.key_averages()
        ]
    return sorted(found, key=lambda one: -one[1])


def markdown(shape: Shape, threads: int, recipe: Mapping[str, Any]) -> str:
    """One table: operators, their own time, their share."""
    found = in_process("benchmarks.speed.profile:profile", shape, threads, recipe, threads=threads)
    whole = sum(milliseconds for _, milliseconds, _ in found)
    rows = [
        (f"`{name}`", f"{milliseconds:,.1f}", f"{100 * milliseconds / whole:.1f} %", str(calls))
        for name, milliseconds, calls in found[:SHOWN]
    ]
    rest = sum(milliseconds for _, milliseconds, _ in found[SHOWN:])
    rows.append(("all others", f"{rest:,.1f}", f"{100 * rest / whole:.1f} %", ""))
    head = ("operator", "own ms a step", "share", "calls a step")
    label = "".join(f", {name}: {value}" for name, value in recipe.items())
    title = f"## {TITLES[shape]}{label}: {whole:,.0f} ms a step"
    return f"{title}\n\n{table.piped([head, *rows])}"


def main() -> None:
    """Prints or writes a table for each shape."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.profile",
        description="Where does the time of a training step go?",
    )
    parser.add_argument("--threads", type=int, default=cores(), help="(%(default)s)")
    parser.add_argument("--bf16", action="store_true", help="with bf16 products")
    parser.add_argument("--out", type=Path, metavar="FILE", help="results/profile-DATE.md")
    given = parser.parse_args()
    recipe = BF16 if given.bf16 else {}
    document = {
        "command": "python -m benchmarks.speed.profile" + (" --bf16" if given.bf16 else ""),
        "threads": given.threads,
        **machine.description(),
    }
    date = datetime.now(UTC).date().isoformat()
    parts = [f"# Where a training step spends its time, {date}", table.surroundings(document)]
    parts += [markdown(shape, given.threads, recipe) for shape in get_args(Shape)]
    text = "\n\n".join(parts) + "\n"
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
