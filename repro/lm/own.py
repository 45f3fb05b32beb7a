"""A user's own component, from outside this package: made, and checked against what is stated.

Everything that can be wrong with it is found when a model is built, before anything is trained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from repro.errors import DataError
from repro.lm.initialisation import Initialised
from repro.plugins import load_object, version_of
from repro.specs.model import Own

Part = TypeVar("Part", bound=Initialised)

TRIAL_SEED = 20180430


def make(spec: Own, kind: type[Part], *sizes: Any) -> Part:
    """What ``spec`` names, called with ``sizes`` and its options: a ``kind``.

    Raises DataError when it is not there, cannot be called so, is no ``kind`` or not all of one,
    is of another version than ``spec`` states, or has random numbers that are not those of a seed.
    """
    version = version_of(spec.use)  # before a line of it has run
    if version != spec.version:
        raise differs(spec, f"its version here is {version}", f"version {spec.version}", version)
    maker = load_object(spec.use)
    arguments = [*map(str, sizes), *(f"{name}={value}" for name, value in spec.options.items())]
    call = f"what can be called with ({', '.join(arguments)})"
    with blaming(spec, "it cannot be made with the model's sizes and its options", call):
        made, again = (maker(*sizes, **spec.options) for _ in range(2))
    if not isinstance(made, kind):
        what = f"it makes no {kind.__name__}, but a {type(made).__name__}"
        raise wrong(spec, what, f"a subclass of {kind.__module__}.{kind.__qualname__}")
    members = {name: getattr(type(made), name, None) for name in dir(type(made))}
    missing = [n for n, member in members.items() if getattr(member, "__isabstractmethod__", False)]
    if missing:
        what = f"it does not define {', '.join(missing)}"
        raise wrong(spec, what, f"every method that {kind.__name__} leaves open")
    for (name, buffer), other in zip(made.named_buffers(), again.buffers(), strict=False):
        if not torch.equal(buffer, other):
            what = f"its buffer {name} is another each time that it is made"
            raise wrong(spec, what, "a constant, or a parameter with initial values")
    return made


def check_parameters(spec: Own, part: Initialised, shared: int = 0) -> None:
    """Raise DataError unless ``part`` has as many parameters, ``shared`` aside, as is stated.

    Each must have initial values, by ``initial()`` of the module that it belongs to.
    """
    count = sum(p.numel() for p in part.parameters()) - shared
    if count != spec.parameters:
        beside = " beside the decoder's" if shared else ""
        what = f"it has {count:,} parameters{beside}"
        raise differs(spec, what, f"{spec.parameters:,}, as the configuration states", count)
    forgotten = {name for name, _ in part.named_parameters()} - set(_initial(spec, part))
    if forgotten:
        what = f"no initial values for {', '.join(sorted(forgotten))}"
        raise wrong(spec, what, "a distribution of each parameter, by name, from initial()")


@torch.no_grad()
def on_trial(spec: Own, part: Part) -> Part:
    """A copy of ``part`` with initial values of its own, to be tried before training."""
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


def check_tensor(spec: Own, what: str, found: object, shape: tuple[int, ...], like: Tensor) -> None:
    """Raise DataError unless ``found`` is a finite tensor of ``shape``, of the type of ``like``."""
    if not isinstance(found, Tensor):
        raise wrong(spec, f"{what} is a {type(found).__name__}", "a tensor")
    if tuple(found.shape) != shape:
        raise wrong(spec, f"{what} has the shape {tuple(found.shape)}", f"the shape {shape}")
    if found.dtype != like.dtype:
        raise wrong(spec, f"{what} is of type {found.dtype}", f"{like.dtype}, as its weights")
    if not bool(found.isfinite().all()):
        raise wrong(spec, f"{what} is not finite at its initial values", "finite numbers")


def check_gradients(spec: Own, part: Initialised, result: Tensor, input_: Tensor) -> None:
    """Raise DataError unless ``result`` depends on ``input_`` and on all that is to be trained."""
    sources = {n: p for n, p in part.named_parameters() if p.requires_grad} | {"its input": input_}
    with blaming(spec, "it cannot be differentiated"):
        gradients: Sequence[Tensor | None] = torch.autograd.grad(
            result.sum(), list(sources.values()), allow_unused=True
        )
    found = zip(sources, gradients, strict=True)
    if untrained := [name for name, gradient in found if gradient is None]:
        what = f"no gradient reaches {', '.join(untrained)}"
        expected = (
            "one for each parameter; what `transform` uses, parameters_of_transform() returns"
        )
        raise wrong(spec, what, expected)


def in_both_modes(
    spec: Own, part: Initialised, what: str, run: Callable[[], Tensor], rtol: float = 1e-4
) -> Tensor:
    """What ``run`` of ``part`` gives, in training and evaluation mode the same, or DataError.

    What differs is random numbers or statistics that are not the regularisation's: they would
    not be those of the seed, and would go on in evaluation.
    """
    part.train()
    training = run()
    part.eval()
    evaluation = run()
    if not torch.allclose(training, evaluation, rtol=rtol, atol=1e-6):
        text = f"{what} depends on train() and eval(), or on random numbers"
        raise wrong(spec, text, "dropout and noise by the regularisation that it is given")
    return evaluation


@contextmanager
def blaming(
    spec: Own,
    what: str,
    expected: str = "what docs/how-to/own-layer.md says",
) -> Iterator[None]:
    """Turn whatever a user's code raises into a DataError that names it."""
    try:
        yield
    except Exception as error:  # a user's code may raise anything
        text = f"{what}: {type(error).__name__}: {error}"
        raise wrong(spec, text, expected) from error


def wrong(spec: Own, what: str, expected: str) -> DataError:
    """An error of a component that does not do what it should."""
    advice = "correct the class, or its options in the configuration"
    advice = advice if spec.options else "correct the class"
    return DataError(f"{spec.use}: {what}\n  expected: {expected}\n  to do: {advice}")


def differs(spec: Own, what: str, expected: str, value: object) -> DataError:
    """An error of a component that is not what the configuration states."""
    advice = f"write {value} in the configuration; that is another run"
    return DataError(f"{spec.use}: {what}\n  expected: {expected}\n  to do: {advice}")


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
