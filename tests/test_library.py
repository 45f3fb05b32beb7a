"""The library of small claims: all load, one is verified, the programs compute what they say."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from repro.specs.load import load_claims
from repro.store.run_store import RunStore
from repro.trainers.trainer import code_of
from repro.workflows.verify import plan_runs
from tests.commands import repro

pytestmark = pytest.mark.usefixtures("parsed_once")

LIBRARY = Path(__file__).parents[1] / "claims" / "library"
FILES = sorted(LIBRARY.rglob("*.claim.yaml"))


def program(name: str) -> ModuleType:
    """The train.py of a folder, as a module."""
    spec = importlib.util.spec_from_file_location(f"library_{name}", LIBRARY / name / "train.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_at_least_ten_claims() -> None:
    assert len(FILES) >= 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_a_claim_loads_and_says_that_it_is_not_the_papers_experiment(path: Path) -> None:
    """Its runs are those of the program beside it, and it needs no consent."""
    (claim,) = load_claims([path], None)
    assert (claim.id, claim.scale) == (path.name.removesuffix(".claim.yaml"), "quick")
    assert claim.notice.startswith("This is not the paper's experiment")
    trainings = [planned.run.training for planned in claim.runs()]
    assert {getattr(each, "folder", "") for each in trainings} == {str(path.parent)}
    assert [code_of(each) for each in trainings] == [{}] * len(trainings)


def test_all_of_them_are_planned(tmp_path: Path) -> None:
    """Together, as a folder; what two claims share is run once."""
    claims = load_claims([LIBRARY], None)
    planned = plan_runs(claims, RunStore(tmp_path))
    assert len(claims) == len(FILES)
    assert len(planned.missing) < sum(len(list(claim.runs())) for claim in claims)


@pytest.mark.slow
def test_a_claim_of_the_library_is_verified_without_consent(tmp_path: Path) -> None:
    places = ["--store", str(tmp_path / "store"), "--reports", str(tmp_path / "reports")]
    ended = repro("verify", LIBRARY / "attention_rank", *places, "--device", "cpu")
    found = json.loads((tmp_path / "reports/attention_rank/quick/report.json").read_text())
    assert ended.returncode == 0, ended.stderr
    assert found["verdict"]["conclusion"] == "CONFIRMED"


@pytest.mark.parametrize(("rows", "columns"), [(12, 40), (40, 12)])
def test_least_squares_are_those_of_least_norm(rows: int, columns: int) -> None:
    """By the closed forms: A'(AA')^-1 y where there are many features, (A'A)^-1 A'y where few."""
    random = np.random.default_rng(0)
    features, targets = random.standard_normal((rows, columns)), random.standard_normal((rows, 3))
    if columns > rows:
        exact = features.T @ np.linalg.solve(features @ features.T, targets)
    else:
        exact = np.linalg.solve(features.T @ features, features.T @ targets)
    np.testing.assert_allclose(
        program("double_descent").least_norm(features, targets), exact, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("size", [2, 3])
def test_without_biases_the_unargmaxable_classes_are_those_inside_the_hull(size: int) -> None:
    """Demeter et al. (2020), by Qhull."""
    unargmaxable = program("unargmaxable").unargmaxable
    weights = np.random.default_rng(1).standard_normal((30, size))
    corners = set(ConvexHull(weights).vertices)
    biases = np.zeros(30)
    found = {chosen for chosen in range(30) if not unargmaxable(weights, biases, chosen)}
    assert found == corners


def test_with_one_feature_the_argmaxable_classes_are_the_upper_envelope_of_lines() -> None:
    unargmaxable = program("unargmaxable").unargmaxable
    random = np.random.default_rng(2)
    weights, biases = random.standard_normal((8, 1)), random.standard_normal(8)
    inputs = np.linspace(-1e3, 1e3, 2_000_001)
    leaders = set(np.unique((weights * inputs + biases[:, None]).argmax(axis=0)))
    assert {c for c in range(8) if not unargmaxable(weights, biases, c)} == leaders


@pytest.mark.parametrize("amsgrad", [False, True])
def test_with_one_slope_the_steps_have_a_closed_form(
    amsgrad: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """m_t = (1 - b1^t) g and v_t = (1 - b2^t) g^2, and v grows, so that both do the same."""
    module = program("amsgrad")
    monkeypatch.setattr(module, "slopes", lambda random, steps: np.full(steps, 3.0))
    monkeypatch.setattr(module, "RATE", 0.001)
    step = np.arange(1, 101)
    moves = 0.001 / np.sqrt(step) * (1 - 0.9**step) / np.sqrt(1 - 0.99**step)
    expected = 1 - moves.cumsum()[-10:].mean()
    assert module.distance(0, amsgrad=amsgrad, steps=100) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("amsgrad", [False, True])
def test_chunks_are_the_steps_of_the_paper_one_by_one(
    amsgrad: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its algorithm 2, in a loop, clipped to the feasible set; no chunk begins again."""
    module = program("amsgrad")
    monkeypatch.setattr(module, "AT_ONCE", 7)
    random, steps = np.random.default_rng(5), 1000
    gradients = np.concatenate(
        [module.slopes(random, min(7, steps - start)) for start in range(0, steps, 7)]
    )
    x = mean = square = largest = 0.0
    visited = []
    for step, gradient in enumerate(gradients, start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        largest = max(largest, square) if amsgrad else square
        x = float(np.clip(x - module.RATE / step**0.5 * mean / largest**0.5, -1, 1))
        visited.append(x)
    expected = 1 + np.mean(visited[-100:])
    assert module.distance(5, amsgrad=amsgrad, steps=steps) == pytest.approx(expected, rel=1e-9)


def test_amsgrad_remembers_the_largest_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """After one large slope its steps are shorter than Adam's."""
    module = program("amsgrad")
    monkeypatch.setattr(module, "RATE", 0.001)
    slopes = np.array([10.0, *[-0.01] * 400])
    monkeypatch.setattr(module, "slopes", lambda random, steps: slopes)
    ends = [module.distance(0, amsgrad=amsgrad, steps=401) for amsgrad in (False, True)]
    assert ends[0] > ends[1] + 1e-4


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("adam_against_sgd", ["--optimiser", "sgd", "--rate", "0.1"]),
        ("random_labels", ["--labels", "true"]),
    ],
)
def test_every_epoch_has_batches_of_its_own(
    name: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A generator that is a number would begin again at every call of `partial_fit`."""
    perceptrons = importlib.import_module("sklearn.neural_network._multilayer_perceptron")
    orders: list[tuple[int, ...]] = []
    shuffle = perceptrons.shuffle

    def watched(*arrays: np.ndarray, **given: object) -> np.ndarray:
        orders.append(tuple(shuffle(*arrays, **given)))
        return np.array(orders[-1])

    monkeypatch.setattr(perceptrons, "shuffle", watched)
    arguments = ["train.py", "--seed", "0", *arguments, "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    program(name).main()
    assert len(orders) >= 60
    assert len(set(orders)) == len(orders)


def test_no_training_of_split_noise_is_in_two_replicates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither within an arm nor across both, which are independent."""
    module = program("split_noise")
    trained: list[tuple[int, int]] = []

    def watched(split: int, seed: int) -> float:
        trained.append((split, seed))
        return 0.0

    monkeypatch.setattr(module, "test_error", watched)
    for varied in ("split", "seed"):
        for seed in range(8):
            given = f"train.py --seed {seed} --varied {varied} --out {tmp_path}"
            monkeypatch.setattr(sys, "argv", given.split())
            module.main()
    assert len(trained) == 128
    splits = [{split for split, _ in trained[at : at + 8]} for at in range(0, 128, 8)]
    seeds = [{seed for _, seed in trained[at : at + 8]} for at in range(0, 128, 8)]
    for numbers in (splits, seeds):
        assert sum(map(len, numbers)) == len(set.union(*numbers))
    assert [len(each) for each in splits] == [8] * 8 + [1] * 8
    assert [len(each) for each in seeds] == [1] * 8 + [8] * 8


def test_no_run_of_batch_norm_shares_its_randomness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither within an arm nor across both, which are independent."""
    module = program("batch_norm")
    numbers: list[int] = []
    monkeypatch.setattr(module, "BUDGET", 0)
    monkeypatch.setattr(module.torch, "manual_seed", numbers.append)
    for flag in ("", "--normalised"):
        for seed in range(8):
            given = f"train.py --seed {seed} {flag} --rate 0.1 --out {tmp_path}"
            monkeypatch.setattr(sys, "argv", given.split())
            module.main()
    assert len(set(numbers)) == 16


def test_layers_of_other_sizes_are_drawn_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer with more features does not begin with the numbers of a smaller one."""
    module = program("unargmaxable")
    drawn: list[float] = []

    def watched(weights: np.ndarray, biases: np.ndarray, chosen: int) -> bool:
        drawn.append(float(weights[0, 0]))
        return False

    monkeypatch.setattr(module, "unargmaxable", watched)
    for size in (2, 4):
        module.share(0, size, classes=1)
    assert drawn[0] != drawn[1]


def test_the_distance_from_rank_one() -> None:
    """By the deviations from the mean token; a matrix of equal rows has none."""
    residual = program("attention_rank").residual
    x = np.array([[1.0, 2.0], [3.0, 2.0]])
    assert residual(x) == pytest.approx(np.sqrt(2 / 18))
    assert residual(np.ones((4, 3))) == 0.0


def test_smoothed_digits_are_those_of_torch() -> None:
    import torch
    from torch.nn.functional import cross_entropy

    scores, digits = torch.randn(6, 10, dtype=torch.float64), torch.arange(6)
    found = cross_entropy(scores, program("regularisers").soft(digits, 0.1).double())
    torch.testing.assert_close(found, cross_entropy(scores, digits, label_smoothing=0.1))


def test_a_round_of_pruning_leaves_four_fifths_of_the_largest_weights() -> None:
    """Of those that the round before has left; what is left out gives nothing to the sum."""
    import torch

    layer = program("lottery_ticket").Masked(50, 40)
    left = torch.ones(40, 50)
    for remaining in (1600, 1280):
        layer.prune()
        sizes = layer.weight.abs()
        assert layer.mask.sum() == remaining
        assert (layer.mask <= left).all()
        assert sizes[layer.mask > 0].min() > sizes[(left > 0) & (layer.mask == 0)].max()
        left = layer.mask
    sparse = torch.where(layer.mask > 0, layer.weight, 0.0)
    torch.testing.assert_close(layer(torch.eye(50)), sparse.T + layer.bias)


def test_weights_that_are_left_out_do_not_move() -> None:
    """So a network is trained with what is left alone."""
    import torch

    module = program("lottery_ticket")
    layer = module.Masked(50, 10)
    layer.prune()
    before = layer.weight.detach().clone()
    module.train(torch.nn.Sequential(layer), torch.randn(100, 50), torch.arange(100) % 10)
    moved = layer.weight != before
    assert not moved[layer.mask == 0].any()
    assert moved[layer.mask > 0].all()


def test_programs_are_short() -> None:
    """Sixty lines at most, so that a reader has them before his eyes."""
    lengths = {
        path.parent.name: len(path.read_text(encoding="utf-8").splitlines())
        for path in LIBRARY.glob("*/train.py")
    }
    assert {name: length for name, length in lengths.items() if length > 60} == {}
