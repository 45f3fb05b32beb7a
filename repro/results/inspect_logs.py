"""inspect: the logs of evaluations, `.eval` (a zip) or JSON.

Fields of a run are those of its `eval`: `task`, `model`, `task_args.NAME`,
`metadata.NAME`, `model_generate_config.seed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from repro.errors import ClaimError, DataError
from repro.results.forms import Form, FoundRun, ResultsThere, RunEnd, Way, named, one_run
from repro.results.importer import FilesRead, Importer
from repro.results.paths import PathPattern, matching
from repro.results.reader import Reader
from repro.results.readings import time_of
from repro.results.series import Row, averaged, numbers_in, object_in

DATED = re.compile(r"\d{4}-\d\d-\d\dT")

STATES: dict[str, RunEnd] = {
    "success": "finished",
    "started": "running",
}


class Inspect(Importer):
    """A log per run; in ``path`` `{seed}` and other names in braces are fields of the run.

    A number is named `SCORER.METRIC`, such as `match.accuracy`.
    """

    item: ClassVar[str] = "id"

    from_: Literal["inspect"] = Field(alias="from")
    path: PathPattern
    seed: str = "model_generate_config.seed"

    @classmethod
    def ways(cls, there: ResultsThere) -> Iterator[Way]:
        """Of logs, those of evaluations that failed, too; of a log alone ClaimError."""

        def alone() -> tuple[Form, ...]:
            raise one_log(there.path)

        if there.suffix == ".eval":
            yield Way("a log of inspect", alone)
        jsons = there.ending(".json")
        asked = [each for place, each in enumerate(jsons) if not place or DATED.match(each.name)]
        if logs := [*there.ending(".eval"), *filter(_is_log, asked)]:
            yield Way("logs of inspect", lambda: _of_logs(there, logs), "framework")

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By path, which begins with the time in the names that inspect gives."""
        for place, said, log in self._logs(root, digests, "inspect"):
            if log is None:
                yield FoundRun(place, said, [])
                continue
            fields = {**log["eval"], **said}
            sort, when = time_of(str(fields.get("created", ""))) or ("", 0.0)
            dated = sort == "date with a time zone"
            state = STATES.get(log["status"], "failed")
            numbers = numbers_in(log["numbers"])
            yield FoundRun(place, fields, [numbers], state, when if dated else None)

    def items(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """The samples, by `id`: the scores of a sample are averaged over its epochs."""
        for place, said, log in self._logs(root, digests, "inspect samples"):
            if log is None:
                continue
            if log["status"] != "success":
                raise DataError(
                    f"{place}: an evaluation that ended with '{log['status'][:40]}'\n"
                    "  expected: success, with a score for every sample\n"
                    "  to do: evaluate again, or put the log into another folder"
                )
            by_id: dict[str, list[tuple[Mapping[str, Any], Row]]] = {}
            for facts, scores in log["samples"]:
                by_id.setdefault(facts["id"], []).append((facts, numbers_in(scores)))
            if epochs := max(map(len, by_id.values()), default=0) - 1:
                digests.said[f"{place}: scores are means over {epochs + 1} epochs"] = None
            for name, each in by_id.items():
                fields = {**log["eval"], **each[0][0], **said}
                row = averaged([scores for _, scores in each])
                yield FoundRun(f"{place}, sample {name}", fields, [row])

    def _logs(
        self, root: Path, digests: FilesRead, kind: str
    ) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
        """The place of each log, what its path says, and what it holds; None of an empty one."""
        with Reader("inspect") as reader:
            for path, said, empty in matching(root, self.path, self.seed):
                place = path.relative_to(root).as_posix()
                if empty:
                    yield place, said, None
                    continue
                parts = {".eval" if path.suffix == ".eval" else ".json": digests.read(path, root)}
                yield place, said, reader.read(kind, path, parts)


def _is_log(file: Path) -> bool:
    found = object_in(file)
    return isinstance(found.get("eval"), dict) and "status" in found and "version" in found


def _of_logs(there: ResultsThere, logs: Sequence[Path]) -> tuple[Form, ...]:
    """All logs below a folder, of one form: `.eval`, where there are such, else `.json`."""
    names = there.names(logs)
    ending = logs[0].suffix
    left = [name for name in names if not name.endswith(ending)]
    notes = (f"not read, logs in another form: {named(left)}",) if left else ()
    pattern = there.below(there.path / "**" / f"*{ending}")
    return (Form("logs of inspect", {"path": pattern}, notes=notes),)


def one_log(path: Path) -> ClaimError:
    """The error of a log alone, which is one run: its task, model and numbers."""
    try:
        importer = Inspect.model_validate({"from": "inspect", "path": path.name})
        (run,) = importer.runs(path.parent, FilesRead())
    except (DataError, ValueError):
        return one_run(path, "one log of inspect is one run")
    said = [f"{key} {run.fields[key]}" for key in ("task", "model") if key in run.fields]
    if run.rows and run.rows[0]:
        said.append(f"with the numbers {named(run.rows[0])}")
    return one_run(path, ", ".join(["one log of inspect is one run", *said]))
