"""`repro compare` of results as people keep them: each verdict is computed apart."""

from __future__ import annotations

import json
import random
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from scipy import stats

from repro.judging.document import Document
from repro.report.write import read_document
from tests.commands import repro

A = [5.0, 5.21, 4.93, 5.12, 5.04]
B = [4.2, 4.33, 4.15, 4.41, 4.26]


def compared(*words: str) -> CompletedProcess[str]:
    return repro("compare", *words)


def report(name: str) -> Document:
    return read_document(Path(f"reports/{name}/declared/report.json"))


def welch(a: list[float], b: list[float]) -> float:
    """The two-sided p of Welch's test."""
    return float(stats.ttest_ind(a, b, equal_var=False).pvalue)


def data_sets(name: str, below: str) -> tuple[list[float], list[float]]:
    draw = random.Random(8)
    pairs = [(draw.gauss(0.8, 0.03), draw.gauss(0.83, 0.03)) for _ in range(9)]
    rows = [f"d{n},{a:.4f},{b:.4f}" for n, (a, b) in enumerate(pairs)]
    Path(name).write_text("\n".join(("dataset,a,b", *rows, below)))
    return [round(a, 4) for a, _ in pairs], [round(b, 4) for _, b in pairs]


AVERAGES = ("Moyenne,,", "平均,0.8,0.83", "Mittelwert,0.8,0.83", "Promedio,0.8,0.83")


@pytest.mark.parametrize("below", ["Average,0.8,0.83\nW/T/L,,7/0/2", "W/T/L,-,7/0/2", *AVERAGES])
def test_rows_below_data_sets_that_sum_them_up_are_left_out_whatever_they_hold(below: str) -> None:
    a, b = data_sets("t.csv", below)
    done = compared("t.csv", "--better", "higher", "--baseline", "a")
    names = ", ".join(line.partition(",")[0] for line in below.splitlines())
    assert f"left out, summaries of the others: {names}" in done.stdout, done.stderr
    p = stats.wilcoxon([y - x for x, y in zip(a, b, strict=True)], alternative="greater").pvalue
    assert report("b_vs_a").results[0].p == pytest.approx(p, rel=1e-6)


def test_the_mean_below_the_seeds_is_no_run() -> None:
    rows = [f"{n},{a},{b}" for n, (a, b) in enumerate(zip(A, B, strict=True))]
    Path("t.csv").write_text("\n".join(("seed,a,b", *rows, "mean,5.06,4.27", "std,0.11,0.1")))
    done = compared("t.csv", "--better", "lower", "--baseline", "a")
    assert "left out, summaries of the others: mean, std" in done.stdout, done.stderr
    assert report("b_vs_a").results[0].p == pytest.approx(welch(A, B), rel=1e-6)


def several_measures(head: str) -> None:
    """Data sets with accuracy and F1 each, in two rows."""
    draw, rows = random.Random(4), []
    for n in range(8):
        for metric, gain in (("acc", 0.02), ("f1", -0.01)):
            a = draw.gauss(0.7, 0.05)
            b = a + draw.gauss(gain, 0.01)
            wide = [f"d{n},{metric},{a:.4f},{b:.4f}"]
            long = [f"d{n},{metric},{arm},{of:.4f}" for arm, of in (("a", a), ("b", b))]
            rows += wide if "a,b" in head else long
    Path("t.csv").write_text("\n".join((head, *rows)))


@pytest.mark.parametrize("head", ["dataset,metric,a,b", "dataset,metric,method,score"])
def test_rows_of_several_measures_are_not_taken_for_runs(head: str) -> None:
    several_measures(head)
    words = ("t.csv", "--better", "higher", "--baseline", "a")
    refused = compared(*words)
    assert refused.returncode == 2, refused.stdout
    assert "by 'metric' rows are of several numbers: acc, f1" in refused.stderr
    assert "--measure acc" in refused.stderr
    done = compared(*words, "--measure", "acc")
    rows = [line.split(",") for line in Path("t.csv").read_text().splitlines() if ",acc," in line]
    if "a,b" in head:
        d = [float(b) - float(a) for *_, a, b in rows]
    else:
        of = {(name, arm): float(value) for name, _, arm, value in rows}
        d = [of[f"d{n}", "b"] - of[f"d{n}", "a"] for n in range(8)]
    p = stats.wilcoxon(d, alternative="greater").pvalue
    assert report("b_vs_a").results[0].p == pytest.approx(p, rel=1e-6), done.stdout + done.stderr


