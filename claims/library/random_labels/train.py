"""A network learns handwritten digits by their labels, or by labels that are shuffled at random."""

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

TRAINING_IMAGES = 1000


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--labels", choices=["true", "shuffled"], required=True)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def main() -> None:
    given = parse()
    random = np.random.default_rng(given.seed)
    images, digits = load_digits(return_X_y=True)
    order = random.permutation(len(images))
    train, test = order[:TRAINING_IMAGES], order[TRAINING_IMAGES:]
    images = images / 8 - 1
    labels = digits[train] if given.labels == "true" else random.permutation(digits[train])
    batches = np.random.RandomState(given.seed)  # a number would repeat those of the first epoch
    network = MLPClassifier((512, 512), alpha=0, batch_size=64, random_state=batches)
    for _ in range(80):
        network.partial_fit(images[train], labels, classes=np.arange(10))
    found = {
        "train_accuracy": 100 * network.score(images[train], labels),
        "test_accuracy": 100 * network.score(images[test], digits[test]),
    }
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
