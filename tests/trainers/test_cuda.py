"""On a GPU: the same losses, gradients, masks, ranks and replicates as on the CPU.

The comparisons and their bounds are those of ``benchmarks.gpu.correctness``, in small sizes.
"""

from __future__ import annotations

import pytest
import torch

from benchmarks.gpu import graphs, passes, trainings
from benchmarks.gpu.cases import OUTPUTS, SMALL, TINY
from benchmarks.gpu.many import Asked
from benchmarks.gpu.stopwatch import Measured
from repro.trainers.devices import forget_peak, peak_of
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import OnText
from repro.trainers.language_model.measurements.hit_rate import HitRate
from repro.trainers.language_model.measurements.kl import KlFromTruth, PairwiseKl
from tests.trainers import small

pytestmark = pytest.mark.gpu
GPU = torch.device("cuda")


def assert_kept(checks):
    found = list(checks)
    assert found
    assert all(check.kept for check in found), [check for check in found if not check.kept]


@pytest.mark.parametrize("name", OUTPUTS)
def test_losses_and_gradients(name):
    """Each output layer beside float64 on the CPU, in float32, TF32 and bf16."""
    assert_kept(passes.of_outputs([name], SMALL, GPU, [None, "tf32", "bf16"]))


def test_declared_tf32_is_in_force():
    """Gradients with TF32 are not those without it."""
    assert_kept([passes.tf32_is_in_force(SMALL, GPU)])


@pytest.mark.parametrize("name", ["softmax", "mos"])
def test_divergences_and_hits(name):
    """In float64 the numbers of the CPU, but for round-off."""
    language = small.corpus()
    run = small.run(small.OUTPUTS[name])
    text = load_corpus(language, None)
    taken = {}
    for device in (torch.device("cpu"), GPU):
        model = small.built(small.model(small.OUTPUTS[name]), language.vocabulary).to(device).eval()
        subject = OnText(run, model, (), 1, text, device)
        specs = (PairwiseKl(), PairwiseKl(pairs=50), KlFromTruth(), HitRate(k=5, contexts=40))
        taken[device.type] = [spec.measure(subject).value for spec in specs]
    assert taken["cuda"] == pytest.approx(taken["cpu"], rel=1e-7)


def test_rank_of_softmax():
    """d + 2 exactly, and a matrix of known rank has it."""
    assert_kept(passes.of_rank(SMALL, GPU))


@pytest.mark.parametrize("name", OUTPUTS)
def test_together_is_alone(name):
    """Four replicates as one model, beside each alone, in float64 and float32."""
    assert_kept(trainings.of_together(name, TINY, GPU))


def test_a_graph_of_the_step_has_the_gradients_of_the_step():
    """Replayed twice, it gives what the same kernels give one by one."""
    asked = Asked("ptb_softmax", None, "cuda", 2, tiny=True, replicates=2)
    step = graphs.Step(asked)
    graph = graphs.capture(step.add_gradients, GPU, step.parameters())
    for _ in range(2):
        graph.replay()
    replayed = [parameter.grad for parameter in step.parameters()]
    other = graphs.Step(asked)
    other.add_gradients()
    for parameter, gradient in zip(other.parameters(), replayed, strict=True):
        torch.testing.assert_close(gradient, parameter.grad)


def test_steps_and_recurrences_are_captured():
    """Nothing in the batched step or the batched recurrence keeps a CUDA graph from it."""
    asked = Asked("ptb_softmax", None, "cuda", 2, tiny=True, replicates=2)
    found = [*graphs.whole_steps(asked), *graphs.recurrences(asked)]
    assert all(isinstance(one, Measured) for one in found), found


def test_the_peak_is_that_of_tensors_on_the_gpu() -> None:
    """50 MB that are held and let go count, until they are forgotten."""
    forget_peak("cuda")
    before = peak_of("cuda")
    held = torch.zeros(50_000_000, dtype=torch.uint8, device="cuda")
    del held
    assert peak_of("cuda") - before >= 50_000_000
    forget_peak("cuda")
    assert peak_of("cuda") - before < 50_000_000
