"""What a row is: no row is a seed unless something says so, in whatever form the results lie."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from repro.judging.document import Document
from repro.report.write import read_document
from tests.commands import repro

Records = Sequence[Mapping[str, Any]]
ARMS = {"base": 0.70, "ours": 0.74}


def compared(results: str, *options: str, better: str = "higher") -> CompletedProcess[str]:
    return repro("compare", results, "--better", better, *options)


def judged(name: str = "ours_vs_base") -> Document:
    return read_document(Path("reports", name, "declared", "report.json"))


def refusal(done: CompletedProcess[str]) -> str:
    """What is said of results that are not judged: nothing is written, and a way out is named."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert "VALID" not in done.stdout
    assert list(Path().glob("*.claim.yaml")) == []
    assert "to do: " in done.stderr
    return done.stderr


def records(fields: Mapping[str, Sequence[Any]], arms: Sequence[str] = ("base", "ours")) -> Records:
    """A value of each arm for all combinations of the fields."""
    rows: list[dict[str, Any]] = [{"method": arm} for arm in arms]
    for name, values in fields.items():
        rows = [{**row, name: value} for row in rows for value in values]
    draw = random.Random(5)
    return [{**row, "acc": round(ARMS.get(row["method"], 0.7) + draw.gauss(0, 0.01), 4)}
            for row in rows]  # fmt: skip


