"""One window: the same weights, masks and words give the same loss and the same gradients."""

from types import SimpleNamespace

import pytest
import torch

from benchmarks.references import load_reference
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import (
    Regularisation,
    activation_penalty,
    temporal_penalty,
)
from repro.trainers.language_model.spec import TrainingSpec
from tests.parity.shared import NAMES, Theirs, excited, model_of, run_of
from tests.trainers import small

BOUND = 1e-12
NO_CLIP = 1e9
PARTS = {
    "loss": {},
    "embedding dropout": {"dropout": {"embedding": 0.3}},
    "locked dropout of the input": {"dropout": {"input": 0.4}},
    "locked dropout between layers": {"dropout": {"hidden": 0.25}},
    "locked dropout of the output": {"dropout": {"output": 0.3}},
    "latent dropout": {"dropout": {"latent": 0.3}},
    "weight drop, p 0.5": {"dropout": {"weight": 0.5}},
    "weight drop, p 0.3": {"dropout": {"weight": 0.3}},
    "AR": {"activation": 2.0},
    "TAR": {"temporal": 1.0},
    "all of them": {"dropout": small.DROPOUT, "activation": 2.0, "temporal": 1.0},
}
CASES = [(n, p) for n in NAMES for p in PARTS if (n, p) != ("awd-lstm-lm", "latent dropout")]


def text(words=29, steps=13):
    """Columns without the vocabulary's last word (see the test at the end)."""
    generator = torch.Generator().manual_seed(5)
    return torch.randint(words, (steps, 4), generator=generator)


def by_ours(run, text_LB):
    """Objective and gradients of our loss on one window."""
    recipe, model = TrainingSpec.of(run).recipe, excited(model_of(run))
    regularisation = Regularisation.of_epoch(recipe, Streams(run), 1)
    output = model(text_LB[:-1], model.zero_state(text_LB.shape[1]), regularisation)
    objective = model.output.loss(output.context, text_LB[1:], regularisation)
    objective = objective + activation_penalty(output.context, recipe.activation)
    objective = objective + temporal_penalty(output.raw, recipe.temporal)
    objective.backward()
    return float(objective.detach()), {n: p.grad for n, p in model.named_parameters()}


def by_theirs(theirs, monkeypatch):
    """Objective and gradients of their step, the update left out."""
    objectives, backward = [], torch.Tensor.backward

    def noting(tensor):
        objectives.append(float(tensor.detach()))
        backward(tensor)

    monkeypatch.setattr(torch.Tensor, "backward", noting)
    still = SimpleNamespace(param_groups=[{"lr": 0.0}], zero_grad=theirs.model.zero_grad)
    still.step = lambda: None
    theirs.published.namespace["optimizer"] = still
    theirs.train()
    (objective,) = objectives
    return objective, theirs.named(lambda parameter: parameter.grad)


def one_window(recipe, steps=12):
    """A recipe whose first window is the whole text."""
    return {"window": {"base": 10 * steps, "random": True}, "clip": NO_CLIP, **recipe}


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize(("name", "part"), CASES)
def test_loss_and_gradients_are_theirs(root, differences, monkeypatch, name, part):
    """In float64, with each part of the regularisation and with all of it."""
    run = run_of(name, **one_window(PARTS[part]))
    theirs = Theirs(root, name, run, excited(model_of(run)), (text(), None), monkeypatch)
    objective, gradients = by_theirs(theirs, monkeypatch)
    own, own_gradients = by_ours(run, text())
    differences.check(f"{part}: objective", name, own, objective, BOUND)
    differences.check_each(f"{part}: gradients", name, own_gradients, gradients, BOUND)


@pytest.mark.parametrize("name", NAMES)
def test_in_single_precision_as_published(root, differences, monkeypatch, name):
    """In float32, their code as it stands: to a few units of rounding."""
    run = run_of(name, precision="float32", **one_window(PARTS["all of them"]))
    theirs = Theirs(root, name, run, excited(model_of(run)), (text(), None), monkeypatch)
    objective, gradients = by_theirs(theirs, monkeypatch)
    own, own_gradients = by_ours(run, text())
    differences.check("float32: objective", name, own, objective, 1e-6)
    differences.check_each("float32: gradients", name, own_gradients, gradients, 1e-5)


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize("name", NAMES)
def test_their_lookup_gives_the_last_word_no_gradient(root, monkeypatch, name):
    """A departure: their ``padding_idx`` of -1 is the last word; all other rows are equal."""
    run = run_of(name, **one_window({}))
    last = TrainingSpec.of(run).corpus.vocabulary - 1
    with_last = text()
    with_last[3] = last
    theirs = Theirs(root, name, run, excited(model_of(run)), (with_last, None), monkeypatch)
    objective, gradients = by_theirs(theirs, monkeypatch)
    own, own_gradients = by_ours(run, with_last)
    assert own == pytest.approx(objective, rel=BOUND)
    lacking = (own_gradients["output.weight"] - gradients["output.weight"]).abs().amax(dim=1)
    assert lacking[last] > 0.01 * own_gradients["output.weight"][last].abs().max()
    assert lacking[:last].max() < 1e-12


def test_a_folder_without_their_code_is_an_error(tmp_path):
    """The error names the file that is missing."""
    with pytest.raises(FileNotFoundError, match=r"mos has no model\.py"):
        load_reference(tmp_path, "mos")
