"""Masks and initial weights of different seeds, streams, epochs and arms are independent draws.

Reference: for m pairs of rows of n independent entries, (n - 1) r^2 is chi-squared with one
degree of freedom for each correlation r, and the pairs are uncorrelated. So the sum over pairs is
compared with m +- sqrt(2 m), which finds what all pairs share, and the largest correlation, at
any shift of one row against the other, with the normal tail over all pairs and shifts
(Bonferroni), which finds a pair that shares a stream.
"""

import numpy as np
import pytest
import torch
from scipy.stats import kstest, norm

from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.regularisation import Regularisation
from repro.trainers.language_model.spec import TrainingSpec
from tests.trainers import small

LEVEL = 1e-4
SIZE = 4096
"""Entries of a row."""

PLACES = ["input", "hidden", "output", "latent", "weight", "embedding"]
ARMS = [small.SOFTMAX, small.SIGSOFTMAX, small.GSS, small.PLIF, small.MOC, small.MOS]


def p_of_sum(rows):
    """Two-sided p of the sum of squared correlations over all pairs."""
    m = len(rows) * (len(rows) - 1) / 2
    squares = np.square(np.triu(np.corrcoef(rows), 1)).sum() * (rows.shape[1] - 1)
    return 2 * norm.sf(abs(squares - m) / np.sqrt(2 * m))


def p_of_largest(rows):
    """Bonferroni's p of the largest correlation of two rows at any circular shift."""
    n = rows.shape[1]
    standard = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
    waves = np.fft.rfft(standard)
    largest, tests = 0.0, 0
    for index in range(len(rows) - 1):
        shifted = np.fft.irfft(waves[index] * np.conj(waves[index + 1 :]), n) / n
        largest, tests = max(largest, np.abs(shifted).max()), tests + shifted.size
    return min(1.0, tests * 2 * norm.sf(largest * np.sqrt(n)))


def independent(rows):
    """Whether neither test rejects."""
    return min(p_of_sum(rows), p_of_largest(rows)) > LEVEL


def masks(run, place, p, epoch=1, windows=1):
    """``windows`` masks in a row of one place of a run, SIZE entries each."""
    drawn = Regularisation({place: p}, 0.0, lambda name: Streams(run).open(name, epoch))
    if place == "embedding":
        words_S1, ones_S1 = torch.arange(SIZE).unsqueeze(1), torch.ones(SIZE, 1)
        found = [drawn.embed(words_S1, ones_S1) for _ in range(windows)]
    elif place == "weight":
        found = [drawn.weight(torch.ones(64, 64)) for _ in range(windows)]
    else:
        found = [drawn.locked(place, torch.ones(1, 64, 64)) for _ in range(windows)]
    return [mask.flatten().numpy() for mask in found]


def replicates(count, output=small.SOFTMAX, **changes):
    return [small.run(output, replicate=number, **changes) for number in range(count)]


def initial(run, *names):
    """The first SIZE initial values of each parameter, in a model of 64 words and dimensions."""
    sizes = {"embedding_size": 64, "hidden_size": 64, "context_size": 64}
    model = LanguageModel(TrainingSpec.of(run).model.model_copy(update=sizes), 64)
    initialise(model, Streams(run))
    return [model.get_parameter(name).detach().flatten().numpy()[:SIZE] for name in names]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("p", [0.3, 0.5])
def test_masks_of_different_seeds_are_independent(place, p):
    """Forty replicates, each place, by either way of drawing."""
    rows = np.array([mask for run in replicates(40) for mask in masks(run, place, p)])
    assert independent(rows)


@pytest.mark.parametrize("p", [0.3, 0.5])
def test_masks_of_different_places_are_independent(p):
    """All places of five replicates together: no two streams share numbers."""
    rows = [mask for run in replicates(5) for place in PLACES for mask in masks(run, place, p)]
    assert independent(np.array(rows))


@pytest.mark.parametrize("place", PLACES)
def test_masks_of_different_epochs_and_windows_are_independent(place):
    """Ten epochs of four windows each, of one replicate."""
    run = small.run()
    rows = [mask for epoch in range(1, 11) for mask in masks(run, place, 0.5, epoch, 4)]
    assert independent(np.array(rows))


@pytest.mark.parametrize("place", ["hidden", "weight"])
def test_masks_of_different_arms_are_independent(place):
    """Six output layers with the same six replicates: the same seed means nothing across arms."""
    rows = [mask for arm in ARMS for run in replicates(6, arm) for mask in masks(run, place, 0.5)]
    assert independent(np.array(rows))


def test_initial_weights_of_different_seeds_and_arms_are_independent():
    """The decoder's matrix of two arms, twenty replicates each."""
    runs = [*replicates(20), *replicates(20, small.SIGSOFTMAX)]
    assert independent(np.array([row for run in runs for row in initial(run, "output.weight")]))


@pytest.mark.parametrize("kind", ["weight", "bias"])
def test_initial_weights_of_different_parameters_are_independent(kind):
    """Input's and recurrence's of both layers, ten replicates: no two parameters share numbers."""
    names = [f"trunk.layers.{n}.{part}_{kind}" for n in (0, 1) for part in ("input", "recurrent")]
    assert independent(np.array([row for run in replicates(10) for row in initial(run, *names)]))


def test_arms_of_a_paired_design_are_found():
    """The control: common random numbers, wanted there, are what these tests reject."""
    runs = [
        small.run(arm, replicate=number, streams="paired")
        for arm in (small.SOFTMAX, small.MOC)
        for number in range(20)
    ]
    for place in PLACES:
        rows = np.array([mask for run in runs for mask in masks(run, place, 0.5)])
        assert p_of_sum(rows) < 1e-12
        assert p_of_largest(rows) < 1e-12
    weights = np.array([row for run in runs for row in initial(run, "output.weight")])
    assert p_of_sum(weights) < 1e-12
    assert p_of_largest(weights) < 1e-12


def test_overlapping_streams_are_found():
    """The control: one pair of forty whose rows are one stream, a quarter of it shifted."""
    generator = np.random.default_rng(3)
    rows = generator.random((40, SIZE))
    assert independent(rows)
    rows[7, : SIZE // 4] = rows[30, 1000 : 1000 + SIZE // 4]
    assert p_of_largest(rows) < LEVEL


def test_a_little_that_all_rows_share_is_found():
    """The control: a common part of two hundredths of the variance, far below any single pair."""
    generator = np.random.default_rng(4)
    rows = generator.standard_normal((40, SIZE))
    rows += np.sqrt(0.02) * generator.standard_normal(SIZE)
    assert p_of_sum(rows) < LEVEL


def test_the_tests_keep_their_level():
    """For 300 sets of independent rows the p of the sum is uniform, Bonferroni's seldom small."""
    generator = np.random.default_rng(20180430)
    sums, largest = [], []
    for _ in range(300):
        rows = (generator.random((20, 512)) < 0.5).astype(float)
        sums.append(p_of_sum(rows))
        largest.append(p_of_largest(rows))
    assert kstest(sums, "uniform").pvalue > 1e-3
    assert np.mean(np.array(largest) < 0.05) < 0.1
