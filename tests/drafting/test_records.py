"""`repro compare` of a record: a folder of logs against a limit, as it lies in its repository.

The values are those of runs of KellerJordan/modded-nanogpt at commit f411b3d, in
claims/speedruns/track_1/runs.csv; what they come to was computed apart, by scipy.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from subprocess import CompletedProcess

import pytest
from scipy.stats import norm, ttest_1samp, ttest_ind
from scipy.stats import t as student

from repro.judging.document import Document
from repro.report.write import read_document
from repro.schema import numbers as fmt
from repro.stats.anytime import one_sided_e_value
from tests.commands import repro as command

ROOT = Path(__file__).parents[2]
SOURCE = "import torch\nval_loss = 0.0\nprint(f'val_loss:{val_loss:.4f}')\n" + "=" * 100 + "\n"

FA3 = (3.2755, 3.2771, 3.276, 3.2766, 3.2778, 3.2774, 3.278)
"""Record 29, `2025-09-03_FA3`."""


def log(value: object, step: int = 1670, source: str = SOURCE, ms: int = 90) -> str:
    """As modded-nanogpt writes it: the source, the machine, and a line for every 125 steps."""
    lines = [
        f"step:{at}/{step} val_loss:{10 - at / 400:.4f} train_time:{at * ms}ms" for at in (0, 125)
    ]
    last = f"step:{step}/{step} val_loss:{value} train_time:{step * ms}ms step_avg:90.02ms"
    return "\n".join(
        [source + "Running Python 3.12", "=" * 100, *lines, last, "peak memory: 3 MiB"]
    )


def record(values: Sequence[object], folder: str = "fa3", name: str = "{}", **more: object) -> str:
    Path(folder).mkdir(parents=True, exist_ok=True)
    for place, value in enumerate(values):
        Path(folder, f"{name.format(place)}.txt").write_text(log(value, ms=90 + place, **more))  # type: ignore[arg-type]
    return folder


def repro(*arguments: object) -> CompletedProcess[str]:
    return command(*(each if isinstance(each, Path) else str(each) for each in arguments))


def said(result: CompletedProcess[str]) -> str:
    return result.stdout + result.stderr


def plain(text: str) -> str:
    return text.replace(fmt.NO_BREAK, " ").replace("\\", "")


def document(claim: str) -> Document:
    return read_document(Path("reports", claim, "declared", "report.json"))


def test_the_verdict_on_a_record_is_that_of_its_rule() -> None:
    """p of Student's one-sided test, at the level that was asked for; the source has no value."""
    result = repro("compare", record(FA3), "--at-most", 3.28, "--alpha", 0.01)
    assert result.returncode == 0, said(result)
    assert "7 logs of fa3, the last 'val_loss' of each, at step 1670/1670" in said(result)
    (test,) = document("fa3_at_most").results
    assert test.p == pytest.approx(ttest_1samp(FA3, 3.28, alternative="less").pvalue, rel=1e-9)
    assert (test.conclusion, test.alpha) == ("CONFIRMED", 0.01)
    told = "the e-value, valid however one stops if values are about normal, is 245 and decides"
    assert f"{told} (100 is needed)" in said(result)


