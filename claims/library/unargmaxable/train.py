"""The share of the classes of a random softmax layer that no input makes the most probable."""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

CLASSES = 100


def unargmaxable(weights: np.ndarray, biases: np.ndarray, chosen: int) -> bool:
    """Whether no input h has w_c h + b_c above w_i h + b_i for every other class i.

    A linear program looks for the input whose smallest lead is largest, up to a lead of 1, within
    a box that is wide enough for every class that could lead somewhere.
    """
    others = np.arange(len(weights)) != chosen
    ahead = weights[chosen] - weights[others]
    lead = np.ones((len(ahead), 1))
    size = weights.shape[1]
    found = linprog(
        np.r_[np.zeros(size), -1.0],
        A_ub=np.c_[-ahead, lead],
        b_ub=biases[chosen] - biases[others],
        bounds=[(-1e4, 1e4)] * size + [(None, 1.0)],
    )
    return bool(-found.fun <= 1e-9)


def share(seed: int, size: int, classes: int = CLASSES) -> float:
    """Per cent of the classes of a layer whose weights and biases are drawn from N(0, 1)."""
    random = np.random.default_rng([seed, size])
    weights, biases = random.standard_normal((classes, size)), random.standard_normal(classes)
    return 100 * float(np.mean([unargmaxable(weights, biases, c) for c in range(classes)]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    found = {"unargmaxable": share(given.seed, given.size)}
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
