"""`repro report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repro.cli.options import AllowCode, Formats, problems, say


def report(
    document: Annotated[
        Path, typer.Argument(help="A report.json, or its folder.", show_default=False)
    ],
    to: Annotated[
        Path | None, typer.Option(help="Folder to write to; default the document's own.")
    ] = None,
    format: Formats = None,  # noqa: A002 - the name of the option
    allow_code: AllowCode = False,
) -> None:
    """Render a report again from its report.json; nothing is judged or trained."""
    with problems():
        from repro.files import is_folder
        from repro.report.formats import added
        from repro.report.write import read_document, write_report

        formats = added(format or (), allow_code=allow_code)
        file = document / "report.json" if is_folder(document) else document
        for path in write_report(read_document(file), to or file.parent, formats):
            say(str(path))