def test_every_record_of_a_track_is_read_as_its_claim_reads_it() -> None:
    """Each set of runs of one length, written as logs."""
    sets: dict[tuple[str, str], list[str]] = {}
    with (ROOT / "claims/speedruns/track_1/runs.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            sets.setdefault((row["record"], row["step"]), []).append(row["val_loss"])
    chosen = [each for each in sorted(sets.items()) if len(each[1]) > 2][::9]
    assert len(chosen) > 8
    for number, ((_, step), values) in enumerate(chosen):
        folder = record(values, f"r{number}", step=int(step))
        repro("compare", folder, "--at-most", 3.28, "--alpha", 0.01)
        losses = [*map(float, values)]
        (found,) = document(f"r{number}_at_most").results
        assert found.p == pytest.approx(
            ttest_1samp(losses, 3.28, alternative="less").pvalue, rel=1e-6
        )


def test_a_known_standard_deviation_makes_it_a_z_test() -> None:
    """Track 3: the mean is to be 0.004 / sqrt(n) below the target."""
    args = ("--at-most", 3.28, "--alpha", 0.001, "--sd", 0.0013)
    result = repro("compare", record(FA3), *args, "--why", "rule 3 assumes it")
    (found,) = document("fa3_at_most").results
    z = (sum(FA3) / 7 - 3.28) / (0.0013 / 7**0.5)
    assert found.p == pytest.approx(norm.cdf(z), rel=1e-9)
    assert "rule 3 assumes it" in Path("fa3_at_most.claim.yaml").read_text()
    result = repro("compare", "fa3", *args)
    assert (result.returncode, "--why" in said(result)) == (2, True)


def test_what_looking_does_is_said_of_this_number_of_runs() -> None:
    """By the simulation that gives 4.9 % for 4 to 20 runs; not where one look was possible."""
    told = repro("compare", record(FA3), "--at-most", 3.28, "--alpha", 0.01).stdout
    share = told.split("records exactly at the limit")[0]
    assert 2.7 < float(share.rpartition("in ")[2].rstrip("% of\N{NO-BREAK SPACE}")) < 3.5
    few = repro("compare", record(FA3[:3], "few"), "--at-most", 3.28, "--alpha", 0.01).stdout
    assert "stopping" not in few
    assert "the e-value" in few


def test_a_block_for_the_pull_request_has_all_that_a_referee_needs() -> None:
    Path("fa3/old_logs").mkdir(parents=True)
    Path("fa3/old_logs/1.txt").write_text(log(3.3))
    result = repro("compare", record(FA3), "--at-most", 3.28, "--alpha", 0.01, "--markdown")
    block = result.stdout
    assert block.startswith("**fa3 has a mean val\\_loss of at most 3.28: VALID, CONFIRMED.** ")
    assert "- exploratory: not declared beforehand\n" in block
    assert "| fa3 | val\\_loss | 7 | 3.27691 | 3.27606 to 3.27777 | 0.00093 |" in block
    assert "3.2755, 3.2771, 3.276, 3.2766, 3.2778, 3.2774, 3.278" in block
    assert "not used, logs in folders below: old\\_logs (1)" in block
    assert "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}6.0e" in block
    assert "stopping: had somebody looked" in block
    assert "- verify it again: `repro compare fa3 --at-most 3.28 --alpha 0.01`\n" in block


def test_the_page_for_referees_says_what_is_said() -> None:
    """The command and the lines of the page, on the record that it is about."""
    page = (ROOT / "docs/how-to/judge-a-record.md").read_text("utf-8")
    (line,) = re.findall(r"^\$ repro (compare .*)$", page, re.MULTILINE)
    (told,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    record(FA3, "records/fa3")
    result = repro(*line.split())
    assert result.returncode == 0
    assert {*told.splitlines()} <= {*said(result).splitlines()}


def test_an_improvement_on_another_record_is_one_sided_by_a_margin() -> None:
    """Slowruns and parameter-golf: better than the record before by 0.005, at 1 %."""
    base = [round(value + 0.0071, 5) for value in reversed(FA3)]
    args = ("--better", "lower", "--by", 0.005, "--alpha", 0.01)
    result = repro("compare", record(FA3), "--against", record(base, "before"), *args)
    found = document("fa3_vs_before").results[0]
    assert found.interval is not None
    expected = ttest_ind(FA3, base, equal_var=False).confidence_interval(0.98)
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(expected), rel=1e-6)
    assert found.conclusion == "CONFIRMED", said(result)


def test_what_looking_does_is_said_of_a_record_against_another() -> None:
    """The e-value of Welch's t against the margin; of pairs, of their differences."""
    base = (3.2821, 3.2835, 3.2827, 3.2841, 3.2829)
    args = ("--against", record(base, "before"), "--better", "lower", "--alpha", 0.01)
    told = said(repro("compare", record(FA3), *args, "--by", 0.005))
    test = ttest_ind([each - 0.005 for each in base], FA3, equal_var=False)
    e = one_sided_e_value(test.statistic, 7, 5, df=test.df)
    assert "p < 0.01 would come by chance in 2.0% (equal scatter; " in told
    assert "of records that are better by exactly 0.005, with up to 7 runs; the e-value" in told
    allowed = (
        f"if values are about normal, is {fmt.significant(float(e))} and does not decide (100 "
    )
    assert f"however one stops {allowed}" in told
    paired = said(repro("compare", record(FA3[:5], "new"), *args, "--paired"))
    assert "% of records that are no better, with up to 5 runs; the e-value, valid" in paired
    assert "equal scatter" not in paired
    few = said(repro("compare", record(FA3[:3], "few"), *args))
    assert "stopping" not in few
    assert "the e-value" in few


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {"a/1": log(1), "a/2": log(1), "b/1": log(1), "b/2": log(1)},
            "several folders: a (2), b (2)",
        ),
        ({"1": log(1), "2": log(1), "3": log(1, 1705)}, "--step 1670"),
        ({"s1_seed7": log(1), "s2_seed7": log(2), "s3_seed8": log(3)}, "2 logs are of seed 7"),
        ({"1": "val_loss:1 val_bpb:2", "2": "val_loss:1 val_bpb:2"}, "--measure val_bpb"),
        ({"1": "val_loss:3,27", "2": "val_loss:3,28"}, "no number can be read in 'val_loss:3,27'"),
        ({"1": "nothing", "2": SOURCE}, "in none of its logs stands a number"),
        ({"1": "a val_loss:1", "2": "b val_loss:1", "3": "a val_loss:2"}, "do not end alike"),
        ({"1": log(3.2), "2": log(3.1)}, "which cannot decide"),
        (
            {"1": log(1), "2": log(2), "new - 06113": log(3), "new - 6c4e0": log(4)},
            "no word (2), new (2)",
        ),
    ],
)
def test_what_may_mean_several_things_is_refused_with_the_way_out(
    files: dict[str, str], words: str
) -> None:
    for name, text in files.items():
        Path("record", name).parent.mkdir(parents=True, exist_ok=True)
        Path("record", f"{name}.txt").write_text(text)
    result = repro("compare", "record", "--at-most", 3.28)
    assert result.returncode == 2
    assert words in said(result)
    assert "to do: " in said(result)


def test_the_step_that_counts_tells_programs_apart() -> None:
    """And what is left out for it is named, with the sources that are left."""
    record(FA3)
    record((3.3, 3.4), "fa3", "other_{}", step=1705)
    result = repro("compare", "fa3", "--at-most", 3.28, "--step", 1670)
    assert "left out, without step 1670: 2 logs (other_0.txt, other_1.txt)" in said(result)
    assert len(document("fa3_at_most").arms[0].replicates) == 7
    Path("fa3/0.txt").write_text(log(3.2755, source="import jax\n" + SOURCE))
    result = repro("compare", "fa3", "--at-most", 3.28, "--step", 1670)
    doubt = "not one program: the logs hold 2 different sources (6 + 1 logs)"
    pasted = repro(
        "compare", "fa3", "--at-most", 3.28, "--step", 1670, "--markdown", "--alpha", 0.3
    )
    assert pasted.stdout.count(f"- {doubt}") == 1
    assert "(3.33 is needed)" in plain(pasted.stdout)
    assert doubt in said(result)
    assert doubt in str(document("fa3_at_most").claim.source)
    assert doubt in Path("reports/fa3_at_most/declared/report.html").read_text()


