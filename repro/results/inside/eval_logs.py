"""The logs of inspect: what they say of the evaluation, and the numbers that it came to.

Newer `.eval` logs are compressed by Zstandard, which Python reads from 3.14 on, and before with the
extra `inspect`.
"""

from __future__ import annotations

import importlib
import io
import json
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from repro.results.inside import Refused, numbers, refuse_many, settings

HEADER = "header.json"
START = "_journal/start.json"
"""What there is of a log before its evaluation has ended."""

UNPACKED: Final = 20_000_000
"""Bytes of the largest header; what inspect writes has some thousands."""

SUMMARIES: Final = "summaries.json"
"""What each sample came to, without its messages."""

MOST_UNPACKED: Final = 200_000_000

ANSWERS: Final = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""`correct`, `incorrect`, `partial` and `no answer`, as inspect counts them."""


def _zipfile() -> ModuleType:
    """What reads a zip, and Zstandard inside where that can be had."""
    with suppress(ImportError):
        if sys.version_info < (3, 14):
            return importlib.import_module("backports.zstd.zipfile")
    return importlib.import_module("zipfile")


ZIPFILE: Final = _zipfile()
"""Imported before files are given up."""


def read(parts: Mapping[str, bytes], folder: Path) -> Any:
    """``parts`` is `.eval` or `.json`: what is said of the evaluation, its status, its numbers."""
    del folder
    found = _header(parts)
    said, values = settings(found["eval"]), _numbers(found)
    refuse_many([*said, *values])
    return {"eval": said, "status": str(found.get("status", "started")), "numbers": values}


def samples(parts: Mapping[str, bytes], folder: Path) -> Any:
    """The same with its ``samples`` in the place of its numbers: what is said of each, its scores.

    Epochs of a sample are apart. A score is a number: 1 and 0 for inspect's `C` and `I`, .5 for
    `P`, and 0 for `N` (not answered).
    """
    del folder
    found = _header(parts)
    if ".eval" in parts:
        listed = _loaded(_member(parts[".eval"], SUMMARIES, most=MOST_UNPACKED))
    else:
        listed = found.get("samples")
    if not isinstance(listed, list):
        raise _refused("has no list of samples")
    said = settings(found["eval"])
    every = [_sample(each) for each in listed if isinstance(each, dict)]
    refuse_many({*said, *(name for facts, scores in every for name in (*facts, *scores))})
    return {"eval": said, "status": str(found.get("status", "started")), "samples": every}


def _sample(sample: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`id`, `epoch` and `sample.metadata.NAME`, and the score of each scorer."""
    facts = {"id": str(sample.get("id")), "epoch": sample.get("epoch", 1)}
    facts |= settings({"sample": {"metadata": _inside(sample, "metadata")}})
    scores: dict[str, Any] = {}
    for name, score in _inside(sample, "scores").items():
        value = score.get("value") if isinstance(score, dict) else None
        for part, one in (value if isinstance(value, dict) else {"": value}).items():
            scored = ANSWERS.get(one, one) if isinstance(one, str) else one
            scores |= numbers({f"{name}.{part}" if part else name: scored})
    return facts, scores


def _header(parts: Mapping[str, bytes]) -> dict[str, Any]:
    ((ending, content),) = parts.items()
    found = _loaded(_member(content, HEADER, START) if ending == ".eval" else content)
    if not isinstance(found, dict) or not isinstance(found.get("eval"), dict):
        raise _refused("says nothing of an evaluation")
    return found


def _loaded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(f"holds what is no JSON: {error}") from error


def _member(content: bytes, *names: str, most: int = UNPACKED) -> bytes:
    """The first of these files inside a zip, else the last: an evaluation may not have ended."""
    try:
        with ZIPFILE.ZipFile(io.BytesIO(content)) as log:
            there = log.namelist()
            name = next((each for each in names if each in there), names[-1])
            with log.open(name) as member:
                unpacked: bytes = member.read(most + 1)
    except NotImplementedError as error:
        raise Refused(
            f"cannot be read: {error}",
            "Python 3.14, or the extra `inspect`",
            "pip install 'repro-verdict[inspect]'",
        ) from error
    except MemoryError:
        raise
    except Exception as error:  # every compression has errors of its own
        raise _refused(f"cannot be read: {error}") from error
    if len(unpacked) > most:
        raise Refused(
            f"its {name} unpacks to more than {most:,} bytes",
            "what inspect writes of an evaluation",
            "get the log again from where it was written",
        )
    return unpacked


def _numbers(header: Mapping[str, Any]) -> dict[str, Any]:
    """Every metric by its scorer, and by its reducer where one scorer has several."""
    listed = _inside(header, "results").get("scores")
    scores = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    refuse_many(scores)
    times = Counter(str(score.get("name")) for score in scores)
    found: dict[str, Any] = {}
    for score in scores:
        name = str(score.get("name"))
        scorer = name if times[name] == 1 else f"{name}/{score.get('reducer')}"
        for metric, each in _inside(score, "metrics").items():
            number = f"{scorer}.{metric}"
            if number in found:
                raise _refused(f"has two numbers that are called '{number[:40]}'")
            if isinstance(each, dict):
                found |= numbers({number: each.get("value")})
    return found


def _inside(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _refused(mistake: str) -> Refused:
    return Refused(mistake, "a log of inspect, .eval or .json", "check `path`")
