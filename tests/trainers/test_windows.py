"""The windows of an epoch."""

import itertools

import numpy as np
import pytest
import torch

from repro.trainers.language_model.corpus import draw_length, draw_windows, windows_of
from repro.trainers.language_model.recipe import WindowLength


def generator():
    return np.random.Generator(np.random.Philox(0))


def test_random_lengths_have_the_published_mean_and_deviation():
    """The rule with base 70 gives a mean of 67.74 and a standard deviation of 9.13."""
    window = WindowLength(base=70, random=True, max_delta=40)
    rng = generator()
    lengths = np.array([draw_length(window, rng) for _ in range(100_000)])
    assert lengths.mean() == pytest.approx(67.74, abs=0.12)
    assert lengths.std() == pytest.approx(9.13, abs=0.15)


def test_the_cap_and_the_least_length_hold():
    """No window is longer than base + max_delta or shorter than 5."""
    window = WindowLength(base=8, random=True, max_delta=2)
    rng = generator()
    lengths = {draw_length(window, rng) for _ in range(2000)}
    assert min(lengths) == 5
    assert max(lengths) == 10


@pytest.mark.parametrize("random", [True, False])
def test_windows_cover_every_step_once(random):
    """The windows of an epoch follow each other to the last step, however short the last is."""
    windows = draw_windows(1001, WindowLength(base=20, random=random), generator())
    assert windows[0].start == 0
    assert all(a.start + a.length == b.start for a, b in itertools.pairwise(windows))
    assert windows[-1].start + windows[-1].length == 1001


def test_the_rate_follows_the_length_of_random_windows():
    """A random window has the rate length / base; a fixed one has 1, the last rest too."""
    random = draw_windows(500, WindowLength(base=20, random=True), generator())
    assert all(window.rate == window.length / 20 for window in random)
    assert {window.rate for window in windows_of(95, 10)} == {1.0}


def test_the_last_rate_may_follow_the_length_that_was_drawn():
    """Windows and rates are the same but for the last, whose rate is that of its whole length."""
    cut, whole = (
        draw_windows(500, WindowLength(base=20, random=True, last_rate=last), generator())
        for last in (None, "drawn")
    )
    assert whole[:-1] == cut[:-1]
    assert (whole[-1].start, whole[-1].length) == (cut[-1].start, cut[-1].length)
    rng = generator()
    drawn = [draw_length(WindowLength(base=20, random=True), rng) for _ in whole]
    assert drawn[-1] > whole[-1].length
    assert whole[-1].rate == drawn[-1] / 20


def test_targets_are_the_inputs_one_step_later():
    """A window reads words t and predicts words t + 1."""
    text = torch.arange(12).view(6, 2)
    window = windows_of(5, 3)[1]
    assert torch.equal(window.inputs(text), text[3:5])
    assert torch.equal(window.targets(text), text[4:6])
