"""Dropout, noise and penalties of the AWD-LSTM (Merity et al. 2018), as the papers ran them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from repro.trainers.language_model.randomness import Ahead, Draw, Streams, Unpack
from repro.trainers.language_model.recipe import Schedule

LockedPlace = Literal["input", "hidden", "output", "latent"]

WORD_BITS: Final = 32
WORD_BYTES: Final = 4
"""What a generator draws at a time; a mask of bits begins with a new one."""


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
        self._ahead: dict[str, Ahead] = {}

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
            mask_V = self._mask("embedding_dropout", (len(embedding_VE),), p, embedding_VE)
            vectors_TBE = vectors_TBE * mask_V[tokens_TB].unsqueeze(-1)
        if self._noise:
            noise = self._drawn("embedding_noise", _normals, vectors_TBE.numel(), vectors_TBE)
            vectors_TBE = vectors_TBE + self._noise * noise.view_as(vectors_TBE).to(vectors_TBE)
        return vectors_TBE

    def locked(self, place: LockedPlace, x_TBH: Tensor) -> Tensor:
        """Drop entries of (T, B, H) by one mask (1, B, H), the same at every step."""
        p = self._probabilities.get(place, 0.0)
        if not p:
            return x_TBH
        return x_TBH * self._mask(f"{place}_dropout", (1, *x_TBH.shape[1:]), p, x_TBH)

    def weight(self, weight: Tensor) -> Tensor:
        """Drop single entries of a recurrent matrix, one mask for a whole window and batch."""
        p = self._probabilities.get("weight", 0.0)
        if not p:
            return weight
        keep = self._keep("weight_dropout", tuple(weight.shape), p, weight)
        dropped: Tensor = _WeightDrop.apply(weight, keep, 1 / (1 - p))  # type: ignore[no-untyped-call]
        return dropped

    def _mask(self, stream: str, shape: tuple[int, ...], p: float, like: Tensor) -> Tensor:
        """Entries 0 or 1 / (1 - p), of the type of ``like`` and on its device."""
        return self._keep(stream, shape, p, like).to(torch.float64).div_(1 - p).to(like)

    def _keep(self, stream: str, shape: tuple[int, ...], p: float, like: Tensor) -> Tensor:
        """Bernoulli(1 - p) as booleans; for p = 1/2 the generator's bits, 8 times faster."""
        size = math.prod(shape)
        if p == 0.5:
            bytes_N = self._drawn(stream, _words, math.ceil(size / WORD_BITS) * WORD_BYTES, like)
            return _unpacked(bytes_N)[:size].view(shape)
        if like.device.type == "cuda":
            return self._drawn(stream, partial(_packed, p=p), size, like, _unpacked).view(shape)
        return (self._drawn(stream, _uniforms, size, like) >= float(np.float32(p))).view(shape)

    def _drawn(
        self, stream: str, draw: Draw, count: int, like: Tensor, there: Unpack | None = None
    ) -> Tensor:
        """The next numbers of a stream, (count,), on the device of ``like``."""
        if like.device.type != "cuda":
            return torch.from_numpy(draw(self._stream(stream), count)).to(like.device)
        if stream not in self._ahead:
            self._ahead[stream] = Ahead(self._stream(stream), draw, like.device, there)
        return self._ahead[stream].take(count)

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


def _normals(generator: np.random.Generator, count: int) -> np.ndarray:
    return generator.standard_normal(count, dtype=np.float32)


def _uniforms(generator: np.random.Generator, count: int) -> np.ndarray:
    return generator.random(count, dtype=np.float32)


def _packed(generator: np.random.Generator, count: int, *, p: float) -> np.ndarray:
    """Which of so many uniform numbers are at least p, a bit each: 32 times less to move."""
    return np.packbits(_uniforms(generator, count) >= np.float32(p))


def _words(generator: np.random.Generator, count: int) -> np.ndarray:
    """As many bytes as ``generator.bytes``, which draws whole words, a multiple of four."""
    words = generator.integers(2**WORD_BITS, size=count // WORD_BYTES, dtype=np.uint32)
    return words.astype("<u4", copy=False).view(np.uint8)


def _unpacked(bytes_N: Tensor) -> Tensor:
    """The bits of bytes, the highest of each first, as booleans."""
    if bytes_N.device.type == "cpu":
        return torch.from_numpy(np.unpackbits(bytes_N.numpy())).view(torch.bool)
    places = torch.arange(7, -1, -1, dtype=torch.uint8, device=bytes_N.device)
    return (bytes_N.unsqueeze(1) >> places).bitwise_and_(1).view(torch.bool).flatten()
