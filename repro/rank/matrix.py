"""Where rows of log-probabilities come from: an array in a file, or a function of yours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError, safe_open

from repro.errors import MatrixError, ReproError
from repro.files import opened
from repro.plugins import load_object
from repro.rank.reduction import BLOCK_ROWS, Rows

FLOATS: Final = ("float16", "float32", "float64")
EXPECTED: Final = "log-probabilities: a row per context, a column per word"


@dataclass(frozen=True)
class Matrix:
    """Rows that can be read once, in chunks (?, N); at least ``rows`` of them."""

    chunks: Iterable[Rows]
    rows: int = 1


def matrix_of(where: str, tensor: str = "") -> Matrix:
    """The matrix in a file `.npy` or `.safetensors`, or what `module:callable` returns.

    ``tensor`` names one of several in a file. A callable takes nothing, and returns an array
    (M, N), or chunks (?, N) one after another, of numpy or of torch.

    Raises MatrixError where there is no such matrix.
    """
    path = Path(where)
    if path.suffix == ".npy":
        return _whole(where, _npy(path))
    if path.suffix == ".safetensors":
        return _in_safetensors(path, tensor)
    if ":" in where:
        return _called(where)
    raise MatrixError(
        f"{where}: neither an array nor a function\n"
        "  expected: FILE.npy, FILE.safetensors or module:callable\n"
        "  to do: save the rows with numpy.save, or name a function that returns them"
    )


def _whole(where: str, array: Any) -> Matrix:
    _check(where, tuple(array.shape), array.dtype.name)
    starts = range(0, len(array), BLOCK_ROWS)
    return Matrix((np.asarray(array[at : at + BLOCK_ROWS]) for at in starts), len(array))


def _check(where: str, shape: tuple[int, ...], dtype: str) -> None:
    """MatrixError for what is no matrix of floating-point numbers."""
    if len(shape) != 2 or 0 in shape:
        size = " x ".join(map(str, shape)) or "a single number"
        message = f"{where}: an array of {size}\n  expected: {EXPECTED}\n  to do: reshape it"
    elif dtype not in FLOATS:
        message = (
            f"{where}: numbers of type {dtype}\n  expected: {', '.join(FLOATS)}\n"
            "  to do: save log-probabilities in the precision of the model's parameters"
        )
    else:
        return
    raise MatrixError(message)


def _npy(path: Path) -> Any:
    """The array of a file, mapped and not read."""
    try:
        with opened(path):
            return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable(path, error, "numpy.save") from error


def _in_safetensors(path: Path, tensor: str) -> Matrix:
    """A tensor of a file; the only one, unless it is named."""
    try:
        with opened(path):
            file: Any = safe_open(str(path), framework="numpy")
            name = _tensor(path, tensor, list(file.keys()))
            part = file.get_slice(name)
            shape, dtype = tuple(part.get_shape()), str(part.get_dtype())
    except (OSError, SafetensorError) as error:
        raise _unreadable(path, error, "safetensors") from error
    _check(f"{path}, {name}", shape, dtype.replace("BF", "bfloat").replace("F", "float", 1))
    rows = shape[0]
    starts = range(0, rows, BLOCK_ROWS)
    return Matrix((part[at : min(at + BLOCK_ROWS, rows)] for at in starts), rows)


def _tensor(path: Path, asked: str, names: list[str]) -> str:
    if asked in names or (not asked and len(names) == 1):
        return asked or names[0]
    what = f"no tensor '{asked}'" if asked else f"{len(names)} tensors"
    raise MatrixError(
        f"{path}: {what}\n  expected: one of {', '.join(names[:20]) or 'none'}\n"
        "  to do: name it with --tensor"
    )


def _unreadable(path: Path, error: Exception, writer: str) -> MatrixError:
    why = getattr(error, "strerror", None) or str(error).splitlines()[0]
    return MatrixError(
        f"{path}: cannot be read: {why}\n  expected: a file that {writer} wrote\n"
        "  to do: check the path, and write the file again if it is damaged"
    )


def _called(where: str) -> Matrix:
    """What a function returns: an array, or chunks of one."""
    function = load_object(where)
    with _raised_by(where):
        returned = function()
    if hasattr(returned, "shape"):
        return _whole(where, _array(returned))
    if not isinstance(returned, Iterable):
        raise MatrixError(
            f"{where}: returned {type(returned).__name__}\n  expected: {EXPECTED}; an array, or "
            "chunks of its rows\n  to do: return numpy.asarray(rows), or yield chunks"
        )
    return Matrix(_chunks(where, returned))


def _chunks(where: str, chunks: Iterable[Any]) -> Iterator[Rows]:
    with _raised_by(where):
        for chunk in chunks:
            array = _array(chunk)
            if array.shape[:1] != (0,):
                _check(where, tuple(array.shape), array.dtype.name)
                yield array


@contextmanager
def _raised_by(where: str) -> Iterator[None]:
    """What a user's function raises, as a MatrixError that names it."""
    try:
        yield
    except ReproError:
        raise
    except Exception as error:
        raise MatrixError(
            f"{where}: raised {type(error).__name__}: {error}\n  expected: {EXPECTED}\n"
            "  to do: mend the function; it is called without arguments"
        ) from error


def _array(given: Any) -> Any:
    """A tensor of torch, wherever it is, as an array; anything else as numpy makes one of it."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        if given.dtype.itemsize == 2:
            given = given.float()
    return np.asarray(given)
