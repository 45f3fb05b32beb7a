"""The command: ``python -m benchmarks.faults fuzz``, and others of this folder by their names."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

PARTS = sorted({"fuzz", "kills"} & {each.stem for each in Path(__file__).parent.glob("*.py")})

if __name__ == "__main__":
    name, *arguments = sys.argv[1:] or ["--help"]
    if name not in PARTS:
        sys.exit(f"python -m benchmarks.faults {{{','.join(PARTS)}}} [--help]")
    sys.exit(import_module(f"benchmarks.faults.{name}").main(arguments))
