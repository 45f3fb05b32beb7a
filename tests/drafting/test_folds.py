"""Folds of one data set are pairs with training data in common, never independent runs."""

from __future__ import annotations

import json
import math
import random
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from repro.report.write import read_document
from tests.commands import repro
from tests.report.texts import page_text

FOLDS = 10


def score(arm: str, fold: int, again: int = 0) -> float:
    """Folds differ much, ours gains about 0.01 in each."""
    draw = random.Random(1000 * again + 10 * fold + (arm == "ours"))
    return round(0.7 + 0.01 * fold + 0.011 * (arm == "ours") + draw.gauss(0, 0.006), 4)


def corrected(repeats: int = 1) -> float:
    """The p of Nadeau and Bengio, two-sided."""
    places = [(fold, again) for again in range(repeats) for fold in range(FOLDS)]
    gains = [score("ours", *place) - score("base", *place) for place in places]
    n, mean = len(gains), sum(gains) / len(gains)
    variance = sum((gain - mean) ** 2 for gain in gains) / (n - 1)
    t = mean / math.sqrt(variance * (1 / n + 1 / (FOLDS - 1)))
    return float(2 * stats.t.sf(abs(t), n - 1))


def long(field: str = "fold", repeats: int = 1, repeat: str = "repeat") -> str:
    lines = [f"{field},{repeat},method,auc" if repeats > 1 else f"{field},method,auc"]
    for arm in ("base", "ours"):
        for again in range(repeats):
            more = f"{again}," if repeats > 1 else ""
            lines += (f"{k},{more}{arm},{score(arm, k, again)}" for k in range(FOLDS))
    Path("cv.csv").write_text("\n".join(lines))
    return "cv.csv"


def wide() -> str:
    rows = (f"{k},{score('base', k)},{score('ours', k)}" for k in range(FOLDS))
    Path("cv.csv").write_text("\n".join(("cv_split,base,ours", *rows)))
    return "cv.csv"


def a_column_each() -> str:
    rows = [[arm, *(str(score(arm, k)) for k in range(FOLDS))] for arm in ("base", "ours")]
    head = ["method", *(f"fold_{k}" for k in range(FOLDS))]
    Path("cv.csv").write_text("\n".join(map(",".join, (head, *rows))))
    return "cv.csv"


def files() -> str:
    for arm in ("base", "ours"):
        for k in range(FOLDS):
            file = Path("out", arm, f"fold_{k}.json")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"auc": score(arm, k)}))
    return "out"


def compared(results: str, *options: str) -> Any:
    return repro("compare", results, "--better", "higher", *options)


def judged() -> Any:
    (result,) = read_document(Path("reports/ours_vs_base/declared/report.json")).results
    return result


@pytest.mark.parametrize("form", [long, wide, a_column_each, files])
def test_folds_are_compared_by_the_corrected_test(form: Callable[[], str]) -> None:
    done = compared(form())
    assert done.returncode == 0, done.stderr
    assert judged().p == pytest.approx(corrected())
    assert "10 folds of one data set" in done.stdout
    assert "read: assumed: 10-fold cross-validation" in done.stdout
    assert "n, the folds per arm: base 10, ours 10" in done.stdout
    assert "assumptions hold: two folds correlate by no more than the share of a" in done.stdout
    claim = Path("ours_vs_base.claim.yaml").read_text(encoding="utf-8")
    assert "folds: {test_to_train: 0.1111111111111111}" in claim
    assert repro("verify", "ours_vs_base.claim.yaml").returncode == 0


@pytest.mark.parametrize("options", [("--seed", "fold"), ("--unit", "fold"), ("--paired",)])
def test_no_option_makes_folds_independent(options: tuple[str, ...]) -> None:
    assert compared(long(), *options).returncode == 0
    assert judged().p == pytest.approx(corrected())


REPEATS = ("repeat", "Run", "replicate", "cv_iter", "trial", "split_seed", "Key_Run")


@pytest.mark.parametrize("repeat", REPEATS)
def test_repeats_of_a_cross_validation_count_by_its_folds(repeat: str) -> None:
    """Ten times ten folds are a hundred pairs, of which each has a tenth as its test set.

    Whatever counts them: their averages by fold would be taken for other data each.
    """
    done = compared(long(repeats=3, repeat=repeat))
    assert done.returncode == 0, done.stderr
    assert judged().p == pytest.approx(corrected(repeats=3))
    assert f"10 folds of one data set, 3 times, by '{repeat}' and 'fold'" in done.stdout
    assert f"assumed: each '{repeat}' makes other folds" in done.stdout
    refused = compared("cv.csv", "--unit", repeat)
    assert (refused.returncode, "--seed fold compares" in refused.stderr) == (2, True)
    assert compared("cv.csv", "--seed", "fold").returncode == 0
    assert judged().p == pytest.approx(corrected(repeats=3))


