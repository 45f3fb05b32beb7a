"""The forms of the files in a folder: a run per file, or per row, and what tells runs and arms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from repro.files import leads_out, read_bytes
from repro.results.importer import LARGEST, FoundRun, Importer
from repro.results.importers import IMPORTERS
from repro.results.json_runs import several_inside
from repro.results.log_runs import LOGS, run_in_log, runs_in_log
from repro.results.path_names import (
    EPISODES,
    alike,
    by_folder,
    common,
    labels_of,
    telling,
    template_of,
)
from repro.results.paths import matching
from repro.results.result_files import FORMS
from repro.results.run_fields import named, refused, unfit
from repro.schema.cells import float_of

SETTINGS = (".hydra/config.yaml", "hparams.yaml")
"""Files beside results that hold the settings of the run: those of hydra, and of Lightning."""

SACRED = ("config.json", "run.json")
"""The same of sacred, which writes two: only together are they its own."""

LM_EVAL = re.compile(r"results_\d{4}-\d\d-\d\dT.*\.json")
DATED = re.compile(r"\d{4}-\d\d-\d\dT")
HELM, HELM_SPEC = "stats.json", "run_spec.json"

READ_LOGS = (
    "write a claim that reads the logs by a pattern: `import: {from: files, path: "
    "\"logs/{seed}.txt\", pattern: 'loss:(?P<loss>\\S+)'}`"
)


@dataclass(frozen=True, slots=True)
class Form:
    """One import, as a claim declares it: of all arms, or of the ``arm`` that its path names.

    ``left_out`` are files, or columns, whose names are like no other: they are runs of no arm.
    ``runs`` are those that no import reads alone: of a JSON file, or of logs, where ``log`` says
    that an import can by a pattern, once it is known which number is asked for.
    """

    words: str
    importer: Mapping[str, Any]
    arm: str = ""
    left_out: tuple[str, ...] = ()
    runs: tuple[FoundRun, ...] | None = None
    log: bool = False

    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inside:
    """A folder, the claim's folder above it, and the files in it that are looked at.

    ``asked``: an option names the field of the arms, or the number.
    """

    path: Path
    root: Path
    files: Sequence[Path]
    asked: bool = False

    def below(self, file: Path) -> str:
        """The path of a file by the names that lead to it, of links too."""
        there = self.path.resolve().relative_to(self.root.resolve())
        return (there / file.relative_to(self.path)).as_posix()

    def names(self, files: Iterable[Path]) -> list[str]:
        """Their paths; UnfitError for a link that leads out, as an import refuses it."""
        found = [self.below(each) for each in files]
        for name in found:
            if leads_out(self.root.resolve() / name, self.root):
                mistake = f"'{name}' is a link that leads elsewhere"
                expected = f"files below {self.root.resolve()}"
                raise refused(self.path, mistake, expected, "put the file itself there")
        return found

    def ending(self, *suffixes: str) -> list[Path]:
        return [each for each in self.files if each.suffix.lower() in suffixes]

    @cached_property
    def events(self) -> list[Path]:
        """The folders with events of TensorBoard."""
        return sorted({each.parent for each in self.files if "tfevents" in each.name})

    @cached_property
    def inspect(self) -> list[Path]:
        """The logs of inspect, of evaluations that failed, too; a JSON of another name if first."""
        jsons = self.ending(".json")
        asked = [each for place, each in enumerate(jsons) if not place or DATED.match(each.name)]
        return [*self.ending(".eval"), *filter(_is_inspect, asked)]

    @cached_property
    def lm_eval(self) -> list[Path]:
        """What lm-eval wrote, by its name and by what it holds."""
        named_so = (each for each in self.files if LM_EVAL.fullmatch(each.name))
        return [each for each in named_so if isinstance(_object(each).get("results"), dict)]

    @cached_property
    def helm(self) -> list[Path]:
        """The stats of runs of HELM, each beside what the run was of."""
        named_so = (each for each in self.files if each.name == HELM)
        return [each for each in named_so if each.with_name(HELM_SPEC).is_file()]

    @cached_property
    def results(self) -> list[Path]:
        """Files of numbers, where no framework with an import of its own wrote them."""
        return [] if self.inspect or self.lm_eval or self.helm else self.ending(*FORMS)

    @cached_property
    def logs(self) -> list[Path]:
        return self.ending(*LOGS)


def import_of(path: Path, declared: Mapping[str, Any]) -> Importer:
    """The import of the results at ``path``; ClaimError where a claim cannot declare it."""
    try:
        return IMPORTERS.get(declared["from"]).model_validate(dict(declared))
    except ValidationError:
        mistake = f"a claim cannot name the path '{declared['path']}'"
        expected = "letters, digits and _ . ! + - in its names"
        raise refused(path, mistake, expected, "rename the file or its folder") from None


# logs


def _of_logs(inside: Inside) -> tuple[Form, ...]:
    """The logs of a folder, a run per file or a run per line.

    UnfitError where no number stands in them.
    """
    logs = dict(zip(inside.names(inside.logs), inside.logs, strict=True))
    found = _by_template(telling([*logs]), "files")
    if not any("each" in form.importer for form in found):
        if len(found) == 1 and not inside.asked:
            _refuse_alike(inside, [*logs.items()])
        forms = [_with_runs(form, inside) for form in found]
    else:
        forms = _of_named_logs(logs)
    if not any(row for form in forms for run in form.runs or () for row in run.rows):
        mistake = "no number stands in its logs as `name: 1.5` or `name=1.5`"
        raise unfit(inside.path, mistake, "numbers with their names", READ_LOGS)
    return tuple(forms)


def _refuse_alike(inside: Inside, logs: Sequence[tuple[str, Path]]) -> None:
    """UnfitError where the first log says no text, so that no arms can be found in any of them.

    To read all of them may take long.
    """
    if len(logs) < 3:
        return
    ends = [run_in_log(file, name, {}).fields for name, file in (logs[0], logs[-1])]
    if not all(ends) or any(float_of(str(value)) is None for value in ends[0].values()):
        return
    numbers = [key for key in ends[0] if ends[0][key] != ends[1].get(key, ends[0][key])]
    mistake = "neither the names of its logs nor a text in them tell arms apart"
    advice = f"name a number that does, as in --arm {numbers[0]}" if numbers else "add such a line"
    raise unfit(inside.path, mistake, "a line such as `method: mixup` in each", advice)


def _with_runs(form: Form, inside: Inside) -> Form:
    """The logs whose paths are like that of the form, a run each."""
    root = inside.root
    found = matching(root, import_of(inside.path, form.importer).path, "seed")
    runs = (
        FoundRun(name, each.said, []) if each.empty else run_in_log(each.path, name, each.said)
        for each in found
        for name in (each.path.relative_to(root).as_posix(),)
    )
    return replace(form, words="a log per run", runs=tuple(runs), log=True)


def _of_named_logs(logs: Mapping[str, Path]) -> list[Form]:
    """Logs whose names have no number: one per arm, if all have several runs, else one per run."""
    inside = {name: runs_in_log(file, name) for name, file in logs.items()}
    if len(logs) > 1 and all(inside.values()):
        labels = labels_of([*logs])
        each = zip(labels, inside.items(), strict=True)
        return [
            Form("a log per arm, with several runs in it", {"path": name}, label, runs=runs)
            for label, (name, runs) in each
        ]
    runs = tuple(run_in_log(file, name, {}) for name, file in logs.items())
    return [Form("a log per run", {"path": next(iter(logs))}, runs=runs)]


# events


def _of_events(inside: Inside) -> tuple[Form, ...]:
    """A folder of events per run; UnfitError where their names tell no runs apart."""
    folders = inside.names(inside.events)
    if found := _by_template(folders, "tensorboard"):
        return found
    mistake = (
        f"its folders of events are one run each, and no two are named alike: {named(folders)}"
    )
    advice = "name the folders of runs by arm and seed, as in mixup/seed_0"
    raise unfit(inside.path, mistake, "several runs of each arm", advice)


# evaluations


def _is_inspect(file: Path) -> bool:
    """Whether it is a log of inspect, of an evaluation that failed, too."""
    found = _object(file) if file.suffix.lower() == ".json" else {}
    return isinstance(found.get("eval"), dict) and "status" in found and "version" in found


def _object(file: Path) -> dict[str, Any]:
    """The object in a file; empty where there is none."""
    try:
        found = json.loads(read_bytes(file, LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _of_inspect(inside: Inside) -> tuple[Form, ...]:
    """All logs below a folder, of one form: `.eval`, where there are such, else `.json`."""
    names = inside.names(inside.inspect)
    ending = inside.inspect[0].suffix
    left = [name for name in names if not name.endswith(ending)]
    notes = (f"not read, logs in another form: {named(left)}",) if left else ()
    pattern = inside.below(inside.path / "**" / f"*{ending}")
    return (Form("logs of inspect", {"from": "inspect", "path": pattern}, notes=notes),)


def _of_lm_eval(inside: Inside) -> tuple[Form, ...]:
    """`out/seed_{seed}/*/results_*.json`: lm-eval adds the folder of the model, and a date."""
    names = inside.names(inside.lm_eval)
    folders = [PurePosixPath(name).parent for name in names]
    paths = {
        template_of((each.parent / "*" / "results_*.json").as_posix())
        if each.name
        else "results_*.json"
        for each in folders
    }
    imports = {path: {"from": "lm_eval", "path": path} for path in sorted(paths)}
    return forms_named("results of lm-eval", imports)


def _of_helm(inside: Inside) -> tuple[Form, ...]:
    """`**/stats.json`, with the file beside each that says model, task and all else."""
    names = inside.names(inside.helm)
    path = _above_all([PurePosixPath(name).parent for name in names], HELM)
    declared = {"from": "files", "path": path, "fields": HELM_SPEC}
    return (Form(f"runs of HELM: {HELM} beside {HELM_SPEC}", declared),)


# files


def _of_files(inside: Inside) -> tuple[Form, ...]:
    """A file per run, or per arm; UnfitError where there is none."""
    names = telling(inside.names(inside.results))
    if several := _of_several_inside(inside, names):
        return several
    found = _by_template(names, "files")
    return _by_settings(found, names, inside.root) or found


def _of_several_inside(inside: Inside, names: Sequence[str]) -> tuple[Form, ...]:
    """JSON files with several runs each, which say their seeds; none where no file has them."""
    files = dict(zip(inside.names(inside.results), inside.results, strict=True))
    runs = {
        name: several_inside(files[name], name)
        for name in names
        if name.casefold().endswith(".json")
    }
    having = {name: each for name, each in runs.items() if each}
    if not having:
        return ()
    left = [name for name in names if name not in having]
    notes = (f"left out, without seeds in it: {named(left)}",) if left else ()
    return tuple(
        replace(form, runs=having[str(form.importer["path"])], notes=() if place else notes)
        for place, form in enumerate(
            forms_named(
                "a JSON file per arm, with its seeds",
                {name: {"from": "files", "path": name, "each": "row"} for name in having},
            )
        )
    )


def _by_template(names: Iterable[str], importer: str) -> tuple[Form, ...]:
    """An import for each name without its number: those are the arms, if there are several.

    Where no number tells runs apart, their folders do, if these are named by a time or at random;
    else a file is an arm, with a run per row.
    """
    names = sorted(names)
    found, several = alike(names), list[str]()
    for found in (alike(names), by_folder(names, file=importer == "files")):
        several = [
            template for template, each in found.items() if len(each) > 1 and "{" in template
        ]
        if several:
            break
    noun = "folder of events per run" if importer == "tensorboard" else "file per run"
    if several or all(name.endswith(EPISODES) for name in names):
        imports = {template: _import(importer, template) for template in several or names}
        left = [each[0] for each in found.values() if len(each) == 1] if several else []
        return forms_named(f"a {noun}", imports, tuple(left))
    if importer == "tensorboard":
        return ()
    rows = {template: {**_import(importer, template), "each": "row"} for template in alike(names)}
    return forms_named("a file per arm, a run per row", rows)


def _by_settings(forms: Sequence[Form], names: Sequence[str], root: Path) -> tuple[Form, ...]:
    """The files with the settings beside each, where paths tell neither seeds nor arms.

    None where there are no such settings, or where a path says a seed, or a word of an arm.
    """
    paths = [form.importer["path"] for form in forms]
    if not forms:
        return ()
    worded = len(forms) > 1 and any(re.search("[A-Za-z]", form.arm) for form in forms)
    if worded or any("{seed}" in each or "{" not in each for each in paths):
        return ()
    above = [PurePosixPath(name).parent for name in names]
    for settings, *others in (*((each,) for each in SETTINGS), SACRED):
        if all((root / each / file).is_file() for each in above for file in (settings, *others)):
            break
    else:
        return ()
    path = paths[0] if len(paths) == 1 else _above_all(above, PurePosixPath(names[0]).name)
    words = f"a file per run; settings from the file {settings} beside each"
    return (Form(words, {"from": "files", "path": path, "fields": settings}),)


def _above_all(folders: Sequence[PurePosixPath], name: str) -> str:
    """A pattern of the files of one name in any folder below the one that all lie in."""
    shared = common([each.parts for each in folders])
    return "/".join((*folders[0].parts[:shared], "**", name))


def _import(importer: str, template: str) -> dict[str, Any]:
    """The number in the path is the seed, so that a folder without a file is a missing run."""
    numbered = {"seed": "run"} if "{run}" in template else {}
    return {"from": importer, "path": template, **numbered}


def forms_named(
    words: str, imports: Mapping[str, Mapping[str, Any]], left_out: tuple[str, ...] = ()
) -> tuple[Form, ...]:
    """A form for each template, labelled where there are several; the first has what is left."""
    labels = labels_of(list(imports)) if len(imports) > 1 else [""]
    return tuple(
        Form(words, importer, label, () if place else left_out)
        for place, (importer, label) in enumerate(zip(imports.values(), labels, strict=False))
    )


WAYS: tuple[tuple[str, str, Callable[[Inside], tuple[Form, ...]]], ...] = (
    ("logs of inspect", "inspect", _of_inspect),
    ("events of TensorBoard", "events", _of_events),
    ("results of lm-eval", "lm_eval", _of_lm_eval),
    ("runs of HELM", "helm", _of_helm),
    ("files of results", "results", _of_files),
    ("logs", "logs", _of_logs),
)
"""In words, which files of a folder are there, and how they are read; the surest first."""
