"""`repro noise`: which differences luck explains, and what of a research loop is more than that."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from repro.results.loop_log import Experiment, read_loop
from repro.stats.noise_floor import NoiseFloor
from repro.workflows.luck import loop_of
from tests.commands import repro

RUNS = (1.2667, 1.2653, 1.2659, 1.2664, 1.2649, 1.2661, 1.2672, 1.2655, 1.2660, 1.2651)

LOG = """commit\tval_bpb\tmemory_gb\tstatus\tdescription
970ef2c\t1.285372\t0.0\tkeep\tbaseline
ddde99b\t1.304852\t0.0\tdiscard\tSwiGLU, "worse
28c91c1\t1.267503\t0.0\tkeep\t"radical
7b1c5a1\t0.000000\t0.0\tdiscard\taborted
5980576\t1.265667\t0.0\tkeep\tMLP 8x
6068356\t1.265800\t0.0\tkeep\tsimpler
fe6c00e\t0.000000\t0.0\tcrash\tweight tying
"""


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{seed},{value}\n" for seed, value in enumerate(RUNS))
    Path("baseline.csv").write_text(f"seed,val_bpb\n{rows}")
    Path("results.tsv").write_text(LOG)


def test_what_luck_explains_is_said_in_one_sentence() -> None:
    done = repro("noise", "baseline.csv", "--find", "0.001")
    sd = stdev(RUNS)
    three = stats.t.isf(0.025, 4) * sd * math.sqrt(2 / 3)
    assert (
        f"with 3 seeds per side a difference under {three:.4f} cannot be told from" in done.stdout
    )
    reach = np.sqrt(9 / stats.chi2.isf([0.025, 0.975], 9)) * sd
    solve = TTestIndPower().solve_power
    few, many = (math.ceil(solve(0.001 / each, power=0.8, alpha=0.05)) for each in reach)
    some = math.ceil(solve(0.001 / sd, power=0.8, alpha=0.05))
    needed = f"takes {some} seeds per side ({few} to {many}, for the scatter is known no better)"
    assert f"to find 0.00100 four times in five {needed}" in done.stdout
    assert f"planned_sd: {{val_bpb: {{sd: {sd:.4g}, why:" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_the_log_of_a_loop_is_read_for_what_it_is() -> None:
    """Single runs; what has no value is none, whatever word stands there."""
    found = json.loads(
        repro("noise", "baseline.csv", "--log", "results.tsv", "--better", "lower", "--json").stdout
    )["loop"]
    assert (found["experiments"], found["crashed"], found["kept"]) == (6, 2, 3)
    limit = stats.t.isf(0.05 / 6, 9) * stdev(RUNS) * math.sqrt(2)
    assert found["limit"] == pytest.approx(limit, rel=1e-9)
    assert found["kept_by_luck"] == pytest.approx(1 / 2 + 1 / 3 + 1 / 4 + 1 / 5)
    assert [each["name"] for each in found["above"]] == ["28c91c1"]
    assert found["above"][0]["gain"] == pytest.approx(0.017869)
    assert [each["name"] for each in found["run_again"]] == ["5980576"]


def test_luck_gives_one_above_the_limit_in_few_loops() -> None:
    """At most 5 % of loops without any effect, the baseline of ten runs drawn anew for each."""
    rng = np.random.default_rng(6)
    wrong = 0
    for _ in range(2_000):
        floor = NoiseFloor(10, float(rng.standard_normal(10).std(ddof=1)))
        values = rng.standard_normal(51)
        best = np.minimum.accumulate(values)
        log = [Experiment("0", float(values[0]), "kept")]
        for n in range(1, 51):
            kept = values[n] < best[n - 1]
            log.append(Experiment(str(n), float(values[n]), "kept" if kept else "not kept"))
        wrong += bool(loop_of(log, floor, "lower").real)
    assert wrong / 2_000 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2_000)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("commit\tval_bpb\nabc\t1.2\n", "no column says what became"),
        ("commit\tloss\tstatus\nabc\t1.2\tkeep\n", "--measure NAME"),
        ("commit\tval_bpb\tstatus\nabc\t1.2\tdiscard\n", "no experiment was kept"),
        ("commit\tval_bpb\tstatus\nabc\t1.2\n", "row 2 has 2 cells, and the header 3"),
        ("", "it has no rows"),
        ("commit\tval_bpb\tstatus\na\t1.3\tkeep\nb\t1,2\tkeep\n", "'1,2' was kept, and is not"),
        ("commit\tval_bpb\tstatus\n\na\t1.3\tkeep\n \nb\tx\tkeep\n", "row 5: 'x' was kept"),
        ("commit\tval_bpb\tstatus\n\n\nabc\t1.2\n", "row 4 has 2 cells, and the header 3"),
        ('id,val_bpb,status\n\na,1.3,keep\n"b,1.2,keep\n', "row 4: a quote inside a cell, or one"),
    ],
)
def test_a_log_that_says_too_little_is_refused(log: str, words: str) -> None:
    Path("results.tsv").write_text(log)
    done = repro("noise", "baseline.csv", "--log", "results.tsv", "--better", "lower")
    assert (done.returncode, words in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("seed,val_bpb\n0,1.2\n1,1.3\n", "2 runs with a value: too few"),
        ("seed,val_bpb\n0,1.2\n1,1.2\n2,1.2\n", "their scatter is below their last digit"),
        ("arm,seed,loss\na,0,1\na,1,2\na,2,4\nb,0,1\nb,1,3\nb,2,2\n", "several arms"),
    ],
)
def test_a_baseline_that_says_nothing_is_refused(table: str, words: str) -> None:
    Path("baseline.csv").write_text(table)
    done = repro("noise", "baseline.csv")
    assert (done.returncode, words in done.stderr) == (2, True)
    assert "to do: " in done.stderr


def test_compare_leads_from_the_log_of_a_loop_to_noise() -> None:
    Path("results.tsv").write_text(LOG.replace('"', ""))
    done = repro("compare", "results.tsv", "--better", "lower")
    assert (done.returncode, "repro noise BASELINE --log results.tsv" in done.stderr) == (2, True)


def test_a_log_of_json_lines_is_read_as_its_table() -> None:
    rows = [("22.1", "KEEP"), ("22.4", "DISCARD"), ("21.0", "KEEP"), ("", "CRASH")]
    Path("loop.tsv").write_text("loss\tstatus\n" + "\n".join(map("\t".join, rows)))
    lines = (json.dumps({"loss": float(x) if x else None, "status": word}) for x, word in rows)
    Path("loop.jsonl").write_text("\n".join(lines))
    Path("base.csv").write_text(
        "seed,loss\n" + "".join(f"{n},{22 + n % 3 / 10}\n" for n in range(8))
    )
    told = [
        repro("noise", "base.csv", "--log", f"loop.{end}", "--better", "lower")
        for end in ("tsv", "jsonl")
    ]
    assert told[0].returncode == 0, told[0].stderr
    assert told[0].stdout.replace("row 4 (", "row 3 (") == told[1].stdout, told[1].stderr


def test_rows_with_too_many_cells_are_counted() -> None:
    Path("loop.tsv").write_text("loss\tstatus\n22\tkeep\n" + "21\tkeep\tx\n" * 3)
    Path("base.csv").write_text(
        "seed,loss\n" + "".join(f"{n},{22 + n % 3 / 10}\n" for n in range(8))
    )
    done = repro("noise", "base.csv", "--log", "loop.tsv", "--better", "lower")
    assert "3 of 4 rows have another number of cells" in done.stderr
    done = repro("compare", "loop.tsv", "--better", "lower")
    assert "line 3 has 3 cells, and the header 2, and 2 more lines" in done.stderr


def test_names_that_repeat_lose_no_gain() -> None:
    """And a header is what the baseline calls it, in any case."""
    Path("baseline.csv").write_text(Path("baseline.csv").read_text().replace("val_bpb", "Val_BPB"))
    rows = "".join(f"-\t{value}\tkeep\n" for value in (1.3, 1.28, 1.2799))
    Path("results.tsv").write_text(f"Commit\tVal_BPB\tStatus\n{rows}")
    done = repro("noise", "baseline.csv", "--log", "results.tsv", "--better", "lower", "--json")
    found = json.loads(done.stdout)["loop"]
    assert (found["kept"], len(found["above"]), len(found["run_again"])) == (2, 1, 1)


def test_a_value_of_zero_is_one_where_it_was_kept() -> None:
    """Of an error that reached 0 the rest are read as they stand."""
    Path("results.tsv").write_text("id\terr\tstatus\na\t2\tkeep\nb\t0\tkeep\nc\t0\tdiscard\n")
    assert [each.value for each in read_loop(Path("results.tsv"), "err")[0]] == [2, 0, 0]


@pytest.mark.parametrize("separator", ["\t", ","])
def test_rows_of_a_log_are_numbered_as_its_lines_are(separator: str) -> None:
    rows = ("val_bpb status", "", "2 keep", "  ", "1 keep", "")
    Path("results.log").write_text(
        "\n".join(rows).replace(" ", separator).replace(separator * 2, "")
    )
    found, _ = read_loop(Path("results.log"), "val_bpb")
    assert [each.name for each in found] == ["row 3", "row 5"]


def test_quotes_in_a_csv_log_belong_to_its_cells() -> None:
    """A comma inside them separates nothing, and two of them are one."""
    rows = 'id,loss,status,why\na,2,keep,"more, ""better"""\nb,1,discard,\n'
    Path("results.csv").write_text(rows)
    assert [each.value for each in read_loop(Path("results.csv"), "loss")[0]] == [2, 1]


