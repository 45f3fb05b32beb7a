"""Further references for the responses of a split: what could have been said as well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from repro.errors import DataError
from repro.trainers.dialog.corpus import (
    BEGIN,
    END,
    UNKNOWN,
    DialogData,
    cut,
    tokens_of,
)
from repro.trainers.dialog.spec import DialogCorpus, references_file
from repro.trainers.language_model.corpus import check_count, checked_bytes, folder_of
from repro.trainers.measurement import Split

Reference = tuple[int, ...]


def read_references(
    spec: DialogCorpus, split: Split, sha256: str, dialogs: DialogData
) -> list[list[Reference]]:
    """The references of each response, apart from what was said, in the order of the responses.

    A line of the file is a JSON list of texts, for one response; they become words as those of
    the corpus do, cut as long. Raises DataError for another file, number of lines or form.
    """
    name = references_file(split)
    path = folder_of(spec.name, "jsonl", dialogs.data) / name
    text = checked_bytes(path, sha256).decode("utf-8", errors="replace")
    lines = text.removesuffix("\n").split("\n")
    responses = len(dialogs.split(split).examples)
    check_count(path, "lines, one per response", found=len(lines), stated=responses)
    numbers = {word: number for number, word in enumerate(dialogs.words)}
    return [
        [_numbered(text, numbers, spec.longest) for text in _texts(line, path, number)]
        for number, line in enumerate(lines, start=1)
    ]


def _numbered(text: str, numbers: dict[str, int], longest: int) -> Reference:
    words = cut([BEGIN, *tokens_of(text), END], longest)[1:-1]
    return tuple(numbers.get(word, numbers[UNKNOWN]) for word in words)


def _texts(line: str, path: Path, number: int) -> list[str]:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise DataError(
            f"{path}:{number}:1: no list of texts\n"
            '  expected: the other references of a response, ["yes .", "i think so"]\n'
            "  to do: correct the line, and state the new digest of the file"
        )
    return found
