"""A verdict on results that are there: their form guessed, the claim written, and judged.

The expectation is written when the results are there, so that its verdict is exploratory.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repro.drafting.claim_text import Better, name_of
from repro.drafting.drafts import DraftOptions, drafts_of, write
from repro.drafting.found_results import FoundResults, read_results
from repro.drafting.run_fields import Hints
from repro.drafting.run_values import FoundValue
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
    return ComparedResults(verified, (*drafts.said, _counted(results)), files)


def _counted(results: FoundResults) -> str:
    """How many runs of each arm have a value, per task, and how many diverged or are missing."""
    counts = (f"{arm} {_count(runs)}" for arm, runs in results.runs.items())
    unit = "seeds per arm and task" if results.tasks else "seeds per arm"
    return f"n, the {unit}: {', '.join(counts)}"


def _count(runs: Sequence[FoundValue]) -> str:
    tasks = Counter(run.task for run in runs if run.value is not None)
    fewest = min(tasks.values(), default=0)
    most = max(tasks.values(), default=0)
    missing = sum(run.missing for run in runs)
    diverged = sum(run.value is None and not run.missing for run in runs)
    lost = {"diverged": diverged, "missing": missing}
    said = " and ".join(f"{count} {word}" for word, count in lost.items() if count)
    shown = str(most) if fewest == most else f"{fewest} to {most}"
    return f"{shown} (and {said})" if said else shown


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
        out=comparison.out,
        ending=_ending(comparison.out),
    )


def _ending(out: Path) -> str:
    """What tells the claims of another folder from those of this one: the folder, by its name.

    Reports lie below the id of their claim, and the store takes a second claim of one id for an
    edit of the first.
    """
    place = Path(os.path.relpath(out))
    return "" if place == Path() else f"_{name_of(str(place), before='in')}"
