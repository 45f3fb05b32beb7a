"""What was measured, as tables: on the terminal, in Markdown, in the README."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the README: a kind (by one test, where it has several), and its power's plan."""

    kind: str
    label: str
    plan: str = ""
    test: str = ""


ROWS = (
    Row("difference", "`difference`", "welch, difference"),
    Row("equivalence", "`equivalence`", "equivalence"),
    Row("non_superiority", "`non_superiority`", "non_superiority"),
    Row("non_inferiority", "`non_inferiority`", "non_inferiority"),
    Row("ratio", "`ratio`", "ratio"),
    Row("separation", "`separation`", "separation"),
    Row("bound", "`bound` with a share", "share"),
    Row("association", "`association`", "association, positive"),
    Row("trend", "`trend`"),
    Row("ordering", "`ordering`"),
    Row("proportion", "`proportion`", "proportion"),
    Row("conjunction", "all of three"),
    Row("disjunction", "any of three, Holm"),
    Row("family", "family of four, Holm"),
    Row("sequential", "`eprocess_t`, every night", "sequential, every pair", "eprocess_t"),
    Row("sequential", "`group_obf`, four looks", "", "group_obf"),
)

HEAD = (
    "kind", "test", "n", "sd", "tails", "draws", "false CONFIRMED", "bound", "limit",
    "false CONTRADICTED", "coverage", "verdict",
)  # fmt: skip
POWER_HEAD = (
    "plan", "n", "sd", "true effect", "draws", "power promised", "power found",
    "coverage promised", "coverage found", "verdict",
)  # fmt: skip


def text(document: Record) -> str:
    """For the terminal: all rows, then the worst, then the sum of it."""
    parts = []
    if document["rates"]:
        parts.append(_aligned([HEAD, *map(_rate, document["rates"])]))
    if document["promises"]:
        parts.append(_aligned([POWER_HEAD, *map(_promise, document["promises"])]))
    return "\n\n".join([*parts, summary(document)])


def summary(document: Record) -> str:
    """How many gates hold, and which do not."""
    gated = [one for one in document["rates"] if one["gated"]]
    broken = [one for one in gated if one["verdict"] == "FAILS"]
    lost = [one for one in document["rates"] if one["verdict"] == "listed, loses its level"]
    unkept = [one for one in document["promises"] if not one["kept"]]
    lines = [f"{len(gated) - len(broken)} of {len(gated)} gated cells hold their level."]
    lines += [f"FAILS: {_place(one)}: {_percent(one['confirmed'])}" for one in broken]
    lines.append(f"{len(lost)} of {len(document['rates']) - len(gated)} listed cells lose theirs.")
    kept = len(document["promises"]) - len(unkept)
    lines.append(f"{kept} of {len(document['promises'])} promises of power and coverage are kept.")
    lines += [f"NOT KEPT: {one['plan']}, n = {one['n']}" for one in unkept]
    return "\n".join(lines)


def markdown(document: Record) -> str:
    """The whole document for reading."""
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    parts = [
        f"# Error rates, measured on {document['date']}",
        f"`{document['command']}`, seed {document['seed']}; {document['machine']}; {versions}.",
        summary(document).replace("\n", "  \n"),
        "## False CONFIRMED and CONTRADICTED at the boundary of the null",
        EXPLANATION,
        _piped([HEAD, *map(_rate, document["rates"])]),
        "## Sizes between, for what reports look up",
        _piped([HEAD, *map(_rate, document["between"])]),
        "## Power and coverage, promised and found",
        _piped([POWER_HEAD, *map(_promise, document["promises"])]),
    ]
    return "\n\n".join(parts) + "\n"


EXPLANATION = (
    "*bound* is the one-sided 95 % Clopper-Pearson bound of the rate of false CONFIRMED; *sd* is "
    "that of the first arm over the others'. The level is 5 %, two-sided for difference and "
    "association."
)


def readme(document: Record) -> str:
    """The two tables of the README."""
    head = ("expectation", "false CONFIRMED, at most", "power (design)", "coverage, at least",
            "measured again by")  # fmt: skip
    rows = [_kind(document, row) for row in ROWS]
    lost = ("test", "replicates: false CONFIRMED", "where")
    return "\n\n".join([_piped([head, *rows]), LOST, _piped([lost, *losses(document)])])


