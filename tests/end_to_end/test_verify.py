"""`repro verify` as a user gives it: a process, files, a status."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.running.processes import until

HERE = Path(__file__).parent
CLAIMS = HERE / "claims"
FILES = {"report.json", "report.html", "report.pdf", "values.csv", "junit.xml"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of its own for store and reports."""
    return tmp_path


def copy_shorter(claims: Path, to: Path) -> Path:
    """Copy a folder of claims; the configurations train on less text, for three epochs."""
    shutil.copytree(claims, to)
    for path in sorted((CLAIMS / "configurations").rglob("*.yaml")):
        copy = to / path.relative_to(CLAIMS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        text = text.replace("train: 4000", "train: 1500").replace("epochs: 4", "epochs: 3")
        copy.write_text(text, encoding="utf-8")
    return to


def command(place: Path, *arguments: str | Path) -> list[str]:
    """`python -m repro verify` with its store and reports below ``place``."""
    own = ["--store", place / "store", "--reports", place / "reports", "--device", "cpu"]
    return [sys.executable, "-m", "repro", "verify", *map(str, (*arguments, *own))]


def run(place: Path, *arguments: str | Path, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command(place, *arguments), capture_output=True, text=True, check=False, **how
    )
    return done


def document(place: Path, claim: str = "tiny_rank") -> dict[str, object]:
    """The report's document without what derives from time or machine."""
    text = (place / "reports" / claim / "quick" / "report.json").read_text(encoding="utf-8")
    whole: dict[str, object] = json.loads(text)
    del whole["provenance"]
    return whole


def count_of_files(store: Path) -> int:
    """How much of its work a process has done."""
    return sum(len(files) for _, _, files in os.walk(store))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place where the rank claim was verified without disturbance."""
    place = tmp_path_factory.mktemp("finished")
    done = run(place, copy_shorter(CLAIMS, place / "claims") / "tiny_rank.yaml")
    assert "VALID" in done.stdout, done.stderr
    return place


def test_a_claim_becomes_five_files(finished: Path) -> None:
    """JSON, HTML, PDF, values and JUnit are written, and an index beside them."""
    folder = finished / "reports" / "tiny_rank" / "quick"
    assert {path.name for path in folder.iterdir()} == FILES
    assert (finished / "reports" / "index.html").is_file()
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")
    assert ET.parse(folder / "junit.xml").getroot() is not None


def test_the_second_time_nothing_is_trained(finished: Path) -> None:
    """A finished store is judged again, to the same document, without importing torch."""
    before = document(finished)
    again = subprocess.run(
        [
            sys.executable,
            HERE.parent / "without_torch.py",
            *command(finished, finished / "claims" / "tiny_rank.yaml")[3:],
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "0 runs trained or measured, 9 reused" in again.stdout, again.stderr
    assert document(finished) == before


@pytest.mark.parametrize("seed", range(2))
def test_killed_and_started_again_ends_the_same(seed: int, place: Path, finished: Path) -> None:
    """After SIGKILL at a random moment the next start goes on and ends with the same document.

    The moment is a number of files in the store, of about 90 that nine runs leave.
    """
    files = random.Random(seed).randrange(3, 70)
    claim = finished / "claims" / "tiny_rank.yaml"
    process = subprocess.Popen(
        command(place, claim),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert until(lambda: count_of_files(place / "store") >= files, seconds=60)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    done = run(place, claim, "--workers", "1")
    assert done.returncode in (0, 1, 3), done.stderr
    assert document(place) == document(finished)


def test_interrupted_it_says_how_to_go_on(place: Path) -> None:
    """Ctrl-C ends with 130, keeps what is there, and says so in one line, without a traceback."""
    process = subprocess.Popen(
        command(place, CLAIMS / "tiny_rank.yaml"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Give the same command to go on." in errors
    assert "Traceback" not in errors


def test_claims_of_a_folder_share_their_runs(finished: Path) -> None:
    """Two claims on the same arms need no run twice, and the index names both."""
    done = run(finished, finished / "claims")
    assert "9 reused" in done.stdout, done.stderr
    index = (finished / "reports" / "index.html").read_text(encoding="utf-8")
    assert "tiny_rank" in index
    assert "tiny_fair" in index


def test_without_training_an_empty_store_is_incomplete(place: Path) -> None:
    """`--no-train` on an empty store reports INCOMPLETE with status 3, and trains nothing."""
    done = run(place, CLAIMS / "tiny_rank.yaml", "--no-train")
    assert done.returncode == 3, done.stderr
    assert "INCOMPLETE, no conclusion" in done.stdout
    assert "0 runs trained or measured, 0 reused, 9 missing" in done.stdout
    assert not list((place / "store").glob("*/*/record.json"))


def test_a_damaged_artefact_is_invalid(place: Path, finished: Path) -> None:
    """A changed value in the store gives INVALID with status 4, and is not trained over."""
    subprocess.run(["cp", "-r", finished / "store", place / "store"], check=True)
    victim = next((place / "store").glob("*/*/measurements/rank-*.json"))
    text = victim.read_text(encoding="utf-8").replace('"value":', '"value":1')
    victim.write_text(text, encoding="utf-8")
    done = run(place, finished / "claims" / "tiny_rank.yaml")
    assert done.returncode == 4, done.stderr
    assert "INVALID" in done.stdout
    assert victim.name in (done.stdout + done.stderr).replace("\n", "")
    assert victim.read_text(encoding="utf-8") == text


def test_five_mistakes_give_five_messages(place: Path) -> None:
    """Every mistake of a file is named with its place; status 2, nothing trained."""
    done = run(place, HERE / "bad" / "five_mistakes.yaml")
    assert done.returncode == 2
    places = [line for line in done.stderr.splitlines() if "five_mistakes.yaml:" in line]
    assert len(places) == 5
    assert "Traceback" not in done.stderr
    assert not (place / "store").exists()


def test_a_missing_corpus_says_what_to_set(place: Path) -> None:
    """A claim on text without $REPRO_DATA ends with 5 and names the variable."""
    shipped = HERE.parents[1] / "claims" / "fair_mos.yaml"
    environment = {name: value for name, value in os.environ.items() if name != "REPRO_DATA"}
    done = run(place, shipped, "--scale", "bench", env=environment)
    assert done.returncode == 5, done.stderr
    assert "REPRO_DATA" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_step_summary_is_appended(finished: Path, place: Path) -> None:
    """`--summary` appends a Markdown table to what is there."""
    summary = place / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    run(finished, finished / "claims" / "tiny_rank.yaml", "--summary", summary)
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert "above that of a tiny Softmax (tiny\\_rank) | CONTRADICTED | " in text


def test_reports_that_cannot_be_written_are_noticed_before_training(place: Path) -> None:
    """A file in the way of the reports ends with 5 and advice, and nothing is trained."""
    (place / "reports").write_text("in the way", encoding="utf-8")
    done = run(place, CLAIMS / "tiny_rank.yaml")
    assert done.returncode == 5
    assert "to do: give another one" in done.stderr
    assert not (place / "store").exists()


def test_a_corpus_that_is_not_there_is_said_before_anything_is_trained(
    finished: Path, place: Path
) -> None:
    """One line names it, and the status is 5; what is there is judged with --no-train."""
    subprocess.run(["cp", "-r", finished / "claims", place / "claims"], check=True)
    claim = place / "claims" / "tiny_fair.yaml"
    text = claim.read_text(encoding="utf-8")
    digests = ", ".join(f"{split}: {'a' * 64}" for split in ("train", "valid", "test"))
    tokens = "{train: 5000, valid: 500, test: 500}"
    corpus = (
        f"{{kind: text, name: absent, vocabulary: 60, tokens: {tokens}, sha256: {{{digests}}}}}"
    )
    change = f"override: {{corpus: {corpus}}}"
    text = text.replace("configuration: tiny/mos}", f"configuration: tiny/mos, {change}}}")
    claim.write_text(text, encoding="utf-8")
    there = {**os.environ, "REPRO_DATA": str(place)}
    done = run(finished, place / "claims", env=there)
    assert (done.returncode, done.stdout) == (5, ""), done.stderr
    (line,) = (line for line in done.stderr.splitlines() if "absent" in line)
    assert "absent/train.txt cannot be read" in line
    done = run(finished, place / "claims", "--no-train")
    assert done.returncode == 1, done.stderr  # tiny_rank is not as expected
    assert "tiny_rank (quick): VALID" in done.stdout
    assert "tiny_fair (quick): INCOMPLETE" in done.stdout


def test_a_summary_that_cannot_be_written_is_noticed_before_training(place: Path) -> None:
    """A summary below what is no folder ends with 5, and nothing is trained."""
    done = run(place, CLAIMS / "tiny_rank.yaml", "--summary", CLAIMS / "tiny_rank.yaml" / "s.md")
    assert done.returncode == 5
    assert "s.md" in done.stderr
    assert not (place / "store").exists()
