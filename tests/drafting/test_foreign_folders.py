"""Folders as the programs of other people leave them, read by `repro compare`."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import yaml

from repro.report.write import read_document
from repro.specs.load import load_claims
from tests.commands import repro

LEFT = "all_results.json"


def accuracy(arm: str, seed: int) -> float:
    return {"1e-3": 0.85, "1e-4": 0.8}[arm] + random.Random(f"{arm}{seed}").gauss(0, 0.01)


def runs(template: str, crashed: tuple[str, int] | None = None) -> None:
    """A folder per run; one that crashed has a log and no results."""
    for arm in ("1e-3", "1e-4"):
        for seed in range(5):
            folder = Path(template.format(arm=arm, seed=seed))
            folder.mkdir(parents=True)
            if (arm, seed) == crashed:
                (folder / "train.log").write_text("Killed\n")
            else:
                (folder / LEFT).write_text(json.dumps({"acc": accuracy(arm, seed)}))


@pytest.mark.parametrize(
    ("template", "arms"),
    [
        ("runs/lr{arm}-seed{seed}", "lr1e-3 5, lr1e-4 5"),
        ("runs/lr{arm}_s{seed}", "lr1e-3 5, lr1e-4 5"),
        ("runs/lr={arm},seed={seed}", "lr=1e-3 5, lr=1e-4 5"),
        ("runs/{seed}-lr{arm}", "lr1e-3 5, lr1e-4 5"),
        ("runs/lr_{arm}/seed_{seed}", "lr_1e-3 5, lr_1e-4 5"),
        ("runs/{arm}/{seed}", "1e-3 5, 1e-4 5"),
    ],
)
def test_an_arm_is_called_by_the_whole_number_in_its_path(template: str, arms: str) -> None:
    runs(template)
    done = repro("compare", "runs", "--better", "higher", "--json")
    assert f"read: n, the seeds per arm: {arms}\n" in done.stderr
    (claim,) = load_claims([Path()])
    assert claim.expectations[0].direction == "different"  # type: ignore[attr-defined]
    assert json.loads(done.stdout)["verdict"]["conclusion"] == "CONFIRMED"


@pytest.mark.parametrize("template", ["runs/lr={arm}/{seed}", "runs/lr={arm}/seed_{seed}"])
def test_a_run_that_left_no_results_is_missing(template: str) -> None:
    """Without a verdict: what is left of an arm flatters it."""
    runs(template, crashed=("1e-4", 2))
    done = repro("compare", "runs", "--better", "higher")
    assert "lr=1e-4 4 (and 1 missing)" in done.stdout
    assert "INCOMPLETE" in done.stdout
    assert done.returncode == 3


def with_settings(folder: Path, settings: str, arm: str, seed: int) -> None:
    """A run whose settings lie beside its results, its arm and its seed among them."""
    beside = folder / settings
    beside.parent.mkdir(parents=True)
    beside.write_text(f"optim:\n  lr: {float(arm)}\nseed: {seed}\n")
    if (arm, seed) != ("1e-4", 4):  # which was killed
        table = f"epoch,train_loss,val_acc\n0,,{accuracy(arm, seed)}\n1,0.3,\n"
        (folder / "metrics.csv").write_text(table)


@pytest.mark.parametrize(
    ("template", "settings"),
    [
        ("results/lightning_logs/version_{number}", "hparams.yaml"),
        ("results/multirun/2026-01-01/10-00-00/{number}", ".hydra/config.yaml"),
        ("results/outputs/2026-01-{day:02}/{hour:02}-{number:02}-07", ".hydra/config.yaml"),
    ],
)
def test_settings_beside_the_results_tell_the_arms_apart(template: str, settings: str) -> None:
    """Of Lightning, and of hydra, whose folders are named by the time."""
    every = [(arm, seed) for arm in ("1e-3", "1e-4") for seed in range(5)]
    for number, (arm, seed) in enumerate(every):
        folder = Path(template.format(number=number, day=1 + number // 6, hour=number // 2))
        with_settings(folder, settings, arm, seed)
    done = repro("compare", "results", "--better", "higher", "--arm", "optim.lr")
    assert f"settings from the file {settings} beside each" in done.stdout
    assert "seeds by the field 'seed'" in done.stdout
    assert "0.001 5, 0.0001 4 (and 1 missing)" in done.stdout
    assert "INCOMPLETE" in done.stdout
    claim = yaml.safe_load(next(Path().glob("*.claim.yaml")).read_text())
    assert {arm["import"]["fields"] for arm in claim["arms"].values()} == {settings}


def test_a_pattern_is_no_path() -> None:
    runs("runs/lr={arm}/{seed}")
    done = repro("compare", f"runs/*/*/{LEFT}", "--better", "higher")
    assert done.returncode == 2
    assert "to do: give the folder above, runs" in done.stderr


GYM = {"ppo": 300.0, "sac": 420.0}


def returns(arm: str, seed: int, end: float) -> float:
    return round(GYM[arm] * end + random.Random(f"{arm}{seed}{end}").gauss(0, 9), 3)


def table(arm: str, seed: int, between: str) -> str:
    lines = [f"{k}{between}{returns(arm, seed, k / 4)}{between}{4000 * k}" for k in range(5)]
    return "\n".join((between.join(("Epoch", "AverageEpRet", "TotalEnvInteracts")), *lines, ""))


def spinning_up(env: str = "hopper") -> str:
    """`ALGO_ENV/ALGO_ENV_sN`, with a table between tabs and the settings beside it."""
    for arm in GYM:
        for seed in (0, 10, 20, 30):
            folder = Path("data", f"{arm}_{env}", f"{arm}_{env}_s{seed}")
            folder.mkdir(parents=True)
            (folder / "progress.txt").write_text(table(arm, seed, "\t"))
            (folder / "config.json").write_text(json.dumps({"seed": seed, "env_name": env}))
    return "data"


def ray(settings: str = "params") -> str:
    """Trials without `result.json`: a table, and the settings beside it."""
    for arm in GYM:
        for seed in range(4):
            name = f"{arm}_Hopper-v4_0000{seed}_{seed}_seed={seed}_2026-01-0{seed + 1}_10-00-00"
            folder = Path("ray", f"{arm}_Hopper", name)
            folder.mkdir(parents=True)
            (folder / "progress.csv").write_text(table(arm, seed, ","))
            (folder / f"{settings}.json").write_text(json.dumps({"seed": seed, "lr": 0.1}))
    return "ray"


@pytest.mark.parametrize("form", ["spinning up", "a task in its name", "ray", "garage"])
def test_a_table_of_progress_is_read_beside_the_settings_of_the_run(form: str) -> None:
    """The seed stands in the name of the folder, and the last value of each run counts."""
    results = {
        "spinning up": spinning_up,
        "a task in its name": lambda: spinning_up("ant-maze"),
        "ray": ray,
        "garage": lambda: ray("variant"),
    }[form]()
    seeds = (0, 10, 20, 30) if results == "data" else range(4)
    options = ("--better", "higher", "--measure", "AverageEpRet", "--json")
    done = repro("compare", results, *options)
    assert "the last value of each run" in done.stderr, done.stderr
    (arms,) = (json.loads(done.stdout)["arms"],)
    found = {arm["id"][:3]: sorted(each["values"]["averageepret"] for each in arm["replicates"])
             for arm in arms}  # fmt: skip
    assert found == {arm: sorted(returns(arm, seed, 1.0) for seed in seeds) for arm in GYM}
    claims = [claim.id for claim in load_claims([Path()])]
    assert repro("verify", *(str(file) for file in Path().glob("*.claim.yaml"))).returncode == 0
    assert len(claims) == 1


def test_one_table_between_tabs_may_be_called_txt() -> None:
    rows = [f"{arm}\t{seed}\t{returns(arm, seed, 1)}" for arm in GYM for seed in range(4)]
    Path("runs.txt").write_text("\n".join(("method\tseed\treturn", *rows)))
    done = repro("compare", "runs.txt", "--better", "higher")
    assert "n, the seeds per arm: ppo 4, sac 4" in done.stdout, done.stderr
    Path("log.txt").write_text("step\tof a log\nno table: 3\n")
    assert "this log is one run" in repro("compare", "log.txt", "--better", "higher").stderr


def zoo(seeds: int, processes: int) -> tuple[str, ...]:
    """Folders of SB3's zoo: a run each, with a file for each of its parallel environments."""
    for arm in GYM:
        for seed in range(1, seeds + 1):
            for k in range(processes):
                file = Path("zoo", arm, f"Hopper-v4_{seed}", f"{k}.monitor.csv")
                file.parent.mkdir(parents=True, exist_ok=True)
                rows = [f"{returns(arm, seed, 1 + k / 100)},200,{k}", f"{k},100,{k}"]
                file.write_text("\n".join(('#{"t_start": 1.5}', "r,l,t", *rows)))
    return ("compare", "zoo", "--better", "higher", "--measure", "r")


