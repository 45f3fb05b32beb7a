"""The small commands, which train nothing: audit, corpus, doctor, history, report, runs, schema."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from repro.cli.options import (
    GITHUB,
    AllowCode,
    Data,
    Formats,
    Json,
    Scale,
    Store,
    annotate,
    consented,
    load,
    open_store,
    problems,
    say,
    say_json,
)
from repro.errors import ReproError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from repro.registry.verdicts import KeptVerdict
    from repro.specs.claim import Claim


KEYS = ("kind", "name", "unit", "vocabulary", "responses", "tokens", "sha256", "last")


def audit(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Tables as printed (- for standard input), claim files, or folders of them.",
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
    n: Annotated[
        int | None,
        typer.Option(min=2, help="Runs behind each mean, where the table does not say."),
    ] = None,
    plus_minus: Annotated[
        Literal["sd", "se", "ci95", "ci95-t", "ci95-z"] | None,
        typer.Option(help="What stands after ±, where the table does not say."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The method that every other is compared with.")
    ] = None,
    better: Annotated[
        Literal["lower", "higher"] | None, typer.Option(help="Which way a result is better.")
    ] = None,
    methods: Annotated[
        Literal["rows", "columns"] | None, typer.Option(help="Where the methods stand.")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the answers as Markdown.")
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(help="Write each audit there: audit-NAME/report.html, .pdf, .md, .json."),
    ] = None,
    allow_code: AllowCode = False,
) -> None:
    """Check printed numbers against each other; no runs. 1: a row as bad as --fail-on."""
    with problems(json=json):
        from repro.audit.audit import audit_paths, report_audits
        from repro.audit.printed_pairs import Decided

        allowed = consented([path for path in paths if str(path) != "-"], allow_code=allow_code)
        decided = Decided(n, plus_minus, baseline, better, methods)
        audits = audit_paths(paths, rounding=rounding, allow_code=allowed, decided=decided)
        if to is not None:
            from repro.cli.audit_pages import write_pages

            for page in write_pages(audits, to):
                say(str(page), err=True)
        failed = report_audits(audits, fail_on, as_json=json, markdown=markdown)
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


DAMAGED = 4

runs = typer.Typer(
    name="runs",
    help="Check the runs of a store, or move them to another.",
    no_args_is_help=True,
)

Some = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Claim files, or folders of them, whose runs are meant; default every run.",
        show_default=False,
    ),
]


def _chosen(claims: list[Path], scale: str | None, *, allow_code: bool) -> tuple[Claim, ...]:
    """The claims whose runs are meant; none for every run."""
    return load(claims, scale, allow_code=consented(claims, allow_code=allow_code))


@runs.command()
def check(
    claims: Some = None,
    scale: Scale = None,
    store: Store = None,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Read all evidence, weights and spectra too, and compare it with its digests."""
    with problems(json=json):
        from repro.schema.numbers import number_of
        from repro.workflows.runs import check_runs

        chosen = _chosen(claims or [], scale, allow_code=allow_code)
        checked = check_runs(open_store(store), chosen)
        for damage in checked.damages:
            say(f"damaged: {damage}", err=json)
        unfinished = f"; {checked.unfinished} not finished" if checked.unfinished else ""
        found = f"{len(checked.damages)} damaged" if checked.damages else "nothing is damaged"
        left = f" and what {number_of(checked.outputs, 'program')} left" if checked.outputs else ""
        say(f"{number_of(checked.read, 'run')}{left} read, {found}{unfinished}", err=json)
        if json:
            say_json(asdict(checked))
    raise typer.Exit(DAMAGED if checked.damages else 0)


