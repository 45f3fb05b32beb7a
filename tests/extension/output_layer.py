"""An output layer in one file: every logit is bent by a cubic, then Softmax."""

from __future__ import annotations

from repro.extend import PointwiseOutput


class Cubic(PointwiseOutput):
    """p(v) proportional to exp(z + strength z^3), z the logit of v."""

    def __init__(self, vocabulary, embedding_size, context_size, dtype, *, strength):
        super().__init__(vocabulary, embedding_size, dtype)
        self.strength = strength

    def transform(self, z, *parameters):
        """The bent logit."""
        return z + self.strength * z**3