@pytest.mark.parametrize("repeat", ["seed", "random_state", "rng"])
def test_whether_seeds_cut_the_data_anew_is_asked(repeat: str) -> None:
    done = compared(long(repeats=3, repeat=repeat))
    assert (done.returncode, f"--seed fold if each '{repeat}'" in done.stderr) == (2, True)
    assert f"--unit {repeat}" not in done.stderr
    assert compared("cv.csv", "--seed", "fold").returncode == 0
    assert judged().p == pytest.approx(corrected(repeats=3))
    done = compared("cv.csv", "--unit", "fold", "--out", "same")
    assert "assumed: all rows of one 'fold' have the same test set" in done.stdout, done.stderr


@pytest.mark.parametrize("setting", ["lr", "target", "x"])
def test_settings_do_not_repeat_a_cross_validation(setting: str) -> None:
    """Three learning rates on the same five folds were fifteen pairs."""
    done = compared(long(repeats=3, repeat=setting))
    assert (done.returncode, "--seed fold" in done.stderr) == (2, False)
    done = compared("cv.csv", "--seed", "fold")
    assert (done.returncode, "has 3 rows with fold 0" in done.stderr) == (2, True)
    done = compared("cv.csv", "--seed", setting)
    assert (done.returncode, f"call '{setting}' repeat" in done.stderr) == (2, True)


def test_folds_that_are_numbered_through_are_those_of_their_repeat() -> None:
    """Twenty folds in two repeats: each test set is a ninth of its training set."""
    lines = [f"{again},{10 * again + k},{arm},{score(arm, k, again)}"
             for again in range(2) for k in range(10) for arm in ("base", "ours")]  # fmt: skip
    Path("cv.csv").write_text("\n".join(("repeat,fold,method,auc", *lines)))
    assert "10 folds of one data set, 2 times" in compared("cv.csv").stdout
    assert judged().p == pytest.approx(corrected(repeats=2))


def test_repeats_on_data_sets_are_averaged_in_each() -> None:
    lines = [
        f"d{d},{again},{k},{arm},{score(arm, k, 2 * d + again)}"
        for d in range(6) for again in range(2) for k in range(5) for arm in ("base", "ours")
    ]  # fmt: skip
    Path("cv.csv").write_text("\n".join(("Key_Dataset,Key_Run,Key_Fold,Key_Scheme,auc", *lines)))
    for options in ((), ("--unit", "Key_Run"), ("--seed", "Key_Fold"), ("--seed", "Key_Run")):
        done = compared("cv.csv", *options)
        assert (done.returncode, "--unit Key_Dataset averages" in done.stderr) == (2, True)
    assert compared("cv.csv", "--unit", "Key_Dataset").returncode in (0, 3)
    gains = [
        sum(score("ours", k, n) - score("base", k, n) for k in range(5) for n in (2 * d, 2 * d + 1))
        for d in range(6)
    ]
    assert judged().p == pytest.approx(float(stats.wilcoxon(gains, alternative="greater").pvalue))


def test_several_rows_of_a_fold_are_averaged_first() -> None:
    lines = Path(long()).read_text().splitlines()
    twice = [f"{line},{k}" for line in lines[1:] for k in ("x", "y")]
    Path("cv.csv").write_text("\n".join((f"{lines[0]},run_on", *twice)))
    done = compared("cv.csv", "--arm", "method")
    assert (done.returncode, "--unit fold averages" in done.stderr) == (2, True)
    done = compared("cv.csv", "--arm", "method", "--unit", "fold")
    assert done.returncode == 0, done.stderr
    assert judged().p == pytest.approx(corrected())


def test_the_last_epoch_of_each_fold_counts() -> None:
    lines = Path(long()).read_text().splitlines()
    rows = [f"{line},2" for line in lines[1:]]
    rows += [f"{line.rsplit(',', 1)[0]},0.1,1" for line in lines[1:]]
    Path("cv.csv").write_text("\n".join((f"{lines[0]},epoch", *rows)))
    done = compared("cv.csv")
    assert "the last value of each run, by 'epoch'" in done.stdout, done.stderr
    assert judged().p == pytest.approx(corrected())


@pytest.mark.parametrize("options", [("--at-least", "0.6"), ("--within", "ref.csv")])
def test_only_pairs_of_folds_have_a_test(options: tuple[str, ...]) -> None:
    long()
    Path("ref.csv").write_text(
        "fold,auc\n" + "\n".join(f"{k},{score('base', k)}" for k in range(9))
    )
    Path("one.csv").write_text(
        "fold,auc\n" + "\n".join(f"{k},{score('ours', k)}" for k in range(9))
    )
    done = compared("one.csv", *options)
    assert (done.returncode, "and not independent runs" in done.stderr) == (2, True)


