"""Before the first step."""

import pytest
import torch

from repro.trainers.dialog.model import DialogModel, begin, log_frequencies
from repro.trainers.dialog.training import mean_loss
from repro.trainers.language_model.randomness import Streams
from tests.trainers import small
from tests.trainers.dialog import tiny

SPLIT = tiny.random_split()


def begun(replicate=0, output=small.MOS, **recipe):
    model = DialogModel(tiny.seq2seq(output), tiny.V, torch.float64)
    begin(model, tiny.recipe(**recipe), Streams(small.run(replicate=replicate)), SPLIT)
    return model


def test_parameters_are_a_function_of_the_replicate():
    """The same streams give the same values, another replicate others, and the bias is 0."""
    first, again, other = begun(), begun(), begun(replicate=1)
    for name, parameter in first.named_parameters():
        assert torch.equal(parameter, again.get_parameter(name))
        changed = not torch.equal(parameter, other.get_parameter(name))
        assert changed == (name != "output.bias")
    assert not first.output.bias.any()


def test_frequencies_are_counted_by_hand():
    """Two responses of one word each: 7 once, 8 once and </s> twice, and each word once more."""
    split = tiny.split([[[7], [8]]])
    expected = torch.ones(tiny.V, dtype=torch.float64)
    expected[[7, 8]] += 1
    expected[tiny.END] += 2
    torch.testing.assert_close(log_frequencies(split, tiny.V).exp(), expected / (tiny.V + 4))


@pytest.mark.parametrize("output", [small.SOFTMAX, small.MOC, small.MOS])
def test_a_unigram_bias_begins_at_the_loss_of_frequencies(output):
    """With a decoder of zeros the loss is the cross-entropy of the counted frequencies."""
    model = begun(output=output, initial_bias="unigram")
    with torch.no_grad():
        model.output.weight.zero_()
    log_p = log_frequencies(SPLIT, tiny.V)
    words = torch.cat([SPLIT.utterance(example.response)[1:] for example in SPLIT.examples])
    assert mean_loss(model, SPLIT)[0] == pytest.approx(-log_p[words].mean().item(), rel=1e-12)
    rest = begun(output=output)
    for name, parameter in rest.named_parameters():
        same = torch.equal(parameter, model.get_parameter(name))
        assert same == (name not in {"output.bias", "output.weight"})
