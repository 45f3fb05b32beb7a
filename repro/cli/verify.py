"""`repro verify`, what a terminal is told of verdicts, and `repro gate`: one word and a status."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from repro.cli.options import (
    GITHUB,
    AllowCode,
    Budget,
    Claims,
    Force,
    Formats,
    Json,
    Limit,
    Reports,
    Run,
    Scale,
    annotate,
    append,
    consented,
    given_command,
    load,
    problems,
    say,
    say_json,
    say_stopped,
    with_options,
)
from repro.errors import FLIPPED, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from repro.errors import Stopped
    from repro.judging.document import Document
    from repro.specs.claim import Claim
    from repro.workflows.gate import Gated
    from repro.workflows.verify import Options, Verified

STYLES = {"good": "bold green", "bad": "bold red", "warn": "bold yellow", "plain": "bold"}

Train = Annotated[
    bool, typer.Option("--train/--no-train", help="Train what the store lacks, or never.")
]

Summary = Annotated[
    Path | None, typer.Option(help="Append a Markdown table of verdicts to this file.")
]

Results = Annotated[
    Path | None,
    typer.Option(
        help="Judge your own results of one claim, and train nothing: a CSV with the columns "
        "arm, seed, measurement, value."
    ),
]

Nightly = Annotated[
    bool,
    typer.Option(
        "--nightly",
        help="Add seeds to sequential claims, and take fresh ones for negative controls.",
    ),
]

AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print the report's document on stdout, an array of them for several claims; "
        "all else goes to stderr.",
    ),
]


@with_options(run=Run)
def verify(
    claims: Claims,
    scale: Scale = None,
    reports: Reports = Path("reports"),
    *,
    run: Run,
    train: Train = True,
    summary: Summary = None,
    results: Results = None,
    nightly: Nightly = False,
    force: Force = False,
    allow_code: AllowCode = False,
    limit: Limit = None,
    budget: Budget = None,
    json: AsJson = False,
    format: Formats = None,  # noqa: A002 - the name of the option
) -> None:
    """Train what is missing, judge the claims, and write their reports."""
    with problems(json=json):
        from repro.running.budget import seconds_of
        from repro.workflows.verify import Options

        options = run.options(
            Options,
            consented(claims, allow_code=allow_code),
            reports=reports,
            train=train,
            command=given_command(),
            results=results,
            nightly=nightly,
            force=force,
            limit=None if limit is None else 60 * limit,
            budget=None if budget is None else seconds_of(budget),
            formats=tuple(each for each in format or () if each != GITHUB),
        )
        github = GITHUB in (format or ())
        raise typer.Exit(_verify(claims, scale, options, summary, json=json, github=github))


def _verify(
    paths: Claims,
    scale: Scale,
    options: Options,
    summary: Path | None,
    *,
    json: bool,
    github: bool,
) -> int:
    """Load, train and judge the claims, and say what came of each; the exit code."""
    from repro.report.write import documents_text
    from repro.workflows.verify import verify_claims

    stopped: list[Stopped] = []
    claims = load(paths, scale, allow_code=options.allow_code, stopped=stopped)
    append(summary, "")
    verified = verify_claims(claims, options)
    verified = replace(verified, stopped=(*stopped, *verified.stopped))
    if options.results is not None and scale is None and claims:
        _say_scale(claims[0])
    for failure in verified.failures:
        say(f"failed: {failure}", err=True)
    for postponed in verified.postponed:
        say(f"left for the next time: {postponed}", err=True)
    for each in verified.stopped:
        say_stopped(each, _traceback(each, claims, options.reports))
    if github:
        annotate(verified.documents, verified.stopped, err=json)
    code = _report_verdicts(verified, options, summary, err=json)
    if json:
        typer.echo(documents_text(verified.documents, several=len(claims) > 1), nl=False)
    return code


def _traceback(stopped: Stopped, claims: Sequence[Claim], reports: Path) -> str:
    """Where the traceback of a claim that crashed is; empty for anything else."""
    from repro.report.write import FAILED
    from repro.workflows.verify import subject

    for claim in claims:
        if stopped.subject == subject(claim):
            return str(reports / claim.id / claim.scale / FAILED)
    return ""


def _say_scale(claim: Claim) -> None:
    """By whose margins a user's own results are judged, where nobody has said."""
    others = ", ".join(scale for scale in claim.declared if scale != claim.scale)
    if others:
        text = f"judged by the margins of the {claim.scale} scale; --scale for {others}"
        say(f"{claim.id}: {text}", err=True)


def _report_verdicts(
    verified: Verified, options: Options, summary: Path | None, *, err: bool
) -> int:
    """Print each verdict, where its report is, and why the exit code is what it is; return it."""
    from repro.report.markdown import summary as markdown
    from repro.schema.numbers import number_of

    tell_verdicts(verified, options.reports, err=err)
    if options.results is not None:
        done = f"nothing trained: the values are those of {options.results}"
    elif verified.of_runs:
        done = f"{verified.trained} runs trained or measured, {verified.reused} reused"
        if verified.read and not verified.trained:
            read = f"{number_of(verified.read, 'run')} read from what the program left"
            done = f"{read}; nothing was trained"
            done += f", {verified.reused} reused" if verified.reused else ""
        elif verified.read:
            done += f", {verified.read} read from what the program left"
        done += f", {verified.missing} missing" if verified.missing else ""
        done += f", {verified.damaged} damaged" if verified.damaged else ""
    else:
        done = "nothing to train: every value is from a table or printed"
    say(done, err=err)
    append(summary, markdown(verified.documents, verified.stopped))
    return end_with(verified, err=err)


