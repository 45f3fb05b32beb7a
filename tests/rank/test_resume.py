"""A reduction that was killed goes on, bit for bit, and only with its own matrix."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repro.errors import MatrixError
from repro.rank.matrix_rank import Ranks, ranks_of
from repro.rank.reduction import BLOCK_ROWS
from repro.rank.resume import COLUMNS, PROGRESS, SavedReading

Rows = np.ndarray[Any, np.dtype[np.floating[Any]]]
ROWS = 5 * BLOCK_ROWS + 100


def whole(columns: int = 60, seed: int = 0) -> Rows:
    generator = np.random.default_rng(seed)
    product = generator.normal(size=(ROWS, 20)) @ generator.normal(size=(20, columns))
    return product.astype(np.float32)


class KillError(Exception):
    """Ends a reading in mid course."""


def reader(matrix: Rows, until: int = 10**9) -> Callable[[int], Iterator[Rows]]:
    """Reads the matrix in odd chunks, and is interrupted at row ``until``."""

    def read(start: int) -> Iterator[Rows]:
        for at in range(start, len(matrix), 777):
            if at + 777 > until:
                raise KillError
            yield matrix[at : at + 777]

    return read


def taken(folder: Path, read: Callable[[int], Iterator[Rows]], **options: Any) -> Ranks:
    """The ranks, saving after each block."""
    with SavedReading(folder, every=0) as checkpoint:
        return ranks_of(read, checkpoint=checkpoint, **options)


@pytest.mark.parametrize(
    ("reduction", "options"),
    [
        ("qr", {}),
        ("gram", {"rows": ROWS, "precision": "bfloat16"}),
        ("inertia", {"counts_only": True, "precision": "bfloat16"}),
    ],
)
def test_after_an_interruption_the_bits_are_the_same(
    tmp_path: Path, reduction: str, options: dict[str, Any]
) -> None:
    matrix = whole()
    expected = ranks_of(lambda _: [matrix], **options)
    with pytest.raises(KillError):
        taken(tmp_path, reader(matrix, until=3 * BLOCK_ROWS), **options)
    began = []

    def read(start: int) -> Iterator[Rows]:
        began.append(start)
        return reader(matrix)(start)

    found = taken(tmp_path, read, **options)
    assert began == [2 * BLOCK_ROWS - 1]
    assert found.reduced.reduction == reduction
    assert (found.press, found.reduced.rows) == (expected.press, ROWS)
    assert 15 <= found.press <= 20
    assert found.reduced.sigma_1 == expected.reduced.sigma_1
    if reduction != "inertia":
        assert np.array_equal(found.reduced.values(), expected.reduced.values())


def test_a_basis_is_taken_up_to_the_same_bits(tmp_path: Path) -> None:
    matrix = whole(columns=600)
    options: dict[str, Any] = {"rows": ROWS, "precision": "bfloat16"}
    expected = ranks_of(lambda _: [matrix], **options)
    with pytest.raises(KillError):
        taken(tmp_path, reader(matrix, until=3 * BLOCK_ROWS), **options)
    found = taken(tmp_path, reader(matrix), **options)
    assert found.reduced.reduction == expected.reduced.reduction == "basis"
    assert np.array_equal(found.reduced.values(), expected.reduced.values())
    assert found.press == expected.press


@pytest.mark.parametrize("columns", [COLUMNS - 1, COLUMNS, 2 * COLUMNS + 30])
def test_a_gram_matrix_of_several_parts_is_taken_up_to_the_same_bits(
    tmp_path: Path, columns: int
) -> None:
    """Of more directions than a basis has room for; a part has so many columns."""
    matrix = np.random.default_rng(5).normal(size=(ROWS, columns)).astype(np.float32)
    options: dict[str, Any] = {"rows": ROWS, "counts_only": True, "thresholds": (0.8, 0.7)}
    expected = ranks_of(lambda _: [matrix], **options)
    with pytest.raises(KillError):
        taken(tmp_path, reader(matrix, until=3 * BLOCK_ROWS), **options)
    found = taken(tmp_path, reader(matrix), **options)
    assert found.reduced.reduction == expected.reduced.reduction == "inertia"
    assert found.reduced.sigma_1 == expected.reduced.sigma_1
    assert found.at == expected.at
    assert 0 < found.at[0.8] < found.at[0.7] < columns
    with np.load(tmp_path / f"rows-{ROWS}.npz") as saved:
        parts = list(saved.values())
    assert len(parts) == -(-columns // COLUMNS)
    half = columns * (columns + COLUMNS) // 2
    assert sum(part.size for part in parts) <= half
    for wrong in (parts[:-1], [*parts, parts[0]], [part[:, 1:] for part in parts]):
        np.savez(tmp_path / f"rows-{ROWS}.npz", *wrong)
        refused(tmp_path, matrix, "its parts are not of one matrix", **options)


def test_a_kill_loses_what_came_after_the_last_save(tmp_path: Path) -> None:
    """A process that kills itself in mid course, and another that goes on."""
    np.save(tmp_path / "rows.npy", whole())
    code = (
        "import os, sys, signal, numpy as np; from pathlib import Path;"
        "from repro.rank.resume import SavedReading; from repro.rank.matrix_rank import ranks_of\n"
        "matrix = np.load('rows.npy')\n"
        "def read(start):\n"
        "    for at in range(start, len(matrix), 500):\n"
        "        if at > int(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)\n"
        "        yield matrix[at:at + 500]\n"
        "with SavedReading(Path('kept'), every=0) as kept:\n"
        "    print(kept.rows)\n"
        "    print(ranks_of(read, checkpoint=kept).press)\n"
    )

    def run(until: int) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-c", code, str(until)]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run(2 * BLOCK_ROWS + 600).returncode == -signal.SIGKILL
    assert run(10**9).stdout.split() == [str(2 * BLOCK_ROWS), "20"]
    assert [path.name for path in sorted((tmp_path / "kept").iterdir())] == [
        PROGRESS,
        f"rows-{ROWS}.npz",
    ]


def refused(folder: Path, matrix: Rows, message: str, **options: Any) -> None:
    with pytest.raises(MatrixError, match=message) as caught:
        taken(folder, reader(matrix), **options)
    assert str(caught.value).startswith(f"{folder}: ")
    assert "\n  to do: name another folder" in str(caught.value)


def test_another_matrix_is_refused(tmp_path: Path) -> None:
    taken(tmp_path, reader(whole()))
    refused(tmp_path, whole(seed=1), r"was begun with other rows: row 10,340 differs")
    refused(tmp_path, whole(columns=61), "was begun with other rows")
    refused(tmp_path, whole()[:100], "was begun with other rows")
    refused(tmp_path, whole(), "was begun by qr in float32\n", precision="bfloat16")


@pytest.mark.parametrize(
    "progress",
    [
        "",
        "[]",
        "{",
        '{"rows": 5}',
        '{"rows": 5, "precision": "float32", "reduction": "qr", "last": [1, 2]}',
        '{"rows": 1e999, "precision": "float32", "reduction": "qr", "last": [1]}',
        "[" * 100_000,
        '{"rows": "x", "precision": "float32", "reduction": "qr", "last": [1]}',
    ],
)
def test_a_folder_of_something_else_is_refused(tmp_path: Path, progress: str) -> None:
    (tmp_path / PROGRESS).write_text(progress, encoding="utf-8")
    refused(tmp_path, whole(), "cannot be used: ")


def test_parts_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    taken(tmp_path, reader(whole()))
    file = tmp_path / f"rows-{ROWS}.npz"
    for parts in ((np.eye(7),), (), (np.eye(60), np.eye(60)), (np.full((60, 60), np.nan),)):
        np.savez(file, *parts)
        refused(tmp_path, whole(), "its parts are not of one matrix")
    file.write_bytes(file.read_bytes()[:200])
    refused(tmp_path, whole(), "cannot be used: ")
    np.savez(file, np.array([{"a": 1}], dtype=object))
    refused(tmp_path, whole(), "cannot be used: ")


def test_what_was_read_is_kept_where_a_finer_threshold_needs_another_reading(
    tmp_path: Path,
) -> None:
    """The rows go into a finer basis in a folder within, and both serve later."""
    generator = np.random.default_rng(2)
    product = generator.normal(size=(ROWS, 40)) * np.geomspace(1, 1e-4, 40)
    matrix = (product @ generator.normal(size=(40, 600))).astype(np.float32)
    options: dict[str, Any] = {"counts_only": True, "precision": "bfloat16"}
    first = taken(tmp_path, reader(matrix), **options)
    saved = (tmp_path / PROGRESS).read_bytes()
    values = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)
    fine = float(np.sqrt(values[30] * values[31]) / values[0])
    with pytest.raises(KillError):
        taken(tmp_path, reader(matrix, until=3 * BLOCK_ROWS), thresholds=(fine,), **options)
    assert (tmp_path / PROGRESS).read_bytes() == saved
    found = taken(tmp_path, reader(matrix), thresholds=(fine,), **options)
    assert (found.at[fine], found.reduced.reduction) == (31, "basis")
    assert taken(tmp_path, reader(matrix), **options).press == first.press
    assert (tmp_path / PROGRESS).read_bytes() == saved


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    with SavedReading(tmp_path):
        refused(tmp_path, whole(), "another command uses it")
    assert taken(tmp_path, reader(whole())).press == 20


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    refused(file, whole(), "cannot be used: ")


def test_what_was_read_serves_other_thresholds(tmp_path: Path) -> None:
    """All rows are read, so nothing is read again but the last."""
    options: dict[str, Any] = {"counts_only": True, "precision": "bfloat16"}
    taken(tmp_path, reader(whole()), **options)
    progress = json.loads((tmp_path / PROGRESS).read_text(encoding="utf-8"))
    assert progress["rows"] == ROWS
    found = taken(tmp_path, reader(whole()), thresholds=(0.9, 0.3), **options)
    values = np.linalg.svd(whole(), compute_uv=False)
    assert found.at == {t: int(np.sum(values > t * values[0])) for t in (0.9, 0.3)}
