"""A user's own output layer or trunk: made, and checked against what is stated.

Everything that can be wrong with it is found when a model is built, before anything is trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from repro.errors import DataError
from repro.plugins import load_object, version_of
from repro.trainers.language_model.model import OwnTrunk, TrunkOutput, detached
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.randomness import Initialised
from repro.trainers.language_model.regularisation import QUIET
from repro.trainers.language_model.spec import Model, Own

Part = TypeVar("Part", bound=Initialised)
TRIAL_SEED = 20180430


def make(spec: Own, kind: type[Part], *sizes: Any) -> Part:
    """What ``spec`` names, called with ``sizes`` and its options: a ``kind``, or DataError."""
    version = version_of(spec.use)  # before a line of it has run
    if version != spec.version:
        raise differs(spec, f"its version here is {version}", f"version {spec.version}", version)
    maker = load_object(spec.use)
    arguments = [*map(str, sizes), *(f"{name}={value}" for name, value in spec.options.items())]
    call = f"what can be called with ({', '.join(arguments)})"
    with blaming(spec, "it cannot be made with the model's sizes and its options", call):
        made, again = (maker(*sizes, **spec.options) for _ in range(2))
    if not isinstance(made, kind):
        mistake = f"it makes no {kind.__name__}, but a {type(made).__name__}"
        raise wrong(spec, mistake, f"a subclass of repro.extend.{kind.__name__}")
    members = {name: getattr(type(made), name, None) for name in dir(type(made))}
    missing = [n for n, member in members.items() if getattr(member, "__isabstractmethod__", False)]
    if missing:
        mistake = f"it does not define {', '.join(missing)}"
        raise wrong(spec, mistake, f"every method that {kind.__name__} leaves open")
    for (name, buffer), other in zip(made.named_buffers(), again.buffers(), strict=False):
        if not torch.equal(buffer, other):
            mistake = f"its buffer {name} is another each time that it is made"
            raise wrong(spec, mistake, "a constant, or a parameter with initial values")
    return made


def check_parameters(spec: Own, part: Initialised, shared: int = 0) -> None:
    """DataError unless ``part`` has as many parameters, ``shared`` aside, as is stated.

    Each must have initial values, by ``initial()`` of the module that it belongs to.
    """
    count = sum(p.numel() for p in part.parameters()) - shared
    if count != spec.parameters:
        beside = " beside the decoder's" if shared else ""
        mistake = f"it has {count:,} parameters{beside}"
        raise differs(spec, mistake, f"{spec.parameters:,}, as the configuration states", count)
    forgotten = {name for name, _ in part.named_parameters()} - set(_initial(spec, part))
    if forgotten:
        mistake = f"no initial values for {', '.join(sorted(forgotten))}"
        raise wrong(spec, mistake, "a distribution of each parameter, by name, from initial()")


@torch.no_grad()
def on_trial(spec: Own, part: Part) -> Part:
    """A copy of ``part`` with initial values, to be tried before training."""
    copy = deepcopy(part)
    generator = np.random.default_rng(TRIAL_SEED)
    for name, distribution in _initial(spec, copy).items():
        parameter = copy.get_parameter(name)
        with blaming(spec, f"the initial values of {name} cannot be drawn"):
            values = torch.from_numpy(distribution(generator, tuple(parameter.shape)))
            parameter.copy_(values)
        if not bool(values.isfinite().all()):
            raise wrong(spec, f"initial values of {name} are not finite", "finite numbers")
    return copy


def check_tensor(spec: Own, part: str, found: object, shape: tuple[int, ...], like: Tensor) -> None:
    """DataError unless ``found`` is a finite tensor of ``shape``, of the type of ``like``."""
    if not isinstance(found, Tensor):
        raise wrong(spec, f"{part} is a {type(found).__name__}", "a tensor")
    if tuple(found.shape) != shape:
        raise wrong(spec, f"{part} has the shape {tuple(found.shape)}", f"the shape {shape}")
    if found.dtype != like.dtype:
        raise wrong(spec, f"{part} is of type {found.dtype}", f"{like.dtype}, as its weights")
    if not bool(found.isfinite().all()):
        raise wrong(spec, f"{part} is not finite at its initial values", "finite numbers")


def check_gradients(spec: Own, part: Initialised, result: Tensor, input_: Tensor) -> None:
    """DataError unless ``result`` depends on ``input_`` and on all that is to be trained."""
    sources = {n: p for n, p in part.named_parameters() if p.requires_grad} | {"its input": input_}
    with blaming(spec, "it cannot be differentiated"):
        gradients: Sequence[Tensor | None] = torch.autograd.grad(
            result.sum(), list(sources.values()), allow_unused=True
        )
    found = zip(sources, gradients, strict=True)
    if untrained := [name for name, gradient in found if gradient is None]:
        expected = (
            "one for each parameter; what `transform` uses, parameters_of_transform() returns"
        )
        raise wrong(spec, f"no gradient reaches {', '.join(untrained)}", expected)


def in_both_modes(
    spec: Own, part: Initialised, output: str, run: Callable[[], Tensor], rtol: float = 1e-4
) -> Tensor:
    """What ``run`` of ``part`` gives, in training and evaluation mode the same, or DataError.

    Random numbers that are not the regularisation's would not be those of the seed.
    """
    part.train()
    training = run()
    part.eval()
    evaluation = run()
    if not torch.allclose(training, evaluation, rtol=rtol, atol=1e-6):
        mistake = f"{output} depends on train() and eval(), or on random numbers"
        raise wrong(spec, mistake, "dropout and noise by the regularisation that it is given")
    return evaluation


@contextmanager
def blaming(
    spec: Own, fault: str, expected: str = "what docs/how-to/own-layer.md says"
) -> Iterator[None]:
    """Turn whatever a user's code raises into a DataError that names it."""
    try:
        yield
    except Exception as error:  # a user's code may raise anything
        raise wrong(spec, f"{fault}: {type(error).__name__}: {error}", expected) from error


