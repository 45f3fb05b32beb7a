"""The key of a run is its name in every store in the world."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from repro.trainers.run import RunSpec

GOLDEN: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("golden_keys.json").read_text(encoding="utf-8")
)
CHOICES: dict[str, tuple[Any, ...]] = {
    "streams": ("independent", "paired"),
    "decay": ("constant", "linear"),
    "precision": ("float32", "float64"),
    "name": ("ptb", "wt2"),
    "only": ("temperature", "gradient_noise", "jitter", None),
    "decoder": ("free", None),
    "rate": ("late", None),
    "last_rate": ("drawn", None),
    "products": ("bf16", "tf32", None),
    "last": ("unused", None),
    "initial_bias": ("unigram", None),
}
# Fixed by the kind of the part that they name, which has other fields, or by the only version.
FIXED = {"kind", "generator"}


def read(document: dict[str, Any]) -> RunSpec:
    return RunSpec.model_validate_json(json.dumps(document))


def leaves(document: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(document, dict):
        for name, value in document.items():
            yield from leaves(value, (*path, name))
    else:
        yield path, document


def others(name: str, value: Any) -> Iterator[Any]:
    """Values that are near, so that one of them is valid."""
    if name in CHOICES:
        yield from (choice for choice in CHOICES[name] if choice != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield value * 0.5 + 0.0005
    elif isinstance(value, str):
        yield ("0" if value[0] != "0" else "1") + value[1:]


def changed(document: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    head, *rest = path
    inner = changed(document[head], tuple(rest), value) if rest else value
    return {**document, head: inner}


def backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: backwards(value[name]) for name in reversed(value)}
    return value


@pytest.mark.parametrize("number", range(len(GOLDEN)))
def test_golden_key(number: int) -> None:
    """These runs keep their keys; if this fails, every store in the world is orphaned."""
    assert read(GOLDEN[number]["run"]).key == GOLDEN[number]["key"]


@pytest.mark.parametrize("number", range(len(GOLDEN)))
def test_key_does_not_depend_on_order(number: int) -> None:
    """The order in which fields are written changes nothing."""
    assert read(backwards(GOLDEN[number]["run"])).key == GOLDEN[number]["key"]


@pytest.mark.parametrize("number", range(len(GOLDEN)))
def test_key_does_not_depend_on_defaults_being_written_out(number: int) -> None:
    """A default that is left out and one that is written out are the same run."""
    run = read(GOLDEN[number]["run"])
    training: Any = run.training
    short = run.model_dump(mode="json", exclude_defaults=True)
    for part, kind in (("output", training.model.output.kind), ("", "")):
        if part:
            short["training"]["model"].setdefault(part, {})["kind"] = kind
    short["training"]["corpus"]["kind"] = training.corpus.kind
    if "averaging" in short["training"]["recipe"]:
        short["training"]["recipe"]["averaging"]["kind"] = training.recipe.averaging.kind
    assert read(short).key == run.key


@pytest.mark.parametrize("number", range(len(GOLDEN)))
def test_key_changes_with_every_field(number: int) -> None:
    """Each field, changed alone, gives another key."""
    document = read(GOLDEN[number]["run"]).model_dump(mode="json", exclude_none=True)
    seen = {GOLDEN[number]["key"]}
    for path, value in leaves(document):
        if path[-1] in FIXED:
            continue
        keys = set()
        for other in others(path[-1], value):
            try:
                keys.add(read(changed(document, path, other)).key)
            except ValidationError:
                continue
        tied = path[-1] in {"embedding_size", "context_size"}
        needed = path[-1] == "frozen" and "only" in document["training"]["model"]["output"]
        needed |= path[-1] == "precision" and "products" in document["training"]["recipe"]
        assert keys or tied or needed, f"no valid change of {'.'.join(path)} was found"
        assert not keys & seen, f"{'.'.join(path)} is not in the key"
        seen |= keys


def test_key_changes_with_the_kind_of_output_layer() -> None:
    """Two output layers with equal fields are two runs."""
    moc = next(g["run"] for g in GOLDEN if g["run"]["training"]["model"]["output"]["kind"] == "moc")
    mos = changed(moc, ("training", "model", "output", "kind"), "mos")
    assert read(moc).key != read(mos).key
