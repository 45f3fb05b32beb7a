"""What a seed controls."""

import numpy as np
import pytest
import torch

from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import STREAM_NAMES, Streams, initialise, philox
from tests.trainers import small

GOLDEN = {
    ("init", "output.weight"): 73156633194854121,
    ("window_length", 1): 8105917665689619795,
    ("weight_dropout", 7): 192385010694790732,
}


def first(run, name, *index):
    return int(Streams(run).open(name, *index).integers(2**63))


def test_streams_of_different_names_replicates_roots_epochs_and_configurations_differ():
    """No two purposes share random numbers."""
    numbers = [first(small.run(), name, 1) for name in STREAM_NAMES]
    numbers += [first(small.run(), "init", index) for index in (2, "1", "weight")]
    numbers += [first(small.run(replicate=replicate), "init", 1) for replicate in (1, 2)]
    numbers += [first(small.run(root=1), "init", 1), first(small.run(small.MOC), "init", 1)]
    numbers += [first(small.run(streams="paired"), "init", 1)]
    assert len(set(numbers)) == len(numbers)


def test_paired_configurations_draw_common_numbers():
    """With paired streams the configuration is left out, and the replicate is not."""
    softmax, moc = (small.run(output, streams="paired") for output in (small.SOFTMAX, small.MOC))
    assert first(softmax, "hidden_dropout", 3) == first(moc, "hidden_dropout", 3)
    other = small.run(small.MOC, streams="paired", replicate=1)
    assert first(softmax, "hidden_dropout", 3) != first(other, "hidden_dropout", 3)


def test_a_stream_opened_twice_begins_anew():
    """A stream is a function of its name, so a resumed training needs no saved state."""
    streams = Streams(small.run())
    one, two = streams.open("init", "x"), streams.open("init", "x")
    assert np.array_equal(one.random(5), two.random(5))


def test_streams_of_different_indices_are_uncorrelated():
    """Uniform numbers of neighbouring epochs have no correlation beyond chance."""
    streams = Streams(small.run())
    drawn = np.stack([streams.open("window_length", epoch).random(4000) for epoch in range(8)])
    correlation = np.asarray(np.corrcoef(drawn)) - np.eye(8)
    assert np.abs(correlation).max() < 5 / np.sqrt(4000)


def test_an_unknown_stream_is_an_error():
    """A misspelt stream names those that exist."""
    with pytest.raises(ValueError, match=r"unknown stream 'initial'; known: init, window_length"):
        Streams(small.run()).open("initial")


@pytest.mark.parametrize(("stream", "expected"), GOLDEN.items(), ids=str)
def test_golden_seeds(stream, expected):
    """The first number of three streams is what it always was: all stored runs depend on it."""
    assert first(small.run(streams="paired", replicate=3), *stream) == expected


def test_philox_is_a_function_of_its_document():
    """Equal documents give equal numbers whatever the order of their keys."""
    assert philox({"a": 1, "b": 2}).random() == philox({"b": 2, "a": 1}).random()


def test_initialisation_neither_reads_nor_changes_the_global_generators():
    """Building a model leaves torch's and numpy's global generators where they were."""
    before = torch.get_rng_state(), str(np.random.get_state())  # noqa: NPY002
    model = LanguageModel(small.model(small.PLIF), 30)
    initialise(model, Streams(small.run()))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert str(np.random.get_state()) == before[1]  # noqa: NPY002
