"""Some contexts of a text, by the order in which it is read: step by step, in it by stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

Rows: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


def gathered(predictions: Iterable[tuple[Tensor, Tensor]], rows: Rows) -> tuple[Tensor, Tensor]:
    """Contexts (n, D) of these rows, and the words (n,) that follow them.

    ``predictions`` are contexts (T, B, D) and words (T, B), window by window; ``rows`` (n,) are
    sorted, distinct, and below the number of contexts. Nothing is read beyond the last of them.
    """
    contexts, targets, start = [], [], 0
    for context_TBD, targets_TB in predictions:
        end = start + targets_TB.numel()
        first, last = np.searchsorted(rows, [start, end])
        if last > first:
            here = torch.from_numpy(rows[first:last] - start).to(context_TBD.device)
            contexts.append(context_TBD.flatten(0, 1)[here])
            targets.append(targets_TB.flatten()[here])
        start = end
        if last == len(rows):
            break
    return torch.cat(contexts), torch.cat(targets)
