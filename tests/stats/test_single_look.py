"""Sequential tests of samples without an order in time: one look, at everything."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError
from repro.stats import stopping as ask
from repro.stats.anytime import e_value, one_sided_e_value, sequential
from repro.stats.group_sequential import boundaries, group_obf
from repro.stats.records import Sample, known

SEED = 20_261_122
HIGHER = ask.difference("higher")
LOOKS = (5, 10, 15, 20)


def drawn(n_a: int, n_b: int, shift: float = 0.0, sd: float = 1.0) -> tuple[Sample, Sample]:
    """Two samples of these sizes."""
    rng = np.random.default_rng([SEED, n_a, n_b])
    a, b = rng.normal(shift, sd, n_a), rng.normal(0, 1, n_b)
    return Sample.of(*map(float, a)), Sample.of(*map(float, b))


@pytest.mark.parametrize(
    "question", [HIGHER, ask.difference("different"), ask.equivalence(-1, 1)], ids=str
)
def test_one_look_is_the_last_look_of_the_process(question: ask.Question) -> None:
    """With equal sizes everything but p is what the process says after the same pairs."""
    a, b = drawn(12, 12, 0.7)
    once = sequential(a, b, question, looks=None)
    process = sequential(a, b, question, looks=range(4, 13))
    assert (once.e, once.e_opposite) == (process.e, process.e_opposite)
    assert [(one.g, one.e) for one in once.sensitivity] == [
        (one.g, one.e) for one in process.sensitivity
    ]
    assert once.interval == process.interval
    assert known(once.p) >= known(process.p)
    assert once.p == pytest.approx(min(1, 1 / question_e(a, b, question)), rel=1e-9)


def question_e(a: Sample, b: Sample, question: ask.Question) -> float:
    """The evidence of a question from scipy's t, twice the two-sided one for a margin."""
    found = []
    for border, sign in ((question.low, 1), (question.high, -1)):
        if border is not None:
            t = sign * stats.ttest_ind([x - border for x in a.values], b.values).statistic
            found.append(question.tails * float(e_value(t, a.n, b.n)) if t > 0 else 1e-300)
    if not found:
        found.append(float(e_value(stats.ttest_ind(a.values, b.values).statistic, a.n, b.n)))
    return min(found)


def test_the_order_of_the_values_means_nothing() -> None:
    """Sorted either way the result is the same to round-off."""
    a, b = drawn(20, 20)
    worst = sequential(
        Sample.of(*sorted(a.values, reverse=True)),
        Sample.of(*sorted(b.values)),
        HIGHER,
        looks=None,
    )
    assert worst.p == pytest.approx(sequential(a, b, HIGHER, looks=None).p, rel=1e-9)
    lowest = group_obf(
        Sample.of(*sorted(a.values, reverse=True)),
        Sample.of(*sorted(b.values)),
        HIGHER,
        looks=None,
        planned_looks=LOOKS,
    )
    plain = group_obf(a, b, HIGHER, looks=None, planned_looks=LOOKS)
    assert lowest.p == pytest.approx(plain.p, rel=1e-9)


@pytest.mark.parametrize("df", [3.0, 4.7, 18.0])
def test_an_e_value_of_any_t_has_mean_one(df: float) -> None:
    """It is a ratio of densities of t, so its mean without a difference is 1, whatever df is."""
    t = np.linspace(-4000, 4000, 400_001)
    density = stats.t.pdf(t, df)
    for e in (e_value(t, 4, 20, df=df), one_sided_e_value(t, 4, 20, df=df)):
        assert np.trapezoid(density * e, t) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(("n_a", "n_b"), [(20, 20), (4, 20), (20, 4), (7, 11)])
@pytest.mark.parametrize("sd", [1.0, 4.0])
def test_arms_of_unequal_size_keep_the_level(n_a: int, n_b: int, sd: float) -> None:
    """e reaches 20 in fewer than 2.5 % of 100,000 null tables, whichever arm scatters more.

    The statistic is Welch's, with its own degrees of freedom; pooled it would be many times that
    where the smaller arm scatters more.
    """
    rng = np.random.default_rng([SEED, n_a, n_b, int(sd)])
    a, b = rng.normal(0, sd, (100_000, n_a)), rng.normal(0, 1, (100_000, n_b))
    parts = a.var(1, ddof=1) / n_a, b.var(1, ddof=1) / n_b
    df = (parts[0] + parts[1]) ** 2 / (parts[0] ** 2 / (n_a - 1) + parts[1] ** 2 / (n_b - 1))
    t = (a.mean(1) - b.mean(1)) / np.sqrt(parts[0] + parts[1])
    nu = n_a + n_b - 2 if n_a == n_b else df
    assert np.mean(e_value(t, n_a, n_b, df=nu) >= 20) < 0.025


def test_a_result_of_unequal_arms_uses_welch() -> None:
    """Effect, degrees of freedom and e are those of Welch's t over all replicates."""
    a, b = drawn(6, 15, 2.0, 3.0)
    result = sequential(a, b, HIGHER, looks=None)
    welch = stats.ttest_ind(a.values, b.values, equal_var=False)
    assert result.n == (6, 15)
    assert result.statistic == pytest.approx(welch.statistic)
    assert result.df == pytest.approx(welch.df)
    e = float(e_value(welch.statistic, 6, 15, df=welch.df))
    assert result.e == pytest.approx(e)
    assert known(result.interval).low < result.effect < known(result.interval).high


@pytest.mark.parametrize(("n", "reached"), [(5, 5), (9, 5), (10, 10), (17, 15), (20, 20), (30, 20)])
def test_planned_looks_leave_the_level_of_the_last_one_reached(n: int, reached: int) -> None:
    """All replicates are tested, at the nominal level of a look that the smaller arm reached."""
    a, b = drawn(n, n + 2, 1.0)
    result = group_obf(a, b, HIGHER, looks=None, planned_looks=LOOKS)
    times = tuple(look / 20 for look in LOOKS if look <= reached)
    nominal = 2 * stats.norm.sf(boundaries(times, 0.05)[-1])
    assert result.nominal == pytest.approx(nominal)
    assert result.n == (n, n + 2)
    welch = stats.ttest_ind(a.values, b.values, equal_var=False)
    decided = welch.pvalue <= nominal
    assert (result.decided is not None) == decided
    assert (known(result.p) <= 0.05) == (decided and welch.statistic > 0)


def test_planned_looks_at_the_end_agree_with_the_plan() -> None:
    """At the last planned look one look has the boundary of the plan."""
    a, b = drawn(20, 20, 0.8)
    once = group_obf(a, b, HIGHER, looks=None, planned_looks=LOOKS)
    plan = group_obf(a, b, HIGHER, looks=LOOKS, planned_looks=LOOKS)
    assert once.nominal == plan.nominal
    assert once.interval == plan.interval
    assert once.looks == (20,)


def test_before_the_first_look_nothing_is_tested() -> None:
    """Four seeds of an arm do not reach a first look at five."""
    a, b = drawn(4, 20)
    with pytest.raises(ClaimError, match="4 seeds are fewer than the first look needs"):
        group_obf(a, b, HIGHER, looks=None, planned_looks=LOOKS)
