"""TensorBoard: the event files of a run's folder.

Written after the layout of tensorboard 2.21.0 (TFRecord frames of Event messages), without it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from repro.errors import DataError
from repro.results.forms import Form, FoundRun, ResultsThere, Way, named, unfit
from repro.results.importer import FilesRead, Points, Stepped, rows_of
from repro.results.path_names import by_template
from repro.results.paths import PathPattern, matching_folders, seed_in
from repro.results.reader import Reader


class TensorBoard(Stepped):
    """A folder per run; `{seed}` and other names in braces in ``path`` are fields of it."""

    from_: Literal["tensorboard"] = Field(alias="from")
    path: PathPattern

    @classmethod
    def ways(cls, there: ResultsThere) -> Iterator[Way]:
        """Of folders with events, one per run; UnfitError where their names tell no runs apart."""

        def forms() -> tuple[Form, ...]:
            names = there.names(folders)
            if found := by_template(names, "folder of events per run", file=False):
                return found
            mistake = "its folders of events are one run each, and no two are named alike: "
            advice = "name the folders of runs by arm and seed, as in mixup/seed_0"
            mistake += named(names)
            raise unfit(there.path, mistake, "several runs of each arm", advice)

        if folders := sorted({each.parent for each in there.files if "tfevents" in each.name}):
            yield Way("events of TensorBoard", forms)

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By path; the event files of a folder are one after the other."""
        with Reader("TensorBoard") as reader:
            for folder, said, _ in matching_folders(root, self.path):
                paths = sorted(folder.glob("*tfevents*"))
                if not paths and seed_in(said.get(self.seed, "")) is None:
                    continue
                files = [_events(reader, path, digests.read(path, root)) for path in paths]
                files.sort(key=lambda each: (each.began, each.name))
                place = folder.relative_to(root).as_posix()
                points = self._points(folder, files)
                digests.replaced |= {f"{place}/{each.name}" for each in files if each.replaced}
                ended = max((each.ended for each in files), default=None)
                yield FoundRun(place, said, rows_of(points), when=ended)

    def _points(self, folder: Path, files: Sequence[_Events]) -> Points:
        """The scalars of all files; of two that hold the same step, what the later one says."""
        holding: dict[tuple[str, int], int] = {}
        for number, later in enumerate(files):
            places = {(scalar.tag, scalar.step) for scalar in later.scalars}
            shared = {holding[place] for place in places if place in holding}
            if shared and self.duplicates is None:
                first = min(shared)
                tag, step = min(place for place in places if holding.get(place) == first)
                raise DataError(
                    f"{folder}: step {step} of '{tag}' is in {files[first].name} and in "
                    f"{later.name}\n  expected: the events of one run\n  to do: give each run "
                    "a folder, or write `duplicates: last` to take the later one"
                )
            for earlier in shared:
                for gone in files[earlier].cut(later.scalars[0].step):
                    holding.pop((gone.tag, gone.step), None)
            holding |= dict.fromkeys(places, number)
        points: Points = {}
        for each in files:
            for step, tag, value in each.scalars:
                points.setdefault(tag, []).append((step, value))
        return points


class Scalar(NamedTuple):
    """The value of a tag at a step."""

    step: int
    tag: str
    value: float | None


@dataclass(slots=True)
class _Events:
    """What a file of events holds, by step; a later run may have replaced all of it."""

    name: str
    began: float
    ended: float
    scalars: list[Scalar]
    replaced: bool = False

    def cut(self, step: int) -> list[Scalar]:
        """Take out what came at this step and after it, as a run that went on from there does."""
        start = bisect_left(self.scalars, step, key=lambda each: each.step)
        after = self.scalars[start:]
        del self.scalars[start:]
        self.replaced = not self.scalars
        return after


def _events(reader: Reader, path: Path, content: bytes) -> _Events:
    found = reader.read("events", path, {"": content})
    names = found["names"]
    columns = zip(found["steps"], found["tags"], found["values"], strict=True)
    scalars = [Scalar(step, names[tag], value) for step, tag, value in columns]
    scalars.sort(key=lambda each: each.step)
    return _Events(path.name, found["began"], found["ended"], scalars)
