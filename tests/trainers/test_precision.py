"""Products in a declared precision: where they are in force, how exact they are, where not."""

import contextlib
import math

import pytest
import torch
from torch.nn import functional as F

from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import full_precision, log_probability_rows, mean_loss
from repro.trainers.language_model.fused_loss import mixture_loss
from repro.trainers.language_model.model import LstmLayer
from repro.trainers.language_model.precision import (
    add_product,
    factor,
    linear,
    products_in,
    store_product,
)
from repro.trainers.language_model.regularisation import QUIET
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train
from repro.trainers.run import RunSpec
from tests.trainers import small

ROUNDING = 2.0**-8
"""The largest relative error of rounding to bfloat16, 8 significant bits."""


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def relative(ours, theirs):
    return ((ours.double() - theirs.double()).norm() / theirs.double().norm()).item()


def flags():
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    reduced = matmul.allow_bf16_reduced_precision_reduction
    return matmul.allow_tf32, cudnn.allow_tf32, reduced


@pytest.mark.parametrize("products", ["bf16", "tf32", None])
def test_a_precision_ends_with_its_block(products):
    """Inside, TF32 is on for ``tf32`` alone; after it, also after an error, all is as before."""
    before = flags()
    with contextlib.suppress(ZeroDivisionError), products_in(products):
        assert flags() == (products == "tf32", products == "tf32", False)
        assert (factor(torch.ones(1)).dtype == torch.bfloat16) == (products == "bf16")
        raise ZeroDivisionError
    assert flags() == before
    assert factor(torch.ones(1)).dtype == torch.float32


def test_full_precision_holds_inside_a_declared_one():
    """Evaluation in the middle of training has full products, and training its own after it."""
    x = torch.ones(1)
    with products_in("bf16"):
        with full_precision():
            assert factor(x) is x
        assert factor(x).dtype == torch.bfloat16
    with products_in("tf32"), full_precision():
        assert flags() == (False, False, False)


def test_nothing_is_rounded_without_a_declaration():
    """The product is torch's own, bit for bit, in float32 and float64."""
    for dtype in (torch.float32, torch.float64):
        x, weight, bias = normal(7, 5).to(dtype), normal(4, 5).to(dtype), normal(4).to(dtype)
        assert torch.equal(linear(x, weight, bias), F.linear(x, weight, bias))
        out = store_product(x.new_empty(7, 4), factor(x), factor(weight).t())
        assert torch.equal(out, x @ weight.t())
        assert torch.equal(add_product(out.clone(), x, weight.t()), torch.addmm(out, x, weight.t()))


def test_a_rounded_product_is_that_of_rounded_factors():
    """Within the rounding of the result it is the float64 product of the rounded factors."""
    x, weight, bias = normal(50, 300), normal(40, 300, seed=1), normal(40, seed=2)
    exact = x.bfloat16().double() @ weight.bfloat16().double().t()
    with products_in("bf16"):
        results = [
            linear(x, weight, bias) - bias,
            store_product(torch.empty(50, 40), factor(x), factor(weight).t()),
            add_product(torch.zeros(50, 40), factor(x), factor(weight).t()),
        ]
    for result in results:
        assert result.dtype == torch.float32
        error = (result.double() - exact).abs()
        assert (error <= 1.01 * ROUNDING * exact.abs() + 1e-4).all()
        assert error.max() > 1e-3  # it is rounded


def mixture_inputs(seed, scale=1.0):
    """A mixture of 4 over 500 words, with logits of standard deviation 4 ``scale``."""
    latent = normal(60, 4, 64, seed=seed).tanh() * scale
    log_prior = F.log_softmax(normal(60, 4, seed=seed + 1), dim=-1)
    weight, bias = normal(500, 64, seed=seed + 2) * 0.8, normal(500, seed=seed + 3)
    targets = torch.randint(500, (60,), generator=torch.Generator().manual_seed(seed))
    return [x.requires_grad_() for x in (latent, log_prior, weight, bias)], targets


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_the_loss_of_rounded_products_is_within_its_bound(seed, scale):
    """Each logit is off by 3 roundings of sum |h w| at most, and the loss by twice the worst.

    The mean over 60 tokens, whose errors are not to one side, is far better than that.
    """
    tensors, targets = mixture_inputs(10 * seed, scale)
    exact = mixture_loss(*[*(x.detach().double() for x in tensors), targets])
    with products_in("bf16"):
        rounded = mixture_loss(*[*tensors, targets])
    latent, _, weight, _ = (x.detach().abs().double() for x in tensors)
    bound = 2 * 3.1 * ROUNDING * (latent @ weight.t()).max()
    error = (rounded.double() - exact).abs()
    assert rounded.dtype == torch.float32
    assert 0 < error < bound
    assert error < 2e-3 * exact


