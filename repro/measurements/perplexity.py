"""Perplexity: exp of the mean negative log-likelihood of a token, in nats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from repro.errors import StoreError
from repro.lm.evaluation import mean_loss

if TYPE_CHECKING:
    import torch

    from repro.lm.model import LanguageModel
    from repro.lm.records import EpochRecord


def evaluation_perplexity(
    model: LanguageModel, tokens: torch.Tensor, batch_size: int
) -> tuple[float, int]:
    """Perplexity of ``tokens`` (N,) with dropout off, and the number of tokens it is over.

    The mean is over predicted tokens. The reference code divides by one more a stream, which
    lowers the loss by a factor (L - 1) / L for streams of L tokens (FACTS: -0.03 on PTB valid).
    """
    loss, counted = mean_loss(model, tokens, batch_size)
    return math.exp(loss), counted


def training_perplexity(
    history: Sequence[EpochRecord], best_epoch: int, weight: Literal["window"] | None = None
) -> float:
    """The papers' train perplexity: dropout on, raw iterates, over the best checkpoint's epoch.

    Every token has equal weight, or every window. The papers' code gives equal weight to every
    window of an interval of 200 steps, whatever its length, and to every interval; so it differs
    from ``window`` only by the last interval, which is shorter. Raises StoreError for a history
    that is older than the number that is asked for.
    """
    record = next(record for record in history if record.epoch == best_epoch)
    loss = record.train_loss if weight is None else record.window_loss
    if loss is None:
        raise StoreError(
            "the run's history has no loss with equal weight for each window: it was trained "
            "before that was recorded\n  to do: remove the run's folder; it is then trained again"
        )
    return math.exp(loss)
