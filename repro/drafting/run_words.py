"""The names by which fields of runs are known, and how a message names some of them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from repro.errors import ClaimError
from repro.evidence.readings import short

ARMS = (
    *("arm", "group", "method", "variant", "treatment", "condition", "algorithm", "algo"),
    *("optimizer", "model", "model_name", "name"),
)
"""Names of fields that tell arms apart, the surest first."""

SEEDS = ("seed", "random_seed", "random_state", "rng_seed")

TASKS = ("task", "dataset", "data_set", "env", "environment", "game", "benchmark", "domain")
"""Names of fields that say on what a run was made: runs on several are no replicates."""

STATE = ("state", "status")
"""Names of fields that say how a run ended."""

COUNTERS = frozenset(
    {*SEEDS, "step", "global_step", "epoch", "iteration", "iter", "index", "id", "run", "rank"}
    | {"_step", "_runtime", "_timestamp", "runtime", "created", "timestamp", "time"}
)
"""Numbers of a run that nobody compares."""

NAMED = 10
"""So many fields or values are named in a message."""


def refused(path: Path, mistake: str, expected: str, advice: str) -> ClaimError:
    """The error of results that cannot be read: what is wrong, what was expected, what to do."""
    return ClaimError(f"{path}: {mistake}\n  expected: {expected}\n  to do: {advice}")


def named(names: Collection[str]) -> str:
    """The first of some names, and how many more there are."""
    shown = ", ".join(short(name) for name in list(names)[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def last_part(key: str) -> str:
    """The name of a field without what it lies in: `seed` of `config.seed`."""
    return key.casefold().rpartition(".")[2]
