"""The windows of one epoch: where each begins, how long it is, what it does to the rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from repro.specs.recipe import Window

SHORT_WINDOWS = 0.05
DEVIATION = 5.0
SHORTEST = 5


@dataclass(frozen=True, slots=True)
class Segment:
    """Steps ``start`` to ``start + length`` of a text; each predicts the word after it."""

    start: int
    length: int
    rate: float = 1.0
    """Factor of the learning rate."""

    def inputs(self, text_LB: Tensor) -> Tensor:
        """(T, B) words to read."""
        return text_LB[self.start : self.start + self.length]

    def targets(self, text_LB: Tensor) -> Tensor:
        """(T, B) words to predict: the inputs one step later."""
        return text_LB[self.start + 1 : self.start + 1 + self.length]


def windows_of(steps: int, length: int) -> list[Segment]:
    """Cut ``steps`` predictions into windows of one length; the last is what is left."""
    return [Segment(start, min(length, steps - start)) for start in range(0, steps, length)]


def draw_windows(steps: int, window: Window, generator: np.random.Generator) -> list[Segment]:
    """The training windows of an epoch; the last is what is left, however short.

    Every token is used, where the papers' code drops a rest of one step. The last rate follows
    the length that there is, or, with ``last_rate: drawn``, the length that was drawn.
    """
    if not window.random:
        return windows_of(steps, window.base)
    result = []
    start = 0
    while start < steps:
        drawn = draw_length(window, generator)
        length = min(drawn, steps - start)
        counted = drawn if window.last_rate == "drawn" else length
        result.append(Segment(start, length, counted / window.base))
        start += length
    return result


def draw_length(window: Window, generator: np.random.Generator) -> int:
    """The papers' random length: normal around base, or base / 2 in one case of twenty."""
    centre = window.base / 2 if generator.random() < SHORT_WINDOWS else window.base
    length = max(SHORTEST, int(generator.normal(centre, DEVIATION)))
    return length if window.max_delta is None else min(length, window.base + window.max_delta)
