"""The forms of files: of a table, a JSON or a log alone, and of those in a folder.

A run is a file, or a row of one, and what tells runs and arms is in their names or there.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from repro.errors import ClaimError
from repro.results.forms import (
    Form,
    FoundRun,
    OneRunError,
    ResultsThere,
    Way,
    first_runs,
    named,
    refused,
    unfit,
)
from repro.results.json_runs import listed_inside, read_json, runs_in_json, several_inside
from repro.results.log_runs import (
    LOGS,
    is_table,
    names_in_bars,
    names_in_log,
    run_in_log,
    runs_in_log,
    text_of,
)
from repro.results.path_names import (
    STATE,
    alike,
    by_template,
    common,
    counts_runs,
    forms_named,
    import_keys,
    labels_of,
    of_one_training,
    telling,
)
from repro.results.paths import matching
from repro.results.roles import role_of
from repro.results.series import FORMS, Record, in_lines, records_in
from repro.schema.cells import float_of

if TYPE_CHECKING:
    from repro.results.importer import Importer

SETTINGS = (".hydra/config.yaml", "hparams.yaml")
"""Files beside results that hold the settings of the run: those of hydra, and of Lightning."""

SACRED = ("config.json", "run.json")
"""The same of sacred, which writes two: only together are they its own."""

_CHECKPOINT = re.compile(r"checkpoint-(\d+)")

HELM, HELM_SPEC = "stats.json", "run_spec.json"
HELM_INSTANCES = "per_instance_stats.json"

RANGES = ("__MIN", "__MAX")
"""How the columns of a chart end that hold no run, but the range of one."""

READ_LOGS = (
    "write a claim that reads the logs by a pattern: `import: {from: files, path: "
    "\"logs/{seed}.txt\", pattern: 'loss:(?P<loss>\\S+)'}`"
)


def ways_of_files(there: ResultsThere, importer: type[Importer]) -> Iterator[Way]:
    """How ``importer`` reads files: of HELM, of numbers, and logs."""
    if there.suffix in (*FORMS, *LOGS):
        yield Way("a file", lambda: (_of_file(there.path, there.place),))
    helm = [each for each in there.files if each.name == HELM]
    if helm := [each for each in helm if each.with_name(HELM_SPEC).is_file()]:
        yield Way("runs of HELM", lambda: _of_helm(there, helm), "framework")
    logs = there.ending(*LOGS)
    tables = [each for each in logs if is_table(each)]
    if results := [*there.ending(*FORMS), *tables]:
        yield Way("files of results", lambda: _of_files(there, results), "numbers")
    if logs := [each for each in logs if each not in tables]:
        yield Way("logs", lambda: _of_logs(there, logs, importer), "logs")


# a file


def _of_file(path: Path, place: str) -> Form:
    suffix = path.suffix.lower()
    if suffix in LOGS and not is_table(path):
        return _of_log(path, place)
    importer = {"path": place, "each": "row"}
    if suffix != ".json" or in_lines(read_json(path)):
        words = "a table" if FORMS.get(suffix, "csv") == "csv" else "JSON lines, a run per line"
        return Form(words, importer)
    words, runs = runs_in_json(path)
    return Form(f"a JSON file: {words}", importer, runs=runs)


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
    raise OneRunError(str(refused(path, mistake, expected, advice)))


def one_run_of(path: Path, root: Path) -> Way:
    """How a file is read that is one run, whatever it would be read as among others."""
    place = ResultsThere(path, root).place
    form = Form("a file that is one run", {"from": "files", **import_keys(place)})
    if path.suffix.lower() in LOGS and not is_table(path):
        form = replace(form, runs=(run_in_log(path, place, {}),))
    return Way("one run", lambda: (form,))


# logs


def _of_logs(
    there: ResultsThere, files: Sequence[Path], importer: type[Importer]
) -> tuple[Form, ...]:
    """The logs of a folder, a run per file or a run per line.

    UnfitError where no number stands in them.
    """
    logs = dict(zip(there.names(files), files, strict=True))
    first = next(iter(logs))
    if len(logs) == 1 and runs_in_log(files[0], first):
        return (_of_log(files[0], first),)
    if found := by_template(telling([*logs]), "file per run", file=True) or _by_arm(logs):
        if len(found) == 1 and not there.asked:
            _refuse_alike(there, [*logs.items()])
        forms = [_with_runs(form, there, importer) for form in found]
    else:
        forms = _of_named_logs(logs)
    if not any(row for form in forms for run in form.runs or () for row in run.rows):
        mistake, advice = "no number stands in its logs as `name: 1.5` or `name=1.5`", READ_LOGS
        if in_bars := names_in_bars(files[0]):
            mistake += f"; {named(in_bars)} stand in a table between bars, which is not read"
            advice = f"write what each run came to into a CSV: arm,seed,{in_bars[-1]}"
        raise unfit(there.path, mistake, "numbers with their names", advice)
    return tuple(forms)


def _by_arm(names: Collection[str]) -> tuple[Form, ...]:
    """A form for each folder of logs that chance has named; none where a folder has one log."""
    folders = Counter(path.with_name(f"*{path.suffix}") for path in map(PurePosixPath, names))
    if len(folders) < 2 or min(folders.values()) < 2:
        return ()
    paths = sorted(each.as_posix() for each in folders)
    return forms_named("a folder of logs per arm", {each: {"path": each} for each in paths})


def _refuse_alike(there: ResultsThere, logs: Sequence[tuple[str, Path]]) -> None:
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
    raise unfit(there.path, mistake, "a line such as `method: mixup` in each", advice)


def _with_runs(form: Form, there: ResultsThere, importer: type[Importer]) -> Form:
    """The logs whose paths are like that of the form, a run each."""
    root = there.root
    declared = importer.declared(there.path, {"from": "files", **form.importer})
    found = matching(root, declared.path, "seed")
    runs = [
        FoundRun(name, each.said, []) if each.empty else run_in_log(each.path, name, each.said)
        for each in found
        for name in (each.path.relative_to(root).as_posix(),)
    ]
    if first := form.first:
        runs.insert(0, run_in_log(root / first.name, first.name, dict(first.said)))
    log = "{" in form.importer["path"] and not first
    return replace(form, words="a log per run", runs=tuple(runs), log=log)


def _of_named_logs(logs: Mapping[str, Path]) -> list[Form]:
    """Logs whose names have no number: one per arm, if all have several runs, else one per run."""
    several = {name: runs_in_log(file, name) for name, file in logs.items()}
    if all(several.values()):
        labels = zip(labels_of([*logs]), several.items(), strict=True)
        return [
            Form("a log per arm, with several runs in it", {"path": name}, label, runs=runs)
            for label, (name, runs) in labels
        ]
    runs = tuple(run_in_log(file, name, {}) for name, file in logs.items())
    return [Form("a log per run", {"path": next(iter(logs))}, runs=runs)]


# files


def _of_files(there: ResultsThere, results: Sequence[Path]) -> tuple[Form, ...]:
    """A file per run, or per arm; UnfitError where there is none."""
    results = _last_states(results)
    files = dict(zip(there.names(results), results, strict=True))
    names = of_one_training(there.path, telling([*files]))
    if several := _of_several_inside(files, names):
        return several
    try:
        found = by_template(names, "file per run", file=True)
    except ClaimError:  # `resnet.csv`, `resnet18.csv` ... may be arms
        if not _seeds_inside(files, [each for each, of in alike(names).items() if len(of) > 1]):
            raise
        found = ()
    if not found and (lists := _of_lists(files, names)):
        return lists
    if len(found) == 1 and all(_has_arms(files[name]) for name in names):
        importer = {**found[0].importer, "each": "row"}
        return (replace(found[0], words="a file per run, a row per arm", importer=importer),)
    if not found or _seeds_inside(files, [str(form.importer["path"]) for form in found]):
        arms = {name: {"path": name, "each": "row"} for name in sorted(names)}
        found = forms_named("a file per arm, a run per row", arms)
    return _by_settings(found, names, there.root) or found


def _seeds_inside(files: Mapping[str, Path], templates: Sequence[str]) -> bool:
    """Whether each file is a table of one arm with a column of several seeds.

    Then the number in its name, as in `td3.csv`, counts no runs, unless a word there says so.
    """
    if any(map(counts_runs, templates)):
        return False
    return all(
        FORMS.get(file.suffix.lower()) == "csv" and _has_seeds(file) for file in files.values()
    )


def _table(file: Path) -> list[Record]:
    """The rows of a CSV file; none where it cannot be read."""
    with suppress(ValueError, ClaimError):
        return records_in(text_of(file), "csv")
    return []


def _has_arms(file: Path) -> bool:
    """Whether a table of one run has a row for each of several arms, or for each on each task."""
    records = _table(file) if FORMS.get(file.suffix.lower()) == "csv" else []
    keys = [key for record in records[:1] for key in record if role_of(key) in ("arm", "task")]
    places = [tuple(str(record.get(key, "")) for key in keys) for record in records]
    arms = {record.get(key, "") for record in records for key in keys if role_of(key) == "arm"}
    others = {role_of(key) for record in records[:1] for key in record} & {"seed", "step", "fold"}
    return len(arms) > 1 and len({*places}) == len(places) and not others


def _has_seeds(file: Path) -> bool:
    """Whether a table has a column of several seeds, and none of several arms."""
    records = _table(file)
    names = dict.fromkeys(key for record in records for key in record)
    columns = {key: {str(record.get(key, "")) for record in records} for key in names}
    roles = {role_of(key) for key, cells in columns.items() if len(cells) > 1}
    return "seed" in roles and "arm" not in roles


def _last_states(files: Sequence[Path]) -> list[Path]:
    """The files, without those states of Hugging Face's Trainer that a later one goes on from."""
    last: dict[Path, tuple[float, Path]] = {}
    for each in (each for each in files if each.name == STATE):
        saved = _CHECKPOINT.fullmatch(each.parent.name)
        run, step = (each.parents[1], float(saved[1])) if saved else (each.parent, math.inf)
        last[run] = max(last.get(run, (step, each)), (step, each))
    kept = {each for _, each in last.values()}
    return [each for each in files if each.name != STATE or each in kept]