@pytest.mark.parametrize("options", [(), ("--unit", "run"), ("--seed", "run"), ("--unit", "r")])
def test_parallel_environments_of_one_training_are_one_run(options: tuple[str, ...]) -> None:
    done = repro(*zoo(1, 8), *options)
    assert (done.returncode, "of parallel environments of one training" in done.stderr) == (2, True)


def test_parallel_environments_are_averaged_in_each_run() -> None:
    args = zoo(4, 3)
    done = repro(*args)
    assert (done.returncode, "--unit run averages the rows of each run" in done.stderr) == (2, True)
    done = repro(*args, "--unit", "run")
    assert "n, the runs per arm: ppo 4, sac 4" in done.stdout, done.stderr
    (result,) = read_document(next(Path("reports").glob("*/declared/report.json"))).results
    means = [
        sum(returns(arm, seed, 1 + k / 100) + k for k in range(3) for seed in range(1, 5)) / 24
        for arm in ("sac", "ppo")
    ]
    assert result.effect == pytest.approx(means[0] - means[1])


def test_runs_may_differ_in_their_episodes() -> None:
    """A better policy has longer episodes, so that fewer of them fit into a training."""
    args = zoo(4, 1)
    file = Path("zoo/ppo/Hopper-v4_2/0.monitor.csv")
    file.write_text(f"{file.read_text()}\n330,100,4")
    done = repro(*args, "--unit", "run")
    assert "n, the runs per arm: ppo 4, sac 4" in done.stdout, done.stderr
    assert "VALID" in done.stdout


