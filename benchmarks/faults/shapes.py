"""Inputs that grow: for every loader some shapes that a loader may be slow at."""

from __future__ import annotations

import json
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, Final

from repro.audit.audit import audit_paths
from repro.evidence.base import TableSchema
from repro.evidence.csv_table import read_table
from repro.results.importer import FilesRead
from repro.results.inside import eval_logs, events, tables, wandb_records
from repro.results.inside.events import masked
from repro.results.json_runs import known_form
from repro.results.mlflow import Mlflow
from repro.results.result_files import Files
from repro.results.series import numbers_in, records_in
from repro.results.tensorboard import TensorBoard
from repro.specs.load import load_claim

Work = Callable[[], object]
Shape = Callable[[int, Random, Path], Work]
"""A size, a generator and an empty folder -> what reads the input, which is made beforehand."""


def names(n: int, chance: Random, *, dots: bool = True) -> list[str]:
    """So many different names, some of them alike, some in parts."""
    parts = ["loss", "acc", "val", "layer", "head", "w" * 30, "é"]
    joint = [".", "_", "/"] if dots else ["_"]
    found = []
    for number in range(n):
        words = [chance.choice(parts) for _ in range(chance.randrange(1, 4))]
        found.append(chance.choice(joint).join([*words, str(number)]))
    chance.shuffle(found)
    return found


def _csv(rows: Iterable[Iterable[object]]) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def _read_csv(text: str) -> Work:
    return lambda: [numbers_in(each) for each in records_in(text, "csv")]


def csv_columns(n: int, chance: Random, _: Path) -> Work:
    """A column for each layer and head, as honest loggers write."""
    row = [chance.random() for _ in range(n)]
    return _read_csv(_csv([names(n, chance), row, row]))


def csv_column_twice(n: int, chance: Random, _: Path) -> Work:
    """The last name stands there twice."""
    header = names(n, chance)
    return _read_csv(_csv([[*header, header[-1]], range(n + 1)]))


def csv_rows(n: int, chance: Random, _: Path) -> Work:
    rows = [("a", seed, chance.random()) for seed in range(n)]
    return _read_csv(_csv([("arm", "seed", "error"), *rows]))


def csv_quotes(n: int, chance: Random, _: Path) -> Work:
    return _read_csv('a,b\n1,"' + chance.choice(['""', ",", "\n", "#"]) * n + '"\n')


def csv_runs(n: int, chance: Random, folder: Path) -> Work:
    """A run per row, with a state."""
    states = ["finished", "failed", "running"]
    rows = [("a", seed, chance.random(), chance.choice(states)) for seed in range(n)]
    text = _csv([("arm", "seed", "error", "state"), *rows])
    return _files(folder, text, each="row")


def csv_chart(n: int, chance: Random, folder: Path) -> Work:
    """A run per column."""
    header = ["step", *(f"{name} - error" for name in names(n, chance, dots=False))]
    return _files(folder, _csv([header, range(n + 1), range(n + 1)]), columns="{run} - error")


def _files(folder: Path, text: str, **keys: str) -> Work:
    (folder / "x.csv").write_text(text, encoding="utf-8")
    found = Files.model_validate({"from": "files", "path": "x.csv", **keys})
    return lambda: list(found.runs(folder, FilesRead()))


