"""`repro corpus`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from repro.cli.options import problems, say

KEYS = ("kind", "name", "unit", "vocabulary", "responses", "tokens", "sha256", "last")


class LastChoice(StrEnum):
    """Whether the last utterance of a dialog is a response, as it is not in some papers."""

    used = "used"
    unused = "unused"


class UnitChoice(StrEnum):
    """What a token of a text is."""

    words = "words"
    characters = "characters"


def corpus(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A folder with train.txt, valid.txt and test.txt, or of dialogs: train.jsonl, ...",
            show_default=False,
        ),
    ],
    unit: Annotated[UnitChoice, typer.Option(help="What a token of a text is.")] = UnitChoice.words,
    last: Annotated[
        LastChoice, typer.Option(help="Whether the last utterance of a dialog is a response.")
    ] = LastChoice.used,
) -> None:
    """Print what a configuration says of a folder of text or dialogs: counts and digests."""
    with problems():
        from repro.trainers.dialog.corpus import describe_dialogs
        from repro.trainers.language_model.corpus import describe

        characters = unit is UnitChoice.characters
        dialogs = (folder / "train.jsonl").exists() and not (folder / "train.txt").exists()
        found = (
            describe_dialogs(folder, last_unused=last is LastChoice.unused)
            if dialogs
            else describe(folder, "characters" if characters else None)
        )
        document = found.model_dump(exclude_defaults=True) | {"kind": found.kind}
        if dialogs:  # written out, so that it replaces that of a configuration
            document["last"] = "unused" if last is LastChoice.unused else "null"
        say(_block(document))


def _block(found: dict[str, Any]) -> str:
    """The specification as a configuration has it, its keys in the order of ``KEYS``."""
    lines = ["corpus:"]
    for key in KEYS:
        match found.get(key):
            case None:
                continue
            case dict(parts) if key == "sha256":
                lines += ["  sha256:", *(f"    {split}: {one}" for split, one in parts.items())]
            case dict(parts):
                counts = ", ".join(f"{split}: {count}" for split, count in parts.items())
                lines.append(f"  {key}: {{{counts}}}")
            case value:
                lines.append(f"  {key}: {value}")
    return "\n".join(lines)
