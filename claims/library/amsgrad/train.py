"""Adam and AMSGrad on the stochastic problem of Reddi et al. (2018), whose optimum is x = -1."""

import argparse
import json
from math import sqrt
from pathlib import Path
from random import Random

STEPS = 1_000_000
RATE, BETA1, BETA2 = 0.5, 0.9, 0.99


def slope(random: Random) -> float:
    """f(x) = 1010 x once in a hundred steps, else -10 x: 0.2 x on average, over -1 <= x <= 1."""
    return 1010.0 if random.random() < 0.01 else -10.0


def descend(seed: int, *, amsgrad: bool, steps: int = STEPS) -> float:
    """Where x is after the last step, from x = 0; the rate of step t is RATE / sqrt(t)."""
    random = Random(seed)
    x = mean = square = largest = 0.0
    for step in range(1, steps + 1):
        gradient = slope(random)
        mean += (1 - BETA1) * (gradient - mean)
        square += (1 - BETA2) * (gradient * gradient - square)
        largest = max(largest, square) if amsgrad else square
        x -= RATE / sqrt(step) * mean / sqrt(largest)
        x = max(-1.0, min(1.0, x))
    return x


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--optimiser", choices=["adam", "amsgrad"], required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    found = {"distance": 1 + descend(given.seed, amsgrad=given.optimiser == "amsgrad")}
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
