"""Counted operations are those that torch counts of a plain model of the same sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from repro.specs.load import load_claim
from repro.trainers.language_model.evaluation import OnText
from repro.trainers.language_model.measurements.flops import Flops
from repro.trainers.language_model.spec import Model, TrainingSpec
from repro.trainers.run import RunSpec
from tests.trainers import small

ROOT = Path(__file__).parents[3]
V, T, B = 30, 7, 4
SIZES = {"embedding_size": 6, "hidden_size": 8, "context_size": 10, "decoder": "free"}


class Plain(nn.Module):
    """A language model in a few lines of torch, one product for each matrix of the papers."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        E, D, K = model.decoder_size, model.context_size, getattr(model.output, "components", 0)
        self.kind, self.components = model.output.kind, K
        self.embedding = nn.Embedding(V, model.embedding_size)
        sizes = model.layer_sizes()
        self.inputs = nn.ModuleList(nn.Linear(i, 4 * h) for i, h in sizes)
        self.recurrent = nn.ModuleList(nn.Linear(h, 4 * h) for _, h in sizes)
        if K:
            self.latent, self.prior = nn.Linear(D, K * E), nn.Linear(D, K, bias=False)
        self.decoder = nn.Linear(E, V)

    def forward(self, tokens_TB: Tensor) -> Tensor:
        x = self.embedding(tokens_TB)
        for inputs, recurrent in zip(self.inputs, self.recurrent, strict=True):
            x = self.layer(inputs(x), recurrent)
        if not self.components:
            return F.log_softmax(self.decoder(x), dim=-1)
        latent = torch.tanh(self.latent(x)).unflatten(-1, (self.components, -1))
        prior = self.prior(x).softmax(-1)
        if self.kind == "moc":
            mixed = torch.einsum("tbk,tbke->tbe", prior, latent)
            return F.log_softmax(self.decoder(mixed), dim=-1)
        return (prior.unsqueeze(-1) * self.decoder(latent).softmax(-1)).sum(2).log()

    def layer(self, gates_TBG: Tensor, recurrent: nn.Module) -> Tensor:
        size = gates_TBG.shape[-1] // 4
        h = torch.zeros(B, size, requires_grad=True)  # so that every step has its way back
        c = torch.zeros(B, size)
        steps = []
        for gates in gates_TBG.unbind():
            i, f, g, o = (gates + recurrent(h)).chunk(4, dim=-1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            steps.append(h)
        return torch.stack(steps)


def spec_of(output: dict[str, Any], **sizes: Any) -> TrainingSpec:
    model = small.model(output, **{**SIZES, **sizes})
    return TrainingSpec(model=model, corpus=small.corpus(), recipe=small.recipe())


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("output", [small.SOFTMAX, small.GSS, small.MOC, small.MOS])
def test_torch_counts_as_many(output: dict[str, Any], layers: int) -> None:
    """Of the plain model, forward and back, by torch's own counter of products."""
    spec = spec_of(output, layers=layers)
    plain, tokens = Plain(spec.model), torch.randint(V, (T, B))
    with FlopCounterMode(display=False) as counter:
        loss = -plain(tokens).mean()
        forward = counter.get_total_flops()
        loss.backward()
    assert spec.forward_flops == forward / (T * B)
    assert spec.flops == counter.get_total_flops() / (T * B)


def test_the_measurement_is_that_number() -> None:
    spec = spec_of(small.MOS)
    run = RunSpec(training=spec, replicate=3)
    subject = OnText(run, None, (), 0, None, torch.device("cpu"))
    assert Flops().measure(subject).value == spec.flops
    assert Flops(phase="evaluation").measure(subject).value == spec.forward_flops
    assert spec.flops == 3 * (spec.forward_flops or 0)
    assert Flops().label == "FLOPs per token in training"
    assert Flops().key != Flops(phase="evaluation").key


def test_mos_of_penn_treebank() -> None:
    """By hand: 15 decoders and 15 latent contexts on three LSTM layers."""
    lstm = 4 * 960 * (280 + 960) + 4 * 960 * (960 + 960) + 4 * 620 * (960 + 620)
    sizes = {"embedding_size": 280, "hidden_size": 960, "context_size": 620, "layers": 3}
    mos = spec_of({"kind": "mos", "components": 15}, **sizes)
    wide = mos.model_copy(update={"corpus": small.corpus(vocabulary=10_000)})
    expected = lstm + 15 * 620 * (280 + 1) + 15 * 10_000 * 280
    assert wide.forward_flops == 2 * expected


@pytest.mark.parametrize(("corpus", "counted"), [("ptb", 2.508), ("wt2", 5.212)])
def test_mos_over_softmax_at_the_papers_sizes(corpus: str, counted: float) -> None:
    """The timed ratios of Yang et al. 2018, C.3, are 1.9 and 2.5: a GPU likes large products."""
    claim = load_claim(ROOT / f"claims/yang2018/mos_beats_awd_{corpus}.claim.yaml", "paper")
    configurations = [claim.arms[name].configuration for name in ("mos", "softmax")]
    mos, softmax = (each.training().flops for each in configurations if each is not None)
    assert mos is not None
    assert softmax is not None
    assert mos / softmax == pytest.approx(counted, abs=5e-4)


def test_parts_of_others_are_not_counted() -> None:
    spec = spec_of({"kind": "own", "use": "m:C", "version": "1", "parameters": 2})
    assert spec.flops is None
    ((key, (mistake, *_)),) = Flops().unsuited(spec, "the arm x")
    assert key == "kind"
    assert mistake == "the arm x has a part of your own, whose products are not counted"
    assert list(Flops().unsuited(spec_of(small.MOS), "the arm x")) == []
