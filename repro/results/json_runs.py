"""The runs in one JSON file: a list of runs, or what is said of them by arm, by seed, by column."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from repro.files import read_bytes
from repro.results.forms import FoundRun, named, one_run, refused
from repro.results.importer import Points, rows_of
from repro.results.inside import scalars
from repro.results.inspect_logs import one_log
from repro.results.json_lists import is_number, may_be_steps
from repro.results.readings import number_in
from repro.results.roles import ARMS, SEEDS, last_part
from repro.results.series import (
    LARGEST,
    Record,
    Row,
    averaged,
    in_lines,
    json_value,
    numbers_in,
)

SERIES = frozenset({"loss", "acc", "accuracy", "error", "lr", "learning_rate", "epoch", "step"})
"""Last words in the names of what is logged during one run: lists of these are no arms."""

LOGGED = SERIES | {"losses", "accuracies", "errors", "history", "curve", "reward", "return"}
LOGGED |= {"rewards", "returns", "epochs", "steps", "time", "times", "timestamps"}
"""The same of lists inside an object per arm: these may be the series of one run of it."""

SPLITS = frozenset({"train", "training", "test", "val", "valid", "validation", "dev", "eval"})
"""Names of what a run is measured on: lists of these are no arms either."""

WRAPPERS = frozenset({"results", "scores", "values", "methods", "arms", "models", "runs", "data"})
"""Names below which values by arm stand."""

VALUES = frozenset({"values", "scores", "results", "runs", "raw"})
"""Names of lists of values, a run each, whose number has no other name."""

SAY_SEEDS = (
    "a row per run",
    "write a table of the runs, with the columns seed and the number",
)

DEEPEST = 4
"""So many objects a list of seeds may lie in."""

_SEED = re.compile(r"(?i)(?:seed|run)?[_=-]?(\d{1,15})")


EXPECTED, ADVICE = "JSON with the results of several runs", "check the file"


class FoundRecords(NamedTuple):
    """What a file was read as, and what it says of each run."""

    words: str
    records: tuple[Record, ...]


def runs_in_json(path: Path) -> tuple[str, tuple[FoundRun, ...]]:
    """What the file was read as, and its runs.

    ClaimError for a file that is no JSON, or that is one run.
    """
    document = _document(path)
    try:
        found = _records(document, path.stem)
    except ValueError as error:
        advice = "name the seed of each: `seeds: [0, 1, ...]` beside the list"
        raise refused(path, str(error), "lists with a value per run", advice) from None
    if found is None:
        raise _one_run(path, document)
    return found.words, _runs(found, "")


def several_inside(path: Path, place: str) -> tuple[FoundRun, ...]:
    """The runs in a JSON file whose names or fields say that they are seeds; else none."""
    text = read_json(path)
    if in_lines(text) or not text.strip():
        return ()
    document = _document(path)
    found = _list_of_seeds(document)
    if found is None and _is_object(document):
        found = _of_seeds(document) or _of_seed_list(document)
    return _runs(found, f"{place}, ") if found else ()


def listed_inside(path: Path, place: str) -> tuple[FoundRun, ...]:
    """The runs in a JSON file that is a list of these, or of their values; else none."""
    text = read_json(path)
    if in_lines(text) or not text.lstrip().startswith("[") or known_form(text) is not None:
        return ()
    if (found := _list_of_runs(_document(path), path.stem)) is None:
        raise refused(path, "its list may be of runs, or of steps of one", *SAY_SEEDS)
    return _runs(found, f"{place}, ")


def _list_of_runs(document: Any, name: str) -> FoundRecords | None:
    """`[4.2, 4.3, 4.1]` or `[{"error": 4.2}]`: a run each; None where these may be steps of one."""
    records: list[Record]
    if _lists_objects(document):
        records = [_flat(each) for each in document]
        return None if may_be_steps(records) else FoundRecords("a list of runs", tuple(records))
    records = [{"value": each} for each in document] if _is_numbers(document) else []
    if not records or is_series(name, LOGGED) or may_be_steps(records):
        return None
    return FoundRecords("a list of values", tuple(records))


def _runs(found: FoundRecords, before: str) -> tuple[FoundRun, ...]:
    runs = (
        FoundRun(f"{before}run {place}", record, [numbers_in(record)])
        for place, record in enumerate(found.records, start=1)
    )
    return tuple(runs)


def _is_object(document: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(document, dict) and bool(document)


def _list_of_seeds(document: Any) -> FoundRecords | None:
    """A list at the top, or inside, whose items all name their seed."""
    found = _list_inside(document) if _is_object(document) else None
    if _lists_objects(document):
        found = FoundRecords("a list of runs", tuple(map(_flat, document)))
    named_each = found and all(any(last_part(k) in SEEDS for k in each) for each in found.records)
    return found if named_each else None


def read_json(path: Path) -> str:
    """The text of a JSON file; ClaimError where it cannot be read."""
    try:
        return read_bytes(path, LARGEST).decode("utf-8-sig")
    except OSError as error:
        raise refused(path, f"cannot be read: {error.strerror}", EXPECTED, ADVICE) from None
    except UnicodeDecodeError as error:
        mistake = f"is not UTF-8 text: byte {error.start}"
        raise refused(path, mistake, EXPECTED, "convert it") from None


def _document(path: Path) -> Any:
    try:
        return json_value(read_json(path))
    except ValueError as error:
        raise refused(path, f"is no JSON: {error}", EXPECTED, ADVICE) from None


def _records(document: Any, name: str) -> FoundRecords | None:
    """The runs in a document; None where it is one run."""
    if not _is_object(document):
        known = _lists_objects(document) and known_form(json.dumps(document)) is not None
        return None if known else _list_of_runs(document, name)
    ways = (_of_lists, _of_objects, _of_seeds, _of_values, _of_series, _of_seed_list)
    every = (*ways, _list_inside, _wrapped)
    return next((found for way in every if (found := way(document)) is not None), None)


def _wrapped(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"n_seeds": 5, "results": {...}}`: what stands below the one name that says so."""
    names = [
        name for name, each in document.items() if name.casefold() in WRAPPERS and _is_object(each)
    ]
    if len(names) != 1:
        return None
    inner = document[names[0]]
    bare = any(key.isdigit() for each in inner.values() if isinstance(each, dict) for key in each)
    ways = (_of_lists, *(() if bare else (_of_objects,)), _of_values, _of_series)
    found = next((found for way in ways if (found := way(inner)) is not None), None)
    return found and FoundRecords(f"{found.words}, below '{names[0]}'", found.records)


