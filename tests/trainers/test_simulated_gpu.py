"""On a simulated GPU: the CPU's numbers, and a host that does not wait for the device."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy

import pytest
import torch

from benchmarks.gpu import passes, trainings
from benchmarks.gpu.cases import OUTPUTS, SMALL, TINY
from benchmarks.gpu.product import CLAIM
from repro.specs.load import load_claim
from repro.trainers.language_model import training
from repro.trainers.language_model.checkpoint import save_checkpoint
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import OnText, mean_loss
from repro.trainers.language_model.training import train
from tests.simulated_gpu import GPU, simulated_gpu
from tests.trainers import small

CPU = torch.device("cpu")
DERIVED = ("generalisation_gap", "spectral", "flops")
"""Made of other measurements or of the configuration: no device is asked."""


def trained(device, recipe, output=small.SOFTMAX, *, together=False):
    runs = [small.run(output, recipe, replicate=number) for number in range(2)]
    corpus = load_corpus(small.corpus(), None)
    return train(runs, corpus, device=device, folders=[None, None], together=together)


@pytest.mark.parametrize(
    ("name", "together"),
    [*((name, True) for name in OUTPUTS), ("mos", False)],
)
def test_training_finds_the_numbers_of_the_cpu(name, together):
    """Every mask, noise, penalty, average and fine-tuning, with each output layer."""
    recipe = small.rich_recipe(batch_size=12, small_batch_size=6)
    expected = trained(CPU, recipe, small.OUTPUTS[name], together=together)
    with simulated_gpu():
        found = trained(GPU, recipe, small.OUTPUTS[name], together=together)
    for one, other in zip(expected, found, strict=True):
        losses = [(record.train_loss, record.valid_loss) for record in one.history]
        again = [(record.train_loss, record.valid_loss) for record in other.history]
        assert again == [pytest.approx(pair, rel=1e-9) for pair in losses]


def test_masks_and_noise_are_those_of_the_cpu_bit_for_bit():
    with simulated_gpu():
        checks = list(passes.of_masks(SMALL, GPU))
    assert checks
    assert all(check.kept for check in checks)


def waits_of(base, name):
    """The waits of a training in windows of about so many words."""
    window = {"base": base, "random": True, "max_delta": base - 2}
    with simulated_gpu() as waits:
        trained(GPU, small.rich_recipe(batch_size=12, window=window), small.OUTPUTS[name])
        return Counter(waits)


@pytest.mark.parametrize("name", ["plif", "mos"])
def test_no_window_makes_the_host_wait(name):
    """Shorter windows are more of them, and no wait more: an epoch waits for two losses, and once
    for its validation. Else only what is there before the first step is moved."""
    waits = waits_of(10, name)
    assert waits == waits_of(5, name)
    epochs = 2 * small.rich_recipe().most_epochs
    assert sum(n for wait, n in waits.items() if wait.startswith("item")) == 3 * epochs
    others = {wait.split(",")[0] for wait in waits} - {"item"}
    assert others == {"a copy from pageable memory"}


def test_an_evaluation_waits_once():
    """However long the text is, once the text is on the device."""
    language = small.corpus()
    with simulated_gpu() as waits:
        model = small.built(small.model(), language.vocabulary, torch.float32).to(GPU)
        text = load_corpus(language, None).valid.to(GPU)
        waits.clear()
        mean_loss(model, text, 1)
        assert sum(waits.values()) == 1


@pytest.mark.parametrize("name", ["softmax", "mos"])
def test_replicates_together_alone_and_with_nan(name):
    with simulated_gpu():
        checks = [*trainings.of_together(name, TINY, GPU), *trainings.of_nan(name, TINY, GPU)]
    assert [check for check in checks if not check.kept] == []


def test_a_checkpoint_begun_on_the_gpu_ends_on_the_cpu():
    with simulated_gpu():
        checks = list(trainings.of_checkpoint("mos", TINY, GPU))
    assert [check for check in checks if not check.kept] == []


@pytest.mark.parametrize(("seconds", "written"), [(60.0, 2), (0.0, 4)])
def test_a_checkpoint_is_written_once_a_minute_and_at_the_end(
    tmp_path, monkeypatch, seconds, written
):
    """The first at once, the last always; on a CPU there is one of every epoch."""
    monkeypatch.setattr(training, "SECONDS_BETWEEN_CHECKPOINTS", seconds)
    saved = []

    def save(checkpoint, folder):
        saved.append(len(checkpoint.history))
        save_checkpoint(checkpoint, folder)

    monkeypatch.setattr(training, "save_checkpoint", save)
    run = small.run(recipe_=small.recipe(epochs=4, batch_size=12))
    with simulated_gpu():
        train([run], load_corpus(small.corpus(), None), device=GPU, folders=[tmp_path / "run"])
    assert (len(saved), saved[0], saved[-1]) == (written, 1, 4)


def test_every_measurement_finds_the_number_of_the_cpu():
    """The claim is the one that a real GPU is tried with."""
    (run,) = trained(CPU, small.rich_recipe(batch_size=12), small.MOS)[:1]
    tokens = {"train": 600, "valid": 120, "test": 2010}
    text = load_corpus(small.corpus(tokens=tokens), None)
    specs = load_claim(CLAIM).measurements

    def measured(device):
        model = deepcopy(run.model).to(device)
        subject = OnText(run.run, model, run.history, run.best_epoch, text, device)
        basic = {name: spec for name, spec in specs.items() if not spec.kind.startswith(DERIVED)}
        return {name: spec.measure(subject).value for name, spec in basic.items()}

    expected = measured(CPU)
    assert len(expected) > 15
    with simulated_gpu():
        assert measured(GPU) == pytest.approx(expected, rel=1e-6)
