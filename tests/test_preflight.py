"""What training needs is looked for before anything is timed or trained."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from repro.cli import app
from repro.machine import NOT_INSTALLED, package_version
from repro.running import preflight
from repro.running.engine import RunOptions
from repro.running.preflight import lacking
from repro.store.run_store import RunStore
from repro.trainers.language_model.spec import Digests, SplitTokens, TextCorpus, TrainingSpec
from repro.trainers.run import PlannedRun
from tests.running.tiny import RANK, TEST, tiny_plan, tiny_run

CLAIMS = Path(__file__).parents[1] / "claims"
TINY = Path(__file__).parent / "end_to_end" / "claims" / "tiny_rank.yaml"
SPLITS = ("train", "valid", "test")


def text_run(folder: Path | None = None) -> PlannedRun:
    """A run on a text called `mine`, whose files are made below the folder."""
    digests = {}
    for split in SPLITS:
        content = f"the {split} split\n".encode()
        digests[split] = hashlib.sha256(content).hexdigest()
        if folder is not None:
            (folder / "mine").mkdir(exist_ok=True)
            (folder / "mine" / f"{split}.txt").write_bytes(content)
    corpus = TextCorpus(
        name="mine",
        vocabulary=6,
        tokens=SplitTokens(train=4, valid=4, test=4),
        sha256=Digests(**digests),
    )
    run = tiny_run()
    training = run.training.model_copy(update={"corpus": corpus})
    return PlannedRun(run=run.model_copy(update={"training": training}), measurements=(TEST,))


def lacks(tmp_path: Path, *missing: PlannedRun, **means: object) -> list[str]:
    named = [each.model_copy(update={"arm": "MoS (quick/mos)"}) for each in missing]
    options = RunOptions(RunStore(tmp_path / "store"), **means)  # type: ignore[arg-type]
    return lacking(named, options)


def test_nothing_is_missing_for_a_synthetic_language(tmp_path: Path) -> None:
    """The quick scale needs no files; and where nothing is to be trained nothing is looked for."""
    assert lacks(tmp_path, *tiny_plan(3)) == []
    assert lacks(tmp_path, device="cuda") == []


def test_a_corpus_that_is_not_named(tmp_path: Path) -> None:
    """One line, however many runs need it."""
    one = text_run()
    other = PlannedRun(run=one.run.model_copy(update={"replicate": 1}), measurements=(TEST,))
    (line,) = lacks(tmp_path, one, other)
    assert line == (
        "needs the corpus mine: set REPRO_DATA to the folder that has mine/train.txt, "
        "mine/valid.txt and mine/test.txt"
    )


def test_the_files_of_a_corpus(tmp_path: Path) -> None:
    """There and the same; gone; another text; a pipe, which is not waited for."""
    planned, file = text_run(tmp_path), tmp_path / "mine" / "valid.txt"
    assert lacks(tmp_path, planned, data=tmp_path) == []
    file.write_text("another text\n")
    (line,) = lacks(tmp_path, planned, data=tmp_path)
    assert line.startswith(f"needs the corpus mine: {file} is another file: its SHA-256 begins")
    file.unlink()
    (line,) = lacks(tmp_path, planned, data=tmp_path)
    assert line.startswith(f"needs the corpus mine: {file} cannot be read (No such file")
    os.mkfifo(file)
    (line,) = lacks(tmp_path, planned, data=tmp_path)
    assert "is not a regular file" in line


def test_a_device_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told in one line, and only if something is to be trained."""
    monkeypatch.setattr("repro.trainers.devices.has_driver", lambda: False)
    (line,) = lacks(tmp_path, *tiny_plan(2), device="cuda")
    assert line.startswith("needs the device 'cuda': no GPU is there")
    assert line.endswith("use --device cpu or --device auto")


