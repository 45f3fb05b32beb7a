"""Dynamic evaluation against its formula, written out plainly in float64."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch.func import functional_call
from torch.nn import functional as F

from repro.errors import ClaimError
from repro.trainers.base import STEP
from repro.trainers.language_model.corpus import CorpusData, load_corpus
from repro.trainers.language_model.evaluation import OnText
from repro.trainers.language_model.measurements.perplexity import Dynamic, Perplexity
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.spec import MoC, MoS, Softmax
from repro.trainers.measurement import Measured
from repro.trainers.run import PlannedRun, RunSpec
from repro.trainers.trainer import cost, memory
from tests.trainers import small
from tests.trainers.measurements.test_rank import CORPUS, CPU, model_of

SUM: dict[str, Any] = {"scaling": "sum", "rate": 0.02, "decay": 0.5, "epsilon": 0.01}
OUTPUTS: dict[str, Softmax | MoC | MoS] = {
    "softmax": Softmax(),
    "moc": MoC(components=2),
    "mos": MoS(components=3),
}

Weights = dict[str, torch.Tensor]
Drop = Callable[[Weights], Weights]


def spec(**changes: Any) -> Perplexity:
    """A dynamic perplexity with segments of 5 and eight streams of statistics."""
    how = {**SUM, "statistics_batch_size": 8, **changes}
    return Perplexity(split="valid", mode="dynamic", dynamic=Dynamic(**how))


def taken(model: LanguageModel, measurement: Perplexity, run: RunSpec | None = None) -> Measured:
    return measurement.measure(OnText(run, model, (), 1, load_corpus(CORPUS, None), CPU))


def run_of(**recipe: Any) -> RunSpec:
    return small.run(small.MOS, small.recipe(**recipe))


def by_hand(
    model: LanguageModel, corpus: CorpusData, how: Dynamic, drop: Drop = lambda weights: weights
) -> float:
    """The formula of the papers' code, a tensor at a time: exp of the mean loss on valid."""
    start = {name: p.detach().clone() for name, p in model.named_parameters()}

    def segments(tokens: torch.Tensor, streams: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        text = tokens[: len(tokens) // streams * streams].view(streams, -1).T
        ends = [*range(how.segment, len(text) - 1, how.segment), len(text) - 1]
        starts = range(0, len(text) - 1, how.segment)
        return [(text[a:b], text[a + 1 : b + 1]) for a, b in zip(starts, ends, strict=True)]

    def gradients(weights: Weights, part: tuple[torch.Tensor, ...], state: Any) -> Any:
        leaves = {name: w.clone().requires_grad_() for name, w in weights.items()}
        dropped = drop(leaves)
        output = functional_call(model, dropped, (part[0], state))
        own = {name: w for name, w in dropped.items() if name.startswith("output.")}
        log_p = functional_call(LogProbabilities(model.output), own, (output.context,))
        loss = F.nll_loss(log_p.flatten(0, 1), part[1].flatten())
        found = torch.autograd.grad(loss, list(leaves.values()))
        after = tuple((h.detach(), c.detach()) for h, c in output.state)
        return loss.item(), dict(zip(leaves, found, strict=True)), after

    squares = {name: torch.zeros_like(w) for name, w in start.items()}
    state, parts = (
        model.zero_state(how.statistics_batch_size),
        segments(corpus.train, how.statistics_batch_size),
    )
    for part in parts:
        _, found, state = gradients(start, part, state)
        for name, gradient in found.items():
            squares[name] += gradient**2
    divisor = len(parts) if how.scaling == "mean" else 1
    rms = {name: (square / divisor) ** 0.5 for name, square in squares.items()}
    typical = torch.stack([one.mean() for one in rms.values()]).sum()
    if how.scaling == "mean":
        typical = typical / len(rms)
    weights, state, total, count = dict(start), model.zero_state(1), 0.0, 0
    for part in segments(corpus.valid, 1):
        loss, found, state = gradients(weights, part, state)
        total, count = total + loss * len(part[1]), count + len(part[1])
        for name, old in weights.items():
            decay = torch.clamp(rms[name] / typical, max=1 / how.decay)
            back = how.decay * decay * (start[name] - old)
            weights[name] = old + back - how.rate * found[name] / (rms[name] + how.epsilon)
    return math.exp(total / count)


class LogProbabilities(torch.nn.Module):
    """An output layer whose call is its log-probabilities."""

    def __init__(self, output: torch.nn.Module) -> None:
        super().__init__()
        self.output = output

    def forward(self, context: torch.Tensor) -> Any:
        return self.output.log_probabilities(context)  # type: ignore[operator]


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"decay": 40.0},
        {"segment": 7, "statistics_batch_size": 3},
        {"scaling": "mean", "rate": 0.002, "decay": 0.05, "epsilon": 0.002},
    ],
)
def test_it_is_the_formula(name: str, changes: dict[str, Any]) -> None:
    """In float64 the value is that of the formula written out; it is not the static one."""
    model, measurement = model_of(OUTPUTS[name], "float64"), spec(**changes)
    assert measurement.dynamic is not None
    found = taken(model, measurement)
    expected = by_hand(model, load_corpus(CORPUS, None), measurement.dynamic)
    assert found.value == pytest.approx(expected, rel=1e-9)
    static = taken(model, Perplexity(split="valid")).value
    assert abs(found.value / static - 1) > 1e-3
    assert found.details["tokens"] == 99
    assert found.details["segments"] == math.ceil(99 / measurement.dynamic.segment)
    assert (found.details["decay_cut"] > 0) == (changes == {"decay": 40.0})


