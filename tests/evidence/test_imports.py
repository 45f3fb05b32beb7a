"""Results that people already have: what the real libraries wrote, and what no library would."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
import struct
import tarfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from repro.errors import DataError, ReproError
from repro.evidence.imported import ImportedBase
from repro.judging.document import ReadFilesPart
from repro.judging.gather import read_tables
from repro.report.write import read_document
from repro.results.importer import FilesRead
from repro.results.inside.events import masked
from repro.specs.claim import Claim
from repro.specs.load import load_claim
from tests.commands import repro

FIXTURES = Path(__file__).parent / "imports"
"""Made by the libraries, in the versions of their names; the README there says how."""

CLAIM = """
schema: 1
id: mixup_better
title: Mixup has a lower error than plain training
source: {paper: ours, citation: "our own notes", locator: "p. 1", quote: "mixup helps"}
arms:
  mixup: {label: with mixup, import: MIXUP}
  plain: {label: without mixup, import: PLAIN}
design: independent
seeds: {min: 2, plan: 2}
measurements:
  error: {kind: reported, from: NAME, label: error (%), better: lower}
expectations:
  - id: small
    kind: bound
    measurement: error
    of: [mixup]
    at_most: {value: 9, why: "any value of these"}
scales:
  paper: {notice: "Runs that a tracker has; nothing is trained."}
"""


def claim(folder: Path, imports: str, name: str, *, more: str = "") -> Path:
    """A claim whose arms are imported alike; `ARM` stands for the name of the arm."""
    text = CLAIM
    if "ARM" not in imports:
        text = text.replace("  plain: {label: without mixup, import: PLAIN}\n", "")
    for arm in ("mixup", "plain"):
        text = text.replace(arm.upper(), imports.replace("ARM", arm))
    path = folder / "a.claim.yaml"
    path.write_text(text.replace("NAME", f"{name}{more}"), encoding="utf-8")
    return path


def read(path: Path) -> tuple[dict[str, dict[int, float]], dict[str, dict[int, str]]]:
    """Values and lost seeds by arm."""
    tables = read_tables(load_claim(path, "paper"))
    values = {
        arm: {seed: each["error"] for seed, each in table.values[arm].items()}
        for arm, table in tables.items()
    }
    return values, {arm: dict(table.lost[arm]) for arm, table in tables.items()}


def numbers_of(folder: Path, of: Claim, name: str) -> set[float]:
    """Every number of a name in the runs that the arms of a claim import, at every step."""
    sources = [arm.source for arm in of.arms.values()]
    importers = [each.importer for each in sources if isinstance(each, ImportedBase)]
    runs = [run for each in importers for run in each.runs(folder, FilesRead())]
    found = {row.get(name) for run in runs for row in run.rows}
    return {value for value in found if value is not None}


def refused(path: Path) -> str:
    with pytest.raises(ReproError) as error:
        read_tables(load_claim(path, "paper"))
    return str(error.value)


def unpacked(folder: Path, name: str) -> Path:
    with tarfile.open(FIXTURES / name) as archive:
        archive.extractall(folder, filter="data")
    return folder


def ungzipped(folder: Path, name: str, to: str) -> Path:
    (folder / to).write_bytes(gzip.decompress((FIXTURES / name).read_bytes()))
    return folder


def values(arm: str, seed: int) -> list[float]:
    """What the script of the README logged."""
    generator = random.Random(f"{arm}{seed}")
    shift = {"mixup": 0.0, "plain": 0.5}[arm]
    return [5 + shift + generator.gauss(0, 0.1) - step for step in range(3)]


def mlflow_values(arm: str, seed: int) -> list[float]:
    """The validation errors by step, and the test error, that the script of the README logged."""
    generator = random.Random(f"{arm}{seed}")
    shift = {"mixup": 0.0, "plain": 0.5}[arm]
    steps = [5 + shift + generator.gauss(0, 0.1) - step for step in range(3)]
    return [*steps, 3 + shift + generator.gauss(0, 0.1)]


@pytest.fixture(params=["database", "folder"])
def mlflow(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of the runs of MLflow below the folder of the claim."""
    if request.param == "database":
        ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
        return "mlflow.db"
    unpacked(tmp_path, "mlruns-3.17.2.tar.gz")
    return "mlruns"


