"""Planned runs into the store: skip what is there, do the rest, report what became of it.

This process only hands out tasks; torch is imported by the workers. What was finished stays
finished whatever happens, so an execution can be stopped and started again at any moment.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from repro.errors import (
    ClaimError,
    CorpusError,
    DataError,
    StoreError,
    StoreUnreachableError,
    printable_lines,
)
from repro.running.budget import TimeBudget
from repro.running.dispatch import Dispatch
from repro.running.engine import Engine, Order, Pool, RunOptions
from repro.running.grouping import (
    gpus_to_share_out,
    make_tasks,
    own_gpus,
    pool_size,
    processes_on_a_gpu,
    task_memory,
)
from repro.running.plan import has_diverged, is_complete, merged, proofs, remaining
from repro.running.preflight import refuse_code, try_own_parts
from repro.running.progress import Reporter, choose_reporter
from repro.running.worker import Outcome
from repro.store.run_store import OutputStore, RunStore
from repro.trainers.devices import resolve_device, shared_by_mps
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import run_cores, trainer_of


@dataclass(frozen=True, slots=True)
class Execution:
    """What became of the runs of a plan, by key.

    ``trained`` now; ``measured`` now, trained before; ``read`` now, of what a program left before;
    ``reused`` as they were, whoever finished
    them; ``diverged`` now or before; ``failed``, or not started at all, with the reason;
    ``postponed``: not started, or not ended, in the budget of time, with the reason.
    """

    trained: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    reused: tuple[str, ...] = ()
    diverged: tuple[str, ...] = ()
    failed: tuple[Outcome, ...] = ()
    postponed: tuple[Outcome, ...] = ()
    seconds: float = 0.0

    @property
    def done(self) -> tuple[str, ...]:
        """The runs for which something was done and stored."""
        return (*self.trained, *self.measured)


def execute(
    plan: Sequence[PlannedRun],
    options: RunOptions | RunStore,
    *,
    report: Reporter | None = None,
    proven: Collection[str] = (),
    budget: TimeBudget | None = None,
) -> Execution:
    """Do what the store lacks of ``plan``, the longest task first; a store alone has no options.

    A run that another process is training is waited for. One that takes longer than the limit has
    failed, and goes on from its checkpoint the next time. One that fails does not stop the others,
    unless the first two of a program failed, or the first left nothing that can be read: the rest
    of it is then not started, but where it is ``proven`` (see ``proofs``). What would not end in
    the ``budget`` is postponed, and so is what that ends, which goes on the next time. These
    errors do stop them: DataError if no run could be done because of its corpus, DeviceError,
    StoreUnreachableError, EngineError where dask has no scheduler or a worker has another version
    of something, and before anything is trained OwnPartError for a user's part of a model that is
    wrong, CodeError for one that is not allowed, and ClaimError for a limit of runs that cannot be
    ended from here.
    """
    start = time.monotonic()
    options = RunOptions(options) if isinstance(options, RunStore) else options
    known, todo = _sorted(merged(plan), options.store)
    outcomes: list[Outcome] = []
    if todo:
        tell = _say if report else lambda _: None
        refuse_code(todo, allowed=options.allow_code, tell=tell)
        _refuse(options, budget)
        with _opened(options, todo, tell) as pool:
            try_own_parts(todo, options.store, pool)
            tasks = make_tasks(todo, options.store, options.data, options.grouping, pool, tell)
            reporter, good = report or Reporter(), {*proven, *_proven(plan, known)}
            limit = options.limit
            dispatch = Dispatch(pool.engine, options.store, tasks, reporter, limit, good, budget)
            outcomes = dispatch.run(reused=len(known))
        _raise_if_nothing_worked(outcomes)
    return _execution([*known, *outcomes], time.monotonic() - start)


def execute_with(
    options: RunOptions,
    plan: Sequence[PlannedRun],
    proven: Collection[str] = (),
    budget: TimeBudget | None = None,
) -> tuple[Execution, tuple[str, ...]]:
    """``execute`` with progress on the terminal; what became of the runs, and what failed."""
    report = choose_reporter({planned.run.key: planned.label for planned in plan})
    done = execute(plan, options, report=report, proven=proven, budget=budget)
    return done, told(done.failed, plan)


def told(failed: Sequence[Outcome], plan: Sequence[PlannedRun]) -> tuple[str, ...]:
    """A text for all runs that failed alike, and one for those of an arm that were not started."""
    labels = {planned.run.key: planned.label for planned in plan}
    arms = {planned.run.key: planned.arm for planned in plan}
    alike: dict[str, list[tuple[str, str]]] = {}
    left: dict[tuple[str, str], list[str]] = {}
    for each in failed:
        label = labels[each.key]
        if each.status == "failed":
            cause, without_seed = _causes(label, each.message)
            those = alike.get(cause) or alike.setdefault(without_seed, [])
            alike[cause] = those
            those.append((label, each.message))
        if each.status in {"not started", "postponed"}:
            left.setdefault((arms[each.key], each.message), []).append(label)
    groups = {id(those): those for those in alike.values()}.values()
    texts = [f"{_runs([label for label, _ in those])}: {those[0][1]}" for those in groups]
    for (_, why), (first, *others) in left.items():
        texts.append(f"{first}{f' and {len(others)} more' if others else ''}: {why}")
    return tuple(texts)


_SEED = ", seed "
_PRINTED = "  | "
"""How the label of a run goes on, and how a line begins that a program printed."""


def _causes(label: str, message: str) -> tuple[str, str]:
    """What two runs failed of alike: the message, and the last line that their program printed.

    Without numbers in what was printed; once as it is, and once without the seed, which may be
    there by chance (`line 1`).
    """
    lines = message.splitlines()
    printed = [re.sub(r"[0-9]+", "0", line) for line in lines if line.startswith(_PRINTED)]
    cause = "\n".join([line for line in lines if not line.startswith(_PRINTED)] + printed[-1:])
    seed = label.rpartition(_SEED)[2]
    return cause, re.sub(rf"\b{re.escape(seed)}\b", "{seed}", cause)


def _runs(labels: Sequence[str]) -> str:
    """`Adam, seed 7`; of several `6 runs (Adam, seeds 7, 8, 9; AdamW, seeds 7, 8, 9)`."""
    if len(labels) == 1:
        return labels[0]
    seeds: dict[str, list[str]] = {}
    for label in labels:
        arm, _, seed = label.rpartition(_SEED)
        seeds.setdefault(arm, []).append(seed)
    some = {arm: s[:MOST_SEEDS] + ["..."] * (len(s) > MOST_SEEDS) for arm, s in seeds.items()}
    of_arms = (f"{arm}, seed{'s'[: len(s) - 1]} {', '.join(s)}" for arm, s in some.items())
    return f"{len(labels)} runs ({'; '.join(of_arms)})"


MOST_SEEDS = 20
"""No message lists more seeds of an arm."""


def _refuse(options: RunOptions, budget: TimeBudget | None) -> None:
    """ClaimError for a limit or a budget that nothing could enforce."""
    engine = options.engine_class
    if options.limit is not None and (why := engine.refused_limit()):
        raise ClaimError(f"--limit: {why}")
    if budget is not None and (why := engine.refused_budget()):
        raise ClaimError(f"--budget: {why}")


def _say(text: str) -> None:
    """Say something before the reporter starts."""
    with suppress(OSError, ValueError, AttributeError):  # whatever became of stderr
        sys.stderr.write(f"{printable_lines(text)}\n")
        sys.stderr.flush()


@contextmanager
def _opened(
    options: RunOptions, todo: Sequence[PlannedRun], tell: Callable[[str], None]
) -> Iterator[Pool]:
    """Where tasks are done. What is made for it is closed, at once if anything goes wrong."""
    pool = _pool(options, todo, tell)
    if isinstance(options.engine, Executor):
        yield pool
        return
    try:
        yield pool
    except BaseException:
        pool.engine.terminate()
        raise
    finally:
        pool.engine.shutdown()


def _pool(options: RunOptions, todo: Sequence[PlannedRun], tell: Callable[[str], None]) -> Pool:
    """An engine as large as this machine has room for; or one on others, which says its size."""
    engine, scheduler = options.engine_class, options.scheduler
    if not (isinstance(options.engine, Executor) or engine.here(scheduler)):
        remote = engine.made(Order(1, options.device, scheduler, tell))
        return Pool(remote, remote.at_once, remote.device, shared=False)
    device = resolve_device(options.device, tell)
    gpus = gpus_to_share_out(todo, device) if engine.takes_gpus else ()
    needs = [task_memory([planned], device) for planned in todo]
    gpu_count = max(1, len(gpus))
    several = options.engine != "batched" and engine.takes_gpus
    on_each = processes_on_a_gpu(device, needs, gpu_count) if several else 1
    size = pool_size(
        options.workers,
        device,
        needs,
        [run_cores(planned.run.training) for planned in todo],
        own_gpus(todo),
        on_each * gpu_count,
    )
    if isinstance(options.engine, Engine):
        return Pool(options.engine, size, device)
    if isinstance(options.engine, Executor):
        return Pool(Engine(options.engine), size, device)
    made = engine.made(Order(size, device, scheduler, tell, gpus))
    mps = device == "cuda" and shared_by_mps()
    return Pool(made, size, device, gpus=gpu_count, mps=mps)


def _sorted(plan: Iterable[PlannedRun], store: RunStore) -> tuple[list[Outcome], list[PlannedRun]]:
    """What is known already, damage as a failure, and what is to be done, the longest first.

    Of those that are as long, runs that failed before come last: the others may tell more.
    """
    known: list[Outcome] = []
    todo: list[PlannedRun] = []
    again: set[str] = set()
    for planned in plan:
        key = planned.run.key
        try:
            if not is_complete(store, planned):
                todo.append(planned)
                again |= {key} if store.has_failed(key) else set()
                if not trainer_of(planned.run.training).resumes(planned.run.training):
                    # it starts over: what killed processes have left of it goes
                    store.clear_if_free(planned.run.key)
                    source = trainer_of(planned.run.training).source(planned.run)
                    if source is not None:
                        OutputStore(store).clear_if_free(source.key)
                continue
            store.tidy_if_free(key)
            known.append(Outcome(key, "diverged" if has_diverged(store, planned) else "reused"))
        except StoreUnreachableError:
            raise
        except StoreError as error:
            known.append(Outcome(key, "failed", str(error), type(error).__name__))
    todo.sort(key=lambda planned: planned.run.key in again)
    return known, sorted(todo, key=lambda planned: -remaining(store, planned).total)


def _proven(plan: Iterable[PlannedRun], known: Iterable[Outcome]) -> set[str]:
    """As in ``proofs``, of the runs that the store has and that ended well."""
    well = {outcome.key for outcome in known if outcome.status != "failed"}
    return proofs(planned.run for planned in plan if planned.run.key in well)


def _execution(outcomes: Sequence[Outcome], seconds: float) -> Execution:
    keys = {
        status: tuple(each.key for each in outcomes if each.status == status)
        for status in ("trained", "measured", "read", "reused", "diverged")
    }
    failed = tuple(each for each in outcomes if each.status in {"failed", "not started"})
    postponed = tuple(each for each in outcomes if each.status == "postponed")
    return Execution(**keys, failed=failed, postponed=postponed, seconds=seconds)


def _raise_if_nothing_worked(outcomes: Sequence[Outcome]) -> None:
    """Missing data is the user's to fix, unless some runs could be done without it."""
    kinds = {kind.__name__ for kind in (DataError, CorpusError)}
    if outcomes and all(outcome.error in kinds for outcome in outcomes):
        raise DataError("\n".join(dict.fromkeys(outcome.message for outcome in outcomes)))
