"""A measurement in one file: how undecided a language model is about the next word."""

from __future__ import annotations

from typing import Literal

from repro.extend import Measured, Measurement


class MeanEntropy(Measurement):
    """Mean entropy, in nats, of the predicted distribution over the tokens of a split."""

    trainers = ("language_model",)
    better = "lower"
    digits = 3

    kind: Literal["mean_entropy"] = "mean_entropy"
    split: Literal["train", "valid", "test"] = "test"

    @property
    def label(self):
        """What a reader calls it."""
        return f"mean entropy on the {self.split} split"

    def measure(self, subject):
        """The mean over the tokens that have a context."""
        total, count = 0.0, 0
        for log_probability_NV in subject.log_probabilities(self.split):
            entropy_N = -(log_probability_NV.exp() * log_probability_NV).sum(dim=1)
            total, count = total + float(entropy_N.double().sum()), count + len(entropy_N)
        return Measured(total / count, {"tokens": count})

    def cost(self, training):
        """One pass over the split, in floating-point operations."""
        return 2 * training.multiplied_weights * training.tokens(self.split)
