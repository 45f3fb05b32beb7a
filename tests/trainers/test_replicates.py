"""Replicates trained together: the numbers of each are those of its own plain run."""

import pytest
import torch
from torch import nn

from repro.trainers.language_model import model as awd_lstm
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.model import OwnTrunk, TrunkOutput, recur
from repro.trainers.language_model.randomness import initialise, uniform
from repro.trainers.language_model.regularisation import QUIET
from repro.trainers.language_model.training import train
from repro.trainers.trainer import Progress
from tests.trainers import small
from tests.trainers.replicates import assert_close, plain, runs_of, together
from tests.trainers.trainings import CPU, assert_same, trained

NT = {"kind": "nt", "n": 1}
NT_RECIPE = {"epochs": 5, "averaging": NT, "learning_rate": 10.0, "decay": "constant"}


@pytest.fixture
def groups(monkeypatch):
    """How many replicates each batched recurrence had, in the order of its calls."""
    sizes = []

    def noting(inputs, states, weights):
        sizes.append(len(inputs))
        return recur(inputs, states, weights)

    monkeypatch.setattr(awd_lstm, "recur", noting)
    return sizes


def test_one_replicate_is_the_plain_loop(groups):
    """A batch of one has every bit of the plain run, and no batched recurrence."""
    (run,) = runs_of(1, small.MOS)
    (result,) = together([run])
    assert_same(result, plain(run))
    assert groups == []


@pytest.mark.parametrize(
    ("name", "decoder"),
    [
        ("softmax", None),
        ("softmax", "free"),
        ("sigsoftmax", None),
        ("gss", None),
        ("plif", None),
        ("frozen", None),
        ("moc", None),
        ("mos", None),
        ("mos", "free"),
    ],
)
def test_each_replicate_is_its_own_plain_run(groups, name, decoder):
    """Weights and history over three epochs, whatever the output layer, all dropouts on."""
    runs = runs_of(3, small.OUTPUTS[name], decoder)
    results = together(runs)
    assert max(groups) == 3
    for run, result in zip(runs, results, strict=True):
        assert_close(result, plain(run))
    assert len({result.history[0].train_loss for result in results}) == 3


def test_the_whole_batch_at_once_and_one_layer():
    """Without small batches, and where the first layer is the last."""
    for run in (runs := runs_of(2, small_batch_size=None)):
        model = small.model(layers=1)
        runs[run.replicate] = run.model_copy(
            update={"training": run.training.model_copy(update={"model": model})}
        )
    for run, result in zip(runs, together(runs), strict=True):
        assert_close(result, plain(run))


def test_windows_are_each_replicate_s_own(groups):
    """With as many windows as were drawn for each, those that are through wait for the others."""
    runs = runs_of(3, small_batch_size=None, epochs=1)
    steps = {run.key: 0 for run in runs}

    def progress(where):
        steps[where.run_key] = max(steps[where.run_key], where.step)

    together(runs, progress=progress)
    fewest, middle, most = sorted(steps.values())
    assert fewest < most
    layers = 2
    assert groups.count(3) == layers * fewest
    assert groups.count(2) == layers * (middle - fewest)  # the last one goes on alone
    assert len(groups) == layers * middle


def test_each_switches_to_averaging_by_itself():
    """NT-ASGD, where replicates switch after different epochs."""
    runs = runs_of(4, **NT_RECIPE)
    results = together(runs)
    assert len({tuple(record.averaging for record in x.history) for x in results}) > 1
    for run, result in zip(runs, results, strict=True):
        assert_close(result, plain(run))


def test_each_stops_by_itself(groups):
    """Fine-tuning ends after different numbers of epochs, and the last one goes on alone."""
    tuning = {"epochs": 8, "n": 1, "learning_rate": 10.0}
    runs = runs_of(3, epochs=1, averaging={"kind": "none"}, finetuning=tuning)
    results = together(runs)
    epochs = sorted(len(result.history) for result in results)
    assert epochs[0] < epochs[-1]
    assert min(groups) < 3
    for run, result in zip(runs, results, strict=True):
        assert_close(result, plain(run))


