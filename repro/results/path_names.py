"""What the paths of results say: the number of a run, and what differs besides: arms, fields."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

from repro.errors import ClaimError
from repro.results.forms import Form, FoundRun, alike_but_number, first_runs, named, refused
from repro.results.roles import PHASES, RUNS, Role, role_of
from repro.results.run_fields import Hints
from repro.results.series import FORMS

SAID_SEED = re.compile(r"(?i)seeds?[_=-]?(\d+)")
NUMBER = re.compile(r"\d+")
WHOLE = re.compile(r"(?<!\d)(?<!\d\.)(?<!\d[eE][-+])\d+(?!\d)(?!\.\d)(?![eE][-+]?\d)")
"""A number that is no part of one such as 0.1 or 1e-3."""

BETWEEN = re.compile(r"((?:(?!(?<=\d)\.\d|(?<=\d[eE])[-+]\d)[^A-Za-z0-9{}])+)")
"""What stands between the words of a path: nothing in 0.1 or 1e-3."""

TELLING = ("result", "eval", "metric", "test", "summary", "score", "log")
"""Words in the names of files that hold what a run came to, the surest first."""

SETTINGS = frozenset(
    {"config", "params", "hparams", "args", "settings", "variant", "options", "flags", "hps"}
)
"""Names of files that hold what a run was told, and nothing that it came to."""

EPISODES = "monitor.csv"
"""How the files of Stable-Baselines end: one run each, whose rows are its episodes."""

RAY = re.compile(
    r"(?P<before>(?:.*/)?[^/]*?_)(?P<trial>\d{5}_)?(?P<number>\d+)(?P<settings>(?:_[^/=]+=[^/]*?)?)"
    r"_\d{4}-\d\d-\d\d(?:_\d\d-\d\d-\d\d[A-Za-z0-9_]*)?(?P<after>/.*|$)"
)
"""A path with the folder of a trial of Ray: its number and settings, then a time and letters."""

CLEANRL = re.compile(
    r"(?P<before>(?:.*/)?)(?:(?!__)[^/])+__(?P<arm>(?:(?!__)[^/])+)__\d+__\d{10}(?P<after>(?:[/.].*)?)"
)
"""A path with the folder of a run of CleanRL: environment, experiment, seed, and a Unix time."""

_DAY = r"(?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])"
_HOURS, _SIXTY = r"(?:[01]\d|2[0-3])", r"[0-5]\d"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[0-3]\d"
_CLOCK = rf"{_HOURS}([-_:.]){_SIXTY}(?:\2{_SIXTY})?"
_STAMP = re.compile(
    rf"(?<![A-Za-z\d])(?:{_DAY}(?:[/T_ -]{{1,2}}{_CLOCK}|[T_ -]{{0,2}}{_HOURS}{_SIXTY}{_SIXTY})"
    rf"|{_MONTH}_{_HOURS}(?:-{_SIXTY}){{2}})(?!\d)"
)
"""The date and time at which a run began, as a part of its name or as two folders of Hydra."""

STAMP = "stamp"
"""The field of such a time."""

ALL = "path"
"""`--arm path`: all that differs in the paths is the arm."""

NO_ARM: frozenset[Role | None] = frozenset({"item", "fold", "step", "task", "state"})
"""Parts of paths that are guessed to name no arm, by their names."""

_OF_PROCESS = re.compile(rf"(.*/)?\d+\.{re.escape(EPISODES)}")
_RUN = re.compile(r"(?i)(seeds?[-_=. ]*)?\{\w+\}|\??\*")
_WORDS_BEFORE = re.compile(r"([A-Za-z_ -]*[A-Za-z])[-_=. ]*\{run\}(?![^/]*_\*)")
_NUMBERED = re.compile(r"([A-Za-z_ -]*[A-Za-z])[-_=. ]*(\d+)")
_NAMED = re.compile(r"([A-Za-z]+)[-_. ](.+)")
_YEAR = re.compile(r"(19|20)\d\d")
_NUMBERED_FOLDER = re.compile(r"(?!.*\d{4})(.*[A-Za-z].*_)\d{1,3}")
_ENDING = re.compile(r"\.[A-Za-z]+$")


def template_of(name: str) -> str:
    """The name with the number of the run in braces: that of a seed, or else the last one."""
    if (trial := RAY.fullmatch(name)) is not None:
        before, settings = f"{trial['before']}{'*_' if trial['trial'] else ''}", trial["settings"]
        if SAID_SEED.search(settings):
            return f"{before}*{SAID_SEED.sub(_in_braces, settings)}_*{trial['after']}"
        return f"{before}{{run}}{settings}_*{trial['after']}"
    if (run := CLEANRL.fullmatch(name)) is not None:
        return f"{run['before']}{{env}}__{run['arm']}__{{seed}}__*{run['after']}"
    stem, dot, ending = name.rpartition(".")
    text, rest = (stem, dot + ending) if dot and f".{ending.lower()}" in FORMS else (name, "")
    said = list(SAID_SEED.finditer(text))
    found = said or list(WHOLE.finditer(text)) or list(NUMBER.finditer(text))
    if not found:
        return name
    start, end = found[-1].span(1) if said else found[-1].span()
    return f"{text[:start]}{'{seed}' if said else '{run}'}{text[end:]}{rest}"


def _in_braces(said: re.Match[str]) -> str:
    return f"{said[0].removesuffix(said[1])}{{seed}}"


def telling(names: Sequence[str]) -> list[str]:
    """Those of the files that say what a run came to: others lie beside them in each folder."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for name in names:
        kinds[PurePosixPath(template_of(name)).name].append(name)
    shared = {
        kind: found
        for kind, found in kinds.items()
        if len({PurePosixPath(name).parent for name in found}) > 1
    }
    for kind in kinds.keys() - shared.keys():  # `run1.json` of one folder, next to `run_2.json`
        for other in (each for each in shared if alike_but_number(each, kind)):
            shared[other] += kinds[kind]
    told = {kind: each for kind, each in shared.items() if PurePosixPath(kind).stem not in SETTINGS}
    shared = told or shared
    if len(shared) < 2:
        return next(iter(shared.values()), list(names))

    def rank(kind: str) -> int:
        places = (place for place, word in enumerate(TELLING) if word in kind.lower())
        return next(places, len(TELLING))

    first = min(shared, key=lambda kind: (rank(kind), kind))
    alike = [kind for kind in shared if NUMBER.sub("0", kind) == NUMBER.sub("0", first)]
    others = [kind for kind in shared if rank(kind) == rank(first)]
    if rank(first) == len(TELLING) or all(map(_says_more, others)):
        alike = others  # `seed_0/mixup.json` and `seed_0/plain.json`, or nothing tells
    return [name for kind in alike for name in shared[kind]]


