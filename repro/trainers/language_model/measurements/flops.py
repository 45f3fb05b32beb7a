"""Counted cost: the floating-point operations of the matrix products of a token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from repro.schema.messages import Words
from repro.trainers.measurement import Measured, MeasurementSpec


class Flops(MeasurementSpec):
    """Floating-point operations of the matrix products per token, counted and not timed.

    A multiplication and an addition are two. In ``training`` there are three times as many as in
    ``evaluation``: forward, by the inputs and by the weights. It is the same for every seed.
    """

    trainers: ClassVar[tuple[str, ...]] = ("language_model",)
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    digits: ClassVar[int] = 0
    logarithmic: ClassVar[bool] = True

    kind: Literal["flops"] = "flops"
    phase: Literal["training", "evaluation"] = "training"

    @property
    def label(self) -> str:
        return f"FLOPs per token in {self.phase}"

    def measure(self, subject: Any) -> Measured:
        training = subject.run.training
        return Measured(training.flops if self.phase == "training" else training.forward_flops)

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """The products of code from outside repro are not known."""
        if training.flops is None:
            mistake = f"{whose} has a part of your own, whose products are not counted"
            yield "kind", (mistake, "built-in parts", "measure something else, or name other arms")
