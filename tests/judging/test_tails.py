"""A difference with one tail: found at alpha in the claimed direction, and against it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from repro.expectations.decision_rules import conclude_difference
from repro.expectations.verdict_words import Conclusion
from repro.stats.planning import PlannedDifference, power_of_test
from repro.stats.power import PowerDesign, power_difference
from repro.stats.records import Sample
from repro.stats.t_tests import TESTS
from tests.judging.made import judged, made, only

ONE = {"kind": "difference", "of": ["a", "b"], "direction": "lower", "tails": 1}
WEAK = {"a": (9.6, 11.9, 9.9, 11.2, 10.1), "b": (12.0, 12.3, 11.8, 12.1, 11.9)}
SEED = 20261122


def test_the_p_is_that_of_the_claimed_side() -> None:
    """Half of the two-sided one, as scipy's; the sentence and the name of the test say so."""
    found = only(made(ONE), WEAK)
    theirs = stats.ttest_ind(WEAK["a"], WEAK["b"], equal_var=False, alternative="less")
    assert found.p == pytest.approx(theirs.pvalue)
    assert found.interval is not None
    assert found.interval.level == pytest.approx(0.9)
    assert found.test == "Welch's t-test, one-sided"
    assert "one-sided p = " in found.sentence
    assert "one-sided" not in only(made({**ONE, "tails": 2}), WEAK).sentence


def test_it_decides_between_alpha_and_half_of_it() -> None:
    """p = .03 one-sided and .06 two-sided: only one tail confirms, and only it contradicts."""
    between = {"a": (10.0, 12.3, 10.3, 11.6, 10.5), "b": WEAK["b"]}
    one, two = (only(made({**ONE, "tails": tails}), between) for tails in (1, 2))
    assert one.p is not None
    assert 0.025 < one.p < 0.05
    assert (one.conclusion, two.conclusion) == ("CONFIRMED", "INCONCLUSIVE")
    against = only(made({**ONE, "direction": "higher"}), between)
    assert against.conclusion == "CONTRADICTED"
    assert against.p == pytest.approx(1 - one.p)


def test_a_smallest_effect_is_held_to_the_interval_of_one_tail() -> None:
    """The lower end of 90 %, where two tails hold it to that of 95 %."""
    result = stats.ttest_ind(WEAK["b"], WEAK["a"], equal_var=False)
    wide, narrow = (result.confidence_interval(level).low for level in (0.95, 0.9))
    size = {"abs": round((wide + narrow) / 2, 3), "why": "between the two"}
    one, two = (only(made({**ONE, "smallest_effect": size, "tails": t}), WEAK) for t in (1, 2))
    assert (one.conclusion, two.conclusion) == ("CONFIRMED", "INCONCLUSIVE")


def test_what_is_declared_by_default_is_left_out() -> None:
    """Two tails are what every claim had: written out, its digest is the same."""
    plain = {name: value for name, value in ONE.items() if name != "tails"}
    assert made(plain).digest() == made({**plain, "tails": 2}).digest() != made(ONE).digest()


def test_the_design_is_planned_with_one_tail() -> None:
    """The smallest effect that is found four times in five, as Welch's power has it."""
    planned: Any = {"planned_sd": {"loss": {"sd": 1, "why": "a pilot study"}}}
    least = []
    for tails in (1, 2):
        part = judged(made({**ONE, "tails": tails}, **planned), WEAK).design[0]
        assert part.minimum_detectable is not None
        least.append(part.minimum_detectable)
        design = PowerDesign(1, 1, part.seeds, part.seeds, 0.1 / tails)
        assert power_difference(design, part.minimum_detectable) == pytest.approx(0.8, abs=1e-4)
    assert least[0] < least[1]


def rates(test: str, *, effect: float, sd: float, n: int, draws: int) -> tuple[float, float]:
    """How often a claim of *higher* with one tail is confirmed, and contradicted."""
    rng = np.random.default_rng([SEED, n])
    words = []
    for _ in range(draws):
        a, b = rng.normal(effect, 1, n), rng.normal(0, sd, n)
        result = TESTS[test](Sample.of(*a), Sample.of(*b), alternative="greater")
        words.append(conclude_difference(result, direction="higher").conclusion)
    return tuple(
        words.count(word) / draws for word in (Conclusion.CONFIRMED, Conclusion.CONTRADICTED)
    )  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("test", "sd", "n", "draws"),
    [
        ("welch", 1, 5, 3000),
        ("welch", 3, 5, 3000),
        ("student", 1, 5, 3000),
        ("paired", 1, 5, 3000),
        ("yuen", 1, 5, 1500),
        ("permutation", 1, 5, 1500),
        ("brunner_munzel", 1, 10, 1500),
    ],
)
def test_each_tail_holds_its_level(test: str, sd: float, n: int, draws: int) -> None:
    """No difference: CONFIRMED and CONTRADICTED at 5 % each, up to 3.5 standard errors."""
    error = 3.5 * np.sqrt(0.05 * 0.95 / draws)
    for rate in rates(test, effect=0, sd=sd, n=n, draws=draws):
        assert 0.03 - error < rate < 0.055 + error


@pytest.mark.parametrize("test", ["welch", "student", "paired"])
def test_the_power_is_that_of_the_plan(test: str) -> None:
    """Simulated, against what the design doctor computes for a test at twice the level."""
    draws, sd = 2000, float(np.sqrt(2)) if test == "paired" else 1.0
    found, _ = rates(test, effect=1.6, sd=1, n=5, draws=draws)
    planned = PlannedDifference((5,), (sd,), 0.1, test=test, effect=1.6)
    power, _ = power_of_test(planned)
    assert 0.5 < power < 0.9
    assert found == pytest.approx(power, abs=4 * np.sqrt(power * (1 - power) / draws))
