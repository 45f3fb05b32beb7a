"""Results in the forms that people publish: what is read of them, and what is asked about."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import yaml

from repro.report.write import read_document
from tests.commands import repro
from tests.drafting.test_compare import EFFECT, MIXUP, PLAIN, VALUES

BOTH = {"mixup": MIXUP, "plain": PLAIN}


def compared(*options: str, results: str = ".") -> CompletedProcess[str]:
    return repro("compare", results, "--better", "lower", *options)


def write(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def is_read(done: CompletedProcess[str], *said: str) -> None:
    """The five values of each arm, and what is said of how they were read."""
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("n, the seeds per arm: mixup 5, plain 5", *said):
        assert words in done.stdout
    judged = read_document(Path("reports/mixup_vs_plain/declared/report.json"))
    assert judged.results[0].effect == pytest.approx(EFFECT, abs=1e-12)
    assert repro("verify", "mixup_vs_plain.claim.yaml").returncode == 0


def is_refused(done: CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2, done.stdout + done.stderr
    for each in (*words, "to do: "):
        assert each in done.stderr
    assert not list(Path().glob("*.claim.yaml"))


# files of runs


def episodes(last: float) -> str:
    rows = (f"{value},{length},{length / 3}" for length, value in enumerate((99.0, 98.0, last)))
    return "\n".join(('#{"t_start": 1.5, "env_id": "CartPole-v1"}', "r,l,t", *rows)) + "\n"


def test_the_episodes_of_one_run_are_averaged_where_somebody_says_so() -> None:
    """A `monitor.csv` of Stable-Baselines: the last episode alone says little of a run."""
    write({f"{arm}/seed_{seed}/0.monitor.csv": episodes(value) for arm, seed, value in VALUES})
    is_refused(compared("--measure", "r"), "its rows are parts of one run by 'episode'")
    done = compared("--measure", "r", "--unit", "seed")
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("averaged: the rows of one run", "lines above the header that begin with # are"):
        assert words in done.stdout
    assert "mixup is 0.245 lower than plain" in done.stdout  # a third of 0.734: one of 3 episodes


def test_episodes_are_no_seeds_where_each_arm_has_one_run() -> None:
    write({f"{arm}-Cart-v1/0.monitor.csv": episodes(1.0) for arm in ("a2c", "ppo", "dqn")})
    is_refused(compared("--measure", "r"), "no field tells the arms apart")


def iterations(seed: int, last: float) -> str:
    rows: list[dict[str, Any]] = [
        {"episode_reward_mean": value, "training_iteration": n, "config": {"seed": seed}}
        for n, value in enumerate((99.0, 98.0, last))
    ]
    return "".join(f"{json.dumps(each)}\n" for each in rows)


@pytest.mark.parametrize(
    "folder",
    [
        "{arm}_Cart_0000{seed}_2026-01-01",
        "{arm}_Cart-v4_{seed}_env=Cart-v4_2018-08-21_02-43-09hM{seed}l4Ph",
        "{arm}_Cart-v4_0_2018-08-21_02-43-095_QyA{seed}",
        "{arm}_Cart-v4_a1b2c_0000{seed}_{seed}_2026-01-01_02-43-0{seed}",
    ],
)
def test_the_folders_of_ray(folder: str) -> None:
    """JSON lines that are named .json, in folders that end in a time and in letters."""
    for arm, seed, value in VALUES:
        place = f"{arm}/{folder.format(arm=arm.upper(), seed=seed)}"
        write({f"{place}/result.json": iterations(seed, value), f"{place}/params.json": "{}"})
    done = compared("--measure", "episode_reward_mean")
    is_read(done, "the last value of each run", "seeds by the field 'config.seed'")


def test_events_whose_folders_are_all_named_otherwise_are_counted() -> None:
    write({f"{name}/events.out.tfevents.1.host": "" for name in ("mixup", "plain", "other")})
    is_refused(compared(), "its folders of events are one run each", "mixup, other, plain")


def trainer(arm: str, seed: int, value: float) -> dict[str, str]:
    """As the Trainer of Hugging Face leaves a run: its state, of a checkpoint too, and more."""
    place, steps = f"runs/{arm}_seed{seed}", range(100, 400, 100)
    logged: list[dict[str, float]] = []
    for step in steps:
        last = value + (300 - step) / 100
        logged.append({"loss": last / 2, "learning_rate": 1e-5, "step": step})
        logged.append(
            {
                "eval_loss": last,
                "eval_runtime": 1.0 + seed,
                "eval_samples_per_second": 80.0 - seed,
                "step": step,
            }
        )
    end = {"train_loss": 1.0, "train_runtime": 9.0 + seed, "total_flos": 1e15, "step": 300}
    state = {"max_steps": 300, "eval_steps": 100, "log_history": [*logged, end]}
    early = {**state, "log_history": logged[:2]}
    return {
        f"{place}/trainer_state.json": json.dumps(state),
        f"{place}/checkpoint-100/trainer_state.json": json.dumps(early),
        f"{place}/config.json": json.dumps({"hidden_size": 8}),
    }


def test_the_state_of_hugging_faces_trainer_is_a_series() -> None:
    """The last `eval_loss` of each run counts; how fast it was is no result."""
    for arm, seed, value in VALUES:
        write(trainer(arm, int(seed), float(value)))
    done = repro("compare", "runs", "--better", "lower")
    assert "the number 'eval_loss'" in done.stdout, done.stderr
    found = read_document(Path("reports/mixup_vs_plain/declared/report.json")).results[0]
    assert found.effect == pytest.approx(EFFECT, rel=1e-9)


def sacred(number: int, status: str = "COMPLETED") -> dict[str, str]:
    arm, seed, value = VALUES[number]
    series = {"error": {"steps": [0, 1], "timestamps": ["", ""], "values": [9.0, value]}}
    return {
        f"{number + 1}/metrics.json": json.dumps(series),
        f"{number + 1}/config.json": json.dumps({"method": arm, "seed": seed, "lr": 0.1}),
        f"{number + 1}/run.json": json.dumps({"status": status, "heartbeat": "", "host": {}}),
        f"{number + 1}/cout.txt": "epoch: 1\n",
    }


def test_the_folders_of_sacred() -> None:
    for number in range(10):
        write(sacred(number))
    done = compared()
    is_read(done, "arms by the field 'method'", "seeds by the field 'seed'")
    claim = yaml.safe_load(Path("mixup_vs_plain.claim.yaml").read_text())
    assert claim["arms"]["mixup"]["import"]["fields"] == "config.json"


def test_a_run_of_sacred_that_failed_has_diverged() -> None:
    """Whatever its last value was."""
    for number in range(10):
        write(sacred(number, "FAILED" if number == 3 else "COMPLETED"))
    done = compared()
    assert "mixup 4 (and 1 diverged), plain 5" in done.stdout
    assert done.returncode == 4
    assert repro("verify", "mixup_vs_plain.claim.yaml").returncode == 4


def inspect_log(arm: str, seed: int, value: float, status: str = "success") -> str:
    scores = [{"name": "match", "metrics": {"accuracy": {"value": value}}}]
    results = {"results": {"scores": scores}} if status == "success" else {"error": {}}
    made = {"task": "t", "model": arm, "model_generate_config": {"seed": seed}}
    return json.dumps({"version": 2, "status": status, "eval": made, **results})


def test_a_log_of_inspect_that_failed_is_a_failed_run() -> None:
    """Though it has no number at all."""
    for failed, n in ((None, "mixup 5"), (("mixup", 2), "mixup 4 (and 1 diverged)")):
        for arm, seed, value in VALUES:
            status = "error" if (arm, seed) == failed else "success"
            name = f"logs/2026-01-01T10-00-00_t_{arm}{seed}.json"
            write({name: inspect_log(arm, seed, value, status)})
        done = compared("--measure", "match.accuracy", results="logs")
        assert f"n, the seeds per arm: {n}, plain 5" in done.stdout
        assert done.returncode == (4 if failed else 0)


def test_the_folders_of_helm() -> None:
    """Of three files beside each other, the one with the numbers of the run."""
    for arm, seed, value in VALUES:
        place = f"runs/v1/made:subject=sums,seed={seed},model={arm}"
        stat = {"name": {"name": "error", "split": "test"}, "mean": value}
        spec = {"name": "made", "adapter_spec": {"model": arm, "seed": seed}}
        write({f"{place}/stats.json": json.dumps([stat])})
        write({f"{place}/run_spec.json": json.dumps(spec)})
        write({f"{place}/per_instance_stats.json": "[[]]"})
    is_read(compared(results="runs"), "runs of HELM", "arms by the field 'adapter_spec.model'")


# JSON


VALUES_BY_ARM: dict[str, Any] = {
    "below a name": {"n_seeds": 5, "results": {a: {"values": v} for a, v in BOTH.items()}},
    "with means": {a: {"values": v, "mean": sum(v) / 5, "std": 0.1} for a, v in BOTH.items()},
    "with seeds": {a: {"seeds": [*range(5)], "error": v} for a, v in BOTH.items()},
    "that have their mean": {a: {"loss": v, "mean_loss": sum(v) / 5} for a, v in BOTH.items()},
    "an object of seeds": {
        a: {"mean": 1.5, "seed_results": {str(s): {"error": x} for s, x in enumerate(v)}}
        for a, v in BOTH.items()
    },
}


@pytest.mark.parametrize("shape", VALUES_BY_ARM)
def test_values_by_arm(shape: str) -> None:
    Path("results.json").write_text(json.dumps(VALUES_BY_ARM[shape]))
    is_read(compared(results="results.json"), "a JSON file: ")


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"results": {arm: {"loss": [3.0, 2.0, 1.0]} for arm in BOTH}}, "or of one run's steps"),
        ({"results": {"train": [3.0, 2.0, 1.0], "test": [3.0, 2.5, 2.0]}}, "is one run"),
        ({"results": {arm: {"0": 0.1, "1": 0.2, "2": 0.3} for arm in BOTH}}, "is one run"),
        ({arm: {"per_class": {"0": 0.1, "1": 0.2, "2": 0.3}} for arm in BOTH}, "is one run"),
    ],
)
def test_what_may_be_no_seeds_is_asked_about(document: Any, words: str) -> None:
    Path("results.json").write_text(json.dumps(document))
    is_refused(compared(results="results.json"), words)


def test_the_seeds_inside_of_a_record() -> None:
    """Its mean is no run; a record that has the mean alone is left out, and that is said."""
    for arm, values in BOTH.items():
        seeds = {str(41 + seed): {"error": value} for seed, value in enumerate(values)}
        record = {"name": "a record", "error": 1.0, "bytes": 9, "seed_results": seeds}
        write({f"{arm}/submission.json": json.dumps(record)})
    write({"mean/submission.json": json.dumps({"name": "another", "error": 1.0})})
    done = compared("--measure", "error")
    is_read(done, "left out, without seeds in it: mean/submission.json")


def test_json_lines_may_be_named_json() -> None:
    lines = (json.dumps({"method": a, "seed": s, "error": v}) for a, s, v in VALUES)
    Path("runs.json").write_text("\n".join(lines))
    is_read(compared(results="runs.json"), "JSON lines, a run per line")


# numbers and words in paths


@pytest.mark.parametrize("file", ["seed_{seed}/{arm}.json", "seed_{seed}/results_{arm}.json"])
def test_a_file_per_arm_in_a_folder_per_seed(file: str) -> None:
    write({file.format(arm=a, seed=s): json.dumps({"error": v}) for a, s, v in VALUES})
    is_read(compared(), "a file per run", "seeds by the field 'seed'")


def test_years_in_names_are_no_seeds_unless_somebody_says_so() -> None:
    write({f"{a}_{2019 + s}.json": json.dumps({"error": v}) for a, s, v in VALUES})
    is_refused(compared(), "no seeds are named, and 'year' is the same in every arm: 2019, 2020")
    is_read(compared("--seed", "year"), "seeds by the field 'year'")


def test_years_that_are_called_seeds_are_seeds() -> None:
    write({f"{a}_seed{2019 + s}.json": json.dumps({"error": v}) for a, s, v in VALUES})
    is_read(compared(), "seeds by the field 'seed'")


@pytest.mark.parametrize("between", ["-", "_"])
def test_names_that_are_all_combinations_are_asked_about(between: str) -> None:
    for task, more in (("ant", 0.0), ("hopper", 1.0), ("walker", 2.0)):
        write(
            {
                between.join((a, task, f"{s}.json")): json.dumps({"error": v + more})
                for a, s, v in VALUES
            }
        )
    said = "the paths differ in 2 parts: 'path1' is mixup, plain; 'path2' is ant, hopper, walker"
    is_refused(compared(), said)
    done = compared("--arm", "path1", "--task-field", "path2")
    assert "5 runs per arm and task, one per seed; 3 tasks, by 'path2'" in done.stdout


# several forms in one folder


def test_a_database_of_something_else_stops_nothing() -> None:
    write({f"{arm}/seed_{seed}.json": json.dumps({"error": v}) for arm, seed, v in VALUES})
    Path("optuna.db").write_bytes(b"SQLite format 3\x00 and no more")
    done = compared()
    said = "not used, the store of a tracker: optuna.db: cannot be read as a database of a tracker"
    is_read(done, "a file per run", said)


def test_files_are_read_where_the_events_beside_them_lack_the_number() -> None:
    for arm, seed, value in VALUES:
        place = f"{arm}/seed_{seed}"
        write({f"{place}/events.out.tfevents.1.host": "", f"{place}/train.log": "epoch: 1\n"})
        write({f"{place}/metrics.csv": f"epoch,error\n0,9\n1,{value}\n"})
    done = compared("--measure", "error")
    is_read(done, "the last value of each run", "not used, events of TensorBoard: ")


# links


def test_a_link_that_leads_out_is_refused_in_words(tmp_path: Path) -> None:
    """A file, and a folder, as of a cluster with a second disk."""
    out = tmp_path / "project"
    out.mkdir()
    os.chdir(out)
    write({f"runs/{a}/seed_{s}/result.json": json.dumps({"error": v}) for a, s, v in VALUES})
    for name in ("runs/mixup/seed_3/result.json", "runs/mixup/seed_3"):
        Path(name).rename(tmp_path / "elsewhere")
        Path(name).symlink_to(tmp_path / "elsewhere")
        is_refused(compared(results="runs"), "seed_3/result.json", "leads elsewhere")
        Path(name).unlink()
        (tmp_path / "elsewhere").rename(name)
    is_read(compared(results="runs"))


def test_a_link_to_a_run_beside_it_is_not_counted_twice() -> None:
    write({f"runs/{a}/seed_{s}/result.json": json.dumps({"error": v}) for a, s, v in VALUES})
    Path("runs/mixup/latest").symlink_to("seed_4")
    is_read(compared(results="runs"), "not followed, links to folders: runs/mixup/latest")