def test_in_float32_they_stay_within_a_bound():
    """Over 50 steps, weights differ from those of the plain run by 2e-6 at most; measured: 5e-7."""
    window, small_batch_size = {"base": 12, "random": True, "max_delta": 8}, None
    values = {"precision": "float32", "small_batch_size": small_batch_size, "window": window}
    runs = runs_of(3, tokens=600, epochs=4, **values)
    seen: list[Progress] = []
    for run, result in zip(runs, together(runs, progress=seen.append), strict=True):
        steps = [where for where in seen if where.run_key == run.key and where.phase == "valid"]
        assert sum(where.step for where in steps) >= 50
        assert_close(result, plain(run), rtol=0.0, atol=2e-6)


def test_in_bf16_they_agree_by_its_own_round_off():
    """Losses differ by 1e-4 at most from the plain runs', whose states are rounded as well."""
    values = {"precision": "float32", "products": "bf16", "small_batch_size": None}
    runs = runs_of(2, tokens=600, **values)
    for run, result in zip(runs, together(runs), strict=True):
        for ours, theirs in zip(result.history, plain(run).history, strict=True):
            assert ours.train_loss == pytest.approx(theirs.train_loss, rel=1e-4)  # measured: 1e-5
            assert ours.valid_loss == pytest.approx(theirs.valid_loss, rel=1e-4)  # measured: 3e-5


def test_the_order_of_the_batch_is_that_of_the_results():
    """Turned round, the batch gives the same replicates in the other order."""
    runs = runs_of(3)
    for one, two in zip(together(runs), reversed(together(runs[::-1])), strict=True):
        assert_close(one, two)


def test_each_reports_what_it_reports_alone():
    """The progress of each run is that of its plain run, report by report."""
    runs = runs_of(3, epochs=2)
    seen: list[Progress] = []
    together(runs, progress=seen.append)
    for run in runs:
        alone: list[Progress] = []
        trained(run, progress=alone.append)
        assert [where for where in seen if where.run_key == run.key] == alone


def test_what_the_replicates_begin_with_differs(monkeypatch):
    """Each replicate's weights are initialised once, from streams of its own."""
    begun, original = [], initialise

    def noting(model, streams):
        original(model, streams)
        begun.append(model.output.weight.detach().clone())

    monkeypatch.setattr("repro.trainers.language_model.training.initialise", noting)
    together(runs_of(3, epochs=1))
    flat = torch.corrcoef(torch.stack([weight.flatten() for weight in begun]))
    assert len(begun) == 3
    # 180 uniform numbers: the standard error of a correlation is 0.075
    assert (flat - torch.eye(3)).abs().max() < 0.3


class Fading(OwnTrunk):
    """A trunk of a user's own: each context a mean of the last words."""

    def __init__(self, model, dtype):
        super().__init__()
        self.mix = nn.Parameter(torch.empty(model.context_size, model.embedding_size, dtype=dtype))

    def initial(self):
        return {"mix": uniform(1.0)}

    def zero_state(self, batch_size, like):
        return like.new_zeros(batch_size, len(self.mix))

    def forward(self, vectors_TBE, state, regularisation=QUIET):
        outputs = []
        for x_BE in regularisation.locked("input", vectors_TBE):
            state = 0.5 * state + x_BE @ self.mix.t()
            outputs.append(state.tanh())
        raw = torch.stack(outputs)
        return TrunkOutput(regularisation.locked("output", raw), raw, state)


def test_a_trunk_of_one_s_own_runs_in_turn(monkeypatch, groups):
    """What is no AWD-LSTM cannot be batched: trained together, each has the bits of its own run."""
    monkeypatch.setattr("repro.trainers.language_model.model.build_trunk", Fading)
    runs = runs_of(3, small.MOS)
    for run, result in zip(runs, together(runs), strict=True):
        assert_same(result, trained(run))
    assert groups == []


def test_only_one_configuration_is_trained_together():
    """Runs of different configurations are a mistake of the caller; in turn they are none."""
    runs = [*runs_of(1, epochs=1), *runs_of(1, epochs=2)]
    with pytest.raises(ValueError, match="is of another configuration than run"):
        together(runs)
    corpus = load_corpus(runs[0].training.corpus, None)
    assert len(train(runs, corpus, device=CPU, folders=[None, None])) == 2
    assert train([], corpus, device=CPU, folders=[], together=True) == []