def test_mlflow(tmp_path: Path, mlflow: str) -> None:
    """A value that is not finite and a run that failed are divergences; a deleted run is none."""
    where = f"{{from: mlflow, path: {mlflow}, where: {{tags.arm: ARM, experiment: cifar}}}}"
    found, lost = read(claim(tmp_path, where, "test_error"))
    for arm, seeds in found.items():
        assert seeds == pytest.approx({seed: mlflow_values(arm, seed)[3] for seed in range(4)})
    assert lost == {"mixup": {4: "diverged"}, "plain": {4: "diverged"}}


@pytest.mark.parametrize(
    ("reduction", "step"),
    [("last", 2), ("first", 0), ("{at: {step: 1}}", 1), ("{best_by: val_error, better: lower}", 2)],
)
def test_a_series_of_mlflow(tmp_path: Path, mlflow: str, reduction: str, step: int) -> None:
    where = f"{{from: mlflow, path: {mlflow}, where: {{tags.arm: ARM, params.lr: 0.1}}}}"
    path = claim(tmp_path, where, "val_error", more=f", reduce: {reduction}")
    if step == 2 and reduction == "last":
        found, _ = read(path)
        assert found["plain"] == pytest.approx(
            {seed: mlflow_values("plain", seed)[2] for seed in range(4)}
        )
    text = path.read_text(encoding="utf-8").replace("params.lr: 0.1", "experiment: cifar")
    path.write_text(text, encoding="utf-8")
    found, _ = read(path)
    assert found["mixup"][2] == pytest.approx(mlflow_values("mixup", 2)[step])


def test_tensorboard(tmp_path: Path) -> None:
    """As torch writes a scalar, and as TensorFlow does: to the digits of float32."""
    unpacked(tmp_path, "tensorboard-2.21.0.tar.gz")
    where = '{from: tensorboard, path: "tb/ARM/seed{seed}"}'
    for tag in ("val/error", "val/error_tensor"):
        found, lost = read(claim(tmp_path, where, tag, more=", reduce: last"))
        for arm, seeds in found.items():
            expected = {seed: values(arm, seed)[2] for seed in range(4)}
            assert seeds == pytest.approx(expected, rel=1e-6)
        assert lost == {"mixup": {}, "plain": {}}


def test_names_in_a_path_are_fields(tmp_path: Path) -> None:
    unpacked(tmp_path, "tensorboard-2.21.0.tar.gz")
    where = '{from: tensorboard, path: "tb/{kind}/seed{seed}", where: {kind: ARM}}'
    found, _ = read(claim(tmp_path, where, "val/error", more=", reduce: {at: {step: 1}}"))
    assert found["plain"][3] == pytest.approx(values("plain", 3)[1], rel=1e-6)


def test_wandb_offline(tmp_path: Path) -> None:
    unpacked(tmp_path, "wandb-0.31.0.tar.gz")
    where = "{from: wandb, path: wandb, where: {group: ARM, config.opt.lr: 0.1}}"
    found, lost = read(claim(tmp_path, where, "val.error", more=", reduce: last"))
    for arm, seeds in found.items():
        assert seeds == pytest.approx({seed: values(arm, seed)[2] for seed in range(2)})
    assert lost == {"mixup": {}, "plain": {}}


@pytest.mark.parametrize(("name", "first"), [("test_error", 3.5), ("best.error", 1.5)])
def test_what_a_run_of_wandb_says_later(tmp_path: Path, name: str, first: float) -> None:
    """Its configuration after it was begun, and numbers that its summary alone has."""
    unpacked(tmp_path, "wandb-0.31.0-late.tar.gz")
    where = "{from: wandb, path: wandb, where: {config.arm: mixup, config.opt.lr: 0.1}}"
    found, _ = read(claim(tmp_path, where, name))
    assert found["mixup"] == {0: first, 1: first + 1}
    found, _ = read(claim(tmp_path, where, "val.error", more=", reduce: last"))
    assert found["mixup"] == {0: 3.0, 1: 4.0}


