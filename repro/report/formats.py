"""Report formats: the table of those that are here, and what others add to it.

A format makes one file of a document. Those of the table are written for every report; another
is named by `--format`: a name that an installed package adds, or `module:object`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from repro.consent import Consent, Module, require_code
from repro.errors import ClaimError, DataError
from repro.judging.document import Document
from repro.plugins import Table


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A file of a report: its name, and what makes its bytes of a document.

    ``failure`` makes those of a claim (`claim.scale`) that could not be judged, and why. A page
    calls the file by its ``label``. ``with_links`` makes a page that leads to the formats that are
    written with it.
    """

    file: str
    render: Callable[[Document], bytes]
    failure: Callable[[str, str], bytes] | None = None
    label: str = ""
    with_links: Callable[[Document, Sequence[ReportFormat]], bytes] | None = None


FORMATS: Table[ReportFormat] = Table(
    "repro.report_formats",
    {
        "html": "repro.report.html:HTML",
        "pdf": "repro.report.pdf:PDF",
        "json": "repro.report.write:JSON",
        "values": "repro.report.write:VALUES",
        "junit": "repro.report.junit:JUNIT",
    },
)
"""The first is what a reader opens."""

PAGE = "report.html"

_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def builtin() -> tuple[ReportFormat, ...]:
    """The formats of every report. Loads matplotlib, Jinja and Typst."""
    return tuple(FORMATS.get(name) for name in FORMATS.names())


def page() -> str:
    """The name of the file that a reader opens, without loading what draws it."""
    return PAGE


def added(names: Iterable[str], *, allow_code: Consent) -> tuple[ReportFormat, ...]:
    """The formats of ``names`` that are not written anyway.

    CodeError for `module:object` without consent, ClaimError for what is no format.
    """
    asked = [name for name in dict.fromkeys(names) if name not in FORMATS.names()]
    code = [name for name in asked if ":" in name]
    require_code(map(Module, code), allow_code, dict.fromkeys(code, "--format"))
    return tuple(_format(name) for name in asked)


def _format(name: str) -> ReportFormat:
    try:
        found = FORMATS.get(name)
    except DataError as error:
        raise ClaimError(f"--format {error}") from None
    taken = {each.file for each in builtin()}
    if not isinstance(found, ReportFormat):
        wrong = f"is no ReportFormat, but {type(found).__name__}"
    elif not _FILE.fullmatch(found.file) or found.file in taken:
        wrong = f"cannot write {found.file!r}"
    else:
        return found
    raise ClaimError(
        f"--format {name}: {wrong}\n"
        "  expected: a repro.extend.ReportFormat with a file name of its own\n"
        "  to do: correct the format; docs/how-to/add-a-report-format.md shows one"
    )


def rendered(
    document: Document, formats: Iterable[ReportFormat] = (), *, without: Collection[str] = ()
) -> dict[str, bytes]:
    """The files of every report but for those ``without``, and those of ``formats``, by name.

    No page leads to a file that is left out. DataError where a format of others raises anything,
    or makes no bytes.
    """
    written = [FORMATS.get(name) for name in FORMATS.names() if name not in without]
    files = {
        each.file: each.with_links(document, written) if each.with_links else each.render(document)
        for each in written
    }
    return files | {each.file: _foreign(each, document) for each in formats}


def _foreign(added_format: ReportFormat, document: Document) -> bytes:
    try:
        content = added_format.render(document)
    except Exception as error:
        raise DataError(f"{added_format.file}: {type(error).__name__}: {error}") from error
    if not isinstance(content, bytes):
        raise DataError(f"{added_format.file}: its format makes {type(content).__name__}, no bytes")
    return content