def _of_seeds(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"seed_results": {"42": {"error": 4.2}}}`: whole numbers below a name that says seeds.

    Of several such objects of one name, what each lies in is the arm. Numbers beside them, such as
    a mean, are no numbers of a run.
    """
    found = list(_seeds_below(document, ()))
    if not found or len({path[-1] for path, _ in found}) > 1:
        return None
    texts = {key: value for key, value in scalars(document) if isinstance(value, str)}
    records = (
        {
            **({"arm": ".".join(path[:-1])} if len(found) > 1 else texts),
            "seed": _seed(key),
            **(_flat(value) if isinstance(value, dict) else {"value": value}),
        }
        for path, each in found
        for key, value in each.items()
    )
    return FoundRecords(f"an object with the seeds, '{found[0][0][-1]}'", tuple(records))


def _seeds_below(
    document: Mapping[str, Any], above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The objects whose keys are whole numbers, and whose names say that these are seeds."""
    for name, each in document.items():
        if not _is_object(each) or len(above) > DEEPEST:
            continue
        says = "seed" in name.casefold() or name.casefold() in {"runs", "replicates", "repeats"}
        if says and all(map(_SEED.fullmatch, each)):
            yield (*above, name), each
        else:
            yield from _seeds_below(each, (*above, name))


def _of_values(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"ours": {"values": [4.2, 4.3], "mean": 4.25}}`: lists per arm, with a value per run.

    ValueError for lists that may be the series of one run: no seeds stand beside them, nor a mean
    that is theirs.
    """
    lists = {arm: _lists_in(each) for arm, each in document.items() if _is_object(each)}
    lists = {arm: each for arm, each in lists.items() if each}
    if any(arm.casefold() in SPLITS for arm in lists):
        return None
    if len(lists) < 2:
        return None
    shared = set.intersection(*(set(each) for each in lists.values()))
    seeds = next((name for name in shared if name.casefold() in (*SEEDS, "seeds")), None)
    names = [name for name in next(iter(lists.values())) if name in shared and name != seeds]
    for arm, each in lists.items():
        if names and len({len(each[name]) for name in shared}) > 1:
            raise ValueError(f"the lists of '{arm}' are not of one length: {named(sorted(shared))}")
    for name in names if seeds is None else ():
        if is_series(name, LOGGED) and not all(
            _has_mean(document[arm], each[name]) for arm, each in lists.items()
        ):
            raise ValueError(
                f"the lists '{name}' may be the values of seeds, or of one run's steps"
            )
    if not names:
        return None
    records = (
        {
            "arm": arm,
            **({} if seeds is None else {"seed": each[seeds][place]}),
            **{"value" if name in VALUES else name: each[name][place] for name in names},
        }
        for arm, each in lists.items()
        for place in range(len(each[names[0]]))
    )
    left = [name for name, each in document.items() if _is_object(each) and name not in lists]
    rest = f" (without lists, and left out: {named(left)})" if left else ""
    return FoundRecords(f"lists of values per arm{rest}", tuple(records))


def _lists_in(arm: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The lists of numbers in an object, where a null is a value that is missing."""
    return {
        name: each
        for name, each in arm.items()
        if isinstance(each, list)
        and any(isinstance(value, int | float) for value in each)
        and all(value is None or type(value) in (int, float) for value in each)
    }


