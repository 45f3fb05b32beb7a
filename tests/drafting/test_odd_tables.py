"""Results that a guess would read wrongly: they are refused or said, and states are not lost."""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from repro.judging.document import Document
from repro.report.write import read_document
from repro.specs.load import load_claims
from tests.commands import repro

FIXTURES = Path(__file__).parents[1] / "evidence" / "imports"
ZSTANDARD = sys.version_info >= (3, 14) or importlib.util.find_spec("backports") is not None

MIXUP = (4.21, 4.35, 4.18, 4.29, 4.24)
PLAIN = (4.97, 5.08, 4.91, 5.03, 4.95)


def table(*rows: str, name: str = "results.csv") -> str:
    Path(name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return name


def compared(results: str, *options: str) -> CompletedProcess[str]:
    return repro("compare", results, "--better", "lower", *options)


def judged(name: str = "mixup_vs_plain") -> Document:
    return read_document(Path("reports", name, "declared", "report.json"))


def copied(name: str = "results_as_compared.csv") -> list[dict[str, str]]:
    with Path(name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows_of(*more: str, arms: Sequence[str] = ("mixup", "plain")) -> list[str]:
    """`arm,seed,error` of both arms, with more rows after them."""
    by_arm = zip(arms, (MIXUP, PLAIN), strict=True)
    rows = [f"{arm},{seed},{value}" for arm, values in by_arm for seed, value in enumerate(values)]
    return [*rows, *more]


# tasks, and other things that are no seeds


@pytest.mark.parametrize("header", ["method,task,score", "method,Dataset,score"])
def test_tasks_are_no_seeds(header: str) -> None:
    """Rows of two tasks, numbered as they come, would count as replicates."""
    rows = [
        f"{arm},{task},{0.1 * place + shift}"
        for arm, shift in (("mixup", 0.0), ("plain", 0.5))
        for task in ("cola", "rte")
        for place in range(3)
    ]
    done = compared(table(header, *rows))
    assert (done.returncode, "of several tasks" in done.stderr) == (2, True)
    assert "is cola, rte" in done.stderr
    assert list(Path().glob("*.claim.yaml")) == []


def test_tasks_are_no_seeds_in_a_tidy_table_that_is_copied() -> None:
    rows = [
        f"{arm},{3 * (task == 'rte') + seed},error,{seed + shift},{task}"
        for arm, shift in (("Mixup", 0.0), ("Plain", 0.5))
        for task in ("cola", "rte")
        for seed in range(3)
    ]
    done = compared(table("arm,seed,measurement,value,task", *rows))
    assert (done.returncode, "of several tasks" in done.stderr) == (2, True)


def test_what_is_the_same_in_every_arm_may_not_be_a_seed() -> None:
    """Prompts, folds, corpora: of whatever name, where no seed is named."""
    rows = [
        f"{arm},{prompt},{place + shift}"
        for arm, shift in (("mixup", 0.0), ("plain", 0.5))
        for place, prompt in enumerate(("a", "b", "c", "d"))
    ]
    done = compared(table("method,prompt,error", *rows))
    assert (done.returncode, "no seeds are named, and 'prompt'" in done.stderr) == (2, True)
    assert "--items prompt" in done.stderr


def test_columns_that_are_not_read_are_named() -> None:
    rows = [f"{row},A100,0.1" for row in rows_of()]
    done = compared(table("method,seed,error,gpu,lr", *rows))
    assert "read: left unread: gpu, lr\n" in done.stdout


# numbers that tell arms apart


BATCHES = [f"{size},{0.9 + size / 1000 + place / 700}" for size in (32, 64) for place in range(4)]


def test_a_numeric_setting_is_no_arm_of_its_own() -> None:
    """`batch_size` was compared with `accuracy`."""
    done = compared(table("batch_size,accuracy", *BATCHES))
    assert (done.returncode, "but numbers may: batch_size" in done.stderr) == (2, True)
    assert "--arm batch_size" in done.stderr


@pytest.mark.parametrize("options", [("--measure", "accuracy"), ("--arm", "batch_size")])
def test_one_hint_is_enough(options: tuple[str, str]) -> None:
    done = compared(table("batch_size,accuracy", *BATCHES), *options)
    assert "arms by the field 'batch_size'" in done.stdout, done.stderr
    assert "the number 'accuracy'" in done.stdout


def test_a_measure_that_no_arm_has_is_refused() -> None:
    rows = [f"{a},{b}" for a, b in zip(MIXUP, PLAIN, strict=True)]
    done = compared(table("mixup,plain", *rows), "--measure", "mixup")
    assert (done.returncode, "no field tells the arms apart" in done.stderr) == (2, True)


def test_hints_hold_for_a_tidy_table() -> None:
    """The columns that are named, in place of arm and seed."""
    rows = [f"x,0,error,{row.split(',')[2]},{row.split(',')[0]},{row.split(',')[1]}"
            for row in rows_of()]  # fmt: skip
    results = table("arm,seed,measurement,value,method,number", *rows)
    done = compared(results, "--arm", "method", "--seed", "number")
    assert done.returncode == 0, done.stderr
    assert judged().results[0].effect == pytest.approx(-0.734, abs=1e-9)
    assert compared(results, "--arm", "none").returncode == 2


# runs that did not finish


@pytest.mark.parametrize("arms", [("mixup", "plain"), ("Mixup", "Plain")])
@pytest.mark.parametrize(
    ("row", "word"),
    [
        ("5,error,97.3,diverged", "INVALID"),
        ("5,error,,running", "INCOMPLETE"),
        ("5,error,diverged,finished", "INVALID"),
    ],
)
def test_a_tidy_table_keeps_its_states(arms: tuple[str, str], row: str, word: str) -> None:
    """As it is, and where its values are copied for the names of its arms."""
    rows = [f"{arm},{seed},error,{value},finished" for arm, seed, value in
            (each.split(",") for each in rows_of(arms=arms))]  # fmt: skip
    rows += [f"{arms[0]},{row}", f"{arms[1]},5,error,4.9,finished"]
    compared(table("arm,seed,measurement,value,state", *rows))
    assert judged().verdict.validity == word
    assert Path("results_as_compared.csv").exists() == (arms[0] == "Mixup")


@pytest.mark.parametrize(
    ("state", "word"), [("crashed", "INVALID"), ("running", "INCOMPLETE"), ("finished", "VALID")]
)
def test_the_state_of_a_run_is_read(state: str, word: str) -> None:
    """A table of runs that W&B exported says what it is; a crashed run has not finished."""
    head = "Name,State,Created,Runtime,Group,seed,error"
    rows = [f"{arm}-{seed},finished,2026,60,{arm},{seed},{value}" for arm, seed, value in
            (each.split(",") for each in rows_of())]  # fmt: skip
    rows += [f"mixup-5,{state},2026,60,mixup,5,4.2", "plain-5,finished,2026,60,plain,5,4.9"]
    done = compared(table(head, *rows))
    assert "a table of runs that W&B exported" in done.stdout, done.stderr
    assert judged().verdict.validity == word
    if state != "finished":
        assert "by the field 'State'" in done.stdout


def test_a_state_that_is_unknown_is_refused() -> None:
    rows = [f"{each},finished" for each in rows_of()]
    done = compared(table("arm,seed,error,state", *rows, "mixup,5,4.2,lost"))
    assert "'lost' is no state of a run" in done.stderr
    assert done.returncode in (2, 5)


def test_an_empty_cell_is_no_divergence() -> None:
    """Here and in a copy elsewhere."""
    results = table("arm,seed,error", *rows_of("mixup,5,", "plain,5,4.9"))
    for out in (".", "elsewhere"):
        done = compared(results, "--out", out)
        assert "read: n, the seeds per arm: mixup 5 (and 1 missing), plain 6\n" in done.stdout
        ending = "" if out == "." else f"_{out}"
        assert judged(f"mixup_vs_plain{ending}").verdict.validity == "INCOMPLETE"
    states = {(each["arm"], each["seed"]): each["state"]
              for each in copied("elsewhere/results_as_compared.csv")}  # fmt: skip
    assert (states["mixup", "5"], states["mixup", "4"]) == ("running", "finished")


def test_a_run_that_diverged_in_words_is_one() -> None:
    compared(table("arm,seed,error", *rows_of("mixup,5,Diverged", "plain,5,4.9")))
    assert judged().verdict.validity == "INVALID"


@pytest.mark.parametrize("rows", [("mixup;5;4,21", "plain;5;4.9"), ("mixup;5;n/a", "plain;5;4.9")])
def test_a_cell_that_is_no_number_is_refused(rows: tuple[str, ...]) -> None:
    """With its place; it was counted as a divergence."""
    lines = [each.replace(",", ";") for each in rows_of()]
    done = compared(table("arm;seed;error", *lines, *rows))
    assert (done.returncode, "row 11, column 'error'" in done.stderr) == (2, True)
    assert "to do: " in done.stderr


# names


def test_the_name_of_a_table_may_have_a_space() -> None:
    """A claim cannot write such a name, so that the values are copied."""
    rows = [f"{arm},{seed},error,{value}" for arm, seed, value in
            (each.split(",") for each in rows_of())]  # fmt: skip
    done = compared(table("arm,seed,measurement,value", *rows, name="my results.csv"))
    assert done.returncode == 0, done.stderr
    assert Path("my_results_as_compared.csv").exists()


def test_long_names_stay_apart() -> None:
    """They differ at the end, or in the middle alone."""
    common = "a_run_of_the_baseline_with_a_very_long_name_that_ends_in_"
    ends = (f"{common}mixup", f"{common}plain")
    middle = (f"{common}mixup{common}", f"{common}plain{common}")
    for name, arms in (("ends.csv", ends), ("middle.csv", middle)):
        results = table("arm,seed,error", *rows_of(arms=arms), name=name)
        done = compared(results, "--reports", f"reports_on_{name}")
        assert done.returncode in (0, 1), done.stderr
        for file in Path().glob("*.claim.yaml"):
            (claim,) = load_claims(file)
            assert len({arm.label for arm in claim.arms.values()}) == 2
            file.unlink()


# places


def test_the_folder_in_which_one_is_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A project that has a folder `wandb`; or the folder of a tracker itself."""
    for source in ("wandb-0.31.0.tar.gz", "mlruns-3.17.2.tar.gz"):
        with tarfile.open(FIXTURES / source) as archive:
            archive.extractall(filter="data")
    monkeypatch.chdir("mlruns")
    done = compared(".", "--measure", "test_error")
    assert "mixup 4 (and 1 diverged), plain 4 (and 1 diverged)" in done.stdout, done.stderr
    monkeypatch.chdir("..")
    Path("mlruns").rename("elsewhere")
    for place in ("", "wandb"):
        monkeypatch.chdir(place or ".")
        done = compared(".", "--measure", "val.error")
        assert "has 2 seeds, which cannot decide" in done.stderr


def test_a_file_that_is_named_like_no_other_is_said() -> None:
    Path("out").mkdir()
    for arm, seed, value in (each.split(",") for each in rows_of("tuned,0,4.5")):
        Path(f"out/{arm}-{seed}.json").write_text(json.dumps({"error": float(value)}))
    done = compared("out")
    assert done.returncode == 0, done.stderr
    assert "read: left out, for no other is named alike: out/tuned-0.json" in done.stdout


# what evaluations and charts leave


def chart(*more: str) -> str:
    names = [f"{arm}-{seed} - error" for arm in ("mixup", "plain") for seed in range(5)]
    names = [*names, *more]
    header = ["Step", *(part for name in names for part in (name, f"{name}__MIN", f"{name}__MAX"))]
    values = [*MIXUP, *PLAIN, *(1.0 for _ in more)]
    rows = [
        ",".join([str(step), *(str(value + 1 - step) for value in values for _ in range(3))])
        for step in (0, 1)
    ]
    return table(",".join(f'"{each}"' for each in header), *rows, name="chart.csv")


def test_a_chart_of_wandb_has_a_run_per_column() -> None:
    done = compared(chart())
    assert "a chart that W&B exported, a run per column" in done.stdout, done.stderr
    assert "the number 'error'" in done.stdout
    assert "the last value of each run" in done.stdout
    assert judged().results[0].effect == pytest.approx(-0.734, abs=1e-9)
    assert repro("verify", "mixup_vs_plain.claim.yaml").returncode == 0
    assert "label: error" in Path("mixup_vs_plain.claim.yaml").read_text(encoding="utf-8")


def test_a_chart_of_several_numbers_asks_for_one() -> None:
    done = compared(chart("mixup-0 - loss"))
    assert (done.returncode, "expected: error, loss" in done.stderr) == (2, True)
    assert compared("chart.csv", "--measure", "error").returncode == 0


@pytest.mark.skipif(not ZSTANDARD, reason="needs Python 3.14 or the extra inspect")
def test_logs_of_inspect_are_read() -> None:
    with tarfile.open(FIXTURES / "inspect-0.3.285.tar.gz") as archive:
        archive.extractall(filter="data")
    done = repro("compare", "inspect", "--better", "higher", "--baseline", "plain")
    assert "logs of inspect" in done.stdout, done.stderr
    assert "seeds per arm: mixup 3, plain 3 (and 1 diverged)" in done.stdout
    told = compared("inspect/plain_0.eval").stderr
    assert "one log of inspect is one run, task " in told
    assert "more .eval lie beside it" in told
    assert "give the folder with the files of all runs, such as inspect" in told


def test_results_of_lm_eval_are_read() -> None:
    """Of two tasks; they are no replicates of each other."""
    with tarfile.open(FIXTURES / "lm_eval-0.4.13.tar.gz") as archive:
        archive.extractall(filter="data")
    done = compared("lm_eval", "--measure", "acc,none")
    assert "of several tasks: 'task' is" in done.stderr
    for file in Path("lm_eval").rglob("*.json"):
        document = json.loads(file.read_text(encoding="utf-8"))
        document["results"].pop("sums")
        file.write_text(json.dumps(document))
    done = compared("lm_eval", "--measure", "acc,none")
    assert "results of lm-eval" in done.stdout, done.stderr
    assert "seeds per arm: mixup 3, plain 3" in done.stdout


# tables that are no runs


def summaries(names: str = "mean,std,n") -> None:
    Path("sums.csv").write_text(f"method,{names}\nours,95.2,0.3,5\nbase,94.1,0.4,5\n")


@pytest.mark.parametrize("names", ["mean,std,n", "acc_mean,acc_std,n", "acc,acc_sem,n", "avg,sd,n"])
def test_a_table_of_summaries_is_for_the_audit(names: str) -> None:
    """And the advice works when it is followed."""
    summaries(names)
    done = repro("compare", "sums.csv", "--better", "higher")
    assert (done.returncode, "repro audit sums.csv" in done.stderr) == (2, True), done.stderr
    assert "ours vs base" in repro("audit", "sums.csv").stdout


@pytest.mark.parametrize(
    "names",
    ["ours,ours_std,base", "ours,base,Stderr", "mean,std,base", "mean,se,base", "ours,±,base"],
)
def test_a_column_of_scatter_is_no_method(names: str) -> None:
    rows = [f"d{n},{80.1 + n * n / 7},{70 + n**3 / 9},{60.7 + n % 4 / 3}" for n in range(6)]
    Path("scores.csv").write_text("\n".join((f"dataset,{names}", *rows)))
    done = repro("compare", "scores.csv", "--better", "higher", "--baseline", "base")
    scatter = next(each for each in names.split(",") if each not in ("ours", "base", "mean"))
    assert f"not used, the scatter of these: {scatter}" in done.stdout, done.stderr
    Path("scores.csv").write_text("\n".join(("dataset,ours,std,base", *rows)))
    done = repro("compare", "scores.csv", "--better", "higher", "--baseline", "base")
    assert (done.returncode, "'std' may be the scatter" in done.stderr) == (2, True)
    Path("scores.csv").write_text("dataset,Value,Stderr\na,1.5,0.2\nb,2.5,0.1\nc,3.5,0.2\n")
    done = repro("compare", "scores.csv", "--better", "higher", "--baseline", "Value")
    assert (done.returncode, "no field tells the arms apart" in done.stderr) == (2, True)


def test_methods_may_be_called_as_scatter_is() -> None:
    """Stable Diffusion and a model with squeeze-and-excitation have no mean beside them."""
    rows = [f"d{n},{80.1 + n * n / 7},{70 + n**3 / 9},{60.7 + n % 4 / 3}" for n in range(6)]
    Path("scores.csv").write_text("\n".join(("dataset,SD,SE,base", *rows)))
    done = repro("compare", "scores.csv", "--better", "higher", "--baseline", "base")
    assert "a column per arm: SD, SE, base" in done.stdout, done.stderr


def test_a_duration_is_to_be_written_in_seconds() -> None:
    rows = [f"{arm},{seed},0:{12 + (arm == 'a')}:3{seed}" for arm in "ab" for seed in range(4)]
    Path("times.csv").write_text("\n".join(("method,seed,time", *rows)))
    done = repro("compare", "times.csv", "--better", "lower")
    assert "'0:13:30' of 'time' is a duration or a time of day" in done.stderr
    assert "write it in seconds, 810" in done.stderr


def test_one_setting_of_several_is_named() -> None:
    """The advice works when it is followed."""
    rows = [f"{arm},{seed},{lr},{3 + (arm == 'a') + seed / 9 + lr}"
            for arm in "ab" for seed in range(4) for lr in (0.1, 0.01)]  # fmt: skip
    Path("runs.csv").write_text("\n".join(("method,seed,lr,error", *rows)))
    done = repro("compare", "runs.csv", "--better", "lower")
    assert "--task-field lr --task 0.1 takes the rows of one" in done.stderr
    options = ("--task-field", "lr", "--task", "0.1", "--baseline", "a")
    done = repro("compare", "runs.csv", "--better", "lower", *options)
    assert "n, the seeds per arm: a 4, b 4" in done.stdout, done.stderr


@pytest.mark.parametrize("form", ["long", "tidy", "wide", "json"])
def test_a_typographic_minus_is_a_minus(form: str) -> None:
    """Also in the table that a claim reads as it is."""
    values = {(arm, seed): f"\N{MINUS SIGN}{2 + (arm == 'a') + seed**3 / 80}"
              for arm in "ab" for seed in range(4)}  # fmt: skip
    lines = {
        "long": ["arm,seed,score", *(f"{a},{s},{v}" for (a, s), v in values.items())],
        "tidy": [
            "arm,seed,measurement,value",
            *(f"{a},{s},score,{v}" for (a, s), v in values.items()),
        ],
        "wide": ["seed,a,b", *(f"{s},{values['a', s]},{values['b', s]}" for s in range(4))],
        "json": [json.dumps([{"arm": a, "seed": s, "score": v} for (a, s), v in values.items()])],
    }
    results = "runs.json" if form == "json" else "runs.csv"
    Path(results).write_text("\n".join(lines[form]), encoding="utf-8")
    done = repro("compare", results, "--better", "higher", "--baseline", "b")
    (path,) = Path("reports").glob("*/declared/report.json")
    assert read_document(path).results[0].effect == pytest.approx(-1), done.stderr
    assert repro("verify", "a_vs_b.claim.yaml").returncode == done.returncode


def test_levels_of_columns_are_to_be_stacked() -> None:
    """As pandas writes a pivot of several numbers: what the refusal advises is read."""
    frames = pytest.importorskip("pandas")
    rows = [(arm, seed, 3 + (arm == "a") + seed**3 / 80, seed) for arm in "ab" for seed in range(4)]
    wide = frames.DataFrame(rows, columns=["method", "seed", "error", "cost"])
    wide = wide.pivot(index="seed", columns="method")
    wide.to_csv("wide.csv")
    done = repro("compare", "wide.csv", "--better", "lower")
    assert "`df.stack().reset_index().to_csv(FILE, index=False)`" in done.stderr
    wide.stack().reset_index().to_csv("long.csv", index=False)
    options = ("--measure", "error", "--baseline", "b")
    done = repro("compare", "long.csv", "--better", "lower", *options)
    assert "the seeds per arm: a 4, b 4" in done.stdout, done.stderr
    Path("sums.csv").write_text(",err,err\n,mean,std\nmethod,,\nours,4.2,0.1\nbase,5.0,0.2\n")
    assert "`repro audit` reads them" in repro("compare", "sums.csv", "--better", "lower").stderr
    assert "err mean: significant" in repro("audit", "sums.csv", "--n", "5").stdout
