"""Honest tables of many kinds, drawn at random: nothing is wrong with any of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Columns = dict[str, dict[str, dict[int, float]]]
"""arm -> measurement -> seed -> value."""

SHAPES = ("normal", "uniform", "t4", "lognormal", "collapsed")
DIGITS = ("full", "float32", "rounded", "coarse", "fraction", "percent", "constant")
SEEDS = ("3", "4 to 5", "6 to 9", "10 to 30", "unequal")
RANGES: Mapping[str, tuple[int, int]] = {
    "3": (3, 3), "4 to 5": (4, 5), "6 to 9": (6, 9), "10 to 30": (10, 30), "unequal": (3, 30)
}  # fmt: skip
SD_RATIO = 4.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of honest table: the shape of its values, how they are printed, how many seeds."""

    shape: str
    digits: str
    seeds: str
    design: str = "independent"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table, and what a reader is told of it: ``columns`` and its design."""

    columns: Columns
    design: str


def kinds() -> list[Kind]:
    """Every kind: shares k of N have the shape of their counts, and pairs are normal."""
    every = [
        Kind(shape, digits, seeds)
        for shape in SHAPES
        for digits in DIGITS
        for seeds in SEEDS
        if shape == "normal" or digits not in ("fraction", "percent")
    ]
    paired = [
        Kind("normal", digits, seeds, "paired")
        for digits in ("full", "rounded", "percent")
        for seeds in SEEDS[:-1]
    ]
    return every + paired


def draw(kind: Kind, rng: np.random.Generator) -> Drawn:
    """An honest table: 2 to 6 arms, 1 to 3 measurements, means equal or apart."""
    low, high = RANGES[kind.seeds]
    n = int(rng.integers(low, high + 1))
    arms = int(rng.choice([2, 2, 2, 3, 4, 6]))
    sizes = [
        int(rng.integers(low, high + 1)) if kind.seeds == "unequal" else n for _ in range(arms)
    ]
    names = [f"arm_{place}" for place in range(arms)]
    columns: Columns = {name: {} for name in names}
    for measurement in range(int(rng.choice([1, 1, 2, 3]))):
        values = _measurement(kind, sizes, rng)
        for name, column in zip(names, values, strict=True):
            columns[name][f"m{measurement}"] = dict(enumerate(map(float, column)))
    return Drawn(columns, kind.design)


def _measurement(kind: Kind, sizes: list[int], rng: np.random.Generator) -> list[np.ndarray]:
    """The values of every arm on one measurement."""
    if kind.digits in ("fraction", "percent"):
        return _shares(kind, sizes, rng)
    scale = 10.0 ** rng.integers(-3, 7)
    sd = scale * 10.0 ** rng.uniform(-3, -1)
    common = rng.standard_normal(max(sizes)) if kind.design == "paired" else None
    correlation = rng.uniform(0, 0.95)
    apart = rng.choice(["equal", "near", "far"])
    found = []
    for place, n in enumerate(sizes):
        own = _shape(kind.shape, n, rng)
        if common is not None:
            own = correlation**0.5 * common[:n] + (1 - correlation) ** 0.5 * own
        ratio = 1.0 if place == 0 else rng.uniform(1, SD_RATIO)
        mean = scale
        if place and apart == "near":
            mean += rng.normal() * 10 * sd
        if place and apart == "far":
            mean = scale * 10.0 ** rng.uniform(-1, 2)
        found.append(mean + sd * ratio * own)
    return [_printed(kind.digits, one, sd, place, rng) for place, one in enumerate(found)]


def _shape(shape: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Values of standard deviation 1; where seeds collapse, one in five does."""
    if shape == "uniform":
        return rng.uniform(-(3**0.5), 3**0.5, n)
    if shape == "t4":
        return rng.standard_t(4, n) / 2**0.5
    if shape == "lognormal":
        return (np.exp(0.5 * rng.standard_normal(n)) - 1.133) / 0.604
    values = rng.standard_normal(n)
    if shape == "collapsed":
        lost = rng.random(n) < 0.2
        values[lost] -= 30 + 3 * rng.standard_normal(int(lost.sum()))
    return values


def _printed(
    digits: str, values: np.ndarray, sd: float, place: int, rng: np.random.Generator
) -> np.ndarray:
    """The values as they are written down."""
    if digits == "float32":
        return values.astype(np.float32).astype(float)
    if digits == "constant" and place == 0:
        return np.full(len(values), float(rng.integers(2, 500)))
    if digits in ("rounded", "coarse"):
        steps = 0.3 if digits == "coarse" else 10.0 ** rng.uniform(0.3, 3)
        decimals = -int(np.floor(np.log10(sd / steps)))
        return np.round(values, decimals)
    return values


def _shares(kind: Kind, sizes: list[int], rng: np.random.Generator) -> list[np.ndarray]:
    """Accuracies k of N, in fractions or in percent with one or two decimals."""
    total = int(rng.choice([100, 200, 300, 500, 1000, 1319, 2500, 5000, 10_000]))
    decimals = int(rng.integers(1, 3))
    base = rng.uniform(0.3, 0.97)
    common = rng.standard_normal(max(sizes)) if kind.design == "paired" else np.zeros(max(sizes))
    wide = rng.uniform(0.5, 2) * (base * (1 - base) / total) ** 0.5
    found = []
    for n in sizes:
        own = base + rng.choice([0, -0.05]) + wide * (rng.standard_normal(n) + common[:n])
        counts = np.clip(np.round(total * own), 0, total)
        fraction = counts / total
        found.append(np.round(100 * fraction, decimals) if kind.digits == "percent" else fraction)
    return found


def as_rows(columns: Columns) -> list[tuple[str, int, str, float]]:
    """The rows of a tidy table."""
    return [
        (arm, seed, name, value)
        for arm, measured in columns.items()
        for name, values in measured.items()
        for seed, value in values.items()
    ]


def claim_document(drawn: Drawn, **more: Any) -> dict[str, Any]:
    """A claim file about such a table: the first two arms differ on the first measurement."""
    arms = list(drawn.columns)
    paired = drawn.design == "paired"
    names = list(next(iter(drawn.columns.values())))
    n = min(len(drawn.columns[arm][name]) for arm in arms for name in names)
    return {
        "schema": 1,
        "id": "quality",
        "title": "A claim about a table that was drawn at random",
        "source": {
            "paper": "example2026",
            "citation": "Example (2026), made for a benchmark",
            "locator": "Table 1",
            "quote": "a sentence that claims it",
        },
        "arms": {arm: {"label": arm.replace("_", " "), "table": "table.csv"} for arm in arms},
        "design": drawn.design,
        "seeds": {"min": min(n, 3), "plan": n},
        "measurements": {
            name: {"kind": "reported", "label": f"score {name}", "better": "higher", **more}
            for name in names
        },
        "expectations": [
            {
                "id": "differs",
                "kind": "difference",
                "measurement": names[0],
                "of": arms[:2],
                "direction": "different",
                **({"test": "paired"} if paired else {}),
            }
        ],
        "scales": {"paper": {"notice": "A table that was drawn at random for a benchmark."}},
    }
