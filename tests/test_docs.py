"""README and docs cannot go stale: their examples run, and their tables name what there is."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from repro.cli import app
from repro.cli.verify import tell
from repro.expectations.kinds import Expectation
from repro.expectations.verdict_words import Agreement, Conclusion, FlagKind, Validity
from repro.report.write import read_document as read_report
from repro.schema.messages import all_kinds
from repro.schema.yaml import read_document
from repro.specs.load import load_claim
from repro.trainers.language_model.spec import Output
from repro.trainers.table import Measurable
from tests.commands import repro

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
COMMANDS = sorted(c.name or c.callback.__name__ for c in app.registered_commands if c.callback)


def kinds(union: object) -> list[str]:
    """The `kind` of every member of a discriminated union."""
    return sorted(all_kinds(union))


def page(name: str) -> str:
    """The text of a page of the docs."""
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def examples(language: str, text: str) -> list[str]:
    """The blocks of a language in a page."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def python_examples() -> list[str]:
    """How to train, and how to judge one's own results."""
    return examples("python", page("how-to/python"))


def test_own_results_are_judged_in_ten_lines() -> None:
    """The second example, as it stands, gives a verdict on a frame and trains nothing."""
    _, example = python_examples()
    assert len([line for line in example.splitlines() if line]) <= 10
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("CONFIRMED ")


def test_the_python_example_runs(tmp_path: Path) -> None:
    """The example, on a tiny claim, ends by printing the conclusion and why."""
    example, _ = python_examples()
    claim = ROOT / "tests" / "end_to_end" / "claims" / "tiny_fair.yaml"
    program = example.replace("claims/mos_rank.yaml", str(claim))
    assert program != example
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "REPRO_STORE": str(tmp_path / "store")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] in set(Conclusion)
    assert (tmp_path / "reports" / "tiny_fair" / "quick" / "report.pdf").is_file()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_described(command: str) -> None:
    """Every command of the program has a row in the table of commands."""
    assert f"| `repro {command}" in page("reference/commands")


@pytest.mark.parametrize("kind", [*kinds(Expectation), *kinds(Measurable), *kinds(Output)])
def test_every_kind_is_described(kind: str) -> None:
    """Every expectation, measurement and output layer has a row."""
    tables = map(page, ("reference/expectations", "reference/measurements", "reference/models"))
    assert f"| `{kind}` |" in "".join(tables)


@pytest.mark.parametrize("word", [*Validity, *Conclusion, *Agreement])
def test_every_word_of_a_verdict_is_explained(word: str) -> None:
    """Every word that a verdict can carry is explained."""
    assert f"`{word}`" in page("tutorial/reading-a-report")


def test_every_reason_for_fragility_is_listed() -> None:
    """What makes a verdict fragile in this version is named."""
    text = page("tutorial/reading-a-report")
    section = text[text.index("*Fragile*") :].split("\n\n")[0].replace("\n", " ")
    words = {
        FlagKind.ONE_SEED_LEFT_OUT: "one seed",
        FlagKind.TOLERANCE: "threshold",
        FlagKind.TEST_CHOICE: "choice of test",
        FlagKind.CONTROL: "control",
        FlagKind.CEILING: "ceiling",
        FlagKind.ORDER: "order of a table",
        FlagKind.DRIFT: "drift",
    }
    for kind, word in words.items():
        assert word in section, kind
    below = text[text.index("Before any test every sample") :].split("\n\n")[0]
    odd = (FlagKind.UNITS, FlagKind.SHARED, FlagKind.REPEATED, FlagKind.GAPS, FlagKind.OUTLIER)
    for flag in (*odd, FlagKind.UNEQUAL):
        assert flag.value in below.replace("\n", " ")


def test_every_exit_status_is_listed() -> None:
    """The nine exit codes have a row each; a gate has a word in place of one."""
    assert "| 6 |" in page("reference/exit-status")
    for status in (0, 1, 2, 3, 4, 5, 70, 130):
        assert f"| {status} |" in page("reference/exit-status")
        assert re.search(rf"\| ([\d, ]+, )?{status}(,[\d, ]+)? \|", page("how-to/gate"))


def test_every_claim_is_listed() -> None:
    """Every shipped claim file has a row."""
    for path in (ROOT / "claims").glob("*.yaml"):
        assert f"`claims/{path.name}`" in page("reference/claims")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link of a page names a file of the project."""
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_every_page_is_in_the_contents() -> None:
    """Whoever begins at the index reaches every page, and the README is short."""
    listed = re.findall(r"^((?:[a-z-]+/)?[a-z0-9-]+)$", page("index"), re.MULTILINE)
    assert sorted(listed) == sorted(
        str(path.relative_to(DOCS).with_suffix("")) for path in PAGES[1:] if path.stem != "index"
    )
    assert README.stat().st_size <= 8_192


FIRST_CLAIM = DOCS / "tutorial" / "first-claim.md"


def verified(claim: str, table: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What `repro verify` says of a claim and its table, in a folder of their own."""
    (folder / "mixup.csv").write_text(table, encoding="utf-8")
    (folder / "mixup.claim.yaml").write_text(claim, encoding="utf-8")
    with chdir(folder):
        return repro("verify", "mixup.claim.yaml")


