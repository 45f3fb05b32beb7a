"""A budget of time: nothing is begun that would not end in it, and what resumes is carried over."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import ClaimError
from repro.running.budget import TimeBudget, seconds_of
from repro.running.engine import RunOptions
from repro.running.execute import execute, told
from repro.running.plan import make_plan
from repro.running.worker import number
from repro.store.run_store import RunStore
from tests.running.dask_cluster import plan_of
from tests.running.tiny import TEST, tiny_plan, tiny_run

PROGRAM = """import json, pathlib, sys
pathlib.Path(__file__).with_name("begun").open("a").write(sys.argv[1] + " ")
(pathlib.Path(sys.argv[2]) / "results.json").write_text(json.dumps({"error": 1.0}))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The folder of a program of a blink, which nobody has timed: a minute is assumed."""
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def begun(folder: Path) -> list[str]:
    path = folder / "begun"
    return path.read_text(encoding="utf-8").split() if path.exists() else []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2h", 7200), ("90min", 5400), ("90m", 5400), ("1h30m", 5400), ("1.5 h", 5400), ("45s", 45)],
)
def test_a_time_is_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "2", "h", "2 days", "-1h", "1h and 2m", "nan", "0h"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """With an example of one."""
    with pytest.raises(ClaimError, match=r"--budget: .*\n.*2h"):
        seconds_of(text)


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_what_would_not_end_is_not_begun(engine: str, program: Path, store: RunStore) -> None:
    """And that is no failure; each arm is told once, with the reason."""
    plan = [each.model_copy(update={"label": "A", "arm": "a"}) for each in plan_of(program, 3)]
    done = execute(
        plan, RunOptions(store, engine=engine, workers=1, allow_code=True), budget=TimeBudget(30.0)
    )
    assert begun(program) == []
    assert done.failed == ()
    assert [each.key for each in done.postponed] == [each.run.key for each in plan]
    (text,) = told(done.postponed, plan)
    assert text == (
        "A and 2 more: not started: by its estimate of 60 s it would not have ended "
        "within the budget of 30 s"
    )


def test_it_is_known_how_long_others_took(program: Path, store: RunStore) -> None:
    """What one run of a program took is the estimate of the next."""
    first, *others = plan_of(program, 3)
    execute([first], RunOptions(store, engine="serial", allow_code=True))
    budget = TimeBudget(30.0)
    budget.learn(store, [first.run])
    done = execute(others, RunOptions(store, engine="serial", allow_code=True), budget=budget)
    assert len(done.trained) == 2
    assert done.postponed == ()


def test_a_run_that_has_ended_tells_of_the_others(program: Path, store: RunStore) -> None:
    """While one is on its way the others wait: it may tell that they fit."""
    budget = TimeBudget(90.0, lambda: 50.0 if begun(program) else 0.0)
    plan = plan_of(program, 3)
    done = execute(
        plan, RunOptions(store, engine="processes", workers=1, allow_code=True), budget=budget
    )
    assert len(done.trained) == 3


def test_a_run_that_resumes_is_carried_over(store: RunStore) -> None:
    """It gets what the others leave, is ended with the budget, and goes on from its checkpoint."""
    run = tiny_run(epochs=40_000)
    long = tiny_plan(1)[0].model_copy(update={"run": run, "measurements": (TEST,)})
    short = tiny_plan(1)[0]
    assert make_plan([long], store).seconds > 20
    epochs = [0.0]

    def clock() -> float:
        """It stands still until the short run has ended and the long one is further."""
        further = number((store.progress(run.key) or {"epoch": 0})["epoch"]) > epochs[-1] + 1
        return 100.0 if further and store.state(short.run.key) == "finished" else 0.0

    for night in range(2):
        done = execute(
            [long, short],
            RunOptions(store, engine="processes", workers=1, device="cpu"),
            budget=TimeBudget(12.0, clock),
        )
        assert (done.trained if night == 0 else done.reused) == (short.run.key,)
        assert done.failed == ()
        (left,) = done.postponed
        assert left.key == run.key
        assert "it goes on from its checkpoint the next time" in left.message
        progress = store.progress(run.key)
        assert progress is not None
        epochs.append(number(progress["epoch"]))
    assert epochs == sorted({*epochs})


def test_a_budget_that_is_spent_begins_nothing(store: RunStore) -> None:
    """Not even what would resume."""
    done = execute(
        tiny_plan(2),
        RunOptions(store, engine="processes", workers=1, device="cpu"),
        budget=TimeBudget(0.0),
    )
    assert all(each.message.endswith(" was spent") for each in done.postponed)
    assert len(done.postponed) == 2


def test_no_budget_for_other_machines(store: RunStore) -> None:
    """When a run would begin there is not known here."""
    with pytest.raises(ClaimError, match="--budget"):
        execute(tiny_plan(1), RunOptions(store, engine="dask"), budget=TimeBudget(60.0))
