"""Language models as specifications: a recurrent trunk and an output layer.

Sizes follow the reference implementations: E embedding, H hidden, D context (the size of
the last layer), V vocabulary, K components.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from repro.specs.base import Count, Positive, Spec


class Softmax(Spec):
    """p(v) proportional to exp(w_v . h + b_v)."""

    kind: Literal["softmax"] = "softmax"


class Plif(Spec):
    """A learnable monotonic piecewise-linear function of each logit, then Softmax (LMS-PLIF).

    ``pieces`` equal pieces on [-bound, bound]; slopes are softplus(v), v initially normal with
    standard deviation ``initial_sd`` around ln(e - 1), where the slope is 1.
    """

    kind: Literal["plif"] = "plif"
    pieces: Count = 100_000
    bound: Positive = 20.0
    initial_sd: Annotated[float, Field(ge=0)] = 1.0
    learning_rate: Positive = 0.02
    frozen: bool = False


class MoC(Spec):
    """Mixture of Contexts: a mixture of K contexts before one Softmax."""

    kind: Literal["moc"] = "moc"
    components: Count


class MoS(Spec):
    """Mixture of Softmaxes; ``log_epsilon`` is the 1e-8 of log(p + 1e-8) in the reference code."""

    kind: Literal["mos"] = "mos"
    components: Count
    log_epsilon: Annotated[float, Field(ge=0, lt=1e-3)] = 0.0


Output = Annotated[Softmax | Plif | MoC | MoS, Field(discriminator="kind")]


class Model(Spec):
    """An AWD-LSTM trunk with one output layer; encoder and decoder share their matrix."""

    embedding_size: Count
    hidden_size: Count
    context_size: Count
    layers: Annotated[int, Field(ge=1, le=8)] = 3
    output: Output

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if not self.mixes() and self.context_size != self.embedding_size:
            message = (
                f"context_size is {self.context_size} and embedding_size {self.embedding_size}; "
                f"output '{self.output.kind}' ties the decoder to the embedding: make them equal"
            )
            raise ValueError(message)
        return self

    def mixes(self) -> bool:
        """Whether the output layer maps the context to K latent contexts of the embedding size."""
        return isinstance(self.output, MoC | MoS)

    def layer_sizes(self) -> tuple[tuple[int, int], ...]:
        """(input, output) size of each LSTM layer, first to last."""
        sizes = [self.embedding_size, *[self.hidden_size] * (self.layers - 1), self.context_size]
        return tuple(pairwise(sizes))

    def parameters(self, vocabulary: int) -> int:
        """Number of scalars that training changes or fixes at random; frozen slopes count."""
        shared = vocabulary * self.embedding_size + vocabulary
        trunk = sum(4 * h * (i + h) + 8 * h for i, h in self.layer_sizes())
        return shared + trunk + self._output_parameters()

    def _output_parameters(self) -> int:
        output = self.output
        if isinstance(output, Plif):
            return output.pieces
        if isinstance(output, MoC | MoS):
            latent = output.components * self.embedding_size
            return self.context_size * latent + latent + self.context_size * output.components
        return 0

    def rank_bound(self) -> int | None:
        """Structural bound d + 2 on the rank of the log-probabilities (None: there is none).

        d for the product of contexts and decoder, one for the bias, one for the normaliser of
        each row. Softmax and MoC only; d is the embedding size, which is the decoder's.
        """
        if isinstance(self.output, Softmax | MoC):
            return self.embedding_size + 2
        return None
