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
    ((ending, content),) = parts.items()
    try:
        found = json.loads(_member(content) if ending == ".eval" else content)
    except (ValueError, RecursionError) as error:
        raise _refused(f"holds what is no JSON: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("eval"), dict):
        raise _refused("says nothing of an evaluation")
    said, values = settings(found["eval"]), _numbers(found)
    refuse_many([*said, *values])
    return {"eval": said, "status": str(found.get("status", "started")), "numbers": values}


def _member(content: bytes) -> bytes:
    """The header inside a zip; of an evaluation that has not ended, its start."""
    try:
        with ZIPFILE.ZipFile(io.BytesIO(content)) as log:
            name = HEADER if HEADER in log.namelist() else START
            with log.open(name) as member:
                unpacked: bytes = member.read(UNPACKED + 1)
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
    if len(unpacked) > UNPACKED:
        raise Refused(
            f"its {name} unpacks to more than {UNPACKED:,} bytes",
            "what inspect writes of an evaluation, which has some thousands",
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
