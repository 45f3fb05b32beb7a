"""The Mixtures of Softmaxes and of Contexts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.trainers.language_model.fused_loss import mixture_loss, softmax_loss
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.precision import linear
from repro.trainers.language_model.randomness import Distribution, Initialised, all_uniform
from repro.trainers.language_model.regularisation import QUIET, Regularisation


class LatentMixture(Initialised):
    """Context -> tanh of K affine maps, and the logarithm of K shares, without bias.

    Shapes: ``(T, B, D)`` -> ``(T, B, K, E)`` and ``(T, B, K)``. One locked mask (1, B, K E)
    drops entries of the latent contexts. The shares' product, a small one, is not
    rounded to bfloat16. Reference: Yang et al. 2018, section 2.3.
    """

    def __init__(
        self, context_size: int, embedding_size: int, components: int, dtype: torch.dtype
    ) -> None:
        super().__init__()
        latent = components * embedding_size
        self.components = components
        self.latent_weight = nn.Parameter(torch.empty(latent, context_size, dtype=dtype))
        self.latent_bias = nn.Parameter(torch.empty(latent, dtype=dtype))
        self.prior_weight = nn.Parameter(torch.empty(components, context_size, dtype=dtype))

    def initial(self) -> Mapping[str, Distribution]:
        """The default of a linear layer with D inputs."""
        return all_uniform(self, self.prior_weight.shape[1])

    def forward(self, context_TBD: Tensor, regularisation: Regularisation) -> tuple[Tensor, Tensor]:
        latent = torch.tanh(linear(context_TBD, self.latent_weight, self.latent_bias))
        latent = regularisation.locked("latent", latent)
        log_prior = F.log_softmax(F.linear(context_TBD, self.prior_weight), dim=-1)
        return latent.unflatten(-1, (self.components, -1)), log_prior


class MixtureOutput(OutputLayer):
    """What the mixtures share: a decoder, and the K latent contexts that it is multiplied with."""

    def __init__(
        self,
        vocabulary: int,
        embedding_size: int,
        context_size: int,
        components: int,
        dtype: torch.dtype,
    ) -> None:
        super().__init__(vocabulary, embedding_size, dtype)
        self.mixture = LatentMixture(context_size, embedding_size, components, dtype)


class MoCOutput(MixtureOutput):
    """p = softmax of the decoder at one context, the mixture of K latent contexts.

    As many parameters as the Mixture of Softmaxes, and the rank bound E + 2 of Softmax.
    Reference: Yang et al. 2018, section 2.4.
    """

    def mixed_context(self, context_TBD: Tensor, regularisation: Regularisation) -> Tensor:
        """sum_k prior_k latent_k: (T, B, D) -> (T, B, E)."""
        latent_TBKE, log_prior_TBK = self.mixture(context_TBD, regularisation)
        return torch.einsum("tbk,tbke->tbe", log_prior_TBK.exp(), latent_TBKE)

    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:
        rows_NE = self.mixed_context(context_TBD, regularisation).flatten(0, 1)
        return softmax_loss(rows_NE, self.weight, self.bias, targets_TB.flatten())

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        return F.log_softmax(self.logits(self.mixed_context(context_TBD, QUIET)), dim=-1)


class MoSOutput(MixtureOutput):
    """p = sum_k prior_k softmax(decoder at latent context k).

    The logarithm of a sum of softmaxes has no structural bound on its rank. ``log_epsilon`` is
    the 1e-8 of log(p + 1e-8) in the authors' code, 0 for log p; with it, the probabilities sum
    to 1 + V 1e-8, in the loss as in the log-probabilities. Reference: Yang et al. 2018.
    """

    def __init__(
        self,
        vocabulary: int,
        embedding_size: int,
        context_size: int,
        components: int,
        log_epsilon: float,
        dtype: torch.dtype,
    ) -> None:
        super().__init__(vocabulary, embedding_size, context_size, components, dtype)
        self.log_epsilon = log_epsilon

    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:
        latent_TBKE, log_prior_TBK = self.mixture(context_TBD, regularisation)
        return mixture_loss(
            latent_TBKE.flatten(0, 1),
            log_prior_TBK.flatten(0, 1),
            self.weight,
            self.bias,
            targets_TB.flatten(),
            epsilon=self.log_epsilon,
        )

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        """One component is added at a time: all together would be K times as large."""
        latent_TBKE, log_prior_TBK = self.mixture(context_TBD, QUIET)
        components = zip(latent_TBKE.unbind(2), log_prior_TBK.split(1, dim=2), strict=True)
        total_TBV = reduce(
            torch.logaddexp,
            (
                F.log_softmax(self.logits(latent_TBE), dim=-1) + share_TB1
                for latent_TBE, share_TB1 in components
            ),
        )
        if self.log_epsilon:
            floor = total_TBV.new_full((), math.log(self.log_epsilon))
            total_TBV = torch.logaddexp(total_TBV, floor)
        return total_TBV
