"""Ten replicates through the default engine, against one after another in one process.

10,000 words, d = 200, two layers, no dropout. Both pools are warm. The engine's side is
``execute`` as a user has it: locks, checkpoints and committed weights are in its time. The other
side is ``train`` alone, in one process with all threads and the same allocator settings, and
writes nothing: what is unequal is to the engine's disadvantage.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.speed import machine
from benchmarks.speed.contest import ALLOCATOR, Job, Ratio, alternate, threads_of
from benchmarks.speed.metronome import Metronome
from benchmarks.speed.rows import Found, Goal, Row, Settings
from benchmarks.speed.together import write_text
from repro.trainers.language_model.recipe import Recipe, WindowLength
from repro.trainers.language_model.spec import Model, Softmax, TrainingSpec
from repro.trainers.run import PlannedRun, RunSpec

REPLICATES = 10
WORDS, SIZE, BATCH, WINDOW, STEPS = 10_000, 200, 20, 35, 40
GOAL = Goal(1.2, 1.3)


def measure(settings: Settings) -> Found:
    """The two in turn."""
    plain = threads_of(settings.threads) | ALLOCATOR
    timings = alternate(
        {
            "engine": Job("benchmarks.speed.replicates:through_engine", {}, plain),
            "in turn": _in_turn(settings.threads, REPLICATES),
            "one alone": _in_turn(1, 1),
        },
        settings.samples,
    )
    ratio = Ratio.of(timings["in turn"], timings["engine"])
    what = (
        f"{REPLICATES} replicates of {STEPS} steps, over one process of {settings.threads} threads"
    )
    ideal = REPLICATES / settings.threads * timings["one alone"].seconds
    bound = Row(
        "the same, were the processes no hindrance to each other",
        timings["in turn"].seconds / ideal,
        "x",
        quiet=timings["in turn"].quiet and timings["one alone"].quiet,
    )
    return Found([Row.of_ratio(what, ratio, GOAL), bound], timings)


def _in_turn(threads: int, replicates: int) -> Job:
    options = {"threads": threads, "replicates": replicates}
    environment = threads_of(threads) | ALLOCATOR
    return Job("benchmarks.speed.replicates:in_turn", options, environment)


def through_engine(metronome: Metronome) -> None:
    """``execute`` with the engine that is the default, kept warm, each time on new replicates."""
    from repro.running.engine import RunOptions
    from repro.running.execute import execute
    from repro.running.grouping import pool_size
    from repro.running.pool import ENVIRONMENT, ProcessPool
    from repro.store.run_store import RunStore
    from repro.trainers.trainer import memory

    with TemporaryDirectory() as folder:
        spec = specification(Path(folder))
        runs = _runs(spec, 0)
        size = pool_size(None, "cpu", [memory(planned) for planned in runs])
        with ProcessPool(size, environment=ENVIRONMENT) as pool:
            metronome.own = lambda: time.process_time() + machine.cpu_seconds(pool.processes())
            store = RunStore(Path(folder) / "store")
            for turn in range(10**6):
                runs = _runs(spec, turn)
                metronome.tick()
                options = RunOptions(store, engine=pool, device="cpu", data=Path(folder))
                done = execute(runs, options)
                assert len(done.trained) == REPLICATES, done.failed


def in_turn(metronome: Metronome, *, threads: int, replicates: int) -> None:
    """``train`` of so many of the runs in this process."""
    from benchmarks.speed.ours import CPU, computing
    from repro.trainers.language_model.corpus import load_corpus
    from repro.trainers.language_model.training import train

    with TemporaryDirectory() as folder, computing(threads):
        spec = specification(Path(folder))
        corpus = load_corpus(spec.corpus, Path(folder))
        for turn in range(10**6):
            runs = [planned.run for planned in _runs(spec, turn)[:replicates]]
            metronome.tick()
            train(runs, corpus, device=CPU, folders=[None] * len(runs))


def specification(data: Path, steps: int = STEPS) -> TrainingSpec:
    """A short training on random words."""
    train = BATCH * (1 + steps * WINDOW)
    return TrainingSpec(
        model=Model(
            embedding_size=SIZE, hidden_size=SIZE, context_size=SIZE, layers=2, output=Softmax()
        ),
        corpus=write_text(data, WORDS, train=train, valid=10 * (1 + WINDOW)),
        recipe=Recipe(
            epochs=1, batch_size=BATCH, learning_rate=20, window=WindowLength(base=WINDOW)
        ),
    )


def _runs(spec: TrainingSpec, turn: int) -> list[PlannedRun]:
    numbers = range(turn * REPLICATES, (turn + 1) * REPLICATES)
    return [PlannedRun(run=RunSpec(training=spec, replicate=n), measurements=()) for n in numbers]
