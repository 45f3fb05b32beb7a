"""inspect: the logs of evaluations, `.eval` (a zip) or JSON.

Fields of a run are those of its `eval`: `task`, `model`, `task_args.NAME`,
`metadata.NAME`, `model_generate_config.seed`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from repro.results.importer import FilesRead, FoundRun, Importer, RunEnd
from repro.results.paths import PathPattern, matching
from repro.results.reader import Reader
from repro.results.readings import time_of
from repro.results.series import numbers_in

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
        with Reader("inspect") as reader:
            for path, said, empty in matching(root, self.path, self.seed):
                place = path.relative_to(root).as_posix()
                if empty:
                    yield FoundRun(place, said, [])
                    continue
                parts = {".eval" if path.suffix == ".eval" else ".json": digests.read(path, root)}
                log = reader.read("inspect", path, parts)
                fields = {**log["eval"], **said}
                sort, when = time_of(str(fields.get("created", ""))) or ("", 0.0)
                dated = sort == "date with a time zone"
                state = STATES.get(log["status"], "failed")
                numbers = numbers_in(log["numbers"])
                yield FoundRun(place, fields, [numbers], state, when if dated else None)
