"""Logs of inspect: what inspect-ai wrote, and what no library would."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
import zipfile
from pathlib import Path

import pytest

from repro.results import reader
from tests.evidence.test_imports import claim, read, refused, unpacked, written

ZSTANDARD = sys.version_info >= (3, 14) or importlib.util.find_spec("backports") is not None
FIXTURE = "inspect-0.3.285.tar.gz"


def accuracy(arm: str, seed: int) -> float:
    """What the script of the README gave as the accuracy."""
    shift = {"mixup": 0.0, "plain": 0.2}[arm]
    return 0.5 + shift + random.Random(f"{arm}{seed}").gauss(0, 0.1)


def logs(folder: Path, form: str, where: str = "metadata.arm: ARM") -> Path:
    path = f"inspect/*.{form}"
    imports = f'{{from: inspect, path: "{path}", where: {{{where}}}}}'
    return claim(folder, imports, "match.accuracy")


def check(path: Path) -> None:
    """All values, and the evaluation that ended by an error."""
    found, lost = read(path)
    assert found == {
        arm: pytest.approx({seed: accuracy(arm, seed) for seed in range(3)})
        for arm in ("mixup", "plain")
    }
    assert lost == {"mixup": {}, "plain": {3: "diverged"}}


def header(seed: int) -> bytes:
    """The start of a log, as every form has it."""
    settings = {"seed": seed}
    return json.dumps({"eval": {"task": "t", "model_generate_config": settings}}).encode()


def test_a_log_in_json(tmp_path: Path) -> None:
    """An evaluation that ended by an error is a divergence."""
    check(logs(unpacked(tmp_path, FIXTURE), "json", "task_args.prompt: ARM"))


@pytest.mark.skipif(not ZSTANDARD, reason="needs Python 3.14 or the extra inspect")
def test_a_log_compressed_by_zstandard(tmp_path: Path) -> None:
    check(logs(unpacked(tmp_path, FIXTURE), "eval"))


def test_zstandard_that_nothing_reads_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Python has no Zstandard, and it is not installed."""
    monkeypatch.setattr(reader, "_packages", list)
    path = logs(unpacked(tmp_path, FIXTURE), "eval")
    if sys.version_info >= (3, 14):
        check(path)
    else:
        assert "pip install 'repro-verdict[inspect]'" in refused(path)


def test_older_logs_are_deflated(tmp_path: Path) -> None:
    """The same files in a zip that every Python reads."""
    unpacked(tmp_path, FIXTURE)
    for file in (tmp_path / "inspect").glob("*.json"):
        with zipfile.ZipFile(file.with_suffix(".eval"), "w", zipfile.ZIP_DEFLATED) as log:
            log.write(file, "header.json")
    check(logs(tmp_path, "eval"))


def test_an_evaluation_that_has_not_ended_is_missing(tmp_path: Path) -> None:
    """Its log has no header yet, and says what was begun."""
    (tmp_path / "inspect").mkdir()
    with zipfile.ZipFile(tmp_path / "inspect" / "a.eval", "w") as log:
        log.writestr("_journal/start.json", header(7))
    found, lost = read(logs(tmp_path, "eval", "task: t"))
    assert found["mixup"] == {}
    assert lost["mixup"] == {7: "missing"}


def test_a_scorer_with_two_reducers_has_a_name_for_each(tmp_path: Path) -> None:
    (tmp_path / "inspect").mkdir()
    scores = [
        {"name": "match", "reducer": reducer, "metrics": {"accuracy": {"value": value}}}
        for reducer, value in (("mean", 0.5), ("max", 0.75))
    ]
    log = {**json.loads(header(1)), "status": "success", "results": {"scores": scores}}
    (tmp_path / "inspect" / "a.json").write_text(json.dumps(log), encoding="utf-8")
    path = logs(tmp_path, "json", "task: t")
    assert read(path)[1]["mixup"] == {1: "missing"}
    text = path.read_text(encoding="utf-8").replace("from: match.acc", "from: match/max.acc")
    path.write_text(text, encoding="utf-8")
    assert read(path)[0]["mixup"] == {1: 0.75}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"[1]", "says nothing of an evaluation"),
        ("a.json", b"{", "holds what is no JSON"),
        ("a.eval", b"PK", "cannot be read"),
    ],
)
def test_what_is_no_log(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / "inspect").mkdir()
    (tmp_path / "inspect" / name).write_bytes(content)
    assert said in refused(logs(tmp_path, name.partition(".")[2], "task: t"))


def test_two_numbers_of_one_name_are_refused(tmp_path: Path) -> None:
    """Neither is taken quietly for the other."""
    score = {"name": "match", "reducer": "mean", "metrics": {"accuracy": {"value": 0.5}}}
    log = {**json.loads(header(1)), "status": "success", "results": {"scores": [score, score]}}
    written(tmp_path, "inspect/plain_1.json", log)
    written(tmp_path, "inspect/mixup_1.json", log)
    said = refused(logs(tmp_path, "json"))
    assert "has two numbers that are called 'match/mean.accuracy'" in said
