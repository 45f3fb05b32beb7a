"""How far it is, how long it will take, and how that is said."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest

from repro.running.plan import is_complete, merged, remaining
from repro.running.progress import (
    LiveReporter,
    PlainReporter,
    Running,
    Snapshot,
    Tracker,
    choose_reporter,
    duration,
    outlook,
)
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import cost
from tests.running.tiny import RANK, TEST, TRAIN, VALID, tiny_plan, tiny_run
from tests.store.filled import put_run


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def training(epoch: int, done: int, in_all: int) -> dict[str, str | int]:
    return {
        "phase": "training",
        "epoch": epoch,
        "epochs": 2,
        "tokens_done": done,
        "tokens_in_all": in_all,
    }


def test_cost_grows_with_the_work() -> None:
    """More epochs, more text, more components and more measurements cost more."""
    base = PlannedRun(run=tiny_run(), measurements=(TEST,))
    more = (
        PlannedRun(run=tiny_run(epochs=3), measurements=(TEST,)),
        PlannedRun(run=tiny_run(tokens=4000), measurements=(TEST,)),
        PlannedRun(run=tiny_run(components=4), measurements=(TEST,)),
        PlannedRun(run=tiny_run(), measurements=(TEST, RANK)),
    )
    assert all(cost(each).total > cost(base).total for each in more)
    assert cost(PlannedRun(run=tiny_run(), measurements=(TRAIN,))).measurements == {TRAIN.key: 0.0}


def test_runs_of_several_claims_are_merged() -> None:
    """A run is planned once, with everything that is wanted of it."""
    plan = [
        PlannedRun(run=tiny_run(), measurements=(TEST, RANK)),
        PlannedRun(run=tiny_run(1), measurements=(TEST,)),
        PlannedRun(run=tiny_run(), measurements=(VALID, TEST)),
    ]
    first, second = merged(plan)
    assert first.measurements == (TEST, RANK, VALID)
    assert second == plan[1]


def test_a_run_is_complete_with_its_measurements(store: RunStore) -> None:
    """Only what is missing remains to be paid for."""
    (planned,) = tiny_plan()
    assert not is_complete(store, planned)
    assert remaining(store, planned) == cost(planned)
    put_run(store, planned.run)
    assert not is_complete(store, planned)
    assert remaining(store, planned).training == 0
    for measurement in planned.measurements:
        store.put_measurement(planned.run.key, measurement, value=2.0)
    assert is_complete(store, planned)
    assert remaining(store, planned).total == 0


def test_a_tracker_weighs_work(store: RunStore) -> None:
    """Half of the training of the only run is nearly half of all, and the rest takes as long.

    The forty seconds in which its process was started are no part of that.
    """
    (planned,) = tiny_plan()
    clock = Clock()
    tracker = Tracker(store, [planned], clock)
    assert tracker.snapshot() == Snapshot(0, 1, 0.0, 0.0, None, ())
    clock.now += 40
    assert tracker.snapshot().left is None
    store.put_progress(planned.run.key, training(1, 0, 100))
    assert tracker.snapshot().left is None
    store.put_progress(planned.run.key, training(1, 50, 100))
    clock.now += 60
    half = tracker.snapshot()
    share = cost(planned).training / cost(planned).total / 2
    assert half.fraction == pytest.approx(share)
    assert half.left == pytest.approx(60 / share - 60)
    assert half.running == (Running(planned.run.key, "epoch 1/2"),)
    measuring = {"phase": "measuring", "measurement": RANK.key, "label": "\x1b[2J"}
    store.put_progress(planned.run.key, measuring)
    late = tracker.snapshot()
    assert late.fraction == pytest.approx(
        1 - cost(planned).measurements[RANK.key] / cost(planned).total
    )
    assert late.running[0].doing == f"measuring {RANK.label}"
    tracker.end(planned.run.key)
    assert tracker.snapshot() == Snapshot(1, 1, 1.0, 100.0, 0.0, ())


def test_what_an_earlier_session_did_is_not_this_ones_speed(store: RunStore) -> None:
    """Progress that was there at the start counts as done, but not as done in this time."""
    (planned,) = tiny_plan()
    store.put_progress(planned.run.key, training(1, 50, 100))
    clock = Clock()
    tracker = Tracker(store, [planned], clock)
    assert tracker.snapshot().left is None
    assert tracker.snapshot().running == ()
    store.put_progress(planned.run.key, {**training(1, 50, 100), "sessions": 2})
    assert tracker.snapshot().running != ()
    clock.now += 10
    store.put_progress(planned.run.key, training(2, 75, 100))
    whole = cost(planned)
    quarter = 0.25 * whole.training / whole.total
    snapshot = tracker.snapshot()
    assert snapshot.fraction == pytest.approx(3 * quarter)
    assert snapshot.left == pytest.approx(10 * (1 - 3 * quarter) / quarter)


@pytest.mark.parametrize(
    "value", ["x", -1, None, [], True, 1e308, pytest.param(10**400, id="endless")]
)
def test_nonsense_in_progress_does_no_harm(store: RunStore, value: object) -> None:
    """Whatever the file says, a snapshot is made."""
    (planned,) = tiny_plan()
    document = {"epoch": value, "epochs": value, "tokens_done": value, "tokens_in_all": value}
    tracker = Tracker(store, [planned], Clock())
    store.put_progress(planned.run.key, document)  # type: ignore[arg-type]
    assert 0 <= tracker.snapshot().fraction <= 1
    store.put_progress(planned.run.key, {"phase": "measuring", "measurement": value})  # type: ignore[dict-item]
    assert 0 <= tracker.snapshot().fraction <= 1


def test_plain_lines() -> None:
    """At the start, at the end of each run, and not once a second."""
    stream, clock = io.StringIO(), Clock()
    plain = PlainReporter({"k": "mos seed 3"}, stream, clock=clock, wall=lambda: "13:02:11")
    plain.start(15, 3, "cpu")
    plain.tick(Snapshot(6, 15, 0.41, 83.0, 120.0, ()))
    plain.finished("k", "trained in 27 s", Snapshot(7, 15, 0.41, 83.0, 120.0, ()))
    plain.finished("j" * 64, "failed: no", Snapshot(15, 15, 1.0, 200.0, 0.0, ()))
    plain.stop()
    assert stream.getvalue() == (
        "13:02:11 15 runs to do on cpu, 3 reused from the store\n"
        "13:02:11 mos seed 3: trained in 27 s; 7/15 runs, 41 % of all, about 2 min left\n"
        "13:02:11 jjjjjjjjjjjj: failed: no; 15/15 runs, 100 % of all, 3 min in all\n"
    )


def test_a_line_at_least_every_minute() -> None:
    """However long a run takes, a minute without a line does not pass."""
    stream, clock = io.StringIO(), Clock()
    plain = PlainReporter({"k": "mos seed 3"}, stream, clock=clock, wall=lambda: f"{clock.now:.0f}")
    plain.start(15, 0, "cpu")
    running = (Running("k", "epoch 2/3"),)
    for _ in range(600):
        clock.now += 1.0
        plain.tick(Snapshot(6, 15, 0.41, 83.0, 120.0, running))
    lines = stream.getvalue().splitlines()
    moments = [1000.0, *[float(line.split()[0]) for line in lines], clock.now]
    gaps = [after - before for before, after in pairwise(moments)]
    assert max(gaps) <= 60
    assert len(lines) == 11
    assert lines[1] == "1055 mos seed 3: epoch 2/3; 41 % of all, about 2 min left"


def test_a_closed_stream_does_no_harm() -> None:
    """Training does not stop because nobody listens."""
    stream = io.StringIO()
    plain = PlainReporter({}, stream)
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.write("1 run to do")
    plain.start(1, 0, "cpu")


def test_the_reporter_suits_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar only on a terminal, and not in CI, whatever FORCE_COLOR says."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert isinstance(choose_reporter({}, io.StringIO()), PlainReporter)
    assert isinstance(choose_reporter({}, Terminal()), LiveReporter)
    monkeypatch.setenv("CI", "true")
    assert isinstance(choose_reporter({}, Terminal()), PlainReporter)
    monkeypatch.delenv("CI")
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(choose_reporter({}, Terminal()), PlainReporter)


def test_what_is_waited_for_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a line a minute, and below the bar; where it is not known, another process has a run."""
    stream, clock = io.StringIO(), Clock()
    plain = PlainReporter({}, stream, clock=clock, wall=lambda: "13:02:11")
    for waiting in ("", "no dask worker is connected"):
        clock.now += 60.0
        plain.tick(Snapshot(0, 15, 0.0, 83.0, None, (), waiting))
    assert stream.getvalue().splitlines() == [
        "13:02:11 waiting for another process; 0 % of all",
        "13:02:11 no dask worker is connected; 0 % of all",
    ]
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    live = LiveReporter({}, terminal)
    live.start(15, 0, "cpu")
    live.tick(Snapshot(0, 15, 0.0, 83.0, None, (), "no dask worker is connected"))
    live.stop()
    assert "no dask worker is connected" in terminal.getvalue()


def test_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows the runs, the share and the time left; without colours if so wished."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    live = LiveReporter({"k": "mos [bold] seed 3"}, stream)
    live.start(15, 0, "cpu")
    snapshot = Snapshot(7, 15, 0.41, 83.0, 120.0, (Running("k", "epoch 2/3"),))
    live.tick(snapshot)
    live.finished("k", "trained in 27 s", snapshot)
    live.stop()
    text = stream.getvalue()
    assert "mos [bold] seed 3: epoch 2/3" in text
    assert "7/15 runs, 41 % of all, about 2 min left" in text
    assert "mos [bold] seed 3: trained in 27 s" in text
    assert "\x1b[3" not in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (89, "89 s"), (91, "2 min"), (5300, "88 min"), (7260, "2 h 01 min")],
)
def test_durations(seconds: float, text: str) -> None:
    """Short enough to read at a glance."""
    assert duration(seconds) == text


def test_an_unknown_time_is_not_guessed() -> None:
    """Before anything is measured, only the share is said."""
    assert outlook(Snapshot(0, 3, 0.0, 1.0, None, ())) == "0 % of all"
