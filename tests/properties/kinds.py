"""Every kind of expectation on values made by hand, as judging sees it: what the properties share.

``unit`` is the unit of measurement, in the values and in every margin; ``wide`` makes whatever is
claimed so many times easier to confirm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

from hypothesis import strategies as st

from repro.expectations.verdict_words import Conclusion
from repro.judging.judge import Judgement, judge_claim
from repro.judging.verdict import Judged
from repro.specs.claim import Claim
from tests.judging.made import LOSS, made, seen

Values: TypeAlias = Mapping[str, Mapping[str, Sequence[float]]]
"""arm -> measurement -> one value a seed."""

Write: TypeAlias = Callable[[float, float], dict[str, Any]]

WHY = "the size that these values were made for"
SIZE = {"kind": "reported", "label": "size", "better": "higher"}
BUDGETED = {**LOSS, "censored": {"at": 1e12, "why": WHY}}
"""Of values that are all known, so that a change of unit changes no budget."""

FLIPPED = {
    Conclusion.CONFIRMED: Conclusion.CONTRADICTED,
    Conclusion.CONTRADICTED: Conclusion.CONFIRMED,
    Conclusion.INCONCLUSIVE: Conclusion.INCONCLUSIVE,
    Conclusion.NOT_TESTED: Conclusion.NOT_TESTED,
}


@dataclass(frozen=True)
class Kind:
    """One kind of expectation: how it is written, on which arms, with how many seeds.

    ``together``: the values of one seed belong together. ``in_time``: seeds come one after the
    other, so their numbers mean something. ``scattered``: an arm may scatter eight times as much.
    """

    write: Write
    arms: str = "ab"
    n: int = 5
    together: bool = False
    in_time: bool = False
    scattered: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)


def plain(kind: str, arms: str = "ab", **how: Any) -> Write:
    """An expectation without any size."""
    return lambda unit, wide: {"kind": kind, "of": [*arms], **how}


def difference(test: str = "welch", direction: str = "lower") -> Write:
    """A difference without a smallest effect."""
    return plain("difference", test=test, direction=direction)


def smallest(test: str) -> Write:
    """A difference with a smallest effect of 1, in the unit."""
    return lambda unit, wide: {
        **difference(test)(unit, wide),
        "smallest_effect": {"abs": unit / wide, "why": WHY},
    }


def margin(kind: str, way: str = "abs") -> Write:
    """A margin: 1 in the unit, a twelfth of mean B, or an eighth of a gain of 8."""

    def write(unit: float, wide: float) -> dict[str, Any]:
        sizes: dict[str, Any] = {
            "abs": unit * wide,
            "relative": wide / 12,
            "of_gain": {"share": wide / 8, "gain": f"{8 * unit:.3f}"},
        }
        return {"kind": kind, "of": ["a", "b"], "margin": {way: sizes[way], "why": WHY}}

    return write


def least(kind: str, value: float) -> Write:
    """A ratio or a separation of at least so many times."""
    return lambda unit, wide: {
        "kind": kind,
        "of": ["a", "b"],
        "at_least": {"value": max(1.0, value / wide), "why": WHY},
    }


def bound(side: str, **share: float) -> Write:
    """A bound at 10, in the unit, of all seeds or of a share of them."""

    def write(unit: float, wide: float) -> dict[str, Any]:
        limit = 10 * unit * (wide if side == "at_most" else 1 / wide)
        own: dict[str, Any] = {"kind": "bound", "of": ["a"], side: {"value": limit, "why": WHY}}
        return {**own, **{k: {"value": v / wide, "why": WHY} for k, v in share.items()}}

    return write


def level(side: str, **how: str) -> Write:
    """A mean or a median against 10, in the unit."""

    def write(unit: float, wide: float) -> dict[str, Any]:
        limit = 10 * unit * (wide if side == "at_most" else 1 / wide)
        return {"kind": "level", "of": ["a"], side: {"value": limit, "why": WHY}, **how}

    return write


def spread(key: str, **how: str) -> Write:
    """A scatter of at least, or at most, as much, or within a factor of three."""

    def write(unit: float, wide: float) -> dict[str, Any]:
        value = {"at_least": 1 / wide, "at_most": wide, "within_factor": 3 * wide}[key]
        return {"kind": "spread", "of": ["a", "b"], key: {"value": value, "why": WHY}, **how}

    return write


def association(arms: str = "a", points: str = "replicates", **how: Any) -> Write:
    """Two measurements together, in a direction."""
    return plain("association", arms, against="size", points=points, **how)


def magnitude(side: str, method: str = "pearson") -> Write:
    """The size of a correlation, at most or at least .4."""
    return lambda unit, wide: {
        **association(method=method)(unit, wide),
        side: {"value": 0.4 * (wide if side.endswith("most") else 1 / wide), "why": WHY},
    }


def proportion(arms: str = "ab", **how: Any) -> Write:
    """Wins in more than one half."""
    return lambda unit, wide: {
        "kind": "proportion",
        "of": [*arms],
        "more_than": 0.5 / wide,
        "clusters": "none",
        **how,
    }


NIGHTLY = {"sequential": {"method": "eprocess_t"}, "seeds": {"min": 3, "plan": 6}}
PLANNED = {"sequential": {"method": "group_obf", "looks": [4, 6]}, "seeds": {"min": 4, "plan": 6}}

TESTS = ("welch", "student", "paired", "permutation", "brunner_munzel", "yuen")
METHODS = {"pearson": 8, "spearman": 6, "kendall": 6}

DIFFERENCES = {
    f"difference, {test}": Kind(
        difference(test), n=6 if test == "yuen" else 5, together=test == "paired"
    )
    for test in TESTS
}
SMALLEST = {
    f"smallest effect, {test}": Kind(smallest(test), together=test == "paired")
    for test in ("welch", "student", "paired", "yuen")
}
MARGINS = {
    f"{kind}, {way}": Kind(margin(kind, way))
    for kind in ("equivalence", "non_superiority", "non_inferiority")
    for way in ("abs", "relative", "of_gain")
}
EXACT = {
    "separation": Kind(least("separation", 1)),
    "separation by a factor": Kind(least("separation", 2)),
    "bound from above": Kind(bound("at_most"), arms="a"),
    "bound from below": Kind(bound("at_least"), arms="a"),
    "bound of a share": Kind(bound("at_most", share=0.5), arms="a", n=8),
}
LEVELS_OF_ONE = {
    "level from above": Kind(level("at_most"), arms="a"),
    "level from below": Kind(level("at_least"), arms="a"),
    "level of a median": Kind(level("at_most", statistic="median"), arms="a", n=6),
}
TIMES = {
    f"survivals, {direction}": Kind(
        plain("survivals", direction=direction),
        n=5,
        fields={"measurements": {"loss": BUDGETED, "size": SIZE}},
    )
    for direction in ("sooner", "later")
}
SPREADS = {
    f"spread, {key}, {test}": Kind(spread(key, test=test), n=12, scattered=True)
    for key in ("at_least", "at_most", "within_factor")
    for test in ("levene", "f")
}


def within(side: str, **how: Any) -> Write:
    """A shift of less than 1, in the unit."""
    return lambda unit, wide: {
        "kind": "within",
        "of": ["a", "b"],
        "side": side,
        "margin": {"abs": unit * wide, "why": WHY},
        **how,
    }


REFERENCES = {
    "within": Kind(within("both")),
    "within, higher": Kind(within("higher")),
    "within, nights": Kind(within("lower", nights=7)),
    "within, tolerance": Kind(within("higher", tolerance=0.9)),
}
SIGNS = {
    f"association, {method}": Kind(
        association(method=method, direction="positive"), arms="a", n=n, together=True
    )
    for method, n in METHODS.items()
}
SIZES = {
    f"{side}, {method}": Kind(magnitude(side, method), arms="a", n=24, together=True)
    for side in ("magnitude_at_most", "magnitude_at_least")
    for method in METHODS
}
ORDERS = {
    "trend, jonckheere": Kind(plain("trend", "abc", direction="increasing"), arms="abc", n=3),
    "trend, kendall": Kind(
        plain("trend", "abc", direction="increasing", test="kendall"), arms="abc", n=3
    ),
    "ordering": Kind(plain("ordering", "abc", direction="increasing"), arms="abc", n=4),
}
PROPORTIONS = {
    "proportion": Kind(proportion(), n=6, together=True),
    "proportion, clustered": Kind(
        proportion(clusters=2, more_than=0.5),
        n=12,
        together=True,
        in_time=True,
    ),
}
SEQUENTIAL = {
    f"{name}, {method}": Kind(write, n=6, in_time=True, fields=fields)
    for method, fields in (("eprocess_t", NIGHTLY), ("group_obf", PLANNED))
    for name, write in (
        ("difference", difference()),
        ("equivalence", margin("equivalence")),
        ("non_superiority", margin("non_superiority")),
    )
}
LEVEL_LOOKS = {
    f"level, {method}": Kind(level("at_most"), arms="a", n=6, in_time=True, fields=fields)
    for method, fields in (("eprocess_t", NIGHTLY), ("group_obf", PLANNED))
}
KINDS: Mapping[str, Kind] = {
    **DIFFERENCES,
    "difference, either way": Kind(difference(direction="different")),
    **SMALLEST,
    **MARGINS,
    "ratio": Kind(least("ratio", 1)),
    "ratio of two": Kind(least("ratio", 2)),
    **EXACT,
    **LEVELS_OF_ONE,
    **SPREADS,
    **REFERENCES,
    **TIMES,
    **SIGNS,
    "association, of arms": Kind(
        association("abcdef", "arms", direction="positive"), arms="abcdef", n=2
    ),
    **SIZES,
    **ORDERS,
    **PROPORTIONS,
    **SEQUENTIAL,
    **LEVEL_LOOKS,
}
"""Every kind of expectation, with every test, method and form of margin that it has."""


LEVELS = st.sampled_from((8.0, 8.5, 9.0, 12.0, 20.0))
STEPS = st.integers(0, 8).map(lambda step: step / 8)


@st.composite
def values_of(draw: st.DrawFn, kind: Kind) -> Values:
    """Values that some claims of the kind are confirmed on, others not: a level an arm, and noise.

    The second measurement follows the first, or runs against it, or has nothing to do with it.
    All are multiples of an eighth, so that ties happen and sums are exact.
    """
    found = {}
    slope = draw(st.sampled_from((-1.0, 0.0, 1.0)))
    for arm in kind.arms:
        level, noise = draw(LEVELS), draw(st.lists(STEPS, min_size=kind.n, max_size=kind.n))
        other = draw(st.lists(STEPS, min_size=kind.n, max_size=kind.n))
        wide = draw(st.sampled_from((1.0, 8.0))) if kind.scattered else 1.0
        loss = [level + wide * one for one in noise]
        size = [20 + slope * x + y for x, y in zip(loss, other, strict=True)]
        found[arm] = {"loss": loss, "size": size}
    return found


def claim_of(kind: Kind, unit: float = 1.0, wide: float = 1.0, **changes: Any) -> Claim:
    """A claim with one expectation of the kind."""
    written = {**kind.write(unit, wide), **changes}
    whole: dict[str, Any] = {
        "measurements": {"loss": LOSS, "size": SIZE},
        "design": "paired" if written.get("test") == "paired" else "independent",
        "seeds": {"min": 2, "plan": kind.n},
        **kind.fields,
    }
    return made(written, arms=kind.arms, **whole)


known_claim = cache(lambda name, unit=1.0, wide=1.0: claim_of(KINDS[name], unit, wide))
"""The claim of a kind by its name; the same one when asked for again."""


def judge(claim: Claim, values: Values) -> Judgement:
    """The claim judged on these values."""
    return judge_claim(claim, seen(claim, values))


def first(claim: Claim, values: Values) -> Judged:
    """The first expectation of the claim as judged on these values."""
    return judge(claim, values).judged[0]


def words(one: Judged) -> tuple[Conclusion, bool]:
    """The conclusion, and whether the test refused the values."""
    return one.conclusion, one.result is None


def on_edge(one: Judged, alpha: float = 0.05) -> bool:
    """Whether round-off could tip a p-value over the level."""
    return any(abs(p - alpha) < 1e-7 for p in (one.finding.p, one.finding.p_opposite))


def each(values: Values, change: Callable[[Sequence[float]], Sequence[float]]) -> Values:
    """The same change to every column of values."""
    return {
        arm: {name: change(column) for name, column in own.items()} for arm, own in values.items()
    }


def renamed(values: Values, names: Mapping[str, str]) -> Values:
    """The values of each arm under another's name."""
    return {names.get(arm, arm): own for arm, own in values.items()}


def written(kind: Kind, **changes: Any) -> Kind:
    """The kind with some fields of its expectation written otherwise."""
    return replace(kind, write=lambda unit, wide: {**kind.write(unit, wide), **changes})
