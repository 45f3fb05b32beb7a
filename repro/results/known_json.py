"""Two forms of JSON that hold no row of numbers: the metrics of sacred, and the stats of HELM."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from repro.results.importer import Points, rows_of
from repro.results.readings import number_in
from repro.results.series import Row


def known_form(text: str) -> list[Row] | None:
    """The rows in a text of one of these forms; None for any other.

    ValueError for stats of HELM of which two have one name.
    """
    if '"steps"' not in text and not text.lstrip().startswith("["):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(document, dict):
        return _of_sacred(document)
    return _of_helm(document) if isinstance(document, list) else None


def _of_sacred(document: Mapping[str, Any]) -> list[Row] | None:
    """`{"loss": {"steps": [0, 1], "values": [3.1, 2.9], "timestamps": [...]}}`."""
    points: Points = {}
    for name, series in document.items():
        steps, values = (_listed(series, key) for key in ("steps", "values"))
        if steps is None or values is None or len(steps) != len(values):
            return None
        if not all(type(step) is int for step in steps):
            return None
        points[name] = [(step, _number(value)) for step, value in zip(steps, values, strict=True)]
    return rows_of(points) if points else None


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
            if (called := _name(name)) in row:
                raise ValueError(f"'{called[:80]}' stands there twice")
            row[called] = _number(each["mean"])
    return [row] if row else None


def _name(name: Mapping[str, Any]) -> str:
    parts = [name.get(key) for key in ("name", "split", "sub_split")]
    changed = name.get("perturbation")
    if isinstance(changed, dict):
        parts += [changed.get("name"), changed.get("computed_on")]
    return ".".join(str(part) for part in parts if part)
