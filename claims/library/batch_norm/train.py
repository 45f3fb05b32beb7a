"""The steps that a deep perceptron needs to learn digits, with batch normalisation or without."""

import argparse
import json
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn

TRAINING_IMAGES, BATCH, LAYERS, UNITS = 1000, 50, 6, 64
BUDGET, TARGET, EVERY = 600, 90.0, 5


def deep(*, normalised: bool) -> nn.Sequential:
    """Six hidden layers of 64 ReLU units."""
    layers: list[nn.Module] = []
    for _ in range(LAYERS):
        layers += [nn.Linear(64, UNITS), *([nn.BatchNorm1d(UNITS)] * normalised), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(UNITS, 10))


def accuracy(network: nn.Module, images: torch.Tensor, digits: torch.Tensor) -> float:
    network.eval()
    with torch.no_grad():
        right = network(images).argmax(1) == digits
    network.train()
    return 100 * right.float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--normalised", action="store_true")
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    torch.manual_seed(2 * given.seed + given.normalised)  # the arms share nothing
    pixels, labels = load_digits(return_X_y=True)
    images, digits = torch.tensor(pixels / 8 - 1, dtype=torch.float32), torch.tensor(labels)
    seen, new = torch.randperm(len(images)).split([TRAINING_IMAGES, len(images) - TRAINING_IMAGES])
    network = deep(normalised=given.normalised)
    optimiser = torch.optim.SGD(network.parameters(), given.rate)
    step, reached = 0, False
    while step < BUDGET and not reached:
        batch = seen[torch.randint(len(seen), (BATCH,))]
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(images[batch]), digits[batch]).backward()
        optimiser.step()
        step += 1
        reached = step % EVERY == 0 and accuracy(network, images[new], digits[new]) >= TARGET
    found = {"steps": step, "reached": float(reached)}
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
