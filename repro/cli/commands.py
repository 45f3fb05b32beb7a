"""The small commands, which train nothing: audit, corpus, doctor, report and schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from repro.cli.options import (
    GITHUB,
    AllowCode,
    Data,
    Formats,
    Json,
    Store,
    annotate,
    consented,
    open_store,
    problems,
    say,
    say_json,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter

KEYS = ("kind", "name", "unit", "vocabulary", "responses", "tokens", "sha256", "last")


def audit(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Claim files (*.yaml), tables of comparisons (*.csv), or folders of them.",
            show_default=False,
        ),
    ],
    json: Annotated[
        bool, typer.Option("--json", help="Print an array, one object per row.")
    ] = False,
    rounding: Annotated[
        Literal["round", "truncate", "ceil"],
        typer.Option(help="How the digits of a table were dropped."),
    ] = "round",
    fail_on: Annotated[
        Literal[
            "decision-inconsistent",
            "decision-fragile",
            "inconsistent",
            "not-by-t-test",
            "not-by-counts",
            "consistent-if",
            "never",
        ],
        typer.Option(help="End with 1 if a row is graded this, or worse."),
    ] = "decision-inconsistent",
    allow_code: AllowCode = False,
) -> None:
    """Check printed numbers against each other; no runs. 1: a row as bad as --fail-on."""
    with problems(json=json):
        from repro.audit.audit import audit_paths, report_audits

        allowed = consented(paths, allow_code=allow_code)
        audits = audit_paths(paths, rounding=rounding, allow_code=allowed)
        failed = report_audits(audits, fail_on, as_json=json)
    raise typer.Exit(1 if failed else 0)


def corpus(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A folder with train.txt, valid.txt and test.txt, or of dialogs: train.jsonl, ...",
            show_default=False,
        ),
    ],
    unit: Annotated[
        Literal["words", "characters"], typer.Option(help="What a token of a text is.")
    ] = "words",
    last: Annotated[
        Literal["used", "unused"],
        typer.Option(help="Whether the last utterance of a dialog is a response."),
    ] = "used",
    json: Json = False,
) -> None:
    """Print what a configuration says of a folder of text or dialogs: counts and digests."""
    with problems(json=json):
        from repro.trainers.trainer import trainer_of_folder

        found = trainer_of_folder(folder).describe(folder, unit=unit, last=last)
        if json:
            say_json({"corpus": {key: found[key] for key in KEYS if found.get(key) is not None}})
        else:
            say(_block(found))


def _block(found: dict[str, Any]) -> str:
    """The specification as a configuration has it, its keys in the order of ``KEYS``."""
    lines = ["corpus:"]
    for key in KEYS:
        value: Any = found.get(key)
        if key == "sha256":
            lines += ["  sha256:", *(f"    {split}: {digest}" for split, digest in value.items())]
        elif isinstance(value, dict):
            counts = ", ".join(f"{split}: {count}" for split, count in value.items())
            lines.append(f"  {key}: {{{counts}}}")
        elif value is not None:
            lines.append(f"  {key}: {value}")
    return "\n".join(lines)


def doctor(store: Store = None, data: Data = None, json: Json = False) -> None:
    """Say what this machine has, and what is missing."""
    with problems(json=json):
        from repro.workflows.doctor import examine

        found: list[dict[str, str]] = []
        for each in examine(open_store(store).root, data):
            found.append({"state": each.state, "what": each.what, "to_do": each.advice})
            if not json:
                say(f"{each.state:8} {each.what}")
                if each.advice:
                    say(f"         to do: {each.advice}")
        if json:
            say_json({"found": found})
    raise typer.Exit(5 if any(each["state"] == "problem" for each in found) else 0)


def report(
    document: Annotated[
        Path, typer.Argument(help="A report.json, or its folder.", show_default=False)
    ],
    to: Annotated[
        Path | None, typer.Option(help="Folder to write to; default the document's own.")
    ] = None,
    format: Formats = None,  # noqa: A002 - the name of the option
    pdf: Annotated[
        bool,
        typer.Option(
            "--pdf/--no-pdf",
            help="Write report.pdf, or remove it; then the page does not lead to it.",
        ),
    ] = True,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Render a report again from its report.json; nothing is judged or trained."""
    with problems(json=json):
        from repro.report.formats import added
        from repro.report.write import read_document, report_file, write_report

        named = [each for each in format or () if each != GITHUB]
        formats = added(named, allow_code=allow_code)
        file = report_file(document)
        folder = to or file.parent
        without = () if pdf else ("pdf",)
        read = read_document(file)
        files = [*map(str, write_report(read, folder, formats, without=without))]
        if json:
            say_json({"files": files})
        else:
            for each in files:
                say(each)
        if format and GITHUB in format:
            annotate([read], err=json)


def schema(
    which: Annotated[
        Literal["audit", "claim", "configuration", "report", "search"],
        typer.Argument(help="Which document."),
    ] = "claim",
) -> None:
    """Print the JSON Schema of a claim, an audit, a configuration, a report or a search."""
    typer.echo(schema_text(which), nl=False)


def schema_text(name: str) -> str:
    """The schema of a document as it is committed; names and meaning are the loader's."""
    from json import dumps

    from repro.report.write import DIALECT, document_schema

    if name == "report":
        return document_schema()
    schema = {"$schema": DIALECT, **reader(name).json_schema(by_alias=True)}
    return dumps(schema, indent=2, ensure_ascii=False) + "\n"


def reader(name: str) -> TypeAdapter[Any]:
    """What knows the shape of the documents that people write."""
    from pydantic import TypeAdapter

    from repro.audit.audit_file import AuditFile
    from repro.specs.claim import ClaimFile
    from repro.specs.configuration import document_type
    from repro.tuning.search_file import SearchFile

    documents = {"audit": AuditFile, "claim": ClaimFile, "search": SearchFile}
    return TypeAdapter(document_type() if name == "configuration" else documents[name])