def test_a_log_that_repeats_another_counts_once() -> None:
    """`train.log` next to `train_seed1337.log`; equal last values alone do not make a copy."""
    record(FA3, name="train_seed{}")
    Path("fa3/train.log").write_text(Path("fa3/train_seed2.txt").read_text())
    result = repro("compare", "fa3", "--at-most", 3.28)
    assert "left out: train.log repeats train_seed2.txt" in said(result)
    assert [each.number for each in document("fa3_at_most").arms[0].replicates] == [*range(7)]


def test_logs_that_repeat_one_are_named_where_too_few_are_left() -> None:
    for place in range(4):
        record((3.2755,), "same", f"{place}{{}}")
        Path("same", f"{place}0.txt").write_text(
            "".join(f"step:{n}/5 val_loss:{4 - n / 7:.3f} time:{n * place}ms\n" for n in range(6))
        )
    result = repro("compare", "same", "--at-most", 3.28)
    assert (result.returncode, "read: left out: 10.txt repeats 00.txt" in said(result)) == (2, True)


def test_logs_that_all_end_before_their_last_step_name_it() -> None:
    """Nothing is taken unasked; the step that is named is judged."""
    record(FA3)
    for place in range(7):
        file = Path(f"fa3/{place}.txt")
        file.write_text(file.read_text().replace("step:1670/1670", "step:1670/1700"))
    result = repro("compare", "fa3", "--at-most", 3.28)
    words = "every log ends before its last step: the last value is at step 1670/1700 in 7 logs"
    assert (result.returncode, words in said(result)) == (2, True), said(result)
    assert "to do: say which step counts, as in --step 1670" in said(result)
    result = repro("compare", "fa3", "--at-most", 3.28, "--step", 17)
    assert "no log has a value at step 17: the last value is at step 1670/1700" in said(result)
    assert repro("compare", "fa3", "--at-most", 3.28, "--step", 1670).returncode == 0


def test_a_text_that_is_unlike_the_logs_is_not_a_missing_run() -> None:
    """But one with a name or a line like theirs is; folders of folders below are counted."""
    record(FA3, name="run_{}")
    for seed in range(8):
        record((3.27,), f"fa3/idea/seed_{seed}")
    Path("fa3/metadata.txt").write_text("device=h100\nsteps=1000\n")
    result = repro("compare", "fa3", "--at-most", 3.28)
    assert "not used, unlike the logs: metadata.txt" in said(result)
    assert "not used, logs in folders below: 8 folders in idea" in said(result)
    assert len(document("fa3_at_most").arms[0].replicates) == 7
    Path("fa3/metadata.txt").write_text(SOURCE)
    assert "fa3 7 (and 1 missing)" in said(repro("compare", "fa3", "--at-most", 3.28))


def test_of_folders_per_seed_the_log_with_the_most_values_is_read() -> None:
    for seed, value in enumerate(FA3):
        folder = record((value,), f"fa3/seed_{seed}", "stdout")
        Path(folder, "final.txt").write_text(f"step:1670/1670 val_loss:{value}\n")
        Path(folder, "metadata.txt").write_text("device=h100\n")
    result = repro("compare", "fa3", "--at-most", 3.28)
    words = "stdout.txt in each of 7 folders; not used there: final.txt, metadata.txt"
    assert words in said(result)
    replicates = document("fa3_at_most").arms[0].replicates
    values = [next(iter(each.values.values())) for each in replicates]
    assert values == [*FA3]


def test_old_logs_next_to_folders_per_seed_are_named_and_not_used() -> None:
    for seed, value in enumerate(FA3):
        record((value,), f"fa3/seed_{seed}", "train")
    record((3.3, 3.31), "fa3/old_logs")
    result = repro("compare", "fa3", "--at-most", 3.28)
    assert "a log in each of 7 folders" in said(result)
    assert "not used, logs in folders below: old_logs (2)" in said(result)
    assert "fa3 7\n" in said(result)


@pytest.mark.parametrize("name", ["lr0.{}", "d1{}", "{}24M"])
def test_folders_of_settings_are_not_the_runs_of_one_record(name: str) -> None:
    for place, value in enumerate(FA3[:3], 1):
        record((value,), f"sweep/{name.format(place)}", "train")
    result = repro("compare", "sweep", "--at-most", 3.28)
    assert (result.returncode, "lie in several folders" in said(result)) == (2, True)


@pytest.mark.parametrize("name", ["seed_{}", "{}", "adam_{}", "2025-01-02_run{}"])
def test_folders_that_count_are_the_runs_of_one_record(name: str) -> None:
    for place, value in enumerate(FA3):
        record((value,), f"fa3/{name.format(place)}", "train")
    assert "a log in each of 7 folders" in said(repro("compare", "fa3", "--at-most", 3.28))


@pytest.mark.parametrize("form", ["train{}", "run_{}", "seed ({})"])
def test_a_folder_without_a_number_is_the_first_run_of_a_record(form: str) -> None:
    values = (3.29, *FA3[:4])
    for place, value in enumerate(values):
        name = form.format(place + 1) if place else re.sub(r"\W*_?\W*$", "", form.format(""))
        record([value], f"r/{name}")
    result = repro("compare", "r", "--at-most", 3.28)
    p = ttest_1samp(values, 3.28, alternative="less").pvalue
    assert document("r_at_most").results[0].p == pytest.approx(p, rel=1e-9), said(result)


