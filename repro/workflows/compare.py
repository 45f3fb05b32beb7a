"""A verdict on results that are there: their form guessed, the claim written, and judged.

The expectation is written when the results are there, so that its verdict is exploratory.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from repro.consent import Consent, Module, require_code
from repro.drafting.claim_text import Better
from repro.drafting.drafts import DraftOptions, Drafts, drafts_of, of_others, write
from repro.errors import ClaimError, DataError, ReproError
from repro.files import resolved
from repro.judging.document import Document
from repro.report.write import JSON, read_document
from repro.results.found_results import FoundResults, read_results
from repro.results.run_fields import Hints
from repro.results.run_values import FoundValue
from repro.schema.base import name_of
from repro.schema.numbers import number_of
from repro.specs.claim import WRITTEN_FROM_RESULTS
from repro.specs.load import load_claims
from repro.store.run_store import RunStore
from repro.workflows.verify import Options, Verified, verify_claims

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
    allow_code: Consent = False


@dataclass(frozen=True, slots=True)
class ComparedResults:
    """What was judged, what was guessed of the results, and the claims that were written."""

    verified: Verified
    said: tuple[str, ...]
    claims: tuple[Path, ...]


def compare(comparison: CompareOptions, store: RunStore) -> ComparedResults:
    """Write the claims that the results stand for, judge them, and write their reports.

    ClaimError or DataError where the results cannot be compared, SpecError where a claim or a copy
    of values that somebody edited is in the way, OutputError where nothing can be written,
    CodeError for a reader that is not built in without consent.
    """
    if ":" in (reader := comparison.hints.reader):
        require_code([Module(reader)], comparison.allow_code, {reader: "--reader"})
    comparison, results, drafts = _placed(comparison)
    files = write(drafts, comparison.out)
    options = Options(
        store=store,
        reports=comparison.reports,
        train=False,
        keep=True,
        command=comparison.command,
        allow_code=comparison.allow_code,
    )
    before = [_former(comparison, drafts.ids[file.name]) for file in files]
    claims = load_claims(files, allow_code=comparison.allow_code)
    verified = verify_claims(claims, options)
    changed = [
        line
        for old, new in zip(before, verified.documents, strict=False)
        if old is not None and old.claim.id == new.claim.id
        for line in _changed(old, new)
    ]
    counts = (f"{arm} {_count(runs)}" for arm, runs in results.runs.items())
    unit = "seeds per arm and task" if results.tasks else "seeds per arm"
    return ComparedResults(
        verified, (*drafts.said, f"n, the {unit}: {', '.join(counts)}", *changed), files
    )


def _placed(comparison: CompareOptions) -> tuple[CompareOptions, FoundResults, Drafts]:
    """The claims, in a folder of their own where those of other results, or a report, are there.

    ClaimError where there are such in that folder as well.
    """
    results, drafts = _drafted(comparison)
    there = _in_the_way(comparison, drafts)
    if there is None:
        return comparison, results, drafts
    place = os.path.relpath(comparison.results.resolve(), comparison.out.resolve())
    name = name_of(comparison.results.resolve().stem, before="results")
    folder = f"{name}_{hashlib.sha256(place.encode(errors='replace')).hexdigest()[:4]}"
    comparison = replace(comparison, out=comparison.out / folder)
    results, drafts = _drafted(comparison)
    if again := _in_the_way(comparison, drafts):
        raise ClaimError(
            f"{again}: here are other results\n  expected: nothing, or what was made of "
            f"{results.path}\n  to do: name other folders: --out second --reports more_reports"
        )
    drafts.said.append(f"{there} is of other results; the claim of these goes to {comparison.out}")
    return comparison, results, drafts


def _drafted(comparison: CompareOptions) -> tuple[FoundResults, Drafts]:
    try:
        results = read_results(comparison.results, comparison.out, comparison.hints)
    except DataError as error:  # also of a file that cannot be read: it was named to be judged
        raise ClaimError(str(error)) from error
    head = (
        "Written by `repro compare` when these results were there: what it says of them is",
        "exploratory. To declare it, correct what is not meant, say in `own` why it is claimed,",
        "and judge results that nobody has seen: `repro verify` with this file.",
    )
    place = Path(os.path.relpath(comparison.out))
    return results, drafts_of(
        results,
        DraftOptions(
            comparison.better,
            comparison.by,
            WHY,
            comparison.baseline,
            own=WRITTEN_FROM_RESULTS,
            head=head,
            out=comparison.out,
            ending="" if place == Path() else f"_{name_of(str(place), before='in')}",
        ),
    )


def _in_the_way(comparison: CompareOptions, drafts: Drafts) -> Path | None:
    """A claim, or a report, that was made of other results and has the name of one of these."""
    if (claim := of_others(drafts, comparison.out)) is not None:
        return claim
    reports = (_taken(comparison, drafts, name) for name in drafts.claims)
    return next(filter(None, reports), None)


def _report(comparison: CompareOptions, claim_id: str) -> Path:
    return comparison.reports / claim_id / "declared" / JSON.file


def _former(comparison: CompareOptions, claim_id: str) -> Document | None:
    """The report that is there on a claim; None where there is none that can be read."""
    try:
        return read_document(_report(comparison, claim_id))
    except ReproError:
        return None


def _taken(comparison: CompareOptions, drafts: Drafts, name: str) -> Path | None:
    """The report of a claim that is to be written, where one on other results is there.

    Whose claim is there as well has been compared before; else the command says on what it was.
    """
    if (comparison.out / name).exists():
        return None
    claim_id = drafts.ids[name]
    former = _former(comparison, claim_id)
    if former is None:
        return None
    try:
        words = shlex.split(former.provenance.command)
    except ValueError:
        words = []
    mine = comparison.results.resolve()
    named = any(resolved(Path(word)) == mine for word in words)
    return None if named else _report(comparison, claim_id).parent


def _changed(old: Document, new: Document) -> Iterator[str]:
    """What is said of values that are not as they were when the results were last compared."""
    before, now = _values(old), _values(new)
    changed = sum(before[key] != now[key] for key in before.keys() & now.keys())
    counts = {
        "changed": changed,
        "new": len(now.keys() - before.keys()),
        "no longer there": len(before.keys() - now.keys()),
    }
    said = [f"{number_of(count, 'value')} {word}" for word, count in counts.items() if count]
    if not said:
        return
    words = [old.verdict.validity, *filter(None, [old.verdict.conclusion])]
    yield f"since the last comparison: {', '.join(said)} ({new.claim.id} was {', '.join(words)})"


def _values(document: Document) -> dict[tuple[str, str, int, str], float]:
    return {
        (arm.id, each.task, each.number, name): value
        for arm in document.arms
        for each in arm.replicates
        for name, value in each.values.items()
    }


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
