"""A program whose first runs all failed: the others are not begun, and nothing is lost by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from repro.errors import DataError, ProgramError
from repro.running.engine import RunOptions, SerialEngine
from repro.running.execute import Execution, execute
from repro.running.grouping import Task
from repro.running.worker import Outcome
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun
from tests.running.programs import programs
from tests.running.stand_ins import Work, failed, key, trained
from tests.running.tiny import tiny_plan

pytestmark = pytest.mark.usefixtures("_quick")


def bad(*which: int, error: type[Exception] = ProgramError) -> Work:
    """A worker in which the runs with these seeds fail."""

    def function(task: Task) -> tuple[Outcome, ...]:
        wrong = task.runs[0].run.replicate in which
        return failed(task, error.__name__, "status 1") if wrong else trained(task)

    return function


def seeds(tasks: list[Task]) -> list[int]:
    return [task.runs[0].run.replicate for task in tasks]


def done(plan: list[PlannedRun], store: RunStore, **more: Any) -> Execution:
    options = RunOptions(store, engine=SerialEngine(), device="cpu", allow_code=True)
    return execute(plan, options, **more)


def test_two_failures_before_any_success_end_it(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """The others are told apart from those that were run."""
    tasks, plan = work(bad(*range(9))), programs(9)
    found = done(plan, store)
    assert seeds(tasks) == [0, 1]
    assert [each.status for each in found.failed] == ["failed"] * 2 + ["not started"] * 7
    assert {each.key for each in found.failed} == {key(each) for each in plan}
    assert found.failed[-1].message.startswith("not started: the first runs of this program ")


@pytest.mark.parametrize("which", [(0,), (1, 2, 3), (0, 2, 4)])
def test_a_seed_that_fails_alone_stops_nothing(
    store: RunStore, work: Callable[[Work], list[Task]], which: tuple[int, ...]
) -> None:
    """Nor do several, once a run has ended well."""
    tasks = work(bad(*which))
    found = done(programs(5), store)
    assert seeds(tasks) == [*range(5)]
    assert [each.status for each in found.failed] == ["failed"] * len(which)


def test_another_program_is_run_all_the_same(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    def function(task: Task) -> tuple[Outcome, ...]:
        return bad(*range(5))(task) if task.runs[0].arm == "train" else trained(task)

    tasks = work(function)
    found = done([*programs(5), *programs(5, name="other")], store)
    assert (len(tasks), len(found.trained)) == (7, 5)


def test_a_program_that_ran_well_before_is_run_on(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    plan = programs(5)
    tasks = work(bad(*range(5)))
    done(plan, store, proven=[plan[0].run.training.digest()])
    assert seeds(tasks) == [*range(5)]


def test_a_program_that_resumes_is_run_on(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """What failed may have come further; so may a model that is trained here."""
    tasks = work(bad(*range(5)))
    done([*programs(5, resume=True), *tiny_plan(3)], store)
    assert len(tasks) == 8


def test_what_is_not_the_failure_of_a_program_stops_nothing(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """Such as a number that is measured under a wrong name: the run itself is stored."""
    tasks = work(bad(0, 1, 2, error=DataError))
    done(programs(5), store)
    assert seeds(tasks) == [*range(5)]


def test_the_same_command_begins_with_the_others(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """Two seeds that always fail keep no other from its turn."""
    plan = programs(5)
    work(bad(0, 1))
    first = done(plan, store)
    for each in first.failed[:2]:
        store.put_error(each.key, each.message)  # as a worker does
    tasks = work(bad(0, 1))
    found = done(plan, store)
    assert seeds(tasks) == [2, 3, 4, 0, 1]
    assert (len(found.trained), len(found.failed)) == (3, 2)