def long(rows: Records) -> str:
    with Path("results.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return "results.csv"


def wide(rows: Records) -> str:
    """A column per arm."""
    places: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        said = {key: value for key, value in row.items() if key not in ("method", "acc")}
        place = places.setdefault(tuple(said.values()), said)
        place[row["method"]] = row["acc"]
    return long(list(places.values()))


def json_list(rows: Records) -> str:
    Path("results.json").write_text(json.dumps(rows))
    return "results.json"


def json_lines(rows: Records) -> str:
    Path("results.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "results.jsonl"


def folders(rows: Records) -> str:
    """A file per value, whose path says all."""
    for row in rows:
        said = [f"{key}_{value}" for key, value in row.items() if key not in ("method", "acc")]
        file = Path("out", row["method"], *said[:-1], f"{said[-1]}.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"acc": row["acc"]}))
    return "out"


FORMS = (long, wide, json_list, json_lines, folders)

ONE_EACH = "one value per arm and task"
REFUSED: Mapping[str, tuple[Mapping[str, Sequence[Any]], str]] = {
    "folds": ({"fold": ["a b", "c d", "e f"]}, "folds share their training data"),
    "resamples": ({"bootstrap": range(5)}, "folds share their training data"),
    "episodes": ({"episode": range(6)}, "episodes, trials and questions are parts"),
    "items": ({"doc_id": range(6)}, "episodes, trials and questions are parts"),
    "trials": ({"trial": range(6)}, "episodes, trials and questions are parts"),
    "epochs": ({"epoch": range(6)}, "the 6 steps of one run per arm"),
    "tasks": ({"task_id": range(4)}, ONE_EACH),
    "trials of tasks": ({"task": range(4), "trial": range(3)}, "'trial' tells rows apart"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("design", REFUSED)
def test_rows_that_are_no_runs_are_refused_in_every_form(
    design: str, form: Callable[[Records], str]
) -> None:
    fields, words = REFUSED[design]
    assert words in refusal(compared(form(records(fields))))


JUDGED: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "data sets": {"dataset": ["d1", "d2", "d3", "d4"]},
    "seeds": {"seed": range(5)},
    "seeds of tasks": {"env": ["e1", "e2", "e3", "e4"], "seed": range(4)},
    "series": {"seed": range(5), "epoch": range(3)},
}


@pytest.mark.parametrize("design", JUDGED)
def test_every_form_of_a_design_gives_one_effect(
    design: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = records(JUDGED[design])
    found = set()
    for form in FORMS if design != "series" else FORMS[:4]:
        folder = tmp_path / form.__name__
        folder.mkdir()
        monkeypatch.chdir(folder)  # so that no claim of other results is in the way
        done = compared(form(rows))
        assert "ours_vs_base: VALID, " in done.stdout, done.stderr
        result = judged().results[0]
        found.add((result.kind, round(result.effect or 0.0, 9), result.conclusion))
    assert len(found) == 1


@pytest.mark.parametrize("first", [0, 1])
def test_the_header_of_an_index_changes_no_verdict(first: int) -> None:
    """The same numbers: one verdict, or a refusal, whatever counts the rows is called."""
    found: dict[str, float | None] = {}
    headers = ("Seed", "fold", "idx", "rep", "run_id", "trial", "# seed", "cv_split", "repeat", "")
    for header in (*headers, "x", "epoch", "Unnamed: 0", "round", "id"):
        rows = wide(records({"seed": range(first, first + 8)}))
        text = Path(rows).read_text()
        Path(rows).write_text(text.replace("seed,base", f"{header},base", 1))
        done = compared(rows)
        if done.returncode == 2:
            assert "to do: " in done.stderr
            found[header] = None
            continue
        assert "read: a column per arm: base, ours\n" in done.stdout
        found[header] = judged().results[0].p
    assert {header for header, p in found.items() if p is None} == {
        *("trial", "x", "epoch", "round", "id")
    }
    assert found.pop("fold") == found.pop("cv_split")  # corrected for what they share
    assert len(set(found.values())) == 2


def shuffled(rows: Records, seed: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    keys = list(rows[0])
    draw.shuffle(keys)
    for row in draw.sample(list(rows), len(rows)):
        yield {key: row[key] for key in keys}


@pytest.mark.parametrize("form", [long, json_list])
def test_the_order_of_rows_and_columns_changes_no_verdict(form: Callable[[Records], str]) -> None:
    rows = records({"seed": range(5), "lr": [0.1]}, arms=("ours", "other"))
    found = set()
    for seed in range(5):
        done = compared(form(list(shuffled(rows, seed))))
        assert "VALID, CONFIRMED (error rate at most 5 % if" in done.stdout, done.stderr
        assert (": ours is better." in done.stdout) or (": other is worse." in done.stdout)
        (name,) = (file.name.partition(".")[0] for file in Path().glob("*.claim.yaml"))
        found.add(round(judged(name).results[0].p or 0.0, 12))
        for file in Path().glob("*.*"):
            file.unlink()
    assert len(found) == 1


# what is named is obeyed, and said


def test_a_trial_that_is_named_a_seed_is_one() -> None:
    results = long(records({"task_id": range(4), "trial": range(3)}))
    done = compared(results, "--seed", "trial")
    assert "seeds by the field 'trial'" in done.stdout, done.stderr
    assert "3 runs per arm and task, one per 'trial'; 4 tasks, by 'task_id'" in done.stdout
    assert judged().results[0].kind == "over_tasks"


def test_a_data_set_that_is_named_an_arm_is_one() -> None:
    rows = [{"dataset": row["method"], "acc": row["acc"]} for row in records({"n": range(5)})]
    results = long(rows)
    assert "--arm dataset" in refusal(compared(results))
    done = compared(results, "--arm", "dataset")
    assert "arms by the field 'dataset'" in done.stdout, done.stderr


def test_a_field_that_is_named_the_task_is_one() -> None:
    """`maze` is known, `kind` is not; and the message that leads there is right."""
    results = long(records({"kind": ["a", "b", "c"], "seed": range(4)}))
    told = refusal(compared(results))
    assert "'kind' tells them apart" in told
    assert "--task-field kind" in told
    done = compared(results, "--task-field", "kind")
    assert "tasks by the field 'kind'" in done.stdout, done.stderr
    assert judged().results[0].kind == "over_tasks"
    done = compared(results, "--task-field", "kind", "--task", "b")
    assert "only 'b' of the field 'kind'" in done.stdout, done.stderr
    assert judged().results[0].kind == "difference"
    assert (compared(results, "--task-field", "none").returncode) == 2


@pytest.mark.parametrize("named", [True, False])
def test_evaluations_of_one_unit_are_averaged(named: bool) -> None:
    """As by hand: the mean of each seed, whether its name is a number or not."""
    rows = records({"seed": range(4), "doc_id": range(3)})
    if not named:
        rows = [{**row, "seed": f"{row['method']}-{'abcd'[row['seed']]}"} for row in rows]
    done = compared(long(rows), "--unit", "seed")
    assert "4 runs per arm, each the mean of the rows with one 'seed'" in done.stdout
    effect = sum(r["acc"] * (1 if r["method"] == "ours" else -1) for r in rows) / 12
    assert judged().results[0].effect == pytest.approx(effect, abs=1e-12)


def test_a_unit_with_fewer_evaluations_is_missing() -> None:
    rows = records({"seed": range(4), "doc_id": range(3)})[:-1]
    compared(long(rows), "--unit", "seed")
    assert judged().verdict.validity == "INCOMPLETE"


def test_steps_are_not_averaged() -> None:
    results = long(records({"seed": range(4), "epoch": range(3)}))
    assert "the steps of a series" in refusal(compared(results, "--unit", "seed"))


# wide tables


def test_rows_may_be_the_arms_and_columns_the_seeds() -> None:
    rows = [{"Model": arm, **{f"seed_{n}": ARMS[arm] + shift / 100 for n, shift in
             enumerate((0, 1, 3, 2))}} for arm in ("ours", "base")]  # fmt: skip
    done = compared(long(rows))
    assert "a row per arm, by 'Model', and a column per seed" in done.stdout, done.stderr
    assert judged().results[0].effect == pytest.approx(0.04, abs=1e-12)


def test_a_row_per_method_with_a_column_per_data_set_is_said() -> None:
    rows = [{"method": arm, "cifar": 0.9, "svhn": 0.8, "mnist": 0.99} for arm in "abc"]
    assert "if these are data sets, give a row for each" in refusal(compared(long(rows)))
    rows = [{"method": arm, "accuracy": 0.9, "f1": 0.8} for arm in "abc"]
    assert "one value each of accuracy, f1" in refusal(compared(long(rows)))


def test_cells_that_say_the_seed_are_seeds() -> None:
    rows = records({"which": [f"seed_{n}" for n in range(5)]})
    done = compared(wide(rows))
    assert "seeds by the field 'which'" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "values", [(2, 4, 8, 16), (0.1, 0.2, 0.3, 0.4), ("gpu", "tpu", "cpu", "x")]
)
def test_settings_in_a_column_are_asked_about(values: Sequence[Any]) -> None:
    told = refusal(compared(wide(records({"setting": values}))))
    assert ("--seed setting" in told) == all(isinstance(value, int) for value in values)
    assert "--task-field setting" in told


def test_numbers_of_one_run_are_no_arms() -> None:
    rows = [{"seed": n, "f1": 0.7 + n / 100, "auc": 0.8 + n / 90} for n in range(5)]
    assert "the series of one run" in refusal(compared(long(rows)))


def test_the_seed_may_stand_in_the_name_of_the_run() -> None:
    """`Baseline (Seed 1)`: a public table of several seeds, with numbers of mine."""
    gap = {"Baseline": (1.5029, 1.4806, 1.4854, 1.4914), "Defended 25%": (1.44, 1.45, 1.46, 1.43)}
    rows = [{"Model": f"{arm} (Seed {n})", "Clean Acc": 0.59, "Gap": value}
            for arm, values in gap.items() for n, value in enumerate(values, 1)]  # fmt: skip
    done = compared(long(rows), "--measure", "Gap", better="lower")
    assert "arms by the field 'Model'" in done.stdout, done.stderr
    assert "read: n, the seeds per arm: Baseline 4, Defended 25% 4" in done.stdout
    assert judged("defended_25_vs_baseline").verdict.conclusion == "CONFIRMED"


# states


def crashed(word: str, good: str = "ok") -> str:
    """Five seeds of each; a run that crashed is written as 0, which would be the best."""
    rows = [{**row, "status": good} for row in records({"seed": range(5)})]
    rows[-1] = {**rows[-1], "acc": 0.0, "status": word}
    return long(rows)


@pytest.mark.parametrize(
    ("word", "good"),
    [
        *(("crash", "ok"), ("error", "ok"), ("failure", "success"), ("timeout", "done")),
        *(("FAIL", "COMPLETE"), ("ERROR", "TERMINATED"), ("OUT_OF_MEMORY", "COMPLETED")),
        *(("NODE_FAIL", "COMPLETED"), ("KILLED", "FINISHED"), ("oom", "ok")),
    ],
)
def test_a_crash_that_is_written_as_0_is_a_crash(word: str, good: str) -> None:
    done = compared(crashed(word, good), better="lower")
    assert "1 diverged or failed" in done.stdout, done.stderr
    assert judged().verdict.validity == "INVALID"


def test_states_are_no_arms_and_unknown_words_are_asked_about() -> None:
    rows = [{"commit": f"c{n}", "val_bpb": 0.99 + n / 999, "status": ("keep", "discard")[n % 2]}
            for n in range(12)]  # fmt: skip
    told = refusal(compared(long(rows), better="lower"))
    assert "'keep', 'discard' in 'status' is no state of a run" in told
    done = compared("results.csv", "--arm", "status", better="lower")
    assert "arms by the field 'status'" in done.stdout, done.stderr


def test_a_run_that_failed_after_its_end_has_a_way_out() -> None:
    """It is named where its runs are counted, and it works."""
    rows = [{"Name": f"{row['method']}-{row['seed']}", **row,
             "State": "crashed" if row["seed"] == 3 else "finished"}
            for row in records({"seed": range(5)})]  # fmt: skip
    done = compared(long(rows))
    assert "if these ended after their last step, compare without that column" in done.stdout
    assert judged().verdict.validity == "INVALID"
    done = compared(long([{k: v for k, v in row.items() if k != "State"} for row in rows]))
    assert "ours_vs_base: VALID, " in done.stdout, done.stderr


# baselines


def test_two_arms_without_a_baseline_may_differ() -> None:
    """Whichever comes first: nobody who believes in it is told CONTRADICTED."""
    for arms in [("lion", "adamw"), ("adamw", "lion")]:
        first, _ = arms
        rows = records({"seed": range(5)}, arms)
        rows = [{**row, "acc": row["acc"] + (row["method"] == "lion")} for row in rows]
        done = compared(wide(rows))
        assert "VALID, CONFIRMED (error rate at most 5 % if" in done.stdout, done.stderr
        better = ": lion is better." if first != "lion" else ": adamw is worse."
        assert better in done.stdout
        for file in Path().glob("*.*"):
            file.unlink()


def test_a_baseline_is_asked_for_where_it_matters() -> None:
    """Of three arms, over tasks, and with a margin; a word in two names names none."""
    for results, *options in (
        (long(records({"seed": range(5)}, ("a", "b", "c"))),),
        (json_list(records({"seed": range(5)}, ("a", "b"))), "--by", "0.1"),
        (json_lines(records({"task": range(3), "seed": range(3)}, ("a", "b"))),),
    ):
        assert "no arm is named a baseline: a, b" in refusal(compared(results, *options))
    done = compared(long(records({"seed": range(5)}, ("base_x", "base_y"))))
    assert "neither is named a baseline" in done.stdout, done.stderr


# paths


def tree(template: str, **parts: Sequence[Any]) -> str:
    for row in records(parts, arms=("ours", "base")):
        file = Path("out", template.format(**row))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"acc": row["acc"]}))
    return "out"


def test_a_path_that_differs_in_two_parts_is_asked_about() -> None:
    results = tree("{method}/{env}/seed_{seed}.json", env=["ant", "pong", "walk"], seed=range(4))
    told = refusal(compared(results))
    assert "'path1' is base, ours; 'path2' is ant, pong, walk" in told
    done = compared(results, "--arm", "path1", "--task-field", "path2")
    assert "arms by 'path1' in the paths" in done.stdout, done.stderr
    assert judged().results[0].kind == "over_tasks"
    done = compared(results, "--arm", "path", "--baseline", "base/ant")
    assert done.stdout.count("_vs_base_ant: VALID") == 5, done.stderr


def test_parts_of_paths_have_names() -> None:
    results = tree("env={env}/algo={method}/seed={seed}/x.json", env=["a", "b", "c"], seed=range(4))
    done = compared(results)
    assert "arms by 'algo' in the paths" in done.stdout, done.stderr
    assert "tasks by the field 'env'" in done.stdout


def test_a_part_that_says_the_same_again_is_no_part() -> None:
    done = compared(tree("{method}/{method}_env-v4_{seed}/x.json", seed=range(4)))
    assert "an arm per path" in done.stdout, done.stderr


def test_of_checkpoints_the_last_is_taken_by_its_number() -> None:
    results = tree("{method}/seed_{seed}/checkpoint-{at}/x.json", seed=range(4), at=[500, 1000])
    done = compared(results)
    assert "the last value of each run, by 'checkpoint'" in done.stdout, done.stderr
    last = [row for row in records({"seed": range(4), "at": [500, 1000]}, ("ours", "base"))
            if row["at"] == 1000]  # fmt: skip
    effect = sum(row["acc"] * (1 if row["method"] == "ours" else -1) for row in last) / 4
    assert judged().results[0].effect == pytest.approx(effect, abs=1e-12)


def test_rows_in_the_file_of_a_run_may_be_parts_of_it() -> None:
    """The last question of a run says nothing; its mean does, where that is asked for."""
    rows = records({"seed": range(4), "doc_id": range(3)})
    for row in rows:
        file = Path("out", row["method"], f"seed_{row['seed']}.jsonl")
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as lines:
            lines.write(json.dumps({"doc_id": row["doc_id"], "acc": row["acc"]}) + "\n")
    assert "its rows are parts of one run by 'doc_id'" in refusal(compared("out"))
    done = compared("out", "--unit", "seed")
    assert "4 runs per arm, each the mean of the rows" in done.stdout, done.stderr
    effect = sum(r["acc"] * (1 if r["method"] == "ours" else -1) for r in rows) / 12
    assert judged().results[0].effect == pytest.approx(effect, abs=1e-12)


def test_an_unknown_word_before_a_number_is_asked_about() -> None:
    results = tree("{method}/layer_{n}.json", n=range(4))
    assert "--seed layer if each is a run" in refusal(compared(results))
    done = compared(results, "--seed", "layer")
    assert "seeds by the field 'layer'" in done.stdout, done.stderr


def test_training_and_test_are_not_averaged() -> None:
    results = long(records({"seed": range(4), "split": ["test", "train"]}))
    assert "--task-field split --task test" in refusal(compared(results))
    done = compared(results, "--task-field", "split", "--task", "test")
    assert "read: n, the seeds per arm: base 4, ours 4" in done.stdout, done.stderr


def test_texts_in_a_column_without_a_name_are_not_lost() -> None:
    """As pandas writes an index: data sets, of which each arm has one value, are no runs."""
    text = Path(wide(records({"seed": range(8)}))).read_text().replace("seed,base", ",base")
    head, *rows = text.splitlines()
    Path("results.csv").write_text("\n".join([head, *(f"set{row}" for row in rows)]))
    said = refusal(compared("results.csv"))
    assert "no seeds are named, and 'unnamed' is the same in every arm: set0, set1" in said
    assert "or --unit FIELD for the field of the run whose evaluations these are; or leave" in said
    said = refusal(compared("results.csv", "--task-field", "unnamed", "--baseline", "base"))
    assert ONE_EACH in said


def test_texts_that_cannot_be_seeds_are_not_offered_as_such() -> None:
    said = refusal(compared(long(records({"fold": ["ask", "tell", "sum", "prove"]}))))
    assert "write a number for each fold into 'fold'" in said
    assert "--seed fold" not in said


def test_items_are_compared_item_by_item() -> None:
    """To take each for a run would count the questions for seeds."""
    said = refusal(compared(long(records({"question_id": [1, 2, 3, 4]}))))
    assert "--items question_id compares the arms item by item" in said
    assert "--seed" not in said


def test_folds_of_data_sets_are_averaged_in_each() -> None:
    """And compared over the data sets: fold 1 of all of them is not a run."""
    lines = ["method,dataset,fold,acc"]
    for arm, step in (("a", 0.0), ("b", 0.01)):
        for k in range(6):
            values = (0.7 + 0.03 * k + step * (1 + k / 10) + 0.002 * fold for fold in range(5))
            lines += (f"{arm},d{k},{fold},{value!r}" for fold, value in enumerate(values))
    Path("folds.csv").write_text("\n".join(lines))
    args = ("folds.csv", "--better", "higher", "--baseline", "a")
    assert "--unit dataset averages them in each dataset" in repro("compare", *args).stderr
    for option in ("--seed", "--unit"):
        done = repro("compare", *args, option, "fold")
        assert "each with folds" in done.stderr
    done = repro("compare", *args, "--unit", "dataset")
    document = read_document(Path("reports/b_vs_a/declared/report.json"))
    assert document.results[0].p == pytest.approx(1 / 2**6)  # Wilcoxon's, all six on one side


def test_the_advice_on_iterations_that_are_runs_works() -> None:
    """A table of ten runs each of methods on data sets, whose number is called `iteration`."""
    lines = ["method,dataset,iteration,acc"]
    for arm, step in (("a", 0.0), ("b", 0.01)):
        for k in range(6):
            values = (0.7 + 0.03 * k + step * (1 + k / 10) + 0.002 * n for n in range(4))
            lines += (f"{arm},d{k},{n},{value!r}" for n, value in enumerate(values))
    Path("runs.csv").write_text("\n".join(lines))
    args = ("runs.csv", "--baseline", "a")
    assert "or add --seed iteration if each is a run" in refusal(compared(*args))
    said = refusal(compared(*args, "--unit", "dataset"))
    assert "or add --seed iteration if each is a run" in said
    done = compared(*args, "--unit", "dataset", "--seed", "iteration")
    assert "6 tasks, by 'dataset'" in done.stdout, done.stderr
    assert "VALID" in compared(*args, "--seed", "iteration").stdout


def test_data_sets_as_columns_are_told_the_form_that_is_judged() -> None:
    Path("wide.csv").write_text("method,iris,wine,adult\na,0.9,0.8,0.7\nb,0.95,0.82,0.75\n")
    said = refusal(compared("wide.csv"))
    assert "give a row for each, named in a column `dataset`, and a column per method" in said


def test_one_task_of_several_in_paths_is_compared() -> None:
    """The advice of the refusal, followed as it is written."""
    for arm, task, seed in product(("ppo", "sac"), ("ant", "hopper"), range(4)):
        file = Path("out", arm, task, f"seed_{seed}.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        value = 9 + seed / 9 + (arm == "sac") + 50 * (task == "ant")
        file.write_text(json.dumps({"reward": value}))
    said = refusal(compared("out", "--arm", "path1", "--task-field", "path2"))
    assert "as in --task ant --task-field path2" in said
    done = compared("out", "--arm", "path1", "--task-field", "path2", "--task", "ant")
    assert "only 'ant' of 'path2' in the paths" in done.stdout, done.stderr
    assert "n, the seeds per arm: ppo 4, sac 4" in done.stdout
    assert judged("sac_vs_ppo").results[0].effect == pytest.approx(1)
    said = compared("out", "--arm", "path1", "--task-field", "path2", "--task", "an").stderr
    assert "did you mean 'ant'?" in said


@pytest.mark.parametrize("name", ["instruction", "input", "text", "sentence", "prompt", "premise"])
def test_texts_that_were_answered_are_not_runs(name: str) -> None:
    """Eighty answers of one model are not eighty runs of it, and --items judges no limit."""
    rows = [{name: f"what is {k} and {k}?", "preference": 1 + k / 80} for k in range(80)]
    Path("answers.json").write_text(json.dumps(rows))
    said = refusal(compared("answers.json", "--at-least", "1.2"))
    assert f"--items {name} compares two arms item by item; no limit is judged so" in said
    both = [{**row, "model": arm, "score": k % 7 + (arm == "ours")}
            for k, row in enumerate(rows) for arm in ARMS]  # fmt: skip
    Path("both.json").write_text(json.dumps(both))
    options = ("--arm", "model", "--measure", "score")
    assert f"--items {name} compares the arms" in refusal(compared("both.json", *options))
    done = compared("both.json", *options, "--items", name)
    assert "80 items; base 80 rows, ours 80 rows" in done.stdout, done.stderr
