"""Associations: two measurements over points that are replicates, or means of arms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from repro.errors import ClaimError, TooFewError
from repro.expectations import base
from repro.expectations.base import Found, Kind, Read, pair
from repro.expectations.decision_rules import by_p, by_sign
from repro.expectations.declared import Context, Declared, Mistake
from repro.expectations.phrases import against, both_p, digits, ends, follows, p_words
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.schema.base import Magnitude, Name, Window
from repro.stats.records import Sample, TestResult, require_sample

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest


class Association(Declared):
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
        if len(self.claims) != 1:
            message = "an association claims one thing: either direction, "
            raise ValueError(message + "magnitude_at_most or magnitude_at_least")
        return self

    @property
    def claims(self) -> list[str]:
        """The keys of what is claimed: one, unless a scale adds another."""
        keys = ("direction", "magnitude_at_most", "magnitude_at_least")
        return [key for key in keys if getattr(self, key) is not None]

    @property
    def size(self) -> Magnitude | None:
        """The size that is claimed, where no direction is."""
        return self.magnitude_at_most or self.magnitude_at_least

    @property
    def clustered(self) -> bool:
        """Whether its points are clusters, one for each arm."""
        return self.points == "replicates" and len(self.of) > 1

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.measurement, self.against)

    def names(self) -> dict[str, Any]:
        return {"measurement": self.measurement, "against": self.against}


CLAIMED = {"positive": 1, "negative": -1, "different": None}
NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau"}


def points_of(declared: Association, read: Read) -> tuple[base.Point, ...]:
    """Every point: ``x`` is that of ``against``; ClaimError where an arm's seeds do not match."""
    window = declared.within
    found: list[base.Point] = []

    def add(arm: str, seed: int | None, x: float, y: float) -> None:
        counted = window is None or window.low <= y <= window.high
        found.append(base.Point(arm=arm, replicate=seed, x=x, y=y, counted=counted))

    for arm in declared.of:
        first = require_sample(read(arm, declared.against), declared.kind)
        second = require_sample(read(arm, declared.measurement), declared.kind)
        if declared.points == "arms":
            add(arm, None, first.summary().mean, second.summary().mean)
            continue
        x = dict(zip(first.replicates, first.values, strict=True))
        y = dict(zip(second.replicates, second.values, strict=True))
        if x.keys() != y.keys():
            raise ClaimError(f"arm '{arm}': not every seed has both measurements")
        for number in sorted(x):
            add(arm, number, x[number], y[number])
    return tuple(found)


def _samples(points: Sequence[base.Point]) -> tuple[Sample, Sample]:
    """The two measurements as aligned samples."""
    return Sample.of(*(point.x for point in points)), Sample.of(*(point.y for point in points))


def _clusters(points: Sequence[base.Point]) -> list[int] | None:
    """The arm of each point, where several arms give several points each."""
    names = list(dict.fromkeys(point.arm for point in points))
    if len(names) in (1, len(points)):
        return None
    return [names.index(point.arm) for point in points]


