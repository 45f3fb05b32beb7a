"""A dialog model of GRUs: utterances to one state, its response, beam search for answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from repro.trainers.devices import moved
from repro.trainers.dialog.corpus import Batch, DialogSplit
from repro.trainers.dialog.spec import Beam, DialogRecipe, Seq2Seq
from repro.trainers.language_model.evaluation import full_precision
from repro.trainers.language_model.model import Embedding
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.randomness import (
    Distribution,
    Initialised,
    Streams,
    all_uniform,
    initialise,
)
from repro.trainers.language_model.regularisation import QUIET, Regularisation


class Gru(Initialised):
    """One GRU layer with two bias vectors, gates in the order reset, update, new.

    Shapes: sequences of (I,) vectors and a state ``(directions, B, H)`` -> sequences of
    (directions H,) vectors and the state after each sequence's own last step, for the second
    direction its first. Reference: Cho et al. 2014, in the variant of torch, which applies the
    reset gate after the recurrent product.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        dtype: torch.dtype,
        directions: Literal[1, 2] = 1,
    ) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.directions = directions
        shapes = {
            "input_weight": (3 * hidden_size, input_size),
            "recurrent_weight": (3 * hidden_size, hidden_size),
            "input_bias": (3 * hidden_size,),
            "recurrent_bias": (3 * hidden_size,),
        }
        for direction in ("forward", "backward")[:directions]:
            for name, shape in shapes.items():
                parameter = nn.Parameter(torch.empty(shape, dtype=dtype))
                self.register_parameter(f"{direction}_{name}", parameter)

    def initial(self) -> Mapping[str, Distribution]:
        return all_uniform(self, self.hidden_size)

    def forward(
        self, x: PackedSequence, state_B: Tensor | None = None
    ) -> tuple[PackedSequence, Tensor]:
        """Run over packed sequences from a state, or from zero."""
        batch_size = int(x.batch_sizes[0])
        if state_B is None:
            state_B = x.data.new_zeros(self.directions, batch_size, self.hidden_size)
        if x.sorted_indices is not None:
            state_B = state_B.index_select(1, x.sorted_indices)
        # biases, layers, dropout, train, bidirectional; `train` keeps what the backward pass
        # needs, and there is no dropout of its own to switch off
        switches = (True, 1, 0.0, torch.is_grad_enabled(), self.directions == 2)
        weights: list[Tensor] = [*self.parameters()]
        output, after_B = torch.gru(x.data, x.batch_sizes, state_B, weights, *switches)
        if x.unsorted_indices is not None:
            after_B = after_B.index_select(1, x.unsorted_indices)
        return x._replace(data=output), after_B


