"""Searches small enough to be run in a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from repro.tuning.search_file import Search, load_search
from tests.trainers import small

BASE: dict[str, Any] = {
    "schema": 1,
    "title": "A small Softmax",
    "source": "a test; no paper has it",
    "assumed": {"recipe.clip": "nobody says it", "recipe.learning_rate": "nobody says it"},
}
STAGES: list[dict[str, Any]] = [
    {
        "id": "one",
        "design": "one_at_a_time",
        "grid": {"recipe.learning_rate": [2, 5, 20], "recipe.dropout.output": [0.0, 0.2]},
        "keep": 2,
    },
    {"id": "two", "design": "cross"},
]


def written(folder: Path, **changes: Any) -> Path:
    """A search file, and beside it the configuration `tiny/base`; None takes a key away."""
    training = small.run().training.model_dump(mode="json", exclude_none=True)
    configuration = folder / "configurations" / "tiny" / "base.yaml"
    configuration.parent.mkdir(parents=True, exist_ok=True)
    configuration.write_text(json.dumps({**BASE, **training}, indent=1), encoding="utf-8")
    values: dict[str, Any] = {
        "schema": 1,
        "search": "tiny",
        "title": "Rate and dropout of a small Softmax",
        "source": "a test; no paper has it",
        "base": {"configuration": "tiny/base", "override": {"recipe": {"epochs": 2}}},
        "seeds": 2,
        "root": 7,
        "selected_on": "valid",
        "budget": {"settings": 8},
        "stages": STAGES,
        **changes,
    }
    path = folder / "search.yaml"
    text = json.dumps({k: v for k, v in values.items() if v is not None}, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


def search(folder: Path, **changes: Any) -> Search:
    return load_search(written(folder, **changes))


def cross(**grid: Any) -> list[dict[str, Any]]:
    """One stage of all combinations; `__` in a name stands for the dots of a path."""
    named = {path.replace("__", "."): values for path, values in grid.items()}
    return [{"id": "only", "design": "cross", "grid": named}]
