"""`repro compare --items`: rows are questions, and what is said is about two trained models."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from scipy import stats

from repro.report.write import read_document
from tests.commands import repro
from tests.report.texts import page_text

RIGHT = [
    (f"q{n}", f"p{n // 5}", int(value < 0.8), int(other < 0.6))
    for n, (value, other) in enumerate(
        (random.Random(f"a{n}").random(), random.Random(f"b{n}").random()) for n in range(60)
    )
]
"""Question, passage, and whether the large and the small model answer it."""


def alone() -> tuple[int, int]:
    """How many questions the large model alone answers, and either alone."""
    won = sum(large > small for *_, large, small in RIGHT)
    return won, won + sum(large < small for *_, large, small in RIGHT)


def table(rows: Sequence[tuple[object, ...]] = RIGHT) -> str:
    lines = [
        f"{arm},{q},{p},{values[k]}"
        for k, arm in enumerate(("large", "small"))
        for q, p, *values in rows
    ]
    Path("answers.csv").write_text("\n".join(["model,doc_id,passage,correct", *lines]))
    return "answers.csv"


def samples(large: str = "large", small: str = "small", task: str = "boolq") -> str:
    """As lm-eval writes them, a file per model."""
    for k, arm in enumerate((large, small)):
        Path("out", arm).mkdir(parents=True, exist_ok=True)
        lines = (
            {"doc_id": n, "doc": {"passage": p, "text": "?"}, "resps": [["a"]], "acc": float(v[k])}
            for n, (_, p, *v) in enumerate(RIGHT)
        )
        file = Path("out", arm, f"samples_{task}_2026-01-01T00-00-00.0.jsonl")
        file.write_text("\n".join(map(json.dumps, lines)))
    return "out"


def test_the_number_of_a_sample_is_the_metric_that_its_line_names() -> None:
    """Other numbers, such as the answer and the target, are in the question."""
    for file in sorted(Path(samples()).rglob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        more = [
            {
                **line,
                "target": str(n),
                "doc": {**line["doc"], "original_answer": n},
                "metrics": ["acc"],
            }
            for n, line in enumerate(lines)
        ]
        file.write_text("\n".join(map(json.dumps, more)))
    done = repro("compare", "out", "--items", "doc_id", "--better", "higher")
    assert "the number 'acc'" in done.stdout, done.stderr


def effect() -> float:
    (found,) = read_document(Path("reports/large_vs_small/declared/report.json")).results
    assert found.effect is not None
    return found.effect


def test_the_other_metric_of_a_sample_is_named_with_what_takes_it() -> None:
    """`acc` and `acc_norm` of one line."""
    for file in Path(samples()).rglob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        more = (
            {**line, "acc_norm": 1 - line["acc"], "metrics": ["acc", "acc_norm"]} for line in lines
        )
        file.write_text("\n".join(map(json.dumps, more)))
    args = ("compare", "out", "--items", "doc_id", "--better", "higher", "--baseline", "small")
    told = repro(*args).stdout
    assert "the number 'acc' (not acc_norm; else: --measure acc_norm)" in told
    assert effect() > 0
    other = repro(*args, *re.findall("else: (--measure acc_norm)", told)[0].split()).stdout
    assert "the number 'acc_norm'" in other
    assert effect() < 0


def inspect_log(arm: str, values: list[tuple[str, str, int]], status: str = "success") -> object:
    """As inspect writes it in JSON; `C` and `I` are right and wrong."""
    samples = [
        {
            "id": q,
            "epoch": 1,
            "input": "?",
            "metadata": {"passage": p},
            "scores": {"match": {"value": "CI"[1 - right], "answer": "a"}},
        }
        for q, p, right in values
    ]
    said = {"task": "count", "model": f"vendor/{arm}", "created": "2026-01-01T00:00:00+00:00"}
    return {"version": 2, "status": status, "eval": said, "samples": samples}


def inspect_jsons() -> str:
    for k, arm in enumerate(("large", "small")):
        Path("logs").mkdir(exist_ok=True)
        log = inspect_log(arm, [(q, p, values[k]) for q, p, *values in RIGHT])
        Path(f"logs/2026-01-01T00-00-00_{arm}.json").write_text(json.dumps(log))
    return "logs"


def inspect_evals() -> str:
    """The same as `.eval`: the header, and what each sample came to, in a zip."""
    for file in Path(inspect_jsons()).glob("*.json"):
        log = json.loads(file.read_text())
        with zipfile.ZipFile(file.with_suffix(".eval"), "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("summaries.json", json.dumps(log.pop("samples")))
            made.writestr("header.json", json.dumps(log))
        file.unlink()
    return "logs"


def test_the_folder_of_lm_eval_as_it_lies_there() -> None:
    """Names of models have digits, results lie beside the samples, and tasks are several."""
    names = ("meta-llama__Llama-3-8B", "mistralai__Mistral-7B")
    for task in ("boolq", "copa"):
        samples(*names, task)
    args = ("--better", "higher", "--baseline", names[1], "--items", "doc_id", "--measure", "acc")
    for results in (False, True):
        for name in names if results else ():
            numbers = {"boolq": {"acc,none": 0.5}, "copa": {"acc,none": 0.5}}
            text = json.dumps({"results": numbers, "model_name": name.replace("__", "/")})
            Path("out", name, "results_2026-01-01T00-00-00.0.json").write_text(text)
        done = repro("compare", "out", *args)
        assert (done.returncode, "several tasks: boolq, copa" in done.stderr) == (2, True)
        assert "--clusters" not in done.stderr  # two clusters decide nothing
        done = repro("compare", "out", *args, "--task", "boolq", "--out", f"one{results}")
        assert "on 60 items, for these two trained models" in done.stdout, done.stderr
        done = repro("compare", "out", *args, "--clusters", "task", "--out", f"all{results}")
        assert "120 items" in done.stdout
        assert "2 clusters are too few for an error" in done.stdout, done.stdout


def helm() -> str:
    """As HELM writes it, with an instance of another split and a perturbed one."""
    for k, arm in enumerate(("large", "small")):
        run = Path("runs", f"boolq:model=vendor_{arm}")
        run.mkdir(parents=True)
        scenario = {"class_name": "helm.BoolQScenario", "args": {}}
        spec = {"name": run.name, "scenario_spec": scenario, "adapter_spec": {"model": arm}}
        instances = [
            instance(q, "test", values[k], train_trial_index=trial)
            for trial in range(2)
            for q, _, *values in RIGHT
        ]
        instances += [instance("q0", "test", 0, perturbation={"name": "typos"})]
        instances += [instance("v0", "valid", k)]
        (run / "run_spec.json").write_text(json.dumps(spec))
        (run / "stats.json").write_text(json.dumps(instances[0]["stats"]))
        (run / "per_instance_stats.json").write_text(json.dumps(instances))
    return "runs"


def instance(name: str, split: str, right: int, **more: object) -> dict[str, Any]:
    stats = [
        {"name": {"name": metric, "split": split}, "count": 1, "sum": value, "mean": value}
        for metric, value in (("exact_match", float(right)), ("num_references", 1.0))
    ]
    return {"instance_id": name, "stats": stats, **more}


def test_instances_of_helm_are_items() -> None:
    args = ("--better", "higher", "--baseline", "small", "--items", "instance_id")
    done = repro("compare", helm(), *args, "--measure", "exact_match.test")
    assert "on 60 items, for these two trained models" in done.stdout, done.stderr
    (report,) = Path("reports").glob("*/declared/report.json")
    (found,) = read_document(report).results
    assert found.p == pytest.approx(stats.binomtest(*alone()).pvalue, rel=1e-9)
    spec = Path("runs/boolq:model=vendor_large/run_spec.json")
    spec.write_text(spec.read_text().replace('"args": {}', '"args": {"subject": "law"}'))
    done = repro("compare", "runs", *args, "--measure", "exact_match.test")
    assert (done.returncode, "the items are of several tasks: " in done.stderr) == (2, True)
    spec.with_name("per_instance_stats.json").write_text("[1]")
    done = repro("compare", "runs", *args, "--measure", "exact_match.test")
    assert (done.returncode, "it has no instance with numbers" in done.stderr) == (2, True)


def test_several_seeds_of_each_are_crossed_with_the_items() -> None:
    """The verdict is then about any seeds; by the trained models alone it is context."""
    lines = ["model,seed,doc_id,correct"]
    for arm, level in (("large", 0.75), ("small", 0.6)):
        for seed in range(4):
            draw = random.Random(f"{arm}{seed}")
            lines += (f"{arm},{seed},q{n},{int(draw.random() < level)}" for n in range(60))
    Path("answers.csv").write_text("\n".join(lines))
    args = ("--better", "higher", "--baseline", "small", "--items", "doc_id")
    done = repro("compare", "answers.csv", *args)
    assert "on 60 items, for any seeds, by 4 and 4 trained models" in done.stdout, done.stderr
    document = read_document(Path("reports/large_vs_small/declared/report.json"))
    assert "test: crossed" in Path("large_vs_small.claim.yaml").read_text()
    (found,) = document.results
    assert "share of seeds in the variance" in found.details
    assert found.details["what so many items can find"].endswith("in four cases of five")
    (analyses,) = document.robustness
    assert any("of these trained models" in each.name for each in analyses.analyses[1:])
    Path("answers.csv").write_text("\n".join(line for line in lines if "large,2,q7," not in line))
    done = repro("compare", "answers.csv", *args)
    told = "Not tested: large has no answers to item q7 in run 2; give it one, leave the item out"
    assert f"{told} of every run, or declare `test: t`." in done.stdout


@pytest.mark.parametrize(
    ("results", "fields"),
    [
        (table, ("doc_id", "passage")),
        (samples, ("doc_id", "doc.passage")),
        (inspect_jsons, ("id", "sample.metadata.passage")),
        (inspect_evals, ("id", "sample.metadata.passage")),
    ],
)
def test_questions_are_paired_and_never_seeds(results: object, fields: tuple[str, str]) -> None:
    assert callable(results)
    args = ("--better", "higher", "--baseline", "small", "--items", fields[0])
    place = results()
    if place == "logs":  # where arms are called by the model
        args = (*args[:3], "vendor/small", *args[4:])
    done = repro("compare", place, *args)
    (report,) = Path("reports").glob("*/declared/report.json")
    (found,) = read_document(report).results
    assert found.p == pytest.approx(stats.binomtest(*alone()).pvalue, rel=1e-9)
    assert found.details["items"] == "60, answered by both"
    won, either = alone()
    se = math.sqrt(either / 60 - ((2 * won - either) / 60) ** 2) / math.sqrt(60)
    least = (stats.t.ppf(0.975, 59) + stats.t.ppf(0.8, 59)) * se
    assert found.details["what so many items can find"].startswith(f"{least:.2g} is told")
    assert "on 60 items, for these two trained models" in done.stdout
    assert "60 seeds" not in done.stdout
    done = repro("compare", place, *args, "--clusters", fields[1])
    (found,) = read_document(report).results
    assert found.details["clusters"] == "12; the standard error is clustered"
    assert found.df == pytest.approx(11)


def test_epochs_of_a_sample_are_averaged_and_failed_evaluations_refused() -> None:
    Path("logs").mkdir()
    values = [(q, p, right) for q, p, right, _ in RIGHT]
    for arm in ("large", "small"):
        log: dict[str, Any] = dict(inspect_log(arm, values))  # type: ignore[call-overload]
        again = [{**each, "epoch": 2} for each in log["samples"]]
        for each, other in zip(again, RIGHT, strict=True):
            right = other[3] if arm == "small" else 1
            each["scores"] = {"match": {"value": float(right)}}
        log["samples"] += again
        Path(f"logs/2026-01-01T00-00-00_{arm}.json").write_text(json.dumps(log))
    args = ("--better", "higher", "--baseline", "vendor/small", "--items", "id")
    done = repro("compare", "logs", *args)
    assert "scores are means over 2 epochs" in done.stdout
    (report,) = Path("reports").glob("*/declared/report.json")
    (found,) = read_document(report).results
    large, small = (
        [(a + b) / 2 for a, b in each]
        for each in (
            [(right, 1) for *_, right, _ in RIGHT],
            [(right, other) for *_, right, other in RIGHT],
        )
    )
    assert found.p == pytest.approx(stats.ttest_rel(large, small).pvalue, rel=1e-9)
    log = dict(inspect_log("small", values, status="error"))  # type: ignore[call-overload]
    Path("logs/2026-01-01T00-00-00_small.json").write_text(json.dumps(log))
    done = repro("compare", "logs", *args)
    assert (done.returncode, "ended with 'error'" in done.stderr) == (2, True)


def test_items_of_two_tasks_are_not_taken_for_one() -> None:
    """Both count theirs from 0, and a mean over both would be of neither."""
    for file in [*Path(inspect_jsons()).glob("*.json")]:
        file.with_name(file.name.replace("01-01", "01-02")).write_text(file.read_text())
    args = ("--better", "higher", "--baseline", "vendor/small", "--items", "id")
    done = repro("compare", "logs", *args)
    assert (done.returncode, "appears twice: " in done.stderr) == (2, True), done.stderr
    for file in Path("logs").glob("2026-01-02*"):
        file.write_text(file.read_text().replace('"count"', '"sums"').replace('"q', '"r'))
    done = repro("compare", "logs", *args)
    assert (done.returncode, "the items are of several tasks: " in done.stderr) == (2, True)
    done = repro("compare", "logs", *args, "--task", "sums")
    assert "60 items, for these two trained models" in done.stdout, done.stderr


def test_nothing_that_is_an_item_or_a_run_is_called_a_seed() -> None:
    """Neither where the test is made, nor where there are too few clusters."""
    few = [(q, f"p{n % 4}", large, small) for n, (q, _, large, small) in enumerate(RIGHT)]
    for rows, told in ((RIGHT, "60 items, for these two"), (few, "Not tested: 4 clusters are too")):
        options = ("--items", "doc_id", "--clusters", "passage", "--baseline", "small")
        done = repro("compare", table(rows), "--better", "higher", *options)
        assert told in done.stdout, done.stderr
        (page,) = Path("reports").glob("*/declared/report.html")
        said = page_text(page)
        assert "60 answers per run, 2 runs" in said
        assert re.findall(r".{30}\bseeds?\b.{30}", said, re.IGNORECASE) == []
        assert "planned" not in said


def test_right_and_wrong_answers_are_counted_exactly() -> None:
    """150 questions that both answer, 5 that one answers alone: p = 0.0625, and 0.025 by t."""
    rows = [(f"q{n}", "", int(n < 155), int(n < 150)) for n in range(200)]
    args = (
        "compare",
        table(rows),
        "--better",
        "higher",
        "--items",
        "doc_id",
        "--baseline",
        "small",
    )
    done = repro(*args, "--markdown")
    (found,) = read_document(Path("reports/large_vs_small/declared/report.json")).results
    assert found.p == pytest.approx(stats.binomtest(5, 5).pvalue, rel=1e-9)
    assert found.details["right in one alone"] == "5 in large, 0 in small"
    assert (done.returncode, str(found.conclusion)) == (3, "INCONCLUSIVE")
    assert "| large | correct | 200 items | 0.775 | – | – |" in done.stdout
    assert "test: mcnemar" in Path("large_vs_small.claim.yaml").read_text()
    table([(q, p, 100 * large, 100 * small) for q, p, large, small in rows])
    repro(*args)
    (found,) = read_document(Path("reports/large_vs_small/declared/report.json")).results
    assert found.p == pytest.approx(stats.binomtest(5, 5).pvalue, rel=1e-9)
    assert (found.effect, found.details["right in one alone"]) == (2.5, "5 in large, 0 in small")
    table(rows)
    done = repro(*args, "--by", "0.001")
    assert done.returncode == 3, "a claim of more is not confirmed where that of any is not"
    many = [(f"q{n}", "", int(n < 190), int(n < 150)) for n in range(200)]
    table(many)
    done = repro(*args, "--by", "0.1", "--markdown")
    (found,) = read_document(Path("reports/large_vs_small/declared/report.json")).results
    assert found.p == pytest.approx(stats.binomtest(40, 40).pvalue, rel=1e-9)
    assert (done.returncode, str(found.conclusion)) == (0, "CONFIRMED")
    assert "against no difference" in done.stdout.replace("\xa0", " ")


@pytest.mark.parametrize("words", [("False", "True"), ("I", "C"), ("wrong", "right")])
def test_answers_may_be_words(words: tuple[str, str]) -> None:
    file = Path(table())
    lines = [line.rsplit(",", 1) for line in file.read_text().splitlines()]
    said = [f"{before},{words[int(last)] if last in '01' else last}" for before, last in lines]
    file.write_text("\n".join(said))
    args = ("--better", "higher", "--items", "doc_id", "--baseline", "small")
    done = repro("compare", file, *args)
    (found,) = read_document(Path("reports/large_vs_small/declared/report.json")).results
    assert found.p == pytest.approx(stats.binomtest(*alone()).pvalue, rel=1e-9), done.stderr


def test_a_column_per_model_is_an_arm() -> None:
    lines = [f"{q},{large},{small}" for q, _, large, small in RIGHT]
    Path("wide.csv").write_text("\n".join(["question_id,large,small", *lines]))
    args = ("--better", "higher", "--items", "question_id", "--baseline", "small")
    done = repro("compare", "wide.csv", *args)
    (found,) = read_document(Path("reports/large_vs_small/declared/report.json")).results
    assert found.p == pytest.approx(stats.binomtest(*alone()).pvalue, rel=1e-9), done.stderr
    assert "the columns with right and wrong answers are the arms" in done.stdout


def test_trials_are_averaged_within_each_seed() -> None:
    lines = [
        f"{arm},{q},{seed},{trial},{int((n * 7 + seed * 3 + trial * 5 + k) % (3 + k) > 0)}"
        for k, arm in enumerate(("large", "small"))
        for n, (q, *_) in enumerate(RIGHT)
        for seed in range(3)
        for trial in range(2)
    ]
    Path("all.csv").write_text("\n".join(["model,doc_id,seed,trial,correct", *lines]))
    done = repro("compare", "all.csv", "--better", "higher", "--items", "doc_id")
    assert "the mean of 2 trials per item" in done.stdout, done.stderr
    assert "for any seeds, by 3 and 3 trained models" in done.stdout


@pytest.mark.parametrize("limit", [("--at-least", "0.5"), ("--within", "answers.csv")])
def test_items_have_no_limit(limit: tuple[str, str]) -> None:
    done = repro("compare", table(), "--better", "higher", "--items", "doc_id", *limit)
    assert (done.returncode, "no limit is judged" in done.stderr) == (2, True)


def test_trials_of_one_model_are_averaged_per_item() -> None:
    """They are no runs of other seeds: what is found is about the two trained models."""
    draw = random.Random(29)
    rows = [
        (arm, task, trial, int(draw.random() < 0.4 + 0.2 * (arm == "new") + task / 100))
        for arm in ("old", "new")
        for task in range(30)
        for trial in range(4)
    ]
    lines = [",".join(map(str, row)) for row in rows]
    Path("tau.csv").write_text("\n".join(["agent,task_id,trial,reward", *lines]))
    args = ("compare", "tau.csv", "--better", "higher", "--baseline", "old", "--items", "task_id")
    done = repro(*args)
    new, old = (
        [fmean(row[3] for row in rows if row[:2] == (arm, task)) for task in range(30)]
        for arm in ("new", "old")
    )
    (found,) = read_document(Path("reports/new_vs_old/declared/report.json")).results
    assert found.p == pytest.approx(stats.ttest_rel(new, old).pvalue, rel=1e-9), done.stderr
    assert "the mean of 4 trials per item" in done.stdout
    assert "on 30 items, for these two trained models" in done.stdout
    assert "against no difference" not in done.stdout
    Path("tau.csv").write_text("\n".join(["agent,task_id,trial,reward", *lines, lines[0]]))
    done = repro(*args)
    assert (done.returncode, "appears twice: " in done.stderr) == (2, True)


def test_items_that_do_not_fit_are_refused() -> None:
    more = [*RIGHT, ("q60", "p12", 1, 1)]
    text = Path(table(more)).read_text().splitlines()
    Path("answers.csv").write_text("\n".join(text[:-1]))
    args = ("--better", "higher", "--baseline", "small")
    done = repro("compare", "answers.csv", *args, "--items", "doc_id")
    document = read_document(Path("reports/large_vs_small/declared/report.json"))
    assert document.verdict.conclusion == "NOT-TESTED"
    assert "1 of 61 items" in done.stdout
    done = repro("compare", "answers.csv", *args, "--items", "nope")
    assert (done.returncode, "there is no field 'nope'" in done.stderr) == (2, True)
    Path("answers.csv").write_text("\n".join([*text[:-1], "small,q60,p12,"]))
    done = repro("compare", "answers.csv", *args, "--items", "doc_id")
    assert (done.returncode, "to do: complete the row" in done.stderr) == (2, True)


def test_tasks_that_are_enough_for_clusters_are_offered_as_such() -> None:
    names = ("large", "small")
    for task in ("a", "b", "c", "d", "e"):
        samples(*names, task)
    args = ("compare", "out", "--better", "higher", "--baseline", "small", "--items", "doc_id")
    done = repro(*args)
    assert (done.returncode, "--clusters task" in done.stderr) == (2, True)
    assert "large_vs_small: VALID" in repro(*args, "--clusters", "task").stdout


def test_two_filters_of_a_task_are_the_same_items_twice() -> None:
    """They are no clusters: one of them is chosen, as the message says."""
    for file in Path(samples(task="gsm8k")).rglob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        twice = [{**line, "filter": way} for way in ("strict", "flexible") for line in lines]
        file.write_text("\n".join(map(json.dumps, twice)))
    args = ("compare", "out", "--better", "higher", "--baseline", "small", "--items", "doc_id")
    for more in ((), ("--clusters", "task")):
        done = repro(*args, *more)
        assert (done.returncode, "there several times" in done.stderr) == (2, True)
        assert "to do: name one, as in --task gsm8k,strict\n" in done.stderr
    done = repro(*args, "--task", "gsm8k,strict")
    assert "on 60 items, for these two trained models" in done.stdout, done.stderr


@pytest.mark.parametrize("form", ["inspect", "lm_eval", "helm"])
def test_one_run_of_each_model_is_told_to_be_compared_by_its_items(form: str) -> None:
    """Their means say nothing of chance; the samples lie beside them, and the option works."""
    if form == "inspect":
        results, item = inspect_jsons(), "id"
        for file in Path(results).glob("*.json"):
            metrics = {"accuracy": {"value": 0.5 + len(file.name) / 99}, "stderr": {"value": 0.01}}
            scores = [{"name": "match", "metrics": metrics}]
            log = json.loads(file.read_text()) | {"results": {"scores": scores}}
            file.write_text(json.dumps(log))
    elif form == "helm":
        results, item = helm(), "instance_id"
    else:
        results, item = samples(), "doc_id"
        for name in ("large", "small"):
            numbers = {"boolq": {"acc,none": 0.5 + len(name) / 99, "acc_stderr,none": 0.01}}
            text = json.dumps({"results": numbers, "model_name": name})
            Path("out", name, "results_2026-01-01T00-00-00.0.json").write_text(text)
    done = repro("compare", results, "--better", "higher")
    assert (done.returncode, f"--items {item}\n" in done.stderr) == (2, True), done.stderr
    done = repro("compare", results, "--better", "higher", "--items", item)
    assert "for these two trained models" in done.stdout, done.stderr


def test_an_item_may_be_named_by_several_lines() -> None:
    """The copy that the claim reads has each in one."""
    texts = [f'Say "{n}",\nthen stop' for n in range(12)]
    table = io.StringIO()
    csv.writer(table).writerows(
        [("prompt", "model", "score")]
        + [(text, arm, n % 3 + (arm == "b")) for n, text in enumerate(texts) for arm in "ab"]
        + [("one more", "a", 1), ("one more", "b", 1)]
    )
    Path("answers.csv").write_text(table.getvalue())
    asked = ("--items", "prompt", "--measure", "score", "--baseline", "a")
    done = repro("compare", "answers.csv", "--better", "higher", *asked)
    assert "on 13 items" in done.stdout, done.stderr


def test_a_text_beside_columns_of_answers_is_left_unread() -> None:
    rows = [f"q{n},{'xyz'[n % 3]},{n % 2},{int(n % 3 > 0)}" for n in range(30)]
    Path("wide.csv").write_text("\n".join(("question,subject,A,B", *rows)))
    done = repro("compare", "wide.csv", "--better", "higher", "--items", "question")
    assert "are the arms; left unread: subject" in done.stdout, done.stderr


def test_trials_of_items_lead_to_the_field_of_the_item() -> None:
    places = [(arm, n, trial) for arm in ("old", "new") for n in range(8) for trial in range(3)]
    rows = [f"{arm},t{n},{trial},{(n + trial) % 2}" for arm, n, trial in places]
    Path("trials.csv").write_text("\n".join(("agent,task_id,trial,reward", *rows)))
    asked = ("compare", "trials.csv", "--better", "higher", "--measure", "reward", "--arm", "agent")
    done = repro(*asked, "--baseline", "old")
    assert "--items task_id compares the arms item by item" in done.stderr
    done = repro(*asked, "--baseline", "old", "--items", "task_id")
    assert "the mean of 3 trials per item, by 'trial'" in done.stdout, done.stderr


def test_items_of_one_model_have_no_arms() -> None:
    Path("one.csv").write_text("q,score\n" + "".join(f"q{n},{n % 2}\n" for n in range(9)))
    done = repro("compare", "one.csv", "--better", "higher", "--items", "q")
    assert (done.returncode, "no field tells the arms apart" in done.stderr) == (2, True)


def test_items_that_are_numbered_anew_in_each_task_of_a_table() -> None:
    """One task, or all of them as clusters, in each of which names are its own."""
    subjects = ("math", "law", "bio", "chem", "art", "geo")
    rows = [
        f"{arm},{subject},{n},{(n * place + (arm == 'b')) % 3 % 2}"
        for arm in "ab"
        for place, subject in enumerate(subjects, 1)
        for n in range(10)
    ]
    Path("mm.csv").write_text("\n".join(("model,subject,question_id,correct", *rows)))
    asked = ("compare", "mm.csv", "--items", "question_id", "--better", "higher", "--baseline", "a")
    done = repro(*asked)
    assert (
        "as in --task math, or take each for a cluster of items: --clusters subject" in done.stderr
    )
    assert "10 items; a 10 rows, b 10 rows" in repro(*asked, "--task", "law").stdout
    done = repro(*asked, "--clusters", "subject", "--out", "all")
    assert "60 items; a 60 rows, b 60 rows" in done.stdout, done.stderr
    assert "6 clusters, by 'subject'" in done.stdout


def test_a_word_that_is_the_same_in_all_rows_is_no_answer() -> None:
    rows = [f"{arm},q{n},false,{(n + (arm == 'b')) % 3}" for arm in "ab" for n in range(9)]
    Path("t.csv").write_text("\n".join(("model,question,shuffled,points", *rows)))
    asked = ("--items", "question", "--baseline", "a")
    done = repro("compare", "t.csv", "--better", "higher", *asked)
    assert "the number 'points'" in done.stdout, done.stderr


def test_columns_that_say_what_an_item_is_are_no_models() -> None:
    rows = [f"q{n},{n % 2},{n % 3 % 2},{n % 5 % 2}" for n in range(30)]
    asked = ("--items", "q", "--better", "higher", "--baseline", "A")
    Path("t.csv").write_text("\n".join(("q,is_hard,A,B", *rows)))
    assert "left unread: is_hard" in repro("compare", "t.csv", *asked).stdout
    Path("t.csv").write_text("\n".join(("q,label,A,B", *rows)))
    done = repro("compare", "t.csv", *asked)
    assert (done.returncode, "write 1 where a model is right" in done.stderr) == (2, True)


def test_answers_that_changed_are_counted_as_means() -> None:
    """The answers behind two means changed: `2 values changed` was false."""
    wide = [f"q{n},{n % 2},{int(n % 3 > 0)}" for n in range(60)]
    command = ("compare", "w.csv", "--items", "question", "--better", "higher", "--baseline", "old")
    Path("w.csv").write_text("\n".join(("question,old,new", *wide)))
    repro(*command)
    changed = [
        f"q{n},{(n + 1) % 2},{int(n % 3 == 0)}" if n < 15 else row for n, row in enumerate(wide)
    ]
    Path("w.csv").write_text("\n".join(("question,old,new", *changed)))
    done = repro(*command)
    assert "since the last comparison: 2 means changed" in done.stdout, done.stdout + done.stderr


def test_items_that_would_settle_a_margin_are_of_the_margin() -> None:
    """Not of 0, which fewer items exclude: the normal formula for what is claimed."""
    draw = random.Random(7)
    gains = [draw.gauss(0.15, 1) for _ in range(200)]
    rows = [f"a,{n},0\nb,{n},{gain:.6f}" for n, gain in enumerate(gains)]
    Path("m.csv").write_text("\n".join(("model,item,score", *rows)))
    options = ("--items", "item", "--better", "higher", "--baseline", "a", "--by", "0.05")
    repro("compare", "m.csv", *options, "--why", "a smaller gain would not be used")
    page = page_text(Path("reports/b_vs_a/declared/report.html"))
    (said,) = {*re.findall(r"About ([0-9,]+) items would settle it", page)}
    effect, sd = fmean(gains), stats.tstd(gains)
    needed = ((stats.t(199).ppf(0.975) + stats.norm.ppf(0.8)) * sd / (effect - 0.05)) ** 2
    assert int(said.replace(",", "")) == pytest.approx(needed, rel=0.02)


def test_scores_of_items_may_be_decimals() -> None:
    """A column per model: what the refusal advises is read, and is paired by item."""
    pairs = [(0.5 + n % 3 / 10 + n * n / 999, 0.4 + n % 4 / 10 + n / 777) for n in range(20)]
    rows = [f"p{n},{a},{b}" for n, (a, b) in enumerate(pairs)]
    Path("items.csv").write_text("\n".join(("Problem,A,B", *rows)))
    done = repro("compare", "items.csv", "--better", "higher")
    assert "to do: --items Problem compares the arms item by item\n" in done.stderr
    done = repro("compare", "items.csv", "--better", "higher", "--items", "Problem")
    assert "a column per arm: A, B" in done.stdout, done.stderr
    differences = [a - b for a, b in pairs]
    (path,) = Path("reports").glob("*/declared/report.json")
    (result,) = read_document(path).results
    assert abs(result.effect or 0) == pytest.approx(abs(fmean(differences)))
    Path("items.csv").write_text("\n".join(("Problem,acc,f1", *rows)))
    done = repro("compare", "items.csv", "--better", "higher", "--items", "Problem")
    assert done.returncode == 2


@pytest.mark.parametrize("tasks", [["boolq"], ["boolq", "copa"], ["arc", "boolq", "copa", "piqa"]])
def test_results_of_lm_eval_without_samples_are_told_to_keep_them(tasks: list[str]) -> None:
    """And then the option works, once the task is named."""
    for name in ("large", "small"):
        numbers = {task: {"acc,none": 0.5 + len(name) / 99, "acc_stderr,none": 0.01}
                   for task in tasks}  # fmt: skip
        file = Path("out", name, "results_2026-01-01T00-00-00.0.json")
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"results": numbers, "model_name": name}))
    done = repro("compare", "out", "--better", "higher", "--baseline", "small")
    assert "(lm_eval: --log_samples)" in done.stderr, done.stdout
    assert (done.returncode, "--items doc_id\n" in done.stderr) == (2, True)
    samples()
    options = ("--items", "doc_id", "--task", "boolq", "--baseline", "small")
    done = repro("compare", "out", "--better", "higher", *options)
    assert "for these two trained models" in done.stdout, done.stderr


@pytest.mark.parametrize("key", ["doc_hash", "question", "doc"])
def test_an_item_that_is_another_question_in_each_arm_is_refused(key: str) -> None:
    """One arm has its items in another order: its numbers pair nothing, and texts do."""
    samples()
    for arm in ("large", "small"):
        (file,) = Path("out", arm).iterdir()
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            n = line["doc_id"]
            text = f"text {n}"
            line.update({key: {"text": text} if key == "doc" else text, "prompt": f"{arm} {n}"})
            line["doc_id"] = (n * 7 + 3) % 60 if arm == "large" else n
        file.write_text("\n".join(map(json.dumps, lines)))
    args = ("compare", "out", "--better", "higher", "--baseline", "small", "--items")
    told = repro(*args, "doc_id").stderr
    field = "doc.text" if key == "doc" else key
    assert "is not the same in each arm: '" in told
    assert f"--items {field}" in told
    done = repro(*args, field)
    assert done.returncode == 0, done.stderr
    won, either = alone()
    p = stats.binomtest(won, either).pvalue
    found = read_document(Path("reports/large_vs_small/declared/report.json")).results[0].p
    assert found == pytest.approx(p, rel=1e-6), done.stderr
