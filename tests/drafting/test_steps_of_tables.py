"""Runs of a table that end at different steps: said in the claim and the report, or one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.report.write import read_document
from tests.commands import repro


def table(name: str = "step", ends: tuple[int, int] = (1670, 1705)) -> str:
    """Six runs of `old`, half of them of each length, and six of `new`, all alike."""
    rows = [f"old,{end},{3.27 + k / 1000}" for end in ends for k in range(3)]
    rows += [f"new,{ends[0]},{3.25 + k / 1000}" for k in range(6)]
    Path("runs.csv").write_text("\n".join((f"record,{name},val_loss", *rows)))
    return "runs.csv"


def document(name: str) -> str:
    return Path("reports", name, "declared/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["step", "steps", "epochs"])
def test_other_steps_are_said_of_the_arm_that_has_them(name: str) -> None:
    """In `read:`, in its claim and in its report; the other arm is one program."""
    done = repro("compare", table(name), "--arm", "record", "--at-most", "3.28")
    assert done.returncode == 0, done.stderr
    doubt = f"different '{name}', 1670 in 3 runs, 1705 in 3 runs"
    assert (
        f"read: 'old' is not one program, unless that stops by a rule: its runs end at {doubt}"
        in (done.stdout)
    )
    assert doubt in Path("old_at_most.claim.yaml").read_text(encoding="utf-8")
    assert "not one program" in document("old_at_most")
    assert "not one program" not in Path("new_at_most.claim.yaml").read_text(encoding="utf-8")


def test_a_comparison_says_it_of_both() -> None:
    done = repro("compare", table(), "--arm", "record", "--better", "lower", "--baseline", "old")
    assert "not one program" in done.stdout
    assert "not one program" in Path("new_vs_old.claim.yaml").read_text(encoding="utf-8")


def test_one_step_may_be_named() -> None:
    done = repro("compare", table(), "--arm", "record", "--at-most", "3.28", "--step", "1670")
    assert done.returncode == 0, done.stderr
    assert "read: of the field 'step' only '1670'" in done.stdout
    assert "not one program" not in done.stdout
    (arm,) = read_document(Path("reports/old_at_most/declared/report.json")).arms
    assert arm.summaries[0].n == 3
    done = repro("compare", "runs.csv", "--arm", "record", "--at-most", "3.28", "--step", "5")
    assert (done.returncode, "no row has 'step' 5" in done.stderr) == (2, True)
    done = repro("compare", table("lr"), "--arm", "record", "--at-most", "3.28", "--step", "5")
    assert (done.returncode, "leave out --step" in done.stderr) == (2, True)


def test_steps_of_series_and_of_tasks_are_no_doubt() -> None:
    rows = [f"{arm},{seed},{step},{3 + seed / 10 + (arm == 'a')}"
            for arm in "ab" for seed in range(3) for step in (1, 2)]  # fmt: skip
    Path("series.csv").write_text("\n".join(("method,seed,step,loss", *rows)))
    done = repro("compare", "series.csv", "--better", "lower", "--baseline", "a")
    assert (done.returncode, "not one program" in done.stdout) == (0, False)
    rows = [f"{arm},{seed},{env},{9 * len(env)},{seed / 10 + (arm == 'a') / 9}"
            for arm in "ab" for seed in range(3) for env in ("x", "yy", "zzz")]  # fmt: skip
    Path("tasks.csv").write_text("\n".join(("method,seed,env,steps,loss", *rows)))
    done = repro("compare", "tasks.csv", "--better", "lower", "--baseline", "a")
    assert ("VALID" in done.stdout, "not one program" in done.stdout) == (True, False)


@pytest.mark.parametrize("name", ["log", "run", "file"])
def test_a_column_that_names_the_runs_makes_each_row_one(name: str) -> None:
    """Two numbers beside it are no arms, and no series of one run."""
    rows = [f"r,ab{k}c.txt,1670,{3.27 + k / 1000},{9 + k}" for k in range(5)]
    Path("runs.csv").write_text("\n".join((f"record,{name},step,val_loss,train_time_ms", *rows)))
    done = repro("compare", "runs.csv", "--at-most", "3.28")
    assert done.returncode == 0, done.stderr
    assert "read: 5 runs per arm" in done.stdout
    done = repro("compare", "runs.csv", "--better", "lower")
    assert (done.returncode, "no field tells the arms apart" in done.stderr) == (2, True)
    for header, cell in (("time", "{}"), ("when", "2026-01-01T10:00:0{}")):
        rows = [f"{cell.format(k)},{3 - k / 10},{4 - k / 10}" for k in range(5)]
        Path("series.csv").write_text("\n".join((f"{header},val_loss,train_loss", *rows)))
        done = repro("compare", "series.csv", "--at-most", "3.28")
        assert (done.returncode, "are the series of one run" in done.stderr) == (2, True)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("name", ["step", "env_step", "frames", "epoch"])
@pytest.mark.parametrize("options", [("--better", "higher"), ("--arm", "agent", "--at-least", "9")])
def test_a_curve_of_each_arm_is_one_run_on_any_steps(
    options: tuple[str, ...], name: str, order: int
) -> None:
    """Shared or not: each row is another step of its arm."""
    for apart in (1000, 1507):
        rows = [f"{arm},{k * (apart if arm == 'ppo' else 1000)},{100 + k * 8 + 40 * (arm == 'sac')}"
                for arm in ("ppo", "sac") for k in range(8)][::order]  # fmt: skip
        Path("curve.csv").write_text("\n".join((f"agent,{name},reward", *rows)))
        done = repro("compare", "curve.csv", *options)
        said = f"by '{name}' the rows are the 8 steps of one run per arm"
        assert (done.returncode, said in done.stderr) == (2, True), done.stdout
