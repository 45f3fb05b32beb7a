"""How the replicates of one configuration are trained, why, and how that is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

EngineName = Literal["auto", "processes", "batched", "serial"]


@dataclass(frozen=True, slots=True)
class Choice:
    """``together`` replicates in one model, ``at_once`` tasks at a time, and why."""

    engine: Literal["processes", "batched", "serial"] = "processes"
    together: int = 1
    at_once: int = 1
    why: str = "asked for"

    def __str__(self) -> str:
        times = f"{self.at_once} at once" + (", one thread each" if self.at_once > 1 else "")
        if self.engine == "processes":
            return f"processes ({times})"
        return f"batched ({self.together} replicates in a model, {times})"

    def facts(self, together: int) -> dict[str, str | int]:
        """For the provenance of a run that was trained in one model with others, or alone."""
        return {
            "name": self.engine,
            "together": together,
            "at_once": self.at_once,
            "why": self.why,
        }


ALONE = Choice()
"""Each run by itself."""


def sentences(choices: Sequence[Choice]) -> list[str]:
    """A line for each way of training that was chosen, of so many configurations."""
    ways = list(dict.fromkeys((choice.engine, choice.why) for choice in choices))
    lines = []
    for way in ways:
        some = [choice for choice in choices if (choice.engine, choice.why) == way]
        share = "" if len(ways) == 1 else f" for {len(some)} of {len(choices)} configurations"
        largest = max(some, key=lambda choice: choice.together)
        lines.append(f"engine{share}: {largest}: {largest.why}; --engine overrides")
    return lines
