"""Evidence made by hand, for three claims on ranks and perplexities, and what is judged of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repro.evidence.evidence import Evidence, Replicate, State
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.exit_status import exit_code, verdict_of
from repro.specs.claim import Claim, ScaleName
from repro.specs.load import load_claim
from repro.trainers.language_model.measurements.rank import Rank

CLAIMS = Path(__file__).parents[1] / "claims"
Values = Mapping[str, Mapping[str, Sequence[float]]]
"""arm -> measurement -> one value a replicate."""

HIGH = (797.0, 830.0, 795.0, 798.0, 791.0)
"""Ranks of MoS far above those of the other arms."""

PLIF = (90.0, 90.4, 89.8, 90.2, 90.1)


def claim(name: str, scale: ScaleName = "quick", **changes: object) -> Claim:
    """A claim of tests/claims, with some of its fields changed."""
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
    bound = of.arms[arm].bound
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
        "moc": {"rank": [moc] * n, "test_perplexity": in_turn(perplexity, 1, 0.1)},
        "softmax": {"rank": [softmax] * n, "test_perplexity": in_turn(perplexity, 2, 0.2)},
    }


def in_turn(values: Sequence[float], places: int, shift: float) -> list[float]:
    """The values of another arm: each five in another order, all moved by ``shift``.

    Arms that are the same numbers, or that follow each other by seed, are odd.
    """
    fives = [values[start : start + 5] for start in range(0, len(values), 5)]
    turned = [x for five in fives for x in (*five[places:], *five[:places])]
    return [x + shift for x in turned]


def fair(shift: float, base: float = 56.4, scatter: float = 0.1) -> Values:
    """MoS lower than Softmax by ``shift``."""
    noise = (0.0, 1.0, -1.0, 0.5, -0.5, 0.8, -0.8, 0.2, -0.2, 0.1)
    softmax = [base + scatter * x for x in noise]
    return {
        "mos": {"test_perplexity": in_turn(softmax, 1, 1e-4 - shift)},
        "softmax": {"test_perplexity": softmax},
    }


def plif(frozen: float, softmax: float, train_softmax: float) -> Values:
    """LMS-PLIF near 90 on test and train, the other arms shifted by these amounts."""

    def arm(places: int, shift: float, train: float) -> dict[str, list[float]]:
        test = in_turn(PLIF, places, shift)
        fit = in_turn(PLIF, places, train)
        return {
            "test_perplexity": test,
            "train_perplexity": fit,
            "train_perplexity_while_training": fit,
        }

    return {
        "plif": arm(0, 0, 0),
        "frozen": arm(1, frozen + 0.001, 0.001),
        "softmax": arm(2, softmax + 0.002, train_softmax + 0.002),
    }


def judged(of: Claim, values: Values, **how: Any) -> Document:
    """The document of a claim on values."""
    return check_claim(of, evidence(of, values, **how), command="repro verify x")


def code(document: Document) -> int:
    """The exit status for one document."""
    return exit_code([verdict_of(document)])