def wrong(spec: Own, mistake: str, expected: str) -> DataError:
    """An error of a component that does not do what it should."""
    options = ", or its options in the configuration" if spec.options else ""
    advice = f"correct the class{options}"
    return DataError(f"{spec.use}: {mistake}\n  expected: {expected}\n  to do: {advice}")


def differs(spec: Own, mistake: str, expected: str, value: object) -> DataError:
    """An error of a component that is not what the configuration states."""
    advice = f"write {value} in the configuration; that is another run"
    return DataError(f"{spec.use}: {mistake}\n  expected: {expected}\n  to do: {advice}")


def _initial(spec: Own, part: Initialised) -> dict[str, Callable[..., Any]]:
    """The distribution of each parameter that has one, by its name in ``part``."""
    found = {}
    for prefix, module in part.named_modules():
        if isinstance(module, Initialised):
            with blaming(spec, "its initial() fails"):
                for name, distribution in module.initial().items():
                    module.get_parameter(name)
                    found[f"{prefix}.{name}" if prefix else name] = distribution
    return found


TRIED_WINDOWS = (3, 1)
"""Steps of the windows that a trunk is tried with; a text may end in a window of one step."""

TRIED_STREAMS = 2


def own_trunk(model: Model, spec: Own, dtype: torch.dtype) -> OwnTrunk:
    """The trunk that ``spec`` names, for the sizes of ``model``; its parameters are not filled.

    DataError when it is not what ``spec`` states, or, tried on two short windows, gives anything
    but finite contexts and a state, others in evaluation mode, or such as not all of it decides.
    """
    sizes = (model.embedding_size, model.hidden_size, model.context_size, model.layers)
    trunk: OwnTrunk = make(spec, OwnTrunk, *sizes, dtype)  # type: ignore[type-abstract]
    check_parameters(spec, trunk)
    tried = on_trial(spec, trunk)
    shape = (sum(TRIED_WINDOWS), TRIED_STREAMS, model.embedding_size)
    words_TBE = torch.linspace(-0.1, 0.1, math.prod(shape), dtype=dtype).view(shape)
    words_TBE.requires_grad_()
    contexts_TBD = in_both_modes(
        spec, tried, "its context", lambda: _contexts(spec, tried, words_TBE, model.context_size)
    )
    check_gradients(spec, tried, contexts_TBD, words_TBE)
    return trunk


def _contexts(spec: Own, trunk: OwnTrunk, words_TBE: Tensor, context_size: int) -> Tensor:
    """The contexts (T, B, D) of the tried windows, everything checked that comes with them."""
    with blaming(spec, "it has no state at the beginning of a text"):
        state = trunk.zero_state(TRIED_STREAMS, words_TBE)
    _check_state(spec, state, words_TBE)
    contexts = []
    for vectors_TBE in words_TBE.split(TRIED_WINDOWS):
        with blaming(spec, "it cannot run over a window"):
            output = trunk(vectors_TBE, state, QUIET)
        if not isinstance(output, TrunkOutput):
            made = type(output).__name__
            raise wrong(spec, f"a window gives a {made}", "a repro.extend.TrunkOutput")
        shape = (len(vectors_TBE), TRIED_STREAMS, context_size)
        check_tensor(spec, "its context", output.context, shape, words_TBE)
        check_tensor(spec, "its raw output", output.raw, shape, words_TBE)
        contexts.append(output.context)
        _check_state(spec, output.state, words_TBE)
        state = detached(output.state)
    return torch.cat(contexts)


def _check_state(spec: Own, state: object, like: Tensor) -> None:
    if type(state) is tuple:
        for part in state:
            _check_state(spec, part, like)
    elif isinstance(state, Tensor):
        check_tensor(spec, "its state", state, tuple(state.shape), like)
    else:
        made = type(state).__name__
        raise wrong(spec, f"its state has a {made} in it", "a tensor, or a tuple of states")