def tell_verdicts(verified: Verified, reports: Path, *, err: bool) -> None:
    """Print each verdict, where its report is, and that one was not declared beforehand."""
    from repro.report.formats import page

    for document in verified.documents:
        tell(document, reports / document.claim.id / document.scale.name / page(), err=err)
    histories = (document.provenance.history for document in verified.documents)
    for note in dict.fromkeys(each.note for each in histories if each is not None and each.note):
        say(note, err=True)
    declared = [document.registration for document in verified.documents]
    if any(each is not None and each.state == "exploratory" for each in declared):
        say("exploratory: not declared beforehand", err=err)


def end_with(verified: Verified, *, err: bool) -> int:
    """The exit code; print why it is what it is."""
    from repro.judging.exit_status import exit_code, verdict_of
    from repro.report.flips import is_unexpected_flip

    code = exit_code(
        [verdict_of(document) for document in verified.documents],
        infrastructure=bool(verified.failures),
        stopped=[stopped.status for stopped in verified.stopped],
        flipped=any(map(is_unexpected_flip, verified.documents)),
    )
    grave = [stopped.subject for stopped in verified.stopped if stopped.status == code]
    failed = grave or [failure.split(": ")[0] for failure in verified.failures]
    tell_status(code, verified.documents, failed, err=err)
    return code


def tell(document: Document, page: Path, *, err: bool) -> None:
    """One claim: its verdict, the same sentence as in its report, and where that is.

    The first line says what it was before, where that was another word. Its scale is named, where
    its file has scales.

    In colour on a terminal, unless NO_COLOR is set, and broken between words there; elsewhere
    each is one line. A minus sign is that of ASCII, so that a number can be copied.
    """
    from repro.judging import reason
    from repro.report import badges
    from repro.report.flips import flip
    from repro.schema.numbers import NO_BREAK
    from repro.specs.claim import UNSCALED

    verdict, scale = document.verdict, document.scale.name
    scaled = "" if scale == UNSCALED else f" ({scale})"
    head = f"{document.claim.id}{scaled}: {verdict.validity}, "
    word, rest = verdict.conclusion or "no conclusion", _remarks(document)
    console = _console(err=err)
    lines = [_text(reason.sentence(document)), *_part_lines(document), *_to_do(document)]
    if flipped := flip(document):
        flipped = f"{document.claim.id}{scaled}: {flipped}"
    if console is None:
        for line in (
            *filter(None, [flipped]),
            head + word + rest,
            *(f"  {line}" for line in lines),
            f"  {page}",
        ):
            say(line.replace(NO_BREAK, " "), err=err)
        return
    style = STYLES[badges.short_word(document).tone]
    _in_colour(console, flipped, [(head, ""), (word, style), (rest, "")], lines, page)


def _remarks(document: Document) -> str:
    """What follows the word of a verdict: its error rate, that it was not expected, its flags."""
    from repro.judging import reason
    from repro.report import badges
    from repro.schema.numbers import unbroken

    verdict, rate = document.verdict, badges.error_rate(document)
    said = f" ({unbroken(rate)})" if rate else ""
    if verdict.conclusion is not None and not verdict.as_expected:
        said += " (not as expected)"
    if verdict.flags:
        name = "fragile" if verdict.conclusion in reason.DECIDED else "flags"
        kinds = ", ".join(dict.fromkeys(flag.kind for flag in verdict.flags))
        said += f", {name}: {badges.name_of_flag(kinds, document.claim.unit)}"
    return said


def _in_colour(
    console: Console,
    flipped: str,
    first: Sequence[tuple[str, str]],
    lines: Sequence[str],
    page: Path,
) -> None:
    """The same on a terminal, as broad as it is; ``first`` has each text with its style."""
    from rich.text import Text

    if flipped:
        console.print(Text(printable(flipped), "bold"), soft_wrap=True)
    console.print(Text.assemble(*first))
    width = max(console.width - 2, 20)
    for text in lines:
        for line in wrap(text, width, break_long_words=False, break_on_hyphens=False):
            console.print(Text(f"  {line}"), soft_wrap=True)
    link = f"link {page.resolve().as_uri()}"
    console.print(Text("  ").append(printable(str(page)), link), soft_wrap=True)


def _text(text: str) -> str:
    """A sentence of a report for a terminal, whose numbers can be copied."""
    from repro.schema.numbers import MINUS, clean, unbroken

    return printable(unbroken(clean(text).replace(MINUS, "-")))


