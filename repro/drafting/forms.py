"""In which form results lie in a file or a folder, and the imports that read it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import TypeAdapter, ValidationError

from repro.drafting.json_runs import one_log, runs_in_json
from repro.drafting.log_runs import LOGS, names_in_log, run_in_log, runs_in_log
from repro.drafting.run_fields import named, refused
from repro.errors import ClaimError, DataError
from repro.evidence.imported import AnyImporter
from repro.evidence.imports.databases import tables_of
from repro.evidence.imports.importer import FoundRun, Importer
from repro.evidence.imports.paths import matching
from repro.evidence.imports.result_files import FORMS

MOST_FILES = 20_000
SAID_SEED = re.compile(r"(?i)seeds?[_=-]?(\d+)")
NUMBER = re.compile(r"\d+")
WHOLE = re.compile(r"(?<!\d)(?<!\d\.)(?<!\d[eE][-+])\d+(?!\d)(?!\.\d)(?![eE][-+]?\d)")
"""A number that is no part of one such as 0.1 or 1e-3."""

BETWEEN = re.compile(r"((?:(?!(?<=\d)\.\d|(?<=\d[eE])[-+]\d)[^A-Za-z0-9{}])+)")
"""What stands between the words of a path: nothing in 0.1 or 1e-3."""

TELLING = ("result", "eval", "metric", "test", "summary", "score", "log")
"""Words in the names of files that hold what a run came to, the surest first."""

SETTINGS = (".hydra/config.yaml", "hparams.yaml")
"""Files beside results that hold the settings of the run: those of hydra, and of Lightning."""

PATTERN = re.compile(r"[*?{]")

LM_EVAL = re.compile(r"results_\d{4}-\d\d-\d\dT.*\.json")
RANGES = ("__MIN", "__MAX")
"""How the columns of a chart end that hold no run, but the range of one."""


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


def forms_of(path: Path, root: Path) -> tuple[Form, ...]:
    """How the results at ``path`` are imported by a claim in the folder ``root`` above it.

    ClaimError where there is nothing, or no form that is known.
    """
    if not path.exists():
        raise _nothing(path)
    place = path.resolve().relative_to(root.resolve()).as_posix()
    if path.is_file():
        return (_of_file(path, place),)
    if trackers := _of_tracker(path, place):
        return trackers
    files = _files(path)
    if any(file.suffix.lower() == ".eval" for file in files):
        below = "" if place == "." else f"{place}/"
        return (Form("logs of inspect", {"from": "inspect", "path": f"{below}**/*.eval"}),)
    events = {file.parent for file in files if "tfevents" in file.name}
    if events:
        found = _by_template((_below(each, root) for each in events), "tensorboard")
    elif results := [each for each in files if _is_lm_eval(each)]:
        found = _of_lm_eval(_below(each, root) for each in results)
    else:
        names = _telling([_below(each, root) for each in files if each.suffix.lower() in FORMS])
        by_path = _by_template(names, "files")
        found = _by_settings(by_path, names, root) or by_path or _of_logs(path, files, root)
    if not found:
        expected = f"files {', '.join((*FORMS, *LOGS))}, or the folder of a tracker"
        raise refused(path, "no results are in this folder", expected, "name their folder")
    return found


def _nothing(path: Path) -> ClaimError:
    """The error of a path that is not there, or of a pattern that the shell has not filled in."""
    mistake, advice = "there is no such file or folder", "check the path"
    place = next(n for n, part in enumerate((*path.parts, "*")) if PATTERN.search(part))
    if place < len(path.parts):
        mistake = "a pattern, and no file or folder"
        advice = f"give the folder above, {Path(*path.parts[:place])}: what is in it is looked for"
    return refused(path, mistake, "results", advice)


READ_LOGS = (
    "write a claim that reads the logs by a pattern: `import: {from: files, path: "
    "\"logs/{seed}.txt\", pattern: 'loss:(?P<loss>\\S+)'}`"
)


def import_of(path: Path, declared: Mapping[str, Any]) -> Importer:
    """The import of the results at ``path``; ClaimError where a claim cannot declare it."""
    try:
        found: Importer = TypeAdapter(AnyImporter).validate_python(dict(declared))
    except ValidationError:
        mistake = f"a claim cannot name the path '{declared['path']}'"
        expected = "letters, digits and _ . ! + - in its names"
        raise refused(path, mistake, expected, "rename the file or its folder") from None
    return found


def _of_file(path: Path, place: str) -> Form:
    suffix = path.suffix.lower()
    if suffix in (".db", ".sqlite", ".sqlite3"):
        tracker = _database(path)
        return Form(f"the database of {tracker}", {"from": tracker, "path": place})
    if suffix == ".wandb":
        return Form("a run of wandb", {"from": "wandb", "path": place})
    if suffix in FORMS and suffix != ".json":
        words = "JSON lines, a run per line" if "nd" in suffix or "l" in suffix else "a table"
        return Form(words, {"from": "files", "path": place, "each": "row"})
    if suffix == ".json":
        words, runs = runs_in_json(path)
        importer = {"from": "files", "path": place, "each": "row"}
        return Form(f"a JSON file: {words}", importer, runs=runs)
    if suffix == ".eval":
        raise one_log(path)
    if suffix in LOGS:
        return _of_log(path, place)
    expected = f"{', '.join((*FORMS, *LOGS))}, a database of mlflow or trackio, or a folder"
    advice = "write it as CSV: columns arm, seed, and the number that was measured"
    raise refused(path, "of a form that is not known", expected, advice)


def _of_log(path: Path, place: str) -> Form:
    """A log of several runs; ClaimError for that of one."""
    if runs := runs_in_log(path, place):
        return Form("a log with several runs in it", {"path": place}, runs=runs)
    if not (names := names_in_log(path)):
        mistake = "no number stands in this log as `name: 1.5` or `name=1.5`"
        raise refused(path, mistake, "numbers with their names", READ_LOGS)
    mistake = f"this log is one run, with the numbers {named(names)}"
    advice = f"give the folder with the logs of all runs, such as {path.parent}"
    expected = "the logs of several runs, or one that says arm and seed of each"
    raise refused(path, mistake, expected, advice)


def _of_logs(path: Path, files: Sequence[Path], root: Path) -> tuple[Form, ...]:
    """The logs of a folder, a run per file or a run per line; none where there are no logs.

    ClaimError where no number stands in them.
    """
    logs = {_below(each, root): each for each in files if each.suffix.lower() in LOGS}
    if not logs:
        return ()
    found = _by_template(_telling([*logs]), "files")
    if not any("each" in form.importer for form in found):
        forms = [_with_runs(form, path, root) for form in found]
    else:
        forms = _of_named_logs(logs)
    if not any(row for form in forms for run in form.runs or () for row in run.rows):
        mistake = "no number stands in its logs as `name: 1.5` or `name=1.5`"
        raise refused(path, mistake, "numbers with their names", READ_LOGS)
    return tuple(forms)


def _with_runs(form: Form, path: Path, root: Path) -> Form:
    """The logs whose paths are like that of the form, a run each."""
    found = matching(root, import_of(path, form.importer).path, "seed")
    runs = (
        FoundRun(_below(each.path, root), each.said, [])
        if each.empty
        else run_in_log(each.path, _below(each.path, root), each.said)
        for each in found
    )
    return replace(form, words="a log per run", runs=tuple(runs), log=True)


def _of_named_logs(logs: Mapping[str, Path]) -> list[Form]:
    """Logs whose names have no number: one per arm, if all have several runs, else one per run."""
    inside = {name: runs_in_log(file, name) for name, file in logs.items()}
    if len(logs) > 1 and all(inside.values()):
        labels = _labels([*logs])
        each = zip(labels, inside.items(), strict=True)
        return [
            Form("a log per arm, with several runs in it", {"path": name}, label, runs=runs)
            for label, (name, runs) in each
        ]
    runs = tuple(run_in_log(file, name, {}) for name, file in logs.items())
    return [Form("a log per run", {"path": next(iter(logs))}, runs=runs)]


def _database(path: Path) -> str:
    """Whose tables a file of sqlite has; ClaimError where it is neither, or is not read."""
    try:
        names = tables_of(path)
    except DataError as error:
        raise ClaimError(str(error)) from None
    if {"runs", "experiments"} <= names:
        return "mlflow"
    if {"metrics", "configs"} <= names:
        return "trackio"
    advice = "give another file, or write the results as CSV"
    raise refused(path, "is no database that is known", "one of mlflow or trackio", advice)


def _of_tracker(path: Path, place: str) -> tuple[Form, ...]:
    """The store of a tracker, where the folder is one or holds one."""
    below = f"{place}/" if place != "." else ""
    if (path / "mlflow.db").is_file():
        return (Form("the database of mlflow", {"from": "mlflow", "path": f"{below}mlflow.db"}),)
    for name in ("", "mlruns"):
        if any((path / name).glob("*/meta.yaml")):
            folder = f"{below}{name}".rstrip("/")
            return (Form("the folder of mlflow", {"from": "mlflow", "path": folder}),)
    if runs := [each.relative_to(path).parts[0] for each in path.rglob("run-*.wandb")]:
        alone = set(runs) == {"wandb"}
        return (
            Form("runs of wandb", {"from": "wandb", "path": f"{below}wandb" if alone else place}),
        )
    databases = sorted(path.glob("*.db"))
    if len(databases) == 1:
        return (_of_file(databases[0], f"{below}{databases[0].name}"),)
    return ()


def _files(path: Path) -> list[Path]:
    files = []
    for each in path.rglob("*"):
        if any(part.startswith(".") for part in each.relative_to(path).parts):
            continue
        if each.is_file():
            files.append(each)
        if len(files) > MOST_FILES:
            mistake, advice = f"more than {MOST_FILES:,} files", "name a folder in it"
            raise refused(path, mistake, "the folder of some runs", advice)
    return sorted(files)


def _below(path: Path, root: Path) -> str:
    return path.resolve().relative_to(root.resolve()).as_posix()


def _template(name: str) -> str:
    """The name with the number of the run in braces: that of a seed, or else the last one."""
    stem, dot, ending = name.rpartition(".")
    text, rest = (stem, dot + ending) if dot and f".{ending.lower()}" in FORMS else (name, "")
    said = list(SAID_SEED.finditer(text))
    found = said or list(WHOLE.finditer(text)) or list(NUMBER.finditer(text))
    if not found:
        return name
    start, end = found[-1].span(1) if said else found[-1].span()
    return f"{text[:start]}{'{seed}' if said else '{run}'}{text[end:]}{rest}"


def _telling(names: Sequence[str]) -> list[str]:
    """Those of the files that say what a run came to: others lie beside them in each folder."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for name in names:
        kinds[PurePosixPath(_template(name)).name].append(name)
    shared = {
        kind: found
        for kind, found in kinds.items()
        if len({PurePosixPath(name).parent for name in found}) > 1
    }
    if len(shared) < 2:
        return next(iter(shared.values()), list(names))

    def rank(kind: str) -> tuple[int, str]:
        places = (place for place, word in enumerate(TELLING) if word in kind.lower())
        return next(places, len(TELLING)), kind

    first = min(shared, key=rank)
    alike = [kind for kind in shared if NUMBER.sub("0", kind) == NUMBER.sub("0", first)]
    return [name for kind in alike for name in shared[kind]]


