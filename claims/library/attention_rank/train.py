"""How nearly alike the tokens are behind layers of attention at their initialisation."""

import argparse
import json
from pathlib import Path

import numpy as np

TOKENS, SIZE, HEADS = 32, 64, 4


def softmax(scores: np.ndarray) -> np.ndarray:
    """Rows that sum to 1."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attention(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """One layer of heads, whose weights are drawn from N(0, 1 / SIZE)."""
    mixed = np.zeros_like(x)
    for _ in range(HEADS):
        query, key, value = random.standard_normal((3, SIZE, SIZE // HEADS)) / SIZE**0.5
        output = random.standard_normal((SIZE // HEADS, SIZE)) / (SIZE // HEADS) ** 0.5
        weights = softmax((x @ query) @ (x @ key).T / (SIZE // HEADS) ** 0.5)
        mixed += weights @ (x @ value) @ output
    return mixed


def perceptron(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A hidden layer of 4 x SIZE ReLU units, each token by itself."""
    hidden = random.standard_normal((SIZE, 4 * SIZE)) * (2 / SIZE) ** 0.5
    output = random.standard_normal((4 * SIZE, SIZE)) / (4 * SIZE) ** 0.5
    return np.maximum(x @ hidden, 0) @ output


def residual(x: np.ndarray) -> float:
    """The norm of what is left of x without the mean of its tokens, as a share of its norm."""
    return float(np.linalg.norm(x - x.mean(axis=0)) / np.linalg.norm(x))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--layers", type=int, required=True)
    parser.add_argument("--skip", action="store_true")
    parser.add_argument("--mlp", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    random = np.random.default_rng(given.seed)
    x = random.standard_normal((TOKENS, SIZE))
    for _ in range(given.layers):
        x = attention(x, random) + given.skip * x
        if given.mlp:
            x = perceptron(x, random) + given.skip * x
    (given.out / "results.json").write_text(json.dumps({"residual": residual(x)}))


if __name__ == "__main__":
    main()
