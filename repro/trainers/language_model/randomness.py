"""What a seed controls: one stream of random numbers for each purpose, and initial values.

Nothing but `STREAM_NAMES` is random, and the global generators of Python, numpy and torch are
neither read nor changed. A stream is reopened each epoch, so a training that goes on from
a checkpoint needs no saved generator.

All numbers are drawn by numpy's Philox, keyed by 128 bits of a SHA-256, and moved to the device:
torch's generator keeps 32 bits of its seed on a CPU, and would make a GPU a part of the run.

Parameters are created empty and filled here, one stream a parameter, because the constructors
of torch's own layers draw from the global generator: modules say the distribution.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from repro.digest import digest
from repro.trainers.devices import pinned
from repro.trainers.run import RunSpec

STREAM_NAMES = (
    "init",  # the value of a parameter before training, by its name
    "window_length",  # the lengths of the training windows, by epoch, as all that follow
    "batch_order",  # the order in which responses are read
    "embedding_dropout",  # which words are dropped from the lookup
    "embedding_noise",  # the noise added to looked-up vectors
    "input_dropout",  # the mask on the first layer's input
    "hidden_dropout",  # the masks between layers
    "output_dropout",  # the mask on the last layer's output
    "latent_dropout",  # the mask on the mixtures' latent contexts
    "weight_dropout",  # the masks on the recurrent matrices
    "dynamic_evaluation",  # the same, where they stay dropped in a measurement, by its name
)


def philox(identity: Any) -> np.random.Generator:
    """A generator that is a function of a JSON document and of nothing else."""
    key = int(digest(identity)[:32], 16)
    return np.random.Generator(np.random.Philox(key=key))


class Streams:
    """The random streams of one run.

    Keyed by root, replicate and (unless the run's streams are ``paired``) the digest of the
    training specification: paired configurations draw common random numbers.
    """

    def __init__(self, run: RunSpec) -> None:
        self._identity = {
            "root": run.root,
            "training": None if run.streams == "paired" else run.training.digest(),
            "replicate": run.replicate,
        }

    def open(self, name: str, *index: int | str) -> np.random.Generator:
        """The stream at its beginning. Raises ValueError for a name that is not among them."""
        if name not in STREAM_NAMES:
            raise ValueError(f"unknown stream '{name}'; known: {', '.join(STREAM_NAMES)}")
        return philox({**self._identity, "stream": name, "index": list(index)})


Draw = Callable[[np.random.Generator, int], np.ndarray]
Unpack = Callable[[Tensor], Tensor]

REQUESTS_AHEAD: Final = 16
"""Draws like the first that a block of a stream holds, as far as its size allows."""
LARGEST_BLOCK: Final = 2**21
"""Numbers that a stream draws at a time, if no request is for more."""


class Ahead:
    """A stream on a GPU: drawn in a thread, a block ahead of its use, and moved without a wait.

    ``draw`` gives so many numbers, and the same ones whether all at once or in several calls. What
    it packs for the way ``unpack`` makes numbers again, on the device.
    """

    def __init__(
        self,
        generator: np.random.Generator,
        draw: Draw,
        device: torch.device,
        unpack: Unpack | None = None,
    ) -> None:
        self._generator, self._draw, self._device = generator, draw, device
        self._unpack = unpack
        self._block = 0
        self._coming: tuple[int, Future[Tensor]] | None = None
        self._waiting: Tensor | None = None

    def take(self, count: int) -> Tensor:
        """The next ``count`` numbers, (count,), on the device."""
        self._block = self._block or min(REQUESTS_AHEAD * count, LARGEST_BLOCK)
        while self._waiting is None or len(self._waiting) < count:
            size, coming = self._coming or self._submit(count)
            more = coming.result().to(self._device, non_blocking=True)
            self._coming = self._submit(count)
            more = more if self._unpack is None else self._unpack(more)[:size]
            self._waiting = more if self._waiting is None else torch.cat([self._waiting, more])
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    def _submit(self, count: int) -> tuple[int, Future[Tensor]]:
        """A block that is being drawn, with its numbers."""
        size = max(self._block, count)
        return size, _threads().submit(self._drawn, size)

    def _drawn(self, count: int) -> Tensor:
        """In memory that the device copies from by itself."""
        return pinned(torch.from_numpy(self._draw(self._generator, count)))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="drawing")


os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of the threads


Distribution = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


class Initialised(nn.Module):
    """A module that knows how each of its own parameters starts."""

    def initial(self) -> Mapping[str, Distribution]:
        """Distribution of each parameter, by its name in this module."""
        raise NotImplementedError


def uniform(bound: float) -> Distribution:
    """Draws float64 values that are uniform on [-bound, bound)."""
    return lambda generator, shape: generator.uniform(-bound, bound, shape)


def all_uniform(module: nn.Module, size: int) -> Mapping[str, Distribution]:
    """U(-1/sqrt(size), 1/sqrt(size)) for every parameter of a module."""
    return {name: uniform(size**-0.5) for name, _ in module.named_parameters()}


def normal(mean: float, deviation: float) -> Distribution:
    """Normal with the given mean and standard deviation."""
    return lambda generator, shape: generator.normal(mean, deviation, shape)


def zeros() -> Distribution:
    """Draws nothing: every value is 0, as in a new bias."""
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