def _of_several_inside(files: Mapping[str, Path], names: Sequence[str]) -> tuple[Form, ...]:
    """JSON files with several runs each, which say their seeds; none where no file has them."""
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
                {name: {"path": name, "each": "row"} for name in having},
            )
        )
    )


def _of_lists(files: Mapping[str, Path], names: Sequence[str]) -> tuple[Form, ...]:
    """JSON files that are lists of runs, one per arm; none where some are anything else."""
    if not all(name.casefold().endswith(".json") for name in names):
        return ()
    runs = {name: listed_inside(files[name], name) for name in sorted(names)}
    if not all(runs.values()):
        return ()
    words = "a JSON file per arm, a list of its runs"
    declared = {name: {"path": name, "each": "row"} for name in runs}
    return tuple(
        replace(form, runs=runs[str(form.importer["path"])])
        for form in forms_named(words, declared)
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
    for settings, *others in (*((each,) for each in SETTINGS), SACRED):
        if all((root / each / file).is_file() for each in above for file in (settings, *others)):
            break
    else:
        return ()
    alone = len(paths) == 1 and not (forms[0].first or forms[0].left_out)
    path = paths[0] if alone else _above_all(above, PurePosixPath(names[0]).name)
    words = f"a file per run; settings from the file {settings} beside each"
    return (Form(words, {"path": path, "fields": settings}),)


def _above_all(folders: Sequence[PurePosixPath], name: str) -> str:
    """A pattern of the files of one name in any folder below the one that all lie in."""
    shared = common([each.parts for each in folders])
    return "/".join((*folders[0].parts[:shared], "**", name))


def _of_helm(there: ResultsThere, files: Sequence[Path]) -> tuple[Form, ...]:
    """`**/stats.json`, with the file beside each that says model, task and all else."""
    names = there.names(files)
    path = _above_all([PurePosixPath(name).parent for name in names], HELM)
    declared = {"path": path, "fields": HELM_SPEC}
    return (Form(f"runs of HELM: {HELM} beside {HELM_SPEC}", declared),)


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
    found = alike(shown[number])
    for template, (bare, said) in first_runs(found).items():
        mistake = f"the run '{bare}' has no number, and others of its name have one"
        called = template.format(**said)
        advice = f"call it {called} in the head of the table, if it is the first of these"
        raise refused(path, mistake, "mixup-0, mixup-1, plain-0 ...", advice)
    several = [template for template, alike in found.items() if len(alike) > 1 and "{" in template]
    if not several:
        mistake = "a chart of runs, and no two columns are named alike but for a whole number"
        advice = "export the table of runs, with the setting that tells the arms apart"
        raise refused(path, mistake, "mixup-0, mixup-1, plain-0 ...", advice)
    imports = {
        each: {"from": "files", "path": place, "columns": f"{each} - {number}"} for each in several
    }
    left = tuple(alike[0] for alike in found.values() if len(alike) == 1)
    return forms_named("a chart that W&B exported, a run per column", imports, left), number