def _by_template(names: Iterable[str], importer: str) -> tuple[Form, ...]:
    """An import for each name without its number: those are the arms, if there are several."""
    found = _alike(sorted(names))
    several = [template for template, alike in found.items() if len(alike) > 1 and "{" in template]
    each = {} if several else {"each": "row"}
    noun = "folder of events per run" if importer == "tensorboard" else "file per run"
    words = f"a {noun}" if several else "a file per arm, a run per row"
    templates = several or (list(found) if importer == "files" else [])
    return _forms(
        words,
        {template: _import(importer, template) | each for template in templates},
        tuple(alike[0] for alike in found.values() if len(alike) == 1) if several else (),
    )


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
    for settings in SETTINGS:
        if all((root / each / settings).is_file() for each in above):
            break
    else:
        return ()
    path = paths[0] if len(paths) == 1 else _above_all(above, PurePosixPath(names[0]).name)
    words = f"a file per run; settings from the file {settings} beside each"
    return (Form(words, {"from": "files", "path": path, "fields": settings}),)


def _above_all(folders: Sequence[PurePosixPath], name: str) -> str:
    """A pattern of the files of one name in any folder below the one that all lie in."""
    shared = _common([each.parts for each in folders])
    return "/".join((*folders[0].parts[:shared], "**", name))


