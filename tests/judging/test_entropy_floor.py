"""A claim on the distance from the truth: its report states the floor, and a cheat is INVALID."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from repro.errors import SpecError
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import gather
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.language_model.measurements.kl import KlFromTruth

FILE = Path(__file__).parents[2] / "claims" / "controls" / "nearer_to_the_truth.claim.yaml"
WEIGHTS = {"output.weight": np.arange(3, dtype=np.float32)}


def judged(root: Path, distances: dict[str, float], excess: float | None = None) -> Document:
    """The shipped claim on made runs; ``excess`` is what a model of MoS loses on the words."""
    store, claim = RunStore(root), load_claim(FILE, "quick")
    for arm, distance in distances.items():
        for number in claim.numbers(arm):
            value = distance + number % 5 / 1000
            lost = value if excess is None or arm != "mos" else excess
            facts = {"contexts": 9, "floor": 18.22, "truth": 18.14, "excess_error": 0.007}
            details = {**facts, "excess": lost, "model": 18.14 * math.exp(lost)}
            run = claim.run(arm, number)
            history = [{"epoch": 1, "valid_loss": 3.0}]
            store.put_run(run, history=history, weights=WEIGHTS, best_epoch=1)
            for spec in claim.measurements.values():
                if isinstance(spec, KlFromTruth):
                    store.put_measurement(run.key, spec, value=value, details=details)
                else:
                    store.put_measurement(run.key, spec, value=details["model"])
    return check_claim(claim, gather(claim, store, {}))


def test_the_report_states_the_floor_of_the_language(tmp_path: Path) -> None:
    document = judged(tmp_path, {"mos": 0.6, "matched": 0.8})
    (control,) = document.canaries
    assert control.state == "passed"
    assert control.expected == "perplexity 18.22 at least, 18.14 on these words"
    assert control.measured == "MoS (K=4) 33.05 to 33.19; Softmax of equal size 40.37 to 40.53"
    assert (document.verdict.validity, document.verdict.conclusion) == ("VALID", "CONFIRMED")


def test_a_model_below_the_floor_is_invalid_evidence(tmp_path: Path) -> None:
    document = judged(tmp_path, {"mos": 0.6, "matched": 0.8}, excess=-0.05)
    assert document.canaries[0].state == "failed"
    assert document.verdict.validity == "INVALID"


def test_no_expectation_rests_on_a_distance_without_its_floor(tmp_path: Path) -> None:
    text = FILE.read_text(encoding="utf-8").replace("kind: entropy_floor", "kind: known_rank")
    path = tmp_path / FILE.name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="no control of kind entropy_floor"):
        load_claim(path, "quick")
