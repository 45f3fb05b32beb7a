"""The claims about the speedruns are what their script makes, and their page is right."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import nct, norm, ttest_1samp
from scipy.stats import t as student

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "claims" / "speedruns"


def script(folder: Path, name: str) -> ModuleType:
    """A script of the repository, which is in no package."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


make = script(FOLDER, "make")
read_logs = script(FOLDER, "read_logs")
speedruns = script(ROOT / "docs", "speedruns")


def test_the_claim_files_are_what_the_script_makes() -> None:
    """No file more, no file less."""
    made = make.files()
    assert made.keys() == set(FOLDER.rglob("*.claim.yaml"))
    changed = [path.name for path, text in made.items() if path.read_text("utf-8") != text]
    assert changed == [], "run: python claims/speedruns/make.py"


def test_every_set_of_three_runs_has_a_claim_or_a_reason() -> None:
    """A claim has at least three runs, and three runs of the first and third track a claim."""
    have = {(each["track"], each["record"], each["step"]) for each in make.read("records.csv")}
    enough = {each for each, n in make.sets().items() if n >= make.LEAST}
    left_out = {each for each in enough if each[1] in make.LEFT_OUT}
    loose = {each for each in enough if each[:2] == ("track_3", "")}
    assert have == enough - left_out - loose
    assert {record for _, record, _ in left_out} == set(make.LEFT_OUT)


def test_no_folder_of_the_second_track_has_three_logs_of_one_length() -> None:
    """As the page says."""
    runs = make.read("track_2/runs.csv")
    assert max(Counter((run["record"], run["step"]) for run in runs).values()) < make.LEAST


