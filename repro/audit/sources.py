"""Paths -> audits: tables, audit files, and what ordinary claims say was published."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

from repro.audit.audit_file import PrintedMoments, PrintedPair, PrintedTable
from repro.audit.comparison import (
    Audit,
    Audited,
    AuditRow,
    Grade,
    PrintedArm,
    PrintedComparison,
    fails,
    rows_of,
)
from repro.audit.correlations import audit_points
from repro.audit.disagreements import (
    bound,
    derived,
    pooled,
    same_quantity,
    single_run,
    spectrum,
    wins,
)
from repro.audit.findings import findings, table_findings
from repro.audit.grading import Adjusted, Assumed, adjust, assume, judge, survives
from repro.audit.load_audit import LoadedAudit, audit_of, is_audit
from repro.audit.p_range import NEEDS_VALUES, Variant
from repro.audit.printed_table import read_table
from repro.audit.render import to_json, to_text
from repro.errors import ClaimError, Place, Problem, SpecError, printable_lines
from repro.evidence.published import PrintedNumber, Rounding
from repro.expectations.kinds import kind_of
from repro.files import is_folder, resolved
from repro.schema.yaml import Steps, YamlDocument, read_document
from repro.specs.claim import SCALES, Claim, Published, ScaleName
from repro.specs.load import load_claim


def audit(
    comparisons: Sequence[PrintedComparison],
    *,
    rounding: Rounding = "round",
    other_n: Sequence[int] = (),
) -> tuple[Audited, ...]:
    """Audit the comparisons of one table together, in their order.

    The test is inferred over all of them, and p-values are corrected over their families.
    ``other_n`` are sizes that the paper mentions elsewhere: where one differs from those of a
    row, n - 1 and n + 1 are tried too. ClaimError if two comparisons have the same id.
    """
    rows = rows_of([_rounded(one, rounding) for one in comparisons], other_n)
    assumed = assume(rows)
    adjusted = adjust(rows, assumed)
    return tuple(
        _audited(row, its, family, rounding)
        for row, its, family in zip(rows, assumed, adjusted, strict=True)
    )


def _rounded(comparison: PrintedComparison, rounding: Rounding) -> PrintedComparison:
    """The comparison with every number under one rounding model."""

    def under(number: PrintedNumber | None) -> PrintedNumber | None:
        return None if number is None else number.under(rounding)

    a, b = (replace(arm, mean=under(arm.mean), sd=under(arm.sd)) for arm in comparison.arms)
    return replace(comparison, a=a, b=b, p=under(comparison.p))


def _audited(row: AuditRow, assumed: Assumed, family: Adjusted, rounding: Rounding) -> Audited:
    comparison, variant = row.comparison, assumed.variant
    judged = judge(row, assumed)
    by_t = comparison.test not in NEEDS_VALUES
    return Audited(
        id=comparison.id,
        grade=judged.grade,
        p_printed=None if comparison.p is None else comparison.p.text,
        p_interval=row.intervals.get(variant),
        p_student=row.nominal(Variant("student")),
        p_welch=row.nominal(Variant("welch")),
        matches=tuple(one.label(row.n) for one in row.matches),
        decision_survives_rounding=survives(row, variant),
        holm=family.holm,
        bh=family.bh,
        smallest_confirmable_margin=row.margin(),
        assumed=variant.label(row.n) if by_t else None,
        assumed_why=assumed.why,
        alpha=comparison.alpha,
        family=comparison.family,
        rounding=rounding,
        equals_rounded=row.equals_rounded(variant) if by_t else None,
        condition=judged.condition,
        findings=findings(row, variant, judged, family),
    )


CLAIMS = (".yaml", ".yml")
NEVER = "never"


def audit_paths(
    paths: Sequence[Path], *, rounding: Rounding = "round", allow_code: bool = False
) -> tuple[Audit, ...]:
    """The audit of every file, each once, in the order given.

    In a folder, its claim files (`*.yaml`) are audited, or its tables (`*.csv`) if it holds no
    claim. ``rounding`` is the model for tables; a claim file names its own. Raises SpecError
    with the mistakes of all files together.
    """
    audits: list[Audit] = []
    problems: list[Problem] = []
    for path in _files(paths, problems):
        try:
            audits.append(audit_path(path, rounding, allow_code=allow_code))
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(list(dict.fromkeys(problems)))
    return tuple(audits)


def audit_path(path: Path, rounding: Rounding = "round", *, allow_code: bool = False) -> Audit:
    """The audit of one claim file or table."""
    if path.suffix.lower() in CLAIMS:
        return audit_file(path, allow_code=allow_code)
    rows = audit(read_table(path), rounding=rounding)
    return Audit("", str(path), rows, tuple(table_findings(rows)))


def report_audits(audits: Sequence[Audit], fail_on: str, *, as_json: bool) -> bool:
    """Print audits on stdout; whether a row is as bad as the grade ``fail_on``, or worse.

    ``fail_on`` is a grade in lower case, or "never".
    """
    width = shutil.get_terminal_size((100, 24)).columns
    text = to_json(audits) if as_json else printable_lines(to_text(audits, width))
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
    limit = None if fail_on == NEVER else Grade(fail_on.upper())
    return fails((row.grade for each in audits for row in each.rows), limit)


def _files(paths: Sequence[Path], problems: list[Problem]) -> list[Path]:
    """The files, each once; a folder with nothing to audit is a problem."""
    files: dict[Path, Path] = {}
    for path in paths:
        inside = _inside(path) if is_folder(path) else [path]
        if not inside:
            what = "nothing to audit in this folder"
            advice = "give a folder that holds claims or tables, or the path of a file"
            problems.append(Problem(Place(str(path)), what, "files *.yaml or *.csv", advice))
        for file in inside:
            if file is not path and _leads_out(file, path):
                what = "a link that leads out of the folder"
                advice = "put the file itself there, or give its own path"
                problems.append(Problem(Place(str(file)), what, f"a file in {path}", advice))
                continue
            files.setdefault(resolved(file), file)
    return list(files.values())


def _leads_out(file: Path, folder: Path) -> bool:
    return not resolved(file).is_relative_to(resolved(folder))


def _inside(folder: Path) -> list[Path]:
    for endings in (CLAIMS, (".csv",)):
        found = sorted(
            path
            for path in folder.iterdir()
            if path.suffix.lower() in endings and not path.name.startswith(".")
        )
        if found:
            return found
    return []


Entry = TypeVar("Entry")
Made = TypeVar("Made")


def audit_file(path: Path, *, allow_code: bool = False) -> Audit:
    """The audit of one YAML file: an audit, or a claim with what it says was published.

    Raises SpecError with every mistake in the file.
    """
    document = read_document(path)
    if is_audit(document):
        return audit_loaded(audit_of(document))
    return audit_claim(load_claim(path, _scale(document), allow_code=allow_code), document)


def audit_loaded(loaded: LoadedAudit) -> Audit:
    """Every entry of an audit; its comparisons are judged together."""
    spec, tables = loaded.audit, loaded.tables
    read = _Reader(loaded.document)
    comparisons = [
        *read.all("tables", spec.tables, _of_table),
        *read.all("comparisons", spec.comparisons, lambda pair: (_of_pair(pair),)),
    ]
    tested = audit(comparisons, rounding=spec.rounding, other_n=spec.other_n)
    printed: list[PrintedTable | PrintedPair] = [*spec.tables, *spec.comparisons]
    places = {key: value for one in printed for key, value in _place(one)}
    rows = [
        *(_placed(row, *places[row.id]) for row in tested),
        *read.all("points", spec.points, lambda p: audit_points(p, tables.get(p.file or "", {}))),
        *read.all("wins", spec.wins, lambda one: (wins(one, tables[one.file]),)),
        *read.all("spectra", spec.spectra, lambda one: (spectrum(one, tables[one.file]),)),
        *read.all("derived", spec.derived, lambda one: (derived(one),)),
        *read.all("same_quantity", spec.same_quantity, lambda one: (same_quantity(one),)),
        *read.all("pooled", spec.pooled, lambda one: (pooled(one),)),
        *read.all("single_runs", spec.single_runs, lambda one: (single_run(one),)),
        *read.all("bounds", spec.bounds, lambda one: (bound(one),)),
    ]
    findings = tuple(table_findings(tested))
    return Audit(spec.title, loaded.document.file, tuple(rows), findings)


def audit_claim(claim: Claim, document: YamlDocument) -> Audit:
    """What an ordinary claim says was published; one row per entry, checkable or not."""
    read = _Reader(document)
    entries = list(read.all("published", claim.published, lambda one: (_published(claim, one),)))
    names = _distinct([entry.expectation for entry in claim.published])
    comparisons = [
        replace(one, id=name) for one, name in zip(entries, names, strict=True) if one is not None
    ]
    tested = {row.id: row for row in audit(comparisons)}
    rows = [
        _placed(tested.get(name) or _not_checkable(entry, name), entry.locator, entry.note)
        for entry, name in zip(claim.published, names, strict=True)
    ]
    if not rows:
        rows = [Audited(claim.id, Grade.NOT_CHECKABLE, "claim", findings=(NOTHING,))]
    findings = tuple(table_findings(tuple(tested.values())))
    return Audit(claim.title, claim.file, tuple(rows), findings)


NOTHING = "this claim says of no printed number what was published"


class _Reader:
    """Turns entries into rows; an entry that means nothing is a problem at its own place."""

    def __init__(self, document: YamlDocument) -> None:
        self.document = document

    def all(
        self, section: str, entries: Iterable[Entry], of: Callable[[Entry], Iterable[Made]]
    ) -> Iterator[Made]:
        for position, entry in enumerate(entries):
            try:
                yield from of(entry)
            except ClaimError as error:
                raise SpecError([self.problem((section, position), error)]) from None

    def problem(self, steps: Steps, error: ClaimError) -> Problem:
        what = f"{self.document.name(steps)}: {error}"
        place = self.document.place(steps)
        return Problem(place, what, "numbers that can be checked", "compare it with the document")


def _of_table(table: PrintedTable) -> Iterator[PrintedComparison]:
    """A comparison of every row with the baseline: A is the row."""
    baseline = _arm(table.rows[table.baseline], table.n)
    for name, row in table.rows.items():
        if name != table.baseline:
            yield PrintedComparison(
                id=f"{table.id}_{name}",
                a=_arm(row, table.n),
                b=baseline,
                p=PrintedNumber.read(row.p) if row.p else None,
                alpha=table.alpha,
                test=table.test,
                tails=table.tails,
                family=table.family,
                items=table.items,
            )


def _of_pair(pair: PrintedPair) -> PrintedComparison:
    a, b = (_arm(arm, None) for arm in pair.arms.values())
    return PrintedComparison(
        id=pair.id,
        a=a,
        b=b,
        p=PrintedNumber.read(pair.p) if pair.p else None,
        alpha=pair.alpha,
        test=pair.test,
        tails=pair.tails,
        family=pair.family,
        items=pair.items,
    )


def _arm(printed: PrintedMoments, n: int | None) -> PrintedArm:
    return PrintedArm.read(printed.mean, printed.sd or "", printed.n or n)


def _place(printed: PrintedTable | PrintedPair) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Where each comparison is printed, and what is noted about it, by its id."""
    if isinstance(printed, PrintedPair):
        yield printed.id, (printed.locator, printed.note)
        return
    for name in printed.rows:
        yield f"{printed.id}_{name}", (printed.locator, printed.note)