def test_a_run_of_wandb_that_was_killed(tmp_path: Path) -> None:
    """It never said how it ended, so it is missing, and no value of it counts."""
    unpacked(tmp_path, "wandb-0.31.0.tar.gz")
    for file in tmp_path.rglob("run-*.wandb"):
        file.write_bytes(file.read_bytes()[:-40])
    where = "{from: wandb, path: wandb, where: {group: ARM}}"
    found, lost = read(claim(tmp_path, where, "val.error", more=", reduce: last"))
    assert found == {"mixup": {}, "plain": {}}
    assert lost == {arm: {0: "missing", 1: "missing"} for arm in found}


def test_trackio(tmp_path: Path) -> None:
    ungzipped(tmp_path, "trackio-0.43.0.db.gz", "p.db")
    where = "{from: trackio, path: p.db, where: {group: ARM}}"
    found, _ = read(claim(tmp_path, where, "val_error", more=", reduce: {at: {step: 2}}"))
    for arm, seeds in found.items():
        assert seeds == pytest.approx({seed: values(arm, seed)[2] for seed in range(2)})


# files


def written(folder: Path, name: str, text: Any) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")


def files(folder: Path, path: str, name: str, more: str = "", reduce: str = "") -> Path:
    return claim(folder, f'{{from: files, path: "{path}"{more}}}', name, more=reduce)


def test_a_file_of_json_per_run(tmp_path: Path) -> None:
    """As Hugging Face's Trainer leaves it: the seed stands in the path alone."""
    for seed in (9, 10):
        for arm in ("mixup", "plain"):
            written(tmp_path, f"runs/{arm}/seed_{seed}/all_results.json", {"eval": {"error": seed}})
    found, _ = read(files(tmp_path, "runs/ARM/seed_{seed}/all_results.json", "eval.error"))
    assert found == {arm: {9: 9.0, 10: 10.0} for arm in ("mixup", "plain")}


def test_a_list_inside_of_json(tmp_path: Path) -> None:
    log = [{"step": 1, "loss": 3}, {"step": 1, "eval_loss": 5}, {"step": 2, "eval_loss": 4}]
    for seed in (1, 2):
        written(tmp_path, f"{seed}/trainer_state.json", {"log_history": log, "seed": 7})
    path = files(tmp_path, "{seed}/trainer_state.json", "eval_loss", ", rows: log_history")
    assert "arm mixup, 1/trainer_state.json: the results" in refused(path)
    assert "2 values of 'eval_loss'" in refused(path)
    path = files(
        tmp_path, "{seed}/trainer_state.json", "eval_loss", ", rows: log_history", ", reduce: last"
    )
    assert read(path)[0]["mixup"] == {1: 4.0, 2: 4.0}


def test_rows_with_empty_cells_and_a_file_beside_them(tmp_path: Path) -> None:
    """As Lightning's CSVLogger leaves them; the version in the path is no seed."""
    for version, seed in ((0, 3), (1, 5)):
        folder = f"logs/version_{version}"
        written(tmp_path, f"{folder}/metrics.csv", f"epoch,val,train\n0,,1\n0,{seed},\n")
        written(tmp_path, f"{folder}/hparams.yaml", f"seed: {seed}\nopt:\n  lr: 0.1\n")
    more = ", fields: hparams.yaml, where: {opt.lr: 0.1}"
    found, _ = read(files(tmp_path, "logs/version_*/metrics.csv", "val", more))
    assert found == {"mixup": {3: 3.0, 5: 5.0}}


def test_a_run_per_row(tmp_path: Path) -> None:
    """As trackers export them: other columns are left alone, whatever is in them."""
    text = "Name;State;arm;seed;error;Notes\na;finished;mixup;1;2.5;x, y\nb;finished;plain;1;3;\n"
    written(tmp_path, "export.csv", text)
    found, _ = read(files(tmp_path, "export.csv", "error", ", each: row, where: {arm: ARM}"))
    assert found == {"mixup": {1: 2.5}, "plain": {1: 3.0}}


def test_lines_of_a_log(tmp_path: Path) -> None:
    for seed in (1, 2):
        lines = "".join(f"step:{step}/3 val_loss:{seed + 3 - step} t:1ms\n" for step in range(3))
        written(tmp_path, f"logs/{seed}.txt", f"code\n{lines}done\n")
    pattern = ", pattern: '^step:(?P<step>\\d+)/\\d+ val_loss:(?P<loss>\\S+)'"
    path = files(tmp_path, "logs/{seed}.txt", "loss", pattern, ", reduce: last")
    assert read(path)[0]["mixup"] == {1: 2.0, 2: 3.0}


