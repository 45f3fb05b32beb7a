"""Where rows of log-probabilities come from: an array in a file, or a function of yours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors import safe_open

from repro.errors import MatrixError, ReproError, printable
from repro.files import opened
from repro.plugins import load_object
from repro.rank.reduction import BLOCK_ROWS, Rows
from repro.rank.spectrum import Spectrum

FLOATS: Final = ("float16", "float32", "float64")
EXPECTED: Final = "log-probabilities: a row per context, a column per word"


@dataclass(frozen=True)
class Matrix:
    """``read(start)`` gives the rows from row ``start``, from 0, in chunks (?, N).

    There are at least ``rows`` of them.
    """

    read: Callable[[int], Iterator[Rows]]
    rows: int = 1


def matrix_of(where: str, tensor: str = "", precision: str = "") -> Matrix:
    """The matrix in a file `.npy` or `.safetensors`, or what `module:callable` returns.

    ``tensor`` names one of several in a file; one of bfloat16, which numpy does not have, is read
    as float32 where that ``precision`` is declared. A callable takes nothing, or ``start``, the
    number of rows to leave out, and returns an array (M, N), or chunks (?, N) one after another,
    of numpy or of torch. It is called for each reading.

    Raises MatrixError where there is no such matrix.
    """
    path = Path(where)
    if path.suffix == ".npy":
        return _whole(where, _npy(path))
    if path.suffix == ".safetensors":
        return _in_safetensors(path, tensor, precision)
    if ":" in where:
        return _called(where)
    raise MatrixError(
        f"{printable(where)}: neither an array nor a function\n"
        "  expected: FILE.npy, FILE.safetensors or module:callable\n"
        "  to do: save the rows with numpy.save, or name a function that returns them"
    )


def spectrum_in(path: Path) -> Spectrum:
    """The singular values in a file `.npy` as `repro rank --spectrum` writes it, falling.

    Raises MatrixError where there are none.
    """
    array = _npy(path)
    if array.ndim != 1 or not len(array) or array.dtype.name not in FLOATS:
        found = f"numbers of type {array.dtype.name}, {' x '.join(map(str, array.shape)) or 'one'}"
    else:
        values = np.asarray(array, dtype=np.float64)
        if np.isfinite(values).all() and values.min() >= 0:
            return np.sort(values)[::-1]
        found = "numbers that are negative or not finite"
    raise MatrixError(
        f"{printable(str(path))}: {found}\n  expected: singular values in one row\n"
        "  to do: write them with repro rank FILE --spectrum OUT.npy"
    )


def _whole(where: str, array: Any) -> Matrix:
    _check(where, tuple(array.shape), array.dtype.name)

    def read(start: int) -> Iterator[Rows]:
        for at in range(start, len(array), BLOCK_ROWS):
            yield np.asarray(array[at : at + BLOCK_ROWS])

    return Matrix(read, len(array))


def _check(where: str, shape: tuple[int, ...], dtype: str) -> None:
    """MatrixError for what is no matrix of floating-point numbers."""
    where = printable(where)
    if len(shape) != 2 or 0 in shape:
        size = " x ".join(map(str, shape)) or "a single number"
        message = f"{where}: an array of {size}\n  expected: {EXPECTED}\n  to do: reshape it"
    elif dtype not in FLOATS:
        or_say = ", or say --precision bfloat16" if dtype == "bfloat16" else ""
        message = (
            f"{where}: numbers of type {dtype}\n  expected: {', '.join(FLOATS)}\n"
            f"  to do: save log-probabilities in the precision of the model's parameters{or_say}"
        )
    else:
        return
    raise MatrixError(message)


def _npy(path: Path) -> Any:
    """The array of a file, mapped and not read; one of objects is refused, and never unpickled."""
    try:
        with opened(path), np.errstate(over="ignore"):
            return np.lib.format.open_memmap(path, mode="r")
    except Exception as error:
        raise _unreadable(path, error, "numpy.save") from error


def _in_safetensors(path: Path, tensor: str, precision: str) -> Matrix:
    """A tensor of a file; the only one, unless it is named."""
    try:
        with opened(path):
            file: Any = safe_open(str(path), framework="numpy")
            name = _tensor(path, tensor, list(file.keys()))
            part = file.get_slice(name)
            shape, dtype = tuple(part.get_shape()), str(part.get_dtype())
            if dtype == "BF16" and precision == "bfloat16":
                part, dtype = _BFloat16(_bits(path, name, shape)), "F32"
    except MatrixError:
        raise
    except Exception as error:
        raise _unreadable(path, error, "safetensors") from error
    _check(f"{path}, {name}", shape, dtype.replace("BF", "bfloat").replace("F", "float", 1))
    rows = shape[0]

    def read(start: int) -> Iterator[Rows]:
        for at in range(start, rows, BLOCK_ROWS):
            yield part[at : min(at + BLOCK_ROWS, rows)]

    return Matrix(read, rows)


def _bits(path: Path, name: str, shape: tuple[int, ...]) -> Any:
    """The 16 bits of each number of a tensor in a file that safetensors has checked, mapped."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        start = json.loads(file.read(length))[name]["data_offsets"][0]
    return np.memmap(path, "<u2", "r", 8 + length + start, shape)


