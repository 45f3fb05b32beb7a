"""Memory of the mixture loss above its inputs and their gradients.

Each number of components in a fresh process, at the shapes of MoS on Penn Treebank: 840 rows,
latent contexts of size 280, 10,000 words.
"""

from __future__ import annotations

from benchmarks.speed.rows import Found, Goal, Row, Settings
from benchmarks.speed.together import in_process

ROWS, SIZE, VOCABULARY = 840, 280, 10_000
COMPONENTS = (1, 5, 15, 30)
NAIVE = 15
LIMIT = Goal(60.0, at_most=True)
FLAT = Goal(aim=1.1, at_most=True)
"""Flat: no more than a tenth more with most components than with one."""


def measure(settings: Settings) -> Found:
    """Ours with 1 to 30 components, and the plain formula with 15."""
    place, threads = "benchmarks.speed.loss_memory:above", settings.threads
    megabytes = {k: in_process(place, k, False, threads=threads) / 1e6 for k in COMPONENTS}
    naive = in_process(place, NAIVE, True, threads=threads) / 1e6
    rows = [Row(f"K = {k}", value, "MB", LIMIT) for k, value in megabytes.items()]
    growth = megabytes[max(COMPONENTS)] / megabytes[min(COMPONENTS)]
    rows.append(Row("K = 30 over K = 1", growth, "x", FLAT))
    rows.append(Row(f"plain formula, K = {NAIVE}", naive, "MB"))
    return Found(rows, numbers={"MB": {str(k): round(v, 1) for k, v in megabytes.items()}})


def above(components: int, naive: bool) -> int:
    """Bytes of the peak above what was held before the loss and its inputs' gradients."""
    import torch
    from torch.nn import functional

    from benchmarks.speed import machine
    from repro.trainers.language_model.fused_loss import mixture_loss

    def inputs(rows: int) -> list[torch.Tensor]:
        shapes = [(rows, components, SIZE), (rows, components), (VOCABULARY, SIZE), (VOCABULARY,)]
        tensors = [torch.rand(shape) for shape in shapes]
        tensors[1] = torch.log_softmax(tensors[1], dim=1)
        return [tensor.requires_grad_() for tensor in tensors]

    def loss(tensors: list[torch.Tensor], targets_N: torch.Tensor) -> torch.Tensor:
        latent_NKE, log_prior_NK, weight_VE, bias_V = tensors
        if not naive:
            return mixture_loss(
                latent_NKE, log_prior_NK, weight_VE, bias_V, targets_N, epsilon=1e-8
            )
        p_NKV = torch.softmax(functional.linear(latent_NKE, weight_VE, bias_V), dim=-1)
        p_NV = (p_NKV * log_prior_NK.exp().unsqueeze(-1)).sum(dim=1)
        return functional.nll_loss((p_NV + 1e-8).log(), targets_N)

    targets_N = torch.randint(0, VOCABULARY, (ROWS,))
    loss(inputs(1), targets_N[:1]).backward()  # threads and libraries take what they take once
    tensors = inputs(ROWS)
    before = machine.resident_bytes()
    machine.forget_peak()
    loss(tensors, targets_N).backward()
    gradients = sum(t.grad.nbytes for t in tensors if t.grad is not None)
    return machine.peak_bytes() - before - gradients
