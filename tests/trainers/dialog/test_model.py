"""The sequence-to-sequence model."""

import pytest
import torch
from torch.nn import functional as F

from repro.trainers.dialog.corpus import batch_of, packed
from repro.trainers.dialog.model import DialogModel
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.regularisation import Regularisation
from tests.trainers import small
from tests.trainers.dialog import tiny
from tests.trainers.dialog.test_gru import by_formula

SPLIT = tiny.random_split()
MIXTURES = {"softmax": small.SOFTMAX, "moc": small.MOC, "mos": small.MOS}

# vocabulary, E, utterance, dialog, D, output, parameters: counted by hand
COUNTED = [
    # embedding 24, utterances 2 (3 * 1 * (2 + 1 + 2)), dialog 3 * 2 * (2 + 2 + 2),
    # bridge 3 * 3, decoder 3 * 3 * (2 + 3 + 2), output 12 * 3 + 12
    (12, 2, 1, 2, 3, {"kind": "softmax"}, 24 + 30 + 36 + 9 + 63 + 48),
    # the output's matrix is 12 x 2; two latent contexts (3 + 1) * 2 each, their shares 3 * 2
    (12, 2, 1, 2, 3, {"kind": "mos", "components": 2}, 24 + 30 + 36 + 9 + 63 + 36 + 16 + 6),
]


def by_definition(model, example):
    """Log-probabilities (N, V) of a response, one word after the other, by the formulas."""
    embedding, spec = model.embedding.weight, model.spec
    dialog = torch.zeros(spec.dialog_size, dtype=torch.float64)
    for number in range(example.first, example.response):
        words = embedding[SPLIT.utterance(number)]
        ends = [
            gru_end(model.utterance_encoder, x, direction)
            for x, direction in ((words, "forward"), (words.flip(0), "backward"))
        ]
        dialog = by_gru(model.dialog_encoder, torch.cat(ends).unsqueeze(0), dialog)
    state = model.bridge.weight @ dialog + model.bridge.bias
    rows = []
    for word in SPLIT.utterance(example.response)[:-1]:
        state = by_gru(model.decoder, embedding[word].unsqueeze(0), state)
        rows.append(state)
    return model.output.log_probabilities(torch.stack(rows).unsqueeze(0)).squeeze(0)


def by_gru(gru, x, state, direction="forward"):
    return by_formula(gru, x, state, direction, gru.hidden_size)


def gru_end(gru, x, direction):
    return by_gru(gru, x, torch.zeros(gru.hidden_size, dtype=torch.float64), direction)


@pytest.mark.parametrize("name", MIXTURES)
def test_the_loss_is_that_of_the_definition(name):
    """In float64: the mean over tokens, each response by itself, word after word."""
    model, losses = tiny.built(MIXTURES[name]), []
    for example in SPLIT.examples:
        targets = SPLIT.utterance(example.response)[1:]
        losses.append(F.nll_loss(by_definition(model, example), targets, reduction="none"))
    loss = model.loss(batch_of(SPLIT, SPLIT.examples))
    torch.testing.assert_close(loss, torch.cat(losses).mean())


