"""The 13 benchmarks of word similarity, known by their digests, and files of the same form."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from repro.errors import DataError, EmbeddingsError
from repro.files import NotRegularError, read_bytes

FOLDER: Final = "wordsim"
"""The folder of the files below $REPRO_DATA."""

LARGEST: Final = 2**26
"""Bytes of the largest file that is read; the benchmarks have 100 KB."""


class Known(NamedTuple):
    """One of the 13: what a reader calls it, its file, and the digest of that."""

    label: str
    file: str
    sha256: str


BENCHMARKS: Final[Mapping[str, Known]] = {
    "ws_353": Known(
        "WS-353",
        "EN-WS-353-ALL.txt",
        "ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c",
    ),
    "ws_353_sim": Known(
        "WS-353-SIM",
        "EN-WS-353-SIM.txt",
        "f1da938998863c94e53f72f984a5c6e215f0b46c323aae8f0f4930703a339107",
    ),
    "ws_353_rel": Known(
        "WS-353-REL",
        "EN-WS-353-REL.txt",
        "66a7c88100624d0a391605ff61ce84e11d11ee620d51ec0298da49592838f8fa",
    ),
    "rg_65": Known(
        "RG-65",
        "EN-RG-65.txt",
        "c243f3a91c3f5d8cf67f21a67f6fb80bde8b6bb060851a6a48e6f2d68ec98c9f",
    ),
    "mc_30": Known(
        "MC-30",
        "EN-MC-30.txt",
        "33ee05911496ff83d95cac351d0746c6f63b9181b605cb7d307f4daa8864511b",
    ),
    "mturk_287": Known(
        "MTurk-287",
        "EN-MTurk-287.txt",
        "a9ae3a9decb75a9700fe0cf18b048c1344774d9f40e0196baf8e34d4cd9d1ce5",
    ),
    "mturk_771": Known(
        "MTurk-771",
        "EN-MTurk-771.txt",
        "a8cc04ed7b45a95a4b8915814c75c30ef99ab6001b534205529b07273022f569",
    ),
    "men": Known(
        "MEN",
        "EN-MEN-TR-3k.txt",
        "3df21751d8f69d51619ec62251c045da70815f3fad27736db7c1fc99ff3bfacf",
    ),
    "yp_130": Known(
        "YP-130",
        "EN-YP-130.txt",
        "4b963f0771ba8cf1d378de8cd43387c31eae34a5e57e2de3685c53fc2cdd9a73",
    ),
    "verb_143": Known(
        "VERB-143",
        "EN-VERB-143.txt",
        "7259e19961c81912aa4c72de0102e480b2ad2bb9f4ce97d036fbde8e1a403001",
    ),
    "rw_stanford": Known(
        "RW-STANFORD",
        "EN-RW-STANFORD.txt",
        "5108d54dfc746f44f9c3d7e31d2857c37cf71430bc1594175a61a3b89bb0ae1f",
    ),
    "simverb_3500": Known(
        "SimVerb-3500",
        "EN-SimVerb-3500.txt",
        "9d84274e7ad029fd3cf69dd0516e9ade624bbef9bd4e2050f6cc1fa01471e0f5",
    ),
    "simlex_999": Known(
        "SimLex-999",
        "EN-SIMLEX-999.txt",
        "405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685",
    ),
}
"""Those of Table 13 in the supplement of Parthiban et al. 2021, in its order, by id.

The files are those of Faruqui and Dyer 2014. Table 13 calls all by these names.
"""


class Pair(NamedTuple):
    """Two words in lower case, and how alike people find them, on the scale of the benchmark."""

    first: str
    second: str
    score: float


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Pairs of words with scores; ``label`` is what a reader calls it."""

    label: str
    pairs: tuple[Pair, ...]

    @property
    def words(self) -> frozenset[str]:
        """All that occur in its pairs."""
        return frozenset(word for pair in self.pairs for word in (pair.first, pair.second))


def known_benchmark(name: str, data: Path | None) -> Benchmark:
    """One of ``BENCHMARKS`` by its id, read below ``data``, the folder of $REPRO_DATA.

    Raises DataError where the file is not there, or is another.
    """
    return parsed(BENCHMARKS[name].label, *_checked(name, data))


def known_benchmarks(data: Path | None) -> list[Benchmark]:
    """All of ``BENCHMARKS``, in their order; DataError as for one."""
    return [known_benchmark(name, data) for name in BENCHMARKS]


def lacking(name: str, data: Path | None) -> str:
    """Why a known benchmark cannot be read below ``data``, and what to do; empty if it can."""
    try:
        _checked(name, data)
    except DataError as error:
        return " ".join(line.strip() for line in str(error).splitlines())
    return ""


def own_benchmarks(paths: Sequence[Path]) -> list[Benchmark]:
    """Benchmarks of the user's own, each called by its file; EmbeddingsError as for one."""
    found = [own_benchmark(path) for path in paths]
    counted = Counter(each.label for each in found)
    if twice := [label for label, count in counted.items() if count > 1]:
        raise EmbeddingsError(
            f"two benchmarks are called '{twice[0]}'\n  expected: files of different names\n"
            "  to do: rename one of them"
        )
    return found


def own_benchmark(path: Path) -> Benchmark:
    """A benchmark of the user's own: `word word score` a line.

    Raises EmbeddingsError for a file that cannot be read, or another form.
    """
    expected = "a text with `word word score` a line"
    return parsed(path.stem, path, content_of(path, LARGEST, EmbeddingsError, expected))


def _checked(name: str, data: Path | None) -> tuple[Path, bytes]:
    """Where a known benchmark is, and its bytes."""
    label, file, sha256 = BENCHMARKS[name]
    if data is None:
        raise DataError(
            f"the pairs of {label}: set REPRO_DATA to the folder that has {FOLDER}/{file}"
        )
    path = data / FOLDER / file
    content = content_of(path, LARGEST, DataError, f"the file of {label}, of Faruqui and Dyer 2014")
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(
            f"{path} is not the file of {label}\n  expected: SHA-256 {sha256}\n"
            "  to do: restore the original"
        )
    return path, content


def content_of(path: Path, limit: int, kind: Callable[[str], DataError], expected: str) -> bytes:
    """The bytes of a regular file of at most ``limit``; an error of ``kind`` where it has none."""
    try:
        return read_bytes(path, limit)
    except OSError as error:
        special = isinstance(error, NotRegularError)
        why = "it is not a regular file" if special else error.strerror or str(error)
        raise kind(
            f"{path}: cannot be read: {why}\n  expected: {expected}\n"
            "  to do: put the file there, or check the path"
        ) from error


def parsed(label: str, path: Path, content: bytes) -> Benchmark:
    """The pairs of a file, one a line, blank lines left out; words are put in lower case.

    Raises EmbeddingsError, with file, line and column, for a line that has another form.
    """
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise EmbeddingsError(
            f"{path}:{line}:1: no text in UTF-8\n  expected: `word word score`\n"
            "  to do: save the file as UTF-8"
        ) from error
    numbered = ((number, line.split()) for number, line in enumerate(lines, start=1))
    pairs = tuple(_pair(path, number, fields) for number, fields in numbered if fields)
    return Benchmark(label, pairs)


def _pair(path: Path, number: int, fields: list[str]) -> Pair:
    try:
        first, second, text = fields
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise EmbeddingsError(
            f"{path}:{number}:1: '{' '.join(fields)[:80]}' is no pair with its score\n"
            "  expected: `word word score`, the score a finite number\n"
            "  to do: correct the line, or take it out"
        )
    return Pair(first.lower(), second.lower(), score)
