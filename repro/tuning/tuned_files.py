"""What a search found -> a table of all settings, and a configuration file with the best."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from repro.errors import OutputError
from repro.schema.numbers import number_of
from repro.specs.configuration import Configuration, Tuning, dotted, overlap
from repro.tuning.search import TrialOutcome, Tuned, ranked


def rows(tuned: Tuned) -> list[dict[str, str]]:
    """Every setting, the best first, with the values of all paths that any stage tries."""
    outcomes = tuned.outcomes
    return [
        {
            "rank": str(rank),
            "stage": one.trial.stage,
            **{path: _shown(value) for path, value in _values(tuned, one).items()},
            "valid_loss": f"{one.mean:.5f}" if one.losses else "",
            "sd": "" if one.sd is None else f"{one.sd:.5f}",
            "seeds": str(len(one.losses)),
            "diverged": str(one.diverged),
            "setting": one.trial.digest[:12],
        }
        for rank, one in enumerate(ranked(outcomes), start=1)
    ]


def write_tuned(tuned: Tuned, folder: Path) -> list[Path]:
    """Write `<search>.yaml`, the chosen configuration, and `<search>.csv`, all settings.

    A file that is there with the same text is left as it is; OutputError where it has another.
    """
    table = io.StringIO()
    found = rows(tuned)
    writer = csv.DictWriter(table, list(found[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    chosen = "".join(f"{line}\n" for line in _lines(document(tuned)))
    name = tuned.search.spec.search
    files = {folder / f"{name}.yaml": chosen, folder / f"{name}.csv": table.getvalue()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        missing = [path for path, text in files.items() if not _is_there(path, text)]
        for path in missing:
            with path.open("x", encoding="utf-8") as stream:
                stream.write(files[path])
    except OSError as error:
        raise OutputError(error.filename or folder, error) from None
    return list(files)


def document(tuned: Tuned) -> dict[str, Any]:
    """The chosen configuration as it is written: how it was found, and why each value.

    A base that was chosen on the test split makes what is built on it so chosen too.
    """
    search, best = tuned.search, tuned.best
    spec, base, chosen = search.spec, search.base, best.trial.configuration
    settings, values = len(tuned.outcomes), _values(tuned, best)
    how = f"the best of {number_of(settings, 'setting')} by validation loss"
    reason = f"chosen by the search '{spec.search}': {how}, {number_of(spec.seeds, 'seed')} each"
    fixed = f"changed in the base of the search '{spec.search}'"
    assumed = dict.fromkeys(_there(chosen, search.overridden), fixed) | {
        path: why
        for path, why in chosen.assumed.items()
        if not any(overlap(path, tried) for tried in values)
    }
    before = ""
    if base.tuning is not None:
        count, split = f"{base.tuning.settings:,}", base.tuning.selected_on
        before = f"; its base was chosen among {count} before, on {split}"
    tuning = Tuning(
        settings=settings + (0 if base.tuning is None else base.tuning.settings),
        selected_on="valid" if base.tuning is None else base.tuning.selected_on,
        source=f"search '{spec.search}', root {spec.root}: {spec.source}"[: 600 - len(before)]
        + before,
    )
    update = {
        "title": f"{base.title}, tuned by {spec.search}",
        "assumed": assumed | dict.fromkeys(_there(chosen, values), reason),
        "tuning": tuning,
    }
    written = chosen.model_copy(update=update).model_dump(mode="json", by_alias=True)
    return (
        type(chosen)
        .model_validate_json(json.dumps(written))
        .model_dump(mode="json", by_alias=True, exclude_none=True)
    )


def _there(chosen: Configuration, paths: Iterable[str]) -> Iterator[str]:
    """Each path, or its beginning that leads to a value; not one that leads to none, as a title."""
    values = set(dotted(chosen.training().model_dump(mode="json")))
    for path in paths:
        steps = path.split(".")
        beginnings = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
        yield from islice((one for one in beginnings if one in values), 1)


def _values(tuned: Tuned, outcome: TrialOutcome) -> dict[str, Any]:
    """The values that a setting has at all paths that any stage tries; None where it has none."""
    paths = dict.fromkeys(p for stage in tuned.search.spec.stages for p in stage.grid or {})
    training = outcome.trial.configuration.training().model_dump(mode="json", exclude_none=True)
    found = {}
    for path in paths:
        value: Any = training
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        found[path] = value
    return found


def _shown(value: Any) -> str:
    return "" if value is None else json.dumps(value)


def _lines(data: dict[str, Any], indent: str = "") -> Iterator[str]:
    """A mapping in YAML: blocks of `key: value`, each value as in JSON, which is YAML too."""
    for key, value in data.items():
        if isinstance(value, dict) and value:
            yield f"{indent}{key}:"
            yield from _lines(value, f"{indent}  ")
        else:
            yield f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}"


def _is_there(path: Path, text: str) -> bool:
    """Whether a file has this text already; FileExistsError if it has another."""
    if not path.exists():
        return False
    if path.read_bytes() != text.encode():
        raise FileExistsError(17, "there is another one, which is never overwritten", str(path))
    return True
