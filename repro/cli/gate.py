"""`repro gate`: one word and an exit status, for a build server or an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repro.cli.options import (
    AllowCode,
    Force,
    Json,
    Limit,
    Reports,
    Run,
    Scale,
    consented,
    given_command,
    load,
    problems,
    say,
    say_json,
    with_options,
)

if TYPE_CHECKING:
    from repro.judging.document import Document
    from repro.workflows.gate import Gated


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