def test_rows_that_sum_up_folds_are_left_out() -> None:
    """As PyCaret writes them below the folds of a method."""
    for arm in ("base", "ours"):
        scores = [score(arm, k) for k in range(FOLDS)]
        rows = [*enumerate(scores), ("Mean", statistics.mean(scores)), ("Std", 0.01)]
        Path("out").mkdir(exist_ok=True)
        text = "\n".join(f"{key},{value}" for key, value in rows)
        Path("out", f"{arm}.csv").write_text(f"Fold,auc\n{text}")
    done = compared("out")
    assert "left out, summaries of the others: Mean, Std" in done.stdout, done.stderr
    assert judged().p == pytest.approx(corrected())


def test_an_arm_without_a_fold_is_told() -> None:
    lines = Path(long()).read_text().splitlines()
    Path("cv.csv").write_text("\n".join(lines[:-1]))
    done = compared("cv.csv")
    assert (done.returncode, "arm 'ours' has no row of fold 9" in done.stderr) == (2, True)
    Path("cv.csv").write_text("\n".join(line for line in lines[:-1] if not line.startswith("9,")))
    assert compared("cv.csv").returncode == 0


@pytest.mark.parametrize("options", [("--seed", "fold"), ("--unit", "fold")])
def test_folds_of_data_sets_are_no_runs_by_any_option(options: tuple[str, ...]) -> None:
    rows = [
        f"d{d},{k},{arm},{score(arm, k, d)}"
        for d in range(4) for k in range(5) for arm in ("base", "ours")
    ]  # fmt: skip
    Path("cv.csv").write_text("\n".join(("place,fold,method,auc", *rows)))
    done = compared("cv.csv", "--arm", "method", "--task-field", "place", *options)
    assert (done.returncode, "each with folds" in done.stderr) == (2, True)


def test_resamples_are_no_folds() -> None:
    """A bootstrap leaves out as much as chance has it: nothing here corrects for it."""
    done = compared(long("bootstrap"))
    assert (done.returncode, "bootstrap" in done.stderr) == (2, True)
    done = compared("cv.csv", "--seed", "bootstrap")
    assert (done.returncode, "call the field `fold`" in done.stderr) == (2, True)


def test_folds_that_are_named_by_texts_get_numbers() -> None:
    text = Path(long()).read_text()
    for k in range(FOLDS):
        text = text.replace(f"\n{k},", f"\n{chr(97 + k)}{chr(98 + k)},")
    Path("cv.csv").write_text(text)
    done = compared("cv.csv")
    assert (done.returncode, "write a number for each fold into 'fold'" in done.stderr) == (2, True)


def with_seeds(seeds: Callable[[int], tuple[int, ...]], more: Callable[[int], float]) -> str:
    """The folds with a column of seeds: each seed of a fold is off by ``more``."""
    lines = ["method,fold,seed,auc"]
    for arm in ("base", "ours"):
        for k in range(FOLDS):
            mean = score(arm, k)
            lines += (
                f"{arm},{k},{seed},{mean + more(place)!r}" for place, seed in enumerate(seeds(k))
            )
    Path("cv.csv").write_text("\n".join(lines))
    return "cv.csv"


@pytest.mark.parametrize("options", [(), ("--seed", "seed"), ("--paired",)])
@pytest.mark.parametrize("seeds", [lambda fold: (100 + fold,), lambda _: (42,)])
def test_seeds_of_folds_do_not_make_them_runs(
    seeds: Callable[[int], tuple[int, ...]], options: tuple[str, ...]
) -> None:
    done = compared(with_seeds(seeds, lambda _: 0.0), *options)
    assert done.returncode == 0, done.stderr
    assert "'seed' does not count runs: each fold has one row" in done.stdout
    assert judged().p == pytest.approx(corrected())


def test_seeds_of_one_fold_are_averaged() -> None:
    """Their test set is one: ten folds are ten pairs, however many seeds each has."""
    with_seeds(lambda _: (0, 1, 2), lambda place: 0.01 * (place - 1))
    done = compared("cv.csv", "--unit", "fold")
    assert done.returncode == 0, done.stderr
    assert "n, the folds per arm: base 10, ours 10" in done.stdout
    assert judged().p == pytest.approx(corrected())
    done = compared("cv.csv", "--unit", "seed")
    assert (done.returncode, "share all their data" in done.stderr) == (2, True)
    done = compared("cv.csv", "--at-least", "0.6", "--unit", "seed")
    assert (done.returncode, "and not independent runs" in done.stderr) == (2, True)


def test_folds_named_by_texts_are_not_left_unread() -> None:
    lines = Path(with_seeds(lambda fold: (100 + fold,), lambda _: 0.0)).read_text().splitlines()
    cells = [line.split(",") for line in lines[1:]]
    rows = (f"{arm},{chr(97 + int(k))} x,{seed},{auc}" for arm, k, seed, auc in cells)
    Path("cv.csv").write_text("\n".join((lines[0], *rows)))
    done = compared("cv.csv")
    assert (done.returncode, "write a number for each fold into 'fold'" in done.stderr) == (2, True)


