"""Sources of variation, against statsmodels, by hand and by simulation."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from repro.errors import ClaimError
from repro.stats.components import Component, Levels, decompose

DRAWN = np.random.default_rng(11)


def one_way(sd: float, levels: int = 8, each: int = 5) -> tuple[list[float], Levels]:
    effects = sd * DRAWN.standard_normal(levels)
    values = [effects[i] + DRAWN.standard_normal() for i in range(levels) for _ in range(each)]
    return values, [(f"s{i}",) for i in range(levels) for _ in range(each)]


def crossed(a: int, b: int) -> tuple[list[float], Levels]:
    first, second = 2 * DRAWN.standard_normal(a), DRAWN.standard_normal(b)
    pairs = list(itertools.product(range(a), range(b)))
    values = [first[i] + second[j] + 0.5 * DRAWN.standard_normal() for i, j in pairs]
    return values, [(f"s{i}", f"i{j}") for i, j in pairs]


def nested(a: int, b: int, each: int) -> tuple[list[float], Levels]:
    values: list[float] = []
    levels: list[tuple[str, ...]] = []
    for i in range(a):
        outer = 2 * DRAWN.standard_normal()
        for j in range(b):
            inner = DRAWN.standard_normal()
            values += [outer + inner + 0.5 * DRAWN.standard_normal() for _ in range(each)]
            levels += [(f"s{i}", f"s{i}-{j}")] * each
    return values, levels


def holds(component: Component, truth: float) -> bool:
    assert component.times is not None
    return component.times[0] <= truth <= component.times[1]


def test_nested_intervals_cover_where_there_are_any() -> None:
    """Of the innermost source, against the rest; that of the outer one is no such multiple."""
    levels = [(f"s{i}", f"s{i}-{j}") for i in range(5) for j in range(3) for _ in range(3)]
    draws, truth, held = 1500, 0.7, 0
    outer, inner = DRAWN.standard_normal((draws, 5)), truth * DRAWN.standard_normal((draws, 15))
    noise = DRAWN.standard_normal((draws, 45))
    for row in np.repeat(outer, 9, axis=1) + np.repeat(inner, 3, axis=1) + noise:
        first, second = decompose(row.tolist(), levels, ["split", "init"]).components
        assert first.times is None
        held += holds(second, truth)
    assert abs(held / draws - 0.95) < 4 * np.sqrt(0.95 * 0.05 / draws)


def test_one_source_is_that_of_restricted_likelihood() -> None:
    """In a balanced design both are the same where no estimate is negative."""
    values, levels = one_way(1.5)
    frame = pd.DataFrame({"y": values, "g": [each[0] for each in levels]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = smf.mixedlm("y ~ 1", frame, groups="g").fit(reml=True)
    found = decompose(values, levels, ["split"])
    assert found.components[0].variance == pytest.approx(fit.cov_re.iloc[0, 0], rel=1e-3)
    assert found.rest == pytest.approx(fit.scale, rel=1e-3)


def test_crossed_sources_are_those_of_a_two_way_table() -> None:
    """Mean squares of statsmodels' analysis of variance, and the formula of the textbook."""
    values, levels = crossed(6, 4)
    frame = pd.DataFrame({"y": values, "a": [x for x, _ in levels], "b": [x for _, x in levels]})
    table = sm.stats.anova_lm(smf.ols("y ~ C(a) + C(b)", frame).fit())
    squares = table["mean_sq"]
    found = decompose(values, levels, ["split", "init"])
    rest = squares["Residual"]
    assert found.rest == pytest.approx(rest)
    assert not found.nested
    assert found.components[0].variance == pytest.approx((squares["C(a)"] - rest) / 4)
    assert found.components[1].variance == pytest.approx((squares["C(b)"] - rest) / 6)


def test_nested_sources_are_those_of_restricted_likelihood() -> None:
    values, levels = nested(10, 4, 3)
    frame = pd.DataFrame({"y": values, "a": [x for x, _ in levels], "b": [x for _, x in levels]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = smf.mixedlm(
            "y ~ 1", frame, groups="a", re_formula="1", vc_formula={"b": "0 + C(b)"}
        )
        fit = model.fit(reml=True)
    found = decompose(values, levels, ["split", "init"])
    assert found.nested
    assert found.components[0].variance == pytest.approx(fit.cov_re.iloc[0, 0], rel=1e-2)
    assert found.components[1].variance == pytest.approx(fit.vcomp[0], rel=1e-2)
    assert found.rest == pytest.approx(fit.scale, rel=1e-2)


def test_estimates_are_right_on_average_and_intervals_cover() -> None:
    """2,000 tables: unbiased where nothing is truncated, and 95 % intervals hold the truth."""
    levels = [(f"s{i}",) for i in range(6) for _ in range(4)]
    draws, truth, held, found = 2000, 0.8, 0, []
    effects = truth * DRAWN.standard_normal((draws, 6))
    noise = DRAWN.standard_normal((draws, 24))
    for row in np.repeat(effects, 4, axis=1) + noise:
        (component,) = decompose(row.tolist(), levels, ["split"]).components
        found.append(component.variance)
        held += holds(component, truth)
    assert np.mean(found) == pytest.approx(truth**2, abs=4 * np.std(found) / np.sqrt(draws) + 0.02)
    assert abs(held / draws - 0.95) < 4 * np.sqrt(0.95 * 0.05 / draws)


def test_crossed_intervals_cover_too() -> None:
    levels = [(f"s{i}", f"i{j}") for i in range(6) for j in range(5)]
    draws, truth, held = 2000, 0.7, 0
    first, second = truth * DRAWN.standard_normal((draws, 6)), DRAWN.standard_normal((draws, 5))
    noise = DRAWN.standard_normal((draws, 30))
    for row in np.repeat(first, 5, axis=1) + np.tile(second, 6) + noise:
        component = decompose(row.tolist(), levels, ["split", "init"]).components[0]
        held += holds(component, truth)
    assert abs(held / draws - 0.95) < 4 * np.sqrt(0.95 * 0.05 / draws)


def test_a_negative_estimate_is_none_and_said() -> None:
    """Means that are closer than chance makes them."""
    values = [1.0, 5.0, 5.0, 1.0, 1.0, 5.0]
    (component,) = decompose(
        values, [("a",), ("a",), ("b",), ("b",), ("c",), ("c",)], ["s"]
    ).components
    assert (component.variance, component.truncated) == (0.0, True)


def test_the_total_is_that_of_fresh_levels() -> None:
    values, levels = crossed(5, 5)
    found = decompose(values, levels, ["split", "init"])
    assert found.total == pytest.approx(found.rest + sum(c.variance for c in found.components))


@pytest.mark.parametrize(
    ("levels", "sources", "words"),
    [
        ([("a",)] * 4, ["split"], "all runs have one level of 'split'"),
        ([("a",), ("a",), ("a",), ("b",)], ["split"], "have 1 to 3 runs"),
        ([("a",), ("b",), ("c",), ("d",)], ["split"], "no run is left"),
        (
            [(a, b) for a in "xy" for b in "uv" for _ in range(2)],
            ["split", "init"],
            "whose interaction may differ",
        ),
        (
            [("a", "x"), ("a", "y"), ("b", "x"), ("b", "x"), ("c", "y"), ("c", "y")],
            ["split", "init"],
            "neither crossed nor nested evenly",
        ),
    ],
)
def test_what_cannot_be_told_apart_is_refused(levels, sources, words) -> None:
    values = DRAWN.standard_normal(len(levels)).tolist()
    with pytest.raises(ClaimError, match=words):
        decompose(values, levels, sources)
