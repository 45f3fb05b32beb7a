"""Dropout, noise and penalties of the AWD-LSTM (Merity et al. 2018), as the papers ran them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.recipe import Schedule

LockedPlace = Literal["input", "hidden", "output", "latent"]


class Regularisation:
    """Draws and applies the masks of one epoch of training.

    ``QUIET``, the instance with nothing to draw, returns every tensor as it is: evaluation.
    A mask keeps an entry with probability 1 - p and scales it by 1 / (1 - p).
    """

    def __init__(
        self,
        probabilities: dict[str, float],
        noise: float,
        open_stream: Callable[[str], np.random.Generator],
    ) -> None:
        self._probabilities = probabilities
        self._noise = noise
        self._open = open_stream
        self._streams: dict[str, np.random.Generator] = {}

    @classmethod
    def of_epoch(cls, recipe: Schedule, streams: Streams, epoch: int) -> Self:
        """The masks that ``recipe`` asks for in one epoch, always the same ones."""
        probabilities = recipe.dropout.model_dump()
        return cls(probabilities, recipe.embedding_noise, lambda name: streams.open(name, epoch))

    def embed(self, tokens_TB: Tensor, embedding_VE: Tensor) -> Tensor:
        """Look up (T, B) words with whole rows of the matrix dropped, then add noise: (T, B, E).

        A dropped word is missing at each of its places. The noise is not masked by the dropout.
        """
        vectors_TBE = F.embedding(tokens_TB, embedding_VE)
        p = self._probabilities.get("embedding", 0.0)
        if p:
            mask_V = _mask(self._stream("embedding_dropout"), (len(embedding_VE),), p)
            vectors_TBE = vectors_TBE * mask_V.to(embedding_VE)[tokens_TB].unsqueeze(-1)
        if self._noise:
            shape = tuple(vectors_TBE.shape)
            noise = self._stream("embedding_noise").standard_normal(shape, dtype=np.float32)
            vectors_TBE = vectors_TBE + self._noise * torch.from_numpy(noise).to(vectors_TBE)
        return vectors_TBE

    def locked(self, place: LockedPlace, x_TBH: Tensor) -> Tensor:
        """Drop entries of (T, B, H) by one mask (1, B, H), the same at every step."""
        p = self._probabilities.get(place, 0.0)
        if not p:
            return x_TBH
        mask_1BH = _mask(self._stream(f"{place}_dropout"), (1, *x_TBH.shape[1:]), p)
        return x_TBH * mask_1BH.to(x_TBH)

    def weight(self, weight: Tensor) -> Tensor:
        """Drop single entries of a recurrent matrix, one mask for a whole window and batch."""
        p = self._probabilities.get("weight", 0.0)
        if not p:
            return weight
        keep = _keep(self._stream("weight_dropout"), tuple(weight.shape), p).to(weight.device)
        dropped: Tensor = _WeightDrop.apply(weight, keep, 1 / (1 - p))  # type: ignore[no-untyped-call]
        return dropped

    def _stream(self, name: str) -> np.random.Generator:
        if name not in self._streams:
            self._streams[name] = self._open(name)
        return self._streams[name]


def _no_stream(name: str) -> np.random.Generator:
    raise AssertionError(f"evaluation asked for random numbers: {name}")


QUIET = Regularisation({}, 0.0, _no_stream)


def activation_penalty(context_TBD: Tensor, alpha: float) -> Tensor:
    """AR: alpha times the mean square of the last layer's output after dropout."""
    return alpha * context_TBD.square().mean()


def temporal_penalty(hidden_TBD: Tensor, beta: float) -> Tensor:
    """TAR: beta times the mean squared step of the last layer's output before dropout.

    A window of one step has no differences, and no penalty.
    """
    if len(hidden_TBD) < 2:
        return hidden_TBD.new_zeros(())
    return beta * (hidden_TBD[1:] - hidden_TBD[:-1]).square().mean()


class _WeightDrop(torch.autograd.Function):
    """weight * keep * scale; keeps one byte an entry for the way back."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, keep: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(keep)
        ctx.scale = scale
        return (weight * keep).mul_(scale)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (keep,) = ctx.saved_tensors
        return (gradient * keep).mul_(ctx.scale), None, None


def _mask(generator: np.random.Generator, shape: tuple[int, ...], p: float) -> Tensor:
    """Entries 0 or 1 / (1 - p), float64."""
    return _keep(generator, shape, p).to(torch.float64).div_(1 - p)


def _keep(generator: np.random.Generator, shape: tuple[int, ...], p: float) -> Tensor:
    """Bernoulli(1 - p) as booleans; for p = 1/2 the generator's bits themselves, 8 times faster."""
    if p == 0.5:
        size = int(np.prod(shape))
        bits = np.unpackbits(np.frombuffer(generator.bytes((size + 7) // 8), dtype=np.uint8))
        return torch.from_numpy(bits[:size].reshape(shape)).view(torch.bool)
    return torch.from_numpy(generator.random(shape, dtype=np.float32) >= np.float32(p))
