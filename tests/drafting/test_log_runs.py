"""`repro compare` of logs: `name: value` and `name=value`, where arms and seeds are said."""

from __future__ import annotations

from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest
from scipy import stats

from repro.report.write import read_document
from repro.results.log_runs import pairs_in
from repro.specs.load import load_claims
from tests.commands import repro
from tests.drafting.test_compare import EFFECT, VALUES


def written(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def epochs(value: float) -> str:
    lines = (
        f"[2024-01-01 10:0{epoch}:00] INFO epoch={epoch} train_loss=0.{epoch} "
        f"val_loss={value + 2 - epoch}"
        for epoch in range(3)
    )
    return "\n".join(lines)


def by_path() -> None:
    for arm, seed, value in VALUES:
        written(f"logs/{arm}/seed_{seed}/out.log", epochs(value))


def by_name() -> None:
    for arm, seed, value in VALUES:
        written(f"logs/{arm}-{seed}.txt", f"Epoch 1\nTest error: {value}\n")


def inside() -> None:
    """Names of jobs say nothing; the program has printed its arguments."""
    for job, (arm, seed, value) in enumerate(VALUES):
        told = f"Namespace(method='{arm}', seed={seed}, lr=0.1)\nerror: {value} (final)\n"
        written(f"logs/slurm-{8800 + job}.out", told)


def hashes() -> None:
    for name, (arm, seed, value) in zip("abcdefghij", VALUES, strict=True):
        written(f"logs/{name}7x.log", f"method: {arm}\nseed: {seed}\n{{'error': {value}}}\n")


def lines() -> None:
    told = (f"arm={arm} seed={seed} error={value}" for arm, seed, value in VALUES)
    written("logs/all.log", "\n".join(("started: now", *told)))


def paragraphs() -> None:
    told = (f"method: {arm}\nseed: {seed}\nerror: {value}\n" for arm, seed, value in VALUES)
    written("logs/all.txt", "\n".join(told))


def one_per_arm() -> None:
    for arm in ("mixup", "plain"):
        told = (f"seed={seed} error={value}" for name, seed, value in VALUES if name == arm)
        written(f"logs/{arm}.log", "\n".join(told))


FORMS = (
    (by_path, "logs", "a log per run"),
    (by_name, "logs", "a log per run"),
    (inside, "logs", "a log per run"),
    (hashes, "logs", "a log per run"),
    (lines, "logs/all.log", "a log with several runs in it"),
    (lines, "logs", "a log with several runs in it"),
    (paragraphs, "logs/all.txt", "a log with several runs in it"),
    (one_per_arm, "logs", "a log per arm, with several runs in it"),
)


@pytest.mark.parametrize(("form", "path", "words"), FORMS)
def test_every_form_of_log_gives_the_same_verdict(form: object, path: str, words: str) -> None:
    assert callable(form)
    form()
    done = repro("compare", path, "--better", "lower", "--by", "0.3")
    assert done.returncode == 0, done.stderr
    assert words in done.stdout
    assert "read: n, the seeds per arm: mixup 5, plain 5" in done.stdout
    judged = read_document(Path("reports/mixup_vs_plain/declared/report.json"))
    assert judged.results[0].effect == pytest.approx(EFFECT, abs=1e-9)
    assert repro("verify", "mixup_vs_plain.claim.yaml").returncode == 0


@pytest.mark.parametrize("form", [by_path, by_name])
def test_a_claim_reads_the_logs_themselves_where_the_paths_say_all(form: object) -> None:
    """By a pattern, so that a new log is another seed; else their values are copied."""
    assert callable(form)
    form()
    repro("compare", "logs", "--better", "lower")
    (claim,) = load_claims(Path("mixup_vs_plain.claim.yaml"))
    assert {arm.source.importer.from_ for arm in claim.arms.values()} == {"files"}  # type: ignore[attr-defined]
    assert list(Path().glob("*.csv")) == []


def test_what_stands_before_a_number_is_not_forgotten() -> None:
    """`Train | loss` and `Test | loss` are two numbers, and the last is not simply taken."""
    for arm, seed, value in VALUES:
        told = f"Test | loss={value}\nTrain | loss=0.{seed}\n"
        written(f"logs/{arm}-{seed}.log", told)
    done = repro("compare", "logs", "--better", "lower")
    assert "the number 'Test loss' (not Train loss; else: --measure 'Train loss')" in done.stdout, (
        done.stderr
    )
    judged = read_document(Path("reports/mixup_vs_plain/declared/report.json"))
    assert judged.results[0].effect == pytest.approx(EFFECT, abs=1e-9)


def test_a_run_that_stopped_early_or_diverged_is_not_lost() -> None:
    """A log without the number is a run that is missing; `nan` is a divergence."""
    by_name()
    written("logs/mixup-5.txt", "Killed\n")
    written("logs/plain-5.txt", "Test error: nan\n")
    done = repro("compare", "logs", "--better", "lower")
    assert "n, the seeds per arm: mixup 5 (and 1 missing), plain 5 (and 1 diverged)" in done.stdout
    assert "INVALID" in done.stdout


def test_series_of_other_lengths_are_told() -> None:
    by_path()
    written("logs/mixup/seed_4/out.log", epochs(4.24).splitlines()[0])
    done = repro("compare", "logs", "--better", "lower")
    assert "the last value of each run (of 1 to 3 values)" in done.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("loss: 1.5\nacc=0.3\n", "this log is one run, with the numbers loss, acc"),
        ("all is well\n", "no number stands in this log as `name: 1.5`"),
    ],
)
def test_one_log_is_told_what_it_is(text: str, words: str) -> None:
    written("out/0.log", text)
    done = repro("compare", "out/0.log", "--better", "lower")
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_logs_without_numbers_are_told_how_they_are_read() -> None:
    for number in range(3):
        written(f"out/{number}.log", "all is well\n")
    done = repro("compare", "out", "--better", "lower")
    assert (done.returncode, "pattern: " in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("val_loss=0.31", {"val_loss": "0.31"}),
        ("12:30:01 INFO:trainer:loss=3", {"loss": "3"}),
        ("{'eval_loss': 0.5, 'epoch': 1.0}", {"eval_loss": "0.5", "epoch": "1.0"}),
        ("Test accuracy (%): 93.2%", {"Test accuracy": "93.2%"}),
        ("lr: 0.1 val loss: -2.3e-4", {"lr": "0.1", "val loss": "-2.3e-4"}),
        ("method: my best one", {"method": "my best one"}),
        ("saved to http://host:80/a and C::b", {}),
        ("Epoch 3/10: done", {}),
        ("x" * 3000 + "=1", {}),
    ],
)
def test_what_is_read_of_a_line(line: str, found: dict[str, str]) -> None:
    assert {pair.name: pair.value for pair in pairs_in(line)} == found


