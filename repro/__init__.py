"""`repro`: statistical reproducibility reports for machine-learning claims.

The public names are loaded when first used, so importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from repro import moved

_PUBLIC = {
    "Claim": "repro.specs.claim",
    "Document": "repro.judging.document",
    "Options": "repro.verify",
    "ReproError": "repro.errors",
    "RunSpec": "repro.trainers.run",
    "RunStore": "repro.store.runs",
    "check_claim": "repro.judging.assemble",
    "execute": "repro.running.execute",
    "gather": "repro.judging.gather",
    "judge": "repro.verify",
    "load_claim": "repro.specs.load",
    "load_claims": "repro.specs.load",
    "plan_runs": "repro.verify",
    "read_document": "repro.report.write",
    "verify_claims": "repro.verify",
    "write_report": "repro.report.write",
}

__all__ = [
    "Claim",
    "Document",
    "Options",
    "ReproError",
    "RunSpec",
    "RunStore",
    "check_claim",
    "execute",
    "gather",
    "judge",
    "load_claim",
    "load_claims",
    "plan_runs",
    "read_document",
    "verify_claims",
    "write_report",
]

moved.install()


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        message = f"module 'repro' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_PUBLIC[name]), name)
