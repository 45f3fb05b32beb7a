"""Language models as specifications: corpus, recurrent trunk, output layer, training.

Sizes follow the reference implementations: E embedding, H hidden, D context (the size of
the last layer), V vocabulary, K components.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from repro.plugins import load_object
from repro.schema.base import Count, Name, ObjectName, Positive, Sha256, Spec
from repro.trainers.base import Training
from repro.trainers.language_model.recipe import Recipe

LSTM = ("input_weight", "recurrent_weight", "input_bias", "recurrent_bias")


def parameter_names(model: Model) -> tuple[str, ...]:
    """The parameters that are trained, but for those inside a user's own parts."""
    names = ["output.weight", "output.bias"]
    if model.trunk is None:
        names += [f"trunk.layers.{layer}.{name}" for layer in range(model.layers) for name in LSTM]
    names += [f"output.{name}" for name in model.output.trained()]
    if model.decoder == "free":
        names.append("embedding.weight")
    return tuple(names)


def parts(model: Model) -> tuple[str, ...]:
    """Every name that a part goes by: parameters, and their beginnings up to a dot, once each."""
    found = {"trunk": None}
    for name in parameter_names(model):
        steps = name.split(".")
        found |= {".".join(steps[: count + 1]): None for count in range(len(steps))}
    return tuple(found)


class SplitTokens(Spec):
    """Number of tokens in each split."""

    train: Count
    valid: Count
    test: Count


class Digests(Spec):
    """SHA-256 of the three files."""

    train: Sha256
    valid: Sha256
    test: Sha256


class SyntheticCorpus(Spec):
    """An order-1 language whose conditional matrix is a mixture of softmaxes, known exactly.

    P*(v | w) = 1/K sum_k softmax_v(sharpness / sqrt(dimension) A_k(w) . B(v) - log(v + 10)): each
    word v has one normal vector B(v), A_k(w) = R_k B(w) with K random maps R_k, and frequencies
    fall as Zipf's law has it. ``seed`` chooses the language and the sampled text; ``generator`` is
    the version of the algorithm and is part of the identity of the corpus.
    """

    kind: Literal["synthetic"] = "synthetic"
    vocabulary: Annotated[int, Field(ge=4, le=20_000)]
    dimension: Count
    components: Count
    sharpness: Positive
    tokens: SplitTokens
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    generator: Literal[1] = 1

    @property
    def label(self) -> str:
        """What a reader calls it."""
        return f"synthetic language, {self.vocabulary:,} words"


class TextCorpus(Spec):
    """Files ``<name>/{train,valid,test}.txt`` below $REPRO_DATA, known by their digests.

    One sentence a line, words separated by blanks, one ``<eos>`` added a line; with ``unit:
    characters`` each character of the files is a token, and so is the end of a line. ``tokens``
    and ``vocabulary`` are stated so that a plan needs no files; they are checked when files are
    read. A corpus without ``sha256`` is a blank to be filled in: nothing is trained on it.
    """

    kind: Literal["text"] = "text"
    name: Name
    vocabulary: Count
    tokens: SplitTokens
    sha256: Digests | None = None
    unit: Literal["characters"] | None = None

    @property
    def label(self) -> str:
        """What a reader calls it."""
        known = {"ptb": "Penn Treebank", "wt2": "WikiText-2"}
        return f"{known.get(self.name, self.name)}, {self.vocabulary:,} {self.unit or 'words'}"


Corpus = Annotated[SyntheticCorpus | TextCorpus, Field(discriminator="kind")]


class OutputSpec(Spec):
    """An output layer as a configuration declares it, and all that others must know of it.

    ``layer`` is its class, as `module:object`; ``maps_contexts``: it maps contexts to latent ones,
    so its decoder may have another size than they.
    """

    layer: ClassVar[str]
    maps_contexts: ClassVar[bool] = False

    @property
    def latent_contexts(self) -> int:
        """How many it makes of each context."""
        return 0

    @property
    def softmaxes(self) -> int:
        """How often the decoder is multiplied for each context."""
        return 1

    def mixed(self, decoder_size: int) -> int:
        """How many numbers a product sums up where latent contexts are mixed."""
        return 0

    def extra_parameters(self, context_size: int, decoder_size: int) -> dict[str, int]:
        """How many parameters it has beside the decoder's matrix and bias, by part."""
        return {}

    def trained(self) -> tuple[str, ...]:
        """The names of those that are trained, below `output`; a user's own are not known."""
        return ()

    def rank_bound(self, decoder_size: int) -> int | None:
        """Structural bound on the rank of the log-probabilities (None: there is none)."""
        return None

    def settings(self, context_size: int) -> tuple[Any, ...]:
        """What the layer is told besides the vocabulary, the decoder's size and the type."""
        return ()

    def build(self, vocabulary: int, decoder_size: int, context_size: int, dtype: Any) -> Any:
        """The layer, its parameters empty."""
        settings = self.settings(context_size)
        return load_object(self.layer)(vocabulary, decoder_size, *settings, dtype)