def _has_mean(arm: Mapping[str, Any], values: Sequence[float | None]) -> bool:
    """Whether a mean stands beside a list that is the mean of it."""
    numbers = [value for value in values if value is not None]
    found = [value for name, value in arm.items() if "mean" in name.casefold()]
    mean = math.fsum(numbers) / len(numbers)
    return any(type(each) is float and math.isclose(each, mean, rel_tol=1e-3) for each in found)


def _of_lists(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"mixup": [{"seed": 0, "error": 4.2}]}`: a list of runs per arm."""
    if len(document) < 2 or not all(map(_lists_objects, document.values())):
        return None
    records = ({"arm": arm, **_flat(each)} for arm, runs in document.items() for each in runs)
    return FoundRecords("a list of runs per arm", tuple(records))


def _of_objects(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"mixup": {"0": 4.2}}` or `{"mixup": {"seed_0": {"error": 4.2}}}`; or a table of pandas.

    That is the same with columns outside (`{"arm": {"0": "mixup"}}`), or rows.
    """
    inner = list(document.values())
    if not all(isinstance(each, dict) and each for each in inner):
        return None
    if all(map(_SEED.fullmatch, document)) and len(document) > 1:
        return FoundRecords("an object per row", tuple(map(_flat, inner)))
    keys = dict.fromkeys(key for each in inner for key in each)
    if len(document) < 2 or not all(map(_SEED.fullmatch, keys)):
        return None
    if any(isinstance(value, str) for each in inner for value in each.values()):
        rows = ({name: each.get(key) for name, each in document.items()} for key in keys)
        return FoundRecords("an object per column", tuple(rows))
    records = (
        {"arm": arm, "seed": _seed(key), **(_flat(value) if isinstance(value, dict) else {})}
        | ({} if isinstance(value, dict) else {"value": value})
        for arm, each in document.items()
        for key, value in each.items()
    )
    return FoundRecords("an object per arm, with its seeds", tuple(records))


def _of_series(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"arm": ["mixup"], "error": [4.2]}`: a list per column; `{"mixup": [4.2]}`: one per arm.

    None for lists of numbers of which some are named as what is logged in a run is.
    """
    lists = list(document.values())
    if len(document) < 2 or not all(isinstance(each, list) and each for each in lists):
        return None
    if any(isinstance(value, list | dict) for each in lists for value in each):
        return None
    if any(isinstance(value, str) for each in lists for value in each):
        if len({len(each) for each in lists}) > 1:
            return None
        rows = (dict(zip(document, cells, strict=True)) for cells in zip(*lists, strict=True))
        return FoundRecords("a list per column", tuple(rows))
    if any(is_series(name) or name.casefold() in SPLITS for name in document):
        return None
    records = ({"arm": arm, "value": value} for arm, each in document.items() for value in each)
    return FoundRecords("a list of values per arm", tuple(records))


