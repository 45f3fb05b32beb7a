"""Evaluation without gradients, batch 10, beside the published one."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.speed.contest import ALLOCATOR, Job, Ratio, Timing, alternate, threads_of
from benchmarks.speed.rows import Found, Goal, Row, Settings
from benchmarks.speed.shapes import Shape, flop_per_token, training
from benchmarks.speed.steps import EQUAL, LIMIT, OURS, PUBLISHED, against_product, product
from benchmarks.speed.together import reference_folder

GOALS: dict[Shape, Goal] = {"mos": Goal(2.5, 3.0), "awd": Goal(1.7, 2.5)}
WORDS = 10 * 3 * 70
"""Predicted words of one sample: three windows of 70 steps in ten streams."""


def measure(settings: Settings) -> Found:
    """MoS and AWD-LSTM in turn."""
    rows: list[Row] = []
    timings: dict[str, Timing] = {}
    for shape, goal in GOALS.items():
        found = alternate(_jobs(shape, settings), settings.samples)
        for name, timing in found.items():
            timings[f"{shape}, {name}"] = timing
        for name in (PUBLISHED, EQUAL):
            ratio = Ratio.of(found[name], found[OURS])
            wanted = goal if name == PUBLISHED else None
            rows.append(Row.of_ratio(f"{shape}: over the evaluation as {name}", ratio, wanted))
        own, spec = found[OURS], training(shape)
        rows.append(Row(f"{shape}: tokens/s, ours", WORDS / own.seconds, quiet=own.quiet))
        forward = flop_per_token(spec.model, spec.corpus.vocabulary) / 3
        limits = against_product(forward * WORDS, found)
        rows += [replace(row, what=f"{shape}: {row.what}") for row in limits]
    return Found(rows, timings)


def _jobs(shape: Shape, settings: Settings) -> dict[str, Job]:
    plain = threads_of(settings.threads)
    own = {"shape": shape, "threads": settings.threads}
    other = {"shape": shape, "references": str(reference_folder(settings))}
    return {
        OURS: Job("benchmarks.speed.ours:evaluation", own, plain | ALLOCATOR),
        PUBLISHED: Job("benchmarks.speed.theirs:evaluation", other, plain),
        EQUAL: Job("benchmarks.speed.theirs:evaluation", other, plain | ALLOCATOR),
        LIMIT: product(settings),
    }