def test_a_run_that_diverged_is_not_left_out_silently() -> None:
    result = repro("compare", record((*FA3, "nan")), "--at-most", 3.28)
    assert "fa3 7 (and 1 diverged)" in said(result)
    assert document("fa3_at_most").verdict.validity == "INVALID"


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("val_loss: 3.31.", "VALID, NOT-TESTED"),
        ("val_loss: 3.2776eval", "no number can be read"),
        ("val_loss: 3_277", "no number can be read"),
        ("val_loss: None", "no number can be read"),
        ("val_loss:3.9 " + "x" * 3000, "VALID, NOT-TESTED"),
        ("step:1700/1700 VAL done", "VALID, CONFIRMED"),
    ],
)
def test_the_last_value_is_read_or_refused_and_none_before_it(last: str, words: str) -> None:
    record(FA3)
    for place, value in enumerate(FA3):
        Path("fa3", f"{place}.txt").write_text(log(value, ms=place) + f"\n{last}\n")
    assert words in said(repro("compare", "fa3", "--at-most", 3.28))


@pytest.mark.parametrize(
    ("early", "word"),
    [
        ("step:500/1670 val_loss:3.9", "INCOMPLETE"),
        ("step:500/1670 val_loss:nan", "INVALID"),
        ("CUDA out of memory", "INCOMPLETE"),
        ("", "INCOMPLETE"),
    ],
)
@pytest.mark.parametrize("step", [(), ("--step", 1670)])
def test_a_run_that_ended_early_is_not_left_out(
    early: str, word: str, step: tuple[object, ...]
) -> None:
    """Nor by the step, which is how the message of other programs leads on."""
    Path(record(FA3), "7.txt").write_text(early)
    repro("compare", "fa3", "--at-most", 3.28, *step)
    assert document("fa3_at_most").verdict.validity == word


@pytest.mark.parametrize(
    "line", ["iter {}: val_loss 3.27{}", "Step {}/{} val_loss:3.2", "epoch={} val_loss=3.2{}"]
)
def test_runs_of_other_lengths_are_not_pooled(line: str) -> None:
    Path("runs").mkdir()
    for place in range(5):
        steps = 1000 if place < 2 else 2000
        Path(f"runs/{place}.txt").write_text(line.format(steps, steps if "/" in line else place))
    result = repro("compare", "runs", "--at-most", 3.28)
    assert (result.returncode, "do not end alike" in result.stderr) == (2, True)


def test_two_logs_of_one_run_are_one_run() -> None:
    """The same values at the same steps, whatever else stands in the logs."""
    Path("runs").mkdir()
    for place, value in enumerate(FA3):
        lines = [f"step:{n * 100}/400 val_loss:{value + (4 - n) / 10:.4f}" for n in range(5)]
        for name in ("log", "out"):
            Path(f"runs/{name}{place}.txt").write_text("\n".join([name, *lines]))
    result = repro("compare", "runs", "--at-most", 3.28)
    assert "log (7), out (7)" in result.stderr
    for place in range(7):
        Path(f"runs/out{place}.txt").rename(f"runs/log1{place}.txt")
    result = repro("compare", "runs", "--at-most", 3.28)
    assert "for they repeat others: 7 logs" in result.stdout
    assert len(document("runs_at_most").arms[0].replicates) == 7


@pytest.mark.parametrize(
    "said", ["seed: {}", "step:3/3 train_loss:3.1{}", '{{"key": "seed", "value": {}}}']
)
def test_runs_that_came_to_the_same_whole_numbers_are_not_one(said: str) -> None:
    """Counts are alike by chance; what else they say tells runs apart, and times do not."""
    wins = (10, 10, 11, 10, 12)
    Path("runs").mkdir()
    for place, last in enumerate(wins):
        lines = [f"step:{n}/3 wins:{n * 3} time:{n * place + 70}ms" for n in (1, 2, 3)]
        lines += [f"step:3/3 wins:{last}", f"2025-01-0{place + 1} 10:00:00 saved runs/{place}/a.pt"]
        Path(f"runs/{place}.log").write_text("\n".join([said.format(place), *lines]))
    Path("runs/9.log").write_text(
        Path("runs/2.log").read_text().replace("2025-01-03", "2025-02-03")
    )
    args = ("runs", "--at-least", 9, "--measure", "wins")
    assert "left out: 9.log repeats 2.log" in repro("compare", *args).stdout
    p = ttest_1samp(wins, 9, alternative="greater").pvalue
    assert document("runs_at_least").results[0].p == pytest.approx(p, rel=1e-9)


def test_methods_in_names_are_not_pooled_and_seeds_in_sources_are_one_program() -> None:
    for name in ("adam_1", "adam_2", "muon_1", "muon_2"):
        Path("arms").mkdir(exist_ok=True)
        Path(f"arms/{name}.txt").write_text(log(3.2, ms=hash(name) % 97))
    assert "adam (2), muon (2)" in repro("compare", "arms", "--at-most", 3.28).stderr
    record(FA3)
    for place, value in enumerate(FA3):
        source = SOURCE.replace("val_loss = 0", f"SEED = {place}")
        Path("fa3", f"{place}.txt").write_text(log(value, source=source, ms=place))
    assert "not one program" not in said(repro("compare", "fa3", "--at-most", 3.28))


