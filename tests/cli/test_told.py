"""What a terminal is told: the sentence of the report, in colour, and why the exit status."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from repro.cli.options import say_read
from repro.cli.verify import tell, tell_status
from repro.judging.document import Document
from tests.judging.made import judged, made
from tests.judging.test_kinds import HIGH, LOW, difference
from tests.judging.test_sentences import ABOVE, WIDE

PAGE = Path("reports/made/paper/report.html")


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


OTHER_ORDER = [HIGH[place] for place in (2, 0, 4, 1, 3)]
"""The values of ``HIGH``, so that the arms do not go together seed by seed."""


def contradicted() -> Document:
    of = made(difference(direction="higher"), seeds={"min": 5, "plan": 5})
    return judged(of, {"a": LOW, "b": OTHER_ORDER})


def on_terminal(document: Document, monkeypatch: pytest.MonkeyPatch, columns: int = 60) -> str:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    tell(document, PAGE, err=False)
    tell_status(1, [document], err=False)
    return screen.getvalue()


def test_a_pipe_gets_whole_lines_without_colour(capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence of the report, with a minus sign that can be copied; the reason comes last."""
    document = contradicted()
    tell(document, PAGE, err=False)
    tell_status(1, [document], err=False)
    lines = capsys.readouterr().out.splitlines()
    rate = "error rate at most 2.5 % if the test's assumptions hold"
    found = "-2.00, -2.23 to -1.77 (95 %), contradicted, two-sided p = 4.1e-8"
    assert lines == [
        f"made (paper): VALID, CONTRADICTED ({rate}) (not as expected)",
        "  Loss: A is 2.00 lower than B. Better, against the claim.",
        f"  - Loss: A is higher (worse) than B: {found}",
        f"  {PAGE}",
        "status 1: made is not as expected: CONTRADICTED; CONFIRMED was expected",
    ]


def test_a_terminal_gets_colour_and_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red for what is contradicted; no word is broken, and the path is one link."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = on_terminal(contradicted(), monkeypatch)
    assert "\x1b[1;31mCONTRADICTED\x1b[0m" in text
    assert PAGE.resolve().as_uri() in text
    assert str(PAGE) in text
    plain = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", text)
    words = {word for line in plain.splitlines() for word in line.split()}
    said = contradicted().verdict.sentence.replace("−", "-").split()
    assert set(said) <= words
    assert max(map(len, plain.splitlines())) <= 60


def on_plain(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("NO_COLOR", "1")
    return on_terminal(contradicted(), monkeypatch)


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colour code is written; a link is none."""
    assert "31m" not in on_plain(monkeypatch)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (0, ""),
        (3, "status 3: made is not decided: INCONCLUSIVE; CONFIRMED was expected"),
        (5, "status 5: something failed, as said above"),
    ],
)
def test_the_reason_for_the_status(
    status: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is said of 0."""
    tell_status(status, [judged(made(difference()), {"a": WIDE, "b": ABOVE})], err=False)
    assert capsys.readouterr().out.strip() == reason


def test_what_decides_nothing_is_not_called_fragile(capsys: pytest.CaptureFixture[str]) -> None:
    """Its flags are named as flags."""
    document = judged(made(difference()), {"a": LOW, "b": [value - 1.8 for value in OTHER_ORDER]})
    assert document.verdict.conclusion == "INCONCLUSIVE"
    assert document.verdict.flags
    tell(document, PAGE, err=False)
    assert ", flags: one seed left out" in capsys.readouterr().out
    (flag,) = (one for one in document.verdict.flags if one.kind == "one seed left out")
    assert "none may be dropped" in flag.text
    assert not any(f"seed {number}" in flag.text for number in range(5))


def test_short_statements_share_a_line_and_a_label(capsys: pytest.CaptureFixture[str]) -> None:
    """What was read is told in few lines: a label starts a line, and stands there once."""
    short = ["a table", "arms by the field 'method'", "left unread: lr", "5 runs per arm"]
    of_two = ["new: a table", "new: one arm", "rel: a table"]
    say_read([*short, *of_two, "x" * 96, "y"])
    assert capsys.readouterr().out.splitlines() == [
        "read: a table; arms by the field 'method'",
        "read: left unread: lr",
        "read: 5 runs per arm",
        "read: new: a table; one arm",
        "read: rel: a table",
        f"read: {'x' * 96}",
        "read: y",
    ]
