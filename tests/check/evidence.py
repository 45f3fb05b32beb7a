"""Evidence made by hand, for claims that are shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from repro.evidence import Evidence, Replicate, State
from repro.specs.claim import Claim, ScaleName
from repro.specs.load import load_claim
from repro.specs.measurement import Rank

CLAIMS = Path(__file__).parents[2] / "claims"
Values = Mapping[str, Mapping[str, Sequence[float]]]
"""arm -> measurement -> one value a replicate."""


def claim(name: str, scale: ScaleName = "quick", **changes: object) -> Claim:
    """A shipped claim, with some of its fields changed."""
    return load_claim(CLAIMS / f"{name}.yaml", scale).model_copy(update=changes)


def rank_details(value: float, tenth: float, tenfold: float, known: int = 34) -> dict[str, object]:
    """What a rank measurement says beside its value."""
    return {
        "rows": 40_000,
        "columns": 1_000,
        "relative_threshold": 1.2e-5,
        "tenth": int(tenth),
        "tenfold": int(tenfold),
        "tolerances": [1e-6, 1e-5, 1e-4],
        "curve": [int(tenth), int(value), int(tenfold)],
        "known_rank": {"expected": 34, "measured": known},
    }


def evidence(
    of: Claim,
    values: Values,
    *,
    tenfold: float = 1.0,
    known: int = 34,
    states: Mapping[tuple[str, int], State] | None = None,
) -> Evidence:
    """Evidence with these values; ``tenfold`` scales ranks above the structural bound only."""
    return Evidence(
        {
            arm: tuple(
                _replicate(of, arm, number, values[arm], tenfold, known, (states or {}))
                for number in range(of.seeds.plan)
            )
            for arm in of.arms
        }
    )


def _replicate(
    of: Claim,
    arm: str,
    number: int,
    values: Mapping[str, Sequence[float]],
    tenfold: float,
    known: int,
    states: Mapping[tuple[str, int], State],
) -> Replicate:
    key, state = of.run(arm, number).key, states.get((arm, number), "finished")
    if state != "finished":
        return Replicate(number, key, state, {}, {}, {}, "record.json: damaged")
    own = {name: float(column[number]) for name, column in values.items()}
    bound = of.arms[arm].rank_bound
    details = {
        name: rank_details(value, value, value if bound else value * tenfold, known)
        for name, value in own.items()
        if isinstance(of.measurements[name], Rank)
    }
    return Replicate(number, key, state, own, details, {"training": {"seconds": 2.0}})


def ranks(mos: Sequence[float], moc: float = 34, softmax: float = 34) -> Values:
    """Ranks of the three arms; the low-rank arms are constant."""
    n = len(mos)
    perplexity = [100.0 + i for i in range(n)]
    return {
        "mos": {"rank": mos, "test_perplexity": perplexity},
        "moc": {"rank": [moc] * n, "test_perplexity": perplexity},
        "softmax": {"rank": [softmax] * n, "test_perplexity": perplexity},
    }
