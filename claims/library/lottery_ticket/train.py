"""A sparse network inside a dense one, trained alone, from its own first weights or others."""

import argparse
import json
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn

ROUNDS, PRUNED, EPOCHS, TRAINING_IMAGES = 12, 0.2, 15, 1000
Masks = list[torch.Tensor]


def matrices(network: nn.Sequential) -> list[nn.Parameter]:
    return [layer.weight for layer in network if isinstance(layer, nn.Linear)]


def train(network: nn.Sequential, masks: Masks, images: torch.Tensor, digits: torch.Tensor) -> None:
    """Adam on batches of 50; what the masks leave out is and stays zero."""
    optimiser = torch.optim.Adam(network.parameters(), 1.2e-3)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(50):
            optimiser.zero_grad()
            nn.functional.cross_entropy(network(images[batch]), digits[batch]).backward()
            optimiser.step()
            apply(network, masks)


def apply(network: nn.Sequential, masks: Masks) -> None:
    with torch.no_grad():
        for weights, mask in zip(matrices(network), masks, strict=True):
            weights.mul_(mask)


def pruned(network: nn.Sequential, masks: Masks) -> Masks:
    """The masks without a fifth of what they had left in each layer, the smallest weights."""
    limits = [
        weights.detach().abs()[mask > 0].quantile(PRUNED)
        for weights, mask in zip(matrices(network), masks, strict=True)
    ]
    sizes = [weights.detach().abs() for weights in matrices(network)]
    return [mask * (size > limit) for mask, size, limit in zip(masks, sizes, limits, strict=True)]


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
    layers = [nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 10)]
    network = nn.Sequential(*layers)
    first = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    masks = [torch.ones_like(weights) for weights in matrices(network)]
    train(network, masks, images[seen], digits[seen])
    for _ in range(ROUNDS if given.network != "dense" else 0):
        masks = pruned(network, masks)
        network.load_state_dict(first)
        apply(network, masks)
        train(network, masks, images[seen], digits[seen])
    if given.network == "redrawn":
        for layer in layers[::2]:
            layer.reset_parameters()
        apply(network, masks)
        train(network, masks, images[seen], digits[seen])
    wrong = network(images[new]).argmax(1) != digits[new]
    left = sum(mask.sum().item() for mask in masks) / sum(mask.numel() for mask in masks)
    found = {"test_error": 100 * wrong.float().mean().item(), "weights_left": 100 * left}
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