def test_arms_cannot_be_the_same_runs(tmp_path: Path) -> None:
    written(tmp_path, "1/r.json", {"error": 2})
    path = files(tmp_path, "{seed}/r.json", "error", ", where: {seed: ARM}")
    path.write_text(
        path.read_text(encoding="utf-8")
        .replace(", where: {seed: mixup}", "")
        .replace(", where: {seed: plain}", ""),
        encoding="utf-8",
    )
    assert "arms mixup, plain import the same runs" in refused(path)


def test_what_is_read_is_recorded_and_what_is_not_is_counted(tmp_path: Path) -> None:
    """The digest is of all files; the report says how many runs are of other arms."""
    text = "".join(f"{arm},{seed},{seed}\n" for arm in ("mixup", "plain", "x") for seed in (1, 2))
    written(tmp_path, "export.csv", f"arm,seed,error\n{text}")
    path = files(tmp_path, "export.csv", "error", ", each: row, where: {arm: ARM}")
    done = repro("verify", path, "--store", tmp_path / "s", "--reports", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    document = read_document(tmp_path / "r/mixup_better/paper/report.json")
    (first, _) = document.arms
    assert first.evidence == "imported"
    assert first.table is not None
    assert first.table.file == "export.csv"
    before = first.table.sha256
    page = (tmp_path / "r/mixup_better/paper/report.html").read_text(encoding="utf-8")
    assert "6 runs are there: 4 used, 2 of no arm" in page
    assert sha256((tmp_path / "export.csv").read_bytes()).hexdigest() in page
    assert isinstance(first.table, ReadFilesPart)
    assert list(first.table.files) == ["export.csv"]
    written(tmp_path, "export.csv", f"arm,seed,error\n{text}x,3,1\n")
    table = read_tables(load_claim(path, "paper"))["mixup"]
    assert table.source.sha256 != before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("arm,seed,error\nmixup,1,2\nmixup,1,3\n", "two runs have seed 1: export.csv, row 1 and"),
        ("arm,seed,error\nmixup,one,2\n", "the seed 'one' is no whole number"),
        ("arm,sed,error\nmixup,1,2\n", "has no field 'seed' for its seed"),
        ("arm,seed,error\nmixed,1,2\n", "none of 1 runs that are there is of this arm"),
        ("arm,seed,error\n", "none of 0 runs that are there is of this arm"),
        ('arm,seed,error\n"mixup', "cannot be read"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
    ],
)
def test_what_cannot_be_told_apart(tmp_path: Path, text: str | bytes, said: str) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "export.csv").write_bytes(content)
    path = files(tmp_path, "export.csv", "error", ", each: row, where: {arm: ARM}")
    assert said in refused(path)


def test_the_later_of_two_runs_where_that_is_declared(tmp_path: Path) -> None:
    """A restart that has no value is what counts, and not the run before it."""
    text = "arm,seed,error\nmixup,1,2\nmixup,1,3\nplain,1,4\nplain,1,nan\n"
    written(tmp_path, "export.csv", text)
    more = ", each: row, where: {arm: ARM}, duplicates: last"
    found, lost = read(files(tmp_path, "export.csv", "error", more))
    assert found == {"mixup": {1: 3.0}, "plain": {}}
    assert lost == {"mixup": {}, "plain": {1: "diverged"}}


def test_a_run_without_a_value_is_missing(tmp_path: Path) -> None:
    written(tmp_path, "1/r.json", {"error": 2})
    written(tmp_path, "2/r.json", {"other": 2})
    _, lost = read(files(tmp_path, "{seed}/r.json", "error"))
    assert lost["mixup"] == {2: "missing"}


