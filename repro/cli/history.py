"""`repro history` and `repro diff`: what a claim came to before, and two reports compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.cli.options import (
    AllowCode,
    Json,
    Scale,
    Store,
    consented,
    load,
    open_store,
    problems,
    say,
    say_json,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from repro.registry.verdicts import KeptVerdict


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
            say_json({"claim": loaded.id, "scales": _dumped(found)})
            return
        for each, verdicts in found.items():
            _say(loaded.id, each, verdicts)
        if not any(found.values()):
            say(f"{loaded.id}: no verdict on it is kept in {place.root}")


def _dumped(found: Mapping[str, list[KeptVerdict]]) -> dict[str, Any]:
    return {
        scale: [each.model_dump(mode="json") for each in verdicts]
        for scale, verdicts in found.items()
        if verdicts
    }


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
