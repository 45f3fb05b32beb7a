"""`repro similarity` prints how word embeddings agree with people."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from repro.similarity.benchmarks import BENCHMARKS, known_benchmark
from tests.commands import repro

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/similarity-of-your-embeddings.md").read_text(encoding="utf-8")

ANIMALS = "cat tiger 9\ncat car 1\ntiger lion 8.5\ntiger train 2\nlion unicorn 7\n"
VECTORS = {"cat": (9, 1), "tiger": (9, 2), "lion": (8, 3), "car": (1, 9), "train": (2, 9)}


@pytest.fixture
def embeddings(tmp_path: Path) -> Path:
    file = tmp_path / "vectors.txt"
    lines = [f"{word} {x} {y}" for word, (x, y) in VECTORS.items()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "animals.txt").write_text(ANIMALS, encoding="utf-8")
    return file


def test_text(embeddings: Path, tmp_path: Path) -> None:
    """Cosines .994, .220, .989, .416: in the order of the scores."""
    printed = repro("similarity", embeddings, "--benchmark", tmp_path / "animals.txt")
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.splitlines() == [
        f"{embeddings}: 5 words, vectors of 2",
        "benchmark  pairs  covered  correlation",
        "animals        5        4       1.0000",
    ]


def test_the_example_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its two files give what it shows."""
    vectors, animals = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    shown = re.search(r"```console\n\$ (.*?)\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    (tmp_path / "vectors.txt").write_text(vectors, encoding="utf-8")
    (tmp_path / "animals.txt").write_text(animals, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert repro(*shown[1].split()[1:]).stdout == shown[2]


def test_json(embeddings: Path, tmp_path: Path) -> None:
    """Two benchmarks, of which one has too few pairs: then there is no mean."""
    few = tmp_path / "few.txt"
    few.write_text("cat tiger 9\n", encoding="utf-8")
    printed = repro(
        "similarity", embeddings, "--benchmark", tmp_path / "animals.txt", "--benchmark", few,
        "--json",
    )  # fmt: skip
    assert json.loads(printed.stdout) == {
        "mean": None,
        "words": 5,
        "size": 2,
        "benchmarks": {
            "animals": {"pairs": 5, "covered": 4, "correlation": pytest.approx(1.0)},
            "few": {"pairs": 1, "covered": 1, "correlation": None},
        },
    }


def test_an_array_and_its_words(embeddings: Path, tmp_path: Path) -> None:
    """The same numbers as from the text."""
    array, words = tmp_path / "vectors.npy", tmp_path / "words.txt"
    np.save(array, np.array(list(VECTORS.values()), dtype=np.float32))
    words.write_text("\n".join(VECTORS), encoding="utf-8")
    options = ("--benchmark", tmp_path / "animals.txt", "--json")
    printed = repro("similarity", array, "--vocabulary", words, *options)
    assert json.loads(printed.stdout) == json.loads(
        repro("similarity", embeddings, *options).stdout
    )


def test_two_benchmarks_of_one_name(embeddings: Path, tmp_path: Path) -> None:
    again = tmp_path / "again" / "animals.txt"
    again.parent.mkdir()
    again.write_text(ANIMALS, encoding="utf-8")
    both = ("--benchmark", tmp_path / "animals.txt", "--benchmark", again)
    printed = repro("similarity", embeddings, *both)
    assert printed.returncode == 2
    assert printed.stderr.startswith("two benchmarks are called 'animals'")


def test_without_benchmarks(embeddings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REPRO_DATA", raising=False)
    printed = repro("similarity", embeddings)
    assert printed.returncode == 5
    assert "set REPRO_DATA to the folder that has wordsim/EN-WS-353-ALL.txt" in printed.stderr


@pytest.mark.data
def test_all_thirteen(tmp_path: Path, data_dir: Path) -> None:
    """Every pair is covered where every word has a vector, and the mean is that of 13."""
    words = sorted({word for name in BENCHMARKS for word in known_benchmark(name, data_dir).words})
    file = tmp_path / "vectors.txt"
    rows = np.random.default_rng(3).normal(size=(len(words), 5))
    lines = (f"{word} {' '.join(map(str, row))}" for word, row in zip(words, rows, strict=True))
    file.write_text("\n".join(lines), encoding="utf-8")
    printed = repro("similarity", file, "--data", data_dir, "--json")
    assert printed.returncode == 0, printed.stderr
    found = json.loads(printed.stdout)
    assert list(found["benchmarks"]) == [each.label for each in BENCHMARKS.values()]
    assert all(each["covered"] == each["pairs"] for each in found["benchmarks"].values())
    correlations = [each["correlation"] for each in found["benchmarks"].values()]
    assert found["mean"] == pytest.approx(np.mean(correlations))
    text = repro("similarity", file, "--data", data_dir).stdout.splitlines()
    assert text[-1].split() == ["mean", f"{found['mean']:.4f}"]