def test_the_folder_of_a_run_ends_with_its_number_where_files_are_of_episodes() -> None:
    """`ppo/Hopper-v4_1/0.monitor.csv` of SB3's zoo: runs, and their episodes are averaged."""
    for arm in GYM:
        for seed in range(1, 5):
            folder = Path("zoo", arm, f"Hopper-v4_{seed}")
            folder.mkdir(parents=True)
            rows = (f"{returns(arm, seed, k)},200,{k}" for k in (1, 1.01, 1.02))
            text = "\n".join(('#{"t_start": 1.5}', "r,l,t", *rows))
            (folder / "0.monitor.csv").write_text(text)
    args = ("compare", "zoo", "--better", "higher", "--measure", "r")
    done = repro(*args)
    assert (done.returncode, "--unit run averages the rows of each run" in done.stderr) == (2, True)
    assert "task" not in done.stderr
    done = repro(*args, "--unit", "run")
    assert "n, the runs per arm: ppo 4, sac 4" in done.stdout, done.stderr


@pytest.mark.parametrize("folder", ["results", "exp2"])
@pytest.mark.parametrize(
    "names", [("sac", "td3"), ("resnet18", "resnet50"), ("sac", "tdmpc", "tdmpc2")]
)
def test_a_number_in_the_name_of_an_arm_with_seeds_inside_counts_no_runs(
    folder: str, names: tuple[str, ...]
) -> None:
    """A table of three seeds per arm: `tdmpc` and `tdmpc2` are two, whichever seeds they have."""
    Path(folder).mkdir()
    for place, name in enumerate(names):
        rows = [f"{seed + 3 * place},{place + seed / 10}" for seed in range(3)]
        Path(folder, f"{name}.csv").write_text("\n".join(("seed,reward", *rows)))
    done = repro("compare", folder, "--better", "higher", "--baseline", names[0])
    seeds = ", ".join(f"{name} 3" for name in names)
    assert f"read: n, the seeds per arm: {seeds}" in done.stdout, done.stderr


