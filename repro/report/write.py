"""Reports to files and back, as JSON and as a table of values.

Each file is replaced in one step, and what a kill leaves is swept: what nobody holds any more, and
is not of this minute, is rubbish (``files.sweep``).
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repro.errors import Place, Problem, SpecError, Stopped
from repro.files import (
    NotRegularError,
    TooLargeError,
    fatal,
    is_folder,
    place_of_offset,
    read_bytes,
    sweep,
    try_lock,
    write_atomically,
)
from repro.judging.document import Document
from repro.machine import cores
from repro.report.formats import FORMATS, ReportFormat, builtin, page, rendered
from repro.report.index import KeptLines, Line, index
from repro.report.markdown import listed

FAILED = "failed.txt"
"""What is written next to a report, or in its place, when the claim could not be judged."""

LARGEST = 50_000_000
DEEPEST = 60

LONGEST = 100_000
"""No text of a report has more characters than this: the numbers of 10,000 seeds have fewer."""

WORD = 5_000
"""No word of a report has more characters: setting a line takes the square of it."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_ENDLESS = re.compile(rf"\S{{{WORD + 1}}}")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[][{}]', re.DOTALL)

Location = tuple[int | str, ...]
"""The steps to a value inside a document."""

COUNTED = 2**63
"""No whole number of a report is beyond this, so that each is also a float."""


def write_report(
    document: Document,
    folder: Path,
    formats: Iterable[ReportFormat] = (),
    *,
    without: Collection[str] = (),
) -> list[Path]:
    """Write report.json, report.html, report.pdf and junit.xml, and the files of ``formats``.

    A file of a format in ``without`` is not written, and none that is there is left to be taken
    for one of this report. Returns the paths of what was written.
    """
    paths = write_files(rendered(document, formats, without=without), folder)
    for name in without:
        (folder / FORMATS.get(name).file).unlink(missing_ok=True)
    return paths


MANY = 4
"""So many reports are worth the second that another process takes to start."""


def rendered_apart(
    documents: Sequence[Document], formats: Sequence[ReportFormat]
) -> Iterator[Callable[[], dict[str, bytes]]]:
    """What renders each document: where there are many, processes that have begun.

    What fails in a process is rendered again here, where its place can be told.
    """
    here = [partial(rendered, document, formats) for document in documents]
    if len(documents) < MANY or cores() < 2 or formats:
        yield from here
        return
    from repro.running.pool import ProcessPool  # noqa: PLC0415 - most commands render one report

    pool = ProcessPool(min(cores(), len(documents)))
    try:
        begun = [pool.submit(rendered, document) for document in documents]
        for future, again in zip(begun, here, strict=True):
            yield future.result if future.exception() is None else again
    finally:
        pool.terminate()


