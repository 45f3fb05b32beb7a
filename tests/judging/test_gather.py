"""Evidence of every kind: tables beside the claim, printed numbers, and mixtures of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import ClaimError, SpecError
from repro.evidence.csv_table import TableFile, read_table
from repro.evidence.evidence import Evidence
from repro.judging.gather import from_table, gather, measured, table_schema
from repro.specs.arm import Arm
from repro.specs.claim import Claim
from repro.stats.records import Sample, Summary
from repro.store.run_store import RunStore
from tests.evidence.tidy import HEADER, MOS, needed, printed_softmax, rank_csv
from tests.judging.evidence import claim


def own(folder: Path, of: Claim, text: str) -> Evidence:
    """The evidence of a claim on a user's own results."""
    (folder / "results.csv").write_text(text, encoding="utf-8")
    return from_table(of, read_table(folder / "results.csv", table_schema(of, measured(of))))


def beside(folder: Path, text: str, *arms: str) -> Claim:
    """mos_rank with a table for some of its arms."""
    (folder / "table.csv").write_text(text, encoding="utf-8")
    of = claim("mos_rank")
    source = TableFile(table="table.csv")
    tabled = {arm: Arm(label=of.arms[arm].label, source=source) for arm in arms}
    file = str(folder / "claim.yaml")
    return of.model_copy(update={"arms": {**of.arms, **tabled}, "file": file})


def test_the_seeds_of_a_table_are_its_replicates(tmp_path: Path) -> None:
    """Seeds need not start at 0; each is a finished replicate without a run behind it."""
    evidence = own(tmp_path, claim("mos_rank"), rank_csv(first=40))
    assert evidence.sample("mos", "rank") == Sample(MOS, (40, 41, 42, 43, 44), order="unknown")
    assert {(one.key, one.state) for one in evidence.arms["mos"]} == {("", "finished")}
    assert evidence.tables["mos"].file == "results.csv"


def test_what_only_context_reads_may_be_missing(tmp_path: Path) -> None:
    """mos_rank decides by ranks, so its table needs no perplexities; asking for one says so."""
    evidence = own(tmp_path, claim("mos_rank"), rank_csv())
    with pytest.raises(ClaimError, match="no values of 'test_perplexity' for arm 'mos'"):
        evidence.read("mos", "test_perplexity")


def test_a_table_needs_what_decides() -> None:
    """The measurements of decisive expectations, of the arms that they name, and no others."""
    assert needed().needed == {"mos": ("rank",), "moc": ("rank",), "softmax": ("rank",)}
    assert table_schema(claim("fair_mos"), ("mos",)).elsewhere == {
        "softmax": "the claim has it trained"
    }


def test_a_table_beside_the_claim_stands_for_its_arms_only(tmp_path: Path) -> None:
    """One arm from a table, two from a store that lacks them."""
    of = beside(tmp_path, f"{HEADER}\nsoftmax,3,rank,34\nsoftmax,9,rank,33\n", "softmax")
    evidence = gather(of, RunStore(tmp_path / "store"))
    assert evidence.sample("softmax", "rank") == Sample((34.0, 33.0), (3, 9), order="unknown")
    assert {one.state for one in evidence.arms["mos"]} == {"missing"}
    assert set(evidence.tables) == {"softmax"}


def test_arms_that_share_a_table_are_read_together(tmp_path: Path) -> None:
    """One file holds several arms, and rows of an arm that is trained are a mistake in it."""
    two = f"{HEADER}\nsoftmax,0,rank,34\nmoc,0,rank,34\n"
    evidence = gather(beside(tmp_path, two, "softmax", "moc"), RunStore(tmp_path / "store"))
    assert evidence.read("moc", "rank") == Sample((34.0,), (0,), order="unknown")
    with pytest.raises(SpecError, match="the values of 'moc' are not read from here"):
        gather(beside(tmp_path, two, "softmax"), RunStore(tmp_path / "store"))


def test_printed_numbers_are_a_summary(tmp_path: Path) -> None:
    """Mean and deviation are the floats of their strings; there is no sample and no replicate."""
    of = printed_softmax(mean="56.30", sd="2.5e-1", n=11)
    evidence = gather(of, RunStore(tmp_path / "store"))
    assert evidence.read("softmax", "test_perplexity") == Summary(11, 56.3, 0.25)
    assert evidence.arms["softmax"] == ()
    assert evidence.known("softmax")
    with pytest.raises(ClaimError, match="only printed numbers"):
        evidence.sample("softmax", "test_perplexity")


def test_a_mean_without_a_number_of_seeds_is_no_summary(tmp_path: Path) -> None:
    """Without n a printed mean cannot be tested, and the reason says so."""
    evidence = gather(printed_softmax(n=None), RunStore(tmp_path / "store"))
    with pytest.raises(ClaimError, match="number of seeds behind the printed mean of 'softmax'"):
        evidence.read("softmax", "test_perplexity")


def test_a_measurement_that_is_not_printed_is_named(tmp_path: Path) -> None:
    """Printed numbers are known by measurement."""
    evidence = gather(printed_softmax(), RunStore(tmp_path / "store"))
    with pytest.raises(ClaimError, match="no 'rank' of 'softmax' is printed"):
        evidence.read("softmax", "rank")


def test_a_users_results_hold_every_arm_that_is_not_printed(tmp_path: Path) -> None:
    """Rows of a printed arm are a mistake: the claim has its numbers."""
    of = printed_softmax()
    assert measured(of) == ("mos",)
    text = f"{HEADER}\nmos,0,test_perplexity,56\nsoftmax,0,test_perplexity,57\n"
    with pytest.raises(SpecError, match="leave them out: the claim has its printed numbers"):
        own(tmp_path, of, text)


def test_details_are_known_only_of_runs(tmp_path: Path) -> None:
    """A rank from a table has no other tolerance to look at."""
    evidence = own(tmp_path, claim("mos_rank"), rank_csv())
    assert not evidence.detailed("mos", "rank")
    with pytest.raises(ClaimError, match="only runs have details of 'rank'"):
        evidence.detail("mos", "rank", "tenth")
