"""On a GPU, a simulated one and a real one, the CPU's numbers; a host that does not wait for it."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.gpu import passes, product, trainings
from benchmarks.gpu.cases import OUTPUTS, SMALL, TINY
from repro.running.grouping import Choice, Task
from repro.running.worker import run_task
from repro.similarity.benchmarks import BENCHMARKS
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.devices import moved
from repro.trainers.dialog.bleu import Bleu
from repro.trainers.dialog.spec import Beam
from repro.trainers.dialog.training import OnDialogs
from repro.trainers.dialog.training import train as train_on_dialogs
from repro.trainers.language_model import training
from repro.trainers.language_model.checkpoint import FILE_NAME, Checkpoint, save_checkpoint
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import OnText, mean_loss
from repro.trainers.language_model.measurements import dynamic
from repro.trainers.language_model.measurements.changed_matrix import NoisyRank
from repro.trainers.language_model.measurements.perplexity import Perplexity
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.language_model.measurements.similarity import WordSimilarity
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import build, train
from tests.running.replicates import plan_of
from tests.simulated_gpu import GPU, STARTS_WITH_IT, simulated_gpu
from tests.trainers import small
from tests.trainers.dialog.test_training import CORPUS as DIALOGS
from tests.trainers.dialog.test_training import run as dialog_run
from tests.trainers.measurements.test_similarity import data as data  # noqa: PLC0414 - a fixture
from tests.trainers.measurements.test_similarity import subject_of

CPU = torch.device("cpu")
ROOT = Path(__file__).parents[2]
DERIVED = ("generalisation_gap", "spectral", "flops")
"""Made of other measurements or of the configuration: no device is asked."""


def rich_recipe(**changes):
    """Every mask, noise, penalty, average and fine-tuning; in float64 devices agree."""
    sizes = {"batch_size": 12, "small_batch_size": 6}
    return small.rich_recipe(precision="float64", **{**sizes, **changes})


def trained(device, recipe, output=small.SOFTMAX, *, together=False):
    runs = [small.run(output, recipe, replicate=number) for number in range(2)]
    corpus = load_corpus(small.corpus(), None)
    return train(runs, corpus, device=device, folders=[None, None], together=together)


def losses(runs):
    return [loss for one in runs for r in one.history for loss in (r.train_loss, r.valid_loss)]


@pytest.mark.parametrize(
    ("name", "together"),
    [*((name, True) for name in OUTPUTS), ("mos", False)],
)
def test_training_finds_the_numbers_of_the_cpu(name, together, with_gpu):
    expected = trained(CPU, rich_recipe(), small.OUTPUTS[name], together=together)
    with with_gpu():
        found = trained(GPU, rich_recipe(), small.OUTPUTS[name], together=together)
    assert losses(found) == pytest.approx(losses(expected), rel=1e-9)


def test_masks_and_noise_are_those_of_the_cpu_bit_for_bit(with_gpu):
    with with_gpu():
        checks = list(passes.of_masks(SMALL, GPU))
    assert checks
    assert all(check.kept for check in checks)


def test_replicates_together_alone_and_with_nan(with_gpu):
    with with_gpu():
        checks = [*trainings.of_together("mos", TINY, GPU), *trainings.of_nan("mos", TINY, GPU)]
    assert [check for check in checks if not check.kept] == []


def test_a_checkpoint_begun_on_the_gpu_ends_on_the_cpu(with_gpu):
    with with_gpu():
        checks = list(trainings.of_checkpoint("mos", TINY, GPU))
    assert [check for check in checks if not check.kept] == []


def test_every_measurement_finds_the_number_of_the_cpu(with_gpu):
    """The claim is the one that a real GPU is tried with; what is counted is exact in simulation.

    Counts alone, and the rows of theirs that are kept, are another measurement.
    """
    (run,) = trained(CPU, small.rich_recipe(batch_size=12), small.MOS)[:1]
    tokens = {"train": 600, "valid": 120, "test": 720}  # 701 are asked for
    text = load_corpus(small.corpus(tokens=tokens), None)
    specs = {**load_claim(product.CLAIM).measurements, "counts": Rank(spectrum=False)}
    real = torch.cuda.is_available()

    def measured(device):
        model = deepcopy(run.model).to(device)
        subject = OnText(run.run, model, run.history, run.best_epoch, text, device)
        basic = {name: spec for name, spec in specs.items() if not spec.kind.startswith(DERIVED)}
        compared = {name for name in basic if not (real and name in product.COUNTED | {"counts"})}
        return {name: specs[name].measure(subject).value for name in compared}

    expected = measured(CPU)
    assert len(expected) > 10
    with with_gpu():
        assert measured(GPU) == pytest.approx(expected, rel=1e-3 if real else 1e-6, abs=1e-6)


def test_word_similarity_is_that_of_the_cpu(data, with_gpu):
    subject, spec = subject_of(data), WordSimilarity(benchmark="mean")
    expected = spec.measure(subject)
    assert set(expected.details["benchmarks"]) == set(BENCHMARKS)
    with with_gpu():
        model = deepcopy(subject.model).to(GPU)
        assert spec.measure(OnText(None, model, (), 0, subject.corpus, GPU)) == expected


@pytest.mark.parametrize("output", ["softmax", "mos"])
def test_dialogs_are_trained_and_answered_as_on_the_cpu(output, with_gpu):
    """Responses by beam search, their BLEU, and what a language model is measured by."""
    beam = Beam(size=3, longest=6, kept=2)
    bleu = Bleu(order=2, side="recall", smoothing="add_one", beam=beam)
    specs = (Perplexity(split="test"), Rank(), bleu)
    run = dialog_run(small.OUTPUTS[output], precision="float64")

    def found(device):
        made = train_on_dialogs([run], DIALOGS, device=device, folders=[None])
        (one,) = made
        subject = OnDialogs(run, one.model, one.history, one.best_epoch, DIALOGS, device)
        return [*losses(made), *(spec.measure(subject).value for spec in specs)]

    expected = found(CPU)
    with with_gpu():
        assert found(GPU) == pytest.approx(expected, rel=1e-9)


CLAIM = """schema: 1
id: tiny
title: MoS is better than Softmax on a tiny language
source: {own: "made to compare two devices; nothing is claimed"}
arms:
  softmax: {label: Softmax, configuration: quick/softmax, override: TINY}
  mos: {label: MoS, configuration: quick/mos, override: TINY}
