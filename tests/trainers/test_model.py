"""The whole model: sizes, initial values, tied weights."""

import json

import pytest
import torch

from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.spec import Model, TrainingSpec
from tests.trainers import small

MOS15 = {"kind": "mos", "components": 15}
MOC15 = {"kind": "moc", "components": 15}

# vocabulary, embedding, hidden, context, output, parameters: facts.md 1.3, published counts
PUBLISHED = [
    (10_000, 400, 1150, 400, {"kind": "softmax"}, 24_221_600),
    (10_000, 400, 1150, 400, {"kind": "plif"}, 24_321_600),
    (10_000, 280, 960, 620, MOS15, 21_500_620),
    (10_000, 280, 960, 620, MOC15, 21_500_620),
    (10_000, 280, 960, 280, MOS15, 17_535_200),
    (10_000, 280, 960, 280, {"kind": "softmax"}, 16_350_800),
    (10_000, 340, 960, 340, {"kind": "softmax"}, 17_560_880),
    (33_278, 400, 1150, 400, {"kind": "softmax"}, 33_556_078),
    (33_278, 400, 1150, 400, {"kind": "plif", "frozen": True}, 33_656_078),
    (33_278, 300, 1150, 650, MOS15, 34_909_528),
    (33_278, 300, 1150, 650, MOC15, 34_909_528),
    (10_000, 400, 1150, 400, {"kind": "sigsoftmax"}, 24_221_600),
    (10_000, 400, 1150, 400, {"kind": "gss", "c": -1.5, "k": 2.5}, 24_221_600),
    (33_278, 400, 1150, 400, {"kind": "sigsoftmax"}, 33_556_078),
    (33_278, 400, 1150, 400, {"kind": "gss", "c": -1.5, "k": 3.0}, 33_556_078),
    (10_000, 400, 1150, 400, {"kind": "plif", "frozen": True, "only": "jitter"}, 24_321_600),
]


@pytest.mark.parametrize(("V", "E", "H", "D", "output", "count"), PUBLISHED)
def test_parameter_counts_are_the_published_ones(V, E, H, D, output, count):
    """The model has exactly as many parameters as the paper and as its specification states."""
    sizes = {"embedding_size": E, "hidden_size": H, "context_size": D, "output": output}
    spec = Model.model_validate_json(json.dumps(sizes))
    with torch.device("meta"):
        model = LanguageModel(spec, V)
    assert sum(p.numel() for p in model.parameters()) == count == spec.parameters(V)


def test_initial_values_have_the_papers_ranges():
    """Decoder U(±0.1) and bias 0, LSTM U(±1/sqrt(H)), mixture U(±1/sqrt(D)), all of it."""
    model = LanguageModel(
        small.model(small.MOS, embedding_size=50, hidden_size=64, context_size=100), 40
    )
    initialise(model, Streams(small.run()))
    bounds = {"output.weight": 0.1, "output.bias": 0.0}
    for name, parameter in model.named_parameters():
        if name.startswith("trunk"):
            bound = (64 if ".0." in name else 100) ** -0.5
        else:
            bound = bounds.get(name, 0.1)
        assert parameter.abs().max().item() <= bound + 1e-7
        if parameter.numel() > 300:
            assert parameter.abs().max().item() > 0.98 * bound
            assert abs(parameter.mean().item()) < 4 * bound / (3 * parameter.numel()) ** 0.5


def test_the_embedding_is_the_decoder():
    """Reading and predicting change one and the same matrix."""
    model = small.built(small.model(), 30)
    tokens = torch.tensor([[3], [4]])
    output = model(tokens, model.zero_state(1))
    model.output.loss(output.context, torch.tensor([[4], [5]])).backward()
    assert [n for n, p in model.named_parameters() if p.shape == (30, 6)] == ["output.weight"]
    read = torch.autograd.grad(
        model(tokens, model.zero_state(1)).context.sum(), model.output.weight
    )[0]
    assert read[3].any()
    assert not read[5].any()
    assert model.output.weight.grad is not None
    assert model.output.weight.grad[5].any()


@pytest.mark.parametrize("output", [small.SOFTMAX, small.GSS, small.MOC, small.MOS])
def test_a_free_decoder_is_another_matrix(output):
    """Reading changes the embedding, predicting the decoder, and each has a size of its own."""
    spec = small.model(output, context_size=7, decoder="free")
    model = small.built(spec, 30)
    assert sum(p.numel() for p in model.parameters()) == spec.parameters(30)
    decoder = (30, 6 if spec.output.maps_contexts else 7)
    assert model.output.weight.shape == decoder
    tokens = torch.tensor([[3], [4]])
    context = model(tokens, model.zero_state(1)).context
    model.output.loss(context, torch.tensor([[4], [5]])).backward()
    read = model.get_parameter("embedding.weight")
    assert read.shape == (30, 6)
    assert read.abs().max().item() == pytest.approx(0.1, abs=0.002)
    assert read.grad is not None
    assert [row for row in range(30) if read.grad[row].any()] == [3, 4]
    assert model.output.weight.grad is not None
    assert model.output.weight.grad.any(dim=1).all()


def test_a_free_decoder_has_more_parameters_by_one_matrix():
    """V x E more than tied, whatever the output layer."""
    for output in small.OUTPUTS.values():
        tied, free = small.model(output), small.model(output, decoder="free")
        assert free.parameters(30) - tied.parameters(30) == 30 * 6
        assert free.rank_bound() == tied.rank_bound()


def test_the_mode_of_the_module_changes_nothing():
    """Without masks to draw, train() and eval() give the same numbers."""
    model = small.built(small.model(small.MOS), 30)
    tokens = torch.arange(12).view(4, 3)
    results = [model.train(mode)(tokens, model.zero_state(3)).context for mode in (True, False)]
    assert torch.equal(*results)


def test_replicates_start_from_different_weights():
    """The initial weights are a function of the replicate."""
    weights = []
    for replicate in (0, 0, 1):
        model = LanguageModel(small.model(), 30)
        initialise(model, Streams(small.run(replicate=replicate)))
        weights.append(model.output.weight)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_parameter_without_initial_values_is_refused():
    """A parameter that nothing fills is an error, never trained from what was in memory."""
    run = small.run()
    model = LanguageModel(TrainingSpec.of(run).model, TrainingSpec.of(run).corpus.vocabulary)
    model.register_parameter("forgotten", torch.nn.Parameter(torch.empty(3)))
    with pytest.raises(NotImplementedError, match="forgotten"):
        initialise(model, Streams(run))
