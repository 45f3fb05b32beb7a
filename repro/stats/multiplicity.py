"""Several tests, one conclusion: p-values and e-values adjusted for their number."""

from __future__ import annotations

import math
from collections.abc import Sequence

from repro.errors import ClaimError


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's adjusted p-values, in the order given.

    Comparing each with alpha keeps the chance of any false rejection in the family at or
    below alpha, however the tests depend on each other. ``ClaimError`` for a number that is
    no probability. Holm 1979; statistics.md 1.6. The same as ``multipletests`` of statsmodels,
    which collects garbage at every call (0.1 s) and takes most of a second to import.
    """
    _check_probabilities(p_values)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = largest
    return tuple(adjusted)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Benjamini and Hochberg's adjusted p-values, in the order given.

    Comparing each with alpha keeps the expected share of false ones among the rejections at or
    below alpha where the tests are independent or positively dependent (a shared baseline).
    ``ClaimError`` as ``holm``. Benjamini & Hochberg 1995; statistics.md 1.6. The same bits as
    ``false_discovery_control`` of scipy.stats, whose import takes as long as a whole audit.
    """
    _check_probabilities(p_values)
    adjusted, least, count = [0.0] * len(p_values), 1.0, len(p_values)
    order = sorted(range(count), key=p_values.__getitem__)
    for place, index in zip(range(count, 0, -1), reversed(order), strict=True):
        least = min(least, p_values[index] * (count / place))
        adjusted[index] = least
    return tuple(adjusted)


def adjusted_e_values(e_values: Sequence[float]) -> tuple[float, ...]:
    """The e-values that e-BH compares with ``1 / alpha``, in the order given.

    For each, the largest ``k e_(k) / m`` over the places k at or below its own in descending
    order. Infinite e-values are certain. ``ClaimError`` for one that is negative or not a
    number.
    """
    for value in e_values:
        if math.isnan(value) or value < 0:
            raise ClaimError(f"an e-value is at least 0, not {value}")
    m = len(e_values)
    adjusted, largest = [0.0] * m, 0.0
    order = sorted(range(m), key=e_values.__getitem__)
    for k, index in zip(range(m, 0, -1), order, strict=True):
        largest = max(largest, k * e_values[index] / m)
        adjusted[index] = largest
    return tuple(adjusted)


def _check_probabilities(p_values: Sequence[float]) -> None:
    for p in p_values:
        if not 0 <= p <= 1:
            raise ClaimError(f"a p-value lies between 0 and 1, not {p}")
