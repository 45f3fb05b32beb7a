"""Stores of trackers that are damaged, in use, or made by a stranger."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import struct
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from repro.results import reader
from repro.results.inside import DEPTH, scalars
from repro.results.inside.events import crc32c, masked
from tests.evidence.test_imports import (
    claim,
    files,
    read,
    refused,
    ungzipped,
    unpacked,
    values,
    written,
)

MLFLOW = "{from: mlflow, path: mlflow.db, where: {tags.arm: ARM}}"
TRACKIO = "{from: trackio, path: p.db, where: {group: ARM}}"
BOARD = '{from: tensorboard, path: "tb/ARM/seed{seed}"}'


def test_the_checksum_of_the_standard() -> None:
    """The check value of the catalogue of CRCs."""
    assert crc32c(b"123456789") == 0xE3069283


@pytest.mark.parametrize("sign", [1, -1])
def test_an_infinite_loss_in_the_database_of_mlflow(tmp_path: Path, sign: int) -> None:
    """It is kept as the largest float, without a mark."""
    ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as db, db:
        db.execute(
            "UPDATE metrics SET value = ? WHERE key = 'test_error' AND is_nan = 0",
            (sign * 1.7976931348623157e308,),
        )
    found, lost = read(claim(tmp_path, MLFLOW, "test_error"))
    assert found == {"mixup": {}, "plain": {}}
    assert set(lost["mixup"].values()) == {"diverged"}


@pytest.mark.parametrize("value", [1e61, -1e300, 1e-70])
def test_a_number_that_nothing_can_be_computed_with(tmp_path: Path, value: float) -> None:
    written(tmp_path, "1/r.json", {"error": value})
    said = refused(files(tmp_path, "{seed}/r.json", "error"))
    assert "arm mixup, 1/r.json" in said or "arm mixup: 1/r.json" in said
    assert "to compute with" in said


def test_what_is_in_the_log_of_a_database_counts(tmp_path: Path) -> None:
    """A logger that runs, or was killed, leaves its last rows beside the file."""
    ungzipped(tmp_path, "trackio-0.43.0.db.gz", "live.db")
    with closing(sqlite3.connect(tmp_path / "live.db")) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("UPDATE metrics SET metrics = ? WHERE step = 2", (json.dumps({"val_error": 7}),))
        db.commit()
        for ending in ("", "-wal"):
            shutil.copy(tmp_path / f"live.db{ending}", tmp_path / f"p.db{ending}")
    found, _ = read(claim(tmp_path, TRACKIO, "val_error", more=", reduce: {at: {step: 2}}"))
    assert found == {"mixup": {0: 7.0, 1: 7.0}, "plain": {0: 7.0, 1: 7.0}}


def test_a_database_that_never_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file and its log would be of two times."""
    ungzipped(tmp_path, "trackio-0.43.0.db.gz", "p.db")
    times = count()
    monkeypatch.setattr(reader, "_stamps", lambda _: {"": (next(times), 1)})
    assert "p.db: is being written" in refused(claim(tmp_path, TRACKIO, "val_error"))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize(
    ("archive", "names", "where", "number", "writer"),
    [
        ("tensorboard-2.21.0", "*tfevents*", BOARD, "val/error", "TensorBoard's writer"),
        ("wandb-0.31.0", "run-*.wandb", "{from: wandb, path: wandb}", "val.error", "wandb"),
    ],
)
def test_one_flipped_bit_is_found(
    tmp_path: Path, archive: str, names: str, where: str, number: str, writer: str, share: float
) -> None:
    """Neither a wrong value nor an end that was cut off."""
    unpacked(tmp_path, f"{archive}.tar.gz")
    for file in tmp_path.rglob(names):
        content = bytearray(file.read_bytes())
        content[int(share * len(content))] ^= 4
        file.write_bytes(content)
    said = refused(claim(tmp_path, where, number, more=", reduce: last"))
    assert "is damaged: the record at byte" in said
    assert f"has another checksum\n  expected: the file as {writer} left it\n" in said


def test_an_end_that_was_cut_off(tmp_path: Path) -> None:
    """What was written before it counts."""
    unpacked(tmp_path, "tensorboard-2.21.0.tar.gz")
    for file in tmp_path.rglob("*tfevents*"):
        file.write_bytes(file.read_bytes()[:-5])
    found, _ = read(claim(tmp_path, BOARD, "val/error", more=", reduce: last"))
    assert found["plain"][3] == pytest.approx(values("plain", 3)[1], rel=1e-6)


def field(number: int, content: bytes) -> bytes:
    """A field of bytes in a message."""
    return bytes([number << 3 | 2, len(content)]) + content


def event(value: bytes, step: int = 0, time: float = 0.0) -> bytes:
    """A record of one scalar."""
    summary = field(1, field(1, b"error") + value)
    message = b"\x09" + struct.pack("<d", time) + bytes([0x10, step]) + field(5, summary)
    length = struct.pack("<Q", len(message))
    checks = [struct.pack("<I", masked(each)) for each in (length, message)]
    return length + checks[0] + message + checks[1]


def scalar(value: float, step: int = 0, time: float = 0.0) -> bytes:
    return event(b"\x15" + struct.pack("<f", value), step, time)


