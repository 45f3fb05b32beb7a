"""The numbers that a program leaves, by name: those that a claim asks for, and all that are there.

From JSON, CSV, JSON lines, a log, its output, or what it left for a tracker, which the importer of
an `import` arm reads.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from repro.errors import DataError, NotKeptError, printable
from repro.files import leads_out, read_bytes
from repro.results.importer import FilesRead
from repro.results.importers import IMPORTERS
from repro.results.pattern_rows import PatternRows
from repro.results.series import FORMS, Row, rows_in
from repro.trainers.command.attempts import LARGEST, Attempts, joined
from repro.trainers.command.left import EVENTS, OF_DATABASE, Left
from repro.trainers.command.spec import TRACKERS, Results, filled

NAMED: Final = 10
LONGEST_NAME: Final = 80
MOST_SEEN: Final = 1_000
"""How many names of files a message lists, how much of each, and how many are looked at for it."""

FIRST: Final = Attempts()
"""No attempt came before."""

MOST_PLACES, MOST_NAMES = 6, 12

MOST_SHOWN: Final = 8
"""How many runs of a tracker, or folders of events, a message lists."""

LOOKED_THROUGH: Final = 4_000_000
"""Bytes of a file, or of an output, that is looked through."""

NUMBER: Final = r"[-+]?(?:\d+[.,]?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)\b"
_SAID: Final = re.compile(
    rf"(?<![\w./-])([A-Za-z_][\w./@-]{{0,79}})['\"]?\s{{0,9}}[:=]\s{{0,9}}({NUMBER})(?![\w/:])"
)
_BESIDE: Final = re.compile(
    r"(?<![\w./-])((?:[A-Za-z_]\w{0,39} )?[A-Za-z_]\w{0,39})\s{1,9}([-+]?\d+\.\d+)(?![\w/:])"
)
"""`name: 1` or `name=1`, and `val loss 1.5`."""

_MLRUNS: Final = re.compile(r"(?:.*/)?mlruns(?=/)")


def place_of(results: Results, values: Mapping[str, Any], folder: Path) -> Path | None:
    """Where the results of a run are, with the ``values`` of the placeholders; None: printed."""
    return folder / filled(results.path, values) if results.path else None


def rows_of(
    results: Results,
    values: Mapping[str, Any],
    folder: Path,
    attempts: Attempts = FIRST,
    step: str | None = None,
) -> list[Row]:
    """The rows that a run left in a file; of ``file`` there is one.

    ``values`` are those of the placeholders, ``folder`` is where the program ran. Of several
    ``attempts`` those rows are left out that a later one has taken back, by their ``step``.
    DataError for results that are missing, or no numbers.
    """
    path = folder / filled(results.path, values)
    if leads_out(path, Path(values["out"])):
        raise leads_out_of(path)
    if results.form in TRACKERS:
        return tracked(results.form, path, Path(values["out"]))
    parts = [part for part in attempts.parts(_content(path, values["out"])) if part.strip()]
    found = [_rows(results, path, part, parts[0]) for part in parts]
    rows = joined(found, step) if step else [row for part in found for row in part]
    if not any(rows):
        said = results.pattern or "at least one number"
        mistake = "no numbers" if results.pattern is None else "no line has the pattern"
        raise refused(str(path), mistake, said)
    if step and not any(step in row for row in rows):
        raise refused(str(path), f"no row has the step '{step}'", "what `resume` names")
    return rows


def _found(rows: list[Row], pattern: str) -> list[Row]:
    if not rows:
        raise refused("the output", "no line has the pattern", pattern)
    return rows


def search_ended(left: Left, results: Results, search: PatternRows) -> None:
    """Take down which rows were found while a program printed, or why none could be."""
    left.sought = results.stdout
    if results.stdout is not None:
        try:
            left.rows = search.rows
        except DataError as error:
            left.trouble = str(error)


def printed(left: Left, pattern: str) -> list[Row]:
    """The rows that a pattern finds in what a program has printed.

    DataError for none, NotKeptError where the output was too long to be kept.
    """
    if left.sought == pattern:
        if left.rows is None:
            raise DataError(left.trouble)
        return _found(left.rows, pattern)
    if not left.whole:
        raise NotKeptError(
            "the output: its middle was not kept, and another pattern was searched in it\n"
            f"  expected: the pattern {left.sought}, or a shorter output\n"
            "  to do: give the same command again, which runs the program again"
        )
    with PatternRows(pattern) as search:
        for line in left.output.decode("utf-8", "replace").split("\n"):
            search(line)
        return _found(search.rows, pattern)


def _rows(results: Results, path: Path, part: bytes, first: bytes) -> list[Row]:
    """The rows of what one attempt wrote; a header stands in the ``first`` part alone."""
    if results.form == "csv" and part is not first:
        part = first.lstrip().partition(b"\n")[0] + b"\n" + part
    try:
        text = part.decode("utf-8-sig")
        if results.pattern is not None:
            with PatternRows(results.pattern) as search:
                for line in text.splitlines():
                    search(line)
                return search.rows
        return rows_in(text, results.form, appended=part is not first)  # type: ignore[arg-type]
    except UnicodeDecodeError as error:
        raise refused(str(path), "cannot be read: no UTF-8", "the results of the run") from error
    except ValueError as error:
        mistake = f"cannot be read as {results.form}: {error}"
        raise refused(str(path), mistake, "numbers by name") from error


def _content(path: Path, out: str) -> bytes:
    try:
        return read_bytes(path, LARGEST, follow=False)
    except OSError as error:
        why = error.strerror or str(error)
        expected = "the results of the run"
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            expected += f"; {_there(Path(out))}"
        raise refused(str(path), f"cannot be read: {why}", expected) from error


def _there(out: Path) -> str:
    """What a program left in its folder: some names, that of a results file perhaps among them."""
    walked = (Path(at, name) for at, _, names in os.walk(out) for name in sorted(names))
    seen = sorted(path.relative_to(out).as_posix() for path in islice(walked, MOST_SEEN))
    if not seen:
        return "{out} has no file in it"
    names = [f"'{printable(name[:LONGEST_NAME])}'" for name in seen[:NAMED]]
    more = f" and {'at least ' if len(seen) == MOST_SEEN else ''}{len(seen) - NAMED} more"
    return f"{{out}} has {', '.join(names)}{more if len(seen) > NAMED else ''}"


def tracked(form: str, path: Path, out: Path) -> list[Row]:
    """The rows of the one run that is at ``path``; DataError for none, several, or no whole one."""
    if not path.exists():
        raise _not_one(path, "no such file or folder", "what the tracker wrote for this run")
    if form == "tensorboard":
        path = _folder_of_events(path, out)
    copied = out.parent / "tracked"  # a plain name: the importer takes some for patterns
    try:
        importer = IMPORTERS.get(form).model_validate(
            {"from": form, "path": _copied(path, copied).name}
        )
        files = FilesRead()
        runs = list(importer.runs(copied, files))
    except DataError as error:
        said = str(error).replace(str(copied / "run"), str(path)).replace("`path`", "`results`")
        raise DataError(said) from error
    finally:
        shutil.rmtree(copied, ignore_errors=True)
    if len(runs) != 1:
        named = ", ".join(printable(run.place)[:80] for run in runs[:MOST_SHOWN]) or "none"
        raise _not_one(path, f"{len(runs)} runs are there: {named}", "one run in each {out}")
    (run,) = runs
    if run.state != "finished":
        raise _not_one(path, f"its tracker says that the run is {run.state}", "one that finished")
    if not any(run.rows):
        raise _not_one(path, "no numbers", "at least one")
    rows: list[Row] = run.rows
    return rows


def _folder_of_events(path: Path, out: Path) -> Path:
    """The folder itself, or else the only one below it that holds events."""
    if any(path.glob(EVENTS)):
        return path
    walked = (Path(at) for at, _, names in os.walk(path) if any(fnmatch(n, EVENTS) for n in names))
    below = sorted(walked)
    if len(below) != 1:
        shown = [f"'{{out}}/{printable(b.relative_to(out).as_posix())}'" for b in below]
        what = f"events are in {len(below)} folders: {', '.join(shown[:MOST_SHOWN])}"
        mistake = what if below else "no file of events (*tfevents*) is there"
        raise _not_one(path, mistake, "the folder of one run, such as the one that is meant")
    return below[0]


def _copied(path: Path, folder: Path) -> Path:
    """A copy in an empty folder, with the files of a database."""
    folder.mkdir()
    copy = folder / "run"
    if path.is_dir():
        shutil.copytree(path, copy, symlinks=True)
        return copy
    for ending in OF_DATABASE:
        if (beside := path.with_name(path.name + ending)).is_file():
            shutil.copyfile(beside, copy.with_name(f"run{ending}"), follow_symlinks=False)
    return copy


def _not_one(path: Path, mistake: str, expected: str) -> DataError:
    """What to say of a tracker's results that are not one whole run."""
    return DataError(
        f"{path}: {mistake}\n  expected: {expected}\n"
        "  to do: correct `results`, or what the program writes"
    )


