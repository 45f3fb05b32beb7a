"""inspect: the logs of evaluations, `.eval` (a zip) or JSON.

Newer `.eval` logs are compressed by Zstandard, which Python reads from 3.14 on, and before with the
extra `inspect`. Fields of a run are those of its `eval`: `task`, `model`, `task_args.NAME`,
`metadata.NAME`, `model_generate_config.seed`.
"""

from __future__ import annotations

import importlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from pydantic import Field

from repro.errors import DataError
from repro.evidence.imports.importer import LARGEST, FilesRead, FoundRun, Importer, RunEnd
from repro.evidence.imports.paths import PathPattern, matching
from repro.evidence.readings import short, time_of
from repro.series import Row, flat, numbers_in

HEADER = "header.json"
START = "_journal/start.json"
"""What there is of a log before its evaluation has ended."""

STATES: dict[str, RunEnd] = {
    "success": "finished",
    "started": "running",
}


class Inspect(Importer):
    """A log per run; in ``path`` `{seed}` and other names in braces are fields of the run.

    A number is named `SCORER.METRIC`, such as `match.accuracy`.
    """

    from_: Literal["inspect"] = Field(alias="from")
    path: PathPattern
    seed: str = "model_generate_config.seed"

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By path, which begins with the time in the names that inspect gives."""
        for path, said, empty in matching(root, self.path, self.seed):
            place = path.relative_to(root).as_posix()
            if empty:
                yield FoundRun(place, said, [])
                continue
            header = _header(digests.read(path, root), path)
            fields = {**dict(flat(_inside(header, "eval"))), **said}
            sort, when = time_of(str(fields.get("created", ""))) or ("", 0.0)
            dated = sort == "date with a time zone"
            state = STATES.get(str(header.get("status", "started")), "failed")
            numbers = _numbers(header, path)
            yield FoundRun(place, fields, [numbers], state, when if dated else None)


def _header(content: bytes, path: Path) -> dict[str, Any]:
    """What a log says of the evaluation and its results; DataError where it is no such log."""
    try:
        found = json.loads(_member(content, path) if path.suffix == ".eval" else content)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"holds what is no JSON: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("eval"), dict):
        raise _refused(path, "says nothing of an evaluation")
    return found


def _member(content: bytes, path: Path) -> bytes:
    """The header inside a zip; of an evaluation that has not ended, its start."""
    try:
        with _zipfile().ZipFile(io.BytesIO(content)) as log:
            name = HEADER if HEADER in log.namelist() else START
            with log.open(name) as member:
                read: bytes = member.read(LARGEST)
    except NotImplementedError as error:
        raise DataError(
            f"{path}: cannot be read: {error}\n  expected: Python 3.14, or the extra `inspect`\n"
            "  to do: pip install 'repro-verdict[inspect]'"
        ) from error
    except Exception as error:  # every compression has errors of its own
        raise _refused(path, f"cannot be read: {error}") from error
    return read


def _zipfile() -> ModuleType:
    """What reads a zip, and Zstandard inside where that can be had."""
    try:
        name = "zipfile" if sys.version_info >= (3, 14) else "backports.zstd.zipfile"
        return importlib.import_module(name)
    except ImportError:
        return importlib.import_module("zipfile")


def _numbers(header: dict[str, Any], path: Path) -> Row:
    """Every metric by its scorer, and by its reducer where one scorer has several."""
    listed = _inside(header, "results").get("scores")
    scores = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    names = [str(score.get("name")) for score in scores]
    found: Row = {}
    for name, score in zip(names, scores, strict=True):
        scorer = name if names.count(name) == 1 else f"{name}/{score.get('reducer')}"
        for metric, each in _inside(score, "metrics").items():
            number = f"{scorer}.{metric}"
            if number in found:
                raise _refused(path, f"has two numbers that are called '{short(number)}'")
            if isinstance(each, dict):
                found |= numbers_in({number: each.get("value")})
    return found


def _inside(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _refused(path: Path, mistake: str) -> DataError:
    return DataError(
        f"{path}: {mistake}\n  expected: a log of inspect, .eval or .json\n  to do: check `path`"
    )
