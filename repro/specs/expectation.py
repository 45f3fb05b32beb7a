"""Expectations: the testable parts of a claim, each a specification; judging reads them.

``of: [a, b]`` names two arms, and the effect is always a minus b, or a over b.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from repro.schema.base import (
    LeastRatio,
    Limit,
    Magnitude,
    Margin,
    Name,
    Reason,
    Share,
    Spec,
    Window,
)

Role = Literal["decisive", "context"]


Pair = tuple[Name, Name]


TestOfDifference = Literal[
    "welch", "student", "paired", "permutation", "paired_permutation", "brunner_munzel", "yuen"
]


PAIRED_TESTS = ("paired", "paired_permutation")
"""Tests of differences, or trends, of a paired design; all others take arms as independent."""


class _Expectation(Spec):
    id: Name
    measurement: Name
    role: Role = "decisive"

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the measurements that it reads."""
        return (self.measurement,)


class Difference(_Expectation):
    """The mean of a is lower (or higher) than that of b.

    The test follows the design unless one is named: Welch's t-test of independent arms, the
    t-test of the differences within pairs. Its two tails find a direction at half of alpha;
    with ``tails: 1`` it is found at alpha, as a margin is, and so is the contrary.
    ``rule: as_published`` repeats the paper's own rule (only as context): p above alpha is read
    as "no difference", which is what was published and is no evidence of equality.
    """

    kind: Literal["difference"]
    of: Pair
    direction: Literal["lower", "higher", "different"]
    test: TestOfDifference = "welch"
    tails: Literal[1, 2] = 2
    smallest_effect: Margin | None = None
    rule: Literal["standard", "as_published"] = "standard"


class Equivalence(_Expectation):
    """The means of a and b differ by less than the margin; two one-sided tests."""

    kind: Literal["equivalence"]
    of: Pair
    margin: Margin


class NonSuperiority(_Expectation):
    """a is not better than b by the margin or more; one-sided."""

    kind: Literal["non_superiority"]
    of: Pair
    margin: Margin


class NonInferiority(_Expectation):
    """a is not worse than b by the margin or more; one-sided."""

    kind: Literal["non_inferiority"]
    of: Pair
    margin: Margin


class Ratio(_Expectation):
    """The geometric mean of a is at least so many times that of b; on logarithms, one-sided."""

    kind: Literal["ratio"]
    of: Pair
    at_least: LeastRatio


class Separation(_Expectation):
    """Every replicate of a is above every replicate of b times a factor; exact."""

    kind: Literal["separation"]
    of: Pair
    at_least: LeastRatio


class Bound(_Expectation):
    """Every replicate of one arm is at most, or at least, a limit; exact.

    With ``share``, more than that share of all replicates that could be run keeps the limit,
    judged by the exact binomial interval.
    """

    kind: Literal["bound"]
    of: tuple[Name]
    at_most: Limit | None = None
    at_least: Limit | None = None
    share: Share | None = None