def answers(name: str, seed: int, share: float) -> list[int]:
    draw = random.Random(seed)
    right = [int(draw.random() < share) for _ in range(60)]
    file = Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"question": f"q{n}", "tags": f"t{n % 3}", "correct": c} for n, c in enumerate(right)]
    if name.endswith(".csv"):
        file.write_text("\n".join(("question,tags,correct", *(
            ",".join(map(str, row.values())) for row in rows))))  # fmt: skip
    else:
        file.write_text("\n".join(map(json.dumps, rows)))
    return right


@pytest.mark.parametrize(
    "files", [("new.csv", "old.csv"), ("new.jsonl", "old.jsonl"), ("new/r.csv", "old/r.csv")]
)
def test_the_answers_of_two_models_may_lie_in_a_file_each(files: tuple[str, str]) -> None:
    new, old = answers(files[0], 1, 0.8), answers(files[1], 2, 0.5)
    done = compared(files[0], "--against", files[1], "--items", "question", "--better", "higher")
    more = sum(x > y for x, y in zip(new, old, strict=True))
    less = sum(x < y for x, y in zip(new, old, strict=True))
    p = stats.binomtest(more, more + less).pvalue
    (found,) = report("new_vs_old").results
    assert found.p == pytest.approx(p, rel=1e-6), done.stdout + done.stderr
    assert f"new is {(more - less) / 60:.2f} higher than old on 60 items" in done.stdout


@pytest.mark.parametrize("objects", [False, True])
def test_a_folder_of_lists_has_an_arm_per_file(objects: bool) -> None:
    for name, values in (("mixup", B), ("plain", A)):
        listed = [{"error": value} for value in values] if objects else values
        Path("runs").mkdir(exist_ok=True)
        Path(f"runs/{name}.json").write_text(json.dumps(listed))
    done = compared("runs", "--better", "lower")
    p = report("mixup_vs_plain").results[0].p
    assert p == pytest.approx(welch(A, B), rel=1e-6), done.stdout + done.stderr
    done = compared("runs/mixup.json", "--within", "runs/plain.json", "--reports", "other")
    assert "n, the seeds per arm: mixup 5, plain 5" in done.stdout, done.stderr


@pytest.mark.parametrize("objects", [False, True])
def test_lists_that_go_one_way_may_be_steps_of_one_run(objects: bool) -> None:
    for name in ("mixup", "plain"):
        values = [3 - n / 10 + (n % 3) / 50 for n in range(10)]
        listed = [{"error": value} for value in values] if objects else values
        Path(f"{name}.json").write_text(json.dumps(listed))
    for results in (".", "plain.json"):
        done = compared(results, "--better", "lower", "--at-most", "3")
        assert (done.returncode, "of steps of one" in done.stderr) == (2, True), done.stdout


IDS = ("k3j2h1aa", "qwertyui", "zx81mnop", "ab12cd34", "lmnopqrs", "9xk2llqa", "m4n5b6v7",
       "p0o9i8u7", "qqq1wwww", "abcdefgh")  # fmt: skip
LETTERS = ("aab", "bbc", "ccd", "dde", "eef", "ffg", "qwx", "zzy", "opq", "xxl")


