"""Provenance: what derives from time or machine, read from the runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repro.evidence.evidence import Evidence, Replicate
from repro.judging.claim_parts import collect, revision

RUN: dict[str, Any] = {
    "training": {
        "seconds": 10.0,
        "machine": {"device": "NVIDIA H200", "processor": "some CPU"},
        "software": {"torch": "2.11.0"},
        "settings": {"threads": 1},
    },
    "measurements": {"rank-1": {"seconds": 2.5}, "perplexity-1": {"seconds": 0.5}},
}


def test_cost_and_device_are_those_of_the_runs() -> None:
    """Seconds are training and measuring together; the device and torch are where it ran."""
    one = Replicate(0, "k", "finished", {}, {}, RUN)
    found = collect(Evidence({"a": (one,)}), "repro verify x")
    assert found.run_seconds == {"k": 13.0}
    assert found.devices == ("NVIDIA H200, some CPU, torch 2.11.0",)
    assert found.threads_per_run == 1


def test_a_run_costs_its_share_of_the_model_that_it_was_trained_in() -> None:
    """90 s in a model of nine and 20 s in one of two are 10 + 10 s; 5 s alone count whole."""
    sessions = [
        {"seconds": 5.0},
        {"seconds": 90.0, "engine": {"name": "batched", "together": 9}},
        {"seconds": 20.0, "engine": {"name": "batched", "together": 2}},
    ]
    training = {**RUN["training"], "seconds": 115.0, "sessions_list": sessions}
    one = Replicate(0, "k", "finished", {}, {}, {**RUN, "training": training})
    found = collect(Evidence({"a": (one,)}), "repro verify x")
    assert found.run_seconds == {"k": 5.0 + 10.0 + 10.0 + 3.0}


def test_runs_without_provenance_are_unknown_not_an_error() -> None:
    """A store that lost its provenance still gives a report."""
    one = Replicate(0, "k", "finished", {}, {}, {"training": "lost"})
    found = collect(Evidence({"a": (one,)}), "repro verify x")
    assert found.devices == ("unknown",)
    assert found.run_seconds == {"k": 0.0}


def test_the_code_that_judged_is_named(tmp_path: Path) -> None:
    """By its commit, of a checkout; a folder that is none has no revision."""
    assert revision(tmp_path) == ""
    assert revision(Path(__file__).parents[2]).rstrip("+").isalnum()
