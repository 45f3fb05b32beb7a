"""What a CUDA graph of the step, of the recurrence, and torch.compile of the loss could save.

``train`` as it is cannot be captured: its masks are drawn by numpy and copied during the step,
its rates are numbers of the host, and every length of a window would need a graph. What is
captured here is the part that could be: windows of one length, no dropout, the update outside.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from benchmarks.gpu.many import Asked
from benchmarks.gpu.stopwatch import (
    WARM_UPS,
    Failed,
    Measured,
    forget_peak,
    peak_bytes,
    reason_of,
    timed,
    wait_for,
)
from benchmarks.gpu.workloads import corpus_of, epoch_tokens
from benchmarks.speed.shapes import run_of
from repro.trainers.language_model import fused_loss
from repro.trainers.language_model import model as recurrence
from repro.trainers.language_model.corpus import batchify
from repro.trainers.language_model.model import (
    LanguageModel,
    LstmLayer,
    Trunk,
    _run_layers,
    run_together,
)
from repro.trainers.language_model.optimiser import Sgd
from repro.trainers.language_model.precision import products_in
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.regularisation import QUIET, activation_penalty, temporal_penalty

Work = Callable[[], Any]


@dataclass
class Step:
    """A step of the replicates over the first window, without dropout, from a zero state."""

    asked: Asked

    def __post_init__(self) -> None:
        spec, device = self.asked.spec, torch.device(self.asked.device)
        self.device = device
        self.models: list[LanguageModel] = []
        for number in range(self.asked.replicates):
            model = LanguageModel(spec.model, spec.corpus.vocabulary)
            initialise(model, Streams(run_of(spec, number)))
            self.models.append(model.to(device))
        self.optimisers = [Sgd(model, spec.recipe) for model in self.models]
        length = spec.recipe.window.base
        text_LB = batchify(corpus_of(spec).train, spec.recipe.batch_size)[: length + 1].to(device)
        self.parts = text_LB.split(spec.recipe.small_batch_size or text_LB.shape[1], dim=1)
        self.tokens = self.asked.replicates * text_LB[1:].numel()

    def add_gradients(self) -> None:
        """Forward and back, all parts of the batch."""
        recipe = self.asked.spec.recipe
        for part_LB in self.parts:
            words = [part_LB[:-1]] * self.asked.replicates
            states = [model.zero_state(part_LB.shape[1]) for model in self.models]
            matrices = [model.embedding_matrix for model in self.models]
            vectors = [QUIET.embed(*one) for one in zip(words, matrices, strict=True)]
            trunks = [model.trunk for model in self.models]
            assert all(isinstance(trunk, Trunk) for trunk in trunks)
            outputs = run_together(trunks, vectors, states, [QUIET] * self.asked.replicates)  # type: ignore[arg-type]
            losses = [
                model.output.loss(output.context, part_LB[1:])
                + activation_penalty(output.context, recipe.activation)
                + temporal_penalty(output.raw, recipe.temporal)
                for model, output in zip(self.models, outputs, strict=True)
            ]
            torch.autograd.backward(losses)

    def update(self) -> None:
        """One step of each optimiser, at a rate that leaves random text harmless."""
        for optimiser in self.optimisers:
            optimiser.step(1e-3)

    def parameters(self) -> list[torch.nn.Parameter]:
        """Of all replicates."""
        return [parameter for model in self.models for parameter in model.parameters()]


def whole_steps(asked: Asked) -> Iterator[Measured | Failed]:
    """The step as it is issued, and replayed as a graph."""
    note = "windows of one length, no dropout"
    step = Step(asked)
    with products_in(asked.products):
        for way, prepare in {"issued": issued, "a CUDA graph": captured}.items():
            what = f"{asked.title}: {way}"
            try:
                forget_peak(step.device)
                work = prepare(step)
                seconds = _seconds(work, step.device, asked.steps)
            except Exception as error:  # noqa: BLE001 - that it cannot be captured is a finding
                yield Failed(what, reason_of(error))
                continue
            tokens, epoch = asked.steps * step.tokens, epoch_tokens(asked.spec)
            numbers = (
                asked.steps,
                tokens,
                seconds,
                epoch,
                asked.replicates,
                peak_bytes(step.device),
            )
            yield Measured(what, *numbers, note=note)


def issued(step: Step) -> Work:
    """Kernel by kernel."""

    def work() -> None:
        step.add_gradients()
        step.update()

    return work


def captured(step: Step) -> Work:
    """Forward and back as one graph; the gradients that it writes are given to the update."""
    graph = capture(step.add_gradients, step.device, step.parameters())
    gradients = [(p, p.grad) for p in step.parameters()]

    def work() -> None:
        for parameter, gradient in gradients:
            parameter.grad = gradient
        graph.replay()
        step.update()

    return work


def capture(
    work: Work, device: torch.device, parameters: Sequence[torch.nn.Parameter]
) -> torch.cuda.CUDAGraph:
    """Capture what ``work`` does after three warm-ups on a stream of their own."""
    if device.type != "cuda":
        raise RuntimeError("a CPU has no CUDA graphs")
    side = torch.cuda.Stream(device)
    side.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
            _forget(parameters)
    torch.cuda.current_stream(device).wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


def recurrences(asked: Asked) -> Iterator[Measured | Failed]:
    """The second layer alone, forward and back: the library's in turn, batched, and in a graph."""
    step = Step(asked)
    trunks = [model.trunk for model in step.models]
    depth = min(1, asked.spec.model.layers - 1)
    layers = [trunk.lstm_layers()[depth] for trunk in trunks if isinstance(trunk, Trunk)]
    length, batch = asked.spec.recipe.window.base, asked.spec.recipe.batch_size
    shape = (length, batch, layers[0].input_weight.shape[1])
    x_TBI = torch.rand(shape, device=step.device, requires_grad=True)
    zero = torch.zeros(1, batch, layers[0].hidden_size, device=step.device)

    def passes(groups: Sequence[Sequence[LstmLayer]]) -> Work:
        def work() -> None:
            for group in groups:
                n = len(group)
                ran = _run_layers(group, [x_TBI] * n, [(zero, zero)] * n, [QUIET] * n)
                torch.autograd.backward([output.sum() for output, _ in ran])

        return work

    batched = passes([layers])
    everything = [x_TBI, *step.parameters()]
    ways: dict[str, Callable[[], Work]] = {
        "the library's, in turn": lambda: passes([[layer] for layer in layers]),
        "batched": lambda: batched,
        "batched, a CUDA graph": lambda: capture(batched, step.device, everything).replay,  # type: ignore[arg-type]
    }
    with products_in(asked.products):
        for way, prepare in ways.items():
            what = f"layer {depth + 1} of {asked.title}: {way}"
            _forget(everything)
            try:
                seconds = _seconds(prepare(), step.device, asked.steps)
            except Exception as error:  # noqa: BLE001 - that it cannot be captured is a finding
                yield Failed(what, reason_of(error))
                continue
            tokens = asked.steps * len(layers) * length * batch
            epoch = epoch_tokens(asked.spec)
            yield Measured(what, asked.steps, tokens, seconds, epoch, len(layers))