def test_one_of_two_sets_of_logs_is_named_by_the_pattern_that_the_message_gives() -> None:
    """As in parameter-golf, with a gate and without; what else lies there is named."""
    record(FA3[:4], "golf", "train_seed{}")
    record([3.281, 3.282, 3.2815], "golf", "train_gate_seed{}")
    told = repro("compare", "golf", "--at-most", 3.28).stderr
    gate, plain = re.findall(r"golf/\S*[*]\S*(?=')", told)
    assert f"name one of them in place of golf: '{gate}' or '{plain}'" in told
    result = repro("compare", plain, "--at-most", 3.28)
    assert "4 logs of train_seed, the last 'val_loss' of each" in said(result)
    assert "not used, not named so: 3 logs (train_gate_seed0.txt, " in said(result)
    (found,) = document("train_seed_at_most").results
    assert found.effect == pytest.approx(fmean(FA3[:4]), rel=1e-12)
    args = ("--better", "lower", "--by", 0.001)
    assert repro("compare", plain, "--against", gate, *args).returncode == 0
    assert "3 logs of train_gate_seed" in said(repro("noise", gate))
    for none in ("golf/other*.txt", "golf/a**"):
        refused = repro("compare", none, "--at-most", 3.28)
        assert (refused.returncode, "a pattern" in refused.stderr) == (2, True)


def test_a_pattern_names_one_set_where_the_name_of_the_other_begins_alike() -> None:
    record(FA3[:3], "x[1] y", "adam {}")
    record(FA3[3:6], "x[1] y", "adam w {}")
    told = repro("compare", "x[1] y", "--at-most", 3.28).stderr
    assert "'x[1] y/adam [0-9]*.txt' or 'x[1] y/adam w *.txt'" in told
    result = said(repro("compare", "x[1] y/adam [0-9]*.txt", "--at-most", 3.28))
    assert "in the order of their names: 3.2755, 3.2771, 3.276\n" in result


@pytest.mark.parametrize("before", ["=" * 100 + "\n", "torch 2.6\n" + "=" * 80 + "\n"])
def test_programs_are_told_apart_whatever_line_a_log_begins_with(before: str) -> None:
    """Old logs of modded-nanogpt begin with a line of `=`; other steps are other programs."""
    record(FA3, source=before + SOURCE)
    assert "not one program" not in said(repro("compare", "fa3", "--at-most", 3.28))
    for place in (1, 2):
        source = before + SOURCE.replace("torch", f"torch, opt{place}")
        Path(f"fa3/{place}.txt").write_text(log(3.27, source=source))
    result = repro("compare", "fa3", "--at-most", 3.28)
    assert "not one program: the logs hold 3 different sources (5 + 1 + 1 logs)" in said(result)
    Path("fa3/2.txt").write_text(log(3.27, 900, source=before + SOURCE.replace("torch", "jax")))
    told = repro("compare", "fa3", "--at-most", 3.28).stderr
    assert "--step" not in told
    assert "put the logs of each program into a folder" in told


def test_a_line_of_signs_after_output_ends_no_source() -> None:
    Path("runs").mkdir()
    for place, value in enumerate(FA3):
        end = "=" * 60 + "\nsummary\nbest 3.2"
        Path(f"runs/{place}.txt").write_text(f"step:9/9 val_loss:{value}\n{end}\n")
    repro("compare", "runs", "--at-most", 3.28)
    assert document("runs_at_most").arms[0].replicates[0].values["val_loss"] == FA3[0]


def test_texts_that_are_no_logs_do_not_hide_results() -> None:
    """Of a folder of JSON files, and of logs in a folder below."""
    Path("runs").mkdir()
    for n, x in enumerate(FA3):
        Path(f"runs/seed_{n}.json").write_text(json.dumps({"loss": x}))
    Path("runs/notes.txt").write_text("what we tried")
    repro("compare", "runs", "--at-most", 3.28)
    assert document("runs_at_most").verdict.conclusion == "CONFIRMED"
    record(FA3, "rec/logs")
    Path("rec/requirements.txt").write_text("torch")
    assert "the logs lie in logs" in repro("compare", "rec", "--at-most", 3.28).stdout


def test_links_that_lead_out_of_the_record_are_not_read() -> None:
    Path("secret.txt").write_text(log(3.2))
    Path(record(FA3), "8.txt").symlink_to(Path("secret.txt").resolve())
    result = repro("compare", "fa3", "--at-most", 3.28)
    assert (result.returncode, "leads elsewhere" in said(result)) == (2, True)


def test_any_results_are_held_against_a_limit() -> None:
    """A table of one arm, of two, and a file for each run."""
    Path("one.csv").write_text("seed,loss\n" + "".join(f"{n},{x}\n" for n, x in enumerate(FA3)))
    repro("compare", "one.csv", "--at-most", 3.28)
    assert document("one_at_most").verdict.conclusion == "CONFIRMED"
    Path("few.csv").write_text("seed,epochs\n0,7\n1,7\n2,8\n3,8\n4,8\n")  # results, and no arms
    repro("compare", "few.csv", "--at-most", 9)
    assert document("few_at_most").verdict.conclusion == "CONFIRMED"
    rows = [f"{n},{64 if n < 4 else 128},{x}" for n, x in enumerate(FA3)]
    Path("wide.csv").write_text("\n".join(["seed,width,loss", *rows]))  # two networks, it may be
    result = repro("compare", "wide.csv", "--at-most", 3.28)
    assert (result.returncode, "numbers may: width" in said(result)) == (2, True)
    rows = [
        f"{arm},{n},{x + shift}" for arm, shift in (("a", 0), ("b", 1)) for n, x in enumerate(FA3)
    ]
    Path("two.csv").write_text("\n".join(["arm,seed,loss", *rows]))
    repro("compare", "two.csv", "--at-most", 3.28)
    words = [document(f"{arm}_at_most").verdict.conclusion for arm in "ab"]
    assert words == ["CONFIRMED", "CONTRADICTED"]
    Path("runs").mkdir()
    for n, x in enumerate(FA3):
        Path(f"runs/seed_{n}.json").write_text(json.dumps({"loss": x, "acc": 100 - x}))
    repro("compare", "runs", "--at-least", 96, "--measure", "acc")
    assert document("runs_at_least").verdict.conclusion == "CONFIRMED"