@pytest.mark.parametrize("names", [IDS, LETTERS])
@pytest.mark.parametrize("form", ["runs/run-{id}/m.json", "runs/{id}.json", "{arm}/{id}/m.json"])
def test_runs_may_be_called_at_random_with_digits_or_without(
    names: tuple[str, ...], form: str
) -> None:
    for place, name in enumerate(names):
        arm, value = ("plain", A[place // 2]) if place % 2 else ("mixup", B[place // 2])
        file = Path("results", form.format(id=name, arm=arm))
        file.parent.mkdir(parents=True, exist_ok=True)
        said = {} if "{arm}" in form else {"method": arm}
        file.write_text(json.dumps({**said, "error": value}))
    done = compared("results", "--better", "lower")
    assert "left out" not in done.stdout, done.stderr
    p = report("mixup_vs_plain").results[0].p
    assert p == pytest.approx(welch(A, B), rel=1e-6), done.stdout + done.stderr


def test_a_folder_that_is_left_out_is_not_read_all_the_same() -> None:
    for arm, values in (("mixup", B), ("plain", A)):
        folders = [*(f"{arm[0]}{n}xyz{9 - n}" for n in range(5)), *(["best"] * (arm == "mixup"))]
        for folder, value in zip(folders, [*values, min(values)], strict=False):
            file = Path("results", arm, folder, "m.json")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"error": value}))
    done = compared("results", "--better", "lower")
    assert "left out, for no other is named alike: results/mixup/best/m.json" in done.stdout
    p = report("mixup_vs_plain").results[0].p
    assert p == pytest.approx(welch(A, B), rel=1e-6), done.stdout + done.stderr


def with_machines(name: str, values: list[float], setup: str = "") -> None:
    """Runs with what no arm is called by: it differs and recurs."""
    rows = [
        f"{n},{value},{('A100', 'H100')[n % 2]},{n % 3}h {n % 2}m,"
        f"{('train.py', 'main.py')[n // 3]},2026-01-0{n % 2 + 1},"
        f"{('ab12cd3', 'ff01234')[n // 3]}{setup and f',{setup}'}"
        for n, value in enumerate(values)
    ]
    head = "seed,error,gpu,duration,program,date,sha" + (",augment" if setup else "")
    Path(name).write_text("\n".join((head, *rows)))


def test_machines_and_times_are_not_taken_for_arms() -> None:
    with_machines("old.csv", A)
    with_machines("new.csv", B)
    done = compared("new.csv", "--against", "old.csv", "--better", "lower")
    said = "new: not taken for arms: gpu, duration, program, date, sha"
    assert said in done.stdout, done.stdout + done.stderr
    p = stats.ttest_ind(B, A, equal_var=False, alternative="less").pvalue
    assert report("new_vs_old").results[0].p == pytest.approx(p, rel=1e-6)
    done = compared("new.csv", "--within", "old.csv", "--reports", "within")
    assert "n, the seeds per arm: new 5, old 5" in done.stdout, done.stderr
    done = compared("old.csv", "--at-most", "5.5", "--reports", "level")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_arm_next_to_machines_and_times_is_found() -> None:
    for name, values in (("plain", A), ("mixup", B)):
        with_machines(f"{name}.csv", values, name)
    head, *rows = Path("plain.csv").read_text().splitlines()
    rows += Path("mixup.csv").read_text().splitlines()[1:]
    Path("all.csv").write_text("\n".join((head, *rows)))
    done = compared("all.csv", "--better", "lower")
    assert "arms by the field 'augment'" in done.stdout, done.stdout + done.stderr
    assert report("mixup_vs_plain").results[0].p == pytest.approx(welch(A, B), rel=1e-6)


@pytest.mark.parametrize("words", [("--baseline", "fuse_llama"), ("--within", "fuse_llama")])
def test_an_arm_may_be_named_as_its_files_are(words: tuple[str, str]) -> None:
    Path("runs").mkdir()
    for arm, values in (("fuse_llama", A), ("fuse_qwen", B), ("fuse_llama_big", B[::-1])):
        for seed, value in enumerate(values):
            Path(f"runs/{arm}_{seed}.json").write_text(json.dumps({"error": value}))
    done = compared("runs", "--better", "lower", *words)
    assert "compared with 'llama'" in done.stdout, done.stderr
    assert "llama 5" in done.stdout
    wrong = compared("runs", "--better", "lower", words[0], "fuse_lama")
    assert wrong.returncode == 2, wrong.stdout


def test_an_arm_whose_name_begins_with_that_of_another_is_not_counted_twice() -> None:
    Path("runs").mkdir()
    for place, (arm, values) in enumerate(
        (("base", A), ("ours", B), ("ours_big", [9.0, 9.1, 9.3]))
    ):
        for n, value in enumerate(values):
            said = {"seed": 10 * place + n, "error": value}
            Path(f"runs/{arm}_{n}.json").write_text(json.dumps(said))
    done = compared("runs", "--better", "lower", "--baseline", "base")
    assert "base 5, ours 5, ours_big 3" in done.stdout, done.stdout + done.stderr
    assert report("ours_vs_base").results[0].p == pytest.approx(welch(A, B), rel=1e-6)


