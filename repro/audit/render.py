"""Audits as text for a terminal, and as JSON."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import PurePath
from typing import Any
from unicodedata import category

from repro.audit.comparison import LEGEND, Audit, Audited, Grade
from repro.audit.findings import NAMED, answer_of, number, p_number, span_text

NARROWEST, WIDEST = 50, 120

MARKS = {
    Grade.DECISION_INCONSISTENT: "!!",
    Grade.DECISION_FRAGILE: "! ",
    Grade.INCONSISTENT: "! ",
    Grade.NOT_BY_T_TEST: "? ",
    Grade.NOT_BY_COUNTS: "? ",
}


def to_json(audits: Sequence[Audit]) -> str:
    """An array with one object per row, in the order of the files."""
    rows = [_object(audit, row) for audit in audits for row in audit.rows]
    return json.dumps(rows, indent=2, allow_nan=False)


def _object(audit: Audit, row: Audited) -> dict[str, Any]:
    values = {each.name: getattr(row, each.name) for each in fields(row)}
    del values["assumed_why"], values["condition"]
    return values | {
        "grade": row.grade_text if row.graded else None,
        "answer": answer_of(row)[0],
        "reason": answer_of(row)[1],
        "assumed": {"variant": row.assumed, "why": row.assumed_why} if row.assumed else None,
        "details": dict(row.details),
        "table": {"title": audit.title, "source": audit.source, "findings": audit.said},
    }


def to_text(audits: Sequence[Audit], width: int) -> str:
    """Every file with its rows, worst first, then the legend and how many have each grade.

    Where there are many, those whose decision is in doubt are named once more at the end, which a
    terminal shows.
    """
    width = max(NARROWEST, min(width, WIDEST))
    lines: list[str] = []
    for audit in audits:
        lines += [*_answers(audit, width), *_table(audit, width), ""]
    rows = [row for audit in audits for row in audit.rows]
    counts = Counter(row.grade for row in rows if row.graded)
    for grade in (each for each in Grade if counts[each]):
        name = f"{grade}(x)" if grade is Grade.CONSISTENT_IF else grade
        lines += _wrapped(f"{name}: {LEGEND[grade]}", "", width, hanging="  ")
    total = ", ".join(f"{counts[grade]} {grade}" for grade in Grade if counts[grade])
    answers = Counter(answer_of(row)[0] for row in rows if not row.graded)
    if answers:
        said = ", ".join(f"{n} {answer}" for answer, n in answers.most_common())
        total = f"{total}; others: {said}" if total else said
    if unread := sum(audit.unread for audit in audits):
        total += f"; {unread} with a p not read"
    many = "statement" if len(rows) == 1 else "statements"
    lines += ["", *(_in_doubt(audits, width) if len(rows) > NAMED else ())]
    return "\n".join([*lines, *_wrapped(f"{len(rows)} {many}: {total}", "", width)])


def _answers(audit: Audit, width: int) -> Iterator[str]:
    """What is to be read first; the answer to each row with its reason, the worst first if many."""
    for sentence in audit.lead:
        yield from _wrapped(sentence, "", width, hanging="  ")
    if audit.lead:
        yield ""
    shown = _answered_first(audit)
    for row in shown:
        answer, reason = answer_of(row)
        yield from _wrapped(f"{answer}: {row.id}: {reason}", "", width, hanging="  ")
    if (more := len(audit.rows) - len(shown)) > 0:
        yield f"and {more} more, below"
    yield ""


def _answered_first(audit: Audit) -> Sequence[Audited]:
    as_printed = [row for row in audit.rows if row.reason]
    return as_printed or sorted(audit.rows, key=lambda row: row.grade.rank)[:NAMED]


def to_markdown(audits: Sequence[Audit]) -> str:
    """Tables of the answers, and below each what they take for granted."""
    lines: list[str] = []
    for audit in audits:
        lines += [f"**{_cell(audit.title or audit.source)}**", ""]
        lines += ["| answer | comparison | reason |", "|---|---|---|"]
        for row in audit.rows:
            answer, why = answer_of(row)
            lines.append(f"| {answer} | {_cell(row.id)} | {_cell(why)} |")
        lines += ["", *(f"- {_cell(said)}" for said in audit.said), ""]
    return "\n".join(lines).rstrip()


def _cell(text: str) -> str:
    return re.sub(r"([|<\[\]`*_\\])", r"\\\1", " ".join(text.split()))


def _in_doubt(audits: Sequence[Audit], width: int) -> Iterator[str]:
    for grade in (Grade.DECISION_INCONSISTENT, Grade.DECISION_FRAGILE):
        names = [
            f"{row.id} ({PurePath(audit.source).name})"
            for audit in audits
            for row in audit.rows
            if row.grade is grade
        ]
        more = f", and {len(names) - NAMED} more" if len(names) > NAMED else ""
        if names:
            mark = MARKS[grade].strip()
            said = f"{mark} {grade}: {', '.join(names[:NAMED])}{more}"
            yield from _wrapped(said, "", width, hanging="  ")
            yield ""


def _table(audit: Audit, width: int) -> Iterator[str]:
    title = f"{audit.title} ({audit.source})" if audit.title else audit.source
    yield from _wrapped(title, "", width)
    for sentence in audit.findings:
        yield from _wrapped(sentence, "  ", width)
    above = _answered_first(audit)
    for row in sorted(audit.rows, key=lambda row: row.grade.rank):
        if not row.graded or row.findings == (row.reason,):
            continue
        yield ""
        yield from _row(row, width, answer_of(row)[1] if row in above else "")


def _row(row: Audited, width: int, said: str) -> Iterator[str]:
    yield from _wrapped(f"{MARKS.get(row.grade, '  ')} {row.grade_text}: {row.id}", "", width)
    # What a row's numbers mean stands in its sentences; all of them are in the JSON.
    details = {"locator": row.details.get("locator")} if row.findings else row.details
    for line in ("; ".join(_numbers(row)), "; ".join(_details(details))):
        yield from _wrapped(line, "     ", width)
    for sentence in row.findings:
        known = said and sentence.startswith(said)
        rest = sentence.removeprefix(said).lstrip(";. ") if known else sentence
        if rest:
            rest = rest if rest.startswith("p ") else f"{rest[0].upper()}{rest[1:]}"
            yield from _wrapped(f"- {rest}", "     ", width, hanging="  ")


def _numbers(row: Audited) -> Iterator[str]:
    if row.p_printed is not None:
        yield f"printed p {row.p_printed}"
    if row.p_interval is not None:
        yield f"{row.assumed} gives {span_text(row.p_interval)}"
    if row.p_student is not None and row.p_welch is not None:
        yield f"as printed: Student {p_number(row.p_student)}, Welch {p_number(row.p_welch)}"
    if row.holm is not None and row.bh is not None:
        yield f"Holm {p_number(row.holm)}, BH {p_number(row.bh)}"
    if row.smallest_confirmable_margin is not None:
        yield f"smallest confirmable margin {number(row.smallest_confirmable_margin)}"


def _details(details: Mapping[str, Any]) -> Iterator[str]:
    for name, value in details.items():
        shown = ", ".join(map(_shown, value)) if isinstance(value, tuple) else _shown(value)
        if shown:
            yield f"{name.replace('_', ' ')} {shown}"


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _wrapped(text: str, indent: str, width: int, hanging: str = "") -> list[str]:
    """Lines of at most ``width`` characters, without what a terminal would obey."""
    # The categories C* of Unicode: control, format, surrogate, private and unassigned.
    shown = "".join(
        "\N{REPLACEMENT CHARACTER}" if category(sign)[0] == "C" else sign for sign in text
    )
    return textwrap.wrap(shown, width, initial_indent=indent, subsequent_indent=indent + hanging)
