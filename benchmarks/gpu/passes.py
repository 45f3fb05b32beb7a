"""Single passes on a device beside the same on the CPU: losses, gradients, masks, a rank."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, get_args

import torch
from torch import Tensor

from benchmarks.gpu.cases import OUTPUTS, Size, runs_of, spread_model, training
from benchmarks.gpu.checks import Check, badness, departure
from benchmarks.speed.shapes import random_words
from repro.errors import DataError
from repro.trainers.language_model.evaluation import log_probability_rows
from repro.trainers.language_model.measurements.model_rank import rank_of
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.precision import products_in
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.recipe import Products
from repro.trainers.language_model.regularisation import (
    LockedPlace,
    Regularisation,
    activation_penalty,
    temporal_penalty,
)
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import RunSpec

CPU: Final = torch.device("cpu")
LOSS_BOUNDS: Final[dict[Products | None, float]] = {None: 2e-6, "tf32": 1e-4, "bf16": 1e-3}
GRADIENT_BOUNDS: Final[dict[Products | None, float]] = {None: 5e-5, "tf32": 5e-3, "bf16": 5e-2}
"""Relative. The roundings of one product are 2^-24, 2^-11 (TF32) and 2^-8 (bfloat16)."""
PLIF_GRADIENT_BOUND: Final = 1e-3
"""A logit that is rounded across the end of a piece has the slope of the next one."""
RANK_ROWS: Final = 4


def of_outputs(
    names: list[str], size: Size, device: torch.device, precisions: list[Products | None]
) -> Iterator[Check]:
    """Loss and gradients of one window of each layer, beside float64 on the CPU."""
    for name in names:
        run = runs_of(training(name, size), 1)[0]
        weights = spread_model(run).state_dict()
        expected = passed(run, weights, CPU, torch.float64)
        for products in precisions:
            found = passed(run, weights, device, torch.float32, products)
            what = f"{name}, {size.words:,} words, {products or 'float32'}"
            loss = departure(found.pop("loss"), expected["loss"])
            worst = {key: departure(found[key], expected[key]) for key in found}
            which = max(worst, key=lambda name: badness(worst[name]))
            bound = GRADIENT_BOUNDS[products]
            if name == "plif":
                bound = max(bound, PLIF_GRADIENT_BOUND)
            yield Check(f"{what}: loss", loss, LOSS_BOUNDS[products])
            yield Check(f"{what}: gradients", worst[which], bound, f"worst: {which}")


def passed(
    run: RunSpec,
    weights: Mapping[str, Tensor],
    device: torch.device,
    dtype: torch.dtype,
    products: Products | None = None,
) -> dict[str, Tensor]:
    """``loss`` of one window with the masks of epoch 1, and the objective's gradients by name."""
    spec = TrainingSpec.of(run)
    recipe, words = spec.recipe, spec.corpus.vocabulary
    model = LanguageModel(spec.model, words, dtype)
    model.load_state_dict({name: weight.to(dtype) for name, weight in weights.items()})
    model.to(device)
    steps = recipe.window.base
    text = random_words((steps + 1) * recipe.batch_size, words, seed=3).view(steps + 1, -1)
    text_LB = text.to(device)
    regularisation = Regularisation.of_epoch(recipe, Streams(run), 1)
    with products_in(products):
        output = model(text_LB[:-1], model.zero_state(recipe.batch_size), regularisation)
        loss = model.output.loss(output.context, text_LB[1:], regularisation)
        penalty = activation_penalty(output.context, recipe.activation)
        (loss + penalty + temporal_penalty(output.raw, recipe.temporal)).backward()
    gradients = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    return {"loss": loss.detach(), **gradients}


WINDOWS: Final = 40
"""More than two of the blocks hold in which random numbers are drawn ahead."""


def of_masks(size: Size, device: torch.device) -> Iterator[Check]:
    """Every mask and all noise must be the same numbers, bit for bit, wherever they are used."""
    run = runs_of(training("mos", size), 1)[0]
    different: Counter[str] = Counter()
    means: dict[str, float] = defaultdict(float)
    for here, there in zip(*(_drawn(run, size, place) for place in (CPU, device)), strict=True):
        for name, expected in here.items():
            different[name] += int((there[name].cpu() != expected).sum())
            means[name] += float(expected.mean()) / WINDOWS
    for name, count in different.items():
        said = f"mean {means[name]:.3f} in {WINDOWS} windows"
        yield Check(f"mask {name}: entries that differ", float(count), 0.0, said)


def _drawn(run: RunSpec, size: Size, device: torch.device) -> Iterator[dict[str, Tensor]]:
    """What windows in a row, of several lengths, do to ones, and to the lookup of zeros."""
    regularisation = Regularisation.of_epoch(TrainingSpec.of(run).recipe, Streams(run), 1)
    ones_TBH = torch.ones(size.steps, size.batch, size.hidden, device=device)
    matrix_GH = torch.ones(4 * size.hidden, size.hidden, device=device)
    zeros_VE = torch.zeros(size.words, size.embedding, device=device)
    words_TB = random_words(size.steps * size.batch, size.words, seed=3).view(size.steps, -1)
    words_TB = words_TB.to(device)
    for window in range(WINDOWS):
        part_TB = words_TB[window % 5 :]
        yield {
            "weight": regularisation.weight(matrix_GH),
            "embedding noise": regularisation.embed(part_TB, zeros_VE),
            "embedding": regularisation.embed(part_TB, zeros_VE + 1),
            **{place: regularisation.locked(place, ones_TBH) for place in get_args(LockedPlace)},
        }


def of_rank(size: Size, device: torch.device) -> Iterator[Check]:
    """The rank of Softmax is its bound, d + 2, and that of a matrix of known rank is known.

    Rounding by a GPU's lower precisions would make either a full rank.
    """
    run = runs_of(training("softmax", size), 1)[0]
    model = spread_model(run).to(device)
    with torch.no_grad():
        for parameter in model.trunk.parameters():
            parameter.mul_(4)  # contexts of initial weights are too much alike to span d numbers
    tokens = random_words(RANK_ROWS * size.words, size.words, seed=4).to(device)
    try:
        rows = (len(tokens) // size.batch - 1) * size.batch
        chunks = log_probability_rows(model, tokens, size.batch)
        rank, details, _ = rank_of(chunks, model.output, rows, None)
    except DataError as error:
        yield Check("log-probabilities are not rounded", 1.0, 0.0, str(error).splitlines()[0])
        return
    bound = TrainingSpec.of(run).model.rank_bound()
    assert bound is not None
    known = details["known_rank"]
    note = f"{rank:.0f} of {size.words:,}, d + 2 = {bound}"
    yield Check("rank of Softmax: distance from d + 2", abs(rank - bound), 0.0, note)
    off = abs(known["measured"] - known["expected"])
    yield Check("rank of a matrix of known rank: distance", off, 0.0, str(known))


def tf32_is_in_force(size: Size, device: torch.device) -> Check:
    """On a GPU, the two precisions must not give the same gradients: then one was not in force."""
    run = runs_of(training("softmax", size), 1)[0]
    weights = spread_model(run).state_dict()
    plain, rounded = (passed(run, weights, device, torch.float32, p) for p in (None, "tf32"))
    same = [name for name in plain if torch.equal(plain[name], rounded[name])]
    note = "gradients that TF32 does not change"
    return Check("TF32 is in force", float(len(same) == len(plain)), 0.0, f"{len(same)} {note}")


def all_layers() -> list[str]:
    """Every output layer."""
    return [*OUTPUTS]
