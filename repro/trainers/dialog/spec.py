"""Answering in a dialog as specifications: the corpus, the model, its training, its decoding.

Sizes follow Zhao et al. 2017, whose preprocessing of Switchboard Yang et al. 2018 used; Yang et
al. print no sizes of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from repro.schema.base import Count, Name, Positive, Probability, Spec
from repro.trainers.language_model.recipe import (
    Averaging,
    Finetuning,
    NoAveraging,
    Products,
    Schedule,
    Stop,
)
from repro.trainers.language_model.spec import Digests, NetworkTraining, Output, SplitTokens

LONGEST = 40
"""Tokens of an utterance, its marks among them, that are kept by default."""


class SplitResponses(Spec):
    """Number of responses in each split."""

    train: Count
    valid: Count
    test: Count


class DialogCorpus(Spec):
    """Files ``<name>/{train,valid,test}.jsonl`` below $REPRO_DATA, known by their digests.

    A dialog a line: ``{"dialog": ..., "utterances": [[speaker, text, act], ...]}``. Text is in
    lower case, and its tokens are runs of word characters and runs of other visible characters.
    An utterance is ``<s> ... </s>`` and keeps ``longest`` tokens at most, these two among them;
    the utterance ``<s> <d> </s>`` opens each dialog. Every utterance after it is a response, and
    up to ``context`` utterances before it are what it answers; with ``last: unused``, as in the
    code of Zhao et al. 2017, the last of a dialog is never a response.

    ``vocabulary`` counts ``<pad>``, ``<unk>`` and the most frequent tokens of train, marks
    included and before any is cut. ``responses`` and ``tokens`` (that are predicted: those of
    the responses, ``</s>`` too) are stated for plans, and checked when the files are read.
    """

    kind: Literal["dialog"] = "dialog"
    name: Name
    vocabulary: Annotated[int, Field(ge=6, le=10**9)]
    responses: SplitResponses
    tokens: SplitTokens
    sha256: Digests
    longest: Annotated[int, Field(ge=3, le=10**6)] = LONGEST
    context: Count = 9
    last: Literal["unused"] | None = None

    @property
    def label(self) -> str:
        """What a reader calls it."""
        known = {"swda": "Switchboard"}
        return f"{known.get(self.name, self.name)}, {self.vocabulary:,} words"


class Seq2Seq(Spec):
    """Context utterances -> response, by GRUs and without attention, with any output layer.

    ``utterance_size`` is that of each direction of the GRU that reads an utterance,
    ``dialog_size`` that of the GRU over the utterances, and ``context_size`` (D) that of the GRU
    which writes the response: what the output layer sees. One embedding is read by all; the
    decoder's matrix is free. A mixture's latent contexts have ``latent_size`` (absent:
    ``embedding_size``).
    """

    kind: Literal["seq2seq"] = "seq2seq"
    embedding_size: Count
    utterance_size: Count
    dialog_size: Count
    context_size: Count
    latent_size: Count | None = None
    output: Output

    @model_validator(mode="after")
    def _nothing_without_effect(self) -> Self:
        if self.latent_size is not None and not self.output.maps_contexts:
            message = f"latent_size changes nothing of output '{self.output.kind}': leave it out"
            raise ValueError(message)
        return self

    @property
    def decoder_size(self) -> int:
        """Columns of the decoder's matrix: those of a mixture's latent contexts, else D."""
        latent = self.latent_size or self.embedding_size
        return latent if self.output.maps_contexts else self.context_size

    def parameters(self, vocabulary: int) -> int:
        """Number of scalars that training changes or fixes at random; frozen slopes count."""
        return sum(self.parameters_by_part(vocabulary).values())

    def parameters_by_part(self, vocabulary: int) -> dict[str, int]:
        """The number of each part."""
        utterance, dialog = self.utterance_size, self.dialog_size
        encoders = 2 * gru_parameters(self.embedding_size, utterance) + gru_parameters(
            2 * utterance, dialog
        )
        bridge = (dialog + 1) * self.context_size
        return {
            "embedding": vocabulary * self.embedding_size,
            "decoder": vocabulary * self.decoder_size,
            "recurrent layers that read": encoders + bridge,
            "recurrent layer that writes": gru_parameters(self.embedding_size, self.context_size),
            **self.output.extra_parameters(self.context_size, self.decoder_size),
            "decoder bias": vocabulary,
        }

    def rank_bound(self) -> int | None:
        return self.output.rank_bound(self.decoder_size)


class Adam(Spec):
    """Adam with bias correction (Kingma and Ba 2015)."""

    kind: Literal["adam"] = "adam"
    learning_rate: Positive = 1e-3
    beta1: Probability = 0.9
    beta2: Probability = 0.999
    epsilon: Positive = 1e-8


class DialogDropout(Spec):
    """Dropout probabilities, a new mask at every position.

    ``input`` drops entries of the looked-up vectors, ``output`` of what the output layer sees,
    ``latent`` of the mixtures' latent contexts.
    """

    input: Probability = 0.0
    output: Probability = 0.0
    latent: Probability = 0.0


class DialogRecipe(Schedule):
    """One training procedure: all responses in a new order each epoch, ``batch_size`` a step.

    The loss of a step is the mean over the predicted tokens of its batch; ``clip`` bounds the
    global norm of its gradients. The decoder's bias begins with 0, or with ``initial_bias:
    unigram`` at the logarithm of how often each word is predicted in train (each once more):
    otherwise a mixture under Adam can spend its tanh on frequencies, and saturate.
    """

    epochs: Count
    batch_size: Count = 30
    optimiser: Adam = Adam()
    clip: Positive = 5.0
    dropout: DialogDropout = DialogDropout()
    initial_bias: Literal["unigram"] | None = None
    precision: Literal["float32", "float64"] = "float32"

    # what a recipe of a language model may ask for, and this one never does
    averaging: ClassVar[Averaging] = NoAveraging()
    finetuning: ClassVar[Finetuning | None] = None
    stop: ClassVar[Stop | None] = None
    products: ClassVar[Products | None] = None
    embedding_noise: ClassVar[float] = 0.0


class Beam(Spec):
    """Beam search: ``size`` hypotheses wide, ``longest`` predictions long, the best are kept.

    ``longest`` counts ``</s>``. The defaults are those of Yang et al. 2018.
    """

    size: Count = 10
    longest: Count = 30
    kept: Count = 5


Smoothing = Literal["none", "add_one", "chen_cherry_7"]
"""How BLEU smooths n-gram counts: not (Papineni et al. 2002); one more match and one more n-gram
for n above 1 (Lin and Och 2004); smoothing 7 of Chen and Cherry 2014."""


Tokens = Sequence[Hashable]
Score = Callable[[Tokens, Tokens], float]
"""BLEU of an answer against one reference, from 0 to 1."""


def references_file(split: str) -> str:
    """The file with further references for the responses of a split, in the corpus's folder."""
    return f"{split}.references.jsonl"


