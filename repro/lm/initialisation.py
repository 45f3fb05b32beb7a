"""Initial values of parameters: modules say the distribution, streams give the numbers.

Parameters are created empty and filled here, one stream a parameter, because the constructors
of torch's own layers draw from the global generator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import nn

from repro.lm.randomness import Streams

Distribution = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


class Initialised(nn.Module):
    """A module that knows how each of its own parameters starts."""

    def initial(self) -> Mapping[str, Distribution]:
        """Distribution of each parameter, by its name in this module."""
        raise NotImplementedError


def uniform(bound: float) -> Distribution:
    """Uniform on [-bound, bound)."""
    return lambda generator, shape: generator.uniform(-bound, bound, shape)


def normal(mean: float, deviation: float) -> Distribution:
    """Normal with the given mean and standard deviation."""
    return lambda generator, shape: generator.normal(mean, deviation, shape)


def zeros() -> Distribution:
    """Zero everywhere."""
    return lambda _, shape: np.zeros(shape)


@torch.no_grad()
def initialise(model: nn.Module, streams: Streams) -> None:
    """Fill every parameter of ``model`` from the stream ``init`` of its full name.

    Raises NotImplementedError when a parameter has no initial distribution: it would be trained
    from whatever was in memory.
    """
    filled = set()
    for prefix, module in model.named_modules():
        if not isinstance(module, Initialised):
            continue
        for name, distribution in module.initial().items():
            parameter = module.get_parameter(name)
            full_name = f"{prefix}.{name}" if prefix else name
            generator = streams.open("init", full_name)
            filled.add(full_name)
            parameter.copy_(torch.from_numpy(distribution(generator, tuple(parameter.shape))))
    forgotten = {name for name, _ in model.named_parameters()} - filled
    if forgotten:
        raise NotImplementedError(f"no initial values for {', '.join(sorted(forgotten))}")