def linear_bound(decoder_size: int) -> int:
    """The bound d + 2 on the rank of the log-probabilities.

    d for the product of contexts and decoder, one for the bias, one for the normaliser of
    each row; d is the decoder's size. Only where the logits reach the normaliser as they
    are, or all times one number: Softmax, MoC, and two of the single effects of PLIF.
    """
    return decoder_size + 2


class Softmax(OutputSpec):
    """p(v) proportional to exp(w_v . h + b_v)."""

    layer: ClassVar[str] = "repro.trainers.language_model.output.layer:SoftmaxOutput"

    kind: Literal["softmax"] = "softmax"

    def rank_bound(self, decoder_size: int) -> int:
        return linear_bound(decoder_size)


class SigSoftmax(OutputSpec):
    """p(v) proportional to exp(z) sigmoid(z), z the logit of v: GSS(0, 2)."""

    layer: ClassVar[str] = "repro.trainers.language_model.output.layer:SigSoftmaxOutput"

    kind: Literal["sigsoftmax"] = "sigsoftmax"


class Gss(OutputSpec):
    """Generalised SigSoftmax, GSS(c, k): a smooth bend of each logit at c, then Softmax.

    Slope 1 far above c and k far below it; both are fixed. k = 1 is Softmax, (0, 2) SigSoftmax.
    """

    layer: ClassVar[str] = "repro.trainers.language_model.output.layer:GssOutput"

    kind: Literal["gss"] = "gss"
    c: float
    k: Positive

    def settings(self, context_size: int) -> tuple[Any, ...]:
        return (self,)


Effect = Literal["temperature", "gradient_noise", "jitter"]
"""One of the effects that frozen slopes of PLIF have."""


class Plif(OutputSpec):
    """A learnable monotonic piecewise-linear function of each logit, then Softmax (LMS-PLIF).

    ``pieces`` equal pieces on [-bound, bound]; slopes are softplus(v), v initially normal with
    standard deviation ``initial_sd`` around ln(e - 1), where the slope is 1.

    ``only`` (absent: all of it) keeps one of the three effects that frozen slopes have, and takes
    away the others: ``temperature``, the mean slope (1.107 by the initial values), on every
    logit; ``gradient_noise``, the slopes over their mean on the way back alone, the logits left
    as they are; ``jitter``, the departures from the line of mean slope added to the logits, and
    no noise on the way back.
    """

    layer: ClassVar[str] = "repro.trainers.language_model.output.plif:PlifOutput"

    kind: Literal["plif"] = "plif"
    pieces: Count = 100_000
    bound: Positive = 20.0
    initial_sd: Annotated[float, Field(ge=0)] = 1.0
    learning_rate: Positive = 0.02
    frozen: bool = False
    only: Effect | None = None

    @model_validator(mode="after")
    def _one_effect_of_frozen_slopes(self) -> Self:
        if self.only is not None and not self.frozen:
            message = f"only is '{self.only}', an effect of frozen slopes: write `frozen: true` too"
            raise ValueError(message)
        return self

    def extra_parameters(self, context_size: int, decoder_size: int) -> dict[str, int]:
        return {"slopes": self.pieces}

    def trained(self) -> tuple[str, ...]:
        return () if self.frozen else ("slopes",)

    def rank_bound(self, decoder_size: int) -> int | None:
        """Only where every logit is left as it is, or all are multiplied by one number."""
        linear = self.only in ("temperature", "gradient_noise")
        return linear_bound(decoder_size) if linear else None

    def settings(self, context_size: int) -> tuple[Any, ...]:
        return (self,)


