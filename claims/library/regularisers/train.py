"""A perceptron learns handwritten digits from 200 images, plainly or with a regulariser."""

import argparse
import json
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.distributions import Beta

TRAINING_IMAGES, BATCH, EPOCHS, UNITS = 200, 50, 100, 256


def perceptron(dropout: float) -> nn.Sequential:
    """Two hidden layers of ReLU units, each of which is dropped with this probability."""
    first = [nn.Linear(64, UNITS), nn.ReLU(), nn.Dropout(dropout)]
    second = [nn.Linear(UNITS, UNITS), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*first, *second, nn.Linear(UNITS, 10))


def soft(digits: torch.Tensor, smoothing: float) -> torch.Tensor:
    """The digits as probabilities, of which a share is spread evenly over all ten."""
    return nn.functional.one_hot(digits, 10) * (1 - smoothing) + smoothing / 10


def mixed(pairs: list[torch.Tensor], alpha: float) -> list[torch.Tensor]:
    """Images and targets, each mixed with another of the batch; the share is from Beta(a, a)."""
    share, other = Beta(alpha, alpha).sample(), torch.randperm(len(pairs[0]))
    return [share * each + (1 - share) * each[other] for each in pairs]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    for regulariser in ("--dropout", "--smoothing", "--mixup"):
        parser.add_argument(regulariser, type=float, default=0.0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    pixels, labels = load_digits(return_X_y=True)
    images, digits = torch.tensor(pixels / 8 - 1, dtype=torch.float32), torch.tensor(labels)
    seen, new = torch.randperm(len(images)).split([TRAINING_IMAGES, len(images) - TRAINING_IMAGES])
    network = perceptron(given.dropout)
    optimiser = torch.optim.SGD(network.parameters(), 0.1, momentum=0.9)
    for _ in range(EPOCHS):
        for batch in seen[torch.randperm(TRAINING_IMAGES)].split(BATCH):
            inputs, targets = images[batch], soft(digits[batch], given.smoothing)
            if given.mixup:
                inputs, targets = mixed([inputs, targets], given.mixup)
            optimiser.zero_grad()
            nn.functional.cross_entropy(network(inputs), targets).backward()
            optimiser.step()
    network.eval()
    wrong = (network(images[new]).argmax(1) != digits[new]).float().mean().item()
    (given.out / "results.json").write_text(json.dumps({"test_error": 100 * wrong}))


if __name__ == "__main__":
    main()
