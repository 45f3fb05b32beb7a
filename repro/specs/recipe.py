"""How a model is trained: optimiser, schedule, windows, regularisation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repro.specs.base import Count, Positive, Probability, Spec

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


class Window(Spec):
    """Length of each training window, in steps.

    Fixed at ``base``; or, when ``random``, the papers' rule: base with probability 0.95, else
    base / 2, plus a normal of standard deviation 5, at least 5 and at most base + ``max_delta``
    (absent: no cap). The learning rate of a step is multiplied by length / base when random, the
    last and shorter window's by its actual length.
    """

    base: Count
    random: bool = False
    max_delta: Count | None = None


class NoAveraging(Spec):
    """Plain SGD to the end."""

    kind: Literal["none"] = "none"


class NonMonotonic(Spec):
    """NT-ASGD: average once validation has not improved on its best of more than n epochs ago."""

    kind: Literal["nt"] = "nt"
    n: Count = 5


class FromEpoch(Spec):
    """ET-ASGD: average from the end of epoch ``epoch`` (the first epoch is 1)."""

    kind: Literal["et"] = "et"
    epoch: Count


Averaging = Annotated[NoAveraging | NonMonotonic | FromEpoch, Field(discriminator="kind")]


class Recipe(Spec):
    """One training procedure. SGD without momentum, global-norm clipping, tied embeddings.

    ``decay`` is ``constant``, or ``linear``: the rate falls to 0 over all epochs, step by step.
    ``weight_decay`` applies to every parameter; ``activation`` and ``temporal`` are the weights
    of the AR and TAR penalties.
    """

    epochs: Count
    batch_size: Count
    learning_rate: Positive
    decay: Literal["constant", "linear"] = "constant"
    window: Window
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
