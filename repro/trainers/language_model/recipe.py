"""How a model is trained: optimiser, schedule, windows, regularisation."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol, Self

from pydantic import Field, model_validator

from repro.schema.base import Count, PartName, Positive, Probability, Spec

NonNegative = Annotated[float, Field(ge=0)]


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

    kind: Literal["none"] = "none"


Rate = Literal["late"]
"""Which factor (window length, decay) the rate of an averaged step has: absent, its own.

``late``, as in torch's ASGD: that of the averaged step before, the first its own.
"""

Products = Literal["bf16", "tf32"]
"""A precision of matrix products below that of their factors: bfloat16, or a GPU's TF32."""


class NonMonotonic(Spec):
    """NT-ASGD: average once validation has not improved on its best of more than n epochs ago.

    ``rate: late``: an averaged step takes the rate of the step before, as in torch's ASGD.
    """

    kind: Literal["nt"] = "nt"
    n: Count = 5
    rate: Rate | None = None


class FromEpoch(Spec):
    """ET-ASGD: average from the end of epoch ``epoch`` (the first epoch is 1).

    ``rate: late``: an averaged step takes the rate of the step before, as in torch's ASGD.
    """

    kind: Literal["et"] = "et"
    epoch: Count
    rate: Rate | None = None


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
    The count begins anew at the switch to averaging (the epochs after it are validated by the
    average, which has not been tried before). A stop before the switch ends training without
    it. Where there is fine-tuning, it follows.
    """

    patience: Count


class Scheduled(Protocol):
    """A recipe, as far as the end of training depends on it."""

    @property
    def epochs(self) -> int:
        """Epochs of training proper, at most."""

    @property
    def averaging(self) -> Averaging:
        """When the average begins."""

    @property
    def finetuning(self) -> Finetuning | None:
        """What follows."""

    @property
    def stop(self) -> Stop | None:
        """What may end it early."""

    @property
    def late(self) -> bool:
        """Whether an averaged step takes the rate of the step before."""

    def stage(self, epoch: int) -> Self:
        """What an epoch is trained by."""


class Recipe(Spec):
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
            message = (
                f"products is '{self.products}' and precision '{self.precision}': only float32 has "
                "products of lower precision"
            )
            raise ValueError(message)
        return self

    @property
    def late(self) -> bool:
        """Whether an averaged step takes the rate of the step before."""
        return not isinstance(self.averaging, NoAveraging) and self.averaging.rate == "late"

    @property
    def most_epochs(self) -> int:
        """Epochs that there are at most, fine-tuning included."""
        return self.epochs + (0 if self.finetuning is None else self.finetuning.epochs)

    def stage(self, epoch: int) -> Self:
        """What an epoch is trained by: this recipe, or after its last epoch its fine-tuning."""
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
