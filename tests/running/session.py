"""One execution as a program of its own, to be killed and started again by tests."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.store.run_store import RunStore
from tests.running.tiny import tiny_plan


def main(root: str, replicates: str, epochs: str, workers: str) -> int:
    """Execute and print what became of it; 130 when interrupted, as the command line does."""
    plan = tiny_plan(int(replicates), epochs=int(epochs))
    try:
        done = execute(plan, RunOptions(RunStore(root), workers=int(workers), device="cpu"))
    except KeyboardInterrupt:
        return 130
    print(json.dumps({**asdict(done), "torch": "torch" in sys.modules}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