def leads_out_of(path: Path) -> DataError:
    """What to say of results that are a link, or in a folder that is one."""
    mistake = "cannot be read: it leads out of the folder of the run"
    return refused(str(path), mistake, "a file that it wrote")


def tail(output: bytes) -> str:
    """The last lines of an output, for a message."""
    lines = output.decode("utf-8", "replace").strip("\r\n").splitlines()[-8:]
    return "".join(f"\n  | {line[:300]}" for line in lines)


def refused(place: str, mistake: str, expected: str) -> DataError:
    """What to say of results that cannot be read."""
    return DataError(
        f"{place}: {mistake}\n  expected: {expected}\n"
        "  to do: correct `results`, or the program that writes them"
    )


def document(rows: Sequence[Row], *, series: bool, mixed: bool = False) -> bytes:
    """What is stored of a run; ``mixed``: rows of attempts that were cut off may be among them."""
    told = {"series": series, "rows": list(rows)} | ({"mixed": True} if mixed else {})
    return json.dumps(told, sort_keys=True).encode("ascii")


class NumbersThere(NamedTuple):
    """Where numbers are: the key of `results` for it, the path in ``{out}``, and their rows."""

    form: str
    path: str
    rows: list[Row]

    @property
    def names(self) -> list[str]:
        """The names of the numbers."""
        return list(dict.fromkeys(name for row in self.rows for name in row))


