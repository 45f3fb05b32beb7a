"""What training cost, arm by arm: counted and timed."""

from __future__ import annotations

from typing import Any

import pytest

from repro.evidence.evidence import Evidence, Replicate
from repro.judging.claim_parts import cost_parts
from tests.judging.evidence import claim


def run(number: int, seconds: float, tokens: tuple[int, ...], **training: Any) -> Replicate:
    provenance = {"training": {"seconds": seconds, **training}, "measurements": {}}
    return Replicate(number, f"k{number}", "finished", {}, {}, provenance, tokens=tokens)


def test_times_are_means_and_the_peak_is_the_largest() -> None:
    """30 s for three epochs and 50 s for two, of 1,000 tokens: 10 and 25 s, 100 and 40 a second."""
    mos_rank = claim("mos_rank")
    runs = (
        run(0, 30.0, (1000, 1000, 1000), peak_memory=400),
        run(1, 50.0, (1000, 1000), peak_memory=700),
    )
    parts = {part.arm: part for part in cost_parts(mos_rank, Evidence({"mos": runs}))}
    mos = parts["mos"]
    assert (mos.runs, mos.peak_memory) == (2, 700)
    assert mos.seconds_per_epoch == pytest.approx((10 + 25) / 2)
    assert mos.tokens_per_second == pytest.approx((100 + 40) / 2)


def test_counted_operations_need_no_run() -> None:
    """MoS of the quick scale: two layers, four latent contexts and decoders of 1,000 words."""
    parts = {part.arm: part for part in cost_parts(claim("mos_rank"), Evidence({}))}
    layers = 4 * 64 * (32 + 64) + 4 * 32 * (64 + 32)
    assert parts["mos"].flops == 6 * (layers + 4 * 32 * 33 + 4 * 1000 * 32)
    assert parts["softmax"].flops == 6 * (layers + 1000 * 32)
    assert parts["mos"].runs == 0
    assert parts["mos"].seconds_per_epoch is parts["mos"].peak_memory is None


def test_a_run_has_its_share_of_the_model_that_it_was_trained_in() -> None:
    """90 s in a model of nine are 10 s of each."""
    session = {"seconds": 90.0, "engine": {"together": 9}}
    (part,) = (
        part
        for part in cost_parts(
            claim("mos_rank"), Evidence({"moc": (run(0, 90.0, (500,), sessions_list=[session]),)})
        )
        if part.arm == "moc"
    )
    assert part.seconds_per_epoch == 10.0


def test_what_was_not_timed_or_not_finished_is_left_out() -> None:
    lost = Replicate(0, "k", "finished", {}, {}, {"training": "lost"}, tokens=(500,))
    old = run(1, 5.0, ())
    missing = Replicate(2, "k", "missing", {}, {}, {})
    parts = cost_parts(claim("mos_rank"), Evidence({"mos": (lost, old, missing)}))
    (mos,) = (part for part in parts if part.arm == "mos")
    assert (mos.runs, mos.seconds_per_epoch) == (0, None)
