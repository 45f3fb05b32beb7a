"""The two halves joined: load, plan, execute what is missing, gather, check, write.

A user's own results are judged in the same way, without training. What a report that is still
valid does without, the statistics above all, is imported when it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from repro.consent import require_code
from repro.errors import (
    ClaimError,
    DataError,
    OutputError,
    OwnPartError,
    ReproError,
    Stopped,
    apart,
)
from repro.evidence.csv_table import frame_table, read_table
from repro.evidence.evidence import Evidence, TidyTable
from repro.judging.document import Document
from repro.judging.gather import from_table, gather, measured, read_tables, table_schema
from repro.judging.history import PastVerdicts
from repro.registry.registry import EXPLORATORY, UNDECLARED, Past, Registry, with_seeds_tonight
from repro.report.formats import added
from repro.report.unchanged import KeptReports
from repro.report.write import FAILED, rendered_apart, write_failure, write_files, write_index
from repro.running.budget import TimeBudget
from repro.running.engine import RunOptions
from repro.running.plan import Plan, make_plan
from repro.specs.claim import Claim
from repro.specs.configuration import NamedCode
from repro.store.run_store import RunStore

if TYPE_CHECKING:
    import pandas as pd

    from repro.judging.judge import Judgement
    from repro.running.worker import Outcome
    from repro.trainers.run import PlannedRun


Tables = Mapping[str, TidyTable]
"""arm -> the table that it is read from."""


@dataclass(frozen=True, slots=True)
class Options(RunOptions):
    """How to train, and what to judge: the reports go to the folder ``reports``.

    ``train`` False judges only what the store has. ``results`` is a tidy CSV
    of the user's own, which is judged instead of runs. ``nightly`` adds seeds to sequential claims
    and takes fresh ones for negative controls; ``force`` trains designs that could hardly decide.
    ``formats`` names report formats that are written beside the usual ones.
    ``write`` False judges and writes no report (`write_report` does), nor the history of verdicts.
    ``keep`` says whether that is written; None where it trains.
    """

    reports: Path = field(kw_only=True)
    train: bool = True
    command: str = ""
    results: Path | None = None
    nightly: bool = False
    force: bool = False
    formats: tuple[str, ...] = ()
    write: bool = True
    keep: bool | None = None

    @property
    def keeps(self) -> bool:
        return self.train if self.keep is None else self.keep


@dataclass(frozen=True, slots=True)
class Verified:
    """What was judged, what became of the runs, and which failed.

    ``stopped`` are the claims that an error stopped: they have no document, and count in their
    families as not judged. ``trained`` runs were trained or measured now, and ``read`` ones of
    what programs had left; ``reused`` ones are as they were, ``damaged`` ones not whole.
    ``postponed`` says which runs did not fit in the budget of time, and why.
    """

    documents: tuple[Document, ...]
    trained: int
    reused: int
    missing: int
    failures: tuple[str, ...] = ()
    stopped: tuple[Stopped, ...] = ()
    damaged: int = 0
    read: int = 0
    postponed: tuple[str, ...] = ()

    @property
    def of_runs(self) -> bool:
        """Whether any value is that of a run, and not of a table or printed."""
        counted = self.trained + self.reused + self.missing + self.damaged + self.read
        return bool(counted) or any(arm.trained for each in self.documents for arm in each.arms)


def verify_claims(claims: Sequence[Claim], options: Options) -> Verified:
    """Train what the store lacks, judge every claim, write a report for each and an index.

    What fails on the way is named in ``failures``, and every claim is judged all the same: a
    run that is missing makes its claim INCOMPLETE, and one that cannot be judged is among the
    ``stopped``. Raises SpecError for a table with mistakes, CodeError for code from outside repro
    without consent, OwnPartError for a mistake in a user's own layer or trunk that is to be
    trained, OutputError when the reports cannot be written, PreflightError when something is to be
    trained and a corpus, the device, memory or room for it is not there, StoreUnreachableError
    when the store is not.
    """
    if any(claim.family for claim in claims):
        from repro.judging.judge import agree_on_families

        agree_on_families(claims)
    verification = _Verification(claims, options)
    planned = verification.plan()
    done = verification.execute(planned)
    judged = verification.gather_and_check(done.postponed)
    verification.write_all(judged, done.postponed)
    return verification.verified(planned, done)


def write_report(claim: Claim, document: Document, options: Options) -> tuple[Document, list[str]]:
    """Write the report of a claim that was judged, its history, and the index.

    Gives the document with the history, and what could not be written.
    """
    reports = _Reports(options)
    document = reports.history(claim).joined(document)
    reports.write([(claim, document)])
    reports.write_index()
    failed = (f"{each.subject}: {each.why}" for each in reports.stopped)
    return reports.documents.get(subject(claim), document), [*reports.unwritten, *failed]


class _Reports:
    """The reports of claims, by their subjects; what was stopped, and what could not be written."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.formats = added(options.formats, allow_code=options.allow_code)
        self.kept = KeptReports(use=False)
        self.stopped: list[Stopped] = []
        self.documents: dict[str, Document] = {}
        self.unwritten: list[str] = []

    def folder(self, claim: Claim) -> Path:
        """Where the report of a claim is."""
        return self.options.reports / claim.id / claim.scale

    def history(self, claim: Claim) -> PastVerdicts:
        return PastVerdicts(claim, self.options.store, self.options.results, self.options.keeps)

    def write(self, found: Sequence[tuple[Claim, Document]]) -> None:
        """Render and write, and keep each verdict."""
        drawn = rendered_apart([document for _, document in found], self.formats)
        for (claim, document), files in zip(found, drawn, strict=True):
            folder, written = self.folder(claim), document
            with apart(subject(claim), self.stopped):
                try:
                    made = files()
                    write_files(made, folder)
                    (folder / FAILED).unlink(missing_ok=True)
                    self.kept.written(folder, made)
                    written = self.history(claim).keep(document)
                except OSError as error:
                    self.unwritten.append(f"{folder}: {error.strerror or error}")
                self.documents[subject(claim)] = written

    def write_index(self) -> None:
        with apart("index.html", self.stopped):
            write_index(self.options.reports)


