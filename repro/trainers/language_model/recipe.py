"""How a model is trained: rates, schedule, windows, regularisation; and when training ends.

Losses are those of validation after each epoch so far, in nats per token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from repro.schema.base import Count, PartName, Positive, Probability, Spec

NonNegative = Annotated[float, Field(ge=0)]

CHUNK_ELEMENTS = {"cpu": 2**23, "cuda": 2**26}
"""Logits that a mixture's loss holds at a time: 32 MiB in float32, 256 MiB on a GPU.

Without gradients it is four times as much, twice as many logits and their log-softmax.
"""


class Dropout(Spec):
    """Dropout probabilities of the AWD-LSTM trunk and of the mixtures' latent contexts.

    ``embedding`` drops whole words from the lookup, ``input`` the looked-up vectors, ``hidden``
    the outputs of all LSTM layers but the last, ``output`` that of the last, ``latent`` the
    mixtures' latent contexts (all locked in time), ``weight`` the recurrent matrices.
    """

    embedding: Probability = 0.0
    input: Probability = 0.0
    hidden: Probability = 0.0
    output: Probability = 0.0
    latent: Probability = 0.0
    weight: Probability = 0.0


class WindowLength(Spec):
    """Length of each training window, in steps.

    Fixed at ``base``; or, when ``random``, the papers' rule: base with probability 0.95, else
    base / 2, plus a normal of standard deviation 5, at least 5 and at most base + ``max_delta``
    (absent: no cap). The learning rate of a step is multiplied by length / base when random, the
    last and shorter window's by its actual length; with ``last_rate: drawn``, as in the papers'
    code, by the length that was drawn before the text ended.
    """

    base: Count
    random: bool = False
    max_delta: Count | None = None
    last_rate: Literal["drawn"] | None = None


class NoAveraging(Spec):
    """Plain SGD to the end."""

    rate: ClassVar[None] = None

    kind: Literal["none"] = "none"

    def begins(self, earlier: Sequence[float], loss: float) -> bool:
        """Never; ``earlier`` are the losses of the epochs before that which ended with ``loss``."""
        return False


Rate = Literal["late"]
"""An averaged step has the rate's factor of the one before, as in torch's ASGD; absent, its own."""

Products = Literal["bf16", "tf32"]
"""A precision of matrix products below that of their factors: bfloat16, or a GPU's TF32."""


class NonMonotonic(Spec):
    """NT-ASGD: average once validation has not improved on its best of more than n epochs ago.

    ``rate: late``: an averaged step takes the rate of the step before, as in torch's ASGD.
    """

    kind: Literal["nt"] = "nt"
    n: Count = 5
    rate: Rate | None = None

    def begins(self, earlier: Sequence[float], loss: float) -> bool:
        return stalls(self.n, earlier, loss)


class FromEpoch(Spec):
    """ET-ASGD: average from the end of epoch ``epoch`` (the first epoch is 1).

    ``rate: late``: an averaged step takes the rate of the step before, as in torch's ASGD.
    """

    kind: Literal["et"] = "et"
    epoch: Count
    rate: Rate | None = None

    def begins(self, earlier: Sequence[float], loss: float) -> bool:
        return len(earlier) + 1 == self.epoch


def stalls(n: int, earlier: Sequence[float], loss: float) -> bool:
    """The NT rule: ``loss`` is above the best of all ``earlier`` ones but the last n."""
    return len(earlier) > n and loss > min(earlier[:-n])


Averaging = Annotated[NoAveraging | NonMonotonic | FromEpoch, Field(discriminator="kind")]


class Finetuning(Spec):
    """After the last epoch, averaged SGD from the best weights so far (Merity et al. 2018).

    A new average is taken from the first step on. It ends after ``epochs`` epochs, or by the NT
    rule over its own epochs: once validation has not improved on its best of more than n epochs
    ago. Regularisation is the recipe's, and so are ``learning_rate`` and ``window`` where they
    are absent, and ``learning_rates`` always; no rate decays. ``rate: late`` is that of averaging.
    """

    epochs: Count
    n: Count = 5
    learning_rate: Positive | None = None
    window: WindowLength | None = None
    rate: Rate | None = None


class Stop(Spec):
    """Early stop: training ends once ``patience`` epochs in a row have set no new best.

    The best is the lowest validation loss of all epochs so far; an equal loss is no new best.
    The count restarts at the switch to averaging (the epochs after it are validated by the
    average, which has not been tried before). A stop before the switch ends training without
    it. Where there is fine-tuning, it follows.
    """

    patience: Count


