"""Audits: what a file of printed numbers holds, to be checked against each other.

No run, no configuration and no scale: an audit is about what a document prints. Every number is
a text, because how it was rounded is part of it. Each kind of entry is checked in one way.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repro.schema.base import CsvName, Decimal, Name, PrintedP, Reason, Spec

Locator = Annotated[str, Field(min_length=2, max_length=300)]
Label = Annotated[str, Field(min_length=1, max_length=80)]
Alpha = Annotated[float, Field(gt=0, lt=0.5)]
Seeds = Annotated[int, Field(ge=2, le=10**6)]
TestName = Literal["student", "welch", "paired", "mann_whitney", "wilcoxon", "permutation"]
Sign = Literal["positive", "negative"]


class AuditSource(Spec):
    """The document whose numbers are audited."""

    paper: Name
    citation: Annotated[str, Field(min_length=8, max_length=400)]
    locator: Locator
    quote: Annotated[str, Field(min_length=8, max_length=1200)] | None = None


class PrintedMoments(Spec):
    """One printed mean, with its standard deviation and its number of replicates."""

    mean: Decimal
    sd: Decimal | None = None
    n: Seeds | None = None


class TableRow(PrintedMoments):
    """A row of a table, with the p-value printed for its comparison with the baseline."""

    p: PrintedP | None = None


class _Tested(Spec):
    """What is known of a test: only what the document says, so mostly little.

    ``items`` is the size of the test set, where the means are shares (or percentages) of it.
    """

    id: Name
    locator: Locator
    alpha: Alpha = 0.05
    test: TestName | None = None
    tails: Literal[1, 2] | None = None
    family: Name | None = None
    items: Annotated[int, Field(ge=1, le=10**9)] | None = None
    note: Reason | None = None


class PrintedTable(_Tested):
    """Rows compared with one of them; ``n`` is that of every row which names none."""

    n: Seeds | None = None
    baseline: Name
    rows: Annotated[dict[Name, TableRow], Field(min_length=2)]


class PrintedPair(_Tested):
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


class SameQuantity(Spec):
    """One quantity, printed in several places."""

    id: Name
    what: Label
    places: Annotated[tuple[PrintedPlace, ...], Field(min_length=2)]
    note: Reason | None = None


class Whole(PrintedMoments):
    """The printed mean and standard deviation of all replicates together."""

    sd: Decimal
    n: Seeds
    locator: Locator


class Part(Whole):
    """The printed mean and standard deviation of some of them."""


class Pooled(Spec):
    """A part and the one run that was added to it must give the whole; ``run`` is that run."""

    id: Name
    what: Label
    whole: Whole
    part: Part
    run: PrintedPlace | None = None
    note: Reason | None = None


class SingleRun(Spec):
    """A run that was printed alone, among others of which mean, sd and n are printed."""

    id: Name
    what: Label
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


class Derived(Spec):
    """A printed number that should follow from others, by one of the derivations at least.

    ``other_quantities`` are derivations that it might have been confused with.
    """

    id: Name
    what: Label
    locator: Locator
    value: Decimal
    sources: Annotated[tuple[Derivation, ...], Field(min_length=1)]
    other_quantities: tuple[Derivation, ...] = ()
    note: Reason | None = None


class StatedBound(Spec):
    """A bound that the document states, and printed values that must keep it."""

    id: Name
    what: Label
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
