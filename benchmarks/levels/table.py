"""What was measured, as tables: on the terminal, in Markdown, in the docs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the page: a kind (by one test, where it has several), and its power's plan.

    ``null`` is the one whose cells off the grid are shown, with its test; none are without it.
    ``interval`` is what is said of one that has no coverage of its own.
    """

    kind: str
    label: str
    plan: str = ""
    test: str = ""
    null: tuple[str, str] | None = None
    interval: str = ""


ROWS = (
    Row("difference", "`difference`", "welch, difference", "welch", null=("difference", "welch")),
    Row(
        "difference",
        "`difference` of pairs",
        "paired, difference",
        "paired",
        null=("difference, paired", "paired"),
    ),
    Row("difference", "`difference` with `folds`, n folds", "folds", "corrected"),
    Row("equivalence", "`equivalence`", "equivalence", null=("equivalence", "welch")),
    Row(
        "non_superiority", "`non_superiority`", "non_superiority", null=("non_superiority", "welch")
    ),
    Row(
        "non_inferiority", "`non_inferiority`", "non_inferiority", null=("non_inferiority", "welch")
    ),
    Row("ratio", "`ratio`", "ratio", null=("ratio", "welch of logarithms")),
    Row("separation", "`separation`", "separation", null=("separation", "separation")),
    Row("bound", "`bound` with a share", "share"),
    Row("level", "`level`", "level", "student", null=("level", "student")),
    Row(
        "level",
        "`level` with a known `sd`",
        "level, known sd",
        "z",
        null=("level, known sd", "z"),
    ),
    Row("level", "`level` of shares near 1, with `items`", "level, items", "items"),
    Row("level", "`level` of a median", "level, median", "sign", null=("level, median", "sign")),
    Row("within", "`within`", "within, margin", "one run", null=("within", "one run")),
    Row(
        "within",
        "`within`, a mean of three",
        "within, margin of a mean",
        "mean",
        null=("within, mean of three", "mean"),
    ),
    Row(
        "within",
        "`within` with `tolerance`: references for which it fails",
        "within, beyond tolerance",
        "tolerance",
        interval="a limit, and not an interval",
    ),
    Row("items", "`items`, n items", "items", "items_t"),
    Row(
        "items",
        "`items`, n clusters of one size",
        "items, clusters",
        "items_t equal clusters",
        null=("items, clusters of one size", "items_t equal clusters"),
    ),
    Row(
        "items crossed with seeds",
        "`items` by `crossed`, n runs of each arm on 30 items",
        "",
        "items_crossed",
        null=("items crossed with seeds, mostly of seeds", "items_crossed"),
    ),
    Row(
        "items",
        "`items` by `mcnemar`",
        "items, mcnemar",
        "mcnemar",
        interval="leaves 0 out where p does",
    ),
    Row("spread", "`spread`", "levene, spread", "levene", null=("spread", "levene")),
    Row("survivals", "`survivals`", "log-rank", "log_rank"),
    Row("survivals", "`survivals` of pairs", "log-rank of pairs", "log_rank paired"),
    Row("association", "`association`", "association, positive"),
    Row("trend", "`trend`", null=("trend", "welch")),
    Row("ordering", "`ordering`", null=("ordering", "welch, holm")),
    Row("proportion", "`proportion`", "proportion"),
    Row(
        "over_tasks",
        "`over_tasks`, five tasks",
        "iqm over tasks",
        null=("over_tasks, mean", "over_tasks mean"),
    ),
    Row(
        "over_tasks_crossed",
        "`over_tasks`, one run on all tasks",
        "improvement by seed",
        null=("over_tasks_crossed, mean", "welch by seed"),
    ),
    Row(
        "meta_analysis_crossed",
        "`meta_analysis`, one run on all tasks",
        null=("meta_analysis_crossed", "meta_analysis by seed"),
    ),
    Row(
        "meta_analysis",
        "`meta_analysis`, five tasks",
        "mean effect over tasks",
        null=("meta_analysis", "meta_analysis"),
    ),
    Row(
        "data_sets",
        "`meta_analysis` by `wilcoxon`, n data sets, one value each",
        "wilcoxon of 12 effects",
        "meta_analysis wilcoxon",
        null=("data_sets, wilcoxon", "meta_analysis wilcoxon"),
    ),
    Row(
        "data_sets",
        "`meta_analysis` by `sign`, n data sets, one value each",
        "sign of 12 effects",
        "meta_analysis sign",
        null=("data_sets, sign", "meta_analysis sign"),
    ),
    Row("conjunction", "all of three", null=("conjunction, one false leaf", "welch")),
    Row("disjunction", "any of three, Holm", null=("disjunction", "holm")),
    Row("family", "family of four, Holm", null=("family, four claims", "holm")),
    Row(
        "sequential",
        "`eprocess_t`, every night",
        "sequential, every pair",
        "eprocess_t",
        null=("sequential, difference", "eprocess_t"),
    ),
    Row(
        "sequential",
        "`group_obf`, four looks",
        "",
        "group_obf",
        null=("sequential, difference", "group_obf"),
    ),
)

