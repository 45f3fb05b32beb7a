"""Which of a function's mutants is called: in place of mutmut's own switch.

Modules that run without site-packages cannot import that one. `run.py` puts this file into its copy
of the package, as ``repro.mutant``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

MutantDict = dict[str, Any]


def reached(name: str) -> None:
    """Told the name of each function that is called while tests are first run."""


def wrap_in_trampoline(
    mutants: MutantDict,
    is_classmethod: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The function itself, but where one of its mutants is named by the environment."""

    def of(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def switched(*args: Any, **kwargs: Any) -> Any:
            original, under_test = mutants["_mutmut_orig"], os.environ.get("MUTANT_UNDER_TEST", "")
            if under_test == "stats":
                reached(f"{function.__module__}.{original.__name__.partition('__mutmut_')[0]}")
            module, _, name = under_test.rpartition(".")
            mine = module == function.__module__ and name in mutants
            own = mutants[name] if mine else original
            if is_classmethod:
                return getattr(args[0], own.__name__)(*args[1:], **kwargs)
            return own(*args, **kwargs)

        return switched

    return of
