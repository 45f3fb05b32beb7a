"""The two halves joined: load, plan, execute what is missing, gather, check, write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repro.check import check_claim
from repro.errors import DataError, OutputError
from repro.evidence import gather
from repro.plan import plan_runs
from repro.report.document import Document
from repro.report.write import write_index, write_report
from repro.specs.claim import Claim
from repro.specs.run import PlannedRun
from repro.store import RunStore


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: where things are, and with what. None of it changes a number.

    ``train`` False judges only what the store has; ``workers`` None is one a core.
    """

    store: RunStore
    reports: Path
    data: Path | None = None
    device: str = "auto"
    workers: int | None = None
    train: bool = True
    command: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was judged, where it was written, what became of the runs, and which failed."""

    documents: tuple[Document, ...]
    written: tuple[Path, ...]
    trained: int
    reused: int
    missing: int
    failures: tuple[str, ...] = ()


def verify_claims(claims: Sequence[Claim], options: Options) -> Verified:
    """Train what the store lacks, judge every claim, write a report for each and an index.

    What fails on the way is named in ``failures``, and every claim is judged all the same: a
    run that is missing makes its claim INCOMPLETE. Raises OutputError when the reports cannot
    be written, DeviceError when the device is not there, StoreUnreachableError when the store
    is not.
    """
    _make_folder(options.reports)
    planned = plan_runs(claims, options.store, workers=options.workers)
    trained = 0
    failures: tuple[str, ...] = ()
    if options.train and planned.missing:
        trained, failures = _execute(planned.missing, planned.labels, options)
    documents = []
    written: list[Path] = []
    for claim in claims:
        document = check_claim(claim, gather(claim, options.store), command=options.command)
        documents.append(document)
        folder = options.reports / claim.id / claim.scale
        try:
            written += write_report(document, folder)
        except OSError as error:
            failures = (*failures, f"{folder}: {error.strerror or error}")
    written.append(write_index(options.reports))
    missing = len(plan_runs(claims, options.store).missing) if planned.missing else 0
    reused = len(planned.runs) - trained - missing
    return Verified(tuple(documents), tuple(written), trained, reused, missing, failures)


def _make_folder(reports: Path) -> None:
    """The folder of reports, before anything is trained for them."""
    try:
        reports.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(reports, error) from None
    if not os.access(reports, os.W_OK):
        raise OutputError(reports, PermissionError("it cannot be written"))


def _execute(
    missing: Sequence[PlannedRun], labels: Mapping[str, str], options: Options
) -> tuple[int, tuple[str, ...]]:
    """Run what is missing; the number of runs done, and what failed in words."""
    from repro.execution.execute import execute
    from repro.execution.progress import choose_reporter

    try:
        done = execute(
            missing,
            options.store,
            workers=options.workers,
            device=options.device,
            data=options.data,
            report=choose_reporter(labels),
        )
    except DataError as error:
        return 0, (str(error),)
    return len(done.done), tuple(f"{labels[one.key]}: {one.message}" for one in done.failed)
