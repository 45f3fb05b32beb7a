"""A verdict on results that are there: their form guessed, the claim written, and judged.

The expectation is written when the results are there, so that its verdict is exploratory.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from repro.drafting.claim_text import Better
from repro.drafting.drafts import DraftOptions, drafts_of, write
from repro.drafting.found_results import FoundResults, read_results
from repro.drafting.run_fields import Hints
from repro.specs.claim import WRITTEN_FROM_RESULTS
from repro.specs.load import load_claims
from repro.store.run_store import RunStore
from repro.verify import Options, Verified, verify_claims

WHY = "the margin that was given when the results were there"


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What is asked of results, and where the claims and the reports go."""

    results: Path
    better: Better
    by: float | None = None
    baseline: str = ""
    hints: Hints = field(default_factory=Hints)
    out: Path = Path()
    reports: Path = Path("reports")
    command: str = ""


@dataclass(frozen=True, slots=True)
class ComparedResults:
    """What was judged, what was guessed of the results, and the claims that were written."""

    verified: Verified
    said: tuple[str, ...]
    seeds: dict[str, int]
    claims: tuple[Path, ...]


def compare(comparison: CompareOptions, store: RunStore) -> ComparedResults:
    """Write the claims that the results stand for, judge them, and write their reports.

    ClaimError or DataError where the results cannot be compared, SpecError where a claim or a copy
    of values that somebody edited is in the way, OutputError where nothing can be written.
    """
    out = comparison.out
    results = read_results(comparison.results, out, comparison.hints)
    drafts = drafts_of(results, _asked(comparison, results))
    files = write(drafts, out)
    options = Options(
        store=store,
        reports=comparison.reports,
        train=False,
        command=comparison.command,
    )
    verified = verify_claims(load_claims(files), options)
    seeds = {arm: len(runs) for arm, runs in results.runs.items()}
    return ComparedResults(verified, tuple(drafts.said), seeds, files)


def _asked(comparison: CompareOptions, results: FoundResults) -> DraftOptions:
    place = os.path.relpath(results.path, comparison.out)
    head = (
        f"Written by `repro compare` from {place}, when these results were there: what it says of",
        "them is exploratory. To declare it, correct what is not meant, say in `own` why it is",
        "claimed, and judge results that nobody has seen: `repro verify` with this file.",
    )
    return DraftOptions(
        comparison.better,
        comparison.by,
        WHY,
        comparison.baseline,
        own=WRITTEN_FROM_RESULTS,
        head=head,
    )
