"""Least squares of least norm on random ReLU features of digits, some of them mislabelled."""

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

TRAINING_IMAGES = 400
WRONG_LABELS = 0.1


def least_norm(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The weights of least norm among those with the least squared error."""
    return np.linalg.lstsq(features, targets, rcond=None)[0]


def test_error(seed: int, width: int) -> float:
    """Per cent of the test images that are taken for another digit."""
    random = np.random.default_rng(seed)
    images, digits = load_digits(return_X_y=True)
    images = images / 8 - 1
    order = random.permutation(len(images))
    train, test = order[:TRAINING_IMAGES], order[TRAINING_IMAGES:]
    labels = digits[train].copy()
    wrong = random.random(TRAINING_IMAGES) < WRONG_LABELS
    labels[wrong] = random.integers(0, 10, wrong.sum())
    hidden = random.standard_normal((width, images.shape[1])).T / 8
    weights = least_norm(np.maximum(images[train] @ hidden, 0), np.eye(10)[labels])
    found = (np.maximum(images[test] @ hidden, 0) @ weights).argmax(axis=1)
    return 100 * float((found != digits[test]).mean())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    found = {"test_error": test_error(given.seed, given.width)}
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
