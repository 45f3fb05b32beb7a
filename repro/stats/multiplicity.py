"""Several tests, one conclusion: p-values adjusted for their number."""

from __future__ import annotations

from collections.abc import Sequence

from repro.errors import ClaimError


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's adjusted p-values, in the order given.

    Comparing each with alpha keeps the chance of any false rejection in the family at or
    below alpha, however the tests depend on each other. ``ClaimError`` for a number that is
    no probability. Holm 1979; METHODS.md 1.6. The same as ``multipletests`` of statsmodels,
    which collects garbage at every call (0.1 s) and takes most of a second to import.
    """
    adjusted, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if not 0 <= p_values[index] <= 1:
            raise ClaimError(f"a p-value lies between 0 and 1, not {p_values[index]}")
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = largest
    return tuple(adjusted)
