"""Audits -> folders with a page, a PDF, Markdown and JSON each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from repro.audit.comparison import Audit, Audited
from repro.audit.findings import answer_of
from repro.audit.render import to_json, to_markdown
from repro.report.audit_page import AnsweredLine, AuditPage, write_audit


def write_pages(audits: Sequence[Audit], folder: Path) -> list[Path]:
    """Write `audit-NAME` of every audit in a folder; the pages, in the order given."""
    written: dict[str, Path] = {}
    for audit in audits:
        stem = re.sub(r"[^\w.-]+", "-", PurePath(audit.source).stem) or "table"
        named = f"audit-{stem}"
        name = next(
            n for n in (named, *(f"{named}-{i}" for i in range(2, 10_000))) if n not in written
        )
        texts = {"report.md": f"{to_markdown([audit])}\n", "report.json": f"{to_json([audit])}\n"}
        written[name] = write_audit(page_of(audit), folder / name, texts)
    return list(written.values())


def page_of(audit: Audit) -> AuditPage:
    """What a page shows of an audit."""
    name = PurePath(audit.source).name
    lines = tuple(map(_line, audit.rows))
    return AuditPage(audit.title or f"Audit of {name}", name, lines, audit.said)


def _line(row: Audited) -> AnsweredLine:
    answer, why = answer_of(row)
    if row.p_printed is not None:
        return AnsweredLine(answer, row.id, why, "p")
    return AnsweredLine(
        answer, row.id, why, "statistic" if row.kind == "statistic" else "difference"
    )