def test_a_table_per_arm_and_task_is_read_where_their_names_have_numbers() -> None:
    for place, arm in enumerate(("sac", "tdmpc", "tdmpc2")):
        Path("results", arm).mkdir(parents=True)
        for task in ("dog-run", "walker-2", "h1-crawl"):
            rows = [f"{seed},{place + seed / 10}" for seed in range(3)]
            Path("results", arm, f"{task}.csv").write_text("\n".join(("seed,reward", *rows)))
    fields = ("--arm", "path1", "--task-field", "path2")
    done = repro("compare", "results", "--better", "higher", "--baseline", "sac", *fields)
    assert "seeds per arm and task: sac 3, tdmpc 3, tdmpc2 3" in done.stdout, done.stderr


def test_evaluations_of_several_environments_are_not_those_of_one_run() -> None:
    """`Hopper-v4_1` and `Ant-v4_1` have one number, and are two runs."""
    for place, (arm, env) in enumerate((arm, env) for arm in ("ppo", "sac") for env in ("A", "B")):
        for run in range(3):
            folder = Path("logs", arm, f"{env}-v4_{run}")
            folder.mkdir(parents=True)
            rows = [f"{place + run / 10 + n / 100},{50 + n}" for n in range(5)]
            (folder / "0.monitor.csv").write_text("\n".join(("r,l", *rows)))
    asked = ("compare", "logs", "--better", "higher", "--measure", "r", "--unit", "run")
    done = repro(*asked, "--arm", "path1")
    assert "would average over 'path2' in the paths: A-v4, B-v4" in done.stderr
    assert "--task-field path2" in done.stderr


def test_a_step_that_a_run_has_twice_is_named() -> None:
    """As where a run was begun again: the arm and the step, and not an arm that is whole."""
    Path("runs").mkdir()
    for arm in ("sac", "tdmpc"):
        rows = [f"{step},{seed + step / 9},{seed}" for seed in range(3) for step in range(9)]
        again = ["4,0.5,2"] if arm == "tdmpc" else []
        Path("runs", f"{arm}.csv").write_text("\n".join(("step,reward,seed", *rows, *again)))
    done = repro("compare", "runs", "--better", "higher")
    assert "arm 'tdmpc' has 2 rows with seed 2 and step 4" in done.stderr, done.stdout


def stamped(template: str, arms: str = "ppo sac", times: int = 3) -> str:
    """A folder per run, stamped by its time; the second arm ran an hour, and a day, later."""
    for place, arm in enumerate(arms.split()):
        for seed in range(times):
            words = {"arm": arm, "seed": seed, "day": f"2024-03-0{seed + 1 + place}"}
            clock = f"1{place}-3{seed}-1{seed + place}"
            unix = 1_700_000_123 + 977 * seed + 12_345 * place
            path = Path(template.format(time=clock, unix=unix, number=place, **words))
            path.mkdir(parents=True)
            value = 900 + 50 * (arm == "ppo") + 3 * seed
            (path / "results.json").write_text(json.dumps({"reward": value}))
    return Path(template).parts[0]


@pytest.mark.parametrize(
    ("template", "seeds"),
    [
        ("runs/{arm}-{day}_{time}", ""),
        ("runs/{arm}2_{day}T{time}", ""),
        ("runs/Ant-v4_{day} {time}_{arm}", ""),
        ("runs/{arm}/{day}/{time}", ""),
        ("runs/{arm}_2024-03-01_1{number}-3{seed}", ""),
        ("runs/Mar0{seed}_{time}_{arm}", ""),
        ("runs/{arm}/seed_{seed}/{day}/{time}", "seed"),
        ("runs/{arm}_seed{seed}_{day}_{time}", "seed"),
        ("runs/{arm}_s{seed}_{day}_{time}", "run"),
        ("runs/{arm}/{day}/{time}/{seed}", "run"),
        ("runs/{arm}-2024-03-01_12-30-1{seed}", ""),
        ("runs/20240301-12301{seed}_{arm}", ""),
    ],
)
def test_a_date_and_time_is_the_stamp_of_a_run(template: str, seeds: str) -> None:
    done = repro("compare", stamped(template), "--better", "higher")
    (path,) = Path("reports").glob("*/declared/report.json")
    (result,) = read_document(path).results
    assert abs(result.effect or 0) == pytest.approx(50)
    assert f"seeds by the field '{seeds}'" in done.stdout or not seeds
    counts = done.stdout.partition("the seeds per arm: ")[2].partition("\n")[0].replace("2 ", " ")
    assert counts == "ppo 3, sac 3"