class _Verification(_Reports):
    """Claims on the way to their reports: those given, and the same with the seeds that are due."""

    def __init__(self, claims: Sequence[Claim], options: Options) -> None:
        super().__init__(options)
        self.tables = _tables(claims, options)
        self.registry = Registry(options.store, make=options.train)
        self.given = self.due = claims
        self.missing: set[str] = set()
        self.damaged: set[str] = set()

    def plan(self) -> Plan:
        """Give the claims the seeds that are due, register them, and plan their runs.

        A user's own results need no runs, and leave no record. What is refused has made no folder.
        """
        options = self.options
        if options.results is not None:
            _make_folder(options.reports)
            return plan_runs((), options.store)
        self.due = with_seeds_due(self.given, self.registry, self.stopped, tonight=options.nightly)
        planned = plan_runs(self.due, options.store, workers=options.workers)
        if options.train and planned.missing:
            self.refuse_what_cannot_run(planned)
        _make_folder(options.reports)
        for claim in self.due:
            self.registry.register(claim)
        return planned

    def refuse_what_cannot_run(self, planned: Plan) -> None:
        """Refuse code without consent, designs that could hardly decide, and what is not there."""
        from repro.judging.design_power import refuse_designs
        from repro.running.preflight import code_of_runs, require

        places = {use: code.arm for use, (_, code) in code_to_run(self.due, planned).items()}
        require_code(code_of_runs(planned.missing), self.options.allow_code, places)
        if not self.options.force:
            refuse_designs([claim for claim in self.due if planned.lacks(claim.runs())])
        require(planned.missing, self.options)

    def execute(self, planned: Plan) -> _Done:
        """Run what is missing, as far as the budget of time goes."""
        options = self.options
        if not options.train or not planned.missing:
            return _Done()
        from repro.running.execute import execute_with

        with apart("training", self.stopped, (ReproError, OSError)):
            try:
                budget = _budget(planned, options)
                done, failed = execute_with(options, planned.missing, planned.proven, budget)
                options.store.prepare()  # what is judged next is what was trained
                return _Done(len(done.done), len(done.read), failed, done.postponed)
            except OwnPartError as error:  # a mistake in a configuration, and nothing was run
                raise OwnPartError(_in_arms(error.found, self.due)) from None
            except DataError as error:
                return _Done(failures=(str(error),))
        return _Done()

    def gather_and_check(self, postponed: Sequence[Outcome]) -> list[Judgement]:
        """The claims that were judged, each alone; the reports that still hold are kept."""
        self.kept = KeptReports(use=self.options.write and not self.formats and not postponed)
        judged: list[Judgement] = []
        for claim in self.due:
            with apart(subject(claim), self.stopped):
                tables = self.tables[claim.id]
                if self.options.results is not None:
                    evidence = from_table(claim, next(iter(tables.values())))
                else:
                    evidence = gather(claim, self.options.store, tables)
                self.missing |= evidence.keys("missing", "stale")
                self.damaged |= evidence.keys("damaged")
                if document := self.unchanged(claim, evidence):
                    self.keep(claim, document)
                else:
                    judged.append(self.judged(claim, evidence))
        return judged

    def unchanged(self, claim: Claim, evidence: Evidence) -> Document | None:
        """The report of a claim, if it would be the same; never where a look goes on record."""
        if self.registry.watches(claim) or claim.family is not None:
            return None
        past = self.unrecorded(claim) or self.registry.past(claim)
        kept = self.kept.of_evidence(
            self.folder(claim), claim, evidence, past, self.options.command
        )
        return kept if kept and self.still_holds(claim, kept) else None

    def still_holds(self, claim: Claim, document: Document) -> bool:
        """Whether a report of the same evidence says of the past what it would say now."""
        return not document.provenance.postponed and self.history(claim).is_told(document)

    def keep(self, claim: Claim, document: Document) -> None:
        """Leave the report of a claim as it is."""
        self.documents[subject(claim)] = self.kept.checked(self.folder(claim), document)

    def unrecorded(self, claim: Claim) -> Past | None:
        """The past of a claim without a record: written from its results, or of own results."""
        if claim.exploratory:
            return EXPLORATORY
        return None if self.options.results is None else UNDECLARED

    def judged(self, claim: Claim, evidence: Evidence) -> Judgement:
        """The claim judged alone, and this look on record; a user's own results leave no record."""
        from repro.judging.judge import judge_claim
        from repro.judging.registration import recorded

        judgement, past = judge_claim(claim, evidence), self.unrecorded(claim)
        return recorded(judgement, self.registry) if past is None else replace(judgement, past=past)

    def write_all(self, judged: Sequence[Judgement], postponed: Sequence[Outcome]) -> None:
        """Write the reports, the claims that an error stopped, and the index."""
        if judged:
            self.write_judged(judged, postponed)
        named = {subject(claim): claim for claim in self.given}
        with apart("failed.txt", self.stopped):
            for each in self.stopped:
                if failed := named.get(each.subject):
                    write_failure(each, failed.id, failed.scale, self.options.reports)
        if self.options.write:
            self.write_index()

    def write_judged(self, judged: Sequence[Judgement], postponed: Sequence[Outcome]) -> None:
        """Judge each claim in its family, and write its report, unless it is still the same."""
        from repro.judging.assemble import document_of
        from repro.judging.judge import judge_in_family

        found: list[tuple[Claim, Document]] = []
        for judgement in judged:
            claim = judgement.claim
            with apart(subject(claim), self.stopped):
                in_family = judge_in_family(judgement, judged)
                document = document_of(in_family, command=self.options.command)
                document = _with_postponed(document, claim, postponed)
                kept = self.kept.of_document(self.folder(claim), document)
                if kept and self.still_holds(claim, kept):
                    self.keep(claim, kept)
                elif self.options.write:
                    found.append((claim, self.history(claim).joined(document)))
                else:
                    self.documents[subject(claim)] = document
        self.write(found)

    def verified(self, planned: Plan, done: _Done) -> Verified:
        missing, damaged = len(self.missing), len(self.damaged)
        return Verified(
            tuple(filter(None, (self.documents.get(subject(each)) for each in self.due))),
            trained=done.trained,
            reused=len(planned.runs) - done.trained - done.read - missing - damaged,
            missing=missing,
            failures=(*done.failures, *self.unwritten),
            stopped=tuple(self.stopped),
            damaged=damaged,
            read=done.read,
            postponed=_told(done.postponed, planned.missing),
        )