def test_a_table_per_seed_may_have_a_row_per_arm() -> None:
    Path("runs").mkdir()
    for n, (a, b) in enumerate(zip(A, B, strict=True), start=1):
        Path(f"runs/results_{n}.csv").write_text(f"method,error\nmixup,{b}\nplain,{a}\n")
    done = compared("runs", "--better", "lower")
    p = report("mixup_vs_plain").results[0].p
    assert p == pytest.approx(welch(A, B), rel=1e-6), done.stdout + done.stderr


def test_a_log_without_the_number_says_which_it_has() -> None:
    lines = {"named": "accuracy: 0.94\nsecs: 3.1\n", "bars": "| epoch | val |\n|  1  |  0.9  |\n"}
    said = {"named": "there are: accuracy, secs", "bars": "epoch, val stand in a table"}
    for name, text in lines.items():
        for n in range(3):
            Path(name).mkdir(exist_ok=True)
            Path(f"{name}/{n}.log").write_text(text)
        done = compared(name, "--at-least", "0.9", "--measure", "tta_acc")
        assert (done.returncode, said[name] in done.stderr) == (2, True), done.stderr


def test_a_missing_answer_is_named_and_what_is_advised_works() -> None:
    new, old = answers("new.csv", 1, 0.8), answers("old.csv", 2, 0.5)
    rows = [f"q{n},{a},{b}" for n, (a, b) in enumerate(zip(new, old, strict=True))]
    words = ("t.csv", "--items", "question", "--better", "higher", "--baseline", "old")
    head, gap = "question,new,old", f"q7,{new[7]},"
    Path("t.csv").write_text("\n".join((head, *rows[:7], gap, *rows[8:])))
    done = compared(*words)
    assert (done.returncode, "row 8, column 'old': the cell is empty" in done.stderr) == (2, True)
    assert "leave that row out" in done.stderr
    Path("t.csv").write_text("\n".join((head, *rows[:7], *rows[8:])))
    kept = [pair for n, pair in enumerate(zip(new, old, strict=True)) if n != 7]
    more, less = sum(a > b for a, b in kept), sum(a < b for a, b in kept)
    done = compared(*words)
    p = report("new_vs_old").results[0].p
    assert p == pytest.approx(stats.binomtest(more, more + less).pvalue, rel=1e-6), done.stderr


def test_a_mean_and_a_deviation_next_to_columns_of_seeds_are_no_runs() -> None:
    rows = [f"{arm}\t" + "\t".join(map(str, of)) + "\t5\t0.1" for arm, of in (("b", B), ("a", A))]
    head = "method\t" + "\t".join(f"seed_{n}" for n in range(5)) + "\tmean\tstd"
    Path("t.tsv").write_text("\n".join((head, *rows)))
    done = compared("t.tsv", "--better", "lower", "--baseline", "a")
    assert "left out, summaries of these: mean, std" in done.stdout, done.stderr
    assert report("b_vs_a").results[0].p == pytest.approx(welch(A, B), rel=1e-6)


def test_paths_that_mix_methods_are_not_taken_for_arms() -> None:
    """Two batches of jobs, each with both methods: to compare the batches would answer nothing."""
    for batch in (0, 1):
        for seed in range(3):
            for name, error in (("mixup", 4.2), ("plain", 5.0)):
                folder = Path("runs", f"job{batch}", f"run{2 * seed + (name == 'plain')}")
                folder.mkdir(parents=True)
                value = error + 0.1 * seed + 0.01 * batch
                text = json.dumps(
                    {
                        "method": name,
                        "seed": 10 * (name == "plain") + 3 * batch + seed,
                        "error": value,
                    }
                )
                (folder / "result.json").write_text(text)
    done = compared("runs", "--better", "lower")
    assert (done.returncode, "'method' differs: mixup, plain" in done.stderr) == (2, True)
    done = compared("runs", "--better", "lower", "--arm", "path")
    assert "the seeds per arm: job0 6, job1 6" in done.stdout, done.stderr
    done = compared("runs", "--better", "lower", "--arm", "method")
    assert "Error: mixup is 0.80 lower than plain" in done.stdout, done.stderr