def test_rows_with_another_status_are_left_out_and_named() -> None:
    Path("results.tsv").write_text(LOG + "aaaaaaa\t1.1\t0.0\tsupport\ta run that helps another\n")
    done = repro("noise", "baseline.csv", "--log", "results.tsv", "--better", "lower")
    assert "left out, neither kept nor discarded: 1 row with the status support" in done.stdout
    assert "research loop: 6 experiments after the first, 3 kept" in done.stdout


def test_a_baseline_in_the_first_row_is_what_the_rest_is_compared_with() -> None:
    """It is no experiment that was tried; one of a later row is left out, and named."""
    words = ("baseline", "keep", "discard", "new_best", "baseline", "tentative", "success")
    values = (5.62, 5.72, 5.6, 5.8, 5.61, 5.9, 5.7)
    rows = [
        f"{n}\t{value}\t{word}" for n, (value, word) in enumerate(zip(values, words, strict=True))
    ]
    Path("log.tsv").write_text("\n".join(("experiment\ttok\tstatus", *rows)) + "\n")
    found, said = read_loop(Path("log.tsv"), "tok")
    assert [(each.name, each.fate) for each in found] == [
        *(("0", "kept"), ("1", "kept"), ("2", "not kept"), ("3", "kept")),
    ]
    assert "3 rows with the status baseline, tentative, success" in said[0]