def test_the_files_are_small() -> None:
    """Facts in numbers, and short claims about them: below 300 KB in all."""
    files = [path for path in FOLDER.rglob("*.*") if "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files if path.is_file()) < 300_000


def losses(identity: str) -> list[float]:
    """The losses of the runs that a claim is about."""
    (record,) = (each for each in make.read("records.csv") if each["id"] == identity)
    return [
        float(run["val_loss"])
        for run in make.read(f"{record['track']}/runs.csv")
        if (run["record"], run["step"]) == (record["record"], record["step"])
    ]


# What the READMEs in the folders of the records print: the p of ttest_1samp(losses, 3.28, "less").
PRINTED = {
    "speedrun_48": "0.0024",
    "speedrun_48_baseline_2160": "0.0632",
    "speedrun_72": "0.0001",
    "speedrun_85": "4.53e-04",
    "speedrun_85_this_pr_v1_1335": "8.15e-06",
    "speedrun_85_this_pr_v2_1325": "7.76e-05",
    "speedrun_85_xsa_baseline_s1335": "1.00e+00",
    "speedrun_85_xsa_baseline_s1385": "2.17e-03",
}


@pytest.mark.parametrize("identity", PRINTED)
def test_p_is_what_the_submitters_printed(identity: str) -> None:
    """They computed it with scipy, on their own lists of losses."""
    printed = PRINTED[identity]
    found = ttest_1samp(losses(identity), make.TARGET, alternative="less").pvalue
    assert f"{found:.2e}" == printed if "e" in printed else f"{found:.4f}" == printed


def one_sided(identity: str) -> tuple[float, float]:
    """The p of a mean below the target, and of one above it, by the rule of the track."""
    found = losses(identity)
    if identity.startswith("speedrun"):
        less = ttest_1samp(found, make.TARGET, alternative="less").pvalue
        greater = ttest_1samp(found, make.TARGET, alternative="greater").pvalue
        return float(less), float(greater)
    z = (np.mean(found) - make.TARGET) / (0.0013 / np.sqrt(len(found)))
    return float(norm.cdf(z)), float(norm.sf(z))


def test_verdicts_are_those_of_scipy() -> None:
    """A set of runs stands where the one-sided p is below the level of its track's rule."""
    verdicts = {row.record["id"]: row.verdict for row in speedruns.rows()}
    assert len(verdicts) == len(make.read("records.csv"))
    for identity, verdict in verdicts.items():
        alpha = 0.01 if identity.startswith("speedrun") else 0.001
        less, greater = one_sided(identity)
        expected = "CONFIRMED" if less < alpha else "INCONCLUSIVE"
        assert verdict == ("CONTRADICTED" if greater < alpha else expected), identity


def test_the_rule_of_the_third_track_is_that_of_its_history() -> None:
    """Every result there was accepted by its formula, and is CONFIRMED; no further runs are."""
    shown = [row for row in speedruns.rows() if row.record["track"] == "track_3"]
    assert Counter(row.record["role"] for row in shown if row.z_rule) == {"record": 30}
    assert [row.verdict == "CONFIRMED" for row in shown] == [row.z_rule for row in shown]


def test_no_run_is_in_two_sets() -> None:
    """A log is read at one step."""
    for track in ("track_1", "track_2", "track_3"):
        runs = make.read(f"{track}/runs.csv")
        logs = Counter((run["record"], run["log"]) for run in runs if run["record"])
        assert [log for log, n in logs.items() if n > 1] == []


def test_seeds_of_a_record_are_in_their_order() -> None:
    """And not in that of their losses."""
    runs = [run for run in make.read("track_3/runs.csv") if "trustlight" in run["record"]]
    assert [run["log"] for run in runs] == [f"seed_{n}/stdout" for n in range(8)]
    assert [run["run"] for run in runs] == [str(n) for n in range(8)]


def test_what_was_left_out_is_said_on_the_page() -> None:
    """Every text file of the folders is a run, or is named with its reason."""
    left_out = make.read("left_out.csv")
    assert all(each["why"] for each in left_out)
    said = speedruns.left_out()
    assert f"{len(left_out)} other text files" in said


def test_an_e_value_is_a_ratio_of_likelihoods() -> None:
    """The mixture of noncentral t densities over the positive half of a normal prior, by scipy."""
    row = next(row for row in speedruns.rows() if row.record["id"] == "speedrun_34")
    n = len(row.losses)
    t = -ttest_1samp(row.losses, make.TARGET).statistic
    prior = np.linspace(0, 10, 4001)
    density = nct.pdf(t, n - 1, prior * np.sqrt(n)) * 2 * norm.pdf(prior)
    assert row.e == pytest.approx(trapezoid(density, prior) / student.pdf(t, n - 1), rel=1e-4)


OTHER_MEAN = {"optimizer_08": 3.27798}
"""Where the README prints another mean, 3.2778: that of the logs."""


def printed_results() -> list[dict[str, str]]:
    """Results of the third track whose README prints a mean and a number of runs."""
    return [record for record in make.read("records.csv") if record["printed"]]


def test_means_of_the_third_track_are_what_its_readme_prints() -> None:
    """At the declared number of steps, to the four digits that are printed."""
    results = printed_results()
    assert len(results) == 30
    for record in results:
        mean, n = record["printed"].removesuffix(")").split(" (n=")
        found = losses(record["id"])
        assert len(found) == int(n), record["id"]
        expected = OTHER_MEAN.get(record["id"], float(mean))
        assert np.mean(found) == pytest.approx(expected, abs=0.0001), record["id"]


LOG = """step:2975/3000 val_loss:3.29100 train_time:100ms step_avg:1ms
step:2990/3000 val_loss:3.28100 train_time:200ms step_avg:1ms
step:3000/3000 val_loss:3.27500 train_time:300ms step_avg:1ms
"""


@pytest.mark.parametrize(
    ("text", "declared", "expected"),
    [
        (LOG, None, (3000, "3.27500", "300")),
        (LOG, 2990, (2990, "3.28100", "200")),
        (LOG, 2995, "no loss at the declared step 2995"),
        (LOG.rsplit("step:3000", 1)[0], 2990, (2990, "3.28100", "200")),
        (LOG.rsplit("step:3000", 1)[0], None, "ends at step 2990 of 3000"),
        ("step:7/7 val_loss:3.3000 train_time:1.5s\n", None, (7, "3.3000", "")),
        ("step:7/7 val_loss:nan train_time:15ms\n", None, (7, "nan", "15")),
        ("step:7/7 val_loss:-inf train_time:15ms\n", 7, (7, "nan", "15")),
        ("no loss in it", None, "no line with a val_loss"),
    ],
    ids=[
        *("end", "declared", "not there", "stopped after it", "stopped", "seconds"),
        *("diverged", "infinite", "none"),
    ],
)
def test_a_log_gives_its_loss_at_the_end_or_at_the_declared_step(
    text: str, declared: int | None, expected: tuple[int, str, str] | str
) -> None:
    """A run that did not come to its end counts only by a step that was declared, or says why."""
    assert read_logs.loss(text, "a_record", declared) == expected


def test_a_record_of_averaged_weights_has_their_loss() -> None:
    """Its log gives three losses in a line."""
    line = "step:9/9 val_loss:3.27927 val_avg_loss:3.27926 val_ema_loss:3.27629 train_time:10.5s"
    assert read_logs.loss(line, "20260619_cwd_rowfloor_tailema", None) == (9, "3.27629", "")
    assert read_logs.loss(line, "another", None) == (9, "3.27927", "")


@pytest.mark.parametrize(
    ("record", "log", "part"),
    [
        ("2026-04-08_PairedHeadMuon/logs", "split_qk0-1480.txt", "/split_qk"),
        ("2026-04-08_PairedHeadMuon/logs", "baseline7-1480.txt", "/baseline"),
        ("2025-12-11_NorMuonOptimsAndFixes", "NorMuon Fixes and PreMul-O - 06113.txt", ""),
        ("2025-12-11_NorMuonOptimsAndFixes", "82edf6be-f343.txt", "/baseline"),
        ("2025-09-18_Smear", "18a1e5c7.txt", ""),
    ],
)
def test_a_folder_of_several_programs_has_a_part_for_each(record: str, log: str, part: str) -> None:
    """By the names of the logs."""
    assert read_logs.part(record, log) == record + part


def test_seeds_in_folders_of_their_own_are_one_record() -> None:
    """Their numbers stay in the names of the logs, and order them."""
    assert read_logs.split("result/seed_3/stdout.txt") == ("result", "seed_3/stdout")
    assert read_logs.split("result/18a1e5c7-1111-2222-3333-123456789abc.txt") == (
        "result",
        "18a1e5c7",
    )
    logs = [read_logs.Run("result", f"seed_{n}/stdout", 9, "3.28", "") for n in (10, 2, 0)]
    assert [run.log for run in sorted(logs, key=read_logs.order)] == [
        "seed_0/stdout",
        "seed_2/stdout",
        "seed_10/stdout",
    ]


@pytest.mark.parametrize("log", ["seed_0/final_val_loss", "fake_log_from_seed0", "seed1_stdout"])
def test_a_file_that_repeats_a_log_is_no_run(log: str) -> None:
    assert read_logs.read(LOG, "result", log, 3000).why == "repeats other files"
    assert read_logs.read(LOG, "result", "seed_0/stdout", 3000).val_loss == "3.27500"
