"""Audit files: printed numbers that are to be checked against each other, and how they are loaded.

Every number is a text, because how it was rounded is part of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from repro.errors import Place, Problem, RuleError, SpecError
from repro.files import leads_out
from repro.schema.base import CsvName, Decimal, Name, PrintedP, Reason, Spec
from repro.schema.messages import MOST, choose, listed, validated
from repro.schema.rows import Columns, is_number, read_columns
from repro.schema.yaml import Steps, YamlDocument

Locator = Annotated[str, Field(min_length=2, max_length=300)]
Label = Annotated[str, Field(min_length=1, max_length=80)]
Alpha = Annotated[float, Field(gt=0, lt=0.5)]
Seeds = Annotated[int, Field(ge=2, le=10**6)]
Runs = Annotated[int, Field(ge=1, le=10**6)]
TestName = Literal["student", "welch", "paired", "mann_whitney", "wilcoxon", "permutation"]
Sign = Literal["positive", "negative"]


class AuditSource(Spec):
    """The document whose numbers are audited."""

    paper: Name
    citation: Annotated[str, Field(min_length=8, max_length=400)]
    locator: Locator
    quote: Annotated[str, Field(min_length=8, max_length=1200)] | None = None


class PrintedMoments(Spec):
    """One printed mean, with its standard deviation and its number of replicates.

    One replicate has no deviation; its mean is checked against the number of ``items``.
    """

    mean: Decimal
    sd: Decimal | None = None
    n: Runs | None = None


class TableRow(PrintedMoments):
    """A row of a table, with the p-value printed for its comparison with the baseline."""

    p: PrintedP | None = None


class Tested(Spec):
    """What is known of a test: only what the document says, so mostly little.

    ``items`` is the size of the test set, where the means are shares (or percentages) of it, and
    ``samples`` the answers to each item of which a score is the average.
    """

    id: Name
    locator: Locator
    alpha: Alpha = 0.05
    test: TestName | None = None
    tails: Literal[1, 2] | None = None
    family: Name | None = None
    items: Annotated[int, Field(ge=1, le=10**9)] | None = None
    samples: Annotated[int, Field(ge=1, le=10**6)] | None = None
    note: Reason | None = None


class PrintedTable(Tested):
    """Rows compared with one of them; ``n`` is that of every row which names none."""

    n: Runs | None = None
    baseline: Name
    rows: Annotated[dict[Name, TableRow], Field(min_length=2)]


class PrintedPair(Tested):
    """Two printed means and the p-value of their comparison."""

    arms: Annotated[dict[Name, PrintedMoments], Field(min_length=2, max_length=2)]
    p: PrintedP | None = None


class PrintedAxis(Spec):
    """A coordinate: its column in the file, its name, and which end of it is better, if any."""

    column: Label
    label: Label
    better: Literal["lower", "higher"] | None = None


class PrintedCorrelation(Spec):
    """What is printed about a set of points: a coefficient, or only its sign in words."""

    r: Decimal | None = None
    sign: Sign | None = None
    locator: Locator


class PrintedWindow(PrintedCorrelation):
    """The points whose y lies from ``low`` to ``high``, both as printed, and their correlation."""

    id: Name
    low: Decimal
    high: Decimal


class PrintedPoints(Spec):
    """Points read off a figure (``file``) or out of a table (``values``), and their correlation.

    Where an axis says which end is better, it is turned so that more is better: the sign of a
    correlation is that of "more x goes with better y".
    """

    id: Name
    file: CsvName | None = None
    values: tuple[tuple[Decimal, Decimal], ...] | None = None
    x: PrintedAxis
    y: PrintedAxis
    printed: PrintedCorrelation
    windows: tuple[PrintedWindow, ...] = ()
    note: Reason | None = None


class PrintedPlace(Spec):
    """One place where a number is printed."""

    locator: Locator
    value: Decimal


class _Quantity(Spec):
    """An entry that says in words which quantity it is about."""

    id: Name
    what: Label


class SameQuantity(_Quantity):
    """One quantity, printed in several places."""

    places: Annotated[tuple[PrintedPlace, ...], Field(min_length=2)]
    note: Reason | None = None


class Whole(PrintedMoments):
    """The printed mean and standard deviation of all replicates together."""

    sd: Decimal
    n: Seeds
    locator: Locator


class Part(Whole):
    """The printed mean and standard deviation of some of them."""


class Pooled(_Quantity):
    """A part and the one run that was added to it must give the whole; ``run`` is that run."""

    whole: Whole
    part: Part
    run: PrintedPlace | None = None
    note: Reason | None = None


class SingleRun(_Quantity):
    """A run that was printed alone, among others of which mean, sd and n are printed."""

    run: PrintedPlace
    others: Whole
    note: Reason | None = None


class FromDifference(Spec):
    """The first printed number minus the second."""

    kind: Literal["difference"]
    id: Name
    locator: Locator
    of: tuple[Decimal, Decimal]


class FromProduct(Spec):
    """The product of factors, each the sum of the printed numbers in its brackets."""

    kind: Literal["product_of_sums"]
    id: Name
    locator: Locator
    of: Annotated[
        tuple[Annotated[tuple[Decimal, ...], Field(min_length=1)], ...], Field(min_length=1)
    ]


Derivation = Annotated[FromDifference | FromProduct, Field(discriminator="kind")]


class Derived(_Quantity):
    """A printed number that should follow from others, by one of the derivations at least.

    ``other_quantities`` are derivations that it might have been confused with.
    """

    locator: Locator
    value: Decimal
    sources: Annotated[tuple[Derivation, ...], Field(min_length=1)]
    other_quantities: tuple[Derivation, ...] = ()
    note: Reason | None = None


class StatedBound(_Quantity):
    """A bound that the document states, and printed values that must keep it."""

    locator: Locator
    at_most: Decimal | None = None
    at_least: Decimal | None = None
    values: Annotated[tuple[PrintedPlace, ...], Field(min_length=1)]
    note: Reason | None = None


class Wins(Spec):
    """Printed counts of the rows of ``file`` on which the model before the colon scores higher.

    The columns of the file are the models; the score is better when higher.
    """

    id: Name
    locator: Locator
    file: CsvName
    counts: Annotated[
        dict[Name, dict[Name, Annotated[int, Field(ge=0, le=10**6)]]], Field(min_length=2)
    ]
    note: Reason | None = None


class EffectiveRank(Spec):
    """A printed epsilon-effective rank."""

    epsilon: Decimal
    rank: Decimal


class Spectrum(Spec):
    """Printed ranks of a matrix, and its singular values, read off a figure to ``accuracy``.

    The file has a column ``index`` and one of singular values, in descending order; between
    the indices that it holds the logarithm of the singular value is taken as linear. ``rows``
    of the matrix are not in the figure; its columns are as many as the last index.
    """

    id: Name
    locator: Locator
    file: CsvName
    column: Label
    rows: Annotated[int, Field(ge=2, le=10**9)]
    accuracy: Annotated[float, Field(gt=0, lt=1)]
    press: Decimal | None = None
    effective: tuple[EffectiveRank, ...] = ()
    note: Reason | None = None


class AuditFile(Spec):
    """An audit file, whole. ``audit`` is its name, and what tells it from a claim.

    ``other_n`` are numbers of replicates that the document prints elsewhere, which may be those
    that a p-value is from. ``rounding`` is how the means and deviations that are tested were
    rounded.
    """

    schema_version: Literal[1] = Field(alias="schema")
    audit: Name
    title: Annotated[str, Field(min_length=8, max_length=200)]
    source: AuditSource
    other_n: tuple[Seeds, ...] = ()
    rounding: Literal["round", "truncate", "ceil"] = "round"
    tables: tuple[PrintedTable, ...] = ()
    comparisons: tuple[PrintedPair, ...] = ()
    points: tuple[PrintedPoints, ...] = ()
    same_quantity: tuple[SameQuantity, ...] = ()
    pooled: tuple[Pooled, ...] = ()
    single_runs: tuple[SingleRun, ...] = ()
    derived: tuple[Derived, ...] = ()
    bounds: tuple[StatedBound, ...] = ()
    wins: tuple[Wins, ...] = ()
    spectra: tuple[Spectrum, ...] = ()


def load_audit(document: YamlDocument) -> tuple[AuditFile, Mapping[str, Columns]]:
    """The audit of a document, and the tables that it names in its folder, by file name.

    SpecError with every mistake in its shape, or else in what it says and in its tables.
    """
    audit = validated(document, AuditFile)
    problems: list[Problem] = []
    tables = _tables(document, audit, problems)
    problems += islice(_meaning(document, audit), MOST)
    if not problems:
        problems += islice(_columns(document, audit, tables), MOST)
    if problems:
        raise RuleError(list(dict.fromkeys(problems)))
    return audit, tables


def _tables(
    document: YamlDocument, audit: AuditFile, problems: list[Problem]
) -> dict[str, Columns]:
    """Every CSV file that is named, read once."""
    tables: dict[str, Columns] = {}
    for section in ("points", "wins", "spectra"):
        for position, entry in enumerate(getattr(audit, section)):
            if entry.file is None or entry.file in tables:
                continue
            path = Path(document.file).parent / entry.file
            if leads_out(path, path.parent):
                steps = (section, position, "file")
                mistake = f"'{entry.file}' is a link that leads elsewhere"
                expected, advice = "a file in the folder of the audit", "put the file itself there"
                problems.append(document.problem(steps, mistake, expected, advice))
                continue
            try:
                tables[entry.file] = read_columns(path)
            except SpecError as error:
                problems += error.problems
    return tables


KEYS = tuple(AuditFile.model_fields)
SECTIONS = KEYS[KEYS.index("tables") :]
"""The lists of an audit; the ids in all of them together are different."""

RANGES: Mapping[object, tuple[float, float, str]] = {
    "sd": (0.0, math.inf, "a standard deviation, 0 or more"),
    "p": (0.0, 1.0, "a p-value, from 0 to 1"),
    "r": (-1.0, 1.0, "a correlation, from -1 to 1"),
}
"""Least, greatest, and what is expected of the numbers that have these keys."""


def _meaning(document: YamlDocument, audit: AuditFile) -> Iterator[Problem]:
    """Well-formed entries that mean nothing."""
    if not any(getattr(audit, section) for section in SECTIONS):
        mistake, advice = "nothing in this file can be checked", "add a list of printed numbers"
        yield Problem(Place(document.file), mistake, listed(SECTIONS), advice)
    yield from _same_ids(document, audit)
    for position, table in enumerate(audit.tables):
        yield from _baseline(document, ("tables", position), table)
    for section in SECTIONS:
        yield from _impossible(document, (section,), document.get(section))
    for position, points in enumerate(audit.points):
        steps: Steps = ("points", position)
        yield from _only(document, steps, points, ("file", "values"))
        for number, window in enumerate(points.windows):
            yield from _window(document, (*steps, "windows", number), window)
    for position, bound in enumerate(audit.bounds):
        yield from _only(document, ("bounds", position), bound, ("at_most", "at_least"))
    for position, pooled in enumerate(audit.pooled):
        whole, part, steps = pooled.whole.n, pooled.part.n, ("pooled", position)
        if whole != part + 1:
            mistake, expected = f"a whole of {whole} and a part of {part}", f"a part of {whole - 1}"
            advice = "only one added run can be checked"
            yield document.problem(steps, mistake, expected, advice, at=("part", "n"))


def _same_ids(document: YamlDocument, audit: AuditFile) -> Iterator[Problem]:
    first: dict[str, Steps] = {}
    for name, steps in _ids(audit):
        if name in first:
            line = document.place(first[name]).line
            mistake = f"{steps[0]}: '{name}' is the id of two, first on line {line}"
            advice = "rename one of the two"
            yield Problem(document.place(steps), mistake, "an id of its own", advice)
        first.setdefault(name, steps)


def _ids(audit: AuditFile) -> Iterator[tuple[str, Steps]]:
    """The id of every row that the audit will have; that of a table's row begins with its own."""
    for section in SECTIONS:
        for position, entry in enumerate(getattr(audit, section)):
            steps: Steps = (section, position)
            if isinstance(entry, PrintedTable):
                for row in entry.rows:
                    if row != entry.baseline:
                        yield f"{entry.id}_{row}", (*steps, "rows", row)
                continue
            yield entry.id, (*steps, "id")
            for number, window in enumerate(getattr(entry, "windows", ())):
                yield window.id, (*steps, "windows", number, "id")


