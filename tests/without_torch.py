"""The command line in a process in which importing torch raises, as where it is not installed.

A None in ``sys.modules`` would do as well for our own code, but scipy trips over it.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any


class NoTorch(MetaPathFinder):
    """Finds no torch, whatever is installed."""

    def find_spec(self, name: str, *_: Any) -> None:
        """Refuse torch and all below it; leave the rest to others."""
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"no module named {name!r}", name=name)


if __name__ == "__main__":
    sys.meta_path.insert(0, NoTorch())
    from repro.cli import main

    main()