HEAD = (
    "kind", "test", "n", "sd", "distribution", "draws", "false CONFIRMED", "false CONTRADICTED",
    "errors", "bound", "limit", "coverage", "verdict",
)  # fmt: skip
POWER_HEAD = (
    "plan", "n", "sd", "true effect", "draws", "power promised", "power found",
    "coverage promised", "coverage found", "verdict",
)  # fmt: skip


def text(document: Record) -> str:
    """For the terminal: all rows, then the worst, then the sum of it."""
    cells = [document[name] for name in ("rates", "off_grid") if document[name]]
    parts = [_aligned([HEAD, *map(_rate, rates)]) for rates in cells]
    if document["promises"]:
        parts.append(_aligned([POWER_HEAD, *map(_promise, document["promises"])]))
    return "\n\n".join([*parts, summary(document)])


def summary(document: Record) -> str:
    """How many gates hold, and which do not."""
    every = [*document["rates"], *document["off_grid"]]
    gated = [one for one in every if one["gated"]]
    broken = [one for one in gated if one["verdict"] == "FAILS"]
    lost = [one for one in every if one["verdict"] == LOSES]
    unkept = [one for one in document["promises"] if not one["kept"]]
    lines = [f"{len(gated) - len(broken)} of {len(gated)} gated cells hold their level."]
    lines += [f"FAILS: {_place(one)}: {_percent(one['error'])}" for one in broken]
    lines.append(f"{len(lost)} of {len(every) - len(gated)} listed cells lose theirs.")
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
        "## False conclusions at the boundary of the null",
        EXPLANATION,
        _piped([HEAD, *map(_rate, document["rates"])]),
        "## Off the grid: other sizes, unequal numbers, other distributions, 4:1",
        _piped([HEAD, *map(_rate, document["off_grid"])]),
        "## Power and coverage, promised and found",
        _piped([POWER_HEAD, *map(_promise, document["promises"])]),
    ]
    return "\n\n".join(parts) + "\n"


EXPLANATION = (
    "*errors* is the larger of the rates of false CONFIRMED and false CONTRADICTED, or their sum "
    "where both are false at this null (a directed difference, a family); *bound* its one-sided "
    "95 % Clopper-Pearson bound. *n* is that of the first arm and, where they differ, of the "
    "others; *sd* the first arm's over the others'. `lognormal`: the logarithm has sd .5; "
    "`collapsed`: one seed in five lies ten standard deviations below the others. The level is "
    "5 %, two-sided for difference and association."
)
LOSES = "listed, loses its level"


def readme(document: Record) -> str:
    """The three tables of the page."""
    head = ("expectation", "false conclusions, at most", "power (design)", "coverage, at least",
            "measured again by")  # fmt: skip
    rows = [_kind(document, row) for row in ROWS]
    lost = ("test", "replicates: false conclusions", "where")
    return "\n\n".join(
        [
            _piped([head, *rows]),
            OFF_GRID,
            _piped([("expectation", *COLUMNS), *off_grid(document)]),
            OTHER_SHAPES,
            _piped([("null, by test", *SHAPES), *other_shapes(document)]),
            LOST,
            _piped([lost, *losses(document)]),
        ]
    )


OFF_GRID = (
    "Off that grid default tests lose their level too: few replicates against many, and spreads "
    "of 4:1 where values are not normal. False conclusions in percent, **bold** above the limit "
    "(equal standard deviations and normal values unless said otherwise; `eprocess_t` to 60 pairs "
    "and `group_obf` to 20; `level` has one arm, and no ratio of spreads; empty where there is no "
    "such design):"
)

COLUMNS = {
    "3 v 10": (3, 10, 1.0, "normal"),
    "3 v 30": (3, 30, 1.0, "normal"),
    "4 v 20": (4, 20, 1.0, "normal"),
    "4 v 20, one seed in five collapsed": (4, 20, 1.0, "collapsed"),
    "8 v 8, sd 4:1": (8, None, 4.0, "normal"),
    "uniform": (8, None, 4.0, "uniform"),
    "lognormal": (8, None, 4.0, "lognormal"),
    "collapsed": (8, None, 4.0, "collapsed"),
    "3 v 3, collapsed": (3, None, 4.0, "collapsed"),
}
"""Some cells off the grid, for the page; the last four with 4:1, and three of them 8 v 8, as well.
"""


def off_grid(document: Record) -> list[tuple[str, ...]]:
    """The rates of some cells off the grid, a row for each kind with two arms or more."""
    every = [*document["rates"], *document["off_grid"]]
    rows = []
    for row in ROWS:
        own = [one for one in every if (one["kind"], one["test"]) == row.null]
        if own:
            rows.append((row.label, *(_at(own, *place) for place in COLUMNS.values())))
    return rows


