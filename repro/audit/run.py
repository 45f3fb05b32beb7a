"""Paths -> audits: tables by `table`, claim files by `claims`, folders by what they hold."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from repro.audit.comparison import audit
from repro.audit.findings import table_findings
from repro.audit.grade import Grade, fails
from repro.audit.printed import Rounding
from repro.audit.record import Audit
from repro.audit.render import to_json, to_text
from repro.audit.table import read_table
from repro.errors import Place, Problem, SpecError
from repro.specs.files import is_folder, resolved
from repro.terminal import printable_lines

CLAIMS = (".yaml", ".yml")
NEVER = "never"


def audit_paths(paths: Sequence[Path], *, rounding: Rounding = "round") -> tuple[Audit, ...]:
    """The audit of every file, each once, in the order given.

    Of a folder its claim files (`*.yaml`) are audited, or its tables (`*.csv`) if it holds no
    claim. ``rounding`` is the model for tables; a claim file names its own. Raises SpecError
    with the mistakes of all files together.
    """
    audits: list[Audit] = []
    problems: list[Problem] = []
    for path in _files(paths, problems):
        try:
            audits.append(audit_path(path, rounding))
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(list(dict.fromkeys(problems)))
    return tuple(audits)


def audit_path(path: Path, rounding: Rounding = "round") -> Audit:
    """The audit of one claim file or table."""
    if path.suffix.lower() in CLAIMS:
        from repro.audit.claims import audit_file  # noqa: PLC0415 - a table needs no pydantic

        return audit_file(path)
    rows = audit(read_table(path), rounding=rounding)
    return Audit("", str(path), rows, table_findings(rows))


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