def _baseline(document: YamlDocument, steps: Steps, table: PrintedTable) -> Iterator[Problem]:
    name, known = table.baseline, table.rows
    if name not in known:
        mistake, advice = f"there is no row '{name}'", choose(name, known)
        yield document.problem(steps, mistake, listed(known), advice, at=("baseline",))
    elif known[name].p is not None:
        mistake, expected = "the baseline is compared with itself", "a p-value in the other rows"
        advice, at = "remove the p of the baseline", ("rows", name, "p")
        yield document.problem(steps, mistake, expected, advice, at=at, key=True)


def _impossible(document: YamlDocument, steps: Steps, value: Any) -> Iterator[Problem]:
    """Standard deviations, probabilities and coefficients out of their range, at any depth."""
    entries: list[tuple[str | int, Any]] = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        entries = list(enumerate(value))
    for key, inside in entries:
        here = (*steps, key)
        if key in RANGES and isinstance(inside, str):
            low, high, expected = RANGES[key]
            number = inside.lstrip("<> ")
            if is_number(number) and not low <= float(number) <= high:
                mistake = f"'{inside[:40]}' is out of range"
                yield document.problem(here, mistake, expected, "copy it again")
        yield from _impossible(document, here, inside)


def _only(
    document: YamlDocument, steps: Steps, entry: PrintedPoints | StatedBound, keys: tuple[str, str]
) -> Iterator[Problem]:
    """A problem unless the entry has exactly one of two keys."""
    given = [key for key in keys if getattr(entry, key) is not None]
    if len(given) != 1:
        mistake = f"both {' and '.join(keys)}" if given else f"neither {' nor '.join(keys)}"
        yield document.problem(steps, mistake, "one of the two", "keep exactly one of them")