def test_folders_of_logs_that_chance_has_named_are_arms() -> None:
    """As modded-nanogpt names them, in a folder for each program; one log alone is no arm."""
    for arm, value in (("baseline-s1410", 3.28), ("gated-s1410", 3.25)):
        for seed in range(4):
            name = uuid5(NAMESPACE_URL, f"{arm}{seed}")
            file = Path("logs", arm, f"{name}.txt")
            file.parent.mkdir(parents=True, exist_ok=True)
            lines = (f"step:{k}/2 val_loss:{value + (2 - k) + seed / 1000}" for k in range(3))
            file.write_text("\n".join(lines))
    done = repro("compare", "logs", "--better", "lower", "--measure", "val_loss")
    assert "compared with 'baseline', by its name" in done.stdout, done.stderr
    assert "4 runs per arm" in done.stdout
    assert "-0.03" in done.stdout


def test_source_in_a_log_says_nothing_of_how_a_run_ended() -> None:
    for arm, value in (("ours", 1.0), ("base", 2.0)):
        for seed in range(4):
            file = Path("logs", f"{arm}_seed{seed}.txt")
            file.parent.mkdir(exist_ok=True)
            source = "    state = None\n    self.state , p = x\n"
            file.write_text(f"{source}step:9/9 val_loss:{value + seed / 10}\n")
    done = repro("compare", "logs", "--better", "lower")
    assert "n, the seeds per arm: base 4, ours 4" in done.stdout, done.stderr
    assert "is no state of a run" not in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        ':::MLLOG {{"time_ms": {0}, "key": "{1}", "value": {2}, "metadata": {{"file": "a.py"}}}}',
        "name={1} unit=s value={2} at={0}",
    ],
)
def test_a_value_is_called_by_the_key_beside_it(line: str) -> None:
    """As MLPerf logs: `value` alone would be a seed, a size of batches and an accuracy."""
    arms = {"new": [0.75, 0.76, 0.752, 0.771], "old": [0.74, 0.735, 0.742, 0.72]}
    for arm, values in arms.items():
        for n, value in enumerate(values):
            values_of = [
                ("eval_accuracy", value / 2),
                ("eval_accuracy", value),
                ("epochs_left", n + 3),
            ]
            file = Path("results", arm, f"result_{n}.txt")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(line.format(160 + n, *each) for each in values_of))
    args = ("compare", "results", "--better", "higher", "--baseline", "old", "--measure")
    told = repro(*args, "value").stderr
    assert "there is no number 'value'" in told
    assert "eval_accuracy" in told
    repro(*args, "eval_accuracy")
    p = stats.ttest_ind(arms["new"], arms["old"], equal_var=False).pvalue
    document = read_document(Path("reports/new_vs_old/declared/report.json"))
    assert document.results[0].p == pytest.approx(p, rel=1e-6)
    told = repro("compare", "results/new", "--at-least", "0.7", "--measure", "value").stderr
    assert "a number called value; there are: " in told
    done = repro("compare", "results/new", "--at-least", "0.7", "--measure", "eval_accuracy")
    assert "0.75, 0.76, 0.752, 0.771" in done.stdout, done.stderr
