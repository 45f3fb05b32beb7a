"""Adam and AMSGrad on the stochastic problem of Reddi et al. (2018), whose optimum is x = -1."""

import argparse
import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

STEPS, AT_ONCE = 10_000_000, 100_000
RATE, BETA1, BETA2 = 0.5, 0.9, 0.99


def slopes(random: np.random.Generator, steps: int) -> np.ndarray:
    """f(x) = 1010 x once in a hundred steps, else -10 x: 0.2 x on average, over -1 <= x <= 1."""
    return np.where(random.random(steps) < 0.01, 1010.0, -10.0)


def averaged(values: np.ndarray, beta: float, before: float) -> np.ndarray:
    """The moving average after each value; it was ``before`` at first."""
    return lfilter([1 - beta], [1, -beta], values, zi=[beta * before])[0]


def moves(seed: int, *, amsgrad: bool, steps: int) -> Iterator[list[float]]:
    """What each step subtracts from x: no gradient depends on x. The rate is RATE / sqrt(t)."""
    random = np.random.default_rng(seed)
    mean = square = largest = np.zeros(1)
    for start in range(0, steps, AT_ONCE):
        gradients = slopes(random, min(AT_ONCE, steps - start))
        mean = averaged(gradients, BETA1, mean[-1])
        square = averaged(gradients**2, BETA2, square[-1])
        largest = np.maximum.accumulate(np.r_[largest[-1:], square])[1:] if amsgrad else square
        rates = RATE / np.sqrt(np.arange(start + 1, start + 1 + len(gradients)))
        yield (rates * mean / np.sqrt(largest)).tolist()


def distance(seed: int, *, amsgrad: bool, steps: int = STEPS) -> float:
    """How far x is from the optimum over the last tenth of the steps, on average, from x = 0."""
    x, last = 0.0, deque[float](maxlen=steps // 10)
    for some in moves(seed, amsgrad=amsgrad, steps=steps):
        for move in some:
            x = max(-1.0, min(1.0, x - move))
            last.append(x)
    return 1 + sum(last) / len(last)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--optimiser", choices=["adam", "amsgrad"], required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    found = {"distance": distance(given.seed, amsgrad=given.optimiser == "amsgrad")}
    (given.out / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