def plan_runs(claims: Sequence[Claim], store: RunStore, *, workers: int | None = None) -> Plan:
    """The distinct runs of ``claims``, merged over claims that share them."""
    return make_plan((run for claim in claims for run in claim.runs()), store, workers=workers)


def code_to_run(claims: Sequence[Claim], plan: Plan) -> dict[str, tuple[str, NamedCode]]:
    """What is to be imported of others for the missing runs of ``claims``, and an arm of it."""
    missing = {planned.run.key for planned in plan.missing}
    found: dict[str, tuple[str, NamedCode]] = {}
    for claim in claims if missing else ():
        for name in claim.trained:
            code = claim.arms[name].code
            numbers = claim.numbers(name) if code else ()
            if not missing.isdisjoint(claim.run(name, number).key for number in numbers):
                for each in code:
                    found.setdefault(each.use, (name, each))
    return found


def subject(claim: Claim) -> str:
    """What messages call a claim at its scale."""
    return f"{claim.id} ({claim.scale})"


def with_seeds_due(
    claims: Sequence[Claim], registry: Registry, stopped: list[Stopped], *, tonight: bool = False
) -> list[Claim]:
    """The claims with the seeds that they should have now, new ones among them ``tonight``."""
    if tonight:
        from repro.judging.registration import undecided

    due = []
    for claim in claims:
        with apart(subject(claim), stopped, (ReproError, OSError)):
            if tonight:
                looks = registry.history(claim).looks
                still = partial(undecided, store=registry.store)
                due.append(with_seeds_tonight(claim, looks, still))
            else:
                due.append(registry.so_far(claim))
    return due


