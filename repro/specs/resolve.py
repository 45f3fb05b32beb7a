"""Arms -> where their values come from: a configuration, a table that is there, or print."""

from __future__ import annotations

from pathlib import Path

from repro.errors import Problem
from repro.specs.arm import Arm, ArmSpec
from repro.specs.configurations import Configurations
from repro.specs.wording import closest
from repro.specs.yaml import Document, Steps


def resolve(
    claim: Document, steps: Steps, arm: ArmSpec, configurations: Configurations
) -> tuple[Arm | None, tuple[Problem, ...]]:
    """The arm at ``steps`` of a claim file with its evidence, or what is wrong."""
    if arm.configuration is not None:
        return configurations.resolve(claim, steps, arm, arm.configuration)
    if arm.table is None:
        return Arm(label=arm.label, published=arm.published), ()
    problem = _wrong_table(claim, (*steps, "table"), arm.table)
    if problem is not None:
        return None, (problem,)
    return Arm(label=arm.label, table=str(Path(claim.file).parent / arm.table)), ()


def _wrong_table(claim: Document, steps: Steps, name: str) -> Problem | None:
    """A table must be a file in the claim's folder, so that no other file is read or quoted."""
    folder = Path(claim.file).parent
    path, place, where = folder / name, claim.place(steps), claim.name(steps)
    if path.is_dir():
        advice = "write the path of the file in it, or put the file itself there"
        return Problem(place, f"{where}: '{name}' is a folder", "a CSV file", advice)
    if not path.is_file():
        files = (each for each in path.parent.glob("*.csv") if each.is_file())
        known = [each.relative_to(folder).as_posix() for each in files]
        guess = closest(name, sorted(known))
        advice = f"did you mean '{guess}'?" if guess else "put the table there"
        return Problem(place, f"{where}: there is no table '{name}'", f"a file {path}", advice)
    if not path.resolve().is_relative_to(folder.resolve()):
        what = f"{where}: table '{name}' is a link that leads elsewhere"
        return Problem(
            place, what, "a file in the folder of the claim", "put the file itself there"
        )
    return None