def test_a_new_run_is_held_against_those_of_a_reference() -> None:
    """Two runs that lie to either side of the prediction interval, and within a margin."""
    sd, mean, t = stdev(FA3), fmean(FA3), student.isf(0.05, 6)
    Path("release.csv").write_text("seed,loss\n" + "".join(f"{n},{x}\n" for n, x in enumerate(FA3)))
    limit = mean + float(t) * sd * (1 + 1 / 7) ** 0.5
    for name, value, by, word in (
        ("under", limit - 1e-6, (), "INCONCLUSIVE"),
        ("over", limit + 1e-6, (), "CONTRADICTED"),
        ("near", mean, ("--by", 0.01), "CONFIRMED"),
    ):
        Path(f"{name}.csv").write_text(f"seed,loss\n0,{value!r}\n")
        args = ("--within", "release.csv", "--better", "lower", *by)
        result = repro("compare", f"{name}.csv", *args)
        assert document(f"{name}_vs_release").verdict.conclusion == word, said(result)
    assert "7 runs per arm, one per seed" in result.stdout
    result = repro("compare", "release.csv", "--within", "near.csv")
    assert (result.returncode, "arm 'near' has 1 seed" in result.stderr) == (2, True)


def test_p_is_that_of_the_declared_rule() -> None:
    """Better by 0.003, and not better at all; in the terminal, what is pasted and the document."""
    record(FA3)
    record([x + 0.0035 for x in (*FA3, 3.2769)], "old", "s{}")
    by = ("--better", "lower", "--by", 0.003, "--alpha", 0.01, "--markdown")
    result = repro("compare", "fa3", "--against", "old", *by)
    old = [x + 0.0035 - 0.003 for x in (*FA3, 3.2769)]
    p = float(ttest_ind(FA3, old, equal_var=False, alternative="less").pvalue)
    words = f"by more than 0.003: {fmt.p_value(p)}"
    assert plain(said(result)).count(plain(words)) == 2, said(result)
    assert plain("against no difference") in plain(said(result))
    assert document("fa3_vs_old").results[0].details["smallest effect"].startswith(words)


STATE = json.dumps(
    {
        "global_step": 30,
        "max_steps": 30,
        "log_history": [{"step": 10 * n, "loss": 3.3 - n / 100} for n in (1, 2, 3)],
    }
)


@pytest.mark.parametrize(
    ("file", "text", "value"),
    [
        ("one.json", '{"loss": 3.27, "seed": 3, "lr": 0.1}', 3.27),
        ("one.log", "step 1 loss: 3.4\nstep 2 loss: 3.28\nstep 3 loss: 3.27\n", 3.27),
        ("one.csv", "step,loss\n1,3.4\n2,3.28\n3,3.27\n", 3.27),
        ("trainer_state.json", STATE, 3.27),
        ("new/a.log", "step 1 loss: 3.4\nstep 2 loss: 3.27\n", 3.27),
    ],
)
def test_a_single_file_is_a_new_run(file: str, text: str, value: float) -> None:
    """Of a series the last value counts, of several numbers that of the reference."""
    rows = "".join(f"{n},{x}\n" for n, x in enumerate(FA3))
    Path("release.csv").write_text(f"seed,loss\n{rows}")
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(text)
    place = Path(file).parts[0]
    result = repro("compare", place, "--within", "release.csv", "--better", "lower")
    (found,) = document(f"{Path(place).stem}_vs_release").arms[0].replicates
    assert list(found.values.values()) == [value], said(result)
    printed = repro("compare", place, "--within", "3.27 ± 0.1, n=5", "--measure", "loss")
    assert printed.returncode in (0, 1, 3), said(printed)
    result = repro("compare", "release.csv", "--within", place)
    assert result.returncode == 2, said(result)


@pytest.mark.parametrize("folder", ["tonight", "tonight/seed_0"])
def test_a_folder_with_one_file_is_a_new_run(folder: str) -> None:
    for seed, value in enumerate(FA3):
        Path(f"release/seed_{seed}").mkdir(parents=True)
        Path(f"release/seed_{seed}/metrics.csv").write_text(f"epoch,acc\n1,1\n2,{value}\n")
    Path(folder).mkdir(parents=True)
    Path(folder, "metrics.csv").write_text("epoch,acc\n1,1\n2,3.2761\n")
    result = repro("compare", "tonight", "--within", "release", "--measure", "acc")
    (found,) = document("metrics_vs_release").results
    assert found.effect == pytest.approx(3.2761 - fmean(FA3), abs=1e-9), said(result)


def test_each_new_arm_may_have_one_run() -> None:
    Path("release.csv").write_text("seed,loss\n" + "".join(f"{n},{x}\n" for n, x in enumerate(FA3)))
    Path("new.csv").write_text("arm,seed,loss\na,0,3.277\nb,0,3.4\n")
    result = repro("compare", "new.csv", "--within", "release.csv", "--better", "lower")
    verdicts = [document(f"{arm}_vs_release").verdict.conclusion for arm in "ab"]
    assert verdicts == ["INCONCLUSIVE", "CONTRADICTED"], said(result)


def test_runs_of_several_things_are_not_pooled() -> None:
    """Whatever the text is called, and however many there are."""
    rows = [f"record {n // 3},{n},{3.27 + n / 1e4}" for n in range(66)]
    Path("many.csv").write_text("\n".join(["what,seed,loss", *rows]))
    result = repro("compare", "many.csv", "--at-most", 3.28)
    assert (result.returncode, "--arm what" in result.stderr) == (2, True)
    result = repro("compare", "many.csv", "--at-most", 3.28, "--arm", "what")
    assert len([*Path("reports").glob("*/declared/report.json")]) == 22
    Path("more.csv").write_text(Path("many.csv").read_text() + "\nrecord 22,70,3.1")
    result = repro("compare", "more.csv", "--at-most", 3.28, "--arm", "what", "--out", "more")
    assert "left out, with fewer than 3 seeds: record 22" in result.stdout


