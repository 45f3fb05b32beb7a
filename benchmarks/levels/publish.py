"""Puts a run where readers and reports find it: results, the package's data, the docs."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.levels import table
from benchmarks.levels.cells import NAMED, Cell, Experiment
from benchmarks.levels.experiments import EXPERIMENTS, NEAR_ONE, near_one
from repro.stats.reference_runs import NIGHTS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PACKAGE = ROOT / "repro" / "stats" / "levels.json"
PAGE = ROOT / "docs" / "reference" / "error-rates.md"
START, END = "<!-- levels: start -->", "<!-- levels: end -->"


Place = tuple[Any, ...]
Known = dict[Place, dict[str, Any]]
"""What was measured before, by its place."""

PLACE = (
    "kind", "test", "n", "others", "sd_ratio", "distribution", "alpha", "draws", "seed",
)  # fmt: skip


def place(experiment: Experiment, cell: Cell, draws: int, seed: int) -> Place:
    """What decides the rate of a cell, as long as the rule is the same."""
    design = (cell.n, cell.others, cell.sd_ratio, cell.distribution, cell.alpha)
    return (experiment.kind, experiment.test, *design, draws, seed)


def known(rows: Sequence[Path], *, committed: bool, except_kinds: Sequence[str] = ()) -> Known:
    """The rows of these files (JSON lines), and of the committed results but for some kinds."""
    found: Known = {}
    if committed:
        results = latest()
        for row in (*results["rates"], *results["off_grid"]):
            if row["kind"].split(",")[0] not in except_kinds:
                found[tuple(row[name] for name in PLACE)] = row
    for path in rows:
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            row = json.loads(line)
            found[tuple(row[name] for name in PLACE)] = row
    return found


def may_be_chance(row: Mapping[str, Any]) -> bool:
    """Whether a listed rate above its limit is within four standard errors of what is allowed.

    Among some thousand cells a few are, by chance; all draws decide.
    """
    allowed = level(row)
    error = math.sqrt(allowed * (1 - allowed) / row["draws"])
    return bool(row["limit"] < row["error"] < allowed + 4 * error)


def known_promises() -> dict[Place, dict[str, Any]]:
    """The committed promises of power, by plan, replicates and planned truth."""
    return {(row["plan"], row["n"], row["effect"]): row for row in latest()["promises"]}


def append(path: Path, row: Mapping[str, Any]) -> None:
    """One more row, on disk at once: a long run can be stopped and goes on where it was."""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(row)}\n")


def today() -> str:
    """The date of a measurement."""
    return datetime.now(UTC).date().isoformat()


def surroundings() -> dict[str, Any]:
    """When and where: date, machine, versions."""
    versions = {name: version(name) for name in ("numpy", "scipy", "statsmodels")}
    return {
        "date": today(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version(), **versions},
    }


def publish(document: Mapping[str, Any]) -> None:
    """Writes ``levels-DATE.{json,md}``, the package's data, and the tables of the docs."""
    RESULTS.mkdir(exist_ok=True)
    stem = RESULTS / f"levels-{document['date']}"
    tables = {name: as_table(document[name]) for name in TABLES}
    stem.with_suffix(".json").write_text(compact({**document, **tables}), encoding="utf-8")
    stem.with_suffix(".md").write_text(table.markdown(document), encoding="utf-8")
    PACKAGE.write_text(compact(package_data(document)), encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), document), encoding="utf-8")


def latest() -> dict[str, Any]:
    """The committed results, the newest of them."""
    found: dict[str, Any] = json.loads(
        max(RESULTS.glob("levels-*.json")).read_text(encoding="utf-8")
    )
    return {**found, **{name: as_records(found[name]) for name in TABLES}}


TABLES = ("rates", "off_grid", "promises")
"""What the file of the results holds as tables, with the names of the columns first."""