def _import(importer: str, template: str) -> dict[str, Any]:
    """The number in the path is the seed, so that a folder without a file is a missing run."""
    numbered = {"seed": "run"} if "{run}" in template else {}
    return {"from": importer, "path": template, **numbered}


def _alike(names: Iterable[str]) -> dict[str, list[str]]:
    """The names by what they are without their number."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[_template(name)].append(name)
    return found


def _forms(
    words: str, imports: Mapping[str, Mapping[str, Any]], left_out: tuple[str, ...] = ()
) -> tuple[Form, ...]:
    """A form for each template, labelled where there are several; the first has what is left."""
    labels = _labels(list(imports)) if len(imports) > 1 else [""]
    return tuple(
        Form(words, importer, label, () if place else left_out)
        for place, (importer, label) in enumerate(zip(imports.values(), labels, strict=False))
    )


def _is_lm_eval(file: Path) -> bool:
    """Whether lm-eval wrote it, by its name and by what it holds."""
    if not LM_EVAL.fullmatch(file.name):
        return False
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get("results"), dict)


def _of_lm_eval(names: Iterable[str]) -> tuple[Form, ...]:
    """`out/seed_{seed}/*/results_*.json`: lm-eval adds the folder of the model, and a date."""
    folders = [PurePosixPath(name).parent for name in names]
    paths = {
        _template((each.parent / "*" / "results_*.json").as_posix())
        if each.name
        else "results_*.json"
        for each in folders
    }
    imports = {path: {"from": "lm_eval", "path": path} for path in sorted(paths)}
    return _forms("results of lm-eval", imports)


def forms_of_chart(
    path: Path, place: str, names: Sequence[str], number: str
) -> tuple[tuple[Form, ...], str]:
    """The imports of a chart that W&B exported, whose columns are runs, and the number in it.

    ClaimError where it shows several numbers and none is named, or no two runs are named alike.
    """
    shown: dict[str, list[str]] = defaultdict(list)
    for name in names[1:]:
        run, dash, what = name.rpartition(" - ")
        if dash and not name.endswith(RANGES):
            shown[what].append(run)
    number = number or (next(iter(shown)) if len(shown) == 1 else "")
    if number not in shown:
        expected = ", ".join(shown)
        raise refused(path, "a chart of several numbers", expected, "name one: --measure NAME")
    found = _alike(shown[number])
    several = [template for template, alike in found.items() if len(alike) > 1 and "{" in template]
    if not several:
        mistake = "a chart whose columns are runs, and no two are named alike but for a number"
        advice = "export the table of runs, with the setting that tells the arms apart"
        raise refused(path, mistake, "mixup-0, mixup-1, plain-0 ...", advice)
    imports = {
        each: {"from": "files", "path": place, "columns": f"{each} - {number}"} for each in several
    }
    left = tuple(alike[0] for alike in found.values() if len(alike) == 1)
    return _forms("a chart that W&B exported, a run per column", imports, left), number


def _labels(templates: Sequence[str]) -> list[str]:
    """What differs between the names, without what they begin and end with alike."""
    split = [BETWEEN.split(template) for template in templates]
    before = _common(split)
    after = _common([parts[before:][::-1] for parts in split])
    first = split[0]
    bare = any(parts[before : before + 1] and parts[before][:1].isdigit() for parts in split)
    if bare and before >= 2 and first[before - 2] and "/" not in first[before - 1]:
        before -= 2  # a number is told with the word before it: lr=0.1
    labels = ["".join(parts[before : len(parts) - after]) for parts in split]
    return [_tidied(label) or "plain" for label in labels]


def _tidied(label: str) -> str:
    label = re.sub(r"(?i)(seeds?[_=-]?)?\{(seed|run)\}", "", label)
    return label.strip("/_-. ")


def _common(split: Sequence[Sequence[str]]) -> int:
    """How many parts all begin with."""

    def alike() -> Iterator[bool]:
        for parts in zip(*split, strict=False):
            yield len(set(parts)) == 1

    count = 0
    for same in alike():
        if not same:
            break
        count += 1
    return count