TRIED_SHAPE = (3, 2)
"""Steps and streams of the contexts that a layer is tried with."""

LARGEST_ERROR = 0.01
"""Nats by which a distribution may miss a sum of 1, as log(p + 1e-8) does by its epsilons."""


def own_output(
    spec: Own, vocabulary: int, embedding_size: int, context_size: int, dtype: torch.dtype
) -> OutputLayer:
    """The layer that ``spec`` names, called with these sizes and its options; it is not filled.

    DataError when it is not what ``spec`` states, has a decoder of another size or learning rates
    of parts that it lacks, or, tried on a few contexts, gives no finite log-probabilities that sum
    to 1, a loss that is not the mean of the targets' or not the same twice, or untrained parts.
    """
    layer: OutputLayer = make(spec, OutputLayer, vocabulary, embedding_size, context_size, dtype)  # type: ignore[type-abstract]
    _check_decoder(spec, layer, vocabulary, embedding_size)
    check_parameters(spec, layer, shared=layer.weight.numel() + layer.bias.numel())
    _check_rates(spec, layer)
    _try_layer(spec, on_trial(spec, layer), vocabulary, context_size)
    return layer


def _check_decoder(spec: Own, layer: OutputLayer, vocabulary: int, size: int) -> None:
    """DataError unless the decoder has the sizes that the embedding is to have too."""
    for name, shape in {"weight": (vocabulary, size), "bias": (vocabulary,)}.items():
        found = tuple(getattr(layer, name).shape)
        if found != shape:
            mistake = f"its {name} has the shape {found}"
            raise wrong(
                spec, mistake, f"{shape}: the vocabulary, and the embedding size of a matrix"
            )


def _check_rates(spec: Own, layer: OutputLayer) -> None:
    """DataError for a rate of nothing that is trained, or one that is no number above 0."""
    with blaming(spec, "its learning_rates() fails"):
        rates: Any = layer.learning_rates()
    if not isinstance(rates, Mapping):
        mistake = f"its learning_rates is a {type(rates).__name__}"
        raise wrong(spec, mistake, "a mapping from names of parameters to numbers")
    trained = [name for name, parameter in layer.named_parameters() if parameter.requires_grad]
    for name, rate in rates.items():
        if not any(f"{parameter}.".startswith(f"{name}.") for parameter in trained):
            mistake = f"its learning_rates has '{name}', which is no parameter that is trained"
            raise wrong(spec, mistake, f"one of {', '.join(trained)}, or its beginning up to a dot")
        if not isinstance(rate, int | float) or not 0 < rate < math.inf:
            raise wrong(spec, f"the learning rate of {name} is {rate!r}", "a number above 0")


def _try_layer(spec: Own, layer: OutputLayer, vocabulary: int, context_size: int) -> None:
    steps, streams = TRIED_SHAPE
    context_TBD = torch.linspace(-1, 1, steps * streams * context_size, dtype=layer.weight.dtype)
    context_TBD = context_TBD.view(steps, streams, context_size).requires_grad_()
    targets_TB = torch.arange(steps * streams).view(steps, streams) % vocabulary
    logp_TBV = in_both_modes(
        spec, layer, "its log_probabilities", lambda: _distributions(spec, layer, context_TBD)
    )
    loss = in_both_modes(
        spec, layer, "its loss", lambda: _loss(spec, layer, context_TBD, targets_TB), 1e-6
    )
    expected = -float(logp_TBV.gather(-1, targets_TB.unsqueeze(-1)).mean())
    found = float(loss.detach())
    if abs(found - expected) > LARGEST_ERROR * max(1.0, expected):
        mistake = f"its loss is {found:.4g}, and its log-probabilities give {expected:.4g}"
        raise wrong(spec, mistake, "the mean negative log-probability of the targets, in nats")
    check_gradients(spec, layer, loss, context_TBD)


def _loss(spec: Own, layer: OutputLayer, context_TBD: Tensor, targets_TB: Tensor) -> Tensor:
    with blaming(spec, "it has no loss of contexts, targets and a regularisation"):
        loss = layer.loss(context_TBD, targets_TB, QUIET)
    check_tensor(spec, "its loss", loss, (), layer.weight)
    return loss


@torch.no_grad()
def _distributions(spec: Own, layer: OutputLayer, context_TBD: Tensor) -> Tensor:
    with blaming(spec, "it has no log-probabilities of contexts"):
        logp_TBV = layer.log_probabilities(context_TBD)
    shape = (*context_TBD.shape[:2], len(layer.weight))
    check_tensor(spec, "its log_probabilities", logp_TBV, shape, layer.weight)
    if float(logp_TBV.logsumexp(-1).abs().max()) > LARGEST_ERROR:
        raise wrong(spec, "its probabilities do not sum to 1", "log-probabilities, in nats")
    return logp_TBV
