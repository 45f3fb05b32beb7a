"""`repro new`: a claim file that loads at once, or says which lines are open."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
import yaml

from repro.report.write import read_document
from repro.results.pattern_rows import PatternRows
from repro.specs.load import load_claims
from tests.commands import repro

TABLE = "arm,seed,error\n" + "".join(
    f"{arm},{seed},{value + seed / 10}\n"
    for arm, value in (("base", 1), ("b", 2))
    for seed in range(5)
)
RUNS = 'python train.py --seed {seed} --lr {lr} --out "{out}"'
GIVEN = ("--by", "0.1", "--why", "as much as can be felt", "--own", "we want to know it")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results.csv").write_text(TABLE)
    Path("train.py").write_text("print(1)\n")


def test_from_results_the_margin_and_its_reason_are_left_to_the_author() -> None:
    """What is open is named with its line, there and by `repro check`; filled in, it loads."""
    done = repro("new", "--from", "results.csv", "--better", "lower")
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote b_vs_base.claim.yaml" in done.stdout
    file = Path("b_vs_base.claim.yaml")
    text = file.read_text(encoding="utf-8")
    number = text[: text.index("    smallest_effect: {abs: , ")].count("\n") + 1
    told = [each for each in done.stdout.splitlines() if f"{file}:{number}:" in each]
    assert [each for each in told if "why" in each]
    assert repro("check", file).returncode == 2
    file.write_text(text.replace('why: ""', 'why: "as much as can be felt"'))
    assert f"{file}:" in repro("check", file).stderr  # the size is still open
    file.write_text(file.read_text(encoding="utf-8").replace("abs: ,", "abs: 0.1,"))
    assert repro("check", file).stdout == "ok b_vs_base.claim.yaml: b_vs_base (declared)\n"
    assert repro("verify", file).returncode == 1


@pytest.mark.parametrize("own", [(), ("--own", "we want to know it")])
def test_from_results_it_is_exploratory_until_somebody_declares_it(
    own: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the terminal and in the report; declared is what says in `own` why, and no more."""
    monkeypatch.setenv("REPRO_STORE", str(tmp_path / "store"))
    margin = ("--by", "0.1", "--why", "as much as can be felt")
    done = repro("new", "--from", "results.csv", "--better", "higher", *margin, *own)
    assert "a verdict on results.csv is exploratory" in done.stdout
    file, report = Path("b_vs_base.claim.yaml"), Path("reports/b_vs_base/declared/report.json")
    done = repro("verify", file)
    assert "CONFIRMED" in done.stdout
    assert "exploratory: not declared beforehand\n" in done.stdout
    registration = read_document(report).registration
    assert registration is not None
    assert registration.state == "exploratory"
    text = file.read_text(encoding="utf-8")
    assert (own[1:] == ()) or own[1] in text
    head, _, rest = text.partition("source: {own: ")
    file.write_text(f'{head}source: {{own: "we want to know it"}}{rest[rest.index(chr(10)) :]}')
    assert "exploratory" not in repro("verify", file).stdout


def test_what_is_given_is_not_asked() -> None:
    done = repro("new", "--from", "results.csv", "--better", "lower", *GIVEN)
    assert "to fill in" not in done.stdout
    assert repro("check", "b_vs_base.claim.yaml").returncode == 0


def test_a_command_becomes_a_configuration() -> None:
    """Its words, its files, and the arguments that the arms differ in."""
    done = repro("new", "--command", RUNS, "--better", "higher", "--measure", "acc", *GIVEN)
    assert done.returncode == 0, done.stderr
    file = Path("higher_acc.claim.yaml")
    text = file.read_text(encoding="utf-8")
    assert (
        'command: [python, train.py, "--seed", "{seed}", "--lr", "{lr}", "--out", "{out}"]' in text
    )
    assert "files: [train.py]" in text
    assert text.count("args: {lr: null}") == 2
    assert done.stdout.count("to fill in: higher_acc.claim.yaml:") == 2
    for value in ("0.1", "0.2"):
        text = text.replace("lr: null", f"lr: {value}", 1)
    file.write_text(text)
    (claim,) = load_claims(file)
    assert [claim.run(arm, 0).training.args for arm in claim.trained] == [{"lr": 0.1}, {"lr": 0.2}]  # type: ignore[attr-defined]


def test_the_output_of_a_program_is_read_by_a_pattern() -> None:
    done = repro("new", "--command", "python train.py --seed {seed}", "--better", "lower", *GIVEN)
    assert "{args} stands at the end of the command" in done.stdout
    text = Path("lower_value.claim.yaml").read_text(encoding="utf-8")
    assert "(?P<value>" in text
    assert "from: value, reduce: last" in text


def test_what_the_arms_differ_in_is_to_be_filled_in() -> None:
    """Where no argument is named there are two arms of one program; and what that takes is said."""
    done = repro("new", "--command", "python train.py --seed {seed}", "--better", "lower", *GIVEN)
    assert "nothing says what the arms differ in" in done.stdout
    assert "args: {lr: 0.1}" in done.stdout
    checked = repro("check", "lower_value.claim.yaml")
    assert "to do: give 'baseline' other arguments, as in: args: {lr: 0.1}" in checked.stderr
    done = repro("new", "--command", RUNS, "--better", "lower")
    assert "source.own: nothing is filled in" in done.stdout
    assert done.stdout.count("args: nothing is filled in") == 2


