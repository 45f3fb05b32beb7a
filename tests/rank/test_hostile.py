"""Matrices that nobody should have: each has a right rank, or a message that says what to do."""

from __future__ import annotations

import io
import json
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.commands import repro

Matrix = np.ndarray[Any, np.dtype[Any]]

DIMENSIONS, ROWS, WORDS = 10, 900, 300


def log_probabilities(rows: int = ROWS, words: int = WORDS) -> Matrix:
    """Of a Softmax in float64, without a bias: rank 11, one more than it has dimensions."""
    generator = np.random.default_rng(2)
    logits = generator.normal(size=(rows, DIMENSIONS)) @ generator.normal(size=(DIMENSIONS, words))
    exact: Matrix = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return exact


EXACT = log_probabilities()
SINGLE = EXACT.astype(np.float32)


def cut(bits: int) -> Matrix:
    """float32 that keeps the first ``bits`` of its 23, rounded to nearest."""
    dropped = 23 - bits
    whole = SINGLE.view(np.uint32) + np.uint32(1 << (dropped - 1))
    return (whole & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)).view(np.float32)


def stored(folder: Path, matrix: Any) -> Path:
    file = folder / "rows.npy"
    np.save(file, matrix, allow_pickle=True)
    return file


def found(file: object, *options: object) -> dict[str, Any]:
    """The result as JSON, whose rank the text has too."""
    document = as_json(file, *options)
    text = repro("rank", str(file), *map(str, options))
    assert f"rank {document['press']:,} by Press's threshold" in text.stdout
    return document


def as_json(file: object, *options: object) -> dict[str, Any]:
    printed = repro("rank", str(file), "--json", *map(str, options))
    assert printed.returncode == 0, printed.stderr
    document: dict[str, Any] = json.loads(printed.stdout, parse_constant=pytest.fail)
    return document


def refused(file: object, *options: object) -> str:
    """The message; it says what was expected and what to do, and nothing is printed as a result."""
    printed = repro("rank", str(file), *map(str, options))
    assert (printed.returncode, printed.stdout) == (2, "")
    lines = printed.stderr.splitlines()
    assert len(lines) == 3, printed.stderr
    assert lines[1].startswith("  expected: ")
    assert lines[2].startswith("  to do: ")
    return lines[0]


RIGHT = {
    "float32": (SINGLE, "float32", 11),
    "float64": (EXACT, "float64", 11),
    "float16": (EXACT.astype(np.float16), "float16", 11),
    "float32 in float64": (SINGLE.astype(np.float64), "float32", 11),
    "zeros before float32 in float64": (
        np.concatenate([np.zeros((3, WORDS)), SINGLE.astype(np.float64)]), "float32", 11),
    "rows of zeros": (np.insert(SINGLE, [5, 5, 400], 0, axis=0), "float32", 11),
    "Fortran order": (np.asfortranarray(SINGLE), "float32", 11),
    "big-endian": (SINGLE.astype(">f4"), "float32", 11),
    "big-endian float64": (EXACT.astype(">f8"), "float64", 11),
    "big-endian float16": (EXACT.astype(">f2"), "float16", 11),
    "one row": (SINGLE[:1], "float32", 1),
    "one column": (SINGLE[:, :1], "float32", 1),
    "one number": (SINGLE[:1, :1], "float32", 1),
    "two columns": (SINGLE[:, :2], "float32", 2),
    "fewer rows than columns": (SINGLE[:7], "float32", 7),
    "zeros": (np.zeros((50, 40), np.float32), "float32", 0),
    "zeros and one column": (np.zeros((50, 1)), "float64", 0),
    "equal rows": (np.tile(SINGLE[:1], (700, 1)), "float32", 1),
    "equal entries": (np.full((700, WORDS), -8, np.float32), "float32", 1),
    "equal entries in each row": (np.tile(SINGLE[:, :1], (1, WORDS)), "float32", 1),
    "numbers below the least normal": (SINGLE * np.float32(1e-39), "float32", None),
    "large numbers": (EXACT * 1e90, "float64", 11),
    "small numbers": (EXACT * 1e-90, "float64", 11),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_matrices_with_a_right_rank(tmp_path: Path, name: str) -> None:
    """By numpy's SVD of what was stored, and the known rank; with all that can be asked for."""
    matrix, precision, rank = RIGHT[name]
    more = ("--centred", "--noise", "1e-3", "--figure", tmp_path / "a.svg")
    document = (found if name == "float32" else as_json)(stored(tmp_path, matrix), *more)
    values = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)
    eps = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}[precision]
    limit = 0.5 * np.sqrt(sum(matrix.shape) + 1) * eps * values[0]
    assert document["precision"] == precision
    assert document["press"] == np.sum(values > limit)
    assert rank in (None, document["press"])
    assert found(tmp_path / "rows.npy", "--counts")["press"] == document["press"]


