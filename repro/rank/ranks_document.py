"""What `repro rank` says of a matrix, as one JSON object: Press's rank first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from repro.rank.matrix_rank import Ranks
from repro.rank.noise import UnderNoise
from repro.rank.rounded import eps_of
from repro.rank.spectrum import (
    Spectrum,
    cumulative_share,
    curve_tolerances,
    effective_rank,
    entropy_rank,
    numpy_threshold,
    share_places,
    stable_rank,
)


def document_of(found: Ranks, epsilons: Sequence[float]) -> dict[str, Any]:
    """All that is found; what needs a spectrum is left out without one, or without ``epsilons``."""
    reduced = found.reduced
    document: dict[str, Any] = {
        "press": found.press,
        "rows": reduced.rows,
        "columns": reduced.columns,
        "precision": found.precision,
        "reduction": reduced.reduction,
        "largest_singular_value": reduced.sigma_1,
        "threshold": found.threshold,
        "tenfold": found.tenfold,
        "numpy": found.numpy,
        "numpy_threshold": numpy_threshold(reduced.rows, reduced.columns, eps_of(found.precision)),
        "at": {f"{threshold:g}": count for threshold, count in found.at.items()},
        "control": {"expected": found.expected, "measured": found.control},
    }
    if found.bound is not None:
        document["empirical"] = {"bound": found.bound, "rank": found.empirical}
    if epsilons and (values := reduced.spectrum) is not None:
        known = map(float, curve_tolerances(found.threshold, reduced.least))
        tolerances = [t for t in known if reduced.certain([t])]
        places, shares = share_places(len(values)), cumulative_share(values)
        document |= {
            "tenth": found.tenth,
            **without_threshold(values, epsilons),
            "curve": {"tolerances": tolerances, "ranks": reduced.ranks(tolerances)},
            "cumulative": {
                "first": places.tolist(),
                "share": [float(shares[k - 1]) for k in places],
            },
        }
    return document


def without_threshold(values: Spectrum, epsilons: Sequence[float]) -> dict[str, Any]:
    """The ranks of a spectrum that no threshold on its singular values decides."""
    return {
        "effective": {f"{epsilon:g}": effective_rank(values, epsilon) for epsilon in epsilons},
        "stable": stable_rank(values),
        "entropy": entropy_rank(values),
    }


def with_noise_of(under: UnderNoise) -> dict[str, Any]:
    """Ranks with noise, and how much each changes by it."""
    before = under.effective_before
    return {
        "deviation": under.deviation,
        "press": under.press,
        "press_change": under.press - under.press_before,
        "effective": {f"{e:g}": rank for e, rank in under.effective.items()},
        "effective_change": {f"{e:g}": rank - before[e] for e, rank in under.effective.items()},
    }
