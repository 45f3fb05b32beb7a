"""An engine in one file: each task in a process of its own, which ends with it."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from repro.extend import Engine


class FreshProcesses(Engine):
    """No task inherits anything from the one before it, at the price of a start for each."""

    noun = "an engine of fresh processes"

    @classmethod
    def made(cls, order):
        """As many processes at a time as ``order`` says; each does one task."""
        fresh = get_context("spawn")
        return cls(ProcessPoolExecutor(order.workers, fresh, max_tasks_per_child=1))