def tidy_table(n: int, chance: Random, folder: Path) -> Work:
    """The table of a claim: rows in any order, some of them twice."""
    rows: list[tuple[object, ...]] = [
        ("ab"[i % 2], i // 2, "ppl", chance.random()) for i in range(n)
    ]
    rows += chance.sample(rows, n // 50)
    chance.shuffle(rows)
    (folder / "x.csv").write_text(_csv([("arm", "seed", "measurement", "value"), *rows]))
    schema = TableSchema(("a", "b"), ("ppl",), {"a": ("ppl",), "b": ("ppl",)}, {})
    return lambda: read_table(folder / "x.csv", schema)


def audit_table(n: int, chance: Random, folder: Path) -> Work:
    """Printed comparisons of which no cell is a number: each is named."""
    header = ["id", "mean_a", "sd_a", "n_a", "mean_b", "sd_b", "n_b", "p"]
    bad = [[chance.choice(["x", "1_0", "", "1,5"])] * len(header) for _ in range(n)]
    (folder / "x.csv").write_text(_csv([header, *bad]))
    return lambda: audit_paths([folder / "x.csv"])


def json_keys(n: int, chance: Random, _: Path) -> Work:
    """The last key stands there twice."""
    keys = names(n, chance)
    text = json.dumps(dict.fromkeys(keys, 1))[:-1] + f", {json.dumps(keys[-1])}: 2}}"
    return lambda: records_in(text, "file")


def json_lists(n: int, chance: Random, _: Path) -> Work:
    text = '{"a": [' + ",".join([chance.choice(["[]", "{}", '"x"', "0"])] * n) + "]}"
    return lambda: [numbers_in(each) for each in records_in(text, "file")]


def json_lines(n: int, chance: Random, _: Path) -> Work:
    """Each line has names of its own."""
    text = "\n".join(json.dumps({name: chance.random()}) for name in names(n, chance))
    return lambda: [numbers_in(each) for each in records_in(text, "jsonl")]


def json_sacred(n: int, chance: Random, _: Path) -> Work:
    series = {"steps": [0, chance.randrange(3)], "values": [1, 2]}
    text = json.dumps(dict.fromkeys(names(n, chance), series))
    return lambda: known_form(text)


def json_helm(n: int, chance: Random, _: Path) -> Work:
    text = json.dumps([{"name": {"name": name}, "mean": 0.5} for name in names(n, chance)])
    return lambda: known_form(text)


def _varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _item(name: str, value: Any) -> bytes:
    return _field(1, _field(1, name.encode()) + _field(16, json.dumps(value).encode()))


def _wandb(records: Iterable[bytes]) -> Work:
    content = bytearray(wandb_records.HEADER)
    for each in records:
        rest, first = each, True
        while rest or first:
            left = wandb_records.BLOCK - len(content) % wandb_records.BLOCK
            if left < 7:
                content += bytes(left)
                continue
            part, rest = rest[: left - 7], rest[left - 7 :]
            sort = (2 if rest else 1) if first else (3 if rest else 4)
            content += _part(part, sort)
            first = False
    return lambda: wandb_records.read({"": bytes(content)}, Path())


def _part(part: bytes, sort: int) -> bytes:
    check = zlib.crc32(part, zlib.crc32(bytes([sort])))
    return struct.pack("<IHB", check, len(part), sort) + part


def wandb_config(n: int, chance: Random, _: Path) -> Work:
    """So many settings, and then so many others."""
    known = names(2 * n, chance)
    return _wandb(_field(5, b"".join(_item(x, 1) for x in part)) for part in (known[:n], known[n:]))


def wandb_updates(n: int, chance: Random, _: Path) -> Work:
    """A setting in each record, some of which take others away."""
    return _wandb(
        _field(chance.choice([3, 5]), _item(name.rpartition(".")[chance.choice([0, 2])], {"a": 1}))
        for name in names(n, chance)
    )


def wandb_rows(n: int, chance: Random, _: Path) -> Work:
    return _wandb(_field(2, _item("loss", chance.random()) + _item("_step", i)) for i in range(n))


def wandb_dots(n: int, chance: Random, _: Path) -> Work:
    """A name of so many parts."""
    return _wandb([_field(5, _item("." * n, 1) + _item("a." * chance.randrange(n), 1))])


def wandb_parts(n: int, chance: Random, _: Path) -> Work:
    """One record in parts of a few bytes."""
    size = chance.randrange(1, 20)
    middle = _part(bytes(size), 3) * n
    content = wandb_records.HEADER + _part(bytes(size), 2) + middle + _part(bytes(size), 4)
    return lambda: wandb_records.read({"": content}, Path())


def _events(scalars: Iterable[tuple[str, int]]) -> bytes:
    found = []
    for tag, step in scalars:
        summary = _field(5, _field(1, _field(1, tag.encode()) + b"\x15" + struct.pack("<f", 1.5)))
        message = b"\x09" + struct.pack("<d", 1.0) + b"\x10" + _varint(step) + summary
        length = struct.pack("<Q", len(message))
        checks = [struct.pack("<I", masked(each)) for each in (length, message)]
        found.append(length + checks[0] + message + checks[1])
    return b"".join(found)


def events_tags(n: int, chance: Random, _: Path) -> Work:
    content = _events((name, 1) for name in names(n, chance))
    return lambda: events.read({"": content}, Path())


def events_steps(n: int, chance: Random, _: Path) -> Work:
    content = _events(("loss", chance.randrange(n)) for _ in range(n))
    return lambda: events.read({"": content}, Path())


def events_packed(n: int, chance: Random, _: Path) -> Work:
    """One tensor of so many numbers."""
    tensor = b"\x08\x03" + _field(7, bytes([chance.randrange(128)]) * n)
    message = _field(5, _field(1, _field(1, b"x") + _field(8, tensor)))
    length = struct.pack("<Q", len(message))
    checks = [struct.pack("<I", masked(each)) for each in (length, message)]
    content = length + checks[0] + message + checks[1]
    return lambda: events.read({"": content}, Path())


def event_files(n: int, chance: Random, folder: Path) -> Work:
    """So many scalars in files of a run that went on from some step again and again."""
    files = max(2, n // 50)
    for place in range(files):
        first = chance.randrange(place + 1)
        content = _events(("loss", first + step) for step in range(50))
        (folder / f"events.out.tfevents.{place:06}").write_bytes(content)
    found = {"from": "tensorboard", "path": folder.name, "duplicates": "last"}
    board = TensorBoard.model_validate(found)
    return lambda: list(board.runs(folder.parent, FilesRead()))


def inspect_scorers(n: int, chance: Random, _: Path) -> Work:
    """Scorers with a name each, or with a reducer each."""
    alike = chance.random() < 0.5
    scores = [
        {"name": "s" if alike else x, "reducer": x, "metrics": {"accuracy": {"value": 1}}}
        for x in names(n, chance)
    ]
    content = json.dumps({"eval": {}, "results": {"scores": scores}}).encode()
    return lambda: eval_logs.read({".json": content}, Path())


def inspect_lists(n: int, chance: Random, _: Path) -> Work:
    """A small zip of very many lists."""
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as log:
        unit = chance.choice(["[],", "{},", "0,"])
        log.writestr("header.json", '{"eval": {}, "x": [' + unit * (20 * n) + "0]}")
    return lambda: eval_logs.read({".eval": archive.getvalue()}, Path())


def _database(folder: Path, statements: Iterable[tuple[str, Iterable[Any]]]) -> dict[str, bytes]:
    path = folder / "made.db"
    with closing(sqlite3.connect(path)) as made, made:
        for statement, rows in statements:
            made.executemany(statement, rows) if "?" in statement else made.execute(statement)
    return {"": path.read_bytes()}


MLFLOW: Final = (
    "CREATE TABLE runs (run_uuid, name, status, lifecycle_stage, start_time, experiment_id)",
    "CREATE TABLE experiments (experiment_id, name, lifecycle_stage)",
    "CREATE TABLE params (run_uuid, key, value)",
    "CREATE TABLE tags (run_uuid, key, value)",
    "CREATE TABLE metrics (run_uuid, key, value, step, is_nan, timestamp)",
    "INSERT INTO experiments VALUES (1, 'e', 'active')",
)


def _mlflow(folder: Path, runs: int, params: list[Any], metrics: list[Any]) -> Work:
    rows = [(f"r{i}", "x", "FINISHED", "active", i, 1) for i in range(runs)]
    filled = [
        *((each, ()) for each in MLFLOW),
        ("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", rows),
        ("INSERT INTO params VALUES (?, ?, ?)", params),
        ("INSERT INTO metrics VALUES (?, ?, ?, ?, 0, ?)", metrics),
    ]
    parts, inside = _database(folder, filled), folder / "inside"
    inside.mkdir()
    return lambda: tables.mlflow(parts, inside)


def mlflow_names(n: int, chance: Random, folder: Path) -> Work:
    """One run with so many settings and metrics."""
    known = names(n, chance)
    params = [("r0", name, "1") for name in known]
    return _mlflow(folder, 1, params, [("r0", name, 1.5, 0, 0) for name in known])


def mlflow_runs(n: int, chance: Random, folder: Path) -> Work:
    metrics = [(f"r{i}", "loss", 1.5, 0, chance.random()) for i in range(n)]
    return _mlflow(folder, n, [(f"r{i}", "seed", str(i)) for i in range(n)], metrics)


def mlflow_folder(n: int, chance: Random, folder: Path) -> Work:
    """A folder of one run with a metric of so many lines."""
    run = folder / "0" / "r"
    (run / "metrics").mkdir(parents=True)
    for place in (folder / "0", run):
        (place / "meta.yaml").write_text("name: e\nrun_id: r\nstatus: 3\n", encoding="ascii")
    lines = "".join(f"1 {chance.random()} {step}\n" for step in range(n))
    (run / "metrics" / "loss").write_text(lines, encoding="ascii")
    found = Mlflow.model_validate({"from": "mlflow", "path": folder.name})
    return lambda: list(found.runs(folder.parent, FilesRead()))


def trackio(n: int, chance: Random, folder: Path) -> Work:
    """So many rows of some runs, and a configuration of as many names."""
    config = json.dumps(dict.fromkeys(names(n, chance), 1))
    rows = [(f"r{chance.randrange(9)}", step, '{"loss": 1}') for step in range(n)]
    filled = [
        ("CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name, step, metrics)", ()),
        ("CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name, config)", ()),
        ("INSERT INTO metrics VALUES (NULL, ?, ?, ?)", rows),
        ("INSERT INTO configs VALUES (NULL, ?, ?)", [("r0", config)]),
    ]
    parts, inside = _database(folder, filled), folder / "inside"
    inside.mkdir()
    return lambda: tables.trackio(parts, inside)


CLAIM: Final = "schema: 1\nid: x\ntitle: y\n"


def claim_keys(n: int, chance: Random, folder: Path) -> Work:
    """Keys that no claim has, some of them twice."""
    keys = [f"k{chance.randrange(2 * n)}" for _ in range(n)]
    return _claim(folder, CLAIM + "".join(f"{key}: 1\n" for key in keys))


def claim_brackets(n: int, chance: Random, folder: Path) -> Work:
    """More than the thousand characters that PyYAML looks ahead for the colon of a key."""
    return _claim(folder, f"{CLAIM}arms: {chance.choice(['{a: ', '[[], ']) * (300 + n)}\n")


def claim_text(n: int, chance: Random, folder: Path) -> Work:
    """A long text in quotes, in lines, or as a comment."""
    start = chance.choice(['title: "', "x: |\n  ", "# ", "arms: "])
    return _claim(folder, f"schema: 1\n{start}{chance.choice(['a', ' a', 'a: ', '- ']) * n}\n")


def _claim(folder: Path, text: str) -> Work:
    (folder / "x.claim.yaml").write_text(text, encoding="ascii")
    return lambda: load_claim(folder / "x.claim.yaml", "paper")


SHAPES: Final[dict[str, Shape]] = {
    each.__name__: each
    for each in (
        *(csv_columns, csv_column_twice, csv_rows, csv_quotes, csv_runs, csv_chart),
        *(tidy_table, audit_table),
        *(json_keys, json_lists, json_lines, json_sacred, json_helm),
        *(wandb_config, wandb_updates, wandb_rows, wandb_dots, wandb_parts),
        *(events_tags, events_steps, events_packed, event_files),
        *(inspect_scorers, inspect_lists),
        *(mlflow_names, mlflow_runs, mlflow_folder, trackio),
        *(claim_keys, claim_brackets, claim_text),
    )
}
