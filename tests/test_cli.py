"""The command line: commands, options, quick help, problems as messages."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import repro
from repro.cli import app
from repro.specs.load import load_claims
from repro.store.run_store import RunStore
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.spec import TextCorpus
from repro.workflows.verify import plan_runs
from tests.commands import repro as said
from tests.judging.evidence import claim, evidence, ranks

ROOT = Path(__file__).parents[1]


def call(*arguments: str | Path, **how: Any) -> subprocess.CompletedProcess[str]:
    """`python -m repro` with these arguments."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [sys.executable, "-m", "repro", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **how,
    )
    return done


def test_the_commands_are_these() -> None:
    """A new command is a visible change of this list."""
    names = {c.name or c.callback.__name__ for c in app.registered_commands if c.callback}
    assert names == {
        "verify", "compare", "new", "check", "gate", "plan", "measure", "tune", "audit", "rank",
        "similarity", "report", "history", "diff", "schema", "corpus", "doctor", "try",
        "noise",
    }  # fmt: skip
    (runs,) = app.registered_groups
    assert runs.typer_instance is not None
    commands = runs.typer_instance.registered_commands
    names = {c.name or c.callback.__name__ for c in commands if c.callback}
    assert names == {"check", "export", "import"}


def test_the_version_is_said() -> None:
    done = call("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"repro \S+\n", done.stdout)


def test_the_public_names_are_these_and_each_is_there() -> None:
    """A new public name is a visible change; every one can be imported."""
    assert repro.__all__ == [
        "Claim",
        "Document",
        "Options",
        "ReproError",
        "RunSpec",
        "RunStore",
        "check_claim",
        "execute",
        "gather",
        "judge",
        "load_claim",
        "load_claims",
        "plan_runs",
        "read_document",
        "verify_claims",
        "write_report",
    ]
    for name in repro.__all__:
        assert getattr(repro, name).__name__ == name


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    """The lazy package says what is missing."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = repro.nothing


HEAVY = ["torch", "numpy", "scipy", "pandas", "matplotlib", "typst", "pydantic", "yaml", "rich"]


@pytest.mark.parametrize("heavy", HEAVY)
def test_help_loads_nothing_heavy(heavy: str) -> None:
    """`repro --help` is quick because it imports no heavy package."""
    program = f"import sys; sys.modules['{heavy}'] = None; from repro.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "verify" in done.stdout


def test_help_says_the_whole_sentence_of_each_command() -> None:
    """No summary is cut at the width of a terminal."""
    shown = " ".join(call("--help").stdout.split())
    assert "..." not in shown.replace("[ARGS]...", "")
    assert "Train what is missing, judge the claims, and write their reports." in shown


def test_a_mistyped_command_is_corrected() -> None:
    """A wrong command ends with 2 and names the one that was meant."""
    done = call("verfy", "x.yaml")
    assert done.returncode == 2
    assert "verify" in done.stderr


def test_a_missing_claim_file_is_a_message() -> None:
    """A file that is not there ends with 2 and is named; no traceback."""
    done = said("verify", "nowhere.yaml")
    assert done.returncode == 2
    assert "nowhere.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_that_cannot_be_is_infrastructure(tmp_path: Path) -> None:
    """A store below a file ends with 5 and says where."""
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    own = ROOT / "tests" / "end_to_end" / "claims" / "tiny_fair.yaml"
    done = call("verify", own, "--store", tmp_path / "file" / "store", cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    assert "Traceback" not in done.stderr
    assert str(tmp_path / "file") in done.stderr.replace("\n", "")


def test_plan_says_what_would_be_trained_and_trains_nothing(tmp_path: Path) -> None:
    """Every distinct run has a line, one sums up, the designs follow; the store stays empty."""
    names = ("fair_mos", "lms_plif_regularization", "mos_rank")
    files = [ROOT / "claims" / f"{name}.yaml" for name in names]
    done = said("plan", *files, "--store", tmp_path / "store")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith("missing ") for line in lines) == 49
    assert lines[49].startswith("49 runs, 49 to train or measure: very roughly ")
    assert {"fair_mos (quick)", "lms_plif_regularization (quick)", "mos_rank (quick)"} < set(lines)
    assert not (tmp_path / "store").exists()


def test_a_folder_says_in_one_line_what_it_passes_over(tmp_path: Path) -> None:
    """On stderr, as a note: how many claims, which, and why; a refusal comes without it."""
    folder, store = tmp_path / "claims", tmp_path / "store"
    for name in ("nightly/softmax_control", "yang2018/mos_finetuned_beats_awd_ptb"):
        file = ROOT / "claims" / f"{name}.claim.yaml"
        (folder / name).mkdir(parents=True)
        shutil.copy(file, folder / name)
    done = said("plan", folder, "--store", store)
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        "passed over 1 claim that would train at larger scales than quick: "
        "mos_finetuned_beats_awd_ptb; --scale bench or paper takes those that have it\n"
    )
    assert "softmax_control (quick)" in done.stdout
    assert "mos_finetuned" not in done.stdout
    done = said("plan", folder, "--scale", "paper", "--store", store)
    assert done.stderr == "passed over 1 claim without the scale paper: softmax_control\n"
    assert "mos_finetuned_beats_awd_ptb (paper)" in done.stdout
    done = said("verify", folder, "--scale", "bench", "--store", store)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{folder}:1:1: no claim in this folder has the scale 'bench'\n")
    done = said("runs", "check", folder, "--store", ROOT / "tests", "--scale", "quick")
    assert "passed over 1 claim without the scale quick" in done.stderr


@pytest.mark.parametrize("which", ["claim", "configuration", "report"])
def test_schema_prints_a_json_schema(which: str) -> None:
    """The printed text is a valid JSON Schema, of a document with fields."""
    schema = json.loads(said("schema", which).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema.get("properties") or schema.get("anyOf")


def test_report_renders_again_what_verify_wrote(tmp_path: Path) -> None:
    """From report.json alone come the same four files, byte for byte."""
    from repro.judging.assemble import check_claim
    from repro.report.write import write_report

    of = claim("mos_rank")
    document = check_claim(of, evidence(of, ranks((800, 801, 802, 803, 804))))
    written = write_report(document, tmp_path / "first")
    (tmp_path / "second").mkdir()
    shutil.copy(tmp_path / "first" / "report.json", tmp_path / "second")
    done = said("report", tmp_path / "second" / "report.json")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 5
    for path in written:
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes(), path.name


def test_a_damaged_report_is_a_message(tmp_path: Path) -> None:
    """A truncated report.json ends with 2 and a place; no traceback."""
    (tmp_path / "report.json").write_text('{"schema": 1, "claim"', encoding="utf-8")
    done = said("report", tmp_path / "report.json")
    assert done.returncode == 2
    assert "report.json:1:" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_no_report_is_a_message(tmp_path: Path) -> None:
    """A table given for a report ends with 2, and with what to give instead."""
    (tmp_path / "results.csv").write_text("arm,seed,measurement,value\n", encoding="utf-8")
    done = said("report", tmp_path / "results.csv")
    assert done.returncode == 2
    assert done.stderr == (
        f"{tmp_path}/results.csv:1:1: Invalid JSON: expected value at line 1 column 1\n"
        "  expected: a report.json, as `repro verify` writes it\n"
        "  to do: give the path of one or of its folder; `repro verify` writes it again\n"
    )


def tabled(folder: Path) -> Path:
    """A claim on a table, in a folder, whose first label has two lines."""
    for file in (ROOT / "tests" / "specs" / "good").glob("table_claim.*"):
        shutil.copy(file, folder)
    path = folder / "table_claim.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("label: New", 'label: "New\\nand\\tbetter"'), encoding="utf-8")
    return path


def test_verify_prints_one_line_a_sentence_and_makes_folders(tmp_path: Path) -> None:
    """A label of two lines is printed on one, a part too; the folder of a summary is made."""
    summary = tmp_path / "reports" / "new" / "summary.md"
    where = ("--store", tmp_path / "store", "--reports", tmp_path / "reports")
    done = said("verify", tabled(tmp_path), *where, "--summary", summary)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert [line[:4] for line in lines] == [
        "tabl",
        "  Bo",
        "  - ",
        "  - ",
        f"  {tmp_path}"[:4],
        "noth",
    ]
    assert "New and better" in lines[1]
    assert summary.read_text(encoding="utf-8").startswith("## ")


def test_a_summary_below_a_file_is_a_message(tmp_path: Path) -> None:
    """A summary whose folder cannot be made ends with 5, before anything is judged."""
    claim_file = tabled(tmp_path)
    done = said("verify", claim_file, "--reports", tmp_path, "--summary", claim_file / "s.md")
    assert done.returncode == 5
    assert done.stderr.startswith(f"{claim_file / 's.md'}: ")
    assert done.stdout == ""


def test_a_corpus_is_described_as_a_configuration_has_it(tmp_path: Path) -> None:
    """The block that is printed, read as YAML, is the specification; a missing file is named."""
    (tmp_path / "tiny").mkdir()
    for split, text in {"train": "a b a\n\nc\n", "valid": "b d\n", "test": "a e"}.items():
        (tmp_path / "tiny" / f"{split}.txt").write_text(text, encoding="utf-8")
    done = said("corpus", tmp_path / "tiny", "--unit", "characters")
    block = json.dumps(yaml.safe_load(done.stdout)["corpus"])
    spec = TextCorpus.model_validate_json(block)
    assert load_corpus(spec, tmp_path).vocabulary == 7
    (tmp_path / "tiny" / "test.txt").unlink()
    missing = said("corpus", tmp_path / "tiny")
    assert (missing.returncode, missing.stdout) == (5, "")
    assert "tiny/test.txt: No such file" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_doctor_names_what_is_missing(tmp_path: Path) -> None:
    """Without corpora the doctor notes it and says what to set; that is no problem."""
    done = call("doctor", "--store", tmp_path / "store", env={"PATH": "", "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "REPRO_DATA" in done.stdout


def test_doctor_reports_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    """A store below a file is a problem with status 5."""
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    done = said("doctor", "--store", tmp_path / "file" / "store")
    assert done.returncode == 5, done.stdout
    assert "problem" in done.stdout


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    """`repro plan ... | head` ends with 141, which no verdict has, and without a traceback."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "repro",
            "plan",
            str(ROOT / "claims" / "nightly"),
            "--store",
            str(tmp_path),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 141
    assert "Traceback" not in errors


def test_doctor_survives_what_it_looks_for(tmp_path: Path) -> None:
    """Without torch the doctor says that torch cannot be imported, and ends with 5."""
    program = "import sys; sys.modules['torch'] = None; from repro.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "doctor", "--store", str(tmp_path / "store")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5
    assert "torch cannot be imported" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_plan_is_no_quicker_than_its_longest_run(tmp_path: Path) -> None:
    """Workers that have nothing to do shorten nothing."""
    claims = load_claims(ROOT / "claims" / "mos_rank.yaml", "quick")
    planned = plan_runs(claims, RunStore(tmp_path / "store"), workers=1000)
    assert planned.seconds == max(one.work for one in planned.runs) / planned.rate


def number_options() -> list[tuple[str, str]]:
    """Each option of a command that takes a number, but whole ones."""
    return [
        (command.callback.__name__, f"--{option.name.replace('_', '-')}")
        for command in app.registered_commands
        if command.callback is not None
        for option in inspect.signature(command.callback, eval_str=True).parameters.values()
        if getattr(option.annotation, "__origin__", None) in (float | None, list[float] | None)
    ]


@pytest.mark.parametrize("value", ["inf", "nan", "-1", "1e400"])
@pytest.mark.parametrize(("command", "option"), number_options())
def test_an_option_takes_no_number_without_a_bound(command: str, option: str, value: str) -> None:
    """What is infinite, no number, or negative would be printed as no JSON, or mean nothing."""
    if value == "-1" and option in ("--at-most", "--at-least"):
        return  # a limit may be negative
    done = said(command, option, value)
    assert done.returncode == 2
    assert f"Invalid value for '{option}'" in done.stderr


def test_there_are_options_that_take_a_number() -> None:
    assert {("plan", "--price"), ("verify", "--limit"), ("rank", "--noise")} < {*number_options()}


def test_a_budget_without_end_is_no_time() -> None:
    done = said("verify", ROOT / "claims" / "mos_rank.yaml", "--budget", f"{'9' * 400}h")
    assert done.returncode == 2
    assert "is no time" in done.stderr
