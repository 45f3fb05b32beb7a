"""Our replicates are pairs: our error is that of their differences, in every measure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError
from repro.stats.contrast import Contrast, effect_ratio, welch_contrast
from repro.stats.records import Sample, Summary, known
from repro.stats.replication import (
    arms_of,
    contrast_of,
    fixed_effect,
    predict,
    replicate,
    sceptical,
    small_telescopes,
    z_value,
)
from repro.stats.t_tests import paired

SEED = 20261101
ORIGINAL = Summary(10, 55.8, 0.5), Summary(10, 56.4, 0.5)
BASE = (57.1, 55.2, 56.9, 54.8, 56.0, 58.0, 56.3, 55.5)
GAIN = (0.51, 0.49, 0.50, 0.52, 0.48, 0.51, 0.50, 0.49)
OURS = (
    Sample.of(*(base - gain for base, gain in zip(BASE, GAIN, strict=True))),
    Sample.of(*BASE),
)


def test_our_study_is_that_of_the_paired_test():
    """
    Effect, interval and p of ours are those of the paired t-test, not of Welch's.
    """
    found, own = replicate(ORIGINAL, OURS, paired=True), paired(*OURS)
    assert found.ours.effect == pytest.approx(own.effect)
    assert found.ours.se == pytest.approx(known(own.se))
    assert found.ours.df == own.df == 7
    assert found.ours.p == pytest.approx(known(own.p))
    assert found.ours.interval.low == pytest.approx(known(own.interval).low)
    assert found.ours.interval.high == pytest.approx(known(own.interval).high)
    assert (found.significant, found.covered) == (True, False)
    unpaired = replicate(ORIGINAL, OURS)
    assert (unpaired.significant, unpaired.covered) == (False, True)
    assert unpaired.ours.se > 50 * found.ours.se


def test_every_measure_follows_the_pairs():
    """
    Ratio, small telescopes, sceptical p and Q are those of the mean of the differences.
    """
    found = replicate(ORIGINAL, OURS, paired=True)
    result, first = paired(*OURS), welch_contrast(*ORIGINAL)
    own = Contrast(result.effect, known(result.se), known(result.df))
    ratio = effect_ratio(first, own, df=found.prediction.df)
    assert known(found.effect_ratio.low) == pytest.approx(known(ratio.low))
    assert found.small_telescopes.p == pytest.approx(small_telescopes(ORIGINAL, own).p)
    variances = (first.se / own.se) ** 2
    doubt = sceptical(z_value(first), z_value(own), variances)
    assert known(found.sceptical).golden == pytest.approx(doubt.golden)
    total = first.se**2 + own.se**2
    pooled = found.fixed_effect
    assert pooled.q == pytest.approx((first.effect - own.effect) ** 2 / total)
    assert pooled.se == pytest.approx(first.se * own.se / math.sqrt(total))
    assert pooled.effect == pytest.approx(
        (own.se**2 * first.effect + first.se**2 * own.effect) / total
    )


def test_the_note_says_what_is_taken_of_the_papers_arms():
    """
    No correlation of the printed arms is known, so they count as independent; a note says so.
    """
    (note,) = replicate(ORIGINAL, OURS, paired=True).notes
    assert "the paper's arms count as independent" in note
    assert replicate(ORIGINAL, OURS).notes == ()


def test_the_prediction_takes_our_error_from_the_differences():
    """
    Both printed arms and the differences are three means with errors of their own.
    """
    found = predict(ORIGINAL, OURS, paired=True)
    own = np.std(np.subtract(OURS[0].values, OURS[1].values), ddof=1)
    squares = [0.5**2 / 10, 0.5**2 / 10, float(own) ** 2 / 8]
    df = sum(squares) ** 2 / (squares[0] ** 2 / 9 + squares[1] ** 2 / 9 + squares[2] ** 2 / 7)
    assert found.df == pytest.approx(df)
    reach = float(stats.t.ppf(0.975, df)) * math.sqrt(sum(squares))
    assert found.interval.high == pytest.approx(-0.6 + reach)
    assert found == replicate(ORIGINAL, OURS, paired=True).prediction


@pytest.mark.parametrize("shift", [-0.6, -0.3, 0.1, 0.5])
def test_the_parts_agree_with_each_other(shift):
    """
    Prediction interval, Q-test and Fieller's set of ratios say the same about compatibility.
    """
    moved = Sample.of(*(value + shift for value in OURS[0].values))
    found = replicate(ORIGINAL, (moved, OURS[1]), paired=True)
    ratio = found.effect_ratio
    assert found.compatible == (abs(shift) < 0.4)
    assert found.compatible == (found.fixed_effect.q_p >= 0.05)
    assert found.compatible == (known(ratio.low) <= 1 <= known(ratio.high))


def test_a_ratio_of_pairs():
    """
    On logarithms the differences are those of the pairs' logarithms.
    """
    found = replicate(ORIGINAL, OURS, paired=True, ratio=True)
    own = paired(OURS[0].log(), OURS[1].log())
    assert found.ours.se == pytest.approx(known(own.se))
    assert found.prediction == predict(ORIGINAL, OURS, paired=True, ratio=True)


def test_pairs_that_cannot_be():
    """
    Summaries, partners that are missing, a constant difference and a shared baseline are refused.
    """
    alone = Sample(BASE[:7], tuple(range(1, 8)))
    constant = Sample.of(*(base - 0.5 for base in BASE))
    with pytest.raises(ClaimError, match="paired"):
        replicate(ORIGINAL, (OURS[0], ORIGINAL[1]), paired=True)
    with pytest.raises(ClaimError, match="no partner"):
        predict(ORIGINAL, (OURS[0], alone), paired=True)
    with pytest.raises(ClaimError, match="differ by the same amount"):
        replicate(ORIGINAL, (constant, OURS[1]), paired=True)
    with pytest.raises(ClaimError, match="no error to compare"):
        contrast_of((Summary(8, -0.5, 0.0),))
    with pytest.raises(ClaimError, match="share no printed baseline"):
        predict(ORIGINAL, OURS, shared_baseline=True, paired=True)


def pairs(rng: np.random.Generator, n: int, correlation: float) -> tuple[Sample, Sample]:
    """Arms with means 3 and 0 and standard deviation 1, correlated by their common part."""
    common, a, b = rng.normal(0, 1, (3, n))
    own = math.sqrt(1 - correlation)
    first, second = (math.sqrt(correlation) * common + own * arm for arm in (a, b))
    return Sample.of(*(3 + first).tolist()), Sample.of(*second.tolist())


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.999])
def test_coverage_with_independent_printed_arms(correlation):
    """
    However our pairs correlate, the prediction interval covers our effect and the pooled
    interval the true one in 95 of 100 cases, where the printed arms are independent.
    """
    rng, draws = np.random.default_rng([SEED, int(1000 * correlation)]), 3000
    inside = pooled = 0
    for _ in range(draws):
        a, b = pairs(rng, 10, 0.0)
        original, ours = (a.summary(), b.summary()), pairs(rng, 8, correlation)
        prediction = predict(original, ours, paired=True)
        own = arms_of(ours, paired=True)
        found = fixed_effect(original, own, 0.95, prediction.df)
        inside += contrast_of(own).effect in prediction.interval
        pooled += 3.0 in found.interval
    assert inside / draws == pytest.approx(0.95, abs=0.016)  # 4 standard errors
    assert pooled / draws == pytest.approx(0.95, abs=0.016)


def test_coverage_with_printed_pairs():
    """
    Printed arms that are positively correlated pairs too make the interval too wide, never
    too narrow: it covers more than 95 of 100 cases.
    """
    rng, draws = np.random.default_rng(SEED), 2000
    inside = 0
    for _ in range(draws):
        a, b = pairs(rng, 10, 0.5)
        ours = pairs(rng, 8, 0.9)
        prediction = predict((a.summary(), b.summary()), ours, paired=True)
        inside += paired(*ours).effect in prediction.interval
    assert inside / draws > 0.97


def test_small_telescopes_hold_their_level_for_pairs():
    """
    Where the true effect is d33, ours of correlated pairs refutes it in 5 of 100 cases.
    """
    original = Summary(10, 1.0, 1.0), Summary(10, 0.0, 1.0)
    d33 = small_telescopes(original, Contrast(0.0, 1.0, 9)).d33
    rng, draws, refuted = np.random.default_rng(SEED), 2000, 0
    for _ in range(draws):
        a, b = pairs(rng, 8, 0.9)
        moved = Sample.of(*(value - 3 + d33 for value in a.values))
        refuted += contrast_of(arms_of((moved, b), paired=True)).p_less(d33) <= 0.05
    assert refuted / draws == pytest.approx(0.05, abs=0.02)
