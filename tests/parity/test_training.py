"""Whole trainings: their loop over windows and epochs as it stands, and ours."""

from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.published import Published
from benchmarks.references import copy_weights, load_reference
from repro.trainers.language_model.checkpoint import load_checkpoint
from repro.trainers.language_model.corpus import batchify, draw_windows
from repro.trainers.language_model.optimiser import Sgd
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.recipe import NonMonotonic, WindowLength
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train
from tests.parity.shared import NAMES, Theirs, corpus, excited, model_of, run_of
from tests.trainers import small

BOUND = 1e-11
RICH = {
    "epochs": 6,
    "learning_rate": 10.0,
    "window": {"base": 10, "random": True, "max_delta": 8, "last_rate": "drawn"},
    "dropout": small.DROPOUT,
    "activation": 2.0,
    "temporal": 1.0,
    "weight_decay": 1e-3,
    "averaging": {"kind": "nt", "n": 1, "rate": "late"},
}
UNCAPPED = {**RICH, "window": {"base": 10, "random": True, "last_rate": "drawn"}}


def texts(recipe):
    """Columns to train on and to validate on."""
    text = corpus()
    return batchify(text.train, recipe.batch_size), batchify(text.valid, recipe.valid_batch_size)


def losses_of(theirs, epochs=None):
    """Their loss after each epoch from here on, and whether of averaged weights."""
    losses = []
    namespace, evaluate = theirs.published.namespace, theirs.published.evaluate_as_published

    def noting(source, *_):
        loss = evaluate(source)
        predicted = loss * len(source) / (len(source) - 1)
        losses.append((predicted, "t0" in namespace["optimizer"].param_groups[0]))
        return loss

    namespace["evaluate"] = noting
    theirs.published.run_epochs(epochs)
    return losses


def averages_of(theirs):
    """Their averaged weights, under our names."""
    state = theirs.published.namespace["optimizer"].state
    return theirs.named(lambda parameter: state[parameter]["ax"])


def by_ours(run, folder):
    """Our training of the same words, and its last checkpoint."""
    (trained,) = train([run], corpus(), device=torch.device("cpu"), folders=[folder])
    checkpoint, _ = load_checkpoint(folder, run.key)
    assert checkpoint
    return trained, checkpoint


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize(
    ("name", "small_batch"), [("awd-lstm-lm", None), ("mos", None), ("mos", 2)]
)
def test_a_whole_training_is_theirs(root, differences, monkeypatch, tmp_path, name, small_batch):
    """Every regularisation, clipping, decay, random windows, the NT switch, averaged weights."""
    recipe = RICH if name == "mos" else UNCAPPED
    run = run_of(name, small_batch_size=small_batch, **recipe)
    theirs = Theirs(root, name, run, model_of(run), texts(TrainingSpec.of(run).recipe), monkeypatch)
    losses = losses_of(theirs)
    trained, checkpoint = by_ours(run, tmp_path)
    assert [record.averaging for record in trained.history] == [late for _, late in losses]
    assert any(record.averaging for record in trained.history[:-1])
    own = [record.valid_loss for record in trained.history]
    weights, averages = theirs.named(lambda parameter: parameter), averages_of(theirs)
    where = f"{name}, in parts of {small_batch}" if small_batch else name
    differences.check("validation losses", where, own, [loss for loss, _ in losses], BOUND)
    differences.check_each("weights after training", where, checkpoint.weights, weights, BOUND)
    differences.check_each("averaged weights", where, checkpoint.average, averages, BOUND)


@pytest.mark.usefixtures("in_float64")
def test_finetuning_is_theirs(root, differences, monkeypatch, tmp_path):
    """From the best weights of two epochs on: averaged from the first step, and its own stop."""
    tuning: dict[str, Any] = {"epochs": 9, "n": 1, "learning_rate": 6.0, "rate": "late"}
    recipe = {**RICH, "epochs": 2, "averaging": {"kind": "none"}}
    run = run_of("mos", finetuning=tuning, **recipe)
    best, _ = by_ours(run_of("mos", **recipe), tmp_path / "before")
    stage = TrainingSpec.of(run).recipe.stage(3)
    theirs = Theirs(root, "mos", run, best.model, texts(stage), monkeypatch, trained=2)
    theirs.published.average()
    losses = losses_of(theirs, tuning["epochs"])
    trained, checkpoint = by_ours(run, tmp_path / "after")
    own = [record.valid_loss for record in trained.history[2:]]
    assert 3 <= len(own) == len(losses) < 9
    differences.check("fine-tuning: losses", "mos", own, [loss for loss, _ in losses], BOUND)
    averages = averages_of(theirs)
    differences.check_each("fine-tuning: averages", "mos", checkpoint.average, averages, BOUND)


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize("name", NAMES)
def test_one_clipped_step_is_theirs(root, differences, monkeypatch, name):
    """The gradient's norm is above the clip; rate by window length, decay after the clip."""
    recipe = {"clip": 0.1, "weight_decay": 1e-3, "window": {"base": 50, "random": True}}
    run = run_of(name, **recipe)
    text_LB = torch.randint(29, (13, 4), generator=torch.Generator().manual_seed(3))
    theirs = Theirs(root, name, run, excited(model_of(run)), (text_LB, None), monkeypatch)
    theirs.train()
    model = excited(model_of(run))
    output = model(text_LB[:-1], model.zero_state(4))
    model.output.loss(output.context, text_LB[1:]).backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    assert torch.nn.utils.get_total_norm(gradients) > 2 * TrainingSpec.of(run).recipe.clip
    window = WindowLength(base=50, random=True, last_rate="drawn")
    (drawn,) = draw_windows(12, window, Streams(run).open("window_length", 1))
    Sgd(model, TrainingSpec.of(run).recipe).step(drawn.rate)
    before = dict(excited(model_of(run)).named_parameters())
    moved = {n: p.detach() - before[n] for n, p in model.named_parameters()}
    expected = {n: p - before[n] for n, p in theirs.named(lambda p: p.detach()).items()}
    differences.check_each("a clipped SGD step", name, moved, expected, BOUND)


