"""A trunk from outside the package: built, trained, measured and counted like any other."""

from __future__ import annotations

import re

import pytest
import torch
import yaml
from torch import nn

from repro.errors import DataError
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import OnText
from repro.trainers.language_model.measurements.perplexity import Dynamic, Perplexity
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.language_model.model import OwnTrunk, Trunk, detached
from repro.trainers.language_model.spec import Own, TrainingSpec
from repro.trainers.language_model.training import train
from repro.trainers.run import PlannedRun, RunSpec
from repro.trainers.table import Measurable
from repro.trainers.trainer import cost
from tests.trainers import small
from tests.trainers.outside import GRU_PARAMETERS, PAGE, WINDOW, own, own_gru, own_window
from tests.trainers.trainings import assert_same, resumed, trained


@pytest.fixture
def module(outside):
    """The docs' module with a second trunk."""
    return outside(WINDOW)


def run_of(trunk, recipe=None, output=small.SOFTMAX):
    model = small.model(output, trunk=trunk)
    training = TrainingSpec(model=model, corpus=small.corpus(), recipe=recipe or small.recipe())
    return RunSpec(training=training, replicate=0)


def test_the_readme_s_trunk_computes_torch_s_gru(module):
    """Contexts and state are those of torch's own module with the same weights."""
    found = small.built(small.model(trunk=own_gru(module)), 30)
    assert isinstance(found.trunk, OwnTrunk)
    assert not isinstance(found.trunk, Trunk)
    gru = nn.GRU(6, 6, 2, dtype=torch.float64)
    gru.load_state_dict(
        {name.removeprefix("gru."): each for name, each in found.trunk.state_dict().items()}
    )
    tokens_TB = torch.randint(30, (9, 4), generator=torch.Generator().manual_seed(5))
    output = found(tokens_TB, found.zero_state(4))
    expected, state = gru(found.embedding_matrix[tokens_TB])
    torch.testing.assert_close(output.context, expected)
    torch.testing.assert_close(output.raw, expected)
    torch.testing.assert_close(output.state, state)


def test_the_readme_s_line_of_configuration_is_read(module):
    """The line as it stands names the trunk, with the number of parameters of this model."""
    (line,) = re.findall(r"`trunk: (\{kind: own.*\})`", PAGE.read_text(encoding="utf-8"))
    spec = small.model(trunk=yaml.safe_load(line))
    assert spec.trunk == Own(use="my_layers:Gru", version="1.0.2", parameters=GRU_PARAMETERS)
    small.built(small.model(trunk=own_gru(module, parameters=spec.trunk.parameters)), 30)


@pytest.mark.parametrize(("name", "output"), [("Gru", small.MOS), ("Window", "own")])
def test_it_is_trained_and_goes_on_like_any_other(module, tmp_path, name, output):
    """Training loss falls with a mixture or an own output layer; resumed, the bits are the same."""
    if output == "own":
        output = own(module, "Cubic", options={"strength": 0.1})
    trunk = own_gru(module) if name == "Gru" else own_window(module)
    run = run_of(trunk, small.rich_recipe(), output)
    whole = trained(run)
    again = resumed(run, tmp_path, 3, 1)
    assert_same(again, whole)
    assert whole.history[-1].train_loss < whole.history[0].train_loss
    ours = again.model.state_dict()
    before = small.built(TrainingSpec.of(run).model, 30, torch.float32).trunk.state_dict()
    assert not any(torch.equal(before[key], ours[f"trunk.{key}"]) for key in before)


def test_replicates_together_are_what_they_are_alone(module):
    """Trained in step with each other, each has the numbers of its own run."""
    first = run_of(own_window(module), small.rich_recipe(epochs=2))
    runs = [first, first.model_copy(update={"replicate": 1})]
    corpus, nowhere = load_corpus(TrainingSpec.of(first).corpus, None), [None, None]
    cpu = torch.device("cpu")
    together = train(runs, corpus, device=cpu, folders=nowhere, together=True)
    for run, one in zip(runs, together, strict=True):
        alone = trained(run)
        assert one.history == alone.history
        ours, theirs = one.model.state_dict(), alone.model.state_dict()
        assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
    assert together[0].history != together[1].history


def test_everything_is_measured_on_it(module):
    """Perplexities, dynamic and not, and a rank of at most d + 2 come out of a trained one."""
    run = run_of(own_gru(module), small.recipe(epochs=1, precision="float64"))
    result, corpus = trained(run), load_corpus(TrainingSpec.of(run).corpus, None)
    how = Dynamic(scaling="mean", rate=1e-3, decay=1e-2, epsilon=1e-3, statistics_batch_size=4)
    wanted: list[Measurable] = [
        Perplexity(split="valid"),
        Perplexity(split="train", mode="training"),
        Perplexity(split="test", mode="dynamic", dynamic=how),
        Rank(),
    ]
    facts = (result.model, result.history, result.best_epoch, corpus, torch.device("cpu"))
    subject = OnText(run, *facts)
    values = [each.measure(subject).value for each in wanted]
    assert all(1 < value < 40 for value in values[:3])
    assert values[3] == 6 + 2 == TrainingSpec.of(run).model.rank_bound()


def test_its_parameters_are_stated_and_checked(module):
    """They take the place of the LSTM layers' in the count; another number is refused."""
    lstm, trunk = small.model(), small.model(trunk=own_gru(module))
    layers = sum(4 * h * (i + h) + 8 * h for i, h in lstm.layer_sizes())
    assert trunk.parameters(30) == lstm.parameters(30) - layers + GRU_PARAMETERS
    built = small.built(trunk, 30)
    assert trunk.parameters(30) == sum(p.numel() for p in built.parameters())
    with pytest.raises(DataError, match="it has 504 parameters\n  expected: 1, as the conf"):
        small.built(small.model(trunk=own_gru(module, parameters=1)), 30)


def test_a_larger_trunk_costs_more(module):
    """The estimate of a plan grows with the number of parameters that is stated."""
    costs = []
    for parameters in (10**3, 10**6):
        run = run_of(own_gru(module, parameters=parameters))
        costs.append(cost(PlannedRun(run=run, measurements=())).total)
    assert costs[1] > 1.5 * costs[0]


def test_name_version_and_options_are_in_the_key_and_absence_is_not(module):
    """Each of them, changed alone, gives another run; without a trunk the key is as before."""
    trunks = [own_gru(module), own(module, "Window", parameters=GRU_PARAMETERS), None]
    trunks += [own_gru(module, options={"a": 1}), own_gru(module, version="1.0")]
    assert len({run_of(trunk).key for trunk in trunks}) == 5
    assert run_of(None).key == small.run().key
    assert "trunk" not in run_of(None).training.identity()["model"]


def test_a_state_is_detached_however_nested(module):
    """Tensors keep their values and lose their history; the tuples stay as they are."""
    trunk = small.built(small.model(trunk=own_window(module)), 30).trunk
    words = torch.randn(3, 2, 6, dtype=torch.float64, requires_grad=True)
    state = trunk(words, trunk.zero_state(2, words)).state
    past, (count, empty) = detached(state)
    assert state[0].requires_grad
    assert not past.requires_grad
    assert torch.equal(past, state[0])
    assert (float(count), empty) == (3.0, ())