@runs.command()
def export(
    to: Annotated[Path, typer.Option(help="A folder that is new or empty, or a store.")],
    claims: Some = None,
    scale: Scale = None,
    store: Store = None,
    weights: Annotated[
        bool,
        typer.Option(
            "--with-weights/--without-weights",
            help="Copy weights and spectra too, or leave them out, which each record then says.",
        ),
    ] = True,
    unfinished: Annotated[
        bool,
        typer.Option(
            "--unfinished",
            help="Export the checkpoints of runs that are not finished instead, in parts.",
        ),
    ] = False,
    part_size: Annotated[
        str, typer.Option(metavar="SIZE", help="The size of a part at most, as 16MB or 1GB.")
    ] = "16MB",
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Copy runs and the logs of their claims to a store of their own; each file is checked."""
    with problems(json=json):
        from repro.schema.numbers import number_of
        from repro.workflows.runs import export_runs, export_unfinished

        chosen = _chosen(claims or [], scale, allow_code=allow_code)
        if unfinished:
            size = _bytes(part_size)
            cut = export_unfinished(open_store(store), to, chosen, part_bytes=size)
            without = f", {cut.unfinished} without a checkpoint" if cut.unfinished else ""
            many = number_of(cut.parts, "unfinished run")
            say(f"{many} exported in parts to {to}{without}", err=json)
            if json:
                say_json({"to": str(to), **asdict(cut)})
            return
        done = export_runs(open_store(store), to, chosen, weights=weights)
        there = f", {done.there} there already" if done.there else ""
        left_out = f", {done.unfinished} not finished and left out" if done.unfinished else ""
        how = "" if weights else " without weights"
        copied = number_of(done.copied, "run")
        say(f"{copied} exported{how} to {to}{there}{left_out}", err=json)
        if json:
            say_json({"to": str(to), **asdict(done)})


@runs.command(name="import")
def bring(
    source: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="What export wrote.", show_default=False)
    ],
    store: Store = None,
    json: Json = False,
) -> None:
    """Bring exported runs into the store: finished ones, or unfinished ones, which then go on.

    Nothing that the store has is replaced, but a checkpoint by one of more epochs.
    """
    with problems(json=json):
        from repro.schema.numbers import number_of
        from repro.workflows.runs import import_runs

        done = import_runs(open_store(store), source)
        parts = f", {done.parts} unfinished" if done.parts else ""
        there = f", {done.there} there already" if done.there else ""
        left = f"; {done.unfinished} not finished and left out (export --unfinished)"
        many = number_of(done.copied + done.parts, "run")
        say(f"{many} imported{parts}{there}{left if done.unfinished else ''}", err=json)
        if json:
            say_json({"from": str(source), **asdict(done)})


def _bytes(size: str) -> int:
    found = re.fullmatch(r"([0-9]{1,6}) ?(kB|MB|GB)", size)
    if found is None or int(found[1]) < 1:
        raise ReproError(
            f"--part-size: '{size}' is not a size\n  expected: a number and a unit\n"
            "  to do: write it as 16MB or 1GB"
        )
    return int(found[1]) * {"kB": 10**3, "MB": 10**6, "GB": 10**9}[found[2]]


def history(
    claim: Annotated[
        Path, typer.Argument(help="A claim file, or the id of one.", show_default=False)
    ],
    scale: Scale = None,
    results: Annotated[
        Path | None,
        typer.Option(help="The verdicts on these results of your own, which --results judged."),
    ] = None,
    store: Store = None,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """What a claim came to, whenever that changed, and what was changed by then."""
    with problems(json=json):
        from repro.judging.history import PastVerdicts

        (loaded,) = load([claim], scale, allow_code=consented([claim], allow_code=allow_code))
        scales = [loaded.scale] if scale else loaded.declared
        place = open_store(store)
        named = {each: loaded.model_copy(update={"scale": each}) for each in scales}
        found = {
            each: [entry.kept() for entry in PastVerdicts(of, place, results).log.read()]
            for each, of in named.items()
        }
        if json:
            kept = {
                each: [verdict.model_dump(mode="json") for verdict in verdicts]
                for each, verdicts in found.items()
                if verdicts
            }
            say_json({"claim": loaded.id, "scales": kept})
            return
        for each, verdicts in found.items():
            _say(loaded.id, each, verdicts)
        if not any(found.values()):
            say(f"{loaded.id}: no verdict on it is kept in {place.root}")


def _say(claim: str, scale: str, verdicts: list[KeptVerdict]) -> None:
    """A row for each verdict: when (UTC), word, effect, what was changed."""
    from repro.report.badges import at_scale
    from repro.report.flips import shown_number
    from repro.schema.numbers import MINUS, moment

    rows = [("when (UTC)", "verdict", "effect", "what was changed")]
    for each in verdicts:
        at = moment(each.created)
        when = each.created if at is None else f"{at:%Y-%m-%d %H:%M}"
        effect = shown_number(each.numbers[0]).replace(MINUS, "-") if each.numbers else ""
        first = "" if each.changed else "first" if each is verdicts[0] else "nothing on record"
        changed = "; ".join(change.text for change in each.changed) or first
        rows.append((when, each.word, effect, changed))
    if not verdicts:
        return
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    say(f"{claim}{at_scale(scale)}")
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        say("  ".join(("", *cells, row[3])).rstrip())


def diff(
    first: Annotated[
        Path, typer.Argument(help="A report.json, or its folder.", show_default=False)
    ],
    second: Annotated[Path, typer.Argument(help="Another one.", show_default=False)],
    json: Json = False,
) -> None:
    """What differs between two reports. 0: nothing, 1: something."""
    with problems(json=json):
        from dataclasses import asdict

        from repro.report.differences import differences
        from repro.report.write import read_document, report_file
        from repro.schema.numbers import MINUS

        found = differences(*(read_document(report_file(each)) for each in (first, second)))
        if json:
            say_json({"differences": [*map(asdict, found)]})
        for each in () if json else found:
            say(f"{each.subject}: {each.text.replace(MINUS, '-')}")
    raise typer.Exit(1 if found else 0)