def _of_seed_list(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"seeds": [0, 1], "pass_rates": [0.4, 0.5], "mean": 0.45}`: one list, with its seeds."""
    lists = _lists_in(document)
    names = [name for name in lists if name.casefold() in (*SEEDS, "seeds")]
    if len(lists) != 2 or len(names) != 1:
        return None
    seeds = lists.pop(names[0])
    ((name, values),) = lists.items()
    if len(seeds) != len(values) or not all(type(seed) is int for seed in seeds):
        return None
    texts = {key: value for key, value in scalars(document) if isinstance(value, str)}
    called = "value" if name in VALUES else name
    pairs = zip(seeds, values, strict=True)
    records = tuple({**texts, "seed": seed, called: value} for seed, value in pairs)
    return FoundRecords(f"a list of values with the list '{names[0]}'", records)


def _list_inside(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"runs": [{"arm": "mixup", "seed": 0, "error": 4.2}]}`, where its items name arm or seed.

    Others, such as the `log_history` of a trainer, are the series of one run.
    """
    found = [(name, each) for name, each in scalars(document) if _lists_objects(each)]
    if len(found) != 1:
        return None
    ((name, each),) = found
    records = tuple(map(_flat, each))
    if not all(any(last_part(key) in (*ARMS, *SEEDS) for key in each) for each in records):
        return None
    return FoundRecords(f"a list of runs, '{name}'", records)


def is_series(name: str, words: Collection[str] = SERIES) -> bool:
    """Whether something is named as what is logged during a run."""
    return re.split(r"[^a-z0-9]+", name.casefold())[-1] in words or name.casefold() in words


def _lists_objects(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _flat(document: Mapping[str, Any]) -> Record:
    return dict(scalars(document))


def _seed(key: str) -> int:
    found = _SEED.fullmatch(key)
    return int(found[1]) if found else 0


def _is_numbers(value: Any) -> bool:
    return bool(value) and isinstance(value, list) and all(map(is_number, value))


def _one_run(path: Path, document: Any) -> Exception:
    """What is said of a file that is one run: which numbers it has, and where others lie."""
    known = known_form(json.dumps(document))
    rows = [numbers_in(_flat(document))] if isinstance(document, dict) else []
    if isinstance(document, dict) and isinstance(document.get("eval"), dict):
        return one_log(path)
    names = dict.fromkeys(name for row in known or rows for name in row)
    alone = next(iter(document.values()), None) if isinstance(document, dict) else document
    listed = _is_numbers(alone) or (document is alone and known is None and _lists_objects(alone))
    if not names and listed and (isinstance(document, list) or len(document) == 1):
        return refused(path, "its list may be of runs, or of steps of one", *SAY_SEEDS)
    what = f", with the numbers {named(names)}" if names else ", and no number is at its top"
    return one_run(path, f"one JSON file is one run{what}")


# two forms of JSON that hold no row of numbers: the metrics of sacred, and the stats of HELM


def known_form(text: str) -> list[Row] | None:
    """The rows in a text of one of these forms; None for any other.

    ValueError for stats of HELM of which two have one name.
    """
    if '"steps"' not in text and not text.lstrip().startswith("["):
        return None
    try:
        document = json_value(text)
    except ValueError:
        return None
    if isinstance(document, dict):
        points: Points = {}
        for name, series in document.items():
            steps, values = (_listed(series, key) for key in ("steps", "values"))
            if steps is None or values is None or len(steps) != len(values):
                return None
            if not all(type(step) is int for step in steps):
                return None
            points[name] = [
                (step, _number(value)) for step, value in zip(steps, values, strict=True)
            ]
        return rows_of(points) if points else None
    return _of_helm(document) if isinstance(document, list) else None


def _listed(series: Any, key: str) -> list[Any] | None:
    found = series.get(key) if isinstance(series, dict) else None
    return found if isinstance(found, list) else None


def _number(value: Any) -> float | None:
    """A number as sacred writes it, also as an object of numpy; None where it is not finite."""
    inside: Any = value.get("value") if isinstance(value, dict) else value
    if isinstance(inside, str):
        return number_in(inside)
    try:
        number = float(inside)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _of_helm(document: list[Any]) -> list[Row] | None:
    """`[{"name": {"name": "exact_match", "split": "test"}, "mean": 0.5}]` is `exact_match.test`."""
    row: Row = {}
    for each in document:
        if not isinstance(each, dict) or not isinstance(name := each.get("name"), dict):
            return None
        if isinstance(each.get("mean"), int | float):
            parts = [name.get(key) for key in ("name", "split", "sub_split")]
            changed = name.get("perturbation")
            if isinstance(changed, dict):
                parts += [changed.get("name"), changed.get("computed_on")]
            if (called := ".".join(str(part) for part in parts if part)) in row:
                raise ValueError(f"'{called[:80]}' stands there twice")
            row[called] = _number(each["mean"])
    return [row] if row else None


def instances_of_helm(text: str) -> Iterator[tuple[str, Row]]:
    """The numbers of each instance that is not perturbed; of one that was tried again, the means.

    Only the split `test` counts, where there is one. ValueError for what HELM does not write.
    """
    found: dict[str, list[Row]] = {}
    document = json_value(text)
    for each in document if isinstance(document, list) else ():
        stats = each.get("stats") if isinstance(each, dict) else None
        rows = _of_helm(stats) if isinstance(stats, list) else None
        if rows and not each.get("perturbation"):
            found.setdefault(str(each.get("instance_id")), []).extend(rows)
    if not found:
        raise ValueError("it has no instance with numbers")
    tested = [name for name, rows in found.items() if any(".test" in key for key in rows[0])]
    for name in tested or found:
        yield name, averaged(found[name])