def _says_more(kind: str) -> bool:
    """Whether the name of a file has a word besides those of results: `results_mixup.json`."""
    words = re.findall(r"[a-z]+", re.sub(r"\{\w+\}", "", kind.lower().rpartition(".")[0]))
    return any(word not in {*PHASES, *RUNS, "all", "best", "last", "seed"} for word in words)


def alike(names: Iterable[str]) -> dict[str, list[str]]:
    """The names by what they are without their number."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[template_of(name)].append(name)
    return found


def by_number_of_folder(names: Iterable[str]) -> dict[str, list[str]]:
    """The names by what they are without the number at the end of their folder, `Hopper-v4_1`.

    The file in it may have a number of its process, as in `0.monitor.csv`.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        path = PurePosixPath(name)
        ended = _NUMBERED_FOLDER.fullmatch(path.parent.name)
        folder = path.parent.with_name(f"{ended[1]}{{run}}") if ended else path.parent
        found[str(folder / path.name)].append(name)
    return found


def of_one_training(path: Path, names: Sequence[str]) -> list[str]:
    """The names, with one, `*.monitor.csv`, for the files of a folder that are numbered.

    These are of the parallel environments of one training. ClaimError where no two folders are
    named alike, so that each is an arm with one run.
    """
    numbered = filter(None, map(_OF_PROCESS.fullmatch, names))
    folders = Counter(each[1] for each in numbered)
    if max(folders.values(), default=0) < 2:
        return list(names)
    found = dict.fromkeys(_OF_PROCESS.sub(rf"\1*.{EPISODES}", name) for name in names)
    if len({template_of(name) for name in found}) == len(found):
        mistake = f"'0.{EPISODES}', '1.{EPISODES}' ... of a folder are of parallel environments of "
        mistake += "one training, so that each arm has one run"
        advice = "train each again, with other seeds: a folder per run, such as CartPole-v1_2"
        raise refused(path, mistake, "several runs of each arm", advice)
    return list(found)


