"""`repro compare` of runs on several tasks: together where a kind over tasks fits, or one task."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from repro.judging.document import Document
from repro.report.write import read_document
from repro.specs.load import load_claims
from tests.commands import repro
from tests.report.texts import page_text

TASKS = ("arc", "boolq", "piqa", "rte")


def score(arm: str, task: int, seed: int) -> float:
    """New is 0.1 to 0.115 better, by task, and tasks are far from each other."""
    gain = (0.1 + task / 200) * (arm == "new")
    return gain + 0.2 * task + 0.011 * seed + 0.003 * ((seed * 7 + task * 5) % 4)


def lm_eval(seeds: int = 3, tasks: int = 4, **more: Any) -> str:
    """A folder as lm-eval leaves it, an arm per path."""
    for arm in ("new", "plain"):
        for seed in range(seeds):
            results = {
                name: {"acc,none": score(arm, n, seed), "alias": name}
                for n, name in enumerate(TASKS[:tasks])
            }
            document = {"results": {**results, **more.get("results", {})}, "model_name": arm}
            document |= {"group_subtasks": more.get("groups", {}), "config": {"model": "hf"}}
            file = Path("out", arm, f"seed_{seed}", "m", "results_2026-11-23T11-35-14.977082.json")
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps(document))
    return "out"


def table(*tasks: str, seeds: int = 3) -> str:
    rows = [
        f'{arm},"{task}",{seed},{score(arm, n, seed)}'
        for arm in ("new", "plain")
        for n, task in enumerate(tasks)
        for seed in range(seeds)
    ]
    Path("results.csv").write_text("\n".join(("method,env,seed,score", *rows)))
    return "results.csv"


def judged() -> Document:
    return read_document(Path("reports/new_vs_plain/declared/report.json"))


def compared(results: str, *options: str) -> Any:
    return repro("compare", results, "--better", "higher", *options)


def test_a_data_set_that_is_there_twice_is_named() -> None:
    rows = [f"{name},{arm},{n / 10}" for arm in "AB" for n, name in enumerate("aabcde")]
    Path("double.csv").write_text("\n".join(["dataset,method,accuracy", *rows]))
    done = repro("compare", "double.csv", "--better", "higher", "--baseline", "B")
    assert (done.returncode, "1 run of task 'b', and more of a" in done.stderr) == (2, True)


def test_methods_that_are_equal_on_every_data_set_leave_nothing_to_test() -> None:
    rows = [f"set{n},{n / 7:.3f},{n / 7:.3f}" for n in range(12)]
    Path("same.csv").write_text("\n".join(["dataset,A,B", *rows]))
    done = repro("compare", "same.csv", "--better", "higher", "--baseline", "B")
    assert "all values are equal, and nothing is left to test" in done.stdout
    assert "leans" not in done.stdout


def test_tasks_are_compared_together_and_within_each() -> None:
    """Of lm-eval as it lies there: runs of one task are compared with each other alone."""
    done = compared(lm_eval())
    assert done.returncode == 0, done.stderr
    assert "tasks by the field 'task'" in done.stdout
    assert "read: n, the seeds per arm and task: new 3, plain 3" in done.stdout
    (result,) = judged().results
    assert (result.kind, result.effect) == ("over_tasks", 1.0)
    (claim,) = load_claims(Path("new_vs_plain.claim.yaml"))
    assert claim.expectations[0].tasks == TASKS  # type: ignore[attr-defined]
    assert claim.arms["new"].source.importer.task == "task"  # type: ignore[attr-defined]
    assert list(Path().glob("*.csv")) == []
    assert repro("verify", "new_vs_plain.claim.yaml").returncode == 0


def test_with_two_runs_per_task_the_tasks_are_the_sample() -> None:
    done = compared(lm_eval(seeds=2))
    assert done.returncode == 0, done.stderr
    (result,) = judged().results
    assert result.kind == "meta_analysis"
    assert result.effect == pytest.approx(0.1075, abs=1e-9)


@pytest.mark.parametrize("number", [2, 4])
def test_one_task_may_be_named(number: int) -> None:
    """It is the way out where there are too few to be compared together."""
    results = lm_eval(tasks=number)
    if number == 2:
        done = compared(results)
        assert (done.returncode, "of several tasks: 'task' is arc, boolq" in done.stderr) == (2, 1)
        assert "--task arc" in done.stderr
    done = compared(results, "--task", "boolq")
    assert done.returncode == 0, done.stderr
    assert "only 'boolq' of the field 'task'" in done.stdout
    assert "n, the seeds per arm: new 3, plain 3" in done.stdout
    assert judged().results[0].effect == pytest.approx(0.105, abs=1e-9)
    assert repro("verify", "new_vs_plain.claim.yaml").returncode == 0
    done = compared(results, "--task", "bool")
    assert (done.returncode, "there is no task 'bool'" in done.stderr) == (2, True)


def test_groups_and_tasks_without_the_number_are_left_out_and_said() -> None:
    """The number of a group is made of those of its tasks, which would count twice."""
    more = {"all": {"acc,none": 0.5}, "wiki": {"ppl,none": 12.0}}
    done = compared(lm_eval(results=more, groups={"all": list(TASKS), "arc": []}))
    assert done.returncode == 0, done.stderr
    assert "read: left out, groups of other tasks: all\n" in done.stdout
    assert "left out, without 'acc,none': wiki" in done.stdout
    assert judged().results[0].kind == "over_tasks"
    assert repro("verify", "new_vs_plain.claim.yaml").returncode == 0


def test_a_table_with_tasks_is_copied_with_them() -> None:
    done = compared(table("pong", "qbert, hard", "breakout"))
    assert done.returncode == 0, done.stderr
    assert "tasks by the field 'env'" in done.stdout
    assert judged().results[0].kind == "over_tasks"
    repro("compare", "results.csv", "--better", "higher", "--out", "elsewhere")
    copy = Path("elsewhere/results_as_compared.csv").read_text(encoding="utf-8")
    assert copy.splitlines()[0] == "arm,seed,measurement,value,state,task"
    assert repro("verify", "elsewhere/new_vs_plain.claim.yaml").returncode == 0


def test_what_does_not_fit_is_refused() -> None:
    """One run of each task, an arm without a task, and a margin, which no such kind tests."""
    done = compared(lm_eval(seeds=1))
    assert (done.returncode, "one value for each arm and task" in done.stderr) == (2, True)
    done = compared(table("a", "b", "c"), "--by", "0.1")
    assert (done.returncode, "leave out --by" in done.stderr) == (2, True)
    with Path("results.csv").open("a", encoding="utf-8") as file:
        file.write("\nnew,d,0,0.5\nnew,d,1,0.6\nnew,d,2,0.7\n")
    done = compared("results.csv")
    assert (done.returncode, "arm 'plain' has no run of d" in done.stderr) == (2, True)


def test_new_writes_a_claim_over_tasks() -> None:
    done = repro("new", "--from", lm_eval(), "--better", "higher", "--own", "we want to know it")
    assert done.returncode == 0, done.stderr
    assert "to fill in" not in done.stdout
    assert repro("check", "new_vs_plain.claim.yaml").returncode == 0


def data_sets(*arms: str, wide: bool) -> str:
    """One value per arm and data set, of eight: each arm gains a little more on every one."""
    plain = (0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583)
    sets = [f"d{place}" for place in range(8)]
    values = {
        arm: [round(value + rank * (0.004 + 0.001 * n), 3) for n, value in enumerate(plain)]
        for rank, arm in enumerate(arms)
    }
    if wide:
        rows = [",".join(["dataset", *arms])]
        rows += [
            ",".join([name, *(str(values[arm][n]) for arm in arms)]) for n, name in enumerate(sets)
        ]
    else:
        rows = ["method,dataset,accuracy"]
        rows += [f"{arm},{name},{values[arm][n]}" for arm in arms for n, name in enumerate(sets)]
    Path("results.csv").write_text("\n".join(rows), encoding="utf-8")
    return "results.csv"


@pytest.mark.parametrize("wide", [True, False])
def test_methods_over_data_sets_are_compared_by_signed_ranks_and_holms_method(wide: bool) -> None:
    """Each with the baseline, in one family, and ranked beside all. Eight of one sign: 1/256."""
    done = compared(data_sets("base", "forest", "boost", wide=wide))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("results_as_compared.csv, which the claims read") == 1
    for name in ("forest_vs_base", "boost_vs_base"):
        (claim,) = load_claims(Path(f"{name}.claim.yaml"))
        assert claim.expectations[0].test == "wilcoxon"  # type: ignore[attr-defined]
        (found,) = Path("reports").glob(f"{name}*/declared/report.json")
        document = read_document(found)
        assert document.results[0].p == 1 / 256
        assert document.family is not None
        assert [member.adjusted for member in document.family.members] == [2 / 256, 2 / 256]
        assert [each.rank for each in document.mean_ranks[0].arms] == [1, 2, 3]


def test_few_data_sets_are_compared_by_t() -> None:
    """Ranks of four could decide nothing."""
    rows = (
        "dataset,base,new",
        "d0,0.763,0.798",
        "d1,0.599,0.569",
        "d2,0.954,0.967",
        "d3,0.628,0.66",
    )
    Path("results.csv").write_text("\n".join(rows), encoding="utf-8")
    done = compared("results.csv")
    assert "new_vs_base: VALID, INCONCLUSIVE" in done.stdout, done.stderr
    (claim,) = load_claims(Path("new_vs_base.claim.yaml"))
    assert claim.expectations[0].test == "t"  # type: ignore[attr-defined]


@pytest.mark.parametrize("cell", ["", "-", "NA"])
def test_a_data_set_that_one_method_lacks_is_told_with_its_cell(cell: str) -> None:
    """And leaving it out of every arm, as the message says, works."""
    file = Path(data_sets("svm", "forest", "plain", wide=True))
    lines = file.read_text().splitlines()
    whole = lines[3].rsplit(",", 1)
    lines[3] = f"{whole[0]},{cell}"
    file.write_text("\n".join(lines))
    done = compared(str(file))
    said = "row 3, column 'plain': " + (
        f"'{cell}' is not a number" if cell else "the cell is empty"
    )
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "leave that row out\n" in done.stderr
    file.write_text("\n".join(line for place, line in enumerate(lines) if place != 3))
    assert "forest_vs_plain: VALID" in compared(str(file)).stdout


def test_a_data_set_without_a_row_of_one_method_is_told_with_a_way_that_works() -> None:
    """`--task` is none: it would leave one run of each arm."""
    file = Path(data_sets("svm", "forest", "plain", wide=False))
    lines = file.read_text().splitlines()
    lost = next(line for line in lines if "plain" in line and "d4" in line)
    file.write_text("\n".join(line for line in lines if line != lost))
    done = compared(str(file))
    assert (done.returncode, "leave d4 out of every arm" in done.stderr) == (2, True), done.stderr
    assert "--task" not in done.stderr
    file.write_text("\n".join(line for line in lines if "d4" not in line))
    assert "forest_vs_plain: VALID" in compared(str(file)).stdout
    for option in (("--by", "0.01"), ("--at-least", "0.5")):
        done = compared(str(file), *option)
        assert (done.returncode, "--task" in done.stderr) == (2, False), done.stderr


@pytest.mark.parametrize("noun", ["seed", "fold"])
def test_a_column_of_runs_with_an_empty_cell_is_not_left_out(noun: str) -> None:
    head = ["method", *(f"{noun}_{k}" for k in range(5))]
    rows = [[arm, *(str(0.7 + k / 99 + (arm == "ours") / 9) for k in range(5))]
            for arm in ("base", "ours")]  # fmt: skip
    rows[1][3] = ""
    Path("results.csv").write_text("\n".join(map(",".join, (head, *rows))))
    done = compared("results.csv")
    said = f"row 2, column '{noun}_2': the cell is empty"
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_value_of_a_table_of_data_sets_is_not_called_a_seed() -> None:
    """One value per method and data set: so many tasks and values, and no seed anywhere."""
    rows = [f"d{n},{score('new', n, n % 3)},{score('plain', n, n % 2)}" for n in range(9)]
    Path("results.csv").write_text("\n".join(("dataset,new,plain", *rows)))
    done = compared("results.csv", "--baseline", "plain")
    assert "read: n, the values per arm and task: new 1, plain 1" in done.stdout, done.stderr
    said = page_text(Path("reports/new_vs_plain/declared/report.html"))
    assert "18 values from a table" in said
    assert "One dot a task: the difference of the two values." in said
    assert "upright stroke" not in said, "a strip of all data sets together"
    assert re.findall(r".{30}\bseeds?\b.{30}", said, re.IGNORECASE) == []


def test_without_a_baseline_all_pairs_of_methods_are_compared() -> None:
    """By Wilcoxon, Holm over all of them; each pair as the table has it, not as its values do."""
    draw = random.Random(14)
    rows = [
        f"d{n},{','.join(f'{draw.gauss(k / 50, 0.04):.6f}' for k in range(3))}" for n in range(14)
    ]
    Path("results.csv").write_text("\n".join(("dataset,knn,svm,lda", *rows)))
    done = compared("results.csv")
    assert "all 3 pairs, for no arm is named a baseline (else: --baseline)" in done.stdout
    assert "before the next results: svm_vs_knn.claim.yaml and 2 more" in done.stdout
    columns = {"knn": 0, "svm": 1, "lda": 2}
    table = [[float(x) for x in row.split(",")[1:]] for row in rows]
    for name in ("svm_vs_knn", "lda_vs_knn", "lda_vs_svm"):
        file = Path(f"reports/{name}/declared/report.json")
        (found,) = read_document(file).results
        a, b = (columns[arm] for arm in name.split("_vs_"))
        d = [row[a] - row[b] for row in table]
        p = stats.wilcoxon(d, alternative="greater", method="exact").pvalue
        assert found.p == pytest.approx(p, rel=1e-6)
        family = read_document(file).family
        assert family is not None
        assert (family.method, len(family.members)) == ("holm", 3)


def test_summaries_below_the_data_sets_are_no_data_sets() -> None:
    """As tables are published: with an average, mean ranks and wins, which change no p."""
    draw = random.Random(8)
    rows = [f"d{n},{draw.gauss(0.8, 0.03):.4f},{draw.gauss(0.83, 0.03):.4f}" for n in range(9)]
    below = ("Average,0.8,0.83", "Avg. rank (all),1.8,1.2", "W/T/L,2,7")
    for name, more in (("plain", ()), ("published", below)):
        Path(f"{name}.csv").write_text("\n".join(("dataset,a,b", *rows, *more)))
    found = []
    for name in ("plain", "published"):
        done = compared(f"{name}.csv", "--baseline", "a", "--out", name)
        assert "9 tasks, by 'dataset'" in done.stdout, done.stderr
        said = "left out, summaries of the others: Average, Avg. rank (all), W/T/L"
        assert (said in done.stdout) is (name == "published")
        report = read_document(Path(f"reports/b_vs_a_{name}/declared/report.json"))
        found.append(report.results[0].p)
    assert found[0] == found[1]


def test_the_time_that_a_test_took_is_not_what_it_came_to() -> None:
    means = {"a": 0.8, "b": 0.9}
    rows = [
        f"{arm},{s},{mean + s / 100},{9 * mean - s}"
        for arm, mean in means.items()
        for s in range(3)
    ]
    Path("t.csv").write_text("\n".join(("method,seed,accuracy,test_time", *rows)))
    done = compared("t.csv", "--baseline", "a")
    assert (done.returncode, "name it, as in --measure accuracy" in done.stderr) == (2, True)


def test_a_method_without_a_value_on_a_data_set_spoils_no_other_comparison() -> None:
    draw = random.Random(8)
    rows = [
        [f"d{n}", *(f"{draw.gauss(0.8 + k / 40, 0.03):.3f}" for k in range(3))] for n in range(9)
    ]
    rows[3][3] = "nan"
    Path("t.csv").write_text("\n".join(("dataset,a,b,c", *map(",".join, rows))))
    done = compared("t.csv", "--baseline", "a")
    assert done.returncode == 4, done.stderr
    for name, word, arms in (("b_vs_a", "VALID", "ab"), ("c_vs_a", "INVALID", "abc")):
        document = read_document(Path(f"reports/{name}/declared/report.json"))
        assert str(document.verdict.validity) == word
        assert "".join(arm.id for arm in document.arms) == arms


def test_a_row_for_each_data_set_has_its_arms_in_columns() -> None:
    """Whatever recurs beside the data sets, such as their sort: no arm by it shares one."""
    draw = random.Random(5)
    rows = [
        f"{('binary', 'regression')[n % 2]},d{n},{draw.random():.3f},{draw.random():.3f}"
        for n in range(9)
    ]
    Path("t.csv").write_text("\n".join(("type,dataset,rf,xgboost", *rows)))
    done = compared("t.csv", "--baseline", "rf")
    assert "a column per arm: rf, xgboost" in done.stdout, done.stderr


def test_the_version_of_a_program_is_no_number() -> None:
    arms = {"rf": "0.5.1", "xgboost": "2.0"}
    rows = [f"{arm},{s},{s / 10},{version}" for arm, version in arms.items() for s in range(3)]
    Path("t.csv").write_text("\n".join(("framework,seed,result,version", *rows)))
    done = compared("t.csv", "--baseline", "rf")
    assert "the number 'result'" in done.stdout, done.stderr


def test_a_task_among_others_may_be_called_like_a_summary() -> None:
    """Algorithmic tasks: the median lies between maximum and product, and nothing sums them up."""
    draw, tasks = random.Random(3), ("max", "median", "rank", "sort", "product")
    rows = [f"{task},{draw.random():.3f},{draw.random():.3f}" for task in tasks]
    Path("t.csv").write_text("\n".join(("dataset,a,b", *rows)))
    done = compared("t.csv", "--baseline", "a")
    assert "5 tasks, by 'dataset'" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "names", ["A_mean,A_std,B_mean,B_std", "A,A_sd,B,B_sd", "A,A (SD),B,B (SD)"]
)
def test_the_scatter_of_a_mean_is_no_method(names: str) -> None:
    """`A_std` was compared as a third method, and found worse than `A_mean`."""
    draw = random.Random(3)
    pairs = [(draw.uniform(0.6, 0.9), draw.uniform(-0.002, 0.012)) for _ in range(12)]
    rows = [
        f"d{n},{a:.3f},0.0{n + 10},{a + gain:.3f},0.0{31 - n}" for n, (a, gain) in enumerate(pairs)
    ]
    Path("t.csv").write_text("\n".join((f"dataset,{names}", *rows)))
    first, spread, second, other = names.split(",")
    done = compared("t.csv", "--baseline", first)
    assert done.returncode == 0, done.stdout + done.stderr
    said = f"a column per arm: {first}, {second}; not used, the scatter of these: {spread}, {other}"
    assert said in done.stdout
    assert len([*Path("reports").glob("*/declared/report.json")]) == 1


def test_a_method_may_be_called_like_a_scatter() -> None:
    """ResNet-SE has squeeze and excitation; only next to `ResNet_mean` is SE a standard error."""
    draw = random.Random(4)
    rows = [f"d{n},{draw.uniform(0.6, 0.7):.3f},{draw.uniform(0.6, 0.7):.3f}" for n in range(9)]
    Path("t.csv").write_text("\n".join(("dataset,ResNet,ResNet-SE", *rows)))
    done = compared("t.csv", "--baseline", "ResNet")
    assert "a column per arm: ResNet, ResNet-SE\n" in done.stdout, done.stderr