@dataclass(frozen=True, slots=True)
class _Done:
    """How many runs were trained, and read; what failed in words, and what was postponed."""

    trained: int = 0
    read: int = 0
    failures: tuple[str, ...] = ()
    postponed: tuple[Outcome, ...] = ()


def _budget(planned: Plan, options: Options) -> TimeBudget | None:
    """The budget of time, which knows how long the runs took that the store has."""
    if options.budget is None:
        return None
    budget = TimeBudget(options.budget)
    there = (each.planned.run for each in planned.runs if each.state == "complete")
    budget.learn(options.store, there)
    return budget


def _with_postponed(document: Document, claim: Claim, postponed: Sequence[Outcome]) -> Document:
    """The document with what of its claim did not fit in the budget of time."""
    runs = list(claim.runs()) if postponed else []
    keys = {planned.run.key for planned in runs}
    texts = _told([each for each in postponed if each.key in keys], runs)
    provenance = document.provenance.model_copy(update={"postponed": texts})
    return document.model_copy(update={"provenance": provenance})


def _told(outcomes: Sequence[Outcome], runs: Sequence[PlannedRun]) -> tuple[str, ...]:
    """In words what became of runs."""
    if not outcomes:
        return ()
    from repro.running.execute import told

    return told(outcomes, runs)


def judge(claim: Claim, frame: pd.DataFrame) -> Document:
    """Judge ``claim`` on a user's own results: a frame with arm, seed, measurement, value.

    Raises SpecError with every mistake in the frame, by the position of its row, and ClaimError
    for anything but a frame.
    """
    if not hasattr(frame, "columns"):
        raise ClaimError(f"results are a pandas frame, not {type(frame).__name__}")
    from repro.judging.assemble import check_claim

    evidence = from_table(claim, frame_table(frame, table_schema(claim, measured(claim))))
    return check_claim(claim, evidence, past=UNDECLARED)


def _tables(claims: Sequence[Claim], options: Options) -> dict[str, Tables]:
    """The tables that each claim reads, by arm, read before anything is trained.

    ClaimError where one file would be the results of several claims, or of none that needs it.
    """
    if options.results is None:
        return {claim.id: read_tables(claim) for claim in claims}
    if len(claims) != 1:
        raise ClaimError(
            f"{options.results}: the results of one claim, and {len(claims)} claims are given\n"
            "  to do: give --results with one claim file"
        )
    arms = measured(claims[0])
    if not arms:
        raise ClaimError(
            f"{options.results}: every arm of {claims[0].id} is printed, so no results are needed\n"
            "  to do: leave --results out"
        )
    table = read_table(options.results, table_schema(claims[0], arms))
    return {claims[0].id: dict.fromkeys(arms, table)}


def _make_folder(reports: Path) -> None:
    """The folder of reports, before anything is trained for them."""
    try:
        reports.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(reports, error) from None
    if not os.access(reports, os.W_OK):
        raise OutputError(reports, PermissionError("it cannot be written"))


def _in_arms(found: Mapping[str, str], claims: Sequence[Claim]) -> dict[str, str]:
    """What is wrong with configurations, by the arms that have them, and with their names."""
    arms: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        for name in claim.trained:
            mistake = found.get(claim.run(name, 0).training.digest())
            if mistake:
                arm = f"arm {name} ({claim.arms[name].configuration_id})"
                arms.setdefault((claim.id, mistake), []).append(arm)
    named = {f"{claim}: {', '.join(names)}": mistake for (claim, mistake), names in arms.items()}
    return {where: f"{where}: {mistake}" for where, mistake in named.items()}