def _part_lines(document: Document) -> list[str]:
    """A line for each part: what is claimed, what was found, its verdict and one remark."""
    from repro.report.parts import parts

    table = parts(document) if document.verdict.conclusion else None
    rows = [row for group in table.groups for row in group.rows] if table else []
    lines = []
    for row in rows:
        found = [row.found, row.interval] if row.axis else [f"{row.found} {row.interval}".strip()]
        told = filter(None, (*found, row.badge.word, row.remark))
        lines.append(_text(f"- {row.claim}: {', '.join(told)}"))
    return lines


def _to_do(document: Document) -> list[str]:
    """What to do about evidence that carries no conclusion, with the command for it."""
    from repro.report.sections import next_step
    from repro.schema.numbers import clean

    step = next_step(document)
    if document.verdict.conclusion or not step.text:
        return []
    command = f": {printable(step.command)}" if step.command else "."
    return [f"to do: {printable(clean(step.text)).removesuffix('.')}{command}"]


def tell_status(
    code: int, documents: Sequence[Document], failed: Sequence[str] = (), *, err: bool
) -> None:
    """The reason for the exit status, as the last line; nothing for 0.

    ``failed`` names what did not come to a verdict: claims, or runs.
    """
    if code == 0:
        return
    why, console = _why(code, documents, failed), _console(err=err)
    if console is None:
        say(f"status {code}: {why}", err=err)
        return
    from rich.text import Text

    console.print(Text(f"status {code}", "bold").append(f": {why}", "not bold"))


def _why(code: int, documents: Sequence[Document], failed: Sequence[str]) -> str:
    from repro.judging.exit_status import status_of, verdict_of
    from repro.report.flips import is_unexpected_flip
    from repro.schema.numbers import clean

    if code == FLIPPED:
        names = [document.claim.id for document in documents if is_unexpected_flip(document)]
        return f"{', '.join(names)}: another word than before, and not the expected one"
    these = [document for document in documents if status_of(*verdict_of(document)) == code]
    if not these:
        others = " and others" if len(failed) > 1 else ""
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


@with_options(run=Run)
def gate(
    claim: Annotated[
        Path, typer.Argument(help="A claim file, or the id of one.", show_default=False)
    ],
    scale: Scale = None,
    reports: Reports = Path("reports"),
    *,
    run: Run,
    force: Force = False,
    allow_code: AllowCode = False,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Run seeds until decided: KEEP or INSIDE (0), REJECT (1), UNDECIDED (3), UNUSABLE (4)."""
    with problems(json=json):
        from repro.workflows.gate import gate as decided
        from repro.workflows.verify import Options

        allowed = consented([claim], allow_code=allow_code)
        (loaded,) = load([claim], scale, allow_code=allowed)
        options = run.options(
            Options,
            allowed,
            reports=reports,
            force=force,
            command=given_command(),
            limit=None if limit is None else 60 * limit,
        )
        for line in _within_reach(loaded):
            say(line, err=True)
        found = decided(loaded, options, lambda document: say(_look(document), err=True))
        _say(found, reports / loaded.id / loaded.scale, json=json)
    raise typer.Exit(found.status)


def _say(found: Gated, folder: Path, *, json: bool) -> None:
    """What failed, why the gate is decided so, where the report is, and the word."""
    for failure in found.failures:
        say(f"failed: {failure}", err=True)
    shown = _shown(found, folder)
    if json:
        say_json(shown)
        return
    if shown["flip"]:
        say(str(shown["flip"]))
    say(str(shown["why"]))
    if found.document is not None:
        say(f"  {shown['report']}")
    say(found.word)


def _within_reach(claim: Claim) -> Iterator[str]:
    """What the seeds of the gate can find, where their scatter is planned and no effect is."""
    from repro.judging.design_power import design_parts
    from repro.schema.numbers import significant

    for part in design_parts(claim):
        if part.minimum_detectable is not None and part.power is None:
            found = f"{part.seeds} seeds per arm find an effect of "
            found += f"{significant(part.minimum_detectable)} four times in five"
            smaller = "a smaller one is likely to stay UNDECIDED, unless `max` is larger"
            yield f"{part.expectation}: {found}; {smaller}"


def _look(document: Document) -> str:
    """`5 seeds per arm: INCONCLUSIVE, go on`."""
    from repro.workflows.gate import seeds_of

    verdict = document.verdict
    return f"{seeds_of(document)} seeds per arm: {verdict.conclusion or verdict.validity}, go on"


def _shown(found: Gated, folder: Path) -> dict[str, object]:
    """What a program reads of a gate."""
    from repro.report.flips import flip
    from repro.report.formats import page
    from repro.schema.numbers import MINUS, clean
    from repro.workflows.gate import seeds_of

    document = found.document
    return {
        "word": found.word.value,
        "status": found.status,
        "why": clean(found.why).replace(MINUS, "-"),
        "seeds": None if document is None else seeds_of(document),
        "validity": None if document is None else document.verdict.validity,
        "conclusion": None if document is None else document.verdict.conclusion,
        "flip": "" if document is None else flip(document),
        "failures": list(found.failures),
        "report": None if document is None else str(folder / page()),
    }