ROUNDED = {
    "bfloat16 in float32": (cut(7), "row 1: its numbers were rounded to bfloat16"),
    "bfloat16 in float64": (cut(7).astype("f8"), "row 1: its numbers were rounded to bfloat16"),
    "TF32 in float32": (cut(10), "row 1: its numbers were rounded to float16"),
    "float16 in float32": (EXACT.astype("f2").astype("f4"), "numbers were rounded to float16"),
    "zeros before bfloat16": (np.insert(cut(7), 0, 0, axis=0), "row 2: its numbers were rounded"),
    "two digits": (np.round(SINGLE, 2), "row 1: its numbers have"),
    "two digits of narrow rows": (np.round(SINGLE[:, :100], 2), "row 1: its numbers have"),
    "sixteenths": (np.round(SINGLE * 16) / 16, "row 1: its numbers were rounded to"),
    "whole numbers": (np.round(SINGLE), "row 1: its numbers were rounded to"),
    "steps of a scale": (np.round(SINGLE / 0.137) * np.float32(0.137), "row 1: its numbers have"),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_numbers(tmp_path: Path, name: str) -> None:
    """They would have full rank, and are told from numbers that were not rounded."""
    matrix, message = ROUNDED[name]
    values = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)
    rank = np.sum(values > 0.5 * np.sqrt(sum(matrix.shape) + 1) * 2.0**-23 * values[0])
    assert rank == matrix.shape[1]
    assert message in refused(stored(tmp_path, matrix))


def test_narrow_rows_that_are_not_rounded(tmp_path: Path) -> None:
    """Neither a few words nor equal contexts are taken for rounding."""
    assert found(stored(tmp_path, SINGLE[:, :30]))["press"] == 11
    assert found(stored(tmp_path, np.repeat(SINGLE[:40, :30], 50, axis=0)))["press"] == 11


