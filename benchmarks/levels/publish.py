"""Puts a run where readers and reports find it: results, the package's data, the README."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.levels import table

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PACKAGE = ROOT / "repro" / "stats" / "levels.json"
README = ROOT / "README.md"
START, END = "<!-- levels: start -->", "<!-- levels: end -->"


def surroundings() -> dict[str, Any]:
    """When and where: date, machine, versions."""
    versions = {name: version(name) for name in ("numpy", "scipy", "statsmodels")}
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version(), **versions},
    }


def publish(document: Mapping[str, Any]) -> None:
    """Writes ``levels-DATE.{json,md}``, the package's data, and the tables of the README."""
    RESULTS.mkdir(exist_ok=True)
    stem = RESULTS / f"levels-{document['date']}"
    stem.with_suffix(".json").write_text(compact(document), encoding="utf-8")
    stem.with_suffix(".md").write_text(table.markdown(document), encoding="utf-8")
    PACKAGE.write_text(compact(package_data(document)), encoding="utf-8")
    README.write_text(with_tables(README.read_text(encoding="utf-8"), document), encoding="utf-8")


def latest() -> dict[str, Any]:
    """The committed results, the newest of them."""
    found: dict[str, Any] = json.loads(
        max(RESULTS.glob("levels-*.json")).read_text(encoding="utf-8")
    )
    return found


def with_tables(text: str, document: Mapping[str, Any]) -> str:
    """The README with these tables between its two marks."""
    before, rest = text.split(START)
    return f"{before}{START}\n\n{table.readme(document)}\n\n{END}{rest.split(END)[1]}"


def package_data(document: Mapping[str, Any]) -> dict[str, Any]:
    """Of each test that loses its level somewhere, all cells: what reports look up."""
    every = [*document["rates"], *document["between"]]
    listed = [one for one in every if not one["gated"]]
    unsafe = {key(one) for one in listed if one["verdict"] == "listed, loses its level"}
    cells = [
        {
            "test": key(one),
            "n": one["n"],
            "sd_ratio": one["sd_ratio"],
            "tails": one["tails"],
            "rate": round(one["confirmed"], 4),
            "loses": one["verdict"] in ("listed, loses its level", "FAILS"),
        }
        for one in every
        if key(one) in unsafe
    ]
    return {"alpha": 0.05, "date": document["date"], "rates": cells}


def key(one: Mapping[str, Any]) -> str:
    """The name by which ``repro.stats.levels`` knows a test."""
    kind, _, part = one["kind"].partition(", ")
    if part == "clustered":
        return f"{kind} {part}"
    if part.endswith("every pair"):
        return f"{one['test']} every pair"
    if kind == "association":
        return f"{part} {one['test']}" if part.startswith("at ") else f"association {one['test']}"
    return f"trend {one['test']}" if kind == "trend" else str(one["test"])


def compact(document: Mapping[str, Any]) -> str:
    """JSON with one line a record."""
    lines = []
    for name, value in document.items():
        if isinstance(value, list):
            rows = ",\n".join(f"  {json.dumps(row)}" for row in value)
            lines.append(f' "{name}": [\n{rows}\n ]')
        else:
            lines.append(f' "{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"