def test_a_program_that_is_not_beside_the_claim_is_told() -> None:
    done = repro("new", "--command", RUNS, "--better", "lower", *GIVEN, "--out", "claims")
    assert "'train.py' is not in the folder of the claim, claims" in done.stdout
    done = repro("new", "--command", RUNS, "--better", "lower", *GIVEN)
    assert "is not in" not in done.stdout


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("reward: -3.5", -3.5),
        ("reward=.73", 0.73),
        ("reward = +1.5E-03, step 7", 0.0015),
        ('{"reward": 3.25}', 3.25),
        ("step:3/3 reward:-2 time:5", -2.0),
        ("reward nan", None),
        ("reward:-inf", None),
        ("my_reward: 3", "none"),
        ("reward information 3", "none"),
        ("reward_mean: 3", "none"),
    ],
)
def test_the_pattern_reads_the_number_as_it_is_printed(line: str, value: object) -> None:
    """With its sign and its point; nan and inf are a divergence, and not the row before."""
    command = ("--command", "python train.py --seed {seed} {args}", "--measure", "reward")
    repro("new", *command, "--better", "higher", *GIVEN)
    text = Path("higher_reward.claim.yaml").read_text(encoding="utf-8")
    results = yaml.safe_load(text)["configuration"]["results"]
    search = PatternRows(results["stdout"])
    search(line)
    assert search.rows == ([] if value == "none" else [{"reward": value}])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--command", "python train.py", "--better", "lower"), "the command has no {seed}"),
        (("--command", "python 'train.py", "--better", "lower"), "cannot be read"),
        (("--command", " ", "--better", "lower"), "there is no command"),
        (("--command", RUNS), "nothing says which values are better"),
        (("--from", "none.csv", "--better", "lower"), "there is no such file"),
        (("--from", "results.csv", "--command", RUNS, "--better", "lower"), "--from and --command"),
        (("--from", "results.csv", "--gate", "--better", "lower"), "--from and --gate"),
        (("--command", RUNS, "--baseline", "a", "--better", "lower"), "--baseline and --command"),
    ],
)
def test_what_tells_too_little_is_refused(arguments: tuple[str, ...], words: str) -> None:
    done = repro("new", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "to do: " in done.stderr
    assert list(Path().glob("*.yaml")) == []


def test_questions_give_the_same_file(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ("results.csv", "lower", "", "0.1", "as much as can be felt", "we want to know it")
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(answers) + "\n"))
    done = repro("new")
    assert done.returncode == 0, done.stderr
    asked = Path("b_vs_base.claim.yaml").read_text(encoding="utf-8")
    repro("new", "--from", "results.csv", "--better", "lower", *GIVEN, "--out", "given")
    given = Path("given/b_vs_base.claim.yaml").read_text(encoding="utf-8")
    assert "smallest_effect: {abs: 0.1" in asked
    assert [line for line in asked.splitlines() if "smallest" in line] == [
        line for line in given.splitlines() if "smallest" in line
    ]


def test_what_is_given_holds_beside_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the rest is asked, and the claim is written where it was to go."""
    answers = ("results.csv", "", "as much as can be felt")
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(answers) + "\n"))
    given = ("--out", "claims", "--better", "lower", "--baseline", "b", "--by", "0.1")
    done = repro("new", *given, "--own", "we want to know it")
    assert done.returncode == 0, done.stderr
    text = Path("claims/base_vs_b.claim.yaml").read_text(encoding="utf-8")
    assert 'smallest_effect: {abs: 0.1, why: "as much as can be felt"}' in text
    assert "we want to know it" in text
    assert list(Path().glob("*.claim.yaml")) == []


def test_what_was_seen_is_not_called_undeclared() -> None:
    """A claim from results says that a verdict on these is exploratory."""
    done = repro("new", "--from", "results.csv", "--better", "lower", *GIVEN)
    assert "a verdict on results.csv is exploratory" in done.stdout
    text = Path("b_vs_base.claim.yaml").read_text(encoding="utf-8")
    assert "before its results are there" not in text
    assert "exploratory" in text


def test_a_claim_for_the_gate_loads_there() -> None:
    done = repro("new", "--gate", "--command", RUNS, "--better", "lower", *GIVEN)
    assert done.returncode == 0, done.stderr
    file = Path("lower_value.claim.yaml")
    text = file.read_text(encoding="utf-8").replace("lr: null", "lr: 0.1", 1)
    file.write_text(text.replace("lr: null", "lr: 0.2"))
    (claim,) = load_claims(file)
    assert (claim.seeds.max, claim.sequential is not None) == (30, True)


def test_an_answer_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("results.csv\nbigger\n\n\n\n\n"))
    done = repro("new")
    assert (done.returncode, "'bigger' is no answer" in done.stderr) == (2, True)


def test_a_file_that_was_edited_stays() -> None:
    repro("new", "--from", "results.csv", "--better", "lower")
    file = Path("b_vs_base.claim.yaml")
    file.write_text("mine: 1\n")
    done = repro("new", "--from", "results.csv", "--better", "lower")
    assert (done.returncode, file.read_text()) == (2, "mine: 1\n")
    assert "this file is there already" in done.stderr
