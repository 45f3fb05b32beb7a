"""Claim files -> frozen claims, or every mistake in them at once.

A file is read in two stages. The first is its shape: YAML (`yaml`), and keys and values
(`ClaimFile`). The second, for a file of the right shape, is what it means at every scale that it
has: its names (`references`), evidence and overrides (`scaled`), and rules (`rules`). Each stage
reports all its mistakes at once. What is returned is complete; nothing after loading looks at a
document again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from repro.errors import Place, Problem, RuleError, ShapeError, SpecError
from repro.files import claims, is_folder, resolved
from repro.plugins import allowing_code
from repro.schema.messages import MOST, listed, validated
from repro.schema.yaml import YamlDocument, read_document
from repro.specs.claim import SCALES, Claim, ClaimFile, ScaleName
from repro.specs.others import with_others
from repro.specs.references import references
from repro.specs.resolve import Configurations
from repro.specs.rules import broken_rules
from repro.specs.scaled import ScaledClaim, scale_claim

Sort = Literal["claim", "audit", "search", "configuration"]

KEYS: Final[dict[Sort, tuple[str, str]]] = {
    "claim": ("expectations", "give it to `repro verify`"),
    "audit": ("audit", "give it to `repro audit`"),
    "search": ("search", "give it to `repro tune`"),
    "configuration": ("recipe", "name it in an arm of a claim, or in the base of a search"),
}
"""The key that no document of another sort has, and what reads them."""


def other_sort(document: YamlDocument, wanted: Sort) -> Iterator[Problem]:
    """That a document is of another sort: it has the key of that, and not its own."""
    if KEYS[wanted][0] in document.data:
        return
    for sort, (key, advice) in KEYS.items():
        if key in document.data:
            what = f"this is {_one(sort)}, and no {wanted}"
            yield Problem(document.key_place((key,)), what, _one(wanted), advice)
            return


def _one(sort: Sort) -> str:
    return f"{'an' if sort == 'audit' else 'a'} {sort}"


def load_claim(path: Path, scale: ScaleName, *, allow_code: bool = False) -> Claim:
    """The claim of one file at a scale.

    ShapeError with every mistake of its shape; for one of the right shape, RuleError with every
    rule that it breaks at any scale; CodeError for code of others without consent.
    """
    return load_claims([path], scale, allow_code=allow_code)[0]


def load_claims(
    where: Path | Sequence[Path], scale: ScaleName | None = None, *, allow_code: bool = False
) -> tuple[Claim, ...]:
    """The claims of files, and of folders: all `*.claim.yaml` directly in a folder, by name.

    A name that ends in `.yaml` alone, as claims had at first, is read too.

    Each at ``scale``, or at the smallest that its file has. ``allow_code`` imports the kinds of
    expectations and the trainers that they name of others, `use: module:object`.
    """
    problems: list[Problem] = []
    refused: type[SpecError] = RuleError
    configurations = Configurations()
    loaded: list[Claim] = []
    places: dict[str, Place] = {}
    for path in _files([where] if isinstance(where, Path) else where, problems):
        try:
            document, file = _read(path, allow_code=allow_code)
            problems += _same_id(document, file, places)
            with allowing_code(allow_code):
                loaded.append(_claim(document, file, scale, configurations))
        except SpecError as error:
            problems += error.problems
            refused = ShapeError if isinstance(error, ShapeError) else refused
    if problems:
        raise refused(list(dict.fromkeys(problems)))
    return tuple(loaded)


def _files(where: Sequence[Path], problems: list[Problem]) -> list[Path]:
    """The files, each once; folders without a claim are problems."""
    files: dict[Path, Path] = {}
    for given in where:
        path = _packaged(given)
        inside = [path]
        if is_folder(path):
            inside = sorted(p for p in path.glob("*.yaml") if not p.name.startswith("."))
        if not inside:
            what = "no claim in this folder"
            advice = "give a folder that holds claims, or the path of a claim"
            problems.append(Problem(Place(str(path)), what, "files *.claim.yaml", advice))
        for file in inside:
            files.setdefault(resolved(file), file)
    return list(files.values())


def _packaged(path: Path) -> Path:
    """The claim that came with repro and has this id, where nothing else goes by the name."""
    if path.suffix or len(path.parts) != 1 or path.exists():
        return path
    named = (f"{path}.yaml", f"{path}.claim.yaml")
    found = (file for name in named for file in sorted(claims().rglob(name)))
    return next((file for file in found if "configurations" not in file.parts), path)


def _same_id(
    document: YamlDocument, file: ClaimFile, places: dict[str, Place]
) -> Iterator[Problem]:
    """A claim that goes by the name of one before it; ``places`` are those of all names so far."""
    place = document.place(("id",))
    if file.id in places:
        what = f"id: '{file.id}' is the id of another claim, {places[file.id]}"
        yield Problem(place, what, "an id of its own", "rename one of the two")
    places.setdefault(file.id, place)


def _read(path: Path, *, allow_code: bool) -> tuple[YamlDocument, ClaimFile]:
    """The first stage: a file and its shape."""
    document = read_document(path)
    if other := list(other_sort(document, "claim")):
        raise ShapeError(other)
    file = validated(document, ClaimFile)
    return document, with_others(document, file, allow_code=allow_code)


def _claim(
    document: YamlDocument, file: ClaimFile, scale: ScaleName | None, configurations: Configurations
) -> Claim:
    """The second stage: the claim at a scale, or at its smallest, if it breaks no rule at any."""
    problems = list(islice(references(document, file), MOST))
    scaled: dict[ScaleName, ScaledClaim] = {}
    for each in file.scales.declared:
        changes = getattr(file.scales, each)
        scaled[each], found = scale_claim(document, file, each, changes, configurations)
        problems += found
        problems += islice(broken_rules(scaled[each]), MOST)
    if not scaled:
        what, advice = "the claim has no scale", "add `paper: {notice: ...}`, or a smaller scale"
        place = document.key_place(("scales",))
        problems.append(Problem(place, f"scales: {what}", listed(SCALES), advice))
    if problems:
        raise RuleError(list(dict.fromkeys(problems)))
    asked = scale or file.scales.declared[0]
    if asked not in scaled:
        raise RuleError([_no_scale(document, file.scales.declared, asked)])
    return scaled[asked].resolved()


def _no_scale(document: YamlDocument, there: Sequence[ScaleName], scale: ScaleName) -> Problem:
    """A claim without mistakes, asked for at a scale that it lacks."""
    what = f"scales: the claim has no scale '{scale}'"
    advice = f"ask for {there[-1]}, or add the scale"
    return Problem(document.key_place(("scales",)), what, listed(there), advice)