def _placed(row: Audited, locator: str, note: str | None) -> Audited:
    findings = (*row.findings, note) if note else row.findings
    return replace(row, findings=findings, details={**row.details, "locator": locator})


def _published(claim: Claim, entry: Published) -> PrintedComparison | None:
    """The printed comparison of an entry; ``None`` if it does not compare two arms."""
    if len(entry.arms) != 2:
        return None
    arms = [
        PrintedArm.read(arm.mean, arm.sd or "", arm.n if arm.n and arm.n > 1 else None)
        for arm in entry.arms.values()
    ]
    return PrintedComparison(
        id=entry.expectation,
        a=arms[0],
        b=arms[1],
        p=PrintedNumber.read(entry.p) if entry.p else None,
        alpha=claim.alpha,
        test=_declared(claim, entry.expectation),
    )


def _declared(claim: Claim, name: str) -> Literal["student", "welch"] | None:
    """The test by which the paper is said to have got its p, where the claim repeats its rule."""
    named = (each for each in claim.expectations if each.id == name)
    return next((kind_of(each).published_test(each) for each in named), None)


def _not_checkable(entry: Published, name: str) -> Audited:
    arms = ", ".join(f"{arm} {printed.mean}" for arm, printed in entry.arms.items())
    said = f"{len(entry.arms)} arm is printed ({arms}); a comparison needs two"
    return Audited(name, Grade.NOT_CHECKABLE, findings=(said,))


def _distinct(names: list[str]) -> list[str]:
    """The names, a second one of the same expectation as `name_2`, and so on."""
    return [
        name if (before := names[:place].count(name)) == 0 else f"{name}_{before + 1}"
        for place, name in enumerate(names)
    ]


def _scale(document: YamlDocument) -> ScaleName:
    """The largest scale that the claim has; what was published is the same at all."""
    declared = document.get("scales")
    own = [scale for scale in SCALES if isinstance(declared, dict) and scale in declared]
    return own[-1] if own else SCALES[-1]