@dataclass(frozen=True)
class _BFloat16:
    """Numbers of bfloat16 by their bits, which are the upper half of those of float32."""

    bits: Any

    def __getitem__(self, rows: slice) -> Rows:
        widened: Rows = (self.bits[rows].astype(np.uint32) << 16).view(np.float32)
        return widened


def _tensor(path: Path, asked: str, names: list[str]) -> str:
    if asked in names or (not asked and len(names) == 1):
        return asked or names[0]
    what = f"no tensor '{asked}'" if asked else f"{len(names)} tensors"
    expected = f"one of {', '.join(sorted(names)[:20])}" if names else "a tensor"
    raise MatrixError(
        f"{printable(f'{path}: {what}')}\n  expected: {printable(expected)}\n"
        "  to do: name it with --tensor"
    )


def _unreadable(path: Path, error: Exception, writer: str) -> MatrixError:
    why = getattr(error, "strerror", None) or (str(error) or type(error).__name__).splitlines()[0]
    return MatrixError(
        f"{printable(str(path))}: cannot be read: {why}\n  expected: a file that {writer} wrote\n"
        "  to do: check the path, and write the file again if it is damaged"
    )


def _called(where: str) -> Matrix:
    """What a function returns: an array, or chunks of one."""
    function = load_object(where)
    with _raised_by(where):
        by_start = "start" in signature(function).parameters

    def read(start: int) -> Iterator[Rows]:
        with _raised_by(where):
            returned = function(start=start) if by_start else function()
        left_out = 0 if by_start else start
        if hasattr(returned, "shape"):
            yield from _whole(where, _array(returned)).read(left_out)
        elif isinstance(returned, Iterable):
            yield from _without(_chunks(where, returned), left_out)
        else:
            raise MatrixError(
                f"{where}: returned {type(returned).__name__}\n  expected: {EXPECTED}; an array, "
                "or chunks of its rows\n  to do: return numpy.asarray(rows), or yield chunks"
            )

    return Matrix(read)


def _without(chunks: Iterable[Rows], rows: int) -> Iterator[Rows]:
    """The chunks but for their first ``rows``."""
    for chunk in chunks:
        yield chunk[rows:]
        rows = max(rows - len(chunk), 0)


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
            "  to do: fix the function; it is called without arguments"
        ) from error


def _array(given: Any) -> Any:
    """A tensor of torch, wherever it is, as an array; anything else as numpy makes one of it."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        if str(given.dtype) == "torch.bfloat16":
            given = given.float()  # numpy has none
    if np.ma.isMaskedArray(given) and np.ma.is_masked(given):
        raise MatrixError(
            "a masked array, some numbers of which are masked: there is nothing in their place\n"
            f"  expected: {EXPECTED}\n  to do: leave such words out of all rows"
        )
    return np.asarray(given)