def write_files(files: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Write the files of a report, by name; returns their paths."""
    sweep(folder, f".*{ENDING}")
    order = sorted(files, key=lambda name: name != JSON.file)  # the others can be made of it again
    return [replace(folder / name, files[name]) for name in order]


def document_text(document: Document) -> str:
    """The one JSON text of a document: keys sorted, two blanks a level, a newline at the end."""
    return documents_text([document])


JSON = ReportFormat("report.json", lambda document: document_text(document).encode(), label="JSON")


def documents_text(documents: Sequence[Document], *, several: bool = False) -> str:
    """The JSON text of one document; of several, or where ``several`` were asked for, an array."""
    data = [document.model_dump(mode="json", by_alias=True) for document in documents]
    shown = data if several or len(data) != 1 else data[0]
    return json.dumps(shown, indent=2, sort_keys=True, allow_nan=False) + "\n"


def document_schema() -> str:
    """The published JSON Schema of report.json."""
    schema = Document.model_json_schema(by_alias=True, mode="serialization")
    schema["$schema"] = DIALECT
    schema["title"] = "A verdict report of repro"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def read_document(path: Path) -> Document:
    """The document in a report.json; SpecError names the place of what is wrong with it."""
    text = _read(path)
    _refuse_depth(path, text)
    try:
        document = Document.model_validate_json(text)
    except ValidationError as error:
        place = _place_of_syntax_error(path, text)
        problems = [
            Problem(
                place,
                _where(item["loc"]) + item["msg"],
                "a report.json, as `repro verify` writes it",
                "give the path of one or of its folder; `repro verify` writes it again",
            )
            for item in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        raise SpecError(problems[:20]) from None
    _refuse_sizes(path, text)
    return document


def report_file(path: Path) -> Path:
    """The report.json that a path means: itself, or that in its folder.

    SpecError for a folder without one, which names the nearest below it.
    """
    if not is_folder(path):
        return path
    if (file := path / JSON.file).exists():
        return file
    below = sorted(path.glob(f"*/{JSON.file}")) or sorted(path.glob(f"*/*/{JSON.file}"))
    advice = "`repro verify` writes one for each claim, to reports/CLAIM/SCALE"
    if below:
        more = f", or one of {len(below) - 1} others" if len(below) > 1 else ""
        advice = f"give the folder of one: {below[0].parent}{more}"
    mistake = f"this folder has no {JSON.file}"
    raise fatal(Place(str(path)), mistake, "the folder of one report, or its report.json", advice)


def write_failure(stopped: Stopped, claim: str, scale: str, reports: Path) -> None:
    """Write what became of a claim that has no verdict: for a reader, and for a build server.

    A report that is there is older, and stays; the index names the failure instead of it.
    """
    text = f"{stopped.why}\n" + (f"\n{stopped.trace}" if stopped.trace else "")
    folder = reports / claim / scale
    replace(folder / FAILED, text.encode("utf-8", "backslashreplace"))
    for each in builtin():
        if each.failure is not None:
            replace(folder / each.file, each.failure(f"{claim}.{scale}", stopped.why))


def write_index(folder: Path) -> Path:
    """Collect the reports two levels below ``folder``; write its index.html, and index.md."""
    with alone(folder):
        sweep(folder, f".*{ENDING}")
        lines, broken = _rows(folder)
        replace(folder / "index.md", listed(lines, broken).encode())
        return replace(folder / "index.html", index(lines, broken).encode())


def _rows(folder: Path) -> tuple[list[Line], list[tuple[str, str]]]:
    """A line for each report, and what cannot be shown: its place and why."""
    lines: list[Line] = []
    broken: list[tuple[str, str]] = []
    known = KeptLines(folder, LARGEST, read_document)
    found = (*folder.glob("*/*/report.json"), *folder.glob(f"*/*/{FAILED}"))
    for place in sorted({path.parent for path in found}):
        inside = place.relative_to(folder)
        if (place / FAILED).exists():
            broken.append(((inside / FAILED).as_posix(), _first_line(place / FAILED)))
            continue
        try:
            path = place / JSON.file
            shown = page() if (place / page()).exists() else JSON.file
            lines.append(known.line(path, (inside / shown).as_posix()))
        except SpecError as error:
            broken.append(((inside / "report.json").as_posix(), error.problems[0].what))
    known.write()
    return lines, broken


def _first_line(path: Path) -> str:
    """The first line of a text of our own, whatever became of it."""
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return stream.readline(1000).strip()
    except OSError as error:
        return str(error.strerror)


def _wrong(path: Path, mistake: str, expected: str = "", place: Place | None = None) -> SpecError:
    advice = "run `repro verify` again: it rewrites the report from the stored runs"
    return SpecError([Problem(place or Place(str(path)), mistake, expected, advice)])


def _read(path: Path) -> str:
    """The text of a regular file; nothing else is waited for."""
    try:
        return read_bytes(path, LARGEST).decode("utf-8")
    except NotRegularError:
        raise _wrong(path, "the report is no regular file", "a file report.json") from None
    except TooLargeError:
        most = f"at most {LARGEST // 10**6} MB"
        raise _wrong(path, "the report is too large", most) from None
    except OSError as error:
        raise _wrong(path, f"the report cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise _wrong(path, f"the report is not UTF-8 text: byte {error.start}") from None


def _refuse_depth(path: Path, text: str) -> None:
    """Refuse nesting that no report has before a parser meets it; brackets in strings count not."""
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        depth += (found[0] in "[{") - (found[0] in "]}")
        if depth > DEEPEST:
            place = place_of_offset(text, found.start(), str(path))
            raise _wrong(path, "the report is nested too deeply", place=place)


def _refuse_sizes(path: Path, text: str) -> None:
    """Refuse texts and whole numbers that no report has, and that no drawing could hold.

    Nothing between quotes is longer than it is written, so the text is first looked at as it is.
    """
    words, lines = map(len, text.split()), map(len, text.split("\n"))
    if max(words, default=0) <= WORD and max(lines) <= LONGEST and not _many_digits(text):
        return
    for steps, value in _leaves(json.loads(text), ()):
        if isinstance(value, str) and len(value) > LONGEST:
            found = f"a text of {len(value):,} characters"
            raise _wrong(path, f"{_where(steps)}{found}", f"at most {LONGEST:,}")
        if isinstance(value, str) and _ENDLESS.search(value):
            found = f"a word of more than {WORD:,} characters"
            raise _wrong(path, f"{_where(steps)}{found}", "blanks between words")
        if isinstance(value, int) and abs(value) > COUNTED:
            found = "a whole number that is too large"
            raise _wrong(path, f"{_where(steps)}{found}", f"at most {COUNTED:,}")


def _many_digits(text: str) -> bool:
    """Whether a whole number in a JSON text has as many digits as one that is too large."""
    digits: list[int] = []
    json.loads(text, parse_int=lambda number: digits.append(len(number)))
    return max(digits, default=0) >= len(str(COUNTED))


def _leaves(value: Any, steps: Location) -> Iterator[tuple[Location, Any]]:
    """Every value in a document that holds no other, and every key, with the steps to it."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield (*steps, "key"), key
            yield from _leaves(inside, (*steps, key))
    elif isinstance(value, list):
        for place, inside in enumerate(value):
            yield from _leaves(inside, (*steps, place))
    else:
        yield steps, value


def _place_of_syntax_error(path: Path, text: str) -> Place:
    """Where JSON goes wrong; the start of the file for anything else."""
    try:
        json.loads(text)
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError):
            return Place(str(path), error.lineno, error.colno)
    return Place(str(path))


