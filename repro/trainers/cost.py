"""How much work a run is, and how much memory: for an order and an estimate."""

from __future__ import annotations

from dataclasses import dataclass, field

from repro.trainers.dialog.spec import DialogTrainingSpec, gru_parameters
from repro.trainers.language_model.spec import latent_contexts, softmaxes
from repro.trainers.measurement import Bleu, Measurable, Perplexity, Rank, measurement_key
from repro.trainers.run import AnyTraining, PlannedRun

PROCESS_MEMORY = 0.5e9
"""Bytes of a process that has imported torch and loaded a corpus, roughly."""


STEP = 1e8
"""What a training step costs however small the model, in floating-point operations: some 3 ms."""


FLOPS_PER_CORE = 3e10
"""Rate assumed where nothing was measured: half of what small models reach on a recent core."""


UPDATE = 100.0
"""What it costs that one parameter moves: a few operations, each waiting for memory."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Floating-point operations, roughly: of training, and of each measurement by its name."""

    training: float
    measurements: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """All of it."""
        return self.training + sum(self.measurements.values())


def cost(planned: PlannedRun) -> Cost:
    """What a run costs from nothing. Good for an order and for an ETA, for nothing finer."""
    spec = planned.run.training
    weights, tokens = _multiplied_weights(spec), spec.corpus.tokens
    steps = tokens.train / spec.step_tokens
    epoch = 6 * weights * tokens.train + 2 * weights * tokens.valid + STEP * steps
    return Cost(
        spec.recipe.most_epochs * float(epoch),
        {measurement_key(m): _measuring(spec, m, weights) for m in planned.measurements},
    )


def memory(planned: PlannedRun) -> float:
    """Bytes that a process needs for a run, roughly, on the generous side.

    Training holds the weights, their gradients, average and best, and two copies to write a
    checkpoint; dynamic evaluation holds less. A rank holds three square matrices of the size of
    the vocabulary in float64.
    """
    spec = planned.run.training
    weights = spec.parameters * {"float32": 4.0, "float64": 8.0}[spec.recipe.precision]
    ranks = any(isinstance(each, Rank) for each in planned.measurements)
    rank = 3.0 * 8.0 * spec.corpus.vocabulary**2 if ranks else 0.0
    return PROCESS_MEMORY + max(6 * weights, weights + rank)


def _measuring(spec: AnyTraining, measurement: Measurable, weights: float) -> float:
    """A rank costs half a symmetric product, and eigenvalues twice: the control's too.

    Dynamic evaluation trains on the split and passes over the training text, in short segments;
    after each segment of the split every parameter moves. Beam search decodes for each hypothesis
    and prediction, whatever was said.
    """
    if isinstance(measurement, Bleu):
        return _answering(spec, measurement)
    tokens: int = getattr(spec.corpus.tokens, measurement.split)
    forward = 2.0 * weights * tokens
    if isinstance(measurement, Perplexity):
        if measurement.dynamic is not None:
            how, train = measurement.dynamic, spec.corpus.tokens.train
            segments = tokens / (measurement.batch_size * how.segment)
            passes = train / (how.statistics_batch_size * how.segment)
            moved = UPDATE * spec.parameters * segments
            return 6.0 * weights * (tokens + train) + STEP * (segments + passes) + moved
        return 0.0 if measurement.mode == "training" else forward
    vocabulary, rows = spec.corpus.vocabulary, measurement.contexts or tokens
    return forward * rows / tokens + float(rows) * vocabulary**2 + 4.0 * vocabulary**3


def _answering(spec: AnyTraining, measurement: Bleu) -> float:
    responses = 0
    if isinstance(spec, DialogTrainingSpec):
        responses = getattr(spec.corpus.responses, measurement.split)
    step = 2.0 * measurement.beam.size * _decoded_weights(spec) + STEP / 3
    return responses * measurement.beam.longest * step


def _multiplied_weights(spec: AnyTraining) -> float:
    """Weights that a matrix product touches for each predicted token.

    A dialog model reads all utterances of a context for each response to it.
    """
    if isinstance(spec, DialogTrainingSpec):
        model, corpus = spec.model, spec.corpus
        utterance, response = model.utterance_size, corpus.tokens.train / corpus.responses.train
        read = corpus.context * 2 * gru_parameters(model.embedding_size, utterance)
        dialog = corpus.context * gru_parameters(2 * utterance, model.dialog_size) / response
        written = gru_parameters(model.embedding_size, model.context_size)
        return read + dialog + written + _decoded_weights(spec)
    trunk = spec.model.trunk
    layers = sum(4 * size * (before + size) for before, size in spec.model.layer_sizes())
    return _decoded_weights(spec) + (layers if trunk is None else trunk.parameters)


def _decoded_weights(spec: AnyTraining) -> float:
    """Those of the output layer; a mixture of softmaxes decodes K times."""
    model = spec.model
    decoder = spec.corpus.vocabulary * model.decoder_size
    latent = latent_contexts(model.output) * model.context_size * (model.decoder_size + 1)
    return latent + softmaxes(model.output) * decoder