def test_the_two_scalings_are_one_method() -> None:
    """The published conversion: decay / tensors, rate and epsilon / the root of the segments."""
    model = model_of(MoS(components=3), "float64")
    by_sum = taken(model, spec())
    tensors, root = len(list(model.parameters())), by_sum.details["statistics_segments"] ** 0.5
    changes = {"rate": 0.02 / root, "decay": 0.5 / tensors, "epsilon": 0.01 / root}
    by_mean = taken(model, spec(scaling="mean", **changes))
    assert by_mean.value == pytest.approx(by_sum.value, rel=1e-9)
    assert taken(model, spec(scaling="mean")).value != pytest.approx(by_sum.value, rel=1e-3)


def test_the_model_is_as_it_was_and_the_value_repeats() -> None:
    """No bit of the weights changes, no gradient is left, and a second time gives the same bits."""
    model = model_of(MoS(components=3))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    first = taken(model, spec())
    assert taken(model, spec()) == first
    assert all(torch.equal(before[name], now) for name, now in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_word_is_predicted_before_it_is_learnt() -> None:
    """The first segment costs what it costs without learning: a text of one segment is static."""
    model = model_of(Softmax(), "float64")
    whole = taken(model, spec(segment=99))
    static = taken(model, Perplexity(split="valid")).value
    assert whole.details["segments"] == 1
    assert whole.value == pytest.approx(static, rel=1e-12)


def test_live_weight_dropout_is_the_formula_with_dropped_matrices() -> None:
    """The defect: each segment has masks of its own, drawn from a stream of the measurement's."""
    model, run = model_of(MoS(components=3), "float64"), run_of(dropout={"weight": 0.25})
    measurement = spec(weight_dropout="live")
    assert measurement.dynamic is not None
    drawn = Streams(run).open("dynamic_evaluation", measurement.key)

    def drop(weights: Weights) -> Weights:
        result = dict(weights)
        for name, weight in weights.items():
            if name.endswith("recurrent_weight"):
                keep = torch.from_numpy(drawn.random(tuple(weight.shape), dtype="float32") >= 0.25)
                result[name] = weight * keep / 0.75
        return result

    expected = by_hand(model, load_corpus(CORPUS, None), measurement.dynamic, drop)
    found = taken(model, measurement, run)
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert taken(model, measurement, run) == found
    assert found.value != taken(model, spec()).value
    other = run.model_copy(update={"replicate": 1})
    assert taken(model, measurement, other).value != found.value
    assert taken(model, measurement, run_of()).value == taken(model, spec()).value
    with pytest.raises(ValueError, match="name the run"):
        taken(model, measurement)


def test_frozen_slopes_neither_move_nor_count() -> None:
    """A parameter that training left alone is left alone here, and is not in the typical size."""
    model = small.built(small.model(small.FROZEN), CORPUS.vocabulary)
    found = taken(model, spec())
    assert math.isfinite(found.value)
    learnt = small.built(small.model(small.PLIF), CORPUS.vocabulary)
    learnt.load_state_dict(model.state_dict())
    assert taken(learnt, spec()).value != found.value


def test_weights_that_run_away_are_told() -> None:
    """A rate that is far too large has no value, and the message says what to lower."""
    with pytest.raises(ClaimError, match=r"no finite perplexity .*\n.* lower its rate \(1e\+06\)"):
        taken(model_of(Softmax()), spec(rate=1e6))


def test_settings_belong_to_the_mode() -> None:
    """Mode dynamic needs its settings, and no other mode has them; each is in the key."""
    with pytest.raises(ValidationError, match="needs the settings"):
        Perplexity(split="test", mode="dynamic")
    with pytest.raises(ValidationError, match="dynamic changes nothing"):
        Perplexity(split="test", dynamic=spec().dynamic)
    changes: list[dict[str, Any]] = [
        {},
        {"scaling": "mean"},
        {"rate": 0.1},
        {"decay": 0.1},
        {"epsilon": 0.1},
        {"segment": 6},
        {"statistics_batch_size": 9},
        {"weight_dropout": "live"},
    ]
    assert len({spec(**each).key for each in changes}) == len(changes)
    document = json.loads(spec().model_dump_json())
    assert Perplexity.model_validate_json(json.dumps(document)) == spec()


def test_labels_name_the_mode_and_the_defect() -> None:
    """A reader sees that the weights learnt, and that they were dropped."""
    assert spec().label == "validation perplexity, dynamic"
    assert spec(weight_dropout="live").label == "validation perplexity, dynamic, weights dropped"


def test_its_cost_is_that_of_training_on_short_segments() -> None:
    """It is above that of a static pass, falls with the segment, and fits in training's memory."""
    run = run_of()
    static, short, long = (
        cost(PlannedRun(run=run, measurements=(each,))).measurements[each.key]
        for each in (Perplexity(split="valid"), spec(), spec(segment=50))
    )
    assert short > long > static
    assert short > STEP * (120 / 5 + 600 / (8 * 5))
    weights = 4.0 * (run.training.parameters or 0)
    plain = memory(PlannedRun(run=run, measurements=()))
    assert memory(PlannedRun(run=run, measurements=(spec(),))) == plain > 5 * weights