def test_a_number_of_validation_does_not_stand_in_for_several_of_the_test() -> None:
    rows = [f"{a},{s},{4 + s / 10},{5 + s / 10},{4 - s / 10}" for a in "xy" for s in range(4)]
    header = "method,seed,val_error,test_error,test_loss"
    Path("results.csv").write_text("\n".join((header, *rows)))
    done = compared("results.csv", "--better", "lower")
    assert (done.returncode, "several numbers may be meant" in done.stderr) == (2, True)


def files(form: str, numbers: tuple[str, ...]) -> None:
    for arm, values in (("base", A), ("new", [4.0, *B[1:]])):
        for number, value in zip(numbers, values, strict=False):
            file = Path("results", form.format(arm=arm, n=number))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"epoch,error\n1,9\n2,{value}\n")


@pytest.mark.parametrize(
    ("form", "numbers"),
    [
        ("{arm}/exp{n}/results.csv", ("", "2", "3", "4", "5")),
        ("v5{arm}/exp{n}/results.csv", ("", "2", "3", "4", "5")),
        ("{arm}/run{n}.csv", ("", "_1", "_2", "_3", "_4")),
        ("{arm}/seed{n}.csv", ("", " (1)", " (2)", " (3)", " (4)")),
        ("{arm}{n}.csv", ("", "_2", "_3", "_4", "_5")),
    ],
)
def test_a_name_without_a_number_is_that_of_the_first_run(
    form: str, numbers: tuple[str, ...]
) -> None:
    files(form, numbers)
    baseline = "v5base" if form.startswith("v5") else "base"
    done = compared("results", "--better", "lower", "--baseline", baseline)
    p = report("v5new_vs_v5base" if form.startswith("v5") else "new_vs_base").results[0].p
    expected = welch(A, [4.0, *B[1:]])
    assert p == pytest.approx(expected, rel=1e-6), done.stdout + done.stderr
    assert "the first run, from which others are numbered on: results/" in done.stdout


@pytest.mark.parametrize("number", ["", "3", "-9"])
def test_a_name_that_may_be_that_of_a_run_is_never_left_out(number: str) -> None:
    """Next to `run_0`, one without a number may be a summary; `run3` is written otherwise."""
    files("{arm}/run_{n}.csv", ("0", "1", "2", "4", "5"))
    odd = Path("results", "base", f"run{number}.csv")
    odd.write_text("epoch,error\n1,9\n2,7\n")
    done = compared("results", "--better", "lower", "--baseline", "base")
    assert "may be a run of the same arm" in done.stderr
    advice = done.stderr.partition("call it ")[2].partition(";")[0]
    odd.rename(advice)
    done = compared("results", "--better", "lower", "--baseline", "base")
    p = report("new_vs_base").results[0].p
    assert p == pytest.approx(welch([*A, 7], [4.0, *B[1:]]), rel=1e-6), done.stderr


def test_a_first_run_that_one_arm_has_alone_is_asked_about() -> None:
    files("{arm}_{n}.csv", ("1", "2", "3"))
    Path("results/new.csv").write_text("epoch,error\n1,9\n2,7\n")
    done = compared("results", "--better", "lower", "--baseline", "base")
    assert (done.returncode, "may be a run of the same arm" in done.stderr) == (2, True)


def test_sizes_in_names_of_tables_with_seeds_are_arms() -> None:
    for arm, values in (("resnet", A), ("resnet18", B), ("resnet34", B)):
        rows = [f"{seed},{value}" for seed, value in enumerate(values)]
        Path("results").mkdir(exist_ok=True)
        Path(f"results/{arm}.csv").write_text("\n".join(("seed,error", *rows)))
    done = compared("results", "--better", "lower", "--baseline", "resnet")
    assert done.returncode == 0, done.stderr
    assert report("resnet18_vs_resnet").results[0].p == pytest.approx(welch(A, B), rel=1e-6)
