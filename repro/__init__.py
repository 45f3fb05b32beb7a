"""`repro`: statistical reproducibility reports for machine-learning claims.

The public names are loaded when first used, so importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "Claim": "repro.specs.claim",
    "Document": "repro.report.document",
    "Options": "repro.verify",
    "ReproError": "repro.errors",
    "RunSpec": "repro.specs.run",
    "RunStore": "repro.store",
    "check_claim": "repro.check",
    "execute": "repro.execution.execute",
    "gather": "repro.evidence",
    "judge": "repro.verify",
    "load_claim": "repro.specs.load",
    "load_claims": "repro.specs.load",
    "plan_runs": "repro.plan",
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


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        message = f"module 'repro' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_PUBLIC[name]), name)