REFUSED: dict[str, tuple[Any, str]] = {
    "whole numbers": (np.ones((5, 4), int), "rows.npy: numbers of type int64"),
    "complex": (SINGLE.astype(np.complex64), "rows.npy: numbers of type complex64"),
    "truth": (SINGLE < -5, "rows.npy: numbers of type bool"),
    "text": (SINGLE[:2].astype(str), "rows.npy: numbers of type str"),
    "dates": (np.zeros((3, 3), "M8[s]"), "rows.npy: numbers of type datetime64"),
    "records": (np.zeros((3, 3), [("a", "f4")]), "rows.npy: numbers of type void"),
    "NaN": (np.where(SINGLE[4, 9] == SINGLE, np.nan, SINGLE), "row 5, column 10: nan"),
    "infinite": (np.where(SINGLE[4, 9] == SINGLE, -np.inf, SINGLE), "row 5, column 10: -inf"),
    "overflow": (np.full((4, 4), 1e200), "row 1 and after: numbers of a size of 1e+200"),
    "underflow": (np.full((4, 4), -1e-200), "row 1 and after: numbers of a size of 1e-200"),
    "one axis": (SINGLE[0], "rows.npy: an array of 300"),
    "three axes": (SINGLE[None], "rows.npy: an array of 1 x 900 x 300"),
    "a number": (np.float32(-3), "rows.npy: an array of a single number"),
    "no rows": (SINGLE[:0], "rows.npy: an array of 0 x 300"),
    "no columns": (SINGLE[:, :0], "rows.npy: an array of 900 x 0"),
    "objects": (SINGLE.astype(object), "rows.npy: cannot be read: Array can't be memory-mapped"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_matrix_of_log_probabilities(tmp_path: Path, name: str) -> None:
    matrix, message = REFUSED[name]
    assert message in refused(stored(tmp_path, matrix))


class Trap:
    """Leaves a folder where it is unpickled."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (self.folder,)


@pytest.mark.parametrize("form", ["array", "records", "pickle", "zip"])
def test_pickles_are_never_loaded(tmp_path: Path, form: str) -> None:
    """As a matrix or as a reference, whatever is around them."""
    trap = Trap(str(tmp_path / "sprung"))
    objects = np.array([[trap]], dtype=object)
    file = tmp_path / "rows.npy"
    if form == "pickle":
        objects.dump(file)
    elif form == "zip":
        with file.open("wb") as stream:
            np.savez(stream, rows=objects)
    else:
        np.save(file, objects if form == "array" else np.array([(trap,)], [("a", "O")]))
    assert "rows.npy: cannot be read: " in refused(file)
    good = tmp_path / "good.npy"
    np.save(good, SINGLE)
    options = ("--reference", file, "--reference-rank", 0)
    assert "rows.npy: cannot be read: " in refused(good, *options)
    assert not (tmp_path / "sprung").exists()


HEADERS = {
    "code": "__import__('os').abort()",
    "brackets": "(" * 3000,
    "no dictionary": "[]",
    "long": " " * 20_000,
    **{
        f"shape {shape}": f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"
        for shape in ("(-5, -5)", "(-1, 5)", "(10**18, 5)", "(9000000000000000000, 5)",
                      f"({'9' * 40}, 5)", "(True, 5)", "[5, 5]", "(5.0, 5)", "(0, 5)")
    },
    **{
        f"type {kind}": f"{{'descr': {kind}, 'fortran_order': False, 'shape': (5, 5)}}"
        for kind in ("'O'", "'V0'", "None", "[]", "(1, 2)", "'(100000,)f4'", "'<f40'",
                     "[('a', 'O')]")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", HEADERS)
def test_headers_of_numpy(tmp_path: Path, name: str) -> None:
    header = HEADERS[name].encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
    (tmp_path / "rows.npy").write_bytes(start + header + bytes(4000))
    refused(tmp_path / "rows.npy")


@pytest.mark.parametrize("ending", ["npy", "safetensors"])
def test_files_cut_anywhere(tmp_path: Path, ending: str) -> None:
    whole = io.BytesIO()
    np.save(whole, SINGLE)
    content = whole.getvalue()
    if ending == "safetensors":
        save_file({"rows": SINGLE}, tmp_path / "whole.safetensors")
        content = (tmp_path / "whole.safetensors").read_bytes()
    file = tmp_path / f"rows.{ending}"
    for length in (0, 1, 6, 9, 40, 100, 127, 128, 1000, len(content) - 1):
        file.write_bytes(content[:length])
        assert f"rows.{ending}: cannot be read: " in refused(file)


def tensors(file: Path, header: object, content: bytes = bytes(400), length: int = -1) -> Path:
    """A file of safetensors, whatever its header says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text) if length < 0 else length) + text + content)
    return file


def tensor(shape: list[int], end: int = 400, kind: str = "F32") -> dict[str, Any]:
    return {"rows": {"dtype": kind, "shape": shape, "data_offsets": [0, end]}}


