"""Time and memory of a rank at full size: `python -m benchmarks.rank ptb`, `... wt2 FOLDER`.

The rows are those of a Softmax, of low rank; with `--constant` the same after log(p + 1e-8), of
full rank. Of WikiText-2 there are counts alone; what was read is kept in FOLDER, so that the
command goes on after a kill. `--rows 24576` takes the first of them, a tenth.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg.blas import dgemm

from benchmarks.rank import rows
from repro.machine import cores, processor
from repro.rank.matrix_rank import ranks_of
from repro.rank.reduction import BLOCK_ROWS, reduce_rows
from repro.rank.resume import SavedReading
from repro.rank.rounded import eps_of
from repro.rank.spectrum import press_threshold

SIDE = 6000


def rate() -> float:
    """Floating-point operations a second of a float64 product on this machine, the best of 3."""
    a = np.asfortranarray(np.random.default_rng(0).standard_normal((SIDE, SIDE)))
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        dgemm(1.0, a, a)
        seconds.append(time.perf_counter() - began)
    return 2 * SIDE**3 / min(seconds)


def given_rows(shape: tuple[int, int], start: int, *, constant: bool) -> Iterator[rows.Rows]:
    """The rows of the matrix from row ``start``."""
    blocks = rows.softmax(*shape, start)
    return rows.with_constant(blocks) if constant else blocks


@dataclass
class TimedRows:
    """The rows of the matrix, and what making them took: seconds, and those of all cores."""

    shape: tuple[int, int]
    constant: bool
    seconds: float = 0.0
    core_seconds: float = 0.0
    first: int = 0

    def read(self, start: int = 0) -> Iterator[rows.Rows]:
        """The rows from row ``start``."""
        self.first = start
        chunks = given_rows(self.shape, start, constant=self.constant)
        while True:
            began, used = time.perf_counter(), time.process_time()
            chunk = next(chunks, None)
            self.seconds += time.perf_counter() - began
            self.core_seconds += time.process_time() - used
            if chunk is None:
                return
            yield chunk


def kernel(
    shape: tuple[int, int], folder: Path | None, *, counts: bool, constant: bool
) -> dict[str, Any]:
    """The kernel, once: its seconds, and those of all cores together, without making the rows."""
    made = TimedRows(shape, constant)
    began, used = time.perf_counter(), time.process_time()
    with SavedReading(folder) if folder else nullcontext() as kept:
        found = ranks_of(made.read, rows=shape[0], counts_only=counts, checkpoint=kept)
    return {
        "from_row": made.first,
        "seconds": time.perf_counter() - began - made.seconds,
        "core_seconds": time.process_time() - used - made.core_seconds,
        "seconds_making_rows": made.seconds,
        "press": found.press,
        "tenfold": found.tenfold,
        "numpy": found.numpy,
        "control": [found.control, found.expected],
        "reduction": found.reduced.reduction,
    }


def press(shape: tuple[int, int], *, constant: bool) -> dict[str, Any]:
    """The Gram matrix and one factorisation of it: Press's rank alone, and no control."""
    made = TimedRows(shape, constant)
    began = time.perf_counter()
    reduced = reduce_rows(made.read(), "inertia")
    reduced_in = time.perf_counter() - began - made.seconds
    (found,) = reduced.ranks([press_threshold(*shape, eps_of("float32"))])
    return {
        "seconds": time.perf_counter() - began - made.seconds,
        "seconds_of_the_gram_matrix": reduced_in,
        "seconds_making_rows": made.seconds,
        "press": found,
    }


def svd(shape: tuple[int, int], *, constant: bool) -> dict[str, Any]:
    """What the papers did: numpy.linalg.svd of the held matrix in float32."""
    held = np.empty(shape, dtype=np.float32)
    at = 0
    for chunk in given_rows(shape, 0, constant=constant):
        held[at : at + len(chunk)] = chunk
        at += len(chunk)
    began = time.perf_counter()
    values = np.linalg.svd(held, compute_uv=False)
    seconds = time.perf_counter() - began
    limit = 0.5 * np.sqrt(sum(shape) + 1) * np.finfo(np.float32).eps
    return {"seconds": seconds, "press": int(np.sum(values > limit * values[0]))}


def predicted(shape: tuple[int, int], thresholds: int, flops: float, start: int = 0) -> float:
    """Seconds by the rate of products: the lower half of the Gram matrix, and factorisations.

    The rows before ``start`` were read before the command was killed; the control is built again.
    """
    count, columns = shape
    control = 5 * BLOCK_ROWS / 2
    return ((count - start + control) * columns**2 + thresholds * columns**3 / 3) / flops


def alone(*arguments: str) -> dict[str, Any]:
    """One measurement in a process of its own, with its peak of memory in GB."""
    line = [sys.executable, "-m", "benchmarks.rank", *arguments]
    printed = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(printed)
    return found


def main() -> None:
    """Both, one after the other, and the ratio; or one alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", choices=["ptb", "wt2"])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--constant", action="store_true", help="rows of full rank")
    parser.add_argument("--rows", type=int, help="only the first of them")
    parser.add_argument("--alone", choices=["kernel", "counts", "press", "svd"])
    given = parser.parse_args()
    whole, columns = rows.PENN_TREEBANK if given.corpus == "ptb" else rows.WIKITEXT2
    shape = min(whole, given.rows or whole), columns
    if given.alone:
        if given.alone in ("svd", "press"):
            found = {"svd": svd, "press": press}[given.alone](shape, constant=given.constant)
        else:
            counts = given.alone == "counts"
            found = kernel(shape, given.folder, counts=counts, constant=given.constant)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(json.dumps({**found, "peak_gb": peak}))
        return
    ways = ["kernel", "counts", "press", "svd"] if given.corpus == "ptb" else ["counts"]
    options = [str(given.folder)] if given.folder else []
    options += ["--constant"] if given.constant else []
    options += ["--rows", str(given.rows)] if given.rows else []
    flops = rate()
    measured = {way: alone(given.corpus, *options, "--alone", way) for way in ways}
    start = max(found["from_row"] for found in measured.values() if "from_row" in found)
    result: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{processor()}, {cores()} cores, numpy {np.__version__}",
        "shape": shape,
        "rows": "log(p + 1e-8) of a Softmax" if given.constant else "a Softmax",
        "dgemm_flops": flops,
        "predicted_seconds_of_a_gram_matrix": predicted(shape, 4, flops, start),
        **measured,
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
