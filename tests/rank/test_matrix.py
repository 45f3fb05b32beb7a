"""Where rows come from: files of numpy and safetensors, and functions."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from safetensors.numpy import save_file

from repro.errors import MatrixError
from repro.rank.matrix import matrix_of

WHOLE = np.random.default_rng(0).normal(size=(4100, 7)).astype(np.float32)


def read(where: object, tensor: str = "") -> np.ndarray[Any, np.dtype[Any]]:
    """All rows, and a check that their number is known or 1."""
    found = matrix_of(str(where), tensor)
    rows = np.concatenate([chunk.copy() for chunk in found.read(0)])
    assert found.rows in {1, len(rows)}
    return rows


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """A module whose functions a test sets."""
    made = types.ModuleType("rows_of_mine")
    monkeypatch.setitem(sys.modules, "rows_of_mine", made)
    return made  # type: ignore[return-value]


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path: Path, order: Any) -> None:
    np.save(tmp_path / "rows.npy", np.asarray(WHOLE, order=order))
    assert np.array_equal(read(tmp_path / "rows.npy"), WHOLE)


def test_safetensors(tmp_path: Path) -> None:
    file = tmp_path / "rows.safetensors"
    save_file({"rows": WHOLE}, file)
    assert np.array_equal(read(file), WHOLE)
    save_file({"rows": WHOLE, "other": WHOLE[:3].astype(np.float64)}, file)
    assert np.array_equal(read(file, "other"), WHOLE[:3])
    with pytest.raises(MatrixError, match=r"2 tensors\n  expected: one of .*\n  to do: name it"):
        read(file)
    with pytest.raises(MatrixError, match="no tensor 'third'"):
        read(file, "third")


def test_bfloat16_of_safetensors_where_it_is_declared(tmp_path: Path) -> None:
    """numpy does not have it; as torch reads it."""
    file = tmp_path / "rows.safetensors"
    tensors = {"a": torch.ones(3), "rows": torch.from_numpy(WHOLE).bfloat16()}
    safetensors.torch.save_file(tensors, file)
    with pytest.raises(MatrixError, match=r"type bfloat16\n.*\n.* --precision bfloat16"):
        matrix_of(str(file), "rows")
    given = matrix_of(str(file), "rows", "bfloat16")
    rows = np.concatenate(list(given.read(7)))
    assert np.array_equal(rows, tensors["rows"].float().numpy()[7:])


@pytest.mark.parametrize(
    "returned",
    [
        WHOLE,
        torch.from_numpy(WHOLE).requires_grad_(),
        [WHOLE[:10], WHOLE[:0], torch.from_numpy(WHOLE[10:])],
    ],
)
def test_functions(module: types.SimpleNamespace, returned: Any) -> None:
    module.rows = lambda: returned
    assert np.array_equal(read("rows_of_mine:rows"), WHOLE)


def test_functions_that_yield(module: types.SimpleNamespace) -> None:
    def rows() -> Iterator[torch.Tensor]:
        yield from torch.from_numpy(WHOLE).split(999)

    module.rows = rows
    assert np.array_equal(read("rows_of_mine:rows"), WHOLE)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (3.0, r"returned float\n  expected: log-probabilities"),
        ([np.ones(3)], "an array of 3\n"),
        (np.ones((2, 3, 4)), "an array of 2 x 3 x 4\n"),
        (np.ones((2, 3), dtype=int), "numbers of type int64\n"),
        (np.ones((2, 3), dtype=complex), "numbers of type complex128\n"),
        (np.ones((0, 3)), "an array of 0 x 3\n"),
        (["abc"], "an array of a single number\n"),
    ],
)
def test_what_a_function_may_not_return(
    module: types.SimpleNamespace, returned: Any, message: str
) -> None:
    module.rows = lambda: returned
    with pytest.raises(MatrixError, match=message):
        read("rows_of_mine:rows")


def test_masked_numbers_are_not_read(module: types.SimpleNamespace) -> None:
    """What lies under a mask is no log-probability; a mask of nothing hides nothing."""
    module.rows = lambda: np.ma.masked_less(np.array([[-1.5, -9.0], [-2.5, -3.0]]), -5)
    with pytest.raises(MatrixError, match="a masked array, some numbers of which are masked"):
        read("rows_of_mine:rows")
    module.rows = lambda: np.ma.masked_less(np.array([[-1.5, -9.0]]), -10)
    assert read("rows_of_mine:rows").tolist() == [[-1.5, -9.0]]


def test_a_function_that_raises_is_named(module: types.SimpleNamespace) -> None:
    """At once, in mid course, or for want of an argument: the message says what it raised."""

    def broken() -> Iterator[Any]:
        yield WHOLE
        raise RuntimeError("no GPU")

    for function, message in ((broken, "RuntimeError: no GPU"), (len, "TypeError: len")):
        module.rows = function
        with pytest.raises(MatrixError, match=rf"rows_of_mine:rows: raised {message}") as caught:
            read("rows_of_mine:rows")
        assert "\n  to do: fix the function" in str(caught.value)


@pytest.mark.parametrize("ending", ["npy", "safetensors"])
def test_files_that_are_none(tmp_path: Path, ending: str) -> None:
    """Missing, empty, cut, of something else, a folder."""
    file = tmp_path / f"rows.{ending}"
    with pytest.raises(MatrixError, match="cannot be read: No such file"):
        read(file)
    for content in (b"", b"\x93NUMPY", b"\x80\x04K\x01.", b"not at all" * 100):
        file.write_bytes(content)
        with pytest.raises(MatrixError, match=r"cannot be read: .*\n  expected: a file that"):
            read(file)
    file.unlink()
    file.mkdir()
    with pytest.raises(MatrixError, match="cannot be read: "):
        read(file)


def test_pickles_are_not_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.array([[print]], dtype=object), allow_pickle=True)
    with pytest.raises(MatrixError, match="cannot be read: "):
        read(tmp_path / "rows.npy")


@pytest.mark.parametrize("where", ["rows.txt", "rows", "."])
def test_neither_an_array_nor_a_function(where: str) -> None:
    with pytest.raises(MatrixError, match=r"neither an array nor a function\n  expected: FILE.npy"):
        read(where)


def test_float16_of_torch_is_float16(module: types.SimpleNamespace) -> None:
    """As in a file; numpy has no bfloat16, which becomes float32."""
    for dtype, name in ((torch.float16, "float16"), (torch.bfloat16, "float32")):
        given = torch.from_numpy(WHOLE).to(dtype)
        module.rows = lambda given=given: given
        assert read("rows_of_mine:rows").dtype.name == name
