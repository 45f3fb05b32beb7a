"""Numbers that a program logs with TensorBoard, MLflow or Trackio, as arms of results have them."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from repro.errors import DataError
from repro.trainers.command.left import needed
from repro.trainers.command.results import tracked
from tests.evidence.test_imports import values
from tests.trainers.command.test_left import JSON, STARTS, begun, outputs, verified
from tests.trainers.command.toy import change, mistakes, program

WANDB = Path(__file__).parents[2] / "evidence" / "imports" / "wandb-0.31.0.tar.gz"

EVENTS = STARTS + (
    """
import struct
def crc(content):
    found = 0xFFFFFFFF
    for byte in content:
        found ^= byte
        for _ in range(8):
            found = (found >> 1) ^ (0x82F63B78 if found & 1 else 0)
    found ^= 0xFFFFFFFF
    return struct.pack("<I", ((found >> 15 | found << 17) + 0xA282EAD8) & 0xFFFFFFFF)
def block(field, content):
    return bytes([field << 3 | 2, len(content)]) + content
def event(step, value):
    scalar = block(1, b"val/error") + b"\\x15" + struct.pack("<f", value)
    body = b"\\x09" + struct.pack("<d", 1.0) + bytes([2 << 3, step]) + block(5, block(1, scalar))
    size = struct.pack("<Q", len(body))
    return size + crc(size) + body + crc(body)
logs = out / "logs [x]" / "version_0"
logs.mkdir(parents=True)
content = b"".join(event(step, error + 2 - step) for step in range(3))
(logs / "events.out.tfevents.1.host").write_bytes(content)
(out / "model.ckpt").write_bytes(bytes(20))
"""
)

DATABASES = STARTS + (  # noqa: S608 - a program, and no query of ours
    """
import sqlite3
with sqlite3.connect(out / "runs.db") as db:
    db.executescript(
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name, step INTEGER, metrics);"
        "CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name, config);"
    )
    for step in range(3):
        row = ("a", step, json.dumps({"val/error": error + 2 - step}))
        db.execute("INSERT INTO metrics (run_name, step, metrics) VALUES (?, ?, ?)", row)
db.close()
mlruns = out / "mlruns" / "0" / ("a" * 32)
(mlruns / "metrics" / "val").mkdir(parents=True)
about = "experiment_id: '0'\\nname: d\\nlifecycle_stage: active\\n"
(mlruns.parent / "meta.yaml").write_text(about)
meta = f"run_id: {'a' * 32}\\nexperiment_id: '0'\\nstatus: 3\\nlifecycle_stage: active\\n"
(mlruns / "meta.yaml").write_text(meta + "start_time: 1\\nrun_name: a\\n")
lines = "".join(f"{step} {error + 2 - step} {step}\\n" for step in range(3))
(mlruns / "metrics" / "val" / "error").write_text(lines)
"""
)


@pytest.fixture
def folder(folder: Path) -> Path:
    """A claim of two arms with three seeds."""
    command = '--seed={seed}", "--optimizer={optimizer}", "--out={out}"]'
    change(folder, '--seed, "{seed}", "{args}", --out, "{out}"]', f'"{command}')
    change(folder, "[1337, 42, 7, 8, 9]", "[1, 2, 3]")
    change(folder, "from: eval.error", "from: val/error, reduce: {at: {step: 2}}")
    return folder


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        (EVENTS, 'stdout: "(?P<a>x)"', 'tensorboard: "{out}"'),
        (EVENTS, 'tensorboard: "{out}/runs"', 'tensorboard: "{out}/logs [x]/version_0"'),
        (DATABASES, 'tensorboard: "{out}"', 'trackio: "{out}/runs.db"'),
        (DATABASES, 'mlflow: "{out}/runs"', 'mlflow: "{out}/mlruns"'),
        (DATABASES, 'wandb: "{out}"', 'trackio: "{out}/runs.db"'),
    ],
)
def test_a_tracker_is_read_of_what_was_left(
    folder: Path, text: str, wrong: str, right: str
) -> None:
    """A wrong claim first: what the tracker wrote is kept although nobody names it."""
    program(folder, text)
    change(folder, JSON, wrong)
    done = verified(folder)
    assert done.returncode == 5
    assert "{out}" in done.stderr or "the output" in done.stderr
    assert begun(folder) == ["adam 1"]
    change(folder, wrong, right)
    done = verified(folder)
    assert "(quick): VALID" in done.stdout, done.stderr
    assert len(begun(folder)) == 6
    (key, *_) = outputs(folder).keys()
    assert b"model.ckpt" in outputs(folder).files(key)["left.json"] or text is DATABASES


def test_results_of_a_tracker_are_below_the_folder_of_the_run(folder: Path) -> None:
    """In the folder of the program they would be those of all runs."""
    change(folder, JSON, "tensorboard: runs")
    said = mistakes(folder)
    assert "'runs' is not below the folder of the run, so runs would share it" in said
    assert 'expected: a path such as "{out}/runs"' in said


def test_two_runs_are_refused_with_their_names(folder: Path) -> None:
    more = "import shutil; shutil.copytree(logs, out / 'logs [x]' / 'version_1')\n"
    program(folder, EVENTS + more)
    change(folder, JSON, 'tensorboard: "{out}"')
    said = verified(folder).stderr
    assert "events are in 2 folders: '{out}/logs [x]/version_0'" in said


def test_an_offline_run_of_wandb_is_read(tmp_path: Path) -> None:
    """As the library writes it below `wandb`; of the folder of four runs none is chosen."""
    with tarfile.open(WANDB) as packed:
        packed.extractall(tmp_path, filter="data")
    out = tmp_path / "out"
    (run, *_) = sorted((tmp_path / "wandb").glob("offline-run-*"))
    shutil.copytree(run, out / "wandb" / run.name)
    found = [row["val.error"] for row in tracked("wandb", out / "wandb", out)]
    logged = [values(arm, seed) for arm in ("mixup", "plain") for seed in range(2)]
    assert found in [pytest.approx(each) for each in logged]
    (file,) = run.glob("*.wandb")
    assert [row["val.error"] for row in tracked("wandb", file, out)] == found
    with pytest.raises(DataError, match="4 runs are there"):
        tracked("wandb", tmp_path / "wandb", out)


def test_what_is_read_of_a_tracker() -> None:
    """Checkpoints beside are not."""
    assert needed("tensorboard", "a/events.out.tfevents.1", ".")
    assert not needed("tensorboard", "a/model.ckpt", ".")
    assert not needed("tensorboard", "b/events.out.tfevents.1", "a")
    assert needed("trackio", "p.db-wal", "p.db")
    assert needed("mlflow", "mlruns/0/a/metrics/x", "mlruns")
    assert not needed("mlflow", "mlruns/0/a/artifacts/model.pt", "mlruns")
