"""A training step beside the published one, and beside the machine's own product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.speed.contest import ALLOCATOR, Job, Ratio, Timing, alternate, threads_of
from benchmarks.speed.rows import Found, Goal, Row, Settings
from benchmarks.speed.shapes import Shape, flop_per_token, tokens_per_step, training
from benchmarks.speed.together import in_process, reference_folder

PRODUCT = 4096
OURS, PUBLISHED, EQUAL, LIMIT = "ours", "published", "published, with our allocator", "product"
BF16: Mapping[str, Any] = {"products": "bf16"}
"""What a recipe says for a trunk and output products in bf16."""
GOALS: dict[str, dict[str, Goal]] = {
    "mos": {PUBLISHED: Goal(2.4, 3.0), EQUAL: Goal(1.25)},
    "awd": {PUBLISHED: Goal(1.4, 1.8), EQUAL: Goal(1.15, 1.45)},
    "mos bf16": {PUBLISHED: Goal(3.9, 5.0)},
    "awd bf16": {PUBLISHED: Goal(aim=2.5)},
}
SHARE = Goal(aim=80.0)
MEMORY = Goal(0.4, 0.33, at_most=True)


def mos(settings: Settings) -> Found:
    """MoS, K = 15, float32."""
    return _measure("mos", settings)


def awd(settings: Settings) -> Found:
    """AWD-LSTM with Softmax, float32."""
    return _measure("awd", settings)


def mos_bf16(settings: Settings) -> Found:
    """MoS with trunk and output products in bf16; theirs in float32."""
    return _measure("mos", settings, BF16)


def awd_bf16(settings: Settings) -> Found:
    """AWD-LSTM with Softmax, trunk and output products in bf16; theirs in float32."""
    return _measure("awd", settings, BF16)


def _measure(shape: Shape, settings: Settings, recipe: Mapping[str, Any] | None = None) -> Found:
    references = str(reference_folder(settings))
    losses = in_process("benchmarks.speed.theirs:checked_losses", references, shape)
    timings = alternate(jobs(shape, settings, recipe), settings.samples)
    goals = GOALS[f"{shape} bf16" if recipe else shape]
    rows = [
        Row.of_ratio(
            f"over the {name} step", Ratio.of(timings[name], timings[OURS]), goals.get(name)
        )
        for name in (PUBLISHED, EQUAL)
    ]
    rows += _rates(shape, timings, bf16=bool(recipe))
    rows += _peaks(timings, MEMORY if shape == "mos" and not recipe else None)
    return Found(rows, timings, {"losses, ours and theirs": losses})


def jobs(shape: Shape, settings: Settings, recipe: Mapping[str, Any] | None) -> dict[str, Job]:
    """Ours, theirs as published, theirs with the settings of our allocator, one product."""
    plain = threads_of(settings.threads)
    own = {"shape": shape, "threads": settings.threads, "recipe": dict(recipe or {})}
    other = {"shape": shape, "references": str(reference_folder(settings))}
    return {
        OURS: Job("benchmarks.speed.ours:training_steps", own, plain | ALLOCATOR),
        PUBLISHED: Job("benchmarks.speed.theirs:training_steps", other, plain),
        EQUAL: Job("benchmarks.speed.theirs:training_steps", other, plain | ALLOCATOR),
        LIMIT: product(settings, bf16=bool(recipe)),
    }


def _rates(shape: Shape, timings: Mapping[str, Timing], *, bf16: bool) -> list[Row]:
    """Tokens a second, and what share of the rate of one large product our step reaches."""
    spec = training(shape)
    tokens = tokens_per_step(spec)
    rows = [
        Row(f"tokens/s, {name}", tokens / timings[name].seconds, quiet=timings[name].quiet)
        for name in (OURS, PUBLISHED, EQUAL)
    ]
    flop = flop_per_token(spec.model, spec.corpus.vocabulary) * tokens
    return rows + against_product(flop, timings, bf16=bf16, goal=None if bf16 else SHARE)


def against_product(
    flop: float, timings: Mapping[str, Timing], *, bf16: bool = False, goal: Goal | None = None
) -> list[Row]:
    """How near ``flop`` operations come to the rate of one large product, and what is possible."""
    own = flop / timings[OURS].seconds / 1e9
    limit = 2.0 * PRODUCT**3 / timings[LIMIT].seconds / 1e9
    most = timings[PUBLISHED].seconds * limit * 1e9 / flop
    quiet = timings[OURS].quiet and timings[LIMIT].quiet
    kind = "bf16" if bf16 else "float32"
    return [
        Row(f"machine's own {kind} product of size {PRODUCT}", limit, "GFLOP/s", quiet=quiet),
        Row(f"share of that rate, at {own:.0f} GFLOP/s", 100 * own / limit, "%", goal, quiet=quiet),
        Row("over the published, were all of it at that rate", most, "x", quiet=quiet),
    ]


def product(settings: Settings, *, bf16: bool = False) -> Job:
    """One large product, the machine's own rate."""
    options = {"size": PRODUCT, "threads": settings.threads, "bf16": bf16}
    return Job("benchmarks.speed.ours:product", options, threads_of(settings.threads))


def _peaks(timings: Mapping[str, Timing], goal: Goal | None) -> list[Row]:
    """Peak resident memory while a step is done."""
    own, published, equal = (timings[name].peak for name in (OURS, PUBLISHED, EQUAL))
    note = (
        f"{own / 1e6:,.0f} MB of {published / 1e6:,.0f} MB; with our allocator {equal / 1e6:,.0f}"
    )
    return [Row("peak memory, share of the published", own / published, "x", goal, note=note)]