@pytest.mark.parametrize(
    "path", [README, FIRST_CLAIM, DOCS / "how-to" / "judge-your-results.md"], ids=lambda p: p.stem
)
def test_a_csv_gives_a_verdict(path: Path, tmp_path: Path) -> None:
    """Claim and table, as they stand, give a verdict; nothing is trained."""
    text = path.read_text(encoding="utf-8")
    (claim, *_), (table,) = examples("yaml", text), examples("csv", text)
    for name in ("mixup.claim.yaml", "mixup.csv"):
        assert path.stem == "judge-your-results" or f"`{name}`" in text
    done = verified(claim, table, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("mixup: VALID, CONFIRMED")
    assert (tmp_path / "reports" / "mixup" / "declared" / "report.html").is_file()
    assert "0.73 lower than without mixup" in done.stdout


def test_a_run_is_held_against_what_a_paper_prints(tmp_path: Path) -> None:
    """The claim of the page gives a verdict on one run: outside of what five printed ones say."""
    _, claim = examples("yaml", page("how-to/judge-your-results"))
    (tmp_path / "mine.csv").write_text("arm,seed,measurement,value\nours,0,error,5.90\n")
    (tmp_path / "claim.yaml").write_text(claim, encoding="utf-8")
    with chdir(tmp_path):
        done = repro("verify", "claim.yaml")
    assert done.stdout.startswith("within_the_paper: VALID, CONTRADICTED"), done.stderr


def test_the_readme_prints_what_its_first_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    """A stranger with a bare clone sees these lines; those of the committed report of the claim."""
    first, *_ = examples("console", README.read_text(encoding="utf-8"))
    command, *printed, done, tested = first.splitlines()
    assert command == "$ ./dev verify claims/mos_rank.yaml"
    place = Path("reports/mos_rank/quick")
    tell(
        read_report(ROOT / "reports/library/mos_rank/quick/report.json"),
        place / "report.html",
        err=False,
    )
    assert printed == capsys.readouterr().out.splitlines()
    assert done == "15 runs trained or measured, 0 reused"
    assert tested == "$ ./dev test"


def test_the_readme_prints_what_compare_says(tmp_path: Path) -> None:
    """Whoever has installed the package types one command about the table, and sees these lines."""
    text = README.read_text(encoding="utf-8")
    (table,), (_, block, _) = examples("csv", text), examples("console", text)
    installed, command, *printed = block.splitlines()
    assert installed.startswith("$ pip install ")
    (tmp_path / "mixup.csv").write_text(table, encoding="utf-8")
    with chdir(tmp_path):
        done = repro(*command.removeprefix("$ repro ").split())
    assert (done.returncode, done.stdout.splitlines()) == (0, printed), done.stderr


def test_the_costs_on_a_gpu_are_of_code_that_is_there() -> None:
    """Each row names a file of the trainer, and functions or constants that are in it."""
    text = (ROOT / "benchmarks" / "gpu.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"\| where \|.*?\n\n", text, re.DOTALL)
    rows = re.findall(r"^\| (`[^|]+)\|", table, re.MULTILINE)
    assert len(rows) >= 6
    for part in (part for row in rows for part in row.split(";")):
        file, *names = re.findall(r"`([\w/.]+)`", part)
        code = (ROOT / "repro/trainers/language_model" / file).read_text(encoding="utf-8")
        assert names
        assert [name for name in names if name.split(".")[-1] not in code] == []


def gated(claim: str, programs: dict[str, str], folder: Path) -> str:
    """The last line of a gate on programs, each in a folder of its own."""
    for name, program in programs.items():
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(program, encoding="utf-8")
    (folder / "candidate.claim.yaml").write_text(claim, encoding="utf-8")
    with chdir(folder):
        done = repro("gate", "candidate.claim.yaml", "--allow-code", "--store", "store")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_the_example_of_a_gate_keeps_its_candidate(tmp_path: Path) -> None:
    """Program and claim, as they stand."""
    text = page("how-to/gate")
    (program,), (claim, *_) = examples("python", text), examples("yaml", text)
    assert gated(claim, {"code": program}, tmp_path) == "KEEP"


def test_the_example_of_a_reference_lets_a_run_inside_pass(tmp_path: Path) -> None:
    """Its arms and expectation, in the claim of the page."""
    claim, _, within = examples("yaml", page("how-to/gate"))
    head = claim[: claim.index("configuration:")]
    measured = claim[claim.index("measurements:") : claim.index("expectations:")]
    (tmp_path / "tonight.csv").write_text("arm,seed,measurement,value\ntonight,40,error,2.01\n")
    runs = "".join(f"release,{seed},error,{2 + seed / 100}\n" for seed in range(10))
    (tmp_path / "release.csv").write_text(f"arm,seed,measurement,value\n{runs}")
    assert gated(f"{head}design: independent\n{measured}{within}", {}, tmp_path) == "INSIDE"


def test_a_gate_takes_the_arms_of_two_work_trees(tmp_path: Path) -> None:
    """The arms of the page, in place of those of its claim; the code alone differs."""
    text = page("how-to/gate")
    (program,), (claim, arms, _) = examples("python", text), examples("yaml", text)
    of_claim = claim[claim.index("arms:") : claim.index("design:")]
    edited = program.replace('if given.rate == "0.3":', "if True:")
    edited = edited.replace("{given.seed} {given.rate}", "{given.seed} edited")
    trees = {"candidate": edited, "baseline": program}
    assert gated(claim.replace(of_claim, arms), trees, tmp_path) == "KEEP"


def test_the_example_of_a_program_is_tried_and_verified(tmp_path: Path) -> None:
    """Program and claim, as they stand, with both commands of the page."""
    text = page("how-to/run-your-training-code")
    (program, _), (claim, *_) = examples("python", text), examples("yaml", text)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(program, encoding="utf-8")
    (tmp_path / "adamw.claim.yaml").write_text(claim, encoding="utf-8")
    with chdir(tmp_path):
        tried = repro("try", "adamw.claim.yaml", "--allow-code")
        done = repro("verify", "adamw.claim.yaml", "--allow-code", "--store", "store")
    assert tried.returncode == 0, tried.stderr
    assert "eval_error" in tried.stdout
    assert done.stdout.startswith("adamw_better: VALID, CONFIRMED"), done.stderr


def test_the_example_of_a_function_measures_what_the_example_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both as they stand, in the claim of the page; the program leaves the file that is read."""
    text = page("how-to/run-your-training-code")
    (program, function), (claim, _, measured) = examples("python", text), examples("yaml", text)
    leaves = 'open(given.out + "/recall.json", "w").write(json.dumps({"a": 0.5, "b": 0.25}))\n'
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(program + leaves, encoding="utf-8")
    (tmp_path / "my_measurements.py").write_text(function, encoding="utf-8")
    claim = claim.replace("measurements:\n", measured).replace("*.png", "*.json")
    (tmp_path / "adamw.claim.yaml").write_text(claim, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with chdir(tmp_path):
        tried = repro("try", "adamw.claim.yaml", "--allow-code")
    assert tried.returncode == 0, tried.stderr
    assert "worst: recall of the worst class = 0.25\n" in tried.stdout


def test_every_command_of_the_page_gives_a_claim(tmp_path: Path) -> None:
    """In which nothing is left open but the arms and the reasons of its author."""
    rows = re.findall(r"`(--command .+)` \|$", page("how-to/run-your-training-code"), re.MULTILINE)
    assert len(rows) == 7
    given = ("--better", "lower", "--measure", "val_bpb", "--by", "1", "--why", "it can be felt")
    for number, row in enumerate(rows):
        folder = tmp_path / str(number)
        folder.mkdir()
        for program in ("run.py", "main.py", "train.py", "simulate"):
            (folder / program).write_text("a program\n", encoding="utf-8")
        with chdir(folder):
            done = repro("new", *shlex.split(row), *given, "--own", "we want to know it")
        assert done.returncode == 0, done.stderr
        opened = re.findall(r"^to fill in: \S+ (.+)$", done.stdout, re.MULTILINE)
        assert opened
        assert not [each for each in opened if not each.startswith(("nothing says", "arm", "args"))]


def test_arms_may_differ_in_a_variable_as_the_page_says(tmp_path: Path) -> None:
    claim, arms, _ = examples("yaml", page("how-to/run-your-training-code"))
    of_claim = claim[claim.index("arms:") : claim.index("design:")]
    claim = claim.replace(of_claim, arms).replace("[adamw, adam]", "[muon, plain]")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text("import os\n", encoding="utf-8")
    (tmp_path / "arms.claim.yaml").write_text(claim, encoding="utf-8")
    done = repro("check", tmp_path / "arms.claim.yaml")
    assert (done.returncode, done.stderr) == (0, "")


WRITES_ERROR = """
import argparse, json, random
from pathlib import Path
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
parser.add_argument("--out", type=Path)
parser.add_argument("--mixup", type=float, default=0.0)
given = parser.parse_args()
error = random.Random(f"{given.seed} {given.mixup}").gauss(5 - 2 * given.mixup, 0.05)
(given.out / "results.json").write_text(json.dumps({"eval_error": error}))
"""


def test_the_readmes_commands_lead_from_a_program_to_a_verdict(tmp_path: Path) -> None:
    """Of the claim file that `new` writes only what it asks for is filled in."""
    (commands,) = examples("sh", README.read_text(encoding="utf-8"))
    new, tried, verified = (shlex.split(line)[1:] for line in commands.splitlines())
    (tmp_path / "train.py").write_text(WRITES_ERROR, encoding="utf-8")
    claim = tmp_path / tried[1]
    with chdir(tmp_path):
        done = repro(*new)
        for key in ("source.own", "smallest_effect.why"):
            assert re.search(rf"to fill in: {claim.name}:\d+:\d+: \S*{key}", done.stdout)
        text = claim.read_text(encoding="utf-8")
        for empty, filled in (
            ('own: ""', 'own: "we train with mixup if it helps"'),
            ('abs: , why: ""', 'abs: 0.3, why: "less would not matter to us"'),
            ("label: changed, args: {}", "label: changed, args: {mixup: 0.4}"),
        ):
            assert empty in text
            text = text.replace(empty, filled)
        claim.write_text(text, encoding="utf-8")
        assert "eval_error = " in repro(*tried).stdout
        done = repro(*verified, "--store", "store")
    assert re.match(rf"{claim.name.split('.')[0]}_\w+: VALID, CONFIRMED", done.stdout)


@pytest.mark.parametrize("where", ["how-to/first-verdict", "how-to/research-loop"])
def test_a_command_prints_what_its_page_says(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command, on its table of the page, prints what the page prints."""
    monkeypatch.chdir(tmp_path)
    text = page(where)
    for table, told in zip(examples("csv", text), examples("console", text), strict=True):
        command, _, printed = told.partition("\n")
        arguments = command.removeprefix("$ repro ").split()
        Path(arguments[1]).write_text(table, encoding="utf-8")
        done = repro(*arguments)
        assert (done.returncode, done.stdout) == (0, printed), done.stderr


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("abs: 0.3", "abs: 0.7", "INCONCLUSIVE"),
        ("mixup,1,error,4.35\n", "", "INCOMPLETE"),
        ("4.29", "4.97", "flags: one seed left out"),
    ],
)
def test_the_first_claim_breaks_as_its_page_says(
    old: str, new: str, word: str, tmp_path: Path
) -> None:
    """A larger gain is not shown, no planned seed may be missing, and one far off is told."""
    text = FIRST_CLAIM.read_text(encoding="utf-8")
    (claim,), (table,) = examples("yaml", text), examples("csv", text)
    done = verified(claim.replace(old, new), table.replace(old, new), tmp_path)
    assert word in done.stdout.splitlines()[0]