@pytest.mark.parametrize(
    "args",
    [
        ("--at-most", 3.28, "--by", 0.1),
        ("--at-most", 3.28, "--at-least", 3),
        ("--at-most", 3.28, "--paired"),
        ("--within", "fa3", "--against", "fa3", "--better", "lower"),
        ("--better", "lower", "--sd", 1, "--why", "x"),
        ("--better", "lower", "--step", 3),
    ],
)
def test_options_that_have_no_say_are_refused(args: tuple[object, ...]) -> None:
    result = repro("compare", record(FA3), *args)
    assert (result.returncode, "to do: " in said(result)) == (2, True)
    assert not [*Path().glob("*.yaml")]


def test_a_table_to_paste_into_a_paper_is_read_by_latex() -> None:
    """Every special character is escaped, and every row has as many cells."""
    rows = [
        f"{arm},{n},{x + shift}"
        for arm, shift in (("a_1", 0), ("50%", 1))
        for n, x in enumerate(FA3)
    ]
    Path("two.csv").write_text("\n".join(["arm,seed,loss", *rows]))
    args = ("--better", "lower", "--baseline", "50%", "--latex", "--alpha", 0.1, "--paired")
    lines = repro("compare", "two.csv", *args).stdout.splitlines()
    assert lines[0] == "\\begin{tabular}{llrrrr}"
    assert lines[2].startswith("a\\_1 & loss & 7 & ")
    assert lines[3].startswith("50\\% & ")
    assert lines[-1] == "\\end{tabular}"
    assert all(line.count(" & ") in (1, 5) for line in lines[1:-1])
    text = next(Path().glob("*.claim.yaml")).read_text()
    assert "alpha: 0.1\n" in text
    assert "design: paired" in text


@pytest.mark.parametrize("name", ["Validation bpb", "val loss"])
def test_a_number_may_have_a_name_of_two_words(name: str) -> None:
    """As nanochat and llm.c print them, beside the training loss."""
    Path("logs").mkdir()
    for n, value in enumerate(FA3):
        lines = ["step 0/9 | loss: 3.9", f"Step 0 | {name}: 3.8", f"Step 9 | {name}: {value}"]
        Path(f"logs/run_{n}.log").write_text("\n".join(lines))
    done = repro("compare", "logs", "--at-most", 3.28)
    assert f"of logs is {fmean(FA3):.5f}" in done.stdout, done.stderr


def test_what_is_pasted_says_its_level_and_each_arm_once() -> None:
    """And with digits enough for every comparison that the arm is in."""
    shifts = {"a": (0, "{:.4f}"), "b": (0.2, "{:.2f}"), "c": (-0.2, "{:.4f}")}
    rows = [
        f"{arm},{n},{form.format(x + shift)}"
        for arm, (shift, form) in shifts.items()
        for n, x in enumerate(FA3)
    ]
    Path("three.csv").write_text("\n".join(["arm,seed,loss", *rows]))
    args = ("compare", "three.csv", "--better", "lower", "--baseline", "a", "--alpha", 0.2)
    lines = repro(*args, "--latex").stdout.splitlines()
    arms = [line.split(" & ")[0] for line in lines if line.count(" & ") == 5]
    assert sorted(arms) == ["Arm", "a", "b", "c"]
    told = repro(*args, "--markdown").stdout
    assert "- error rate at most 10 %" in told.replace("\xa0", " ")


def test_the_p_that_is_pasted_is_of_what_was_found() -> None:
    """Of the contrary where that is: no p near one stands behind CONTRADICTED."""
    Path("one.csv").write_text("seed,loss\n" + "\n".join(f"{n},{x}" for n, x in enumerate(FA3)))
    told = repro("compare", "one.csv", "--at-most", 3.27, "--markdown").stdout
    assert "CONTRADICTED" in told
    said = fmt.p_value(float(ttest_1samp(FA3, 3.27, alternative="greater").pvalue))
    assert said in told.replace("\xa0", " ")
    assert "> 0.99" not in told


def test_reading_a_record_needs_no_torch() -> None:
    code = "import sys, repro.results.record_logs; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_submission_that_gives_another_mean_is_named() -> None:
    """As that of parameter-golf does: a digit that it does not print is no difference."""
    folder = Path(record(FA3))
    mean = sum(FA3) / len(FA3)
    for given, told in ((round(mean, 4), False), (round(mean, 4) - 0.0007, True)):
        (folder / "submission.json").write_text(f'{{"val_loss": {given:.4f}, "author": "x"}}')
        result = repro("compare", folder, "--at-most", 3.28)
        assert (", and submission.json says" in result.stdout) == told


def test_a_log_of_several_runs_is_refused_and_a_last_step_told_twice_is_one() -> None:
    """A program may print its last step on two lines, and a script may join what it ran."""
    steps = [f"step:{n}/20 val_loss:{3.3 - n / 1000:.4f}\n" for n in (0, 10, 20, 20)]
    Path("logs").mkdir()
    for name in "abc":
        Path("logs", f"{name}.txt").write_text("".join(steps).replace("3.28", f"3.27{ord(name)}"))
    done = repro("compare", "logs", "--at-most", 3.3)
    assert "3 logs of logs" in done.stdout, done.stderr
    Path("logs", "all.txt").write_text("".join(steps * 3))
    done = repro("compare", "logs", "--at-most", 3.3)
    assert (done.returncode, "all.txt holds several runs" in done.stderr) == (
        2,
        True,
    )


