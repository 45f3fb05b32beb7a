"""What training starts from (words, columns, sizes, weights, masks), and its evaluation."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import ks_2samp

from benchmarks.published import Published
from benchmarks.references import copy_weights, load_reference, weight_names
from repro import files as resources
from repro.specs.configuration import read_sheet
from repro.trainers.language_model.corpus import batchify, load_corpus
from repro.trainers.language_model.evaluation import mean_loss
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import Regularisation
from repro.trainers.language_model.spec import Model, MoS, Softmax, TrainingSpec
from tests.parity.shared import NAMES, corpus, excited, model_of, run_of
from tests.trainers import small

SIZES = [
    ("awd-lstm-lm", 10_000, (400, 1150, 400), None, 24_221_600),
    ("awd-lstm-lm", 33_278, (400, 1150, 400), None, 33_556_078),
    ("awd-lstm-lm", 10_000, (280, 960, 280), None, 16_350_800),
    ("awd-lstm-lm", 10_000, (340, 960, 340), None, 17_560_880),
    ("mos", 10_000, (280, 960, 620), 15, 21_500_620),
    ("mos", 10_000, (280, 960, 280), 15, 17_535_200),
    ("mos", 33_278, (300, 1150, 650), 15, 34_909_528),
]


@pytest.mark.parametrize(("name", "vocabulary", "sizes", "components", "published"), SIZES)
def test_parameter_counts_are_theirs(root, name, vocabulary, sizes, components, published):
    """At the papers' sizes, their model and ours have the number that facts.md 1.3 derives."""
    embedding, hidden, context = sizes
    output: Softmax | MoS = Softmax()
    if components:
        output = MoS(components=components, log_epsilon=1e-8)
    model = Model(embedding_size=embedding, hidden_size=hidden, context_size=context, output=output)
    recipe = small.recipe(dropout=small.DROPOUT)
    with torch.device("meta"):
        theirs = load_reference(root, name).build(model, vocabulary, recipe)
    counted = sum(parameter.numel() for parameter in theirs.parameters())
    assert counted == model.parameters(vocabulary) == published


@pytest.mark.parametrize("name", NAMES)
def test_initial_weights_have_their_distributions(root, name):
    """Each parameter of ten replicates against ten of theirs: Kolmogorov and Smirnov agree."""
    run = run_of(name)
    reference = load_reference(root, name)
    torch.manual_seed(4)
    theirs = [
        reference.build(TrainingSpec.of(run).model, 30, TrainingSpec.of(run).recipe)
        for _ in range(10)
    ]
    ours = [model_of(run.model_copy(update={"replicate": i})) for i in range(10)]
    for own_name, their_name in weight_names(ours[0], theirs[0]).items():
        one, other = (
            np.concatenate([m.get_parameter(n).detach().double().flatten().numpy() for m in models])
            for models, n in ((ours, own_name), (theirs, their_name))
        )
        if own_name == "output.bias":
            assert not one.any()
            assert not other.any()
        else:
            assert ks_2samp(one, other).pvalue > 1e-4, own_name
            assert np.abs(one).max() == pytest.approx(np.abs(other).max(), rel=0.1)


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_masks_keep_as_many_and_scale_alike(root, p):
    """Their locked, embedding and weight dropout on ones: the same two values, as often as ours."""
    modules = load_reference(root, "awd-lstm-lm").modules
    torch.manual_seed(9)
    words = torch.arange(40_000).unsqueeze(1)
    embedding = SimpleNamespace(weight=torch.ones(40_000, 1), padding_idx=None, max_norm=None)
    embedding.norm_type, embedding.scale_grad_by_freq, embedding.sparse = 2.0, False, False
    locked = modules["locked_dropout"].LockedDropout()
    theirs = {
        "embedding": modules["embed_regularize"].embedded_dropout(embedding, words, dropout=p),
        "input": locked(torch.ones(3, 200, 200), p),
        "weight": torch.nn.functional.dropout(torch.ones(200, 200), p=p),
    }
    drawn = Regularisation(dict.fromkeys(theirs, p), 0.0, Streams(small.run()).open)
    ours = {
        "embedding": drawn.embed(words, torch.ones(40_000, 1)),
        "input": drawn.locked("input", torch.ones(3, 200, 200)),
        "weight": drawn.weight(torch.ones(200, 200)),
    }
    assert torch.equal(theirs["input"][0], theirs["input"][2])
    assert torch.equal(ours["input"][0], ours["input"][2])
    for place, mask in theirs.items():
        for values in (mask, ours[place]):
            assert values.unique().tolist() == pytest.approx([0, 1 / (1 - p)], rel=1e-6)
            kept = float((values > 0).double().mean())
            assert abs(kept - (1 - p)) < 5 * math.sqrt(p * (1 - p) / 40_000)


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize("name", NAMES)
def test_evaluation_is_theirs_over_the_tokens_that_are_predicted(root, differences, name):
    """Their loss is ours times (L - 1) / L: they divide by a step that is not predicted."""
    run = run_of(name, dropout=small.DROPOUT)
    ours = excited(model_of(run))
    reference = load_reference(root, name)
    theirs = reference.build(TrainingSpec.of(run).model, 30, TrainingSpec.of(run).recipe)
    copy_weights(ours, theirs)
    text_LB = batchify(corpus().valid, 10)
    published = Published(reference, theirs, TrainingSpec.of(run).recipe, text_LB)
    loss, _ = mean_loss(ours, corpus().valid, 10)
    differences.check("evaluation loss", name, loss, published.evaluate(text_LB), 1e-12)
    share = (len(text_LB) - 1) / len(text_LB)
    assert published.evaluate_as_published(text_LB) == pytest.approx(loss * share, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("batch_size", [1, 7, 20])
def test_columns_are_theirs(root, name, batch_size):
    """The same words in the same columns, the rest left out."""
    tokens = torch.arange(1000)
    batch = load_reference(root, name).modules["utils"].batchify
    theirs = batch(tokens, batch_size, SimpleNamespace(cuda=False))
    assert torch.equal(batchify(tokens, batch_size), theirs)


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_words_have_their_numbers(root, data_dir, name):
    """Penn Treebank: the same number for every word of every split."""
    sheet = read_sheet(resources.claims() / "configurations" / "bench" / "softmax.yaml")
    assert sheet.configuration
    ours = load_corpus(sheet.configuration.corpus, data_dir)
    theirs = load_reference(root, name).modules["data"].Corpus(str(data_dir / "ptb"))
    assert list(ours.words) == theirs.dictionary.idx2word
    for split in ("train", "valid", "test"):
        assert torch.equal(ours.split(split), getattr(theirs, split))