@pytest.mark.parametrize("word", ["fold", "layers", "epoch", "env"])
def test_a_number_before_a_stamp_counts_what_its_word_says(word: str) -> None:
    results = stamped(f"runs/{{arm}}_{word}{{seed}}_{{day}}_{{time}}")
    done = repro("compare", results, "--better", "higher", "--baseline", "sac")
    assert "seeds by the field" not in done.stdout + done.stderr
    assert f"'{word}'" in done.stdout + done.stderr


@pytest.mark.parametrize("template", ["{day}/{time}", "multirun/{day}/{time}/{number}"])
def test_a_stamp_names_no_arm(template: str) -> None:
    """Neither does the number of a job of Hydra; and the advice works when followed."""
    done = repro("compare", stamped(f"runs/{template}"), "--better", "higher")
    assert (done.returncode, "tells the arms apart" in done.stderr) == (2, True)
    advice = "put the runs of each arm into a folder of its name" in done.stderr
    assert advice == ("number" not in template)
    done = repro("compare", stamped(f"better/{{arm}}/{template}"), "--better", "higher")
    assert "read: n, the seeds per arm: ppo 3, sac 3" in done.stdout, done.stderr


@pytest.mark.parametrize("ending", ["", "/run"])
def test_cleanrl_names_environment_experiment_and_seed(ending: str) -> None:
    """Four parts between two underscores, the last a time; nothing looser is a seed."""
    for env in ("Ant-v4", "Hopper-v4", "Swimmer-v4"):
        stamped(f"runs/{env}__{{arm}}__{{seed}}__{{unix}}{ending}")
    done = repro("compare", "runs", "--better", "higher", "--task", "Ant-v4")
    assert "only 'Ant-v4' of the field 'env'" in done.stdout, done.stderr
    assert "seeds by the field 'seed'" in done.stdout
    assert "n, the seeds per arm: ppo 3, sac 3" in done.stdout
    done = repro("compare", "runs", "--better", "higher", "--baseline", "sac", "--out", "all")
    assert "tasks by the field 'env'" in done.stdout, done.stderr


@pytest.mark.parametrize("template", ["{arm}_layers_{seed}_{unix}", "{arm}__{seed}__{unix}"])
def test_no_looser_name_has_a_seed(template: str) -> None:
    done = repro("compare", stamped(f"runs/{template}"), "--better", "higher")
    assert "seeds by the field 'seed'" not in done.stdout
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("template", "names", "arms"),
    [
        ("{arm}_s{seed}", "base base_v2", "base 3, base_v2 3"),
        ("runs/{arm}/seed_{seed}", "ours ours-big", "ours 3, ours-big 3"),
        ("{arm}_s{seed}", "plain base_v2", "base_v2 3, plain 3"),
        ("runs/{arm}_{seed}_end", "new_ppo new_ppo_big", "ppo 3, ppo_big 3"),
    ],
)
def test_an_arm_is_called_by_a_word_that_is_there(template: str, names: str, arms: str) -> None:
    """A name that another one begins with is no `plain` one: that would be made a baseline."""
    results = stamped(f"all/{template}", names)
    done = repro("compare", results, "--better", "higher", "--baseline", arms.split(maxsplit=1)[0])
    counts = done.stdout.partition("the seeds per arm: ")[2].partition("\n")[0]
    assert sorted(counts.split(", ")) == sorted(arms.split(", ")), done.stderr


def test_numbers_of_jobs_are_no_names_where_the_runs_have_some() -> None:
    """The logs of SLURM arrays: the job is a number, and the method stands inside."""
    for job, arm in ((48123, "ours"), (48200, "base")):
        for seed in range(4):
            lines = [f"method: {arm}", f"seed: {seed}", f"loss: {1 + (arm == 'base') + seed / 9}"]
            file = Path("logs", f"slurm-{job}_{seed}.out")
            file.parent.mkdir(exist_ok=True)
            file.write_text("\n".join(lines))
    done = repro("compare", "logs", "--better", "lower")
    assert "the seeds per arm: ours 4, base 4" in done.stdout, done.stderr
    assert "48123" not in done.stdout
    for place, file in enumerate(sorted(Path("logs").iterdir())):
        file.write_text(file.read_text() + f"\nmodel: {'large' if place % 2 else 'small'}\n")
    done = repro("compare", "logs", "--better", "lower")
    assert "the seeds per arm: ours 4, base 4" not in done.stdout
