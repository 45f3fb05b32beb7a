"""Revisions of components: absent at 1, part of every key above it."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.specs.load import load_claim
from repro.trainers import base as revision
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.run import RunSpec

CLAIMS = Path(__file__).parents[2] / "claims"


def run(arm: str) -> RunSpec:
    """A run of the shipped rank claim."""
    return load_claim(CLAIMS / "mos_rank.yaml", "quick").run(arm, 0)


def test_at_revision_one_nothing_is_in_the_identity() -> None:
    """Components that never changed leave no trace in a key."""
    assert "revisions" not in run("mos").training.identity()
    assert list(run("mos").older_keys()) == []


def test_a_raised_revision_changes_the_keys_of_those_who_use_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Raising MoS changes the keys of MoS, and of nothing else."""
    before = {arm: run(arm).key for arm in ("mos", "moc")}
    monkeypatch.setattr(revision, "REVISIONS", {"mos": 2})
    assert run("mos").key != before["mos"]
    assert run("moc").key == before["moc"]


def test_older_keys_are_those_of_earlier_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run at revision 3 of one component and 2 of another has five earlier keys."""
    monkeypatch.setattr(revision, "REVISIONS", {"mos": 2})
    second = run("mos").key
    monkeypatch.setattr(revision, "REVISIONS", {"mos": 3, "training": 2})
    older = list(run("mos").older_keys())
    assert len(older) == len(set(older)) == 5
    assert second in older
    assert run("mos").key not in older


def test_a_raised_measurement_is_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A measurement of an older revision has another name inside its run."""
    before = Rank().key
    monkeypatch.setattr(revision, "REVISIONS", {"rank": 2})
    assert Rank().key != before