def compiled(asked: Asked) -> Iterator[Measured | Failed]:
    """Steps of ``train`` with the loss's chunk (and the batched cell) through torch.compile.

    ``precision.factor`` asks a ContextVar, which the compiler cannot trace; here it is replaced
    by what it does in the precision that is asked for.
    """
    spec, device = asked.spec, torch.device(asked.device)
    backend = "inductor" if asked.device == "cuda" else "eager"
    what = f"{asked.title}, torch.compile of loss and batched cell"
    runs = [run_of(spec, number) for number in range(asked.replicates)]
    forget_peak(device)
    try:
        with _compiling(asked, backend):
            watch = timed(runs, corpus_of(spec), device, asked.steps, together=True)
    except Exception as error:  # noqa: BLE001 - that it cannot be compiled is a finding
        yield Failed(what, reason_of(error))
        return
    finally:
        torch._dynamo.reset()
    seconds, note = watch.ended - watch.began, f"backend {backend}"
    numbers = (asked.steps, watch.tokens, seconds, epoch_tokens(spec), asked.replicates)
    yield Measured(what, *numbers, peak_bytes(device), note=note)


@contextmanager
def _compiling(asked: Asked, backend: str) -> Iterator[None]:
    def factor(x: Tensor) -> Tensor:
        return x.bfloat16() if asked.products == "bf16" else x

    patches: list[AbstractContextManager[Any]] = [
        mock.patch.object(fused_loss, "factor", factor),
        *(
            mock.patch.object(
                module, name, torch.compile(original, backend=backend, fullgraph=True)
            )
            for module, name, original in (
                (fused_loss, "_mixture_chunk", fused_loss._mixture_chunk),
                (recurrence, "_cell", recurrence._cell),
            )
        ),
    ]
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # the compiler's own
        for patch in patches:
            stack.enter_context(patch)
        yield


def _seconds(work: Work, device: torch.device, steps: int) -> float:
    """Of so many calls, after warm-ups."""
    for _ in range(WARM_UPS):
        work()
    wait_for(device)
    began = time.monotonic()
    for _ in range(steps):
        work()
    wait_for(device)
    return time.monotonic() - began


def _forget(parameters: Sequence[Tensor]) -> None:
    for parameter in parameters:
        parameter.grad = None
