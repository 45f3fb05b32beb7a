"""Rates of single parts of a model: by name, by the layer itself, and against torch's groups."""

from __future__ import annotations

import json

import pytest
import torch

from repro.errors import DataError
from repro.specs.configuration import read_sheet
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import mean_loss
from repro.trainers.language_model.model import LanguageModel, Trunk
from repro.trainers.language_model.optimiser import Sgd, learning_rates
from repro.trainers.language_model.output.layer import SoftmaxOutput
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.spec import TrainingSpec, parameter_names, parts
from repro.trainers.run import RunSpec
from tests.trainers import small
from tests.trainers.test_optimiser import model_with_gradients
from tests.trainers.trainings import trained

RATES = {"trunk": 3.0, "trunk.layers.1": 4.0, "output.bias": 0.5, "output.mixture": 7.0}


def expected_rate(name):
    """RATES of a mixture, written out."""
    if name.startswith("trunk."):
        return 4.0 if name.startswith("trunk.layers.1.") else 3.0
    return {"output.weight": 20.0, "output.bias": 0.5}.get(name, 7.0)


def test_the_longest_name_that_begins_a_parameter_s_is_its_rate():
    """A layer's name beats the trunk's, a parameter's beats all; the rest has the recipe's."""
    model = small.built(small.model(small.MOS), 30)
    found = learning_rates(model, small.recipe(learning_rate=20.0, learning_rates=RATES))
    assert found == {name: expected_rate(name) for name, _ in model.named_parameters()}
    assert set(found.values()) == {0.5, 3.0, 4.0, 7.0, 20.0}


def test_a_name_ends_at_a_dot():
    """Ten layers are there to tell: layer 1 is not the beginning of a layer 10."""
    model, more = (small.built(small.model(layers=6), 30) for _ in range(2))
    assert isinstance(model.trunk, Trunk)
    assert isinstance(more.trunk, Trunk)
    model.trunk.layers.extend(more.trunk.layers)
    rates = learning_rates(model, small.recipe(learning_rates={"trunk.layers.1": 1.0}))
    assert {n.split(".")[2] for n, rate in rates.items() if rate == 1.0} == {"1"}


def test_each_part_moves_by_its_rate_the_factor_and_the_decay():
    """p - rate factor (g c + d p), c that of the clip over all gradients together, d the decay."""
    model, before = model_with_gradients(small.MOS), model_with_gradients(small.MOS)
    recipe = small.recipe(learning_rate=20.0, clip=0.25, weight_decay=0.01, learning_rates=RATES)
    Sgd(model, recipe).step(0.5)
    norm = sum(float((p.grad**2).sum()) for p in before.parameters()) ** 0.5
    for (name, after), start in zip(model.named_parameters(), before.parameters(), strict=True):
        step = start.grad * 0.25 / (norm + 1e-6) + 0.01 * start
        expected = start - expected_rate(name) * 0.5 * step
        torch.testing.assert_close(after, expected, rtol=1e-12, atol=1e-14)


def test_several_steps_are_those_of_torch_s_groups():
    """torch.optim.SGD with a group a parameter, clipped before, and each rate times the factor."""
    model, reference = model_with_gradients(small.PLIF), model_with_gradients(small.PLIF)
    rates = {"output": 5.0, "trunk.layers.0": 2.0}
    recipe = small.recipe(learning_rate=20.0, weight_decay=0.01, learning_rates=rates)
    groups = []
    for name, parameter in reference.named_parameters():
        rate = 5.0 if name.startswith("output") else 20.0
        rate = 0.02 if name == "output.slopes" else rate  # its own, unless itself is named
        rate = 2.0 if name.startswith("trunk.layers.0") else rate
        groups.append({"params": [parameter], "lr": rate, "rate": rate})
    theirs = torch.optim.SGD(groups, lr=1.0, weight_decay=0.01)
    for step, factor in enumerate((0.5, 1.3, 0.9)):
        for one in (model, reference):
            source = model_with_gradients(small.PLIF, seed=step)
            for parameter, other in zip(one.parameters(), source.parameters(), strict=True):
                parameter.grad = other.grad
        Sgd(model, recipe).step(factor)
        torch.nn.utils.clip_grad_norm_(reference.parameters(), recipe.clip)
        for group in theirs.param_groups:
            group["lr"] = group["rate"] * factor
        theirs.step()
    for ours, other in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours, other, rtol=1e-12, atol=1e-14)


def test_slopes_may_be_named():
    """The recipe's rate for the slopes themselves replaces the layer's own."""
    model = small.built(small.model(small.PLIF), 30)
    assert learning_rates(model, small.recipe())["output.slopes"] == 0.02
    recipe = small.recipe(learning_rates={"output.slopes": 0.1})
    assert learning_rates(model, recipe)["output.slopes"] == 0.1


class Slow(SoftmaxOutput):
    """A layer from outside that wants its bias to be slow."""

    def learning_rates(self):
        return {"bias": 0.125}