def by_folder(names: Iterable[str], *, file: bool) -> dict[str, list[str]]:
    """The names by what they are without the folder of the run, where such folders have digits.

    It is the one that holds the ``file``, or the folder itself, and is called by any name that is
    made for one run: by a time, or at random. A seed that is said above it stays one.
    """
    found: dict[str, list[str]] = defaultdict(list)
    lengths: dict[str, set[int]] = defaultdict(set)
    words: list[tuple[str, str, str]] = []
    for name in names:
        path = PurePosixPath(name)
        *above, folder = path.parent.parts or ("",) if file else path.parts
        before = SAID_SEED.sub(_in_braces, "/".join(above), count=1)
        rest = ["{folder}", *([path.name] if file else [])]
        template = "/".join(filter(None, (before, *rest)))
        if NUMBER.search(folder):
            found[template].append(name)
            lengths[template].add(len(folder))
        else:
            words.append((template, folder, name))
    for template, folder, name in words:  # at random some ids have no digit
        found[template if lengths[template] == {len(folder)} else name].append(name)
    return found


def by_stamp(names: Sequence[str]) -> dict[str, list[str]]:
    """The names by what they are without date and time, if each has one; else none.

    A number that is another in each run is the run; else the time is, with the number of a job.
    """
    bare = {name: _STAMP.sub(lambda said: re.sub("[^/]+", "?*", said[0]), name) for name in names}
    if any(bare[name] == name or RAY.fullmatch(name) for name in names):
        return {}
    numbered, timed = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for name in names:
        numbered[template_of(bare[name])].append(name)
        before, _, after = bare[name].rpartition("?*")
        job = re.sub(r"(?<=\*)/\d+(?=/)", "/{folder}", bare[name])
        timed[job if "{" in job else f"{before}{{{STAMP}}}{after}"].append(name)
    told = all("{seed}" in each for each in numbered)
    apart = all("{" in each for each in numbered) and len({*bare.values()}) == len(bare)
    return numbered if told or apart or min(map(len, timed.values())) < 2 else timed


def labels_of(templates: Sequence[str]) -> list[str]:
    """What differs between the names, without what they begin and end with alike."""
    split = [BETWEEN.split(template) for template in templates]
    before = common(split)
    after = common([parts[before:][::-1] for parts in split])
    first = split[0]
    bare = any(len(parts) <= before + after or parts[before][:1].isdigit() for parts in split)
    if bare and before >= 2 and first[before - 2] and "/" not in first[before - 1]:
        before -= 2  # a number is told with the word before it: lr=0.1
    labels = ["".join(parts[before : len(parts) - after]) for parts in split]
    return [_tidied(label) or "plain" for label in labels]


def label_named(path: Path, name: str, labels: Sequence[str]) -> str:
    """The label of the arm that paths below ``path`` call so in full, or else the name itself."""
    if name in labels or not path.is_dir():
        return name
    between = r"[\s_./-]"
    found = [
        label
        for label in labels
        if re.fullmatch(rf"(?:.*{between})?{re.escape(label)}(?:{between}.*)?", name)
    ]
    whole = re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")
    there = any(whole.search(each.relative_to(path).as_posix()) for each in path.rglob("*"))
    return max(found, key=len) if found and there else name


def _tidied(label: str) -> str:
    label = re.sub(r"(?i)(seeds?[_=-]?)?\{(seed|run|folder|stamp)\}|\??\*", "", label).strip(
        "/_-. ,"
    )
    parts = label.split("/")
    return parts[0] if len({part.casefold() for part in parts}) == 1 else label  # PPO/PPO_0


def common(split: Sequence[Sequence[str]]) -> int:
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


def by_template(names: Iterable[str], noun: str, *, file: bool) -> tuple[Form, ...]:
    """An import for each name without its number: those are the arms, if there are several.

    Where no number tells runs apart, their folders do, if these are named by a time or at random.
    None where neither does. The names are those of files, or of folders.
    """
    names = sorted(names)
    ways = [by_stamp(names), alike(names), *([by_number_of_folder(names)] if file else ())]
    for found in (*ways, by_folder(names, file=file)):
        firsts = first_runs(found)
        several = [each for each, of in found.items() if len(of) > 1 and "{" in each]
        if several:
            break
    if not several and not all(name.endswith(EPISODES) for name in names):
        return ()
    imports = {template: import_keys(template) for template in several or names}
    left = [each[0] for each in found.values() if len(each) == 1] if several else []
    forms = forms_named(f"a {noun}", imports, tuple(left))
    return tuple(replace(form, first=firsts.get(str(form.importer["path"]))) for form in forms)


STATE = "trainer_state.json"
"""In which the Trainer of Hugging Face has the log of a run, and more about it."""


def import_keys(template: str) -> dict[str, Any]:
    """The number in the path is the seed, so that a folder without a file is a missing run."""
    rows = {"rows": "log_history"} if template.endswith(STATE) else {}
    return {"path": template, **rows, **({"seed": "run"} if "{run}" in template else {})}


