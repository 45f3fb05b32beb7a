"""What a terminal is told of verdicts: the sentence of the report, its place, the exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from repro.cli.options import say
from repro.errors import printable

if TYPE_CHECKING:
    from rich.console import Console

    from repro.judging.document import Document


STYLES = {"good": "bold green", "bad": "bold red", "warn": "bold yellow", "plain": "bold"}


def tell(document: Document, page: Path, *, err: bool) -> None:
    """One claim: its verdict, the same sentence as in its report, and where that is.

    In colour on a terminal, unless NO_COLOR is set, and broken between words there; elsewhere
    each is one line. A minus sign is that of ASCII, so that a number can be copied.
    """
    from repro.report import words
    from repro.schema.numbers import MINUS, clean

    verdict = document.verdict
    head = f"{document.claim.id} ({document.scale.name}): {verdict.validity}, "
    word = verdict.conclusion or "no conclusion"
    rest = words.with_strength("", verdict.strength)
    if verdict.conclusion is not None and not verdict.as_expected:
        rest += " (not as expected)"
    if verdict.flags:
        name = "fragile" if verdict.conclusion in words.DECIDED else "flags"
        rest += f", {name}: {', '.join(dict.fromkeys(flag.kind for flag in verdict.flags))}"
    sentence = printable(clean(verdict.sentence).replace(MINUS, "-"))
    console = _console(err=err)
    if console is None:
        for line in (head + word + rest, f"  {sentence}", f"  {page}"):
            say(line, err=err)
        return
    from rich.text import Text

    shown = Text(head).append(word, STYLES[words.short_word(verdict).tone]).append(rest)
    console.print(shown)
    width = max(console.width - 2, 20)
    for line in wrap(sentence, width, break_long_words=False, break_on_hyphens=False):
        console.print(Text(f"  {line}"), soft_wrap=True)
    link = f"link {page.resolve().as_uri()}"
    console.print(Text("  ").append(printable(str(page)), link), soft_wrap=True)


def tell_status(
    code: int, documents: Sequence[Document], failed: Sequence[str] = (), *, err: bool
) -> None:
    """The reason for the exit status, as the last line; nothing for 0.

    ``failed`` names what did not come to a verdict: claims, or runs.
    """
    why = _why(code, documents, failed)
    if code == 0 or not why:
        return
    console = _console(err=err)
    if console is None:
        say(f"status {code}: {why}", err=err)
        return
    from rich.text import Text

    console.print(Text(f"status {code}", "bold").append(f": {why}", "not bold"))


def _why(code: int, documents: Sequence[Document], failed: Sequence[str]) -> str:
    from repro.judging.assemble import verdict_of
    from repro.judging.verdict import status_of
    from repro.schema.numbers import clean

    these = [document for document in documents if status_of(*verdict_of(document)) == code]
    if not these:
        others = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        first = printable(failed[0]) if failed else "something"
        return f"{first}{others} failed, as said above"
    name, verdict = these[0].claim.id, these[0].verdict
    expected = f"{verdict.expected or 'CONFIRMED'} was expected"
    said = f"{name} is not as expected: {verdict.conclusion or 'no conclusion'}; {expected}"
    if code == 4:
        said = f"{name} cannot be judged: {verdict.validity}, as said above"
    elif code == 3:
        found = verdict.conclusion or f"{verdict.validity}, {verdict.validity_reason}"
        said = f"{name} is not decided: {found}; {expected}"
    others = f" (and {len(these) - 1} more)" if len(these) > 1 else ""
    return printable(clean(f"{said}{others}"))


def _console(*, err: bool) -> Console | None:
    """A console for a terminal; None where the output goes into a pipe or a file."""
    stream = sys.stderr if err else sys.stdout
    if not stream.isatty():
        return None
    from rich.console import Console

    return Console(file=stream, highlight=False)