def as_table(records: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """Records that share their names, without naming them in each."""
    names = list(records[0])
    return [names, *([record[name] for name in names] for record in records)]


def as_records(rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """What ``as_table`` was made of."""
    names, *values = rows
    return [dict(zip(names, row, strict=True)) for row in values]


def with_tables(text: str, document: Mapping[str, Any]) -> str:
    """The page with these tables between its two marks."""
    before, rest = text.split(START)
    return f"{before}{START}\n\n{table.readme(document)}\n\n{END}{rest.split(END)[1]}"


COLUMNS = ("test", "n", "others", "sd_ratio", "distribution", "rate", "level", "loses")
"""What reports look up of a cell, see ``repro.stats.error_rates.MeasuredRate``."""


def package_data(document: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of every test that a report can look up; of several nulls the worst."""
    cells: dict[Place, tuple[Any, ...]] = {}
    for row in (*document["rates"], *document["off_grid"]):
        name = key(row)
        if name is None or (" folds of " in f" {row['kind']}" and row["distribution"] in NAMED[1:]):
            continue  # differences of folds do not show the shape of the rows of a data set
        place = (name, row["n"], row["others"], row["sd_ratio"], row["distribution"])
        rate, loses = round(row["error"], 4), row["error"] > row["limit"]
        if place not in cells or rate > cells[place][5]:
            cells[place] = (*place, rate, level(row), loses)
    rows = [list(cell) for cell in cells.values()]
    return {"alpha": 0.05, "date": document["date"], "columns": list(COLUMNS), "rates": rows}


def level(row: Mapping[str, Any]) -> float:
    """What the rate of a cell should be at most."""
    one = next(one for one in EXPERIMENTS if (one.kind, one.test) == (row["kind"], row["test"]))
    return float(one.share * row["alpha"])


KEYS = {
    ("difference, directed", "welch"): None,
    ("difference, folds", "corrected"): None,
    ("difference, folds that correlate by 0.2", "corrected"): "folds correlated",
    **{
        (f"difference, {name} of {rows} rows", test): key
        for name, rows, test, key in (
            *(("folds", rows, "corrected", "folds paired") for rows in (40, 200)),
            *(("5 x 2 folds", rows, "corrected halves", "halves paired") for rows in (40, 200)),
            ("10 x 10 folds", 200, "corrected", "folds paired"),
        )
    },
    ("difference, smallest effect", "welch"): None,
    ("difference, one-sided", "welch"): "welch one-sided",
    ("equivalence", "welch"): "tost",
    ("equivalence, paired", "paired"): "tost paired",
    ("non_superiority, paired", "paired"): "non_superiority paired",
    ("non_inferiority, paired", "paired"): "non_inferiority paired",
    ("ratio, paired", "paired"): "ratio paired",
    ("equivalence, relative", "contrast"): "tost_relative",
    ("non_superiority", "welch"): "non_superiority",
    ("non_superiority, relative", "contrast"): "non_superiority_relative",
    ("non_inferiority", "welch"): "non_inferiority",
    ("non_inferiority, relative", "contrast"): "non_inferiority_relative",
    ("ratio", "welch of logarithms"): "ratio",
    ("bound, share", "binomial"): "share",
    ("level", "student"): "level",
    ("level, median", "sign"): "level_median",
    ("level, known sd", "z"): "level_known_sd",
    **{(near_one(*each), "items"): "level_items" for each in NEAR_ONE},
    **{(near_one(*each), "student"): "level near an end" for each in NEAR_ONE},
    (f"{near_one(100, 0.95)} that depend by seed", "items"): None,
    ("within", "one run"): "within",
    ("within, one side", "one run"): "within one-sided",
    ("within, mean of three", "mean"): "within mean",
    ("within, mean of three, one side", "mean"): "within mean one-sided",
    **{
        (f"within, {nights} nights{side}", "one run"): f"within {nights} nights{sides}"
        for nights in NIGHTS
        for side, sides in (("", ""), (", one side", " one-sided"))
    },
    ("within, tolerance", "tolerance"): "within tolerance",
    ("within, margin", "one run"): None,
    ("within, 50 items at 0.98", "one run"): None,
    ("within, 100 items at 0.95", "one run"): None,
    ("within, reference of one batch", "one run"): None,
    ("proportion, clusters", "cluster_sign"): "cluster_sign",
    ("ordering", "welch, holm"): "ordering",
    ("ordering, all alike", "welch, holm"): "ordering",
    ("conjunction, one false leaf", "welch"): "all",
    ("conjunction, all at the margin", "welch"): "all",
    ("disjunction", "holm"): "any",
    ("family, four claims", "holm"): "family",
    ("family, four claims", "bh"): None,
}
BY_SEED = "welch by seed"
"""Welch's test once more, of the numbers of the seeds: its cells are those of Welch's."""

"""Names that do not follow from the kind and its test; None: the cells of another null do."""


def key(one: Mapping[str, Any]) -> str | None:
    """The name by which ``repro.stats.error_rates`` knows a test; None: not looked up."""
    place = (one["kind"], one["test"])
    if place in KEYS or one["test"] == BY_SEED:
        return KEYS.get(place)
    kind, _, part = one["kind"].partition(", ")
    if part == "clustered":
        return f"{kind} {part}"
    if kind == "sequential" and part.endswith("paired"):
        return f"{one['test']} paired"
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
