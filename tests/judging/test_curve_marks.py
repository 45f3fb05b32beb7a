"""Every threshold that a rank claim declares or readers know is on its curve rank(tolerance)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repro.judging.assemble import check_claim
from repro.judging.document import CurveMarkPart, CurvePart
from repro.judging.gather import gather
from repro.rank.spectrum import numpy_threshold, press_threshold
from repro.report.blocks import LinePlot
from repro.report.curve_figures import curve_figures
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.language_model.measurements.rank import Rank

ROOT = Path(__file__).parents[2]
WEIGHTS = {"output.weight": np.arange(3, dtype=np.float32)}
EPS = float(np.finfo(np.float32).eps)
ROWS, COLUMNS, LARGEST = 8_000, 1_000, 4_000.0
PRESS = press_threshold(ROWS, COLUMNS, EPS)

CLAIM = """\
schema: 1
id: marked
title: A rank with every threshold that a claim can declare
source: {own: "made for a test"}
arms:
  mos: {label: MoS, configuration: quick/mos}
  softmax: {label: Softmax, configuration: quick/softmax}
design: independent
measurements:
  rank: {kind: rank, split: test, batch_size: 20}
  numpys: {kind: spectral, statistic: numpy, split: test, batch_size: 20}
  low: {kind: spectral, statistic: above, threshold: 3.0e-5, split: test, batch_size: 20}
  high: {kind: spectral, statistic: above, threshold: 1.0e-3, split: test, batch_size: 20}
  lims: {kind: spectral, statistic: empirical, singular_value: 2.0, split: test, batch_size: 20}
  smooth: {kind: spectral, statistic: effective, epsilon: 1.0e-3, split: test, batch_size: 20}
expectations:
  - id: above
    kind: difference
    measurement: rank
    of: [mos, softmax]
    direction: higher
canaries:
  - {id: low, kind: rank_bound, measurement: rank, arms: [softmax]}
  - {id: known, kind: known_rank, measurement: rank}
seeds: {min: 3, plan: 3}
"""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("marked")
    file = folder / "marked.claim.yaml"
    file.write_text(CLAIM, encoding="utf-8")
    claim, store = load_claim(file, ""), RunStore(folder / "store")
    for arm in claim.arms:
        for number in claim.numbers(arm):
            run = claim.run(arm, number)
            history = [{"epoch": 1, "valid_loss": 3.0}]
            store.put_run(run, history=history, weights=WEIGHTS, best_epoch=1)
            largest = LARGEST if arm == "mos" else LARGEST / (1 + number)
            for name, spec in claim.measurements.items():
                details = details_of(largest) if isinstance(spec, Rank) else {}
                value = 10 + number if name == "smooth" else 34
                store.put_measurement(run.key, spec, value=value, details=details)
    return check_claim(claim, gather(claim, store, {}))


def details_of(largest: float) -> dict[str, Any]:
    return {
        "rows": ROWS,
        "columns": COLUMNS,
        "largest_singular_value": largest,
        "relative_threshold": PRESS,
        "tenth": 40,
        "tenfold": 30,
        "tolerances": [PRESS / 10, PRESS, 10 * PRESS],
        "curve": [40, 34, 30],
        "known_rank": {"expected": 32, "measured": 32},
    }


def marks_of(curve: CurvePart) -> dict[tuple[str, str], CurveMarkPart]:
    return {(mark.measurement, mark.label): mark for mark in curve.marks}


def test_the_thresholds_of_the_family_and_of_the_claim(document: Any) -> None:
    mos, softmax = document.curves
    for curve in (mos, softmax):
        marks = marks_of(curve)
        assert marks["", "a tenth of Press's threshold"].tolerances == (PRESS / 10,) * 3
        assert marks["", "ten times Press's threshold"].tolerances == (10 * PRESS,) * 3
        numpys = marks["", "numpy's threshold"].tolerances
        assert numpys == pytest.approx([numpy_threshold(ROWS, COLUMNS, EPS)] * 3, rel=1e-12)
        assert marks["low", "threshold of the claim"].tolerances == (3e-5,) * 3
        assert marks["high", "threshold of the claim"].tolerances == (1e-3,) * 3
        assert len(marks) == 7
    # a bound that is no share of the largest singular value lies elsewhere in each run
    relative = [marks_of(curve)["lims", "empirical bound of 2"] for curve in (mos, softmax)]
    assert relative[0].tolerances == (2.0 / LARGEST,) * 3
    assert relative[1].tolerances == (2 / LARGEST, 4 / LARGEST, 6 / LARGEST)
    assert marks_of(mos)["smooth", "effective rank, ε = 0.001"].ranks == (10, 11, 12)


def test_each_is_drawn_and_named_in_both_figures(document: Any) -> None:
    counted, turned = curve_figures(document)
    assert isinstance(counted.plot, LinePlot)
    assert isinstance(turned.plot, LinePlot)
    settings = {mark.letter: (mark.at, mark.label) for mark in counted.plot.upright}
    assert [*settings] == ["A", "B", "C", "D", "E", "F", "G", "H"]
    assert settings["A"] == (PRESS, "Press's threshold, 5.7e−06")
    assert settings["B"] == (PRESS / 10, "a tenth of Press's threshold, 5.7e−07")
    assert settings["E"] == (3e-5, "threshold of the claim, 3.0e−05")
    assert settings["F"] == (1e-3, "threshold of the claim, 0.0010")
    softmax = "empirical bound of 2, Softmax: 0.00050 to 0.0015, the line at 0.0010"
    assert settings["H"] == (4 / LARGEST, softmax)
    assert counted.plot.upright == turned.plot.level
    (smooth,) = counted.plot.level[:1]
    assert (smooth.at, smooth.letter) == (11, "I")
    assert smooth.label.endswith(": 10 to 12, the line at 11")
    assert counted.plot.level == turned.plot.upright
    for figure in (counted, turned):
        assert "the rank is that" in figure.caption
        assert "that no threshold decides" in figure.caption
        assert "a tenth of Press's threshold, 5.7e−07; " in figure.alt


def test_the_sample_has_the_thresholds_that_its_claim_declares(sample_store: Path) -> None:
    claim = load_claim(ROOT / "claims/yang2018/spread_of_singular_values.claim.yaml", "bench")
    found = check_claim(claim, gather(claim, RunStore(sample_store), {}))
    for curve in found.curves:
        declared = [mark.tolerances for mark in curve.marks if mark.measurement]
        assert declared == [(2e-5,) * 3, (1e-4,) * 3]
