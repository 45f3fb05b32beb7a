"""`repro check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.cli.options import AllowCode, Claims, consented, described, problems, say, say_json

if TYPE_CHECKING:
    from repro.errors import Problem
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
        if others or any(each.problems for each in checked):
            raise typer.Exit(MISTAKES)


def _say(checked: CheckedFile) -> None:
    if not checked.problems:
        say(f"ok {checked.path}: {checked.id} ({', '.join(checked.scales)})")
    for problem in checked.problems:
        say(str(problem), err=True)


def _say_json(checked: tuple[CheckedFile, ...], others: tuple[Problem, ...]) -> None:
    found: list[dict[str, Any]] = [
        {
            "file": str(each.path),
            "ok": not each.problems,
            "id": each.id,
            "scales": each.scales,
            "problems": list(map(described, each.problems)),
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
