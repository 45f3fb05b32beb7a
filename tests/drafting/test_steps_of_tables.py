"""Runs of a table that end at different steps: said in the claim and the report, or one step."""

from __future__ import annotations

import json
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
    assert f"'old' is not one program, unless that stops by a rule: its runs end at {doubt}" in (
        done.stdout
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
    assert "only '1670' of the field 'step'" in done.stdout
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
    assert "5 runs per arm" in done.stdout
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


def series(base: dict[int, int], new: int = 400, folder: bool = False) -> str:
    """Five runs per arm, 0.01 a step: those of `base` end at the steps given, of `new` at one."""
    rows: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for arm, gain in (("base", 0.0), ("new", 1.0)):
        for seed in range(5):
            last = base.get(seed, 400) if arm == "base" else new
            steps = range(100, last + 1, 100)
            rows[arm, seed] = [(step, 10 + step / 100 + gain + seed / 100) for step in steps]
    if not folder:
        lines = [
            f"{arm},{seed},{step},{value}"
            for (arm, seed), each in rows.items()
            for step, value in each
        ]
        Path("runs.csv").write_text("\n".join(("method,seed,step,reward", *lines)))
        return "runs.csv"
    for (arm, seed), each in rows.items():
        file = Path("runs", arm, f"seed_{seed}", "progress.csv")
        file.parent.mkdir(parents=True)
        lines = [f"{value},{step}" for step, value in each]
        file.write_text("\n".join(("rollout/reward,time/total_timesteps", *lines)))
    return "runs"


@pytest.mark.parametrize("folder", [False, True])
def test_runs_that_end_early_are_named(folder: bool) -> None:
    """In `read:`, after the verdict, in the claim and in the report; a common step is named."""
    args = ["compare", series({1: 200, 3: 200}, folder=folder), "--better", "higher"]
    args += ["--measure", "rollout/reward"] * folder
    done = repro(*args)
    name = "time/total_timesteps" if folder else "step"
    said = f"2 of 5 runs of 'base' ended early: the last '{name}' is 200 in 2 runs, and 400 in the"
    assert done.stdout.count(said) == 2, done.stdout
    assert said in Path("new_vs_base.claim.yaml").read_text(encoding="utf-8")
    assert "2 of 5 runs of" in document("new_vs_base")
    assert "fragile: runs in doubt" in done.stdout
    verdict = read_document(Path("reports/new_vs_base/declared/report.json")).verdict
    assert verdict.sentence.endswith(" 2 of 5 runs of 'base' ended early.")
    assert [flag.text.startswith("2 of 5 runs") for flag in verdict.flags][:1] == [True]
    assert "`--step 200` takes the value of each at one step" in done.stdout
    assert repro(*args, "--step", "200").returncode == 0
    (result,) = read_document(Path("reports/new_vs_base/declared/report.json")).results
    assert result.effect == pytest.approx(1.0)
    said = repro(*args, "--step", "200").stdout
    assert ("ended early" in said, "runs in doubt" in said) == (False, False)


@pytest.mark.parametrize("folder", [False, True])
def test_runs_that_a_step_drops_are_named(folder: bool) -> None:
    results = series({1: 200, 3: 200}, folder=folder)
    done = repro("compare", results, "--better", "higher", "--step", "400")
    said = "--step 400 drops 2 of 5 runs of 'base' (seed 1, 3), which have no value there: to drop"
    assert done.stdout.count(said) == 2, done.stdout + done.stderr
    assert "n, the seeds per arm: new 5, base 3" in done.stdout or "base 3, new 5" in done.stdout
    assert said in Path("new_vs_base.claim.yaml").read_text(encoding="utf-8")
    done = repro("compare", results, "--better", "higher", "--step", "7")
    assert (done.returncode, "name a step that is there" in done.stderr) == (2, True)


def test_an_arm_that_ends_early_is_named() -> None:
    done = repro("compare", series(dict.fromkeys(range(5), 300)), "--better", "higher")
    assert "5 of 5 runs of 'base' ended early: the last 'step' is 300 in 5 runs" in done.stdout
    assert "'new' ended early" not in done.stdout


def test_a_run_whose_last_step_is_near_that_of_others_did_not_end_early() -> None:
    """Steps of environments: each run has a value at the end of another episode."""
    rows = [f"{arm},{seed},{step + 7 * seed + 3 * (arm == 'b')},{9 + seed / 9 + (arm == 'b')}"
            for arm in "ab" for seed in range(4) for step in (100, 200, 300)]  # fmt: skip
    rows += ["a,4,100,9", "a,4,200,9", "b,4,100,9", "b,4,203,9", "b,4,305,9.5"]
    Path("runs.csv").write_text("\n".join(("method,seed,step,reward", *rows)))
    done = repro("compare", "runs.csv", "--better", "higher", "--baseline", "a")
    assert "1 of 5 runs of 'a' ended early: the last 'step' is 200 in 1 run" in done.stdout
    assert "of 'b' ended early" not in done.stdout


def test_an_early_end_of_results_elsewhere_is_told_in_the_verdict() -> None:
    series({1: 200}, folder=True)
    args = ["compare", "runs/new", "--against", "runs/base", "--by", "0.1", "--better", "higher"]
    args += ["--measure", "rollout/reward"]
    assert "ended early" in repro(*args).stdout
    (path,) = Path("reports").glob("*/declared/report.json")
    assert read_document(path).verdict.sentence.endswith(" 1 of 5 runs of 'base' ended early.")
    done = repro(*args, "--step", "200")
    assert (done.returncode, "in doubt" in done.stdout) == (0, False), done.stderr


def elsewhere(form: str, ends: dict[str, int]) -> None:
    """Runs that have a value at every hundredth of 1,000 steps, in the form of some program."""
    for place, (name, end) in enumerate(ends.items()):
        rows = [{"step": step, "val_loss": 4 - step / 400 + place / 100}
                for step in range(100, end + 1, 100)]  # fmt: skip
        texts = {
            "log": "\n".join(f"step:{row['step']}/1000 val_loss:{row['val_loss']}" for row in rows),
            "open": "\n".join(f"step:{row['step']} val_loss:{row['val_loss']}" for row in rows),
            "csv": "step,val_loss\n" + "\n".join(f"{a},{b}" for a, b in (r.values() for r in rows)),
            "jsonl": "\n".join(map(json.dumps, rows)),
            "state": json.dumps({"global_step": end, "max_steps": 1000, "log_history": rows}),
        }
        file = {"log": "log.txt", "open": "log.txt", "state": "trainer_state.json"}
        path = Path(name, file.get(form, f"metrics.{form}"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[form])


@pytest.mark.parametrize("form", ["log", "open", "csv", "jsonl", "state"])
def test_one_run_that_ended_before_its_reference_is_not_judged(form: str) -> None:
    """Its last number is one of a run that was under way; at one step it may be compared."""
    elsewhere(form, {f"old/seed_{k}": 1000 for k in range(6)} | {"killed": 700, "new": 1000})
    (killed,), (new,) = Path("killed").iterdir(), Path("new").iterdir()
    asked = ("--within", "old", "--better", "lower", "--measure", "val_loss")
    done = repro("compare", killed, *asked)
    assert (done.returncode, "--step 700" in done.stderr) == (2, True), done.stdout
    assert "ended early" in done.stderr or "ends before its last step" in done.stderr
    assert repro("compare", killed, *asked, "--step", "700").returncode in (1, 3)
    done = repro("compare", new, *asked, "--out", "new_one")
    assert (done.returncode in (1, 3), "in doubt" in done.stdout) == (True, False), done.stderr


@pytest.mark.parametrize("option", ["--against", "--within"])
def test_runs_that_all_end_before_those_elsewhere_are_in_doubt(option: str) -> None:
    for name, end in (("new", 700), ("old", 1000)):
        rows = [f"{seed},{step},{4 - step / 400 + seed / 100 + (name == 'old')}"
                for seed in range(6) for step in range(100, end + 1, 100)]  # fmt: skip
        Path(f"{name}.csv").write_text("\n".join(("seed,step,loss", *rows)))
    done = repro("compare", "new.csv", option, "old.csv", "--better", "lower")
    said = "6 of 6 runs of 'new' ended early: the last 'step' is 700 in 6 runs, and 1000 in the"
    assert said in done.stdout, done.stderr
    assert "runs in doubt" in done.stdout
    done = repro("compare", "new.csv", option, "old.csv", "--better", "lower", "--step", "700")
    assert ("ended early" in done.stdout, "in doubt" in done.stdout) == (False, False)


def test_a_file_that_says_that_more_was_to_come_is_of_a_run_in_doubt() -> None:
    elsewhere("state", {f"new/seed_{k}": 700 for k in range(4)})
    done = repro("compare", "new", "--at-most", "9", "--measure", "val_loss")
    said = "4 of 4 runs of 'new' ended early: 'global_step' is 700, and 'max_steps' 1000; unless a"
    assert said in done.stdout, done.stderr
    assert "runs in doubt" in done.stdout