def test_a_user_s_own_layer_says_the_rates_of_its_parameters():
    """They go before the recipe's rate, and after its rate for their very name."""
    model = small.built(small.model(), 30)
    model.output = Slow(30, 6, torch.float64)
    assert learning_rates(model, small.recipe())["output.bias"] == 0.125
    assert learning_rates(model, small.recipe(learning_rates={"output": 9.0})) == {
        name: 0.125 if name == "output.bias" else 9.0 if name == "output.weight" else 5.0
        for name, _ in model.named_parameters()
    }
    assert (
        learning_rates(model, small.recipe(learning_rates={"output.bias": 9.0}))["output.bias"]
        == 9.0
    )


@pytest.mark.parametrize("name", ["output.slope", "trunk.layers.2", "embedding", "output.wei"])
def test_a_name_that_no_parameter_has_is_refused_before_the_first_step(name):
    """The message has the names that there are; frozen slopes are not trained, so no part."""
    model = small.built(small.model(small.FROZEN), 30)
    with pytest.raises(DataError, match=f"named '{name}'") as caught:
        Sgd(model, small.recipe(learning_rates={name: 1.0}))
    assert "trunk.layers.1.recurrent_bias, output.weight, output.bias, or" in str(caught.value)
    with pytest.raises(DataError, match="no parameter that is trained is named"):
        Sgd(model, small.recipe(learning_rates={"output.slopes": 1.0}))


@pytest.mark.parametrize("decoder", [None, "free"])
@pytest.mark.parametrize("output", small.OUTPUTS.values(), ids=small.OUTPUTS)
def test_the_specification_knows_the_names_of_all_that_is_trained(output, decoder):
    """Of every output layer, with a tied and with a free decoder: those of the built model."""
    spec = small.model(output, decoder=decoder)
    model = LanguageModel(spec, 30)
    trained_names = {name for name, p in model.named_parameters() if p.requires_grad}
    assert set(parameter_names(spec)) == trained_names
    assert trained_names < set(parts(spec))


def sheet(tmp_path, output, rates):
    text = small.run(output).training.model_dump(mode="json", exclude_none=True)
    text["recipe"]["learning_rates"] = rates
    text |= {"schema": 1, "title": "a test", "source": "no paper at all"}
    path = tmp_path / "c.yaml"
    path.write_text(json.dumps(text, indent=1), encoding="utf-8")
    return read_sheet(path)


def test_a_wrong_name_in_a_file_has_its_place(tmp_path):
    """Line, column, the parts that there are and the one that was meant."""
    (problem,) = sheet(tmp_path, small.MOS, {"trunk": 1.0, "output.mixtures": 2.0}).problems
    lines = (tmp_path / "c.yaml").read_text(encoding="utf-8").splitlines()
    assert '"output.mixtures"' in lines[problem.place.line - 1]
    assert problem.what.endswith("the model has no part 'output.mixtures' that is trained")
    assert "output.mixture, " in problem.expected
    assert problem.advice == "did you mean 'output.mixture'?"


@pytest.mark.parametrize("rates", [{}, {"trunk": 0.0}, {"a..b": 1.0}, {"trunk": "1"}, {"": 1.0}])
def test_what_is_no_rate_or_no_name_is_refused(tmp_path, rates):
    """Nothing, zero, a text, and names that are not joined by single dots."""
    assert sheet(tmp_path, small.SOFTMAX, rates).problems


def test_inside_a_user_s_own_layer_any_name_may_be_right(tmp_path):
    """Its parameters are known once it is built, and what is wrong is refused then."""
    own = {"kind": "own", "use": "m:C", "version": "1", "parameters": 2}
    assert not sheet(tmp_path, own, {"output.shift": 1.0}).problems
    assert sheet(tmp_path, own, {"trunk.shift": 1.0}).problems


def test_rates_are_in_the_key_and_absent_they_are_not():
    """Runs without the option have the keys that they had before there was one."""
    plain, rated = small.run(), small.run(recipe_=small.recipe(learning_rates={"trunk": 5.0}))
    assert plain.key != rated.key
    assert "learning_rates" not in plain.training.identity()["recipe"]
    assert RunSpec.model_validate_json(rated.model_dump_json()) == rated


def test_training_with_all_rates_the_same_is_training_with_one():
    """Naming every part with the recipe's own rate changes no bit of what comes out."""
    named = small.recipe(learning_rates={"trunk": 5.0, "output": 5.0})
    one = trained(small.run(recipe_=small.recipe(), streams="paired"))
    two = trained(small.run(recipe_=named, streams="paired"))
    assert one.history == two.history


def test_a_part_that_hardly_moves_stays_where_it_began():
    """With a rate of next to nothing the trunk keeps its initial values while the rest learns."""
    run = small.run(recipe_=small.recipe(learning_rates={"trunk": 1e-30}), streams="paired")
    result, before = trained(run), LanguageModel(TrainingSpec.of(run).model, 30)
    initialise(before, Streams(run))
    for name, parameter in result.model.named_parameters():
        assert torch.equal(parameter, before.get_parameter(name)) == name.startswith("trunk")
    valid = load_corpus(small.corpus(), None).valid
    assert result.history[-1].valid_loss < mean_loss(before, valid, 10)[0]
