"""What is generated never ends in a traceback: claims, stores and reports of any content."""

from __future__ import annotations

import json
import random
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from repro.errors import ReproError, SpecError, StoreUnreachableError
from repro.expectations.kinds import KINDS
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import gather
from repro.report.formats import rendered
from repro.report.index import line
from repro.report.junit import junit
from repro.report.markdown import summary
from repro.report.view import view
from repro.report.write import document_text, read_document
from repro.schema.yaml import read_document as read_yaml
from repro.specs.claim import Claim
from repro.specs.load import load_claim, load_claims
from repro.store.run_store import RunStore
from repro.store.sealed import read_sealed, seal
from tests.faults.extremes import claim_and_values
from tests.faults.mutations import misspelt, mutated
from tests.judging.made import judged
from tests.report.cases import all_documents
from tests.workflows.test_runs import FILE, filled

CLAIMS = range(40)
MUTATIONS = range(40)
STORES = range(40)
REPORTS = range(120)
DRAWN = 20
"""One in so many is drawn as well, which takes a second."""


def assert_written(document: Document, folder: Path, seed: int) -> None:
    """Everything that a document becomes, and back again."""
    text = document_text(document)
    (folder / "report.json").write_text(text, encoding="utf-8")
    assert document_text(read_document(folder / "report.json")) == text
    assert_told(document, seed)


def assert_told(document: Document, seed: int) -> None:
    """Everything that a document becomes; not each is drawn."""
    assert line(document).id == document.claim.id
    assert junit(document).startswith("<?xml")
    assert summary([document]).count("\n|") == 3
    assert view(document).page_title
    if seed % DRAWN == 0:
        files = {"report.html", "report.pdf", "report.json", "junit.xml", "values.csv"}
        assert set(rendered(document)) == files


@pytest.mark.parametrize("seed", CLAIMS)
def test_every_valid_claim_is_judged_and_told(seed: int, tmp_path: Path) -> None:
    """Of any kind, on values of any size that a table may hold, with any printed numbers."""
    claim, values = claim_and_values(random.Random(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scipy, on numbers at the ends of their range
        assert_written(judged(claim, values), tmp_path, seed)


ROOT = Path(__file__).parents[2]
GOOD = sorted((ROOT / "tests/specs/good").glob("*claim.yaml"))
PACKAGED = [*(ROOT / "claims").glob("*.yaml"), *(ROOT / "claims/library").glob("*/*.claim.yaml")]


WHY = "made for the tests"
LIMIT = {"value": 2.0, "why": WHY}
LIKE: dict[str, dict[str, Any]] = {
    "spread": {"of": ["new", "old"], "at_most": LIMIT},
    "survivals": {"of": ["new", "old"], "direction": "later"},
    "level": {"of": ["new"], "at_least": LIMIT},
}
"""Kinds of which no claim is kept: what the first expectation of a claim on a table becomes."""


@cache
def one_of_each_kind() -> dict[str, tuple[Path, Any]]:
    """A claim for each kind of expectation, and its document."""
    found: dict[str, tuple[Path, Any]] = {}
    for path in (*GOOD, *sorted(PACKAGED)):
        document = read_yaml(path).data
        for expectation in document.get("expectations", ()):
            found.setdefault(expectation["kind"], (path, document))
    for kind, keys in LIKE.items():
        path = ROOT / "tests/specs/good/table_claim.yaml"
        document = read_yaml(path).data
        del document["published"]
        document["expectations"] = [{"id": "e", "kind": kind, "measurement": "accuracy", **keys}]
        if kind == "survivals":
            document["measurements"]["accuracy"]["censored"] = {"at": 90, "why": WHY}
        found[kind] = path, document
    path = ROOT / "tests/specs/good/tasks_claim.yaml"
    document = read_yaml(path).data
    document["expectations"] = [{**document["expectations"][0], "kind": "meta_analysis"}]
    found["meta_analysis"] = path, document
    return found


ANSWERED: set[str] = set()
"""Documents that were loaded or refused: claims of several kinds are misspelt alike."""


def assert_loaded_or_refused(document: Any, origin: Path, folder: Path) -> None:
    """A document in the place of a claim, with what that one names beside it."""
    text = json.dumps(document)
    if f"{origin} {text}" in ANSWERED:
        return
    for beside in origin.parent.iterdir():
        if beside != origin and not (folder / beside.name).exists():
            (folder / beside.name).symlink_to(beside)
    path = folder / origin.name
    path.write_text(text, encoding="utf-8")
    with suppress(ReproError):
        load_claims([path])
    ANSWERED.add(f"{origin} {text}")


@pytest.mark.parametrize("kind", KINDS.names())
def test_every_misspelt_name_is_refused(kind: str, tmp_path: Path) -> None:
    """In every place, keys too: a message, and never another error."""
    origin, whole = one_of_each_kind()[kind]
    assert_loaded_or_refused(whole, origin, tmp_path)
    for document in misspelt(whole, kind):
        assert_loaded_or_refused(document, origin, tmp_path)


@pytest.mark.parametrize("seed", MUTATIONS)
def test_every_mutated_claim_is_loaded_or_refused(seed: int, tmp_path: Path) -> None:
    """One place replaced, removed, cut or repeated, ten times over."""
    chance = random.Random(seed)
    origin, whole = chance.choice(list(one_of_each_kind().values()))
    for _ in range(10):
        assert_loaded_or_refused(mutated(whole, chance), origin, tmp_path)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Claim]:
    """A whole store of a claim on ranks."""
    root = tmp_path_factory.mktemp("faults") / "store"
    filled(root)
    return root, load_claim(FILE, "quick")


@pytest.mark.parametrize("seed", STORES)
def test_every_sealed_store_is_judged(seed: int, store: tuple[Path, Claim], tmp_path: Path) -> None:
    """Details of any shape: what is wrong is INVALID, and names the file."""
    root, claim = store
    chance = random.Random(seed)
    path = chance.choice(sorted(root.rglob("measurements/*.json")))
    before = path.read_bytes()
    document = read_sealed(path) or {}
    try:
        inside = ("details",) if document["details"] else ()
        path.write_bytes(seal(mutated(document, chance, inside)))
        try:
            judgement = check_claim(claim, gather(claim, RunStore(root)))
        except StoreUnreachableError as error:
            if "of repro reads 1" not in str(error):
                raise
            return  # of a newer version, which is no damage
        if judgement.verdict.validity == "INVALID":
            assert path.parent.parent.name in judgement.verdict.validity_reason
        assert_written(judgement, tmp_path, seed)
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("seed", REPORTS)
def test_every_report_is_refused_or_rendered(
    seed: int, reports: list[dict[str, Any]], tmp_path: Path
) -> None:
    """With a place, where it is refused."""
    chance = random.Random(seed)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(mutated(chance.choice(reports), chance)), encoding="utf-8")
    try:
        document = read_document(path)
    except SpecError as error:
        refused = str(error)
    else:
        refused = ""
        assert_told(document, seed)
    assert not refused or refused.startswith(f"{path}:1:1: ")


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    """Documents of every sort."""
    return [json.loads(document_text(one)) for one in all_documents().values()]