def forms_named(
    words: str, imports: Mapping[str, Mapping[str, Any]], left_out: tuple[str, ...] = ()
) -> tuple[Form, ...]:
    """A form for each template, labelled where there are several; the first has what is left."""
    labels = labels_of(list(imports)) if len(imports) > 1 else [""]
    return tuple(
        Form(words, importer, label, () if place else left_out)
        for place, (importer, label) in enumerate(zip(imports.values(), labels, strict=False))
    )


# the parts of paths


@dataclass(frozen=True, slots=True)
class PathParts:
    """The arm of each form, and what its path says besides."""

    arms: Sequence[str]
    fields: Sequence[Mapping[str, str]]
    words: str = "an arm per path"


@dataclass(frozen=True, slots=True)
class PathPart:
    """What differs between paths in one place: its name, and the value in each path."""

    name: str
    values: Sequence[str]
    setting: bool = False

    @property
    def may_be_arm(self) -> bool:
        return role_of(self.name) not in NO_ARM


def parts_of(
    path: Path, labels: Sequence[str], templates: Sequence[str], hints: Hints
) -> PathParts:
    """What the paths ``templates`` say that differ in ``labels``.

    ClaimError where they differ in several parts and none is known to name the arm.
    """
    parts = _parts(templates)
    together = all(part.setting for part in parts) or len(parts) < 2
    arms_of_all = together and all(part.may_be_arm for part in parts)
    if hints.arm == ALL or (not hints.arm and arms_of_all):
        return PathParts(labels, [{} for _ in labels])
    arm = next((part for part in parts if part.name == hints.arm), None) or _arm(parts, hints)
    if arm is None:
        raise _unknown(path, parts, hints)
    for part in parts if hints.unit and not hints.task else ():
        apart = part is not arm and part.name not in hints.fields and role_of(part.name) is None
        if apart and len({*zip(arm.values, part.values, strict=True)}) > len({*arm.values}):
            mistake = f"--unit {hints.unit} would average over '{part.name}' in the paths: "
            mistake += named(dict.fromkeys(part.values))
            advice = f"say what that is: --task-field {part.name} for data sets or environments"
            raise refused(path, mistake, "the rows of one run", advice)
    said = [{part.name: part.values[n] for part in parts} for n in range(len(labels))]
    return PathParts(arm.values, said, f"arms by '{arm.name}' in the paths")


def _parts(templates: Sequence[str]) -> list[PathPart]:
    """Where the paths differ, besides the number of the run; none where they are of other forms."""
    split = [re.split(r"[/,]", _ENDING.sub("", _RUN.sub("", each))) for each in templates]
    if len({len(each) for each in split}) > 1:
        return []
    columns = [[each.strip("-_=. ") for each in column] for column in zip(*split, strict=True)]
    varying: list[list[str]] = []
    for column in columns:
        if len(set(column)) > 1 and not any(_repeats(column, before) for before in varying):
            varying.append(column)
    varying = _crossed(varying[0]) or varying if len(varying) == 1 else varying
    parts = [_part(column, place) for place, column in enumerate(varying, start=1)]
    if len({part.name for part in parts}) < len(parts):
        return [PathPart(f"path{n}", part.values) for n, part in enumerate(parts, start=1)]
    return parts


def _crossed(values: Sequence[str]) -> list[list[str]]:
    """The words of names that are all combinations of them, as `ppo-ant` and `sac-ant` may be."""
    for between in ("_", "-"):
        split = [value.split(between) for value in values]
        if len({len(words) for words in split}) > 1:
            continue
        columns = [list(each) for each in zip(*split, strict=True) if len(set(each)) > 1]
        if len(columns) > 1 and prod(len(set(each)) for each in columns) == len(set(values)):
            return columns
    return []


def _repeats(values: Sequence[str], before: Sequence[str]) -> bool:
    """Whether a part only says again what one before it says: `ppo/PPO_CartPole_0`."""
    same = len({*zip(values, before, strict=True)}) == len(set(before))
    pairs = zip(values, before, strict=True)
    return same and all(first and first.casefold() in value.casefold() for value, first in pairs)


def _part(values: Sequence[str], place: int) -> PathPart:
    """`lr` of `lr=0.1`, `fold` of `fold_3`; else it is called by its place."""
    pairs = [value.partition("=") for value in values]
    if all(equals for _, equals, _ in pairs) and len({key for key, _, _ in pairs}) == 1:
        return PathPart(pairs[0][0], [value for _, _, value in pairs], setting=True)
    for pattern in (_NUMBERED, _NAMED):
        found = [each for value in values if (each := pattern.fullmatch(value))]
        names = {each[1] for each in found}
        if len(found) == len(values) and len(names) == 1 and role_of(min(names)) in NO_ARM:
            return PathPart(names.pop(), [each[2] for each in found])
    return PathPart(f"path{place}", values)