class Mixture(OutputSpec):
    """What the mixtures share: K latent contexts of the decoder's size, and their shares."""

    maps_contexts: ClassVar[bool] = True

    if TYPE_CHECKING:  # each has it, after its kind
        components: Count

    @property
    def latent_contexts(self) -> int:
        return self.components

    def extra_parameters(self, context_size: int, decoder_size: int) -> dict[str, int]:
        """The affine maps to the latent contexts, and the linear map to the shares."""
        return {
            "latent projection": self.components * decoder_size * (context_size + 1),
            "mixture weights": self.components * context_size,
        }

    def trained(self) -> tuple[str, ...]:
        return ("mixture.latent_weight", "mixture.latent_bias", "mixture.prior_weight")


class MoC(Mixture):
    """Mixture of Contexts: a mixture of K contexts before one Softmax."""

    layer: ClassVar[str] = "repro.trainers.language_model.output.mixtures:MoCOutput"

    kind: Literal["moc"] = "moc"
    components: Count

    def mixed(self, decoder_size: int) -> int:
        return self.components * decoder_size

    def rank_bound(self, decoder_size: int) -> int:
        """Its logits are linear in the mixed context."""
        return linear_bound(decoder_size)

    def settings(self, context_size: int) -> tuple[Any, ...]:
        return (context_size, self.components)


class MoS(Mixture):
    """Mixture of Softmaxes; ``log_epsilon`` is the 1e-8 of log(p + 1e-8) in the reference code."""

    layer: ClassVar[str] = "repro.trainers.language_model.output.mixtures:MoSOutput"

    kind: Literal["mos"] = "mos"
    components: Count
    log_epsilon: Annotated[float, Field(ge=0, lt=1e-3)] = 0.0

    @property
    def softmaxes(self) -> int:
        return self.components

    def settings(self, context_size: int) -> tuple[Any, ...]:
        return (context_size, self.components, self.log_epsilon)


class Own(OutputSpec):
    """A user's own output layer or trunk: the class ``use``, in the version that is stated here.

    ``parameters`` is how many it has, an output layer apart from the decoder's matrix and bias;
    version and number are stated so that a plan and a key need no import, and checked when the
    model is built.
    """

    layer: ClassVar[str] = "repro.trainers.language_model.custom:own_output"
    maps_contexts: ClassVar[bool] = True

    kind: Literal["own"] = "own"
    use: ObjectName
    version: Annotated[str, Field(min_length=1, max_length=100)]
    parameters: Annotated[int, Field(ge=0, le=10**9)] = 0
    options: dict[Name, int | float] = {}

    def extra_parameters(self, context_size: int, decoder_size: int) -> dict[str, int]:
        return {"own output layer": self.parameters}

    def build(self, vocabulary: int, decoder_size: int, context_size: int, dtype: Any) -> Any:
        return load_object(self.layer)(self, vocabulary, decoder_size, context_size, dtype)


Output = Annotated[
    Softmax | SigSoftmax | Gss | Plif | MoC | MoS | Own,
    Field(discriminator="kind"),
]


class Model(Spec):
    """A trunk, from embedded words to contexts, with one output layer.

    The trunk is that of AWD-LSTM (``trunk`` absent), or a user's own, which is told all sizes;
    what ``hidden_size`` and ``layers`` mean is then its own affair. The decoder's matrix is the
    embedding of the words (``decoder`` absent: tied), or is ``free``.
    """

    embedding_size: Count
    hidden_size: Count
    context_size: Count
    layers: Annotated[int, Field(ge=1, le=8)] = 3
    output: Output
    decoder: Literal["free"] | None = None
    trunk: Own | None = None

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if self.decoder_size != self.embedding_size and self.decoder != "free":
            raise ValueError(
                f"context_size is {self.context_size} and embedding_size {self.embedding_size}; "
                f"output '{self.output.kind}' ties the decoder to the embedding: make them equal"
            )
        return self

    @property
    def decoder_size(self) -> int:
        """Columns of the decoder's matrix: E after a mixture's latent contexts, else D."""
        return self.embedding_size if self.output.maps_contexts else self.context_size

    def layer_sizes(self) -> tuple[tuple[int, int], ...]:
        """(input, output) size of each LSTM layer, first to last; of the AWD-LSTM trunk."""
        sizes = [self.embedding_size, *[self.hidden_size] * (self.layers - 1), self.context_size]
        return tuple(pairwise(sizes))

    def parameters(self, vocabulary: int) -> int:
        """Number of scalars that training changes or fixes at random; frozen slopes count."""
        return sum(self.parameters_by_part(vocabulary).values())

    def parameters_by_part(self, vocabulary: int) -> dict[str, int]:
        """The number of each part; a tied matrix is one."""
        matrix = vocabulary * self.decoder_size
        tied = {"embedding, tied to the decoder": matrix}
        free = {"embedding": vocabulary * self.embedding_size, "decoder": matrix}
        return {
            **(free if self.decoder == "free" else tied),
            **self._trunk_parameters(),
            **self.output.extra_parameters(self.context_size, self.decoder_size),
            "decoder bias": vocabulary,
        }

    def _trunk_parameters(self) -> dict[str, int]:
        if self.trunk is not None:
            return {"own trunk": self.trunk.parameters}
        return {"recurrent layers": sum(4 * h * (i + h) + 8 * h for i, h in self.layer_sizes())}

    def rank_bound(self) -> int | None:
        """Structural bound on the rank of the log-probabilities (None: there is none)."""
        return self.output.rank_bound(self.decoder_size)