def board(folder: Path, *contents: bytes, run: str = "1") -> Path:
    """Files of events in the folder of a run."""
    (folder / "tb" / run).mkdir(parents=True, exist_ok=True)
    for place, content in enumerate(contents):
        (folder / "tb" / run / f"events.out.tfevents.{place}").write_bytes(content)
    return claim(folder, '{from: tensorboard, path: "tb/{seed}"}', "error", more=", reduce: last")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (bytes([2 << 3, 99]), "a number in the place of bytes"),  # of a float
        (bytes([2 << 3 | 1]) + bytes(8), "8 bytes in the place of a number"),  # which has four
        (bytes([8 << 3, 5]), "a number in the place of bytes"),  # of a tensor
    ],
)
def test_a_number_of_another_kind(tmp_path: Path, value: bytes, said: str) -> None:
    assert f"is no file of events: {said}" in refused(board(tmp_path, event(value)))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(("kind", "place"), [(3, 7), (9, 10)])
def test_a_negative_whole_number(tmp_path: Path, kind: int, place: int, *, packed: bool) -> None:
    """-2, as ten bytes, in a list or alone."""
    minus_two = b"\xfe" + b"\xff" * 8 + b"\x01"
    number = field(place, minus_two) if packed else bytes([place << 3]) + minus_two
    found, _ = read(board(tmp_path, event(field(8, bytes([1 << 3, kind]) + number))))
    assert found["mixup"] == {1: -2.0}


def test_events_without_a_time_are_read(tmp_path: Path) -> None:
    found, _ = read(board(tmp_path, scalar(0.5, time=math.nan)))
    assert found["mixup"] == {1: 0.5}


def nested(depth: int = 100_000) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def test_json_that_is_nested_without_end(tmp_path: Path) -> None:
    ungzipped(tmp_path, "trackio-0.43.0.db.gz", "p.db")
    with closing(sqlite3.connect(tmp_path / "p.db")) as db, db:
        db.execute("UPDATE metrics SET metrics = ?", (nested(),))
    assert "p.db: holds what is no JSON" in refused(claim(tmp_path, TRACKIO, "val_error"))


def test_values_below_some_depth_are_left_out() -> None:
    names = [name for name, _ in scalars(json.loads(nested(DEPTH + 1)))]
    assert names == [".".join("a" * (DEPTH + 1))]
    assert not [*scalars(json.loads(nested(DEPTH + 2)))]


def test_a_view_without_an_end_is_not_read(tmp_path: Path) -> None:
    ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as db, db:
        db.execute("DROP TABLE metrics")
        db.execute(
            "CREATE VIEW metrics AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            " SELECT 'r' AS run_uuid, 'k' AS key, i AS value, i AS step, 0 AS is_nan,"
            " i AS timestamp FROM n"
        )
    said = refused(claim(tmp_path, MLFLOW, "test_error"))
    assert "'metrics' is no table of its own" in said


def test_an_integer_beyond_every_float_is_not_the_one_that_is_asked(tmp_path: Path) -> None:
    written(tmp_path, "1/r.json", f'{{"x": {"9" * 400}, "error": 2}}')
    said = refused(files(tmp_path, "{seed}/r.json", "error", ", where: {x: 1}"))
    assert "that are there is of this arm" in said


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a**/{seed}.json", "path has ** beside other characters"),
        ("{seed}/[z-a].json", "path has brackets that name no characters"),
    ],
)
def test_patterns_that_mean_nothing(tmp_path: Path, path: str, said: str) -> None:
    assert said in refused(files(tmp_path, path, "error"))


def test_brackets_that_leave_characters_out(tmp_path: Path) -> None:
    for name in ("1/a.json", "2/b.json"):
        written(tmp_path, name, {"error": 2})
    found, _ = read(files(tmp_path, "{seed}/[!b].json", "error"))
    assert found["mixup"] == {1: 2.0}


def test_a_line_without_an_end(tmp_path: Path) -> None:
    """What a pattern costs grows faster than the line."""
    written(tmp_path, "1.log", "a" * 50_000 + "\n")
    pattern = ", pattern: '(a+)+(?P<error>\\d)'"
    said = refused(files(tmp_path, "{seed}.log", "error", pattern))
    assert "1.log:1: a line of 50,000 characters" in said


def older(folder: Path) -> None:
    """A project as trackio 0.2 kept it: its runs have names and no identifiers."""
    with closing(sqlite3.connect(folder / "p.db")) as db, db:
        db.execute(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL,"
            " run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL)"
        )
        db.execute(
            "CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_name TEXT NOT NULL,"
            " config TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE(run_name))"
        )
        for seed in (1, 2):
            metrics = json.dumps({"val_error": seed})
            db.execute("INSERT INTO metrics VALUES (NULL, '', ?, 0, ?)", (f"r{seed}", metrics))
            config = json.dumps({"seed": seed, "_Group": "mixup"})
            db.execute("INSERT INTO configs VALUES (NULL, ?, ?, '')", (f"r{seed}", config))


def test_runs_of_trackio_that_are_known_by_name(tmp_path: Path) -> None:
    older(tmp_path)
    found, _ = read(
        claim(tmp_path, "{from: trackio, path: p.db, where: {group: mixup}}", "val_error")
    )
    assert found["mixup"] == {1: 1.0, 2: 2.0}
    with closing(sqlite3.connect(tmp_path / "p.db")) as db, db:
        db.execute("UPDATE configs SET config = replace(config, '2', '1')")
    said = refused(tmp_path / "a.claim.yaml")
    assert "two runs have seed 1: run r1 and run r2" in said


def test_a_registered_model_is_no_run(tmp_path: Path) -> None:
    """Its folder lies beside those of experiments."""
    unpacked(tmp_path, "mlruns-3.17.2.tar.gz")
    written(tmp_path, "mlruns/models/resnet/meta.yaml", "name: resnet\ndescription: best\n")
    where = "{from: mlflow, path: mlruns, where: {tags.arm: ARM}}"
    _, lost = read(claim(tmp_path, where, "test_error"))
    assert lost == {"mixup": {4: "diverged"}, "plain": {4: "diverged"}}
