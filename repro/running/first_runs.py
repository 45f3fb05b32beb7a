"""Programs whose first runs all failed: the other runs of them are not begun.

A slip of the pen fails forty runs alike. Two failures with different seeds, and no run that ended
well, are taken for one; a single failure may be that of its seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

from repro.errors import ProgramError
from repro.running.worker import Outcome
from repro.trainers.base import Training
from repro.trainers.trainer import trainer_of

FAILURES: Final = 2
"""So many runs of a configuration have to fail before any ends well."""


WHY: Final = (
    "not started: the first runs of this program with these arguments all failed\n"
    "  to do: mend what is said of them, or give the same command again: "
    "it begins with the others"
)


class FirstRuns:
    """What became of the first runs of each configuration; ``proven`` are those that can end well.

    A program that resumes is no matter of it: an attempt that failed may have come further.
    """

    def __init__(self, proven: Collection[str] = ()) -> None:
        self._proven = set(proven)
        self._failures: Counter[str] = Counter()

    def note(self, training: Training, outcome: Outcome) -> bool:
        """Take note of what became of a run; whether no other run of it is to be begun."""
        configuration = training.digest()
        if outcome.error == ProgramError.__name__:
            self._failures[configuration] += 1
        elif outcome.status not in {"failed", "busy"}:
            self._proven.add(configuration)
        return self.refused(training) is not None

    def refused(self, training: Training) -> Outcome | None:
        """The outcome, of no key as yet, of a run that is not begun; None for one that may be."""
        configuration = training.digest()
        hopeful = configuration in self._proven or trainer_of(training).resumes(training)
        if hopeful or self._failures[configuration] < FAILURES:
            return None
        return Outcome("", "not started", WHY)