def _window(document: YamlDocument, steps: Steps, window: PrintedWindow) -> Iterator[Problem]:
    ends = (window.low, window.high)
    if all(map(is_number, ends)) and float(window.low) >= float(window.high):
        mistake = f"the window from {window.low} to {window.high} is empty"
        expected, advice = "a high above the low", "exchange them"
        yield document.problem(steps, mistake, expected, advice, at=("high",))


def _columns(
    document: YamlDocument, audit: AuditFile, tables: Mapping[str, Columns]
) -> Iterator[Problem]:
    """Columns that are named and are not in the file."""
    for at, points in enumerate(audit.points):
        if points.file is not None:
            for axis, name in (("x", points.x.column), ("y", points.y.column)):
                steps: Steps = ("points", at, axis, "column")
                yield from _column(document, steps, name, tables[points.file])
    for at, spectrum in enumerate(audit.spectra):
        for name in (spectrum.column, "index"):
            yield from _column(document, ("spectra", at, "column"), name, tables[spectrum.file])
    for at, wins in enumerate(audit.wins):
        known = {name: cells for name, cells in tables[wins.file].items() if name != "id"}
        for model, row in wins.counts.items():
            steps = ("wins", at, "counts", model)
            yield from _column(document, steps, model, known)
            for other in row:
                yield from _column(document, (*steps, other), other, known)


def _column(document: YamlDocument, steps: Steps, name: str, known: Columns) -> Iterator[Problem]:
    """A problem unless the name is a column; it stands at a key ``column``, or is itself a key."""
    if name not in known:
        mistake, advice = f"there is no column '{name}'", choose(name, known)
        key = steps[-1] != "column"
        yield document.problem(steps, mistake, listed(known), advice, key=key)
