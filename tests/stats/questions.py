"""The questions of sequential tests, the looks at them, and samples to ask them of."""

from __future__ import annotations

import numpy as np

from repro.stats.records import Sample
from repro.stats.stopping import difference, equivalence, non_inferiority, non_superiority

SEED = 1908
LOOKS = range(3, 21)
QUESTIONS = {
    "higher": difference("higher"),
    "lower": difference("lower"),
    "different": difference("different"),
    "smallest effect": difference("higher", smallest_effect=0.4),
    "equivalence": equivalence(-1.5, 1.5),
    "non-superiority": non_superiority(1.5, "higher"),
    "non-inferiority": non_inferiority(0.5, "higher"),
}


def arms(effect: float, n: int = 20, seed: int = SEED) -> tuple[Sample, Sample]:
    """Two normal samples whose means differ by ``effect`` standard deviations."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(effect, 1, n), rng.normal(0, 1, n)
    return Sample.of(*map(float, a)), Sample.of(*map(float, b))
