"""How the choice of an engine is told: in lines to the user, and in the provenance of a run."""

from __future__ import annotations

import pytest

from repro.execution.choice import Choice, sentences


def measured(engine: str, ratio: float, date: str = "2026-11-21") -> Choice:
    together = 5 if engine == "batched" else 1
    return Choice(engine, together, 2, ratio=ratio, date=date)  # type: ignore[arg-type]


ALONE = "processes (2 at once, one thread each)"
MANY = "(5 replicates in a model, 2 at once, one thread each)"
HERE = "measured on this machine"


@pytest.mark.parametrize(
    ("choices", "lines"),
    [
        ([], []),
        (
            [measured("processes", 1.312)],
            [f"{ALONE}: 1.31x of batched, {HERE} 2026-11-21"],
        ),
        (
            [measured("processes", 0.96)],
            [f"{ALONE}: 0.96x of batched, which is not ahead by enough, {HERE} 2026-11-21"],
        ),
        (
            [measured("batched", 1.1), measured("batched", 4.0, "2026-11-22")],
            [f"batched {MANY}: 1.10x to 4.00x of processes, {HERE} 2026-11-22"],
        ),
        (
            [measured("batched", 1.1), Choice("processes", 1, 1, "too short")],
            [
                f"batched {MANY}: 1.10x of processes, {HERE} 2026-11-21",
                "processes (1 at once): too short",
            ],
        ),
    ],
)
def test_the_choice_is_told_in_a_line(choices: list[Choice], lines: list[str]) -> None:
    """One for each engine and reason, with the range of ratios."""
    share = " for 1 of 2 configurations" if len(lines) > 1 else ""
    told = [f"engine{share}: {line}; --engine overrides" for line in lines]
    assert sentences(choices) == told


def test_the_choice_is_provenance() -> None:
    """The engine, how many were really trained together, and why."""
    assert measured("batched", 1.5).facts(4) == {
        "name": "batched",
        "together": 4,
        "at_once": 2,
        "why": "measured 2026-11-21: 1.50x of processes",
    }
