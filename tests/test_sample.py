"""The committed reports on real text are what their committed evidence gives."""

from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path

import pytest

from repro.judging.document import Document
from repro.judging.gather import gather
from repro.report.write import read_document
from repro.specs.load import load_claim, load_claims
from repro.store.run_store import RunStore
from repro.workflows.verify import Options, verify_claims

ROOT = Path(__file__).parents[1]
SAMPLE, LIBRARY = ROOT / "reports" / "sample", ROOT / "reports" / "library"
CLAIMS = (
    *("mos_rank", "fair_mos", "lms_plif_regularization", "softmax_bottleneck", "mos_beats_moc_ptb"),
    *(
        "mos_beats_awd_ptb",
        "moc_beats_awd_ptb",
        "softmax_dagger_worse",
        "spread_of_singular_values",
    ),
    "freezing_changes_nothing_ptb",
)
"""Packaged claims, by their ids."""


def test_the_sample_is_the_verdict_on_its_evidence(tmp_path: Path, sample_store: Path) -> None:
    """Judging the committed runs again gives the committed reports, but for their provenance.

    After a change of words: unpack `runs.tar.gz`, then `./dev verify mos_rank fair_mos ... --scale
    bench --no-train --store store --reports reports/sample`, with all ten ids; only the first three
    keep more than their report.json.
    """
    claims = load_claims([Path(name) for name in CLAIMS], "bench")
    store = shutil.copytree(sample_store, tmp_path / "store")  # a judge may write to its log
    options = Options(RunStore(store), reports=tmp_path / "reports", train=False)
    for again in verify_claims(claims, options).documents:
        committed = read_document(SAMPLE / again.claim.id / "bench" / "report.json")
        assert without_provenance(again) == without_provenance(committed)


def test_the_library_at_bench_is_the_verdict_on_its_evidence(tmp_path: Path) -> None:
    """The same of the claims whose runs are in one archive, without weights."""
    with tarfile.open(LIBRARY / "bench-runs.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    names = sorted(path.name for path in (tmp_path / "store" / "looks").iterdir())
    assert len(names) == 30
    options = Options(RunStore(tmp_path / "store"), reports=tmp_path / "reports", train=False)
    for again in verify_claims(load_claims([*map(Path, names)], "bench"), options).documents:
        committed = read_document(LIBRARY / again.claim.id / "bench" / "report.json")
        assert without_provenance(again) == without_provenance(committed)
        names.remove(again.claim.id)
    assert names == []


@pytest.mark.parametrize("name", CLAIMS)
def test_the_sample_says_when_it_was_declared(name: str) -> None:
    """Three claims were there before their runs; seven share runs that were there before them."""
    document = read_document(SAMPLE / name / "bench" / "report.json")
    assert document.verdict.validity == "VALID"
    assert document.registration is not None
    assert document.registration.state == ("before" if name in CLAIMS[:3] else "after")


def test_the_sample_is_of_the_whole_test_set(sample_store: Path) -> None:
    """Every rank of the sample is over all 82,429 contexts and 10,000 words."""
    claim = load_claim(ROOT / "claims" / "mos_rank.yaml", "bench")
    evidence = gather(claim, RunStore(sample_store))
    details = [one.details["rank"] for arm in evidence.arms for one in evidence.finished(arm)]
    assert len(details) == 9
    assert {(one["rows"], one["columns"]) for one in details} == {(82_429, 10_000)}


@pytest.mark.parametrize("page", [*SAMPLE.glob("*/*/report.html"), SAMPLE / "index.html"], ids=str)
def test_a_page_of_the_sample_leads_to_what_is_there(page: Path) -> None:
    """Links without an address of their own are to files that are committed."""
    found = re.findall(r'href="([^":#]+)"', page.read_text(encoding="utf-8"))
    assert found
    assert [each for each in found if not (page.parent / each).is_file()] == []


def test_the_sample_is_small() -> None:
    """No file of the sample is larger than a megabyte."""
    files = [path for path in SAMPLE.rglob("*") if path.is_file()]
    assert max(path.stat().st_size for path in files) < 1_000_000


def without_provenance(document: Document) -> dict[str, object]:
    """A document without what derives from time or machine; the claim by its file's name."""
    whole = document.model_dump(exclude={"provenance", "changes"})
    whole["claim"]["file"] = Path(whole["claim"]["file"]).name
    return whole