class AssociationKind(Kind[Association]):
    """A correlation, its sign or its size."""

    Declared = Association
    effect_scale = "correlation"
    several_arms = True
    paired = False
    counts_seeds = False

    def mistakes(self, declared: Association, context: Context) -> Iterator[Mistake]:
        if context.paired and len(declared.of) > 1:
            mistake = "points of several arms count as independent, "
            mistake += f"and {context.design_name} pairs them"
            advice = "name one arm, or write `design: independent`"
            yield Mistake(("of",), mistake, "one arm", advice)
        if declared.against == declared.measurement:
            mistake = "every measurement goes together with itself"
            advice = "name the measurement that it goes together with"
            yield Mistake(("against",), mistake, "another measurement", advice)
        claims = declared.claims
        if len(claims) > 1:
            mistake = f"with this, {declared.id} claims two things: {' and '.join(claims)}"
            advice = "remove it; a scale changes only the size that is declared"
            yield Mistake((claims[-1],), mistake, "one claim", advice)
        yield from _unfit_points(declared, context.alpha)

    def least_seeds(self, declared: Association, alpha: float, *, paired: bool) -> int:
        """The replicates of one arm are points; of several, parts of a cluster or of a mean."""
        alone = declared.points == "replicates" and len(declared.of) == 1
        return fewest_points(declared, alpha) if alone else 1

    def test(self, declared: Association, context: Context, read: Read) -> TestResult:
        """The correlation's sign by its p-value, or its size by two one-sided tests."""
        from repro.stats.correlation import association, magnitude

        points = [point for point in points_of(declared, read) if point.counted]
        if declared.within is not None and len(points) < 4:
            raise TooFewError(f"{len(points)} points lie in the declared window; 4 are needed")
        (x, y), clusters, method = _samples(points), _clusters(points), declared.method
        way, alpha = declared.direction, context.alpha
        if way is not None:
            return association(x, y, method=method, direction=way, alpha=alpha, clusters=clusters)
        if clusters is not None:
            raise ClaimError("a size of a correlation needs points that are independent: use arms")
        limits = {
            key.removeprefix("magnitude_"): getattr(declared, key).value for key in declared.claims
        }
        return magnitude(x, y, method=method, **limits, alpha=alpha)

    def conclude(self, declared: Association, result: TestResult) -> Finding:
        if declared.direction is None:
            return by_p(result)
        return by_sign(result, sign=CLAIMED[declared.direction])

    def statement(self, declared: Association, context: Context) -> str:
        first, second = context.measured(declared), context.measurements[declared.against].label
        points = "the means of arms" if declared.points == "arms" else f"{context.unit}s"
        over = f"over {points}: "
        over += pair(context.labels(declared))
        if declared.within is not None:
            over += f", within {declared.within.low:g} to {declared.within.high:g}"
        size = "not zero" if declared.direction == "different" else f"{declared.direction}"
        if declared.size is not None:
            size, _ = _size_words(declared, declared.size)
        return f"The correlation of {first} with {second} is {size}, {over}"

    def name_of_test(self, declared: Association, context: Context) -> str:
        how = "permutation of whole arms" if declared.clustered else "two-sided"
        if declared.direction is None:
            how = "one-sided tests of its size (Fisher z)"
        if declared.method == "pearson" and not declared.clustered:
            how += ", for tails no heavier than normal ones"
        return f"{NAMES[declared.method]}, {how}"

    def effect_label(self, declared: Association, context: Context) -> str:
        second = context.measurements[declared.against].label
        return f"{NAMES[declared.method]} of {context.measured(declared)} with {second}"

    def sentence(self, declared: Association, context: Context, found: Found) -> str:
        limits = [0.0, *(limit.value for limit in self.limits(declared, context))]
        reach = ends(found.interval, limits, digits(fmt.plus, 2))
        said = f"{fmt.plus(found.result.effect, 2)}{reach} over {found.result.n[0]} points"
        size = declared.size
        therefore = _direction(declared, found) if size is None else _size(declared, size, found)
        return f"{self.effect_label(declared, context)} is {said}. {therefore}".rstrip()

    def limits(self, declared: Association, context: Context) -> tuple[base.LimitPart, ...]:
        size = declared.size
        if size is None:
            return (base.LimitPart(value=0, label="no correlation, 0", why=""),)
        return tuple(
            base.LimitPart(
                value=sign * size.value,
                label=f"size, {fmt.signed(f'{sign * size.value:+g}')}",
                why=size.why,
            )
            for sign in (-1, 1)
        )

    def planned(
        self, declared: Association, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        """Over independent points: of replicates of several arms these are, at worst, the arms."""
        from repro.stats.planning import PlannedCorrelation

        if declared.method != "pearson":
            raise ClaimError(f"no power is computed for {declared.method.title()}'s correlation")
        by_arm = declared.points == "arms" or declared.clustered
        alpha, low, high = context.alpha, 0.0, None
        if declared.direction is not None:
            alpha = alpha / 2
        elif declared.magnitude_at_most is not None:
            low, high = -declared.magnitude_at_most.value, declared.magnitude_at_most.value
        elif declared.magnitude_at_least is not None:
            low = declared.magnitude_at_least.value
        n = len(declared.of) if by_arm else plan.n
        return PlannedCorrelation((n,), alpha=alpha, effect=plan.effect, low=low, high=high)

    def claimed(self, declared: Association, context: Context) -> base.Side:
        if declared.magnitude_at_most is not None:
            return "between"
        if declared.magnitude_at_least is not None:
            return "outside"
        sides: dict[str | None, base.Side] = {"positive": "above", "negative": "below"}
        return sides.get(declared.direction, "none")

    def facts_of_points(self, declared: Association, read: Read) -> dict[str, str]:
        from repro.stats.coefficients import FEWEST, leave_one_out, restricted

        every = points_of(declared, read)
        used = [point for point in every if point.counted]
        facts: dict[str, str] = {}
        if declared.within is not None:
            low, high = declared.within.low, declared.within.high
            window = restricted(*_samples(every), low=low, high=high)
            facts["window"] = (
                f"{len(used)} of {len(every)} points; the whole range has "
                f"r = {fmt.plus(window.full, 2)}, of which the restriction alone leaves "
                f"{fmt.plus(window.predicted, 2)}; found {fmt.plus(window.observed, 2)}"
            )
        if len(used) > FEWEST[declared.method]:
            lowest, highest, _ = leave_one_out(*_samples(used), method=declared.method)
            facts["without_one_point"] = f"from {fmt.plus(lowest, 2)} to {fmt.plus(highest, 2)}"
        return facts

    def either_way(self, declared: Association) -> bool:
        return declared.direction == "different"

    def takes_draws(self, declared: Association) -> bool:
        return False

    def goes_whole(self, declared: Association) -> bool:
        """Clusters of points that change places need equally many points each."""
        return declared.clustered

    def against(self, declared: Association) -> str:
        return declared.against

    def points(self, declared: Association, read: Read) -> tuple[base.Point, ...]:
        return points_of(declared, read)


FEWEST_POINTS = {"pearson": 4, "spearman": 4, "kendall": 5}
"""With fewer points a correlation has no standard error (Fisher 1921; Bonett & Wright 2000)."""


def _unfit_points(declared: Association, alpha: float) -> Iterator[Mistake]:
    arms, fewest = len(declared.of), fewest_clusters(alpha)
    if declared.points == "arms":
        least = fewest_points(declared, alpha)
        if arms < least:
            mistake = f"the means of {arms} arms are too few points for {declared.method}'s "
            mistake += "correlation"
            yield Mistake(("of",), mistake, f"at least {least} arms", "name more arms")
    elif 1 < arms < fewest:
        mistake = f"replicates of {arms} arms are {arms} clusters, too few to permute"
        expected = f"one arm, or at least {fewest}"
        yield Mistake(("of",), mistake, expected, "name one arm, or more arms")
    elif arms > 1 and declared.direction is None:
        mistake = (
            "a size of a correlation needs independent points, and replicates of one arm are not"
        )
        advice = "write `points: arms`, name one arm, or claim a direction"
        yield Mistake(("points",), mistake, "points arms, or one arm", advice)
    elif arms > 1 and declared.within is not None:
        mistake = "whole arms are permuted, and a window may leave them different numbers of points"
        advice = "write `points: arms`, name one arm, or remove the window"
        yield Mistake(("within",), mistake, "no window, or one arm", advice)


def fewest_clusters(alpha: float) -> int:
    """Fewest whole arms with which it could be confirmed; an extreme order has p = 1 / k!."""
    k = 5  # fewer arms say too little about other arms
    while 1 / math.factorial(k) > alpha:
        k += 1
    return k


def fewest_points(declared: Association, alpha: float) -> int:
    """Fewest points with which it could be confirmed; an exact order has p = 2 / n!."""
    n = FEWEST_POINTS[declared.method]
    while declared.method != "pearson" and declared.direction and 2 / math.factorial(n) > alpha:
        n += 1
    return n


def _size_words(declared: Association, size: Magnitude) -> tuple[str, str]:
    """The claimed size, and its contrary."""
    weak, strong = f"weaker than {size.value:g}", f"at least {size.value:g} in size"
    return (strong, weak) if declared.magnitude_at_most is None else (weak, strong)


def _direction(declared: Association, found: Found) -> str:
    """A claim of a sign, or of any correlation."""
    p, effect, asserted = p_words(found.result), found.result.effect, declared.direction or ""
    if asserted == "different":
        return follows(found, f"Not zero, as claimed{p}.", "", f"A correlation is not shown{p}.")
    other = "negative" if asserted == "positive" else "positive"
    shown = f"{fmt.upper_first(asserted)} is not shown{p}."
    if effect and (effect > 0) == (other == "positive"):
        shown = against(f"it looks {other}", p)
    contrary = f"{fmt.upper_first(other)}, against the claim that it is {asserted}{p}."
    return follows(found, f"{fmt.upper_first(asserted)}, as claimed{p}.", contrary, shown)


def _size(declared: Association, size: Magnitude, found: Found) -> str:
    asserted, other = _size_words(declared, size)
    shown = f"{fmt.upper_first(asserted)} is not shown."
    if (abs(found.result.effect) < size.value) == (declared.magnitude_at_most is None):
        shown = against(f"it looks {other}")
    p, contrary = both_p(found.result)
    contradicted = f"{fmt.upper_first(other)}, against the claim{contrary}."
    return follows(found, f"{fmt.upper_first(asserted)}, as claimed{p}.", contradicted, shown)