class NetworkTraining(Training):
    """A resolved configuration of a model with an output layer, on a corpus, by a recipe."""

    bounded: ClassVar[str] = (
        "output softmax, moc, or plif with `only: temperature` or `gradient_noise`"
    )
    revised: ClassVar[str]
    """The component whose revision is that of the training procedure."""
    in_streams: ClassVar[bool]
    """Whether a text is read in parallel streams."""

    if TYPE_CHECKING:
        model: Any
        corpus: Any
        recipe: Any

    @property
    def components(self) -> tuple[str, ...]:
        return (self.revised, self.model.output.kind, self.corpus.kind)

    @property
    def parameters(self) -> int:
        return int(self.model.parameters(self.corpus.vocabulary))

    @property
    def parameters_by_part(self) -> dict[str, int]:
        parts: dict[str, int] = self.model.parameters_by_part(self.corpus.vocabulary)
        return parts

    @property
    def bound(self) -> int | None:
        bound: int | None = self.model.rank_bound()
        return bound

    @property
    def why_unbounded(self) -> str:
        return f" when its output is {self.model.output.kind}"

    def tokens(self, split: str) -> int:
        """How many tokens a split has; of dialogs, how many are predicted."""
        return int(getattr(self.corpus.tokens, split))

    @property
    def decoded_weights(self) -> float:
        """Weights of the output layer that a matrix product touches for each predicted token."""
        model, output = self.model, self.model.output
        latent = output.latent_contexts * model.context_size * (model.decoder_size + 1)
        return float(latent + output.softmaxes * self.corpus.vocabulary * model.decoder_size)


class TrainingSpec(NetworkTraining):
    """A language model: its parts and sizes, the text that it is trained on, and how."""

    built_in: ClassVar[str] = "language_model"
    noun: ClassVar[str] = "a language model"
    revised: ClassVar[str] = "training"
    in_streams: ClassVar[bool] = True

    model: Model
    corpus: Corpus
    recipe: Recipe

    @property
    def step_tokens(self) -> float:
        """About how many tokens a training step predicts."""
        return float(self.recipe.batch_size * self.recipe.window.base)

    def predicted(self, split: str, streams: int = 1) -> int:
        """How many tokens of a split have a context, read in so many streams."""
        return (self.tokens(split) // streams - 1) * streams

    @property
    def multiplied_weights(self) -> float:
        """Weights that a matrix product touches for each predicted token."""
        trunk = self.model.trunk
        layers = sum(4 * size * (before + size) for before, size in self.model.layer_sizes())
        return self.decoded_weights + (layers if trunk is None else trunk.parameters)

    @property
    def flops(self) -> float | None:
        """Forward, and twice as many back: by the inputs and by the weights of each product."""
        forward = self.forward_flops
        return None if forward is None else 3 * forward

    @property
    def forward_flops(self) -> float | None:
        """Floating-point operations of the matrix products that predict a token.

        A multiplication and an addition are two. None where a part is the user's own.
        """
        if isinstance(self.model.output, Own) or self.model.trunk is not None:
            return None
        return 2 * (self.multiplied_weights + self.model.output.mixed(self.model.decoder_size))