def places(left: Left) -> Iterator[NumbersThere]:
    """Every file whose form is known by its name and that has numbers; then the output."""
    for path, content in left.files.items():
        form = FORMS.get(PurePosixPath(path).suffix.lower())
        if form is None or len(content) > LOOKED_THROUGH:
            continue
        with suppress(ValueError):
            rows = rows_in(content.decode("utf-8-sig"), form)
            if any(rows):
                yield NumbersThere(form, path, rows)
    yield from _tracked(left)
    said: list[Row] = []
    for line in left.output[:LOOKED_THROUGH].decode("utf-8", "replace").splitlines():
        pairs = [pair for said_so in (_SAID, _BESIDE) for pair in said_so.findall(line[:2_000])]
        found = {name: _number(text) for name, text in pairs}
        if found:
            said.append(found)
    if said:
        yield NumbersThere("stdout", "", said)


def _tracked(left: Left) -> Iterator[NumbersThere]:
    """What trackers wrote, each where it has one run."""
    names = [*left.files]
    found = [("tensorboard", ".")] if any("tfevents" in name for name in names) else []
    found += [("wandb", ".")] if any(name.endswith(".wandb") for name in names) else []
    found += [("mlflow", m[0]) for m in map(_MLRUNS.match, names) if m]
    found += [(form, n) for n in names if n.endswith(".db") for form in ("mlflow", "trackio")]
    if not found:
        return
    with left.unpacked() as out:
        for form, path in dict.fromkeys(found):
            with suppress(DataError):
                yield NumbersThere(form, path, tracked(form, out / path, out))


def _number(text: str) -> float | None:
    number = float(text.replace(",", "."))
    return number if abs(number) < float("inf") else None


def said_of(left: Left) -> str:
    """What is there, in further lines of a message."""
    told = []
    for place in list(places(left))[:MOST_PLACES]:
        names = [printable(name[:LONGEST_NAME]) for name in place.names]
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        where = f"'{printable(place.path[:LONGEST_NAME])}'" if place.path else "the output"
        told.append(f"\n  found: in {where}: {', '.join(names[:MOST_NAMES])}{more}")
    return "".join(told)