TENSORS: dict[str, tuple[object, ...]] = {
    "a header beyond the file": (tensor([10, 10]), b"", 2**62),
    "a header of a gigabyte": (tensor([10, 10]), bytes(400), 10**9),
    "no header": (b"", b"", 0),
    "no JSON": (b"nonsense",),
    "no UTF-8": (b"\xff\xfe{}",),
    "a list": (b"[1]",),
    "deep": (b'{"a":' * 5000,),
    "no tensor": ({}, b""),
    "beyond the content": (tensor([10, 20], 800),),
    "too many numbers": (tensor([2**40, 2**40]),),
    "negative": (tensor([-10, -10]),),
    "unknown": (tensor([10, 10], kind="Q9"),),
    "bfloat16": (tensor([10, 20], kind="BF16"),),
    "eight bits": (tensor([20, 20], kind="F8_E4M3"),),
    "integers": (tensor([10, 5], kind="I64"),),
    "a number": (tensor([], 4), bytes(4)),
    "empty": (tensor([0, 10], 0), b""),
    "twice the same bytes": ({**tensor([10, 10]), "b": tensor([10, 10])["rows"]},),
}


@pytest.mark.parametrize("name", TENSORS)
def test_headers_of_safetensors(tmp_path: Path, name: str) -> None:
    file: Any = tensors(tmp_path / "rows.safetensors", *TENSORS[name])  # type: ignore[arg-type]
    assert refused(file).startswith(str(file))


def test_names_forge_no_line(tmp_path: Path) -> None:
    """Of tensors, of the one that is asked for, and of files."""
    names = {"a\nrank 9 by Press's threshold": SINGLE, "b\x1b[31m": SINGLE}
    save_file(names, tmp_path / "rows.safetensors")
    assert "2 tensors" in refused(tmp_path / "rows.safetensors")
    assert r"no tensor 'x\ny'" in refused(tmp_path / "rows.safetensors", "--tensor", "x\ny")
    file = tmp_path / "a\nrank 9.npy"
    assert "cannot be read" in refused(file)
    np.save(file, SINGLE)
    lines = repro("rank", file).stdout.splitlines()
    assert r"a\nrank 9.npy: 900 contexts" in lines[0]
    assert [line.startswith("rank ") for line in lines].count(True) == 1


@pytest.mark.parametrize("ending", ["npy", "safetensors"])
def test_places_that_are_no_files(tmp_path: Path, ending: str) -> None:
    """None is waited for."""
    began = time.monotonic()
    os.mkfifo(tmp_path / f"pipe.{ending}")
    (tmp_path / f"folder.{ending}").mkdir()
    for name, leads_to in {
        "to_pipe": f"pipe.{ending}", "to_folder": f"folder.{ending}", "to_nothing": "nothing",
        "to_itself": f"to_itself.{ending}", "to_device": "/dev/zero",
    }.items():  # fmt: skip
        (tmp_path / f"{name}.{ending}").symlink_to(leads_to)
    for file in sorted(tmp_path.iterdir()):
        assert f"{file.name}: cannot be read: " in refused(file)
    assert time.monotonic() - began < 30


def test_a_link_to_a_matrix_is_read(tmp_path: Path) -> None:
    stored(tmp_path, SINGLE)
    (tmp_path / "link.npy").symlink_to("rows.npy")
    assert found(tmp_path / "link.npy")["press"] == 11


def test_several_arrays_in_one_file_are_not_guessed_at(tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", a=SINGLE)
    assert "rows.npz: neither an array nor a function" in refused(tmp_path / "rows.npz")
    (tmp_path / "rows.npz").rename(tmp_path / "rows.npy")
    assert "rows.npy: cannot be read: " in refused(tmp_path / "rows.npy")


@pytest.mark.parametrize("option", ["--threshold", "--noise", "--epsilon"])
@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_numbers_that_are_none(tmp_path: Path, option: str, value: str) -> None:
    printed = repro("rank", stored(tmp_path, SINGLE), option, value)
    assert (printed.returncode, printed.stdout) == (2, "")
    assert f"Invalid value for '{option}'" in printed.stderr
