"""lm-eval: files `results_DATE.json`, a run per task, and of samples, an item per line.

Fields of a run are `task` and all else that the file says, such as `model_name` and
`config.random_seed`; those of an item what its line says, `task`, `model_name` and `folder`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from pydantic import Field

from repro.errors import DataError
from repro.results.forms import Form, FoundRun, ResultsThere, Way
from repro.results.importer import FilesRead, Importer
from repro.results.inside import scalars
from repro.results.path_names import forms_named, template_of
from repro.results.paths import PathPattern, matching
from repro.results.series import Record, Row, json_object, numbers_in, object_in, records_in

RESULTS = "results"
WRITTEN = re.compile(r"results_\d{4}-\d\d-\d\dT.*\.json")
ALL_SAMPLES = "samples_*.jsonl"
SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT.*)\.jsonl")


class LmEval(Importer):
    """A file per evaluation; in ``path`` `{seed}` and other names in braces are fields of the run.

    A number is named `METRIC,FILTER`, such as `acc,none`; ``where: {task: hellaswag}`` says of
    which task.
    """

    item: ClassVar[str] = "doc_id"

    from_: Literal["lm_eval"] = Field(alias="from")
    path: PathPattern
    seed: str = "config.random_seed"

    @classmethod
    def ways(cls, there: ResultsThere) -> Iterator[Way]:
        """Of files that it wrote, by their names and by what they hold."""
        named_so = (each for each in there.files if WRITTEN.fullmatch(each.name))
        files = [each for each in named_so if isinstance(object_in(each).get(RESULTS), dict)]
        if files:
            yield Way("results of lm-eval", lambda: _forms(there.names(files)), "framework")
        elif any(SAMPLES.fullmatch(each.name) for each in there.files):
            form = Form(
                "samples of lm-eval", {"path": there.below(there.path / "**" / ALL_SAMPLES)}
            )
            yield Way("samples of lm-eval", lambda: (form,), "framework")

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By path, and in each file task by task."""
        for path, said, empty in matching(root, self.path, self.seed):
            if SAMPLES.fullmatch(path.name):
                raise DataError(
                    f"{path}: holds samples, an item per line\n  expected: a results_DATE.json\n"
                    "  to do: compare the models item by item: --items doc_id"
                )
            place = path.relative_to(root).as_posix()
            if empty:
                asked = {key: self.where[key] for key in ("task",) if key in self.where}
                yield FoundRun(place, {**asked, **said}, [])
                continue
            content = digests.read(path, root)
            try:
                document = json_object(content)
            except ValueError as error:
                raise DataError(f"{path}: holds what is no JSON: {error}") from error
            if document is None or not isinstance(document.get(RESULTS), dict):
                raise DataError(
                    f"{path}: has no results of tasks\n  expected: a results_DATE.json of lm-eval\n"
                    "  to do: check `path`"
                )
            results = document.pop(RESULTS)
            document.pop("configs", None)  # those of all tasks, with their prompts
            fields = dict(scalars(document))
            when = numbers_in({"date": document.get("date")}).get("date")
            for task, values in results.items():
                row = numbers_in(dict(scalars(values)) if isinstance(values, dict) else {})
                every = {**fields, "task": task, **said}
                yield FoundRun(f"{place}, task {task}", every, [row], when=when)

    def items(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """The lines of each file of samples; next to results, of their date alone."""
        for path, said, _ in matching(root, self.path, self.seed):
            date = path.stem.partition("_")[2]
            dated = (each for each in path.parent.glob(ALL_SAMPLES) if date in each.name)
            for file in [path] if SAMPLES.fullmatch(path.name) else sorted(dated):
                place, named = file.relative_to(root), SAMPLES.fullmatch(file.name)
                folder = place.parent.as_posix()
                of_file = {"folder": folder, "model_name": place.parent.name, **said}
                of_file["task"] = named["task"] if named else ""
                try:
                    text = digests.read(file, root).decode("utf-8")
                    records = records_in(text, "jsonl")
                except ValueError as error:
                    raise DataError(f"{file}: cannot be read: {error}") from error
                for line, record in enumerate(records, 1):
                    fields, row = {**record, **of_file}, _metrics(record)
                    if (way := record.get("filter", "none")) != "none":
                        fields["task"] = f"{fields['task']},{way}"
                    yield FoundRun(f"{place}, line {line}", fields, [row])


def _metrics(record: Record) -> Row:
    """The numbers of an item that its line calls metrics; all of them, where it names none."""
    row, named = numbers_in(record), record.get("metrics")
    metrics = [name for name in row if isinstance(named, list) and name in named]
    return {name: row[name] for name in metrics} or row


def _forms(names: Sequence[str]) -> tuple[Form, ...]:
    """`out/seed_{seed}/*/results_*.json`: lm-eval adds the folder of the model, and a date."""
    folders = [PurePosixPath(name).parent for name in names]
    paths = {
        template_of((each.parent / "*" / "results_*.json").as_posix())
        if each.name
        else "results_*.json"
        for each in folders
    }
    return forms_named("results of lm-eval", {path: {"path": path} for path in sorted(paths)})
