"""Dynamic evaluation of a fixed model: their two functions as they stand, and our measurement."""

import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from benchmarks.references import copy_weights, load_reference, script_function, weight_names
from repro.trainers.language_model.corpus import batchify
from repro.trainers.language_model.evaluation import mean_loss
from repro.trainers.language_model.measurements.dynamic import (
    _regularisation,
    dynamic_perplexity,
    squared_gradients,
)
from repro.trainers.language_model.measurements.perplexity import Dynamic, Perplexity
from repro.trainers.language_model.regularisation import QUIET
from repro.trainers.language_model.spec import TrainingSpec
from tests.parity.shared import corpus, excited, model_of, run_of

BOUND = 1e-10
STREAMS = 4
SETTINGS = {
    "sum": {"scaling": "sum", "rate": 0.02, "decay": 4.0, "epsilon": 1e-3},
    "mean": {"scaling": "mean", "rate": 1e-3, "decay": 0.2, "epsilon": 1e-4},
}


class DoublePrecision:
    """torch, where a tensor that was asked for in single precision is in double."""

    FloatTensor = torch.DoubleTensor

    def __getattr__(self, name):
        return getattr(torch, name)


class Decoded(nn.Module):
    """Their AWD-LSTM returning logits, as it did when dynamic evaluation was written for it."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def init_hidden(self, batch_size):
        return self.model.init_hidden(batch_size)

    def forward(self, data, hidden):
        output, after = self.model(data, hidden)
        return self.model.decoder(output), after


def measured(settings, live):
    """Our measurement of the test split."""
    how = Dynamic(**settings, statistics_batch_size=STREAMS, weight_dropout=live)
    return Perplexity(split="test", mode="dynamic", dynamic=how)


def by_theirs(script, model, how, utilities):
    """Their root mean (or sum of) squares of each parameter, and their perplexity."""
    text = corpus()
    arguments = {"cuda": False, "QRNN": False, "oldhyper": False, "ms": False, "max_batches": -1}
    namespace = {
        "torch": DoublePrecision(),
        "nn": nn,
        "np": np,
        "math": math,
        "time": time,
        "Variable": lambda data, volatile=False: data,
        "repackage_hidden": utilities.repackage_hidden,
        "criterion": nn.CrossEntropyLoss(),
        "corpus": SimpleNamespace(dictionary=range(30)),
        "args": SimpleNamespace(bptt=how.segment, batch_size=STREAMS, **arguments),
        "model": model,
        "train_data": batchify(text.train, STREAMS),
        "eval_data": batchify(text.test, 1),
        "lamb": how.decay,
        "lr": how.rate,
        "epsilon": how.epsilon,
    }
    for name in ("get_batch", "gradstat", "evaluate"):
        namespace[name] = script_function(script, name, namespace)
    namespace["gradstat"]()
    roots = {name: parameter.MS.clone() for name, parameter in model.named_parameters()}
    namespace["args"].batch_size = 1
    return roots, float(namespace["evaluate"]())


def assert_compared(differences, where, ours, theirs, measurement, run, roots):
    """Assert that the perplexity is theirs, and that it is not the static one."""
    perplexity, facts = dynamic_perplexity(measurement, ours, corpus(), run)
    differences.check("dynamic evaluation: perplexity", where, perplexity, theirs, BOUND)
    loss, _ = mean_loss(ours, corpus().test, 1)
    assert abs(math.log(perplexity) - loss) > 0.01
    assert 0 < facts["decay_cut"] < 1
    assert len(roots) > 5


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize("live", [None, "live"])
def test_the_first_code_sums(root, differences, monkeypatch, live):
    """Yang et al.: root of sums, and the recurrent matrices dropped where the defect is live."""
    run = run_of("mos", dropout={"weight": 0.5} if live else {})
    ours, measurement = excited(model_of(run)), measured(SETTINGS["sum"], live)
    reference = load_reference(root, "mos")
    model = reference.build(TrainingSpec.of(run).model, 30, TrainingSpec.of(run).recipe)
    copy_weights(ours, model)
    if live:
        drawn = _regularisation(measurement, measurement.dynamic, run)

        def dropout(weight, p, training):
            assert training
            assert p == 0.5
            return weight * (drawn.weight(torch.ones_like(weight)) > 0) / (1 - p)

        monkeypatch.setattr(torch.nn.functional, "dropout", dropout)
    script = root / "mos" / "dynamiceval.py"
    roots, theirs = by_theirs(script, model, measurement.dynamic, reference.modules["utils"])
    where = f"mos{', weights dropped' if live else ''}"
    assert_compared(differences, where, ours, theirs, measurement, run, roots)


@pytest.mark.usefixtures("in_float64")
def test_the_later_code_takes_means(root, differences):
    """Krause et al.: root of means, over a Softmax model in evaluation mode with weight drop."""
    run = run_of("awd-lstm-lm", dropout={"weight": 0.5})
    ours, measurement = excited(model_of(run)), measured(SETTINGS["mean"], None)
    reference = load_reference(root, "awd-lstm-lm")
    inner = reference.build(TrainingSpec.of(run).model, 30, TrainingSpec.of(run).recipe)
    copy_weights(ours, inner)
    script = root / "dynamic-evaluation" / "dynamiceval.py"
    utilities = reference.modules["utils"]
    roots, theirs = by_theirs(script, Decoded(inner), measurement.dynamic, utilities)
    assert_compared(differences, "dynamic-evaluation", ours, theirs, measurement, run, roots)


@pytest.mark.usefixtures("in_float64")
def test_gradient_statistics_are_theirs(root, differences):
    """The root of the summed squares of each parameter's gradients over the training text."""
    run = run_of("mos")
    ours, measurement = excited(model_of(run)), measured(SETTINGS["sum"], None)
    reference = load_reference(root, "mos")
    model = reference.build(TrainingSpec.of(run).model, 30, TrainingSpec.of(run).recipe)
    copy_weights(ours, model)
    script = root / "mos" / "dynamiceval.py"
    roots, _ = by_theirs(script, model, measurement.dynamic, reference.modules["utils"])
    squares, _ = squared_gradients(ours, corpus().train, measurement.dynamic, QUIET)
    names = dict(model.named_parameters())
    assert len(squares) == len(roots) == len(names)
    own = dict(zip([name for name, _ in ours.named_parameters()], squares, strict=True))
    for name, their_name in weight_names(ours, model).items():
        differences.check(
            "dynamic evaluation: statistics", "mos", own[name].sqrt(), roots[their_name], BOUND
        )
