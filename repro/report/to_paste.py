"""A verdict to paste: into a pull request as Markdown, into a paper as a table of LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from repro.judging import reason
from repro.judging.document import Document, MeasurementPart
from repro.report import badges, lookups
from repro.report.markdown import escaped
from repro.report.parts import parts
from repro.schema import numbers as fmt

Intervals = Mapping[tuple[str, str], tuple[float, float]]
"""arm, measurement -> the ends of the 95 % interval of its mean."""

HEAD = ("Arm", "Measured", "n", "Mean", "95 % interval", "sd")

_LATEX = str.maketrans(
    {each: f"\\{each}" for each in "&%$#_{}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    | {fmt.MINUS: "$-$", fmt.DASH: "--", fmt.NO_BREAK: "~", "<": "$<$", ">": "$>$"}
)


def markdown(document: Document, intervals: Intervals, notes: Sequence[str], command: str) -> str:
    """The verdict with its arms, its parts, its flags, ``notes``, and how to verify it again."""
    verdict = document.verdict
    word = f"{verdict.validity}, {verdict.conclusion or verdict.validity_reason}"
    lines = [f"**{escaped(f'{document.claim.title}: {word}')}.** {escaped(verdict.sentence)}", ""]
    rows = [HEAD, ["---"] * len(HEAD), *(map(escaped, row) for row in _rows(document, intervals))]
    lines += [*(f"| {' | '.join(row)} |" for row in rows), ""]
    tested = lookups.decisive(document)
    said = [f"{claim}: {told}" for claim, told in _found(document)] if len(tested) > 1 else []
    if verdict.conclusion:
        tests = (filter(None, (each.test, lookups.p_said(each))) for each in tested)
        said += dict.fromkeys(map(": ".join, tests))
        rate = badges.rate_of(document, verdict)
        said += filter(None, [rate, badges.high_level(document)])
    said += ["exploratory: not declared beforehand"] * reason.is_exploratory(document)
    for flag in verdict.flags:
        said.append(f"{badges.name_of_flag(flag.kind, document.claim.unit)}: {flag.text}")
    lines += [f"- {escaped(line)}" for line in dict.fromkeys((*said, *notes))]
    fence = "``" if "`" in command else "`"
    lines.append(f"- verify it again: {fence}{fmt.unbroken(fmt.clean(command))}{fence}")
    return "\n".join(lines) + "\n"


def latex(documents: Sequence[Document], intervals: Sequence[Intervals]) -> str:
    """A table of means and intervals, each arm once, and below them what was found of each part."""
    both = list(zip(documents, intervals, strict=True))
    arms: dict[tuple[str, ...], tuple[str, ...]] = {}
    for row in (row for document, ends in both for row in _rows(document, ends)):
        arms[row[:3]] = max(row, arms.get(row[:3], row), key=lambda each: len(each[3]))
    lines = [" & ".join(each.translate(_LATEX) for each in row) for row in (HEAD, *arms.values())]
    width = len(HEAD) - 1
    lines += [
        f"{claim.translate(_LATEX)} & \\multicolumn{{{width}}}{{l}}{{{told.translate(_LATEX)}}}"
        for document in documents
        for claim, told in _found(document)
    ]
    body = "".join(f"{line} \\\\\n" for line in lines)
    head, rest = body.split("\n", 1)
    return f"\\begin{{tabular}}{{llrrrr}}\n{head} \\hline\n{rest}\\end{{tabular}}\n"


def _rows(document: Document, intervals: Intervals) -> Iterator[tuple[str, ...]]:
    """What was measured of each arm, in the order of HEAD."""
    items = badges.items(document)
    for arm in document.arms:
        for summary in arm.summaries:
            measurement = _finer(document, lookups.measurement_of(document, summary.measurement))
            if measurement is None:
                continue
            ends = intervals.get((arm.id, summary.measurement))
            shown = [lookups.value(each, measurement) for each in (summary.mean, *(ends or ()))]
            reach = f"{shown[1]} to {shown[2]}" if ends else fmt.DASH
            n = fmt.DASH if summary.n is None else fmt.count(summary.n)
            n = items if items and summary.n == 1 else n
            sd = fmt.DASH if summary.sd is None else fmt.significant(summary.sd, 2)
            yield arm.label, measurement.label, n, shown[0], reach, sd


def _finer(document: Document, of: MeasurementPart | None) -> MeasurementPart | None:
    """A measurement with the digits of what was found of it, which are more where items count."""
    if of is None or not badges.items(document):
        return of
    found = [each for each in lookups.decisive(document) if each.measurement == of.key]
    digits = max([of.digits, *(lookups.digits_of(document, each) for each in found)])
    return of.model_copy(update={"digits": digits})


def _found(document: Document) -> Iterator[tuple[str, str]]:
    """What each decisive part claims, and what was found of it."""
    table = parts(document) if document.verdict.conclusion else None
    for row in (row for group in table.groups for row in group.rows) if table else ():
        yield row.claim, ", ".join(filter(None, (row.found, row.interval, row.badge.word)))