NANO = (0.8458, 0.8462, 0.8449, 0.8471, 0.8455)


def nanochat(last: Sequence[float], per_step: bool = True, folder: str = "nano") -> str:
    """A log of nanochat: a value at some steps, and at the end the smallest of all."""
    Path(folder).mkdir()
    for place, value in enumerate(last):
        lines = ["Step 00000 | Validation bpb: 3.1", "step 00100/00250 (40 %) | loss: 2.1"]
        lines += [f"Step 00200 | Validation bpb: {value - 0.02:.4f}"]
        lines += [f"Step 00250 | Validation bpb: {value:.4f}"]
        end = ["Peak memory usage: 3.1MiB", f"Minimum validation bpb: {value - 0.02:.4f}"]
        Path(folder, f"run_{place}.log").write_text("\n".join((lines if per_step else []) + end))
    return folder


def test_the_last_step_counts_and_not_the_best_checkpoint() -> None:
    result = repro("compare", nanochat(NANO), "--at-most", 0.84)
    assert "nano_at_most: VALID, CONTRADICTED" in said(result)
    assert document("nano_at_most").arms[0].summaries[0].mean == pytest.approx(sum(NANO) / 5)
    name = "minimum validation_bpb"
    assert f"not used, the best of several checkpoints: --measure '{name}'" in said(result)
    assert "by its name the number" not in said(result)
    result = repro("compare", "nano", "--at-most", 0.84, "--measure", name)
    assert "CONFIRMED" in said(result)
    assert "by its name the number is the best of several checkpoints" in said(result)


def test_a_best_checkpoint_that_stands_alone_is_flagged() -> None:
    result = repro("compare", nanochat(NANO, per_step=False), "--at-most", 0.84)
    assert said(result).count("by its name the number is the best of several checkpoints") == 2
    assert "best of several checkpoints" in Path("nano_at_most.claim.yaml").read_text()


def test_a_best_number_of_a_table_gives_way_to_the_last() -> None:
    rows = [f"{arm},{seed},{0.8 + seed / 90},{0.9 + seed / 90 + (arm == 'b')}"
            for arm in "ab" for seed in range(4)]  # fmt: skip
    Path("t.csv").write_text("\n".join(("arm,seed,val_acc,best_val_acc", *rows)))
    result = repro("compare", "t.csv", "--better", "higher", "--baseline", "a")
    assert "the number 'val_acc'; the best of several checkpoints, --measure best_val_acc" in (
        said(result)
    )
    result = repro("compare", "t.csv", "--better", "higher", "--measure", "best_val_acc")
    assert "by its name the number is the best of several checkpoints" in said(result)


@pytest.mark.parametrize(
    ("line", "limit", "advice"),
    [
        ("Validation bpb: 0.71{}4 | CORE metric: 0.26{}2", "--at-least", "validation_bpb if that"),
        ("val_loss: 3.27{}1 | hellaswag: 0.30{}1", "--at-least", "val_loss if that"),
        ("val_acc: 0.94{}1 | hellaswag: 0.30{}1", "--at-most", "val_acc if that"),
        ("val_acc: 0.94{}1 test_acc: 0.93{}1", "--at-least", "test_acc"),
    ],
)
def test_a_limit_on_the_other_side_is_of_another_number(line: str, limit: str, advice: str) -> None:
    """Every loss is at least 0.25: a limit that was meant for an accuracy was confirmed by it."""
    Path("chat").mkdir()
    for seed in range(4):
        Path("chat", f"run_{seed}.log").write_text(f"step 200 | {line.format(seed, seed)}\n")
    done = repro("compare", "chat", limit, "0.25")
    assert done.returncode == 2, said(done)
    assert f"--measure {advice}" in done.stderr


def test_a_limit_on_the_other_side_is_taken_where_the_number_is_named() -> None:
    done = repro("compare", record(FA3), "--at-least", "3.2", "--measure", "val_loss")
    assert done.returncode == 0, said(done)


def evaluated(folder: str, lines: tuple[str, ...], shift: float) -> str:
    """Logs that end with several evaluations, as those of parameter-golf."""
    Path(folder).mkdir()
    for place, value in enumerate(FA3):
        last = [f"{line} val_loss:{value + shift + n:.4f}" for n, line in enumerate(lines)]
        text = "\n".join([f"step:{n}/8 val_loss:{value + 8 - n}" for n in range(9)] + last)
        Path(folder, f"train_seed{place}.log").write_text(text)
    return folder


def test_values_of_different_evaluations_are_not_compared() -> None:
    old = evaluated("old", ("quantized", "final_exact"), 0)
    new = evaluated("new", ("post-ema", "quantized", "quantized_sliding_window"), -0.1)
    args = ("compare", new, "--against", old, "--better", "lower")
    told = repro(*args).stderr
    assert "its last 'val_loss' is that of 'final_exact'" in told
    assert "that of new of 'quantized_sliding_window'" in told
    (advised,) = re.findall(r"--measure '(.*)';", told)
    repro(*args, "--measure", advised)  # `quantized` is the second evaluation of the new logs
    assert document("new_vs_old").results[0].effect == pytest.approx(1 - 0.1, abs=1e-9)
    other = evaluated("other", ("final",), 0)
    told = repro("compare", new, "--against", other, "--better", "lower").stderr
    assert '--why "the last evaluation counts"' in told
    meant = ("--better", "lower", "--why", "the last evaluation counts", "--out", "o")
    found = repro("compare", new, "--against", other, *meant, "--reports", "o")
    assert "fragile" in found.stdout
    assert "is evaluated by 'quantized_sliding_window'" in said(found)
    steps = evaluated("steps", (), 0)
    assert "is that of 'a step'" in repro("compare", new, "--against", steps, *args[-2:]).stderr
