"""A sparse network inside a dense one, trained alone, from its own first weights or others."""

import argparse
import json
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn

ROUNDS, PRUNED, EPOCHS, TRAINING_IMAGES = 12, 0.2, 15, 1000


class Masked(nn.Linear):
    """A layer that leaves out the weights at which its mask is 0."""

    mask: torch.Tensor | float = 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(x, self.weight * self.mask, self.bias)

    def prune(self) -> None:
        """Leave out a fifth of the rest, its smallest weights."""
        sizes = (self.weight * self.mask).detach().abs()
        self.mask = (sizes > sizes[sizes > 0].quantile(PRUNED)).float()


def train(net: nn.Sequential, images: torch.Tensor, digits: torch.Tensor) -> None:
    optimiser = torch.optim.Adam(net.parameters(), 1.2e-3)
    for batch in torch.cat([torch.randperm(len(images)) for _ in range(EPOCHS)]).split(50):
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(images[batch]), digits[batch]).backward()
        optimiser.step()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--network", choices=["dense", "ticket", "redrawn"], required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    pixels, labels = load_digits(return_X_y=True)
    images, digits = torch.tensor(pixels / 8 - 1, dtype=torch.float32), torch.tensor(labels)
    seen, new = torch.randperm(len(images)).split([TRAINING_IMAGES, len(images) - TRAINING_IMAGES])
    net = nn.Sequential(Masked(64, 100), nn.ReLU(), Masked(100, 100), nn.ReLU(), Masked(100, 10))
    first = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    for _ in range(ROUNDS if given.network != "dense" else 0):
        train(net, images[seen], digits[seen])
        list(map(Masked.prune, net[::2]))
        net.load_state_dict(first)
    if given.network == "redrawn":
        list(map(Masked.reset_parameters, net[::2]))
    train(net, images[seen], digits[seen])
    wrong = (net(images[new]).argmax(1) != digits[new]).float().mean().item()
    (given.out / "results.json").write_text(json.dumps({"test_error": 100 * wrong}))


if __name__ == "__main__":
    main()