class Bridge(Initialised):
    """The affine map from the end of the dialog so far to the beginning of the response."""

    def __init__(self, input_size: int, output_size: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(output_size, input_size, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(output_size, dtype=dtype))

    def initial(self) -> Mapping[str, Distribution]:
        """The default of a linear layer with I inputs."""
        return all_uniform(self, self.weight.shape[1])

    def forward(self, x: Tensor) -> Tensor:
        """(..., I) -> (..., O)."""
        return F.linear(x, self.weight, self.bias)


class DialogModel(nn.Module):
    """Utterances so far and words of the response -> distribution of its next word.

    A GRU reads each utterance in both directions, a second one the sequence of what the first
    ended with, and a third writes the response; nothing but its initial state knows the dialog.
    Parameters are empty until ``initialise`` or a checkpoint fills them. Without a
    ``regularisation`` every method is evaluation.
    """

    def __init__(self, spec: Seq2Seq, vocabulary: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.spec = spec
        self.vocabulary = vocabulary
        size = spec.embedding_size
        self.embedding = Embedding(vocabulary, size, dtype)
        self.utterance_encoder = Gru(size, spec.utterance_size, dtype, directions=2)
        self.dialog_encoder = Gru(2 * spec.utterance_size, spec.dialog_size, dtype)
        self.bridge = Bridge(spec.dialog_size, spec.context_size, dtype)
        self.decoder = Gru(size, spec.context_size, dtype)
        self.output: OutputLayer = spec.output.build(
            vocabulary, spec.decoder_size, spec.context_size, dtype
        )

    def encode(self, batch: Batch, regularisation: Regularisation = QUIET) -> Tensor:
        """The state (1, B, D) in which each response of a batch begins."""
        _, ends_2UH = self.utterance_encoder(self._embed(batch.utterances, regularisation))
        utterances_UH = torch.cat(ends_2UH.unbind(0), dim=1)
        in_order = utterances_UH.index_select(0, batch.dialogs.data)
        _, end_1BC = self.dialog_encoder(batch.dialogs._replace(data=in_order))
        begin_1BD: Tensor = self.bridge(end_1BC)
        return begin_1BD

    def write(
        self, words: PackedSequence, state_1BD: Tensor, regularisation: Regularisation = QUIET
    ) -> tuple[Tensor, Tensor]:
        """Contexts (1, N, D) after each of ``words``, in packed order, and states to go on from."""
        read, after_1BD = self.decoder(self._embed(words, regularisation), state_1BD)
        return regularisation.locked("output", read.data.unsqueeze(0)), after_1BD

    def forward(self, batch: Batch, regularisation: Regularisation = QUIET) -> Tensor:
        """Contexts (1, N, D) of all words that a batch predicts, in packed order."""
        context_1ND, _ = self.write(
            batch.inputs, self.encode(batch, regularisation), regularisation
        )
        return context_1ND

    def loss(self, batch: Batch, regularisation: Regularisation = QUIET) -> Tensor:
        """Mean negative log-probability of a batch's predicted words, a scalar in nats."""
        context_1ND = self(batch, regularisation)
        return self.output.loss(context_1ND, batch.targets.unsqueeze(0), regularisation)

    def _embed(self, words: PackedSequence, regularisation: Regularisation) -> PackedSequence:
        """Words as vectors; the rows are one step of N sequences, so each has its own mask."""
        vectors_1NE = regularisation.embed(words.data.unsqueeze(0), self.embedding.weight)
        return words._replace(data=regularisation.locked("input", vectors_1NE).squeeze(0))


@torch.no_grad()
def begin(model: DialogModel, recipe: DialogRecipe, streams: Streams, train: DialogSplit) -> None:
    """Fill every parameter: from its stream, and the decoder's bias as the recipe says."""
    initialise(model, streams)
    if recipe.initial_bias == "unigram":
        model.output.bias.copy_(log_frequencies(train, model.vocabulary))


def log_frequencies(split: DialogSplit, vocabulary: int) -> Tensor:
    """Logarithm (V,) of how often each word is predicted, float64; each counts once more."""
    predicted = torch.cat([split.utterance(example.response)[1:] for example in split.examples])
    counts = torch.bincount(predicted, minlength=vocabulary).double() + 1
    return (counts / counts.sum()).log()


class Response(NamedTuple):
    """A response that was found."""

    words: tuple[int, ...]
    """Without ``<s>`` and ``</s>``."""
    score: float
    """Log-probability in nats: the sum over its words, and ``</s>`` where it is complete."""
    complete: bool
    """Whether it ends with ``</s>``; otherwise it was as long as it may be."""


class _Live(NamedTuple):
    """Hypotheses that go on, the best first: on the device, and as the host has them."""

    last: Tensor
    """(B,) the last word of each."""
    scores: Tensor
    """(B,) log-probabilities, float64."""
    state: Tensor
    """(1, B, D), before the last word is read."""
    responses: list[Response]
    """The same, not complete."""

    def grown(self, places: list[int], scores: list[float], vocabulary: int) -> list[Response]:
        """The hypotheses with one word more; a place is that of a parent and its next word."""
        each = zip((divmod(place, vocabulary) for place in places), scores, strict=True)
        return [
            Response((*self.responses[parent].words, word), score, complete=False)
            for (parent, word), score in each
        ]


@torch.no_grad()
def respond(
    model: DialogModel, begin_1BD: Tensor, beam: Beam, *, start: int, end: int
) -> list[Response]:
    """The ``beam.kept`` best responses that a beam search finds, the best first.

    ``begin_1BD`` (1, 1, D) is one encoded context. In each step the ``beam.size`` most probable of
    all continuations by one word are kept; one that ends leaves the beam, which is narrower from
    there on (Sutskever et al. 2014). After ``beam.longest`` predictions what has not ended competes
    as it is. Scores are not divided by lengths.
    """
    device = begin_1BD.device
    live = _Live(
        torch.full((1,), start, device=device),
        torch.zeros(1, dtype=torch.float64, device=device),
        begin_1BD,
        [Response((), 0.0, complete=False)],
    )
    found: list[Response] = []
    with full_precision():
        for _ in range(beam.longest):
            best_B, places_B, after_1BD = _best(model, live, beam.size - len(found))
            # the one wait of a step; float64 holds each place, a word of a hypothesis, exactly
            scores, places = torch.stack([best_B, places_B.double()]).tolist()
            grown = live.grown([int(place) for place in places], scores, model.vocabulary)
            going = [row for row, each in enumerate(grown) if each.words[-1] != end]
            found += [Response(w[:-1], score, True) for w, score, _ in grown if w[-1] == end]
            rows_B = moved(torch.tensor(going, dtype=torch.int64), device)
            kept_B = places_B[rows_B]
            live = _Live(
                kept_B % model.vocabulary,
                best_B[rows_B],
                after_1BD[:, kept_B // model.vocabulary],
                [grown[row] for row in going],
            )
            if not going or _decided(found, live, beam.kept):
                break
    return sorted([*found, *live.responses], key=lambda each: -each.score)[: beam.kept]


def _best(model: DialogModel, live: _Live, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Scores (B,) of the best continuations, their places in (B V), and the states after."""
    last = PackedSequence(live.last, torch.tensor([len(live.last)]))
    context_1BD, after_1BD = model.write(last, live.state)
    log_p_BV = model.output.log_probabilities(context_1BD).squeeze(0).double()
    scores_N = (live.scores.unsqueeze(1) + log_p_BV).flatten()
    best_B, places_B = scores_N.topk(min(size, len(scores_N)))
    return best_B, places_B, after_1BD


def _decided(found: list[Response], live: _Live, kept: int) -> bool:
    """Whether nothing can change any more, since a score only falls."""
    scores = sorted((response.score for response in found), reverse=True)
    return len(scores) >= kept and scores[kept - 1] >= live.responses[0].score
