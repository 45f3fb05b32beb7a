"""Claim files -> frozen claims, or every mistake in them at once.

A file is read in four steps, and each goes on as far as it can, so that the mistakes of all come
out together: YAML (`yaml`), shape (`ClaimFile`), the evidence of arms and the overrides at every
scale that the file has (`draft`), and meaning (`meaning`). What is returned is complete; nothing
after loading looks at a document again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from repro.errors import Place, Problem, SpecError
from repro.specs.claim import SCALES, Claim, ClaimFile, Scale, ScaleName
from repro.specs.configurations import Configurations
from repro.specs.draft import Draft, declared, draft_claim
from repro.specs.files import is_folder, resolved
from repro.specs.meaning import meaning
from repro.specs.references import references
from repro.specs.shapes import listed
from repro.specs.sorts import other_sort
from repro.specs.wording import MOST, problems_of
from repro.specs.yaml import Document, read_document


def load_claim(path: Path, scale: ScaleName) -> Claim:
    """The claim of one file at a scale; SpecError with every mistake at every scale."""
    return load_claims([path], scale)[0]


def load_claims(where: Path | Sequence[Path], scale: ScaleName | None = None) -> tuple[Claim, ...]:
    """The claims of files, and of folders: all `*.yaml` directly in a folder, by name.

    Each at ``scale``, or at the smallest that its file has.
    """
    problems: list[Problem] = []
    configurations = Configurations()
    claims: list[Claim] = []
    documents: list[Document] = []
    for path in _files([where] if isinstance(where, Path) else where, problems):
        try:
            document = read_document(path)
            documents.append(document)
            claims.append(_claim(document, scale or declared(document)[0], configurations))
        except SpecError as error:
            problems += error.problems
    problems += _same_ids(documents)
    if problems:
        raise SpecError(list(dict.fromkeys(problems)))
    return tuple(claims)


def _files(where: Sequence[Path], problems: list[Problem]) -> list[Path]:
    """The files, each once; folders without a claim are problems."""
    files: dict[Path, Path] = {}
    for path in where:
        inside = [path]
        if is_folder(path):
            inside = sorted(p for p in path.glob("*.yaml") if not p.name.startswith("."))
        if not inside:
            what = "no claim in this folder"
            advice = "give a folder that holds claims, or the path of a claim"
            problems.append(Problem(Place(str(path)), what, "files *.yaml", advice))
        for file in inside:
            files.setdefault(resolved(file), file)
    return list(files.values())


def _same_ids(documents: Sequence[Document]) -> list[Problem]:
    """Claims that go by the same name."""
    first: dict[str, Document] = {}
    problems = []
    for document in documents:
        name = document.data.get("id")
        if isinstance(name, str) and name in first:
            what = f"id: '{name}' is the id of another claim, {first[name].place(('id',))}"
            place = document.place(("id",))
            problems.append(Problem(place, what, "an id of its own", "rename one of the two"))
        elif isinstance(name, str):
            first[name] = document
    return problems


def _claim(document: Document, scale: ScaleName, configurations: Configurations) -> Claim:
    if other := list(other_sort(document, "claim")):
        raise SpecError(other)
    problems = list(document.problems)
    file = None
    try:
        file = ClaimFile.model_validate_json(json.dumps(document.data))
    except ValidationError as error:
        problems += problems_of(error, ClaimFile, document)
    problems += islice(references(document), MOST)
    drafts: dict[ScaleName, Draft] = {}
    for each in declared(document):
        drafts[each], found = draft_claim(document, each, configurations)
        problems += found
        problems += islice(meaning(drafts[each]), MOST)
    if file is not None and not file.scales.declared:
        what, advice = "the claim has no scale", "add `paper: {notice: ...}`, or a smaller scale"
        place = document.key_place(("scales",))
        problems.append(Problem(place, f"scales: {what}", listed(SCALES), advice))
    if problems or file is None:
        raise SpecError(list(dict.fromkeys(problems)))
    changes = getattr(file.scales, scale)
    if changes is None:
        raise SpecError([_no_scale(document, file.scales.declared, scale)])
    return _resolved(file, changes, drafts[scale])


def _no_scale(document: Document, there: Sequence[ScaleName], scale: ScaleName) -> Problem:
    """A claim without mistakes, asked for at a scale that it has not."""
    what = f"scales: the claim has no scale '{scale}'"
    advice = f"ask for {there[-1]}, or add the scale"
    return Problem(document.key_place(("scales",)), what, listed(there), advice)


def _resolved(file: ClaimFile, changes: Scale, draft: Draft) -> Claim:
    return Claim(
        id=file.id,
        title=file.title,
        source=file.source,
        file=draft.document.file,
        scale=draft.scale,
        declared=declared(draft.document),
        notice=changes.notice,
        design=changes.design or file.design,
        alpha=file.alpha,
        arms={name: part.read() for name, part in draft.arms.items()},
        comparable=file.comparable,
        seeds=draft.seeds.read(),
        planned_sd={**file.planned_sd, **changes.planned_sd},
        measurements={name: part.read() for name, part in draft.measurements.items()},
        expectations=tuple(part.read() for part in draft.expectations),
        combine=file.combine,
        family=file.family,
        sequential=file.sequential,
        control=file.control,
        canaries=file.canaries,
        published=file.published,
        forced=changes.forced,
        expect=changes.expect,
    )