def _where(location: Location) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return f"{path.lstrip('.')}: " if path else ""


ENDING = ".part"

PATIENCE_SECONDS = 10.0
"""For another process that writes the same; a stopped one is not waited for longer."""


def replace(path: Path, content: bytes) -> Path:
    """Write a temporary sibling and put it in place of ``path`` in one step. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content, ending=ENDING)
    return path


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Do what reads all reports of a folder and writes their index, one process at a time.

    So the last index that is written has read every report that was there before it. Where
    folders cannot be locked, and after some seconds, it is done all the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not try_lock(handle) and time.monotonic() < deadline:
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)


def values(document: Document) -> str:
    """A row for each value of a finished run, as `repro verify --results` reads them.

    ``task`` is a column where runs have one. A cell that a spreadsheet would take for a formula
    begins with an apostrophe.
    """
    tasks = any(arm.tasks for arm in document.arms)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["arm", *(["task"] if tasks else []), "seed", "measurement", "value"])
    for arm in document.arms:
        for run in arm.replicates:
            for key, value in sorted(run.values.items()):
                task = [_harmless(run.task)] if tasks else []
                cells = [_harmless(arm.id), *task, run.number, _harmless(key), repr(value)]
                rows.writerow(cells)
    return out.getvalue()


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


VALUES = ReportFormat("values.csv", lambda document: values(document).encode(), label="Values")