def test_a_disk_that_is_too_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of every run, spectra, and checkpoints of those that are trained at once."""
    monkeypatch.setattr(preflight, "free_disk", lambda _: 10_000.0)
    parameters = tiny_run().training.parameters or 0
    assert 4 * parameters * 9 > 10_000
    (line,) = lacks(tmp_path, *tiny_plan(3), workers=1)
    assert "of disk for 3 runs, and 0 MB are free where the store" in line
    monkeypatch.setattr(preflight, "free_disk", lambda _: 4.0 * parameters * 9 + 3 * 8 * 50)
    assert lacks(tmp_path, *tiny_plan(3), workers=1) == []
    monkeypatch.setattr(preflight, "free_disk", lambda _: 4.0 * parameters * 9 + 3 * 8 * 50 - 1)
    assert len(lacks(tmp_path, *tiny_plan(3), workers=1)) == 1


def test_a_memory_that_is_too_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told with the arm and its configuration, unless a number of processes was asked for."""
    run = tiny_run()
    corpus = TrainingSpec.of(run).corpus.model_copy(update={"vocabulary": 20_000})
    training = run.training.model_copy(update={"corpus": corpus})
    ranked = PlannedRun(run=run.model_copy(update={"training": training}), measurements=(RANK,))
    monkeypatch.setattr(preflight, "available_memory", lambda: 3.2e9)
    (line,) = lacks(tmp_path, ranked, *tiny_plan(2), device="cpu")
    assert line == (
        "needs about 7.6 GB of memory for one run of MoS (quick/mos), and 3.2 GB are free; "
        "use a machine with more, or --workers 1 to try it all the same"
    )
    assert lacks(tmp_path, ranked, device="cpu", workers=1) == []


def repro(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A claim at bench whose arms are trained on Penn Treebank."""
    folder = shutil.copytree(TINY.parent, tmp_path / "claims")
    for file in (folder / "configurations" / "tiny").glob("*.yaml"):
        text = file.read_text()
        start = text.index("corpus:")
        end = text.index("model:")
        corpus = (
            "corpus:\n  kind: text\n  name: ptb\n  vocabulary: 40\n"
            "  tokens: {train: 4000, valid: 400, test: 600}\n"
            f"  sha256: {{train: {'f' * 64}, valid: {'f' * 64}, test: {'f' * 64}}}\n"
        )
        file.write_text(text[:start] + corpus + text[end:])
    return folder / "tiny_rank.yaml"


def test_verify_without_a_corpus_ends_at_once(bench: Path, tmp_path: Path) -> None:
    """Status 5 and one line, before torch is imported, a claim registered or a report written."""
    place = [f"--store={tmp_path / 'store'}", f"--reports={tmp_path / 'reports'}"]
    script = Path(__file__).parent / "without_torch.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("REPRO_DATA", None)
    done = subprocess.run(
        [sys.executable, script, "verify", bench, *place],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 5, done.stderr
    assert done.stderr == (
        "needs the corpus ptb: set REPRO_DATA to the folder that has ptb/train.txt, "
        "ptb/valid.txt and ptb/test.txt\n"
    )
    assert not (tmp_path / "store").exists()
    assert not list((tmp_path / "reports").rglob("*.json"))


def test_plan_names_what_is_missing(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same line among the runs, and status 0: a plan is no failure."""
    monkeypatch.delenv("REPRO_DATA", raising=False)
    done = repro("plan", bench, "--force", "--store", tmp_path / "store")
    assert done.exit_code == 0
    assert done.output.count("needs the corpus ptb: set REPRO_DATA") == 1


def test_what_is_not_trained_needs_nothing(bench: Path, tmp_path: Path) -> None:
    """`--no-train` judges what there is, without the corpus."""
    place = ("--store", tmp_path / "store", "--reports", tmp_path / "reports")
    done = repro("verify", bench, "--no-train", *place)
    assert done.exit_code == 3
    assert "INCOMPLETE" in done.output


def test_a_gpu_that_is_not_there_ends_verify_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where something is to be trained."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    place = ("--store", tmp_path / "store", "--reports", tmp_path / "reports")
    done = repro("verify", TINY, "--device", "cuda", "--force", *place)
    assert (done.exit_code, done.output.count("\n")) == (5, 1)
    assert "needs the device 'cuda'" in done.output
    assert repro("verify", TINY, "--device", "cuda", "--no-train", *place).exit_code == 3


def test_training_without_the_extra_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch belongs to an extra; what trains nothing does without it."""
    installed = package_version
    monkeypatch.setattr(
        preflight,
        "package_version",
        lambda name: NOT_INSTALLED if name == "torch" else installed(name),
    )
    done = repro("verify", TINY, "--store", tmp_path / "store", "--reports", tmp_path / "reports")
    assert done.exit_code == 5
    said = "needs torch, which is not installed: pip install 'repro-verdict[lm]'\n"
    assert done.stderr == said
    assert not (tmp_path / "store").exists()