OTHER_SHAPES = (
    "Items and folds have numbers and shapes of their kind: few items, ties, items that are "
    "unequally hard or scatter unequally, and folds of data sets of 40 and 200 rows, on which two "
    "learners of equal worth are trained (20,000 data sets each). False conclusions in percent by "
    "the number of items or folds; the values are scores of items, or features of rows:"
)

SHAPES = ("normal", "t4", "uniform", "lognormal", "collapsed")


def other_shapes(document: Record) -> list[tuple[str, ...]]:
    """The rates of items without clusters, and of folds, at each size; **bold** above the limit."""
    groups: dict[str, dict[str, dict[int, str]]] = {}
    for one in (*document["rates"], *document["off_grid"]):
        kind, test, shape = one["kind"], one["test"], one["distribution"]
        if "folds" in kind or (test in ("items_t", "mcnemar") and "clusters" not in kind):
            rate = f"{100 * one['error']:.1f}"
            rate = f"**{rate}**" if one["error"] > one["limit"] else rate
            row = groups.setdefault(f"{kind}, by {test}", {shape: {} for shape in SHAPES})
            row[shape][one["n"]] = rate
    return [
        (
            name,
            *(
                "; ".join(f"{n}: {rate}" for n, rate in sorted(each.items()))
                for each in row.values()
            ),
        )
        for name, row in groups.items()
    ]


def _at(
    cells: Sequence[Record], n: int, others: int | None, ratio: float, distribution: str
) -> str:
    """The rate of a cell; where there is only one size, at that size, and of one arm at 1:1."""
    sizes, ratios = ({one[name] for one in cells} for name in ("n", "sd_ratio"))
    n = n if len(sizes) > 1 else min(sizes)
    ratio = ratio if len(ratios) > 1 else min(ratios)
    for one in cells:
        if tuple(one[name] for name in PLACE) == (n, others, ratio, distribution):
            rate = f"{100 * one['error']:.1f}"
            return f"**{rate}**" if one["error"] > one["limit"] else rate
    return ""


PLACE = ("n", "others", "sd_ratio", "distribution")

LOST = (
    "Tests that may be named in a claim, and nulls that need normal or like arms, lose it on the "
    "grid as well:"
)


def losses(document: Record) -> list[tuple[str, str, str]]:
    """Every ungated test that loses its level, with the worst rate at each size."""
    groups: dict[tuple[str, str, str], dict[int, float]] = {}
    for one in document["rates"]:
        if one["verdict"] == LOSES:
            where = f"sd {one['sd_ratio']:g}:1, {one['distribution']}"
            if one["kind"].startswith("association"):
                where = one["distribution"]
            if " items at " in one["kind"]:
                where = "shares of items"
            sizes = groups.setdefault((one["test"], one["kind"], where), {})
            sizes[one["n"]] = one["error"]
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
    worst = max(own, key=lambda one: one["error"] - one["limit"])
    power = "none is promised"
    if row.plan:
        first = next(one for one in document["promises"] if one["plan"] == row.plan)
        power = f"{_percent(first['power'])} ({_design(first)})"
    return (
        row.label,
        f"{_percent(worst['error'])} ({_cell(worst)})",
        power,
        row.interval or _coverage(own),
        f"`./dev exec python -m benchmarks.levels --kind {row.kind}`",
    )


def _coverage(rates: Sequence[Record]) -> str:
    """The coverage that falls shortest of its level."""
    known = [(one["coverage"] - level(one), level(one)) for one in rates if one["coverage"]]
    if not known:
        return "no interval"
    short, nominal = min(known)
    return f"{_percent(nominal + short)} (of {nominal:.0%})".replace("%)", " %)")


TWO_SIDED = (
    "difference",
    "association",
    "within",
    "items",
    "sequential, difference",
    "sequential, directed",
)


def level(one: Record) -> float:
    """The level of the interval: one-sided questions leave alpha on either side."""
    kind = one["kind"]
    sided = kind.startswith(TWO_SIDED) and not kind.startswith("association, at ")
    return float(1 - (1 if sided else 2) * one["alpha"])


def _design(promise: Record) -> str:
    spread = f", sd {promise['sd'][0]:.3g}" if promise["sd"] else ""
    return f"n = {promise['n']}{spread}, truth {promise['effect']:g}"


def _rate(one: Record) -> tuple[str, ...]:
    coverage = "" if one["coverage"] is None else f"{one['coverage']:.4f}"
    return (
        one["kind"], one["test"], _n(one), f"{one['sd_ratio']:g}", one["distribution"],
        str(one["draws"]), f"{one['confirmed']:.4f}", f"{one['contradicted']:.4f}",
        f"{one['error']:.4f}", f"{one['upper']:.4f}", f"{one['limit']:.3f}", coverage,
        one["verdict"],
    )  # fmt: skip


def _n(one: Record) -> str:
    return str(one["n"]) if one["others"] is None else f"{one['n']} v {one['others']}"


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
    if " items at " in one["kind"]:
        return f"n = {_n(one)}, {one['kind'].partition(', ')[2]}"
    return f"n = {_n(one)}, sd {one['sd_ratio']:g}:1, {one['distribution']}"


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
