"""What results hold: which runs are of which arm, their seeds, and the number that is compared.

Everything that is guessed is said, and an option says it instead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from repro.drafting.forms import Form, forms_of, refused
from repro.errors import ClaimError
from repro.evidence.imported import AnyImporter
from repro.evidence.imports.importer import FilesRead, FoundRun
from repro.evidence.wandb_export import wandb_export
from repro.schema.messages import choose
from repro.series import chosen

TIDY = ("arm", "seed", "measurement", "value")
ARMS = (
    *("arm", "group", "method", "variant", "treatment", "condition", "algorithm", "algo"),
    *("optimizer", "model", "name"),
)
"""Names of fields that tell arms apart, the surest first."""

SEEDS = ("seed", "random_seed", "random_state", "rng_seed")
COUNTERS = frozenset(
    {*SEEDS, "step", "global_step", "epoch", "iteration", "iter", "index", "id", "run", "rank"}
    | {"_step", "_runtime", "_timestamp", "runtime", "created", "timestamp", "time"}
)
"""Numbers of a run that nobody compares."""

TESTS = ("test", "eval", "valid", "val", "dev")
"""Of several numbers, the one whose name has the first of these words is the one meant."""

MOST_ARMS = 20
_WHOLE = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")


@dataclass(frozen=True, slots=True)
class Hints:
    """What is said of the results, in place of a guess: names of fields and of a number."""

    arm: str = ""
    seed: str = ""
    measure: str = ""


@dataclass(frozen=True, slots=True)
class FoundValue:
    """One run of an arm; without a value it diverged, or is ``missing`` one."""

    seed: int
    value: float | None
    missing: bool = False


@dataclass(slots=True)
class FoundResults:
    """FoundResults as a claim can read them.

    ``imports`` are those of the arms, where a claim may declare them; ``table`` is the name of a
    tidy table that it can read as it is. Where there is neither, the runs have to be copied.
    """

    path: Path
    runs: dict[str, list[FoundValue]]
    measure: str
    reduce: str = ""
    imports: dict[str, dict[str, Any]] = field(default_factory=dict)
    table: str = ""
    said: list[str] = field(default_factory=list)


def read_results(path: Path, root: Path, hints: Hints) -> FoundResults:
    """The results at ``path``, as a claim in ``root`` would read them.

    ClaimError or DataError where they cannot be told apart, or cannot be read.
    """
    inside = path.resolve().is_relative_to(root.resolve())
    base = root if inside else path.resolve().parent
    forms = forms_of(path, base)
    found = [(form, run) for form in forms for run in _runs(form, base, path)]
    names = {name for _, run in found for name in run.fields}
    tabular = forms[0].importer.get("each") == "row" and path.is_file()
    if tabular and set(TIDY) <= names:
        results = _tidy(path, base, found, hints)
    elif tabular and (exported := wandb_export(names)) and "chart" in exported[0]:
        raise refused(path, *exported)
    else:
        results = _of_runs(path, forms, found, hints)
    if not inside:
        results.imports, results.table = {}, ""
    return results


def _runs(form: Form, base: Path, path: Path) -> Iterator[FoundRun]:
    try:
        importer = TypeAdapter(AnyImporter).validate_python(dict(form.importer))
    except ValidationError:
        mistake = f"a claim cannot name the path '{form.importer['path']}'"
        expected = "letters, digits and _ . ! + - in its names"
        raise refused(path, mistake, expected, "rename the file or its folder") from None
    yield from importer.runs(base, FilesRead())


# a tidy table


def _tidy(
    path: Path, base: Path, found: Sequence[tuple[Form, FoundRun]], hints: Hints
) -> FoundResults:
    """A table with the columns arm, seed, measurement and value: it is read as it is."""
    names = list(dict.fromkeys(str(run.fields["measurement"]) for _, run in found))
    measure, said = _measure(path, names, hints)
    runs: dict[str, list[FoundValue]] = defaultdict(list)
    for _, run in found:
        if str(run.fields["measurement"]) == measure:
            seed = _seed(path, run.place, run.fields["seed"])
            value = run.rows[0].get("value") if run.rows else None
            runs[str(run.fields["arm"])].append(FoundValue(seed, value))
    table = path.resolve().relative_to(base.resolve()).as_posix()
    words = "a table with a row per value (arm, seed, measurement, value)"
    return FoundResults(path, dict(runs), measure, table=table, said=[words, said])


# runs


def _of_runs(
    path: Path, forms: Sequence[Form], found: list[tuple[Form, FoundRun]], hints: Hints
) -> FoundResults:
    if not found:
        raise refused(path, "no run is in it", "results", "check the path")
    runs = [run for _, run in found]
    seed = _seed_field(path, runs, hints)
    if forms[0].arm:
        arms, where, arm_said = [form.arm for form, _ in found], "", "an arm per path"
    else:
        where = _arm_field(path, runs, seed, hints)
        if not where:
            return _arm_per_column(path, runs, seed)
        found = [(form, run) for form, run in found if where in run.fields]
        runs = [run for _, run in found]
        arms = [str(run.fields[where]) for run in runs]
        arm_said = f"arms by the field '{where}'"
    measure, said = _measure(path, _measured(runs, arms, {seed, where}), hints)
    several = any(sum(measure in row for row in run.rows) > 1 for run in runs)
    reduce = "last" if several else ""
    values = _values(path, list(zip(arms, runs, strict=True)), seed, measure, reduce)
    results = FoundResults(path, values, measure, reduce)
    results.said = [forms[0].words, arm_said, said]
    results.said += ["the last value of each run"] if several else []
    results.said.append(f"seeds by the field '{seed}'" if seed else NUMBERED)
    if seed:
        results.imports = _imports(forms, found, where, seed)
    return results


NUMBERED = "no seeds are named: runs are numbered as they come"


def _imports(
    forms: Sequence[Form], found: Sequence[tuple[Form, FoundRun]], where: str, seed: str
) -> dict[str, dict[str, Any]]:
    """What each arm would declare."""
    if not where:
        return {form.arm: {**form.importer, "seed": seed} for form in forms}
    arms = {str(run.fields[where]): run.fields[where] for _, run in found}
    return {
        arm: {**forms[0].importer, "where": {where: value}, "seed": seed}
        for arm, value in arms.items()
    }


def _seed_field(path: Path, runs: Sequence[FoundRun], hints: Hints) -> str:
    """The field of the seed, which every run has; empty where there is none."""
    known = [key for key in runs[0].fields if all(key in run.fields for run in runs)]
    if hints.seed:
        if hints.seed not in known:
            raise _no_field(path, hints.seed, known)
        return hints.seed
    for name in (*SEEDS, "run"):
        for key in known:
            if key.casefold().rpartition(".")[2] == name and _whole_in_all(runs, key):
                return key
    return ""


def _whole_in_all(runs: Sequence[FoundRun], key: str) -> bool:
    return all(_WHOLE.fullmatch(str(run.fields[key])) for run in runs)


def _arm_field(path: Path, runs: Sequence[FoundRun], seed: str, hints: Hints) -> str:
    """The field that tells the arms apart; empty where none does."""
    known = list(dict.fromkeys(key for run in runs for key in run.fields))
    if hints.arm:
        if hints.arm not in known:
            raise _no_field(path, hints.arm, known)
        return hints.arm
    candidates = [key for key in known if key != seed and _splits(runs, key)]
    for name in ARMS:
        for key in candidates:
            if key.casefold().rpartition(".")[2] == name:
                return key
    texts = [key for key in candidates if not _number_like(runs, key)]
    choice = texts or [key for key in candidates if "." in key]  # settings of a tracker
    if len(choice) > 1:
        mistake = f"several fields may tell the arms apart: {', '.join(choice[:10])}"
        raise refused(path, mistake, "one", f"name it, as in --arm {choice[0]}")
    return choice[0] if choice else ""


def _splits(runs: Sequence[FoundRun], key: str) -> bool:
    """Whether a field has a few values, each in several runs, and all runs have one."""
    counts: dict[str, int] = defaultdict(int)
    for run in runs:
        value = run.fields.get(key)
        if not isinstance(value, str | int | float | bool) or value == "":
            return False
        counts[str(value)] += 1
    return 2 <= len(counts) <= MOST_ARMS and min(counts.values()) >= 2


def _number_like(runs: Sequence[FoundRun], key: str) -> bool:
    try:
        return all(isinstance(float(run.fields[key]), float) for run in runs)
    except (TypeError, ValueError):
        return False


def _arm_per_column(path: Path, runs: Sequence[FoundRun], seed: str) -> FoundResults:
    """A column of numbers per arm, a row per seed; ClaimError where it cannot be that."""
    columns = list(dict.fromkeys(name for run in runs for row in run.rows for name in row))
    arms = [name for name in columns if name != seed and name.casefold() not in COUNTERS]
    complete = all(arm in row for arm in arms for run in runs for row in run.rows)
    if not path.is_file() or not 2 <= len(arms) <= MOST_ARMS or not complete:
        known = ", ".join(list(runs[0].fields)[:20]) or "none"
        mistake = f"no field tells the arms apart; there are: {known}"
        raise refused(path, mistake, "one that differs between arms", "name it: --arm FIELD")
    values = {
        arm: [
            FoundValue(
                _seed(path, run.place, run.fields[seed]) if seed else place, run.rows[0][arm]
            )
            for place, run in enumerate(runs)
        ]
        for arm in arms
    }
    seeds = f"seeds by the column '{seed}'" if seed else "rows are numbered as seeds"
    return FoundResults(path, values, "value", said=[f"a column per arm: {', '.join(arms)}", seeds])


def _measured(runs: Sequence[FoundRun], arms: Sequence[str], taken: set[str]) -> list[str]:
    """The numbers that every arm has, and that are no setting: those that vary in some arm."""
    by_arm: dict[str, dict[str, set[float | None]]] = defaultdict(lambda: defaultdict(set))
    for arm, run in zip(arms, runs, strict=True):
        for row in run.rows:
            for name, value in row.items():
                by_arm[arm][name].add(value)
    shared = set.intersection(*(set(found) for found in by_arm.values())) if by_arm else set()
    names = [
        name
        for name in dict.fromkeys(name for found in by_arm.values() for name in found)
        if name in shared and name not in taken and name.casefold() not in COUNTERS
    ]
    varying = [name for name in names if any(len(found[name]) > 1 for found in by_arm.values())]
    return varying or names


def _measure(path: Path, names: Sequence[str], hints: Hints) -> tuple[str, str]:
    """The number to compare, and what is said of the choice."""
    if hints.measure:
        if hints.measure not in names:
            raise _no_field(path, hints.measure, names, "number", "measure")
        return hints.measure, f"the number '{hints.measure}'"
    if not names:
        raise refused(path, "no number is in every arm", "a number per run", "check the path")
    if len(names) == 1:
        return names[0], f"the number '{names[0]}'"
    for word in TESTS:
        having = [name for name in names if word in re.split(r"[^a-z0-9]+", name.casefold())]
        if len(having) == 1:
            others = len(names) - 1
            return having[0], f"the number '{having[0]}' ({others} more: --measure)"
    mistake = f"several numbers may be meant: {', '.join(names[:20])}"
    raise refused(path, mistake, "one", f"name it, as in --measure {names[0]}")


def _values(
    path: Path,
    runs: Sequence[tuple[str, FoundRun]],
    seed: str,
    measure: str,
    reduce: str,
) -> dict[str, list[FoundValue]]:
    """The runs of each arm."""
    found: dict[str, list[FoundValue]] = defaultdict(list)
    for arm, run in runs:
        number = _seed(path, run.place, run.fields[seed]) if seed else len(found[arm])
        having = [row[measure] for row in run.rows if measure in row]
        missing = run.state == "running" or (run.state == "finished" and not having)
        lost = missing or run.state == "failed" or None in having
        value = None if lost else chosen(run.rows, measure, "last" if reduce else None)[0]
        found[arm].append(FoundValue(number, value, missing))
    return dict(found)


def _seed(path: Path, place: str, value: Any) -> int:
    whole = _WHOLE.fullmatch(str(value))
    if whole is None:
        mistake = f"{place}: the seed '{str(value)[:40]}' is no whole number"
        raise refused(path, mistake, "0, 1, 2 ...", "name the field of the seed: --seed FIELD")
    return int(whole[1])


def _no_field(
    path: Path, name: str, known: Sequence[str], noun: str = "field", option: str = ""
) -> ClaimError:
    mistake = f"there is no {noun} '{name}'" + (f" to {option}" if option else "")
    return refused(path, mistake, ", ".join(known[:30]) or "none", choose(name, known))


def several_of(runs: Mapping[str, Sequence[FoundValue]]) -> list[str]:
    """The arms in which a seed is there twice."""
    return [arm for arm, each in runs.items() if len({run.seed for run in each}) < len(each)]
