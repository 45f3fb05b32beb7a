"""Files of trackers that would cost without an end, or hold what is no number of a tracker."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from random import Random

import pytest

from benchmarks.faults import shapes
from repro.results.importer import same
from repro.results.inside import Refused, eval_logs, wandb_records
from repro.results.inside.wire import message
from tests.evidence.test_imports import claim, files, read, refused, unpacked, written


def test_a_small_zip_of_a_large_header_is_not_unpacked(tmp_path: Path) -> None:
    """175 KB that unpack to 180 MB of lists."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", '{"eval": {}, "x": [' + "[]," * 60_000_000 + "0]}")
    (tmp_path / "1.eval").write_bytes(archive.getvalue())
    said = refused(claim(tmp_path, '{from: inspect, path: "{seed}.eval"}', "match.accuracy"))
    assert "1.eval: its header.json unpacks to more than 20,000,000 bytes" in said
    assert "\n  to do: " in said


def test_a_record_in_parts_of_a_few_bytes_is_damage() -> None:
    """A part that is not the last fills its block."""
    with pytest.raises(Refused, match="record at byte 7 goes on before its block is full"):
        shapes.wandb_parts(10, Random(1), Path())()


def test_a_scorer_of_ten_thousand_is_one_too_many() -> None:
    scores = [{"name": str(i), "metrics": {"a": {"value": 1}}} for i in range(10_001)]
    content = json.dumps({"eval": {}, "results": {"scores": scores}}).encode()
    with pytest.raises(Refused, match="has 10,001 different names"):
        eval_logs.read({".json": content}, Path())


def test_settings_that_replace_others() -> None:
    """A name that is set again, or taken away, takes all below it along, and nothing else."""
    changes = [
        shapes._item("a", {"b": 1, "c": {"d": 2}}) + shapes._item("ab", 3),
        shapes._item("a", {"c": 4}) + shapes._item("e.f", 5),
        shapes._field(2, shapes._field(1, b"e")),
    ]
    told = wandb_records._Known()
    for change in changes:
        told.change(message(change))
    assert told.values == {"ab": 3, "a.c": 4}


@pytest.mark.parametrize("line", ["1 1_000 1", "1 ٣ 1", "1 2.5 1_0", "1 0x1 1", "1"])
def test_a_metric_of_mlflow_has_plain_digits(tmp_path: Path, line: str) -> None:
    unpacked(tmp_path, "mlruns-3.17.2.tar.gz")
    for file in tmp_path.rglob("metrics/test_error"):
        file.write_text(f"{line}\n", encoding="utf-8")
    where = "{from: mlflow, path: mlruns, where: {tags.arm: ARM}}"
    said = refused(claim(tmp_path, where, "test_error"))
    assert "metrics/test_error: '" in said
    assert "is no line of a metric of MLflow" in said


def test_a_field_with_other_digits_is_not_the_number() -> None:
    assert same("10", 10)
    assert same(" 1e1 ", 10)
    assert not any(same(text, 10) for text in ("1_0", "١٠", "ten", ""))


def test_a_large_configuration_beside_a_run_is_told(tmp_path: Path) -> None:
    written(tmp_path, "1/r.json", {"error": 2})
    written(tmp_path, "1/c.yaml", "# " + "x" * 1_000_000)
    said = refused(files(tmp_path, "{seed}/r.json", "error", ", fields: c.yaml"))
    assert "1/c.yaml: has 1,000,002 bytes\n  expected: at most 1,000,000\n  to do: " in said


def test_a_row_that_ends_before_a_run_is_told(tmp_path: Path) -> None:
    written(tmp_path, "x.csv", "step,a-1,a-2\n0,3,4\n1,2\n")
    where = '{from: files, path: x.csv, columns: "ARM-{seed}"}'.replace("ARM", "a")
    said = refused(claim(tmp_path, where, "value", more=", reduce: last"))
    assert "x.csv, row 2: ends before the column 'a-2'" in said
    written(tmp_path, "x.csv", "step,a-1,a-2\n0,3,4\n1,2,\n")
    found, _ = read(claim(tmp_path, where, "value", more=", reduce: last"))
    assert found["mixup"] == {1: 2.0, 2: 4.0}