design: paired
seeds: {min: 3, plan: 3}
measurements:
  test: {kind: perplexity, split: test, batch_size: 10}
  rank: {kind: rank, split: test, batch_size: 10}
expectations:
  - {id: lower, kind: difference, measurement: test, of: [mos, softmax], direction: lower,
     smallest_effect: {abs: 1, why: "nothing is claimed; a claim needs an expectation"}}
scales: {quick: {notice: "Tiny models, to compare two devices."}}
""".replace(
    "TINY",
    "{corpus: {vocabulary: 50, tokens: {train: 1000, valid: 200, test: 300}}, "
    "recipe: {precision: float64, epochs: 2, batch_size: 10}}",
)


@pytest.mark.timeout(400)  # processes that start take most of it
def test_verify_trains_in_processes_that_see_the_gpu(tmp_path, monkeypatch, with_gpu):
    """From the look for a driver to the report: what the command finds with --device cuda."""
    if with_gpu is simulated_gpu:
        (tmp_path / "start").mkdir()
        (tmp_path / "start" / "sitecustomize.py").write_text(STARTS_WITH_IT)
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "nvidia-smi").write_text("#!/bin/sh\necho 0\n")
        (tmp_path / "bin" / "nvidia-smi").chmod(0o755)
        for name, folder in (("PYTHONPATH", "start"), ("PATH", "bin")):
            paths = [str(tmp_path / folder), *filter(None, [os.environ.get(name)])]
            monkeypatch.setenv(name, os.pathsep.join(paths))
    claim = tmp_path / "tiny.claim.yaml"
    shutil.copytree(ROOT / "claims/configurations/quick", tmp_path / "configurations/quick")
    claim.write_text(CLAIM)
    checks = list(product.compared(claim, tmp_path, "cuda"))
    assert [check.what for check in checks][1:] == ["rank, 6 runs", "test, 6 runs"]
    assert [check for check in checks if not check.kept] == []
    store = RunStore(tmp_path / "1" / "store")
    told: Any = [store.provenance(key)["training"] for key in store.keys()]  # noqa: SIM118
    assert {each["settings"]["device"] for each in told} == {"cuda"}
    assert {each["engine"]["together"] for each in told} == {3}


def test_a_batch_too_large_for_the_memory_is_halved(tmp_path):
    """Until it fits; what was trained so has the numbers of the CPU."""
    plan = plan_of(4, "float64", epochs=1)
    stores = {name: RunStore(tmp_path / name) for name in ("gpu", "cpu")}
    task = Task(tuple(plan), stores["gpu"].root, None, "cuda", Choice("batched", 4))
    with simulated_gpu(memory=690_000):  # two take 649,520 bytes, four 738,344
        outcomes = run_task(task)
    assert [(outcome.status, outcome.together) for outcome in outcomes] == [("trained", 2)] * 4
    run_task(replace(task, store=stores["cpu"].root, device="cpu"))
    for planned in plan:
        one, other = (store.history(planned.run.key) for store in stores.values())
        assert [r["valid_loss"] for r in one] == pytest.approx(
            [r["valid_loss"] for r in other], rel=1e-9
        )


SHORT = {"epochs": 2, "averaging": {"kind": "et", "epoch": 1}}


def waits_of(base, name):
    """The waits of a training in windows of about so many words."""
    window = {"base": base, "random": True, "max_delta": base - 2}
    recipe = small.rich_recipe(**SHORT, batch_size=12, window=window)
    with simulated_gpu() as waits:
        trained(GPU, recipe, small.OUTPUTS[name])
        return Counter(waits)


def copies(waits):
    """What is not an `item`, by the line of the training that waits."""
    lines = Path(training.__file__).read_text(encoding="utf-8").splitlines()
    found: Counter[str] = Counter()
    for wait, count in waits.items():
        kind, _, where = wait.partition(", ")
        if kind != "item":
            assert (kind, where.split(":")[0]) == ("a copy from pageable memory", "training.py")
            found[lines[int(where.split(":")[1]) - 1].strip()] += count
    return found


@pytest.mark.parametrize("name", ["plif", "mos"])
def test_no_window_makes_the_host_wait(name):
    """Shorter windows are more of them, and no wait more: an epoch waits for two losses, and once
    for its validation. Else only what is there before the first step is moved."""
    waits = waits_of(10, name)
    assert waits == waits_of(5, name)
    epochs = 2 * small.rich_recipe(**SHORT).most_epochs
    assert sum(n for wait, n in waits.items() if wait.startswith("item")) == 3 * epochs
    model = build(TrainingSpec.of(small.run(small.OUTPUTS[name])))
    moved = {
        "model.to(device)": len([*model.parameters(), *model.buffers()]),
        "text_LB = batchify(corpus.train, replicates[0].recipe.batch_size).to(device)": 1,
        "valid = corpus.valid.to(device)": 1,
    }
    assert copies(waits) == {line: 2 * count for line, count in moved.items()}  # of two runs


@pytest.mark.parametrize("output", ["softmax", "mos"])
def test_no_step_on_dialogs_makes_the_host_wait(output):
    """Smaller batches are more steps, and no wait more; else only the model is moved."""

    def waits_of_batches(size):
        run = dialog_run(small.OUTPUTS[output], batch_size=size)
        with simulated_gpu() as waits:
            (one,) = train_on_dialogs([run], DIALOGS, device=GPU, folders=[None])
            assert len(one.history) == 3
            return Counter(waits), len([*one.model.parameters(), *one.model.buffers()])

    waits, weights = waits_of_batches(7)
    assert (waits, weights) == waits_of_batches(2)
    kinds = dict.fromkeys(("item", "a copy from pageable memory"), 0)
    for wait, count in waits.items():
        kinds[wait.partition(",")[0]] += count
    assert kinds == {"item": 3 * 3, "a copy from pageable memory": weights}


def test_a_beam_search_waits_once_a_word():
    """And once for each tensor of the weights, whose digest says which answers are kept."""
    run, beam = dialog_run(small.MOS), Beam(size=3, longest=6, kept=2)
    (one,) = train_on_dialogs([run], DIALOGS, device=torch.device("cpu"), folders=[None])
    with simulated_gpu() as waits:
        model = deepcopy(one.model).to(GPU)
        waits.clear()
        OnDialogs(run, model, one.history, one.best_epoch, DIALOGS, GPU).answered("test", beam)
        words = sum(n for wait, n in waits.items() if wait.startswith("tolist"))
        copies = sum(waits.values()) - words
    assert words <= beam.longest * len(DIALOGS.test.examples)
    assert copies == len(model.state_dict())


def test_memory_that_cannot_be_pinned_is_copied_as_it_is(monkeypatch):
    """On a device that torch knows nothing of."""

    def refused(_):
        raise RuntimeError("Cannot access accelerator device when none is available.")

    with simulated_gpu() as waits:
        monkeypatch.setattr(torch.Tensor, "pin_memory", refused)
        assert moved(torch.ones(2), GPU).device == GPU
        assert sum(waits.values()) == 1


def test_an_evaluation_waits_once():
    """However long the text is, once the text is on the device."""
    language = small.corpus()
    with simulated_gpu() as waits:
        model = small.built(small.model(), language.vocabulary, torch.float32).to(GPU)
        text = load_corpus(language, None).valid.to(GPU)
        waits.clear()
        mean_loss(model, text, 1)
        assert sum(waits.values()) == 1


def test_dynamic_evaluation_waits_at_its_looks_alone(monkeypatch):
    """Once for the scales of all weights, once for what was cut, and at each look for the losses;
    else for the two texts. The numbers do not depend on how often it looks."""
    text = load_corpus(small.corpus(), None)
    settings = {"scaling": "sum", "rate": 0.002, "decay": 0.02, "epsilon": 0.001}
    spec = Perplexity.model_validate({"mode": "dynamic", "split": "test", "dynamic": settings})
    with simulated_gpu() as waits:
        model = small.built(small.model(), len(text.words), torch.float32).to(GPU)
        found = []
        for size in (1000, 7):
            monkeypatch.setattr(dynamic, "SEGMENTS_AT_A_LOOK", size)
            waits.clear()
            found.append(spec.measure(OnText(None, model, (), 0, text, GPU)))
            looks = math.ceil(found[-1].details["segments"] / size)
            assert sum(waits.values()) == 2 + 2 + looks
    assert looks > 2
    assert found[0] == found[1]


def test_noise_in_a_matrix_is_not_waited_for():
    """It is drawn ahead: what is moved to the device is the text, once for each reading."""
    text = load_corpus(small.corpus(), None)
    with simulated_gpu() as waits:
        model = small.built(small.model(), len(text.words), torch.float32).to(GPU)
        subject, counted = OnText(None, model, (), 0, text, GPU), {}
        Rank().measure(subject)  # the control is taken once
        for spec in (Rank(), NoisyRank(noise=0.1)):
            waits.clear()
            spec.measure(subject)
            moved = "a copy from pageable memory"
            counted[spec.kind] = sum(n for wait, n in waits.items() if wait.startswith(moved))
    assert counted["noisy_rank"] == 2 * counted["rank"]


@pytest.mark.parametrize("room", [True, False])
def test_a_checkpoint_waits_once(tmp_path, monkeypatch, room):
    """For all its tensors, unless the device has no room for a copy; with the bytes of the CPU."""
    run = small.run(small.MOS, small.rich_recipe(batch_size=12))
    model = build(TrainingSpec.of(run))
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.fill_(number)

    def saved(model, name):
        state = Checkpoint(
            run_key=run.key,
            history=(),
            best_epoch=0,
            diverged=None,
            averaging=False,
            average_steps=0,
            weights=model.state_dict(),
        )
        save_checkpoint(state, tmp_path / name)
        content = (tmp_path / name / FILE_NAME).read_bytes()
        head = 8 + int.from_bytes(content[:8], "little")  # its keys have no order
        return json.loads(content[8:head]), content[head:]

    def full(*_):
        raise torch.OutOfMemoryError

    expected = saved(model, "cpu")
    with simulated_gpu() as waits:
        there = deepcopy(model).to(GPU)
        waits.clear()
        if not room:
            monkeypatch.setattr(torch, "cat", full)
        assert saved(there, "gpu") == expected
        assert sum(waits.values()) == (1 if room else len(model.state_dict()))


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