LOST = (
    "Tests that may be named in a claim, but lose their level somewhere; a report that uses one "
    "near such a place says so:"
)


def losses(document: Record) -> list[tuple[str, str, str]]:
    """Every ungated test that loses its level, with the worst rate at each size."""
    groups: dict[tuple[str, str, str], dict[int, float]] = {}
    for one in document["rates"]:
        if one["verdict"] == "listed, loses its level":
            where = f"sd {one['sd_ratio']:g}:1, {one['tails']}"
            if one["kind"].startswith("association"):
                where = one["tails"]
            sizes = groups.setdefault((one["test"], one["kind"], where), {})
            sizes[one["n"]] = one["confirmed"]
    return [
        (
            f"{test} ({kind})" if test != kind else test,
            "; ".join(f"{n}: {_percent(rate)}" for n, rate in sorted(sizes.items())),
            where,
        )
        for (test, kind, where), sizes in groups.items()
    ]


def _kind(document: Record, row: Row) -> tuple[str, ...]:
    own = [
        one
        for one in document["rates"]
        if _base(one["kind"]) == row.kind and one["gated"] and row.test in ("", one["test"])
    ]
    worst = max(own, key=lambda one: one["confirmed"])
    power = "none is promised"
    if row.plan:
        first = next(one for one in document["promises"] if one["plan"] == row.plan)
        power = f"{_percent(first['power'])} ({_design(first)})"
    return (
        row.label,
        f"{_percent(worst['confirmed'])} ({_cell(worst)})",
        power,
        _coverage(own),
        f"`./dev exec python -m benchmarks.levels --kind {row.kind}`",
    )


def _coverage(rates: Sequence[Record]) -> str:
    """The coverage that falls shortest of its level."""
    known = [(one["coverage"] - level(one), level(one)) for one in rates if one["coverage"]]
    if not known:
        return "no interval"
    short, nominal = min(known)
    return f"{_percent(nominal + short)} (of {nominal:.0%})".replace("%)", " %)")


TWO_SIDED = ("difference", "association", "sequential, difference", "sequential, directed")


def level(one: Record) -> float:
    """The level of the interval: one-sided questions leave alpha on either side."""
    kind = one["kind"]
    sided = kind.startswith(TWO_SIDED) and not kind.startswith("association, at ")
    return float(1 - (1 if sided else 2) * one["alpha"])


def _design(promise: Record) -> str:
    spread = f", sd {promise['sd'][0]:g}" if promise["sd"] else ""
    return f"n = {promise['n']}{spread}, truth {promise['effect']:g}"


def _rate(one: Record) -> tuple[str, ...]:
    coverage = "" if one["coverage"] is None else f"{one['coverage']:.4f}"
    return (
        one["kind"], one["test"], str(one["n"]), f"{one['sd_ratio']:g}", one["tails"],
        str(one["draws"]), f"{one['confirmed']:.4f}", f"{one['upper']:.4f}",
        f"{one['limit']:.3f}", f"{one['contradicted']:.4f}", coverage, one["verdict"],
    )  # fmt: skip


def _promise(one: Record) -> tuple[str, ...]:
    promised = one["promised_coverage"]
    least = ">= " if one["coverage_at_least"] else ""
    return (
        one["plan"], str(one["n"]), " ".join(f"{sd:g}" for sd in one["sd"]),
        f"{one['effect']:g}", str(one["draws"]), f"{one['promised']:.4f}", f"{one['power']:.4f}",
        "" if promised is None else f"{least}{promised:.4f}",
        "" if one["coverage"] is None else f"{one['coverage']:.4f}",
        "kept" if one["kept"] else "NOT KEPT",
    )  # fmt: skip


def _cell(one: Record) -> str:
    return f"n = {one['n']}, sd {one['sd_ratio']:g}:1, {one['tails']}"


def _place(one: Record) -> str:
    return f"{one['kind']}, {one['test']}, {_cell(one)}"


def _base(kind: str) -> str:
    return kind.split(",", maxsplit=1)[0]


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _piped(rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    return "\n".join([line(rows[0]), "|" + "---|" * len(rows[0]), *map(line, rows[1:])])
