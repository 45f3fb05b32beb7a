"""Addition modulo 31 is learnt by heart soon, and understood, if at all, long after."""

import argparse
import json
from pathlib import Path

import torch
from torch import nn

MODULUS, UNITS, BUDGET, EVERY = 31, 256, 4000, 10


def perceptron() -> nn.Sequential:
    """Two numbers, a hidden layer of ReLU units, a score for each of their possible sums."""
    weights = torch.randn(2 * MODULUS, UNITS) / 8
    hidden = nn.EmbeddingBag(2 * MODULUS, UNITS, _weight=weights, mode="sum")
    return nn.Sequential(hidden, nn.ReLU(), nn.Linear(UNITS, MODULUS, bias=False))


def accuracy(network: nn.Module, pairs: torch.Tensor) -> float:
    """Per cent of the pairs whose sum has the highest score."""
    with torch.no_grad():
        right = network(pairs).argmax(1) == pairs.sum(1) % MODULUS
    return 100 * right.float().mean().item()


def steps_needed(seed: int, decay: float) -> tuple[int, int]:
    """The steps to 99 % of the training pairs and to 95 % of the others, or the whole budget."""
    torch.manual_seed(seed)
    pairs = torch.cartesian_prod(torch.arange(MODULUS), torch.arange(MODULUS, 2 * MODULUS))
    train, test = pairs[torch.randperm(len(pairs))].chunk(2)
    network = perceptron()
    optimiser = torch.optim.AdamW(network.parameters(), 1e-2, betas=(0.9, 0.98), weight_decay=decay)
    fitted = BUDGET
    for step in range(1, BUDGET + 1):
        loss = nn.functional.cross_entropy(network(train), train.sum(1) % MODULUS)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % EVERY == 0:
            if accuracy(network, train) >= 99:
                fitted = min(fitted, step)
            if accuracy(network, test) >= 95:
                return fitted, step
    return fitted, BUDGET


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--decay", type=float, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    fitted, grokked = steps_needed(given.seed, given.decay)
    found = {"steps_to_fit": fitted, "steps_to_generalise": grokked, "delay": grokked / fitted}
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
