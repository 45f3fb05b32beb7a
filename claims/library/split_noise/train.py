"""How much the test error scatters over trainings that differ in their split or in their seed."""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

TRAINING_IMAGES, EPOCHS, TRAININGS = 500, 30, 8


def test_error(split: int, seed: int) -> float:
    """Per cent of the test images that are taken for another digit."""
    images, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(split).permutation(len(images))
    train, test = order[:TRAINING_IMAGES], order[TRAINING_IMAGES:]
    network = MLPClassifier(
        (128, 128), alpha=0, batch_size=50, max_iter=EPOCHS, tol=0, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(images[train] / 8 - 1, digits[train])
    return 100 * (1 - float(network.score(images[test] / 8 - 1, digits[test])))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--varied", choices=["split", "seed"], required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    fixed = 2 * given.seed + (given.varied == "seed")  # no number is in two replicates
    numbers = range(1000 + fixed * TRAININGS, 1000 + (fixed + 1) * TRAININGS)
    if given.varied == "split":
        errors = [test_error(number, fixed) for number in numbers]
    else:
        errors = [test_error(fixed, number) for number in numbers]
    found = {"scatter": float(np.std(errors, ddof=1)), "mean_error": float(np.mean(errors))}
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