class Association(_Expectation):
    """Two measurements go together over points: ``measurement`` with ``against``.

    A point is a replicate, or the mean of an arm; replicates of several arms are clustered by
    arm, because they are not independent: whole arms are permuted, and all need equally many
    replicates. The claim is a direction, or a size of the correlation without its sign.
    ``within`` keeps the points whose ``measurement`` lies in a window, and shows what that
    restriction alone predicts.
    """

    kind: Literal["association"]
    of: Annotated[tuple[Name, ...], Field(min_length=1)]
    against: Name
    points: Literal["replicates", "arms"]
    method: Literal["pearson", "spearman", "kendall"] = "pearson"
    direction: Literal["positive", "negative", "different"] | None = None
    magnitude_at_most: Magnitude | None = None
    magnitude_at_least: Magnitude | None = None
    within: Window | None = None

    @model_validator(mode="after")
    def _one_claim(self) -> Self:
        claims = [self.direction, self.magnitude_at_most, self.magnitude_at_least]
        if sum(claim is not None for claim in claims) != 1:
            message = "an association claims one thing: either direction, "
            raise ValueError(message + "magnitude_at_most or magnitude_at_least")
        return self

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the measurements that it reads."""
        return (self.measurement, self.against)


class Trend(_Expectation):
    """The measurement rises (or falls) along the arms, in the order in which they are named.

    By the slope of the line through their means (of pairs, by the slopes of the seeds), unless a
    rank test is named: those ask whether the arms are alike, and err where their spreads differ.
    """

    kind: Literal["trend"]
    of: Annotated[tuple[Name, ...], Field(min_length=3)]
    direction: Literal["increasing", "decreasing"]
    test: Literal["welch", "paired", "jonckheere", "kendall"] = "welch"


class Ordering(_Expectation):
    """Every arm lies above (or below) each one named before it: every two of them, Holm."""

    kind: Literal["ordering"]
    of: Annotated[tuple[Name, ...], Field(min_length=2)]
    direction: Literal["increasing", "decreasing"]


def _form(value: Any) -> str:
    """Which of the forms of clusters is written, so that only that one is checked."""
    if isinstance(value, list | tuple):
        return "list"
    return "text" if isinstance(value, str) else "number"


Clusters = Annotated[
    Annotated[Literal["none"], Tag("text")]
    | Annotated[int, Field(ge=2), Tag("number")]
    | Annotated[tuple[tuple[Name, ...], ...], Tag("list")],
    Discriminator(_form),
]
"""Which units belong together: none, so many in a row, or those in one list."""


class Proportion(_Expectation):
    """a beats b in more than a share of benchmarks, contexts or tasks; exact sign test.

    The units are the replicates of ``measurement``, matched by number (contexts, tasks), or,
    with ``also``, the measurements themselves (benchmarks), each by the means of its arms.
    ``clusters`` says which units belong together; it must be declared: ``none``, or lists of
    measurements, or the number of consecutive replicates that form a cluster.
    """

    kind: Literal["proportion"]
    of: Pair
    also: tuple[Name, ...] = ()
    more_than: Annotated[float, Field(gt=0, lt=1)] = 0.5
    clusters: Clusters

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the measurements that it reads."""
        return (self.measurement, *self.also)


Expectation = Annotated[
    Difference
    | Equivalence
    | NonSuperiority
    | NonInferiority
    | Ratio
    | Separation
    | Bound
    | Association
    | Trend
    | Ordering
    | Proportion,
    Field(discriminator="kind"),
]


BY_SEED = (
    *(Difference, Equivalence, NonSuperiority, NonInferiority),
    *(Ratio, Separation, Trend, Ordering),
)
"""Kinds that a paired design tests seed by seed."""


class ExpectationOverride(Spec):
    """What a scale may change of an expectation: its sizes, its test and its role.

    Its kind and arms are the same at every scale. ``role: context`` shows at this scale what the
    scale is too small to decide.
    """

    role: Role | None = None
    test: TestOfDifference | None = None
    margin: Margin | None = None
    smallest_effect: Margin | None = None
    at_least: Limit | None = None
    at_most: Limit | None = None
    share: Share | None = None
    magnitude_at_most: Magnitude | None = None
    magnitude_at_least: Magnitude | None = None
    within: Window | None = None


class All(Spec):
    """All of these hold: ids of expectations, or further trees."""

    all: Annotated[tuple[Node, ...], Field(min_length=1)]


class AtLeastOne(Spec):
    """At least one of these holds: ids of expectations, or further trees."""

    any: Annotated[tuple[Node, ...], Field(min_length=1)]


def _branch(value: Any) -> str:
    """Whether a part of a tree is ``all`` or ``any`` of something, or the id of a leaf."""
    if isinstance(value, AtLeastOne) or (isinstance(value, dict) and "any" in value):
        return "any"
    return "all" if isinstance(value, All | dict) else "leaf"


Node = Annotated[
    Annotated[Name, Tag("leaf")] | Annotated[All, Tag("all")] | Annotated[AtLeastOne, Tag("any")],
    Discriminator(_branch),
]
"""A part of the tree that joins decisive expectations."""


All.model_rebuild()


AtLeastOne.model_rebuild()


Tree = Annotated[
    Annotated[All, Tag("all")] | Annotated[AtLeastOne, Tag("any")],
    Discriminator(lambda value: _branch(value).replace("leaf", "all")),
]
"""A whole tree; one expectation by itself is none."""


class Family(Spec):
    """Claims that are tested together, so that each is judged at its level among all.

    ``holm`` keeps the chance of any false conclusion, ``bh`` the share of false ones among
    those drawn, ``e_bh`` the same for e-values, which sequential claims have. A member that is
    not judged beside the others counts as having found nothing.
    """

    name: Name
    method: Literal["holm", "bh", "e_bh"]
    members: Annotated[tuple[Name, ...], Field(min_length=2)]
    why: Reason