@pytest.mark.parametrize("seed", ["", "7", "{k}"])
def test_the_advice_on_folds_of_tasks_works(seed: str) -> None:
    """A task with folds was trained on by itself, whatever its field is called."""
    rows = [
        f"d{d},{k},{seed.format(k=10 * d + k)},{arm},{score(arm, k, d)}"
        for d in range(6) for k in range(5) for arm in ("base", "ours")
    ]  # fmt: skip
    Path("cv.csv").write_text("\n".join((f"task,fold,{'seed' if seed else 'x'},method,auc", *rows)))
    for options in ((), ("--seed", "fold")):
        done = compared("cv.csv", *options)
        assert (done.returncode, "--unit task averages" in done.stderr) == (2, True)
    gains = [sum(score("ours", k, d) - score("base", k, d) for k in range(5)) / 5 for d in range(6)]
    assert compared("cv.csv", "--unit", "task").returncode in (0, 3)
    assert judged().p == pytest.approx(float(stats.wilcoxon(gains, alternative="greater").pvalue))


def test_a_fold_is_not_called_a_seed() -> None:
    """Neither where they are counted and drawn, nor where each is left out in turn."""
    done = repro("compare", long(), "--better", "higher", "--baseline", "base")
    assert "one seed" not in done.stdout
    assert "folds by the field 'fold'" in done.stdout
    assert "One seed left out" not in "".join(
        page_text(page) for page in Path("reports").glob("*/declared/report.html")
    )
    (page,) = Path("reports").glob("*/declared/report.html")
    said = page_text(page)
    for words in ("10 folds per arm", "20 folds from a table", "Each dot is one fold"):
        assert words in said
    assert "Each fold left out in turn" in said
    assert "Seeds" not in said


def test_splits_that_may_be_drawn_one_by_one_need_the_size_of_their_test_sets() -> None:
    """Twenty splits of 80 to 20 %: a quarter, where twenty folds would be a nineteenth."""
    draw = random.Random(4)
    gains = [draw.gauss(0.01, 0.02) for _ in range(20)]
    rows = [f"{n},base,0.7\n{n},ours,{0.7 + gain:.6f}" for n, gain in enumerate(gains)]
    Path("splits.csv").write_text("\n".join(("split,method,auc", *rows[:10])))
    asked = ("compare", "splits.csv", "--better", "higher")
    done = repro(*asked)
    assert (done.returncode, "--test-to-train 0.111 for 10 folds" in done.stderr) == (2, True)
    Path("splits.csv").write_text("\n".join(("split,method,auc", *rows)))
    done = repro(*asked)
    assert (done.returncode, "--test-to-train 0.0526 for 20 folds" in done.stderr) == (2, True)
    mean = sum(gains) / 20
    variance = sum((gain - mean) ** 2 for gain in gains) / 19
    for share in (0.25, 0.0526):
        done = repro(*asked, "--test-to-train", str(share), "--out", str(share))
        assert "assumed" not in done.stdout, done.stderr
        (report,) = Path("reports").glob(f"*{str(share).replace('.', '_')}/declared/report.json")
        t = mean / math.sqrt(variance * (1 / 20 + share))
        assert read_document(report).results[0].p == pytest.approx(2 * stats.t.sf(abs(t), 19), 1e-3)
    Path("runs.csv").write_text(
        "seed,method,auc\n" + "\n".join(f"{n},a,{n}\n{n},b,1" for n in range(4))
    )
    done = repro("compare", "runs.csv", "--better", "higher", "--test-to-train", "0.25")
    assert (done.returncode, "there are none" in done.stderr) == (2, True)


def test_what_is_odd_about_folds_is_said_of_folds() -> None:
    """One far from the rest, two alike, and a page without a seed."""
    table = Path(long())
    lines = table.read_text().splitlines()
    told = [line.rpartition(",")[0] for line in lines if ",ours," in line]
    odd = {told[4]: "0.1", told[7]: "0.7912345", told[8]: "0.7912345"}
    cells = (line.rpartition(",") for line in lines)
    table.write_text("\n".join(f"{key},{odd.get(key, value)}" for key, _, value in cells))
    done = repro("compare", table, "--better", "higher", "--baseline", "base")
    assert "a fold far from its arm" in done.stdout, done.stderr
    assert "one fold left out" in done.stdout
    (page,) = Path("reports").glob("*/declared/report.html")
    said = page_text(page)
    assert "fold 4 is 0.1, " in said
    assert re.findall(r".{30}\bseeds?\b.{30}", said, re.IGNORECASE) == []
