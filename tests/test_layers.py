"""What is listed by hand of the output layers is all of them."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOUNDATIONS = {"__init__", "layer", "pointwise"}


def test_the_contract_names_every_output_layer():
    """import-linter keeps each module of an output layer from importing another."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {one["id"]: one for one in settings["tool"]["importlinter"]["contracts"]}
    modules = {
        path.stem for path in (ROOT / "repro/trainers/language_model/output").glob("*.py")
    } - FOUNDATIONS
    named = contracts["output-layers"]["modules"]
    assert sorted(named) == sorted(
        f"repro.trainers.language_model.output.{module}" for module in modules
    )
