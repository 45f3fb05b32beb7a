"""A report.json of a stranger: refused at its place, or rendered; no traceback, no wait."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repro.errors import SpecError
from repro.judging.document import Document
from repro.report.write import LONGEST, WORD, document_text, read_document


def cut_curve(data: dict[str, Any]) -> None:
    data["curves"][0]["ranks"][0].pop()


def longer(data: dict[str, Any]) -> None:
    data["curves"][0]["tolerances"].append(1.0)


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "a count too few": (cut_curve, r"curves\[0\]: .*one count a tolerance"),
    "a tolerance too many": (longer, r"curves\[0\]: .*one count a tolerance"),
    "many digits": (
        lambda data: data["measurements"][0].update(digits=2**31),
        r"measurements\[0\]\.digits: ",
    ),
    "fewer than no digits": (
        lambda data: data["measurements"][0].update(digits=-1),
        r"measurements\[0\]\.digits: ",
    ),
    "a huge count": (
        lambda data: data["curves"][0]["ranks"][0].__setitem__(0, 10**400),
        r"curves\[0\]\.ranks\[0\]\[0\]: a whole number that is too large",
    ),
    "a count of thousands of digits": (
        lambda data: None,
        "number out of range",
    ),
    "a long text": (
        lambda data: data["claim"].update(title="word " * (LONGEST // 5 + 1)),
        r"claim\.title: a text of 100,005 characters",
    ),
    "a long word": (
        lambda data: data["claim"].update(title="x" * (WORD + 1)),
        r"claim\.title: a word of more than 5,000 characters",
    ),
    "a long key": (
        lambda data: data["arms"][0]["training"].update({"x" * (WORD + 1): 1}),
        r"arms\[0\]\.training\.key: a word of more than",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_could_not_be_drawn_is_refused(
    name: str, documents: dict[str, Document], tmp_path: Path
) -> None:
    """The message names the file and the field."""
    change, said = CHANGES[name]
    data = json.loads(document_text(documents["mos_rank"]))
    change(data)
    path = tmp_path / "report.json"
    text = json.dumps(data) if name != "a count of thousands of digits" else _digits(data)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=said) as refused:
        read_document(path)
    assert str(refused.value).startswith(f"{path}:1:1: ")


def _digits(data: dict[str, Any]) -> str:
    """As JSON, which Python writes of no such number."""
    data["arms"][0]["training"]["epochs"] = "DIGITS"
    return json.dumps(data).replace('"DIGITS"', "9" * 5000)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Nothing that is no regular file is opened for reading."""
    path = tmp_path / "report.json"
    os.mkfifo(path)
    with pytest.raises(SpecError, match="no regular file"):
        read_document(path)