def test_a_number_that_no_decisive_expectation_reads_of_an_arm_may_be_missing_in_all_its_runs(
    tmp_path: Path,
) -> None:
    """As in a table; a run that lacks what another run of its arm has is missing all the same."""
    rows = {
        "mixup": [{"error": 2, "time": 5}, {"error": 3, "time": 6}],
        "plain": [{"error": 4}, {"error": 5}],
    }
    for arm, runs in rows.items():
        for seed, numbers in enumerate(runs):
            written(tmp_path, f"{arm}/{seed}/r.json", numbers)
    path = files(tmp_path, "ARM/{seed}/r.json", "error")
    second = "  time: {kind: reported, label: hours, better: lower}\nexpectations:"
    path.write_text(path.read_text().replace("expectations:", second), encoding="utf-8")
    found, lost = read(path)
    assert found == {"mixup": {0: 2.0, 1: 3.0}, "plain": {0: 4.0, 1: 5.0}}
    assert lost == {"mixup": {}, "plain": {}}
    written(tmp_path, "mixup/1/r.json", {"error": 3})
    assert read(path)[1] == {"mixup": {1: "missing"}, "plain": {}}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("../r.json", "import.path: '../r.json' is not well formed"),
        ("/etc/{seed}", "import.path: '/etc/{seed}' is not well formed"),
        ("a/../{seed}", "path leads out of the folder"),
        ("{seed}/{seed}.json", "a name in braces stands there twice"),
        ("no/{seed}.json", "no file has such a name"),
        ("{seed}/r.bin", "of a form that is not known"),
    ],
)
def test_paths_that_lead_nowhere(tmp_path: Path, path: str, said: str) -> None:
    written(tmp_path, "1/r.bin", "x")
    assert said in refused(files(tmp_path, path, "error"))


def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "r.json").symlink_to("/etc/passwd")
    assert "a link that leads elsewhere" in refused(files(tmp_path, "{seed}/r.json", "error"))


@pytest.mark.parametrize(
    ("source", "name"), [("mlflow", "m.db"), ("trackio", "m.db"), ("wandb", "m.wandb")]
)
@pytest.mark.parametrize(
    "content", [b"", b"SQLite format 3\0" + bytes(90), b":W&B" + bytes(99), b"x" * 999]
)
def test_files_that_are_of_no_tracker(
    tmp_path: Path, source: str, name: str, content: bytes
) -> None:
    """A message, whatever is in them; an empty record of wandb is a run without a seed."""
    (tmp_path / name).write_bytes(content)
    said = refused(claim(tmp_path, f"{{from: {source}, path: {name}}}", "error"))
    assert "cannot be read" in said or "is no record" in said or "no field" in said


def test_a_database_of_something_else(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "m.db") as db:
        db.execute("CREATE TABLE runs (a)")
    said = refused(claim(tmp_path, "{from: mlflow, path: m.db}", "error"))
    assert "cannot be read as a database of MLflow" in said


def cut(content: bytes, generator: random.Random) -> bytes:
    """A file with some bytes of it changed, or without its end."""
    changed = bytearray(content[: generator.randrange(len(content)) + 1])
    for _ in range(generator.randrange(4)):
        changed[generator.randrange(len(changed))] = generator.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(
    ("archive", "names", "where", "number"),
    [
        ("tensorboard-2.21.0", "*tfevents*", 'tensorboard, path: "tb/ARM/seed{seed}"', "val/error"),
        ("wandb-0.31.0", "run-*.wandb", "wandb, path: wandb, where: {group: ARM}", "val.error"),
    ],
)
def test_damaged_files_end_in_a_message(
    tmp_path: Path, archive: str, names: str, where: str, number: str, seed: int
) -> None:
    """Whatever became of the files: a message, or values that stand in the whole ones."""
    generator = random.Random(seed)
    unpacked(tmp_path, f"{archive}.tar.gz")
    path = claim(tmp_path, f"{{from: {where}}}", number, more=", reduce: last")
    series = numbers_of(tmp_path, load_claim(path, "paper"), number)
    for file in tmp_path.rglob(names):
        file.write_bytes(cut(file.read_bytes(), generator))
    found: dict[str, dict[int, float]] = {}
    with suppress(DataError):
        found, _ = read(path)
    assert {value for arm in found.values() for value in arm.values()} <= series


def test_a_frame_longer_than_its_file_is_a_cut_off_end(tmp_path: Path) -> None:
    unpacked(tmp_path, "tensorboard-2.21.0.tar.gz")
    for file in tmp_path.rglob("*tfevents*"):
        length = struct.pack("<Q", 2**62)
        file.write_bytes(file.read_bytes() + length + struct.pack("<I", masked(length)))
    where = '{from: tensorboard, path: "tb/ARM/seed{seed}"}'
    found, _ = read(claim(tmp_path, where, "val/error", more=", reduce: last"))
    assert len(found["plain"]) == 4