def test_a_log_in_another_direction_or_of_another_baseline_is_told() -> None:
    done = repro("noise", "baseline.csv", "--log", "results.tsv", "--better", "higher")
    assert (
        "all that was kept is worse than the first experiment: check the direction" in done.stdout
    )
    unlike = "the first experiment of the log has 1.285, and the mean of the baseline is 1.266"
    assert unlike in done.stdout
    Path("results.tsv").write_text(LOG.replace("1.285372", "1.266100"))
    done = repro("noise", "baseline.csv", "--log", "results.tsv", "--better", "lower")
    assert "caution" not in done.stdout


def test_a_table_with_two_numbers_of_each_seed_asks_for_one() -> None:
    rows = [f"{n},{0.9 + n / 100},{0.3 - n / 50}" for n in range(5)]
    Path("two.csv").write_text("\n".join(("seed,acc,loss", *rows)))
    done = repro("noise", "two.csv")
    assert (done.returncode, "name it, as in --measure acc" in done.stderr) == (2, True)
    assert repro("noise", "two.csv", "--measure", "loss").returncode == 0


@pytest.mark.parametrize(
    ("log", "kept", "crashed"),
    [
        ("experiment,val_bpb,accepted\nbase,1.27,1\nx,1.29,0\ny,1.265,1\n", ["y"], 0),
        ("trial,val_bpb,accepted\nbase,1.27,True\nx,1.29,False\ny,1.2,True\n", ["y"], 0),
        ("trial,val_bpb,status,kept\n0,1.27,ok,yes\n1,1.29,ok,no\n2,1.2,ok,yes\n", ["2"], 0),
        ("sha,val_bpb,improved,status\na,1.3,1,keep\nb,1.2,1,discard\nc,1.1,1,keep\n", ["c"], 0),
        ("sha,val_bpb,status\na,1.3,keep\nb,-999,discard\nc,-1,crash\nd,1.1,keep\n", ["d"], 2),
        ("val_bpb,status\n1.3,keep\n1.2,keep\n", ["row 3"], 0),
        ("sha,val_bpb,status\na,-998.2,keep\nb,-999,keep\nc,-997,discard\n", ["b"], 0),
    ],
)
def test_what_was_kept_is_read(log: str, kept: list[str], crashed: int) -> None:
    """Decisions as 1 and 0 or yes and no; -999 among small numbers stands for none."""
    Path("log.csv").write_text(log)
    found, _ = read_loop(Path("log.csv"), "val_bpb")
    assert [each.name for each in found if each.fate == "kept"][1:] == kept
    assert sum(each.fate == "crashed" for each in found) == crashed