def _arm(parts: Sequence[PathPart], hints: Hints) -> PathPart | None:
    """The only part that may name the arm, or that is named so."""
    able = [part for part in parts if part.may_be_arm and part.name not in hints.fields]
    sure = [part for part in able if role_of(part.name) == "arm"]
    able = [part for part in able if not (sure or _names_runs(part, able))]
    return next((found[0] for found in (sure, able) if len(found) == 1 and not hints.arm), None)


def _names_runs(part: PathPart, parts: Sequence[PathPart]) -> bool:
    """Whether a part names each run, as ids do, where another has an arm for several of them."""
    ids = len({*part.values}) == len(part.values) and len({*map(len, part.values)}) == 1
    counts = [min(Counter(each.values).values()) for each in parts if each is not part]
    return ids and bool(counts) and min(counts) > 2


def number_in_paths(templates: Sequence[str], hints: Hints) -> str:
    """What the number in paths counts, by the word before it; empty where that is a seed.

    A word that says nothing of it, such as `layer`, is what it counts if all paths have it: names
    of arms differ.
    """
    found = [each for each in map(_WORDS_BEFORE.search, templates) if each]
    if hints.seed == "run" or len(found) < len(templates) or not found:
        return ""
    split = [re.split(r"[ _-]", re.sub(r"[ _-][A-Za-z]$", "", each[1])) for each in found]
    names = ["_".join(split[0][place:]) for place in range(len(split[0]))]
    name = next((each for each in names if role_of(each) in NO_ARM), "")
    if all(re.search(r"[_-]s$", each[1]) for each in found) and (
        not name or role_of(name) == "task"
    ):
        return ""  # of `ppo_hopper_s0` it is the seed
    ends = all(
        re.fullmatch(r"([-_ .]?\?\*)?(\.\w+|/.*)?", each.string[each.end() :]) for each in found
    )
    if name and (ends or role_of(name) != "task"):  # of Ray's PPO_env_00000_2026-01-01 it is none
        return name
    last = {words[-1] for words in split}
    word = min(last)
    known = role_of(word) is not None or word.casefold() in RUNS
    return "" if known or len(last) > 1 or not ends else word


def counts_runs(template: str) -> bool:
    """Whether the number in a path is said to be that of a run: `seed_3`, `run 2`, `v1`."""
    word = _WORDS_BEFORE.search(template)
    last = re.split(r"[ _-]", word[1])[-1] if word else ""
    said = last.casefold() in RUNS or role_of(last) in ("seed", "fold")
    return said or "{run}" not in template


def numbered(run: FoundRun, number: str) -> FoundRun:
    """The run whose path has the number of something else: of a fold, a task, a layer."""
    if "run" not in run.fields:
        return run
    fields = {key: value for key, value in run.fields.items() if key != "run"}
    return replace(run, fields={**fields, number: run.fields["run"]})


def year_in_paths(runs: Sequence[FoundRun], hints: Hints) -> str:
    """`year`, where the number in all paths may be one: `mixup_2019.json`; else empty."""
    numbers = [str(run.fields.get("run", "")) for run in runs]
    years = all(_YEAR.fullmatch(number) for number in numbers)
    return "year" if numbers and years and hints.seed != "run" else ""


def _unknown(path: Path, parts: Sequence[PathPart], hints: Hints) -> ClaimError:
    shown = "; ".join(f"'{part.name}' is {named(dict.fromkeys(part.values))}" for part in parts)
    names = [part.name for part in parts]
    if hints.arm:
        mistake = f"there is no field '{hints.arm}', and the paths differ so: {shown or 'not'}"
        return refused(path, mistake, ", ".join((*names, ALL)), f"name one, or {ALL} for all")
    if len(parts) == 1:
        mistake = f"no field tells the arms apart: {shown}, which names no arm"
        return refused(path, mistake, "paths that name the arm", f"--arm {names[0]}, if it does")
    mistake = f"the paths differ in {len(parts)} parts: {shown}"
    advice = f"say what they are, as in --arm {names[0]} --task-field {names[1]}, or --arm {ALL} "
    return refused(path, mistake, "one part that names the arm", f"{advice}if they are all the arm")


def arms_in_paths(forms: Sequence[Form], runs: Sequence[FoundRun], hints: Hints) -> bool:
    """Whether paths name the arms, so that they may name the task, and no field says either."""
    if not forms[0].arm or any({hints.arm, hints.task_field} & {*run.fields} for run in runs):
        return False
    return all(hints.task != str(value) for run in runs for value in run.fields.values())