def test_the_example_claim_loads(tmp_path: Path) -> None:
    """The claim that trains has no mistake, and its override is in force."""
    (example,) = examples("yaml", page("how-to/train-a-claim"))
    (tmp_path / "mine.yaml").write_text(example, encoding="utf-8")
    claim = load_claim(tmp_path / "mine.yaml", "quick")
    dropout = {
        name: arm.configuration.recipe.dropout.output
        for name, arm in claim.arms.items()
        if arm.configuration is not None
    }
    assert dropout == {"plain": 0, "dropped": 0.05}


def test_the_example_of_a_dialog_model_is_the_one_that_ships(tmp_path: Path) -> None:
    """Model and recipe of the page, but for the initial bias, are those on Switchboard."""
    (example,) = examples("yaml", page("how-to/dialogs"))
    (tmp_path / "example.yaml").write_text(example, encoding="utf-8")
    written = read_document(tmp_path / "example.yaml").data
    shipped = read_document(ROOT / "claims/configurations/yang2018/switchboard/mos.yaml").data
    assert shipped["recipe"].pop("initial_bias") == "unigram"
    assert written == {name: shipped[name] for name in ("model", "recipe")}


def test_the_slowest_tests_are_there_in_order() -> None:
    """Twenty tests are named, the slowest first, and each of them exists."""
    rows = re.findall(
        r"^\| `(tests/\S+\.py)::(\S.*)` \| (\d+) \|$", page("how-to/contribute"), re.MULTILINE
    )
    seconds = [int(each) for _, _, each in rows]
    assert len(rows) == 20
    assert seconds == sorted(seconds, reverse=True)
    for file, name, _ in rows:
        function = name.split("[")[0].split("::")[-1]
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), name
