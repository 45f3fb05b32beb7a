"""A perceptron learns handwritten digits by Adam, or by SGD with momentum."""

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

TRAINING_IMAGES, EPOCHS = 500, 60


def network(seed: int, optimiser: str, rate: float) -> MLPClassifier:
    """Two hidden layers of 256 ReLU units, without weight decay."""
    return MLPClassifier(
        (256, 256),
        solver=optimiser,
        learning_rate_init=rate,
        momentum=0.9,
        nesterovs_momentum=False,
        alpha=0,
        batch_size=50,
        random_state=np.random.RandomState(seed),  # a number would repeat the batches of epoch 1
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--optimiser", choices=["adam", "sgd"], required=True)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    images, digits = load_digits(return_X_y=True)
    images = images / 8 - 1
    order = np.random.default_rng(given.seed).permutation(len(images))
    train, test = order[:TRAINING_IMAGES], order[TRAINING_IMAGES:]
    learner = network(given.seed, given.optimiser, given.rate)
    for _ in range(EPOCHS):
        learner.partial_fit(images[train], digits[train], classes=np.arange(10))
    found = {
        "test_error": 100 * (1 - learner.score(images[test], digits[test])),
        "train_loss": float(learner.loss_),
    }
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
