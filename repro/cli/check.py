"""`repro check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.cli.options import (
    AllowCode,
    Claims,
    consented,
    described,
    problems,
    say,
    say_json,
    say_stopped,
)
from repro.errors import Place, Problem, gravest

if TYPE_CHECKING:
    from repro.specs.load import CheckedFile

MISTAKES = 2


def check(
    claims: Claims,
    allow_code: AllowCode = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print an array, one object per file.")
    ] = False,
) -> None:
    """Load claim files, and say of each that it is ok, or every mistake. 2: there are mistakes.

    Nothing is read but the claims and their configurations; nothing is judged or trained.
    """
    with problems(json=json):
        from repro.specs.load import check_files

        allowed = consented(claims, allow_code=allow_code)
        checked, others = check_files(claims, allow_code=allowed)
        if json:
            _say_json(checked, others)
        else:
            for each in checked:
                _say(each)
            for problem in others:
                say(str(problem), err=True)
        wrong = [MISTAKES] if others or any(each.problems for each in checked) else []
        if code := gravest([*wrong, *(crash.status for each in checked for crash in each.stopped)]):
            raise typer.Exit(code)


def _say(checked: CheckedFile) -> None:
    if checked.ok:
        say(f"ok {checked.path}: {checked.id} ({', '.join(checked.scales)})")
    for problem in checked.problems:
        say(str(problem), err=True)
    for stopped in checked.stopped:
        say_stopped(stopped)


def _say_json(checked: tuple[CheckedFile, ...], others: tuple[Problem, ...]) -> None:
    found: list[dict[str, Any]] = [
        {
            "file": str(each.path),
            "ok": each.ok,
            "id": each.id,
            "scales": each.scales,
            "problems": [
                *map(described, each.problems),
                *(described(Problem(Place(str(each.path)), one.why)) for one in each.stopped),
            ],
        }
        for each in checked
    ]
    found += (
        {
            "file": each.place.file,
            "ok": False,
            "id": "",
            "scales": (),
            "problems": [described(each)],
        }
        for each in others
    )
    say_json(found)