def gru_parameters(inputs: int, size: int) -> int:
    """Parameters of one direction of a GRU layer with two bias vectors."""
    return 3 * size * (inputs + size + 2)


class DialogTrainingSpec(NetworkTraining):
    """A dialog model: its sizes, the dialogs that it is trained on, and how."""

    built_in: ClassVar[str] = "dialog"
    noun: ClassVar[str] = "a dialog model"
    revised: ClassVar[str] = "dialog_training"
    in_streams: ClassVar[bool] = False

    model: Seq2Seq
    corpus: DialogCorpus
    recipe: DialogRecipe

    @property
    def step_tokens(self) -> float:
        """Mean number of tokens that a training step predicts."""
        tokens, responses = self.corpus.tokens.train, self.corpus.responses.train
        return self.recipe.batch_size * tokens / responses

    def predicted(self, split: str, streams: int = 1) -> int:
        """As many as there are: responses are read one by one."""
        return self.tokens(split)

    def responses(self, split: str) -> int:
        """How many responses a split has."""
        return int(getattr(self.corpus.responses, split))

    @property
    def multiplied_weights(self) -> float:
        """Weights that a matrix product touches for each predicted token.

        All utterances of a context are read for each response to it.
        """
        model, corpus = self.model, self.corpus
        utterance, response = model.utterance_size, corpus.tokens.train / corpus.responses.train
        read = corpus.context * 2 * gru_parameters(model.embedding_size, utterance)
        dialog = corpus.context * gru_parameters(2 * utterance, model.dialog_size) / response
        written = gru_parameters(model.embedding_size, model.context_size)
        return read + dialog + written + self.decoded_weights
