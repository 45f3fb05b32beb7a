"""Paths -> audits: tables, audit files, and what ordinary claims say was published."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from repro.audit.answers import audit_as_printed
from repro.audit.as_printed import read_as_printed
from repro.audit.audit_file import (
    PrintedMoments,
    PrintedPoints,
    PrintedTable,
    Tested,
    load_audit,
)
from repro.audit.comparison import (
    Audit,
    Audited,
    AuditRow,
    Grade,
    PrintedArm,
    PrintedComparison,
    fails,
    noted,
    printed,
    rows_of,
)
from repro.audit.correlations import audit_points, in_matrix
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
from repro.audit.grading import Adjusted, Assumed, adjust, as_read, assume, judge, survives
from repro.audit.latex import without_annotations
from repro.audit.notations import with_daggers, with_minus
from repro.audit.p_range import NEEDS_VALUES, Variant
from repro.audit.pasted import Pasted, read_pasted
from repro.audit.printed_cells import with_levels
from repro.audit.printed_pairs import Decided
from repro.audit.printed_table import has_arms, read_table
from repro.audit.printed_tests import (
    DF,
    in_cells,
    in_columns,
    outside,
    refuse_coefficients,
    turned,
)
from repro.audit.printouts import (
    in_anova,
    in_summary,
    in_tukey,
    of_stata,
    refuse_printouts,
    with_its_name,
)
from repro.audit.render import to_json, to_markdown, to_text
from repro.audit.statistics import (
    Statement,
    audit_statistics,
    has_statistics,
    in_text,
)
from repro.audit.unread import not_read, refuse_without_df, sentence_on
from repro.consent import Consent
from repro.errors import ClaimError, Place, Problem, SpecError, about, printable_lines
from repro.evidence.published import PrintedNumber, Rounding
from repro.expectations.kinds import kind_of
from repro.files import fatal, is_folder, leads_out, read_text, resolved
from repro.schema.yaml import YamlDocument, read_document
from repro.specs.claim import SCALES, UNSCALED, Claim, Published, ScaleName
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
    rows = as_read(rows_of([_rounded(each, rounding) for each in comparisons], other_n), other_n)
    assumed = assume(rows)
    adjusted = adjust(rows, assumed)
    return tuple(
        _audited(row, chosen, family, rounding)
        for row, chosen, family in zip(rows, assumed, adjusted, strict=True)
    )


def _rounded(comparison: PrintedComparison, rounding: Rounding) -> PrintedComparison:
    """The comparison with every number under one rounding model."""

    def under(number: PrintedNumber | None) -> PrintedNumber | None:
        return None if number is None else number.under(rounding)

    a, b = (replace(arm, mean=under(arm.mean), sd=under(arm.sd)) for arm in comparison.arms)
    return replace(comparison, a=a, b=b, p=under(comparison.p))


def _audited(row: AuditRow, assumed: Assumed, family: Adjusted, rounding: Rounding) -> Audited:
    comparison, variant = row.comparison, assumed.variant
    grade, condition = judge(row, assumed)
    by_t = comparison.test not in NEEDS_VALUES
    return Audited(
        id=comparison.id,
        grade=grade,
        p_printed=None if comparison.p is None else comparison.p.text,
        p_interval=row.intervals.get(variant),
        p_student=row.nominal(Variant("student")),
        p_welch=row.nominal(Variant("welch")),
        matches=tuple(match.label(row.n) for match in row.matches),
        decision_survives_rounding=survives(row, variant),
        holm=family.holm,
        holm_interval=family.holm_range,
        bh=family.bh,
        smallest_confirmable_margin=row.margin(),
        assumed=variant.label(row.n) if by_t else None,
        assumed_why=assumed.why,
        alpha=comparison.alpha,
        family=comparison.family,
        rounding=rounding,
        equals_rounded=row.equals_rounded(variant) if by_t else None,
        condition=condition,
        findings=noted(findings(row, variant, grade, condition, family), comparison.note),
        details={"locator": comparison.locator} if comparison.locator else {},
    )


CLAIMS = (".yaml", ".yml")
NEVER = "never"
STANDARD_INPUT = Path("-")
MAX_TEXT = 2_000_000
NOTHING = Decided()


def audit_paths(
    paths: Sequence[Path],
    *,
    rounding: Rounding = "round",
    allow_code: Consent = False,
    decided: Decided = NOTHING,
) -> tuple[Audit, ...]:
    """The audit of every file, each once, in the order given.

    In a folder, its claim files (`*.yaml`) are audited, or its tables (`*.csv`) if it holds no
    claim; the path `-` is standard input. ``rounding`` is the model for tables; a claim file names
    its own. ``decided`` is what a table as printed leaves open. Raises SpecError with the mistakes
    of all files together.
    """
    audits: list[Audit] = []
    problems: list[Problem] = []
    for path in _files(paths, problems):
        try:
            with about(path):
                audits.append(_audit_of(path, rounding, allow_code, decided))
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(list(dict.fromkeys(problems)))
    return tuple(audits)


def report_audits(
    audits: Sequence[Audit], fail_on: str, *, as_json: bool, markdown: bool = False
) -> bool:
    """Print audits on stdout; whether a row is as bad as the grade ``fail_on``, or worse.

    ``fail_on`` is a grade in lower case, or "never".
    """
    width = shutil.get_terminal_size((100, 24)).columns
    shown = to_markdown(audits) if markdown else to_text(audits, width)
    text = to_json(audits) if as_json else printable_lines(shown)
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
            mistake = "nothing to audit in this folder"
            advice = "give a folder that holds claims or tables, or the path of a file"
            problems.append(Problem(Place(str(path)), mistake, "files *.yaml or *.csv", advice))
        for file in inside:
            if file is not path and leads_out(file, path):
                mistake = "a link that leads out of the folder"
                advice = "put the file itself there, or give its own path"
                problems.append(Problem(Place(str(file)), mistake, f"a file in {path}", advice))
                continue
            files.setdefault(resolved(file), file)
    return list(files.values())


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


def _audit_of(path: Path, rounding: Rounding, allow_code: Consent, decided: Decided) -> Audit:
    if path.suffix.lower() in CLAIMS:
        return audit_file(path, allow_code=allow_code)
    given = path == STANDARD_INPUT
    source = "standard input" if given else str(path)
    text = _standard_input(source) if given else read_text(path, "a table")
    if len(text) > MAX_TEXT:
        most = f"at most {MAX_TEXT:,} characters"
        raise fatal(Place(source), "the table is too long", most, "make several tables of it")
    text = with_minus(without_annotations(text))
    if has_arms(text) and (text.strip() or not given):
        rows = audit(read_table(path, text, source), rounding=rounding)
        return Audit("", source, rows, tuple(table_findings(rows)))
    text = of_stata(with_daggers(_without_prefix(text)))
    refuse_printouts(text, source)
    statements, unread = _in_text(text, source)
    if statements:
        return audit_statistics(statements, source, text, rounding, unread)
    try:
        return _audit_table(text, source, decided, rounding)
    except SpecError:
        found = in_text(text, source)  # z with its p, not a table
        if found.statements:
            unread = not_read(text, found.ends, found.problems)
            return audit_statistics(found.statements, source, text, rounding, unread)
        refuse_without_df(text, source)
        raise


def _without_prefix(text: str) -> str:
    """What R prints, without the `## ` or `#> ` that knitr puts before each of its lines."""
    text = re.sub(r"(?m)^[ \t]*#> ?", "", text)
    text = re.sub(r"(?<=\|) *Pr\(>\\?\|[tz]\\?\|\)", " p ", text)  # no ends of a cell
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    marked = sum(line.startswith("##") for line in lines)
    of_r = re.search(r"(?m)^[ \t]*## .*\bPr\(>", text)
    if of_r or marked * 2 > len(lines) or all(line.startswith("#") for line in lines):
        return re.sub(r"(?m)^[ \t]*##? ?", "", text)
    return text


def _audit_table(text: str, source: str, decided: Decided, rounding: Rounding) -> Audit:
    """The audit of a table as it is printed."""
    pasted, statements, rest = _in_columns(text, source)
    if statements:
        more, rest = _in_tables(rest, source)
        return audit_statistics((*statements, *more), source, text, rounding, not_read(rest))
    refuse_coefficients(pasted)
    printed = read_as_printed(
        pasted,
        methods=decided.methods,
        baseline=decided.baseline,
        plus_minus=decided.plus_minus,
    )
    judged = partial(audit, rounding=rounding)
    found = audit_as_printed(printed, source, decided, rounding, judged)
    unread = not_read(outside(text, pasted, named=False))
    return replace(found, lead=(*sentence_on(unread), *found.lead), unread=len(unread))


Read: TypeAlias = tuple[Statement, ...]


def _in_columns(text: str, source: str, *, mixed: bool = False) -> tuple[Pasted, Read, str]:
    """The table of a text, the statistics of its columns, and the text without it.

    In a ``mixed`` text degrees of freedom in words may be of something else.
    """
    anova = in_anova(text, source)
    pasted = read = anova[0] if anova else with_its_name(read_pasted(text, source))
    if mixed:
        pasted = read = replace(pasted, notes=tuple(DF.sub("", note) for note in pasted.notes))
    statements = in_columns(pasted) or in_matrix(pasted)
    if statements is None and (other := turned(pasted)) is not None:
        read, statements = other, in_columns(other)
    rest = anova[1] if anova else outside(text, read, named=True)
    return pasted, statements or (), rest


def _in_tables(text: str, source: str) -> tuple[Read, str]:
    """The statistics in columns of what else a text holds, and the text without these tables."""
    found: Read = ()
    while True:
        try:
            _, more, rest = _in_columns(text, source, mixed=True)
        except SpecError:
            return found, text
        if not more or rest == text:
            return found, text
        found, text = (*found, *more), rest


def _in_text(text: str, source: str) -> tuple[Read, tuple[str, ...]]:
    """The statistics of a text, not a table alone, and what else of it has a p and is not read.

    What programs print, then cells of a table whose p stands in a column, then the other lines,
    and then columns of tables.
    """
    found, text = in_summary(text, source)
    pairs, text = in_tukey(text, source)
    found += pairs
    if not found and not has_statistics(text):
        return (), ()
    text = with_levels(text)
    try:
        table = read_pasted(text, source)
    except SpecError:
        pass
    else:
        cells = in_cells(table)
        found, text = (*found, *cells), outside(text, table, named=True) if cells else text
    said = in_text(text, source, len(found))
    lines = text.split("\n")
    told = {line - 1 for line, _ in said.ends if "<t" not in lines[line - 1].lower()}
    without = "\n".join("" if at in told else line for at, line in enumerate(lines))
    of_tables, rest = _in_tables(without, source)
    left = [lines[at] if at in told else line for at, line in enumerate(rest.split("\n"))]
    unread = not_read("\n".join(left), said.ends, said.problems)
    return (*found, *said.statements, *of_tables), unread


def _standard_input(source: str) -> str:
    try:
        return sys.stdin.read(MAX_TEXT + 1)
    except UnicodeDecodeError:
        raise fatal(Place(source), "not UTF-8", "UTF-8 text", "paste it as text") from None


def audit_file(path: Path, *, allow_code: Consent = False) -> Audit:
    """The audit of one YAML file: an audit, or a claim with what it says was published.

    Raises SpecError with every mistake in the file.
    """
    document = read_document(path)
    if "audit" in document.data:
        return _audit_entries(document)
    return _audit_claim(load_claim(path, _scale(document), allow_code=allow_code), document)


def _audit_entries(document: YamlDocument) -> Audit:
    """Every entry of an audit; its comparisons are judged together."""
    spec, tables = load_audit(document)

    def points(entry: PrintedPoints) -> tuple[Audited, ...]:
        return audit_points(entry, tables[entry.file] if entry.file else {})

    def rows(section: str, check: Callable[[Any], Audited]) -> Iterator[Audited]:
        return _made(document, section, getattr(spec, section), lambda entry: (check(entry),))

    comparisons = [
        *_made(document, "tables", spec.tables, _of_table),
        *_made(
            document,
            "comparisons",
            spec.comparisons,
            lambda pair: (_compared(pair, pair.id, pair.arms.values(), None, pair.p),),
        ),
    ]
    tested = audit(comparisons, rounding=spec.rounding, other_n=spec.other_n)
    found = (
        *tested,
        *_made(document, "points", spec.points, points),
        *rows("wins", lambda entry: wins(entry, tables[entry.file])),
        *rows("spectra", lambda entry: spectrum(entry, tables[entry.file])),
        *rows("derived", derived),
        *rows("same_quantity", same_quantity),
        *rows("pooled", pooled),
        *rows("single_runs", single_run),
        *rows("bounds", bound),
    )
    return Audit(spec.title, document.file, found, tuple(table_findings(tested)))


def _audit_claim(claim: Claim, document: YamlDocument) -> Audit:
    """What an ordinary claim says was published; one row per entry, checkable or not."""
    names = _distinct([entry.expectation for entry in claim.published])
    entries = list(zip(names, claim.published, strict=True))
    comparisons = _made(document, "published", entries, lambda entry: _published(claim, *entry))
    tested = {row.id: row for row in audit(list(comparisons))}
    rows = tuple(tested.get(name) or _not_checkable(name, entry) for name, entry in entries)
    if not rows:
        said = "this claim says of no printed number what was published"
        rows = (Audited(id=claim.id, grade=Grade.NOT_CHECKABLE, kind="claim", findings=(said,)),)
    return Audit(claim.title, claim.file, rows, tuple(table_findings(tuple(tested.values()))))


Entry = TypeVar("Entry")
Made = TypeVar("Made")


def _made(
    document: YamlDocument,
    section: str,
    entries: Iterable[Entry],
    of: Callable[[Entry], Iterable[Made]],
) -> Iterator[Made]:
    """What is made of entries; one that means nothing is a problem at its own place."""
    for position, entry in enumerate(entries):
        try:
            yield from of(entry)
        except ClaimError as error:
            expected = "numbers that can be checked"
            advice = error.advice or "compare it with the document"
            problem = document.problem((section, position), error.cause, expected, advice)
            raise SpecError([problem]) from None


def _of_table(table: PrintedTable) -> Iterator[PrintedComparison]:
    """A comparison of every row with the baseline: A is the row."""
    baseline = table.rows[table.baseline]
    for name, row in table.rows.items():
        if name != table.baseline:
            yield _compared(table, f"{table.id}_{name}", (row, baseline), table.n, row.p)


def _compared(
    entry: Tested,
    name: str,
    arms: Iterable[PrintedMoments],
    n: int | None,
    p: str | None,
) -> PrintedComparison:
    a, b = (PrintedArm.read(arm.mean, arm.sd, arm.n or n) for arm in arms)
    said = {key: getattr(entry, key) for key in Tested.model_fields} | {"id": name}
    return PrintedComparison(a=a, b=b, p=printed(p), **said)


def _published(claim: Claim, name: str, entry: Published) -> Iterator[PrintedComparison]:
    """The printed comparison of an entry; none if it does not compare two arms."""
    if len(entry.arms) != 2:
        return
    a, b = (
        PrintedArm.read(arm.mean, arm.sd, arm.n if arm.n and arm.n > 1 else None)
        for arm in entry.arms.values()
    )
    named = (each for each in claim.expectations if each.id == entry.expectation)
    tests = (kind_of(each).published_test(each) for each in named)
    yield PrintedComparison(
        name,
        a,
        b,
        printed(entry.p),
        alpha=claim.alpha,
        test=next(tests, None),
        locator=entry.locator,
        note=entry.note,
    )


def _not_checkable(name: str, entry: Published) -> Audited:
    arms = ", ".join(f"{arm} {numbers.mean}" for arm, numbers in entry.arms.items())
    said = f"{len(entry.arms)} arm is printed ({arms}); a comparison needs two"
    findings, details = noted([said], entry.note), {"locator": entry.locator}
    return Audited(id=name, grade=Grade.NOT_CHECKABLE, findings=findings, details=details)


def _distinct(names: list[str]) -> list[str]:
    """The names, a second one of the same expectation as `name_2`, and so on."""
    return [
        name if (before := names[:place].count(name)) == 0 else f"{name}_{before + 1}"
        for place, name in enumerate(names)
    ]


def _scale(document: YamlDocument) -> ScaleName:
    """The largest scale that the claim has; what was published is the same at all."""
    declared = document.get("scales")
    if not isinstance(declared, dict):
        return UNSCALED if declared is None else SCALES[-1]
    found = [scale for scale in SCALES if scale in declared] or list(declared)
    return found[-1] if found else SCALES[-1]
