"""A report format in one file: the verdict as plain text, for a terminal or an e-mail."""

from __future__ import annotations

from repro.extend import ReportFormat


def plain(document):
    """The verdict, why, and what each expectation found, a line each."""
    verdict = document.verdict
    lines = [
        f"{document.claim.title}",
        f"{verdict.validity}: {verdict.conclusion or 'no conclusion'}",
        verdict.sentence,
        *(f"- {result.statement} {result.sentence}" for result in document.results),
    ]
    return ("\n".join(lines) + "\n").encode()


PLAIN = ReportFormat("verdict.txt", plain)