@pytest.mark.parametrize("seed", range(3))
def test_gradients_of_the_rounded_mixture_loss(seed):
    """They are float32 tensors within 4 % (by norm) of those in float64, and not the same."""
    tensors, targets = mixture_inputs(10 * seed)
    exact = [x.detach().double().requires_grad_() for x in tensors]
    theirs = torch.autograd.grad(mixture_loss(*[*exact, targets]), exact)
    with products_in("bf16"):
        ours = torch.autograd.grad(mixture_loss(*[*tensors, targets]), tensors)
    for our, their in zip(ours, theirs, strict=True):
        assert our.dtype == torch.float32
        assert 1e-5 < relative(our, their) < 0.04


def test_an_lstm_layer_of_rounded_products():
    """Outputs, states and gradients are float32, within 4 % of those in full precision."""
    layer = LstmLayer(20, 30, torch.float32)
    for seed, parameter in enumerate(layer.parameters()):
        parameter.data = normal(*parameter.shape, seed=seed) * 0.2
    x = normal(40, 3, 20, seed=9).requires_grad_()
    state = (normal(1, 3, 30, seed=10).tanh(), normal(1, 3, 30, seed=11))
    results = {}
    for products in (None, "bf16"):
        with products_in(products):
            output, after = layer(x, state, QUIET)
            gradients = torch.autograd.grad(output.square().mean(), [x, *layer.parameters()])
        results[products] = [output, *after, *gradients]
    for rounded, full in zip(results["bf16"], results[None], strict=True):
        assert rounded.dtype == torch.float32
        assert 1e-5 < relative(rounded, full) < 0.04


def gradients(output, products):
    """Of the loss of one window by every parameter of a model of middling size."""
    spec = small.model(output, embedding_size=24, hidden_size=32, context_size=24)
    model = small.built(spec, 200, torch.float32)
    words = torch.randint(200, (21, 8), generator=torch.Generator().manual_seed(3))
    with products_in(products):
        context = model(words[:-1], model.zero_state(8)).context
        model.output.loss(context, words[1:]).backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("name", ["softmax", "sigsoftmax", "gss", "plif", "moc", "mos"])
def test_gradients_of_whole_models(name):
    """Through embedding, LSTM and output layer: float32, within 4 % but not the same."""
    full, rounded = (gradients(small.OUTPUTS[name], p) for p in (None, "bf16"))
    assert full.keys() == rounded.keys()
    assert all(gradient.dtype == torch.float32 for gradient in rounded.values())
    whole = [torch.cat([g.flatten() for g in part.values()]) for part in (rounded, full)]
    assert 1e-4 < relative(*whole) < 0.04


SPEC = small.corpus(tokens={"train": 4000, "valid": 1000, "test": 500}, sharpness=6.0)
CORPUS = load_corpus(SPEC, None)


def trained(products):
    """One replicate, its masks and initial values the same for every precision."""
    model = small.model(small.MOS, embedding_size=12, hidden_size=16, context_size=12)
    recipe = small.recipe(epochs=3, batch_size=8, dropout={"weight": 0.5}, products=products)
    training = TrainingSpec(model=model, corpus=SPEC, recipe=recipe)
    run = RunSpec(training=training, replicate=0, streams="paired")
    (result,) = train([run], CORPUS, device=torch.device("cpu"), folders=[None])
    return result


@pytest.fixture(scope="module")
def runs():
    return {products: trained(products) for products in (None, "bf16", "tf32")}


def test_training_in_bf16_reaches_the_same_loss(runs):
    """Every loss is within 0.1 % of float32's, no validation equal; the weights are float32."""
    full, rounded = runs[None], runs["bf16"]
    assert full.history[-1].valid_loss < 0.7 * math.log(SPEC.vocabulary)  # it has learned
    for theirs, ours in zip(full.history, rounded.history, strict=True):
        assert ours.valid_loss == pytest.approx(theirs.valid_loss, rel=1e-3)
        assert ours.valid_loss != theirs.valid_loss
        assert ours.train_loss == pytest.approx(theirs.train_loss, rel=1e-3)
    assert all(p.dtype == torch.float32 for p in rounded.model.parameters())


def test_validation_has_full_products(runs):
    """The best validation loss of training in bf16 is the loss of its weights in float32."""
    run = runs["bf16"]
    best = run.history[run.best_epoch - 1].valid_loss
    assert mean_loss(run.model, CORPUS.valid, 10)[0] == best


def test_evaluation_ignores_what_is_in_force(runs):
    """Losses and log-probabilities are the same bits, whatever precision surrounds them."""
    model = runs["bf16"].model
    rows = next(log_probability_rows(model, CORPUS.test, 4))
    loss = mean_loss(model, CORPUS.test, 4)
    with products_in("bf16"):
        assert torch.equal(next(log_probability_rows(model, CORPUS.test, 4)), rows)
        assert mean_loss(model, CORPUS.test, 4) == loss


def test_tf32_changes_nothing_on_a_cpu_but_the_key(runs):
    """The history is that of float32; the run is another."""
    assert runs["tf32"].history == runs[None].history
    assert len({result.run.key for result in runs.values()}) == 3