class SwitchedError(Exception):
    """Raised in place of the first epoch after the switch."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_switch_comes_after_the_same_epoch(root, name, n):
    """Recorded validation losses, with ties: their loop and our rule switch together, or never."""
    generator = np.random.default_rng(20180430 + n)
    found = []
    for _ in range(40):
        steps = generator.integers(-3, 3, size=14)
        recorded = [float(loss) for loss in 20 + np.cumsum(steps)]
        theirs = switch_of_theirs(root, name, n, recorded)
        ours = next(
            (
                e
                for e in range(1, 15)
                if NonMonotonic(n=n).begins(recorded[: e - 1], recorded[e - 1])
            ),
            None,
        )
        assert ours == theirs
        found.append(ours)
    assert len(set(found)) > 4
    assert found.count(None) < 30


def switch_of_theirs(root, name, n, recorded):
    """The epoch after which their loop replaces its optimiser, nothing being trained."""
    run = run_of(name, epochs=len(recorded) + 1, averaging={"kind": "nt", "n": n})
    reference = load_reference(root, name)
    model = reference.build(TrainingSpec.of(run).model, 30, TrainingSpec.of(run).recipe)
    published = Published(reference, model, TrainingSpec.of(run).recipe, torch.zeros(3, 4))
    namespace, losses = published.namespace, iter([*recorded, 0.0])
    epochs: list[int] = []

    def no_training():
        epochs.append(len(epochs))
        if "t0" in namespace["optimizer"].param_groups[0]:
            raise SwitchedError

    namespace["train"], namespace["evaluate"] = no_training, lambda *_: next(losses)
    try:
        published.run_epochs()
    except SwitchedError:
        return epochs[-1]
    return None


@pytest.mark.parametrize("name", NAMES)
def test_windows_are_theirs(root, monkeypatch, name):
    """The same draws give the same starts, lengths and rates; theirs drops a rest of one step."""
    cap = {"max_delta": 3} if name == "mos" else {}
    window = {"base": 16, "random": True, "last_rate": "drawn", **cap}
    lengths, dropped = [], 0
    for replicate in range(6):
        run = run_of(name, window=window).model_copy(update={"replicate": replicate})
        text_LB = torch.zeros(400 + replicate, 4, dtype=torch.int64)
        generator = Streams(run).open("window_length", 1)
        drawn = draw_windows(len(text_LB) - 1, TrainingSpec.of(run).recipe.window, generator)
        ours = [(w.start, w.length, w.rate) for w in drawn]
        if ours[-1][1] == 1:
            dropped += 1
            ours.pop()
        theirs = windows_of_theirs(root, name, run, text_LB, monkeypatch)
        assert [w[:2] for w in ours] == [w[:2] for w in theirs]
        assert [w[2] for w in ours] == pytest.approx([w[2] for w in theirs], rel=1e-12)
        lengths += [length for _, length, _ in ours]
    assert min(lengths) < 12
    assert max(lengths) == 19 if cap else max(lengths) > 19
    assert dropped < 3


def windows_of_theirs(root, name, run, text_LB, monkeypatch):
    """Start, length and factor of the rate of each window of their epoch."""
    model = model_of(run)
    theirs = Theirs(root, name, run, model, (text_LB, None), monkeypatch)
    namespace, windows = theirs.published.namespace, []
    get_batch = namespace["get_batch"]

    def noting(source, start, *arguments, **named):
        data, targets = get_batch(source, start, *arguments, **named)
        rate = (
            namespace["optimizer"].param_groups[0]["lr"] / TrainingSpec.of(run).recipe.learning_rate
        )
        windows.append((start, len(data), rate))
        return data, targets

    namespace["get_batch"] = noting
    theirs.model.double()
    copy_weights(model, theirs.model)
    theirs.train()
    return windows
