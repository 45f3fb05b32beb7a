"""`repro`: statistical reproducibility reports for machine-learning claims.

The public names are loaded when first used, so importing the package costs nothing.
"""

from __future__ import annotations

from typing import Any

from repro.extend import install_old_paths, public

_PUBLIC = {
    "Claim": "repro.specs.claim",
    "Document": "repro.judging.document",
    "Options": "repro.workflows.verify",
    "ReproError": "repro.errors",
    "RunSpec": "repro.trainers.run",
    "RunStore": "repro.store.run_store",
    "check_claim": "repro.judging.assemble",
    "execute": "repro.running.execute",
    "gather": "repro.judging.gather",
    "judge": "repro.workflows.verify",
    "load_claim": "repro.specs.load",
    "load_claims": "repro.specs.load",
    "plan_runs": "repro.workflows.verify",
    "read_document": "repro.report.write",
    "verify_claims": "repro.workflows.verify",
    "write_report": "repro.report.write",
}

__all__ = list(_PUBLIC)

install_old_paths()


def __getattr__(name: str) -> Any:
    return public(__name__, _PUBLIC, name)