class Schedule(Spec):
    """A recipe, as far as its epochs are counted."""

    if TYPE_CHECKING:  # each has them, as a field or for its class

        @property
        def epochs(self) -> int: ...
        @property
        def averaging(self) -> Averaging: ...
        @property
        def finetuning(self) -> Finetuning | None: ...
        @property
        def stop(self) -> Stop | None: ...
        @property
        def dropout(self) -> Any: ...
        @property
        def embedding_noise(self) -> float: ...

    @property
    def late(self) -> bool:
        """Whether an averaged step takes the rate of the step before."""
        return self.averaging.rate == "late"

    @property
    def most_epochs(self) -> int:
        """Epochs that there are at most, fine-tuning included."""
        return self.epochs + (0 if self.finetuning is None else self.finetuning.epochs)

    def stage(self, epoch: int) -> Self:
        """What an epoch is trained by: this recipe, or after its last epoch its fine-tuning."""
        return self

    def proper_epochs(self, losses: Sequence[float]) -> int:
        """Epochs of training proper, before fine-tuning, as far as ``losses`` tell of a `Stop`."""
        if self.stop is None:
            return self.epochs
        best, counted_from, averaging = math.inf, 0, False
        for epoch, loss in enumerate(losses[: self.epochs], start=1):
            if loss < best:
                best, counted_from = loss, epoch
            if not averaging and self.averaging.begins(losses[: epoch - 1], loss):
                averaging, counted_from = True, epoch
            if epoch - counted_from >= self.stop.patience:
                return epoch
        return self.epochs

    def next_stage(self, losses: Sequence[float]) -> Self:
        """What the epoch after those of ``losses`` is trained by."""
        tuning = len(losses) >= self.proper_epochs(losses)
        return self.stage(self.epochs + 1 if tuning else 1)

    def finished(self, losses: Sequence[float]) -> bool:
        """Whether nothing is left to train after epochs that ended with these losses."""
        proper, tuning = self.proper_epochs(losses), self.finetuning
        tuned = losses[proper:]
        if len(losses) < proper or tuning is None:
            return len(losses) >= proper
        return len(tuned) >= tuning.epochs or (
            bool(tuned) and stalls(tuning.n, tuned[:-1], tuned[-1])
        )


class Recipe(Schedule):
    """One training procedure. SGD without momentum, global-norm clipping, tied embeddings.

    ``decay`` is ``constant``, or ``linear``: the rate falls to 0 over all epochs, step by step.
    ``weight_decay`` applies to every parameter; ``activation`` and ``temporal`` are the weights
    of the AR and TAR penalties. ``epochs`` does not count those of ``finetuning``, and ``stop``
    may end them early. ``learning_rates`` gives parts of the model a rate instead of
    ``learning_rate``, by the names of their parameters up to a dot (``trunk``, ``trunk.layers.0``,
    ``output.bias``), the longest that fits; all rates have the same factors.

    ``precision`` is that of the parameters and of all that is computed; ``products`` (absent: the
    same) that of the matrix products of trunk and output layer in training steps alone. No
    evaluation has it, and on a CPU ``tf32`` changes no number, though it is in the key.
    """

    epochs: Count
    batch_size: Count
    learning_rate: Positive
    decay: Literal["constant", "linear"] = "constant"
    window: WindowLength
    clip: Positive = 0.25
    weight_decay: NonNegative = 0.0
    dropout: Dropout = Dropout()
    embedding_noise: NonNegative = 0.0
    activation: NonNegative = 0.0
    temporal: NonNegative = 0.0
    averaging: Averaging = NoAveraging()
    small_batch_size: Count | None = None
    valid_batch_size: Count = 10
    precision: Literal["float32", "float64"] = "float32"
    finetuning: Finetuning | None = None
    stop: Stop | None = None
    learning_rates: Annotated[dict[PartName, Positive], Field(min_length=1)] | None = None
    products: Products | None = None

    @model_validator(mode="after")
    def _products_of_single_precision(self) -> Self:
        if self.products is not None and self.precision != "float32":
            raise ValueError(
                f"products is '{self.products}' and precision '{self.precision}': only float32 has "
                "products of lower precision"
            )
        return self

    def stage(self, epoch: int) -> Self:
        tuning = self.finetuning
        if tuning is None or epoch <= self.epochs:
            return self
        changes = {
            "learning_rate": tuning.learning_rate or self.learning_rate,
            "window": tuning.window or self.window,
            "decay": "constant",
            "averaging": NonMonotonic(n=tuning.n, rate=tuning.rate),
        }
        return self.model_copy(update=changes)