@pytest.mark.parametrize("name", MIXTURES)
def test_loss_and_gradients_of_a_batch_are_the_sums_of_those_of_its_responses(name):
    """Nothing in a batch changes what else is in it: the parts add up, weighted by tokens."""
    model = tiny.built(MIXTURES[name])
    whole = batch_of(SPLIT, SPLIT.examples)
    loss = model.loss(whole)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    parts = [batch_of(SPLIT, [example]) for example in SPLIT.examples]
    sum_ = torch.stack([model.loss(part) * (part.tokens / whole.tokens) for part in parts]).sum()
    torch.testing.assert_close(loss, sum_)
    for ours, theirs in zip(
        gradients, torch.autograd.grad(sum_, list(model.parameters())), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_there_is_no_padding_to_be_seen():
    """Poison in the vector of <pad> is never read."""
    model, batch = tiny.built(), batch_of(SPLIT, SPLIT.examples)
    before = model.loss(batch)
    with torch.no_grad():
        model.embedding.weight[0] = torch.nan
    assert model.loss(batch).item() == before.item()


def test_a_response_depends_on_the_order_and_on_every_utterance_of_its_context():
    """The decoder's initial state changes with any word of the context, and with their order."""
    model, contexts = tiny.built(), [[5, 6], [7], [8, 9]]
    others = [[[6, 5], [7], [8, 9]], [[5, 6], [10], [8, 9]], [[7], [5, 6], [8, 9]]]
    states = []
    for dialog in [contexts, *others]:
        split = tiny.split([[*dialog, [11]]])
        states.append(model.encode(batch_of(split, [split.examples[-1]])))
    for state in states[1:]:
        assert (state - states[0]).abs().max().item() > 1e-4


def test_a_word_does_not_see_what_follows_it():
    """Contexts of the first words stay what they are when a later word changes."""
    model, state = tiny.built(), torch.zeros(1, 1, 8, dtype=torch.float64)
    contexts = [
        model.write(packed([torch.tensor(words)]), state)[0]
        for words in ([2, 5, 6, 7], [2, 5, 6, 8])
    ]
    assert torch.equal(contexts[0][:, :3], contexts[1][:, :3])
    assert not torch.equal(contexts[0][:, 3], contexts[1][:, 3])


@pytest.mark.parametrize(("vocabulary", "E", "U", "C", "D", "output", "count"), COUNTED)
def test_parameters_are_counted_by_hand(vocabulary, E, U, C, D, output, count):
    """The specification states the number that a hand counts."""
    sizes = {"embedding_size": E, "utterance_size": U, "dialog_size": C, "context_size": D}
    assert tiny.seq2seq(output, **sizes).parameters(vocabulary) == count


@pytest.mark.parametrize("name", small.OUTPUTS)
def test_the_model_has_the_stated_parameters_whatever_its_output(name):
    """Every output layer of the language models fits, and the counts are those stated."""
    spec = tiny.seq2seq(small.OUTPUTS[name])
    model = DialogModel(spec, tiny.V)
    assert sum(p.numel() for p in model.parameters()) == spec.parameters(tiny.V)
    initialise(model, Streams(small.run()))
    assert model.loss(batch_of(SPLIT, SPLIT.examples)).isfinite()


def test_a_mixture_may_have_a_latent_size_of_its_own():
    """The decoder's matrix then has as many columns, and the rank bound follows."""
    spec = tiny.seq2seq(small.MOC, latent_size=9)
    model = DialogModel(spec, tiny.V)
    assert model.output.weight.shape == (tiny.V, 9)
    assert sum(p.numel() for p in model.parameters()) == spec.parameters(tiny.V)
    assert spec.rank_bound() == 11


def test_dropout_is_drawn_for_every_position_and_every_epoch_anew():
    """Masks follow the epoch's streams; without them the loss is that of evaluation."""
    batch = batch_of(SPLIT, SPLIT.examples)
    streams = Streams(small.run())
    model = tiny.built(small.MOS)
    recipe = tiny.recipe(dropout={"input": 0.3, "output": 0.5, "latent": 0.2})
    losses = [
        model.loss(batch, Regularisation.of_epoch(recipe, streams, epoch)).item()
        for epoch in (1, 1, 2)
    ]
    assert losses[0] == losses[1] != losses[2]
    quiet = Regularisation.of_epoch(tiny.recipe(), streams, 1)
    assert model.loss(batch, quiet).item() == model.loss(batch).item() != losses[0]
    only = tiny.recipe(dropout={"output": 0.5})
    dropped = model(batch, Regularisation.of_epoch(only, streams, 1)) == 0
    assert 0.4 < dropped.double().mean().item() < 0.6
    assert dropped.any(dim=1).all()
    assert not dropped.all(dim=1).any()
