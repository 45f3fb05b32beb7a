"""Noisy and centred log-probabilities: against the held matrix's SVD, and against `repro rank`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from typer.testing import CliRunner

from repro.cli import app
from repro.errors import DataError, MatrixError
from repro.rank.noise import SEED
from repro.rank.spectrum import (
    count_above,
    cumulative_share,
    effective_rank,
    entropy_rank,
    press_threshold,
    stable_rank,
)
from repro.trainers.language_model.evaluation import log_probability_rows
from repro.trainers.language_model.measurements import model_rank
from repro.trainers.language_model.measurements.changed_matrix import CentredSpectrum, NoisyRank
from repro.trainers.language_model.measurements.model_rank import (
    centred_spectrum_of,
    noisy_rank_of,
)
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.language_model.measurements.spectral import Spectral
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.measurement import Measured
from tests.trainers.measurements.test_counts_only import spread, text_of
from tests.trainers.small import MOS, SOFTMAX, run

Matrix = np.ndarray[Any, np.dtype[np.float64]]

VOCABULARY, TOKENS, STREAMS = 90, 1301, 2
ROWS = (TOKENS // STREAMS - 1) * STREAMS
EPS = float(np.finfo(np.float32).eps)
C = 1e-6


class Known:
    """A model, and its log-probabilities, held."""

    def __init__(self, output: dict[str, Any] = SOFTMAX, dtype: torch.dtype = torch.float32):
        self.model: LanguageModel = spread(output, VOCABULARY, dtype)
        self.text = text_of(VOCABULARY, TOKENS)
        self.rows = torch.cat(list(self.read())).numpy()
        self.held: Matrix = self.rows.astype(np.float64)

    def read(self) -> Iterator[torch.Tensor]:
        for chunk in log_probability_rows(self.model, self.text, STREAMS):
            yield from chunk.split(333)

    def noisy(self, c: float, contexts: int | None = None) -> tuple[float, dict[str, Any], Any]:
        return noisy_rank_of(self.read, self.model.output, ROWS, contexts, c)

    def centred(self, contexts: int | None = None) -> tuple[dict[str, Any], Any]:
        return centred_spectrum_of(self.read, self.model.output, ROWS, contexts)


def with_noise(held: Matrix, c: float) -> Matrix:
    """By definition: variance c / (M N) times the largest squared singular value."""
    largest = np.linalg.svd(held, compute_uv=False)[0]
    noise = np.random.default_rng(SEED).standard_normal(held.shape)
    changed: Matrix = held + np.sqrt(c / held.size) * largest * noise
    return changed


def press(values: Any, rows: int) -> int:
    return count_above(values, press_threshold(rows, VOCABULARY, EPS))


@pytest.mark.parametrize("output", [SOFTMAX, MOS])
@pytest.mark.parametrize("contexts", [None, 777])
@pytest.mark.parametrize("c", [1e-12, 1e-8, 1e-6, 1.0])
def test_a_noisy_rank_is_that_of_the_held_matrix(
    output: dict[str, Any], contexts: int | None, c: float
) -> None:
    known = Known(output)
    value, details, spectrum = known.noisy(c, contexts)
    changed = with_noise(known.held[:contexts], c)
    values = np.linalg.svd(changed, compute_uv=False)
    assert value == press(values, len(changed))
    np.testing.assert_allclose(spectrum, values, rtol=1e-6, atol=1e-8 * values[0])
    assert details["deviation"] == pytest.approx(
        float(np.sqrt(c / changed.size) * np.linalg.norm(known.held[:contexts], 2)), rel=1e-9
    )
    assert details["known_rank"]["measured"] == details["known_rank"]["expected"]


def test_noise_fills_the_rank_of_a_softmax_and_hardly_changes_its_effective_rank() -> None:
    """As in the supplement's Tables 15 and 16; d + 1 = 7, for its bias is 0."""
    known = Known(SOFTMAX)
    values = np.linalg.svd(known.held, compute_uv=False)
    before, after = press(values, ROWS), known.noisy(1e-4)
    assert before == 7
    assert known.noisy(1e-16)[0] == 7
    assert after[0] == VOCABULARY
    assert effective_rank(after[2], 1e-2) == effective_rank(values, 1e-2) < 8


@pytest.mark.parametrize("output", [SOFTMAX, MOS])
@pytest.mark.parametrize("contexts", [None, 777])
def test_a_centred_spectrum_is_that_of_the_held_matrix(
    output: dict[str, Any], contexts: int | None
) -> None:
    known = Known(output)
    details, spectrum = known.centred(contexts)
    some = known.held[:contexts]
    values = np.linalg.svd(some - some.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(spectrum, values, atol=3e-7 * values[0])
    assert details == {"rows": len(some), "columns": VOCABULARY}
    assert spectrum[0] < np.linalg.norm(some, 2) / 2  # the mean row is most of it


def taken(source: Measured, **settings: Any) -> float:
    return Spectral.model_validate({"kind": "spectral", **settings}).derive(source).value


@pytest.mark.parametrize("output", [SOFTMAX, MOS])
def test_they_are_what_repro_rank_says_of_the_same_rows(
    output: dict[str, Any], tmp_path: Path
) -> None:
    known = Known(output)
    np.save(tmp_path / "rows.npy", known.rows)
    command = ["rank", str(tmp_path / "rows.npy"), "--centred", "--json", "--epsilon", "1e-3"]
    done = CliRunner().invoke(app, [*command, "--noise", f"{C}", "--precision", "float32"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    value, details, spectrum = known.noisy(C)
    noise = said["noise"]["1e-06"]
    assert value == noise["press"]
    assert details["deviation"] == pytest.approx(noise["deviation"], rel=1e-9)
    noisy = Measured(value, details, {"singular_values": spectrum})
    effective: dict[str, Any] = {"statistic": "effective", "epsilon": 1e-3}
    assert taken(noisy, **effective, noise=C) == noise["effective"]["0.001"]
    details, spectrum = known.centred()
    centred = Measured(0.0, details, {"singular_values": spectrum})
    found = said["centred"]
    assert taken(centred, **effective, centred=True) == found["effective"]["0.001"]
    for name in ("stable", "entropy"):
        here = taken(centred, statistic=name, centred=True)
        assert here == pytest.approx(found[name], rel=1e-6)


def test_statistics_without_the_mean_row_are_by_their_definitions() -> None:
    known = Known(MOS)
    details, spectrum = known.centred()
    source = Measured(0.0, details, {"singular_values": spectrum})
    values = np.linalg.svd(known.held - known.held.mean(axis=0), compute_uv=False)
    assert taken(source, statistic="stable", centred=True) == pytest.approx(stable_rank(values))
    entropy = taken(source, statistic="entropy", centred=True)
    assert entropy == pytest.approx(entropy_rank(values), rel=1e-5)
    share = taken(source, statistic="share", first=5, centred=True)
    assert share == pytest.approx(cumulative_share(values)[4])
    assert stable_rank(values) > 2 * stable_rank(np.linalg.svd(known.held, compute_uv=False))


def test_each_matrix_has_a_key_and_words_of_its_own() -> None:
    rows: dict[str, Any] = {"split": "valid", "contexts": 7}
    effective = {"kind": "spectral", "statistic": "effective", "epsilon": 1e-3, **rows}
    plain, noisy, centred = (
        Spectral.model_validate({**effective, **changed})
        for changed in ({}, {"noise": 1e-6}, {"centred": True})
    )
    assert len({plain.key, noisy.key, centred.key}) == 3
    assert plain.sources == (Rank(split="valid", contexts=7),)
    assert noisy.sources == (NoisyRank(split="valid", contexts=7, noise=1e-6),)
    assert centred.sources == (CentredSpectrum(split="valid", contexts=7),)
    words = "validation effective rank, ε = 0.001"
    some = " (first 7 contexts)"
    assert plain.label == words + some
    assert noisy.label == f"{words}, with noise of 1e-06{some}"
    assert centred.label == f"{words}, without the mean row{some}"
    assert noisy.sources[0].label == f"validation rank with noise of 1e-06{some}"
    assert centred.sources[0].label == (
        f"validation largest singular value, without the mean row{some}"
    )


def test_no_structure_bounds_a_rank_with_noise_and_no_other_noise_is_the_same() -> None:
    noisy = NoisyRank(noise=1e-6)
    assert noisy.bound(run().training) is None
    assert not noisy.bounded
    assert noisy.controls == ("known_rank",)
    assert noisy.same_elsewhere(NoisyRank(noise=1e-6, split="valid"))
    assert not noisy.same_elsewhere(NoisyRank(noise=1e-5))
    assert not noisy.same_elsewhere(Rank(split="valid"))
    assert not Rank().same_elsewhere(noisy)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"statistic": "stable", "noise": 1e-6, "centred": True}, "are of two matrices"),
        ({"statistic": "numpy", "centred": True}, "counts what is above a size"),
        ({"statistic": "above", "threshold": 1e-3, "centred": True}, "counts what is above a size"),
        ({"statistic": "stable", "centred": False}, "Input should be True"),
        ({"statistic": "stable", "noise": 0.0}, "greater than 0"),
    ],
)
def test_settings_without_a_meaning(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Spectral.model_validate({"kind": "spectral", **settings})


def test_rounded_log_probabilities_are_refused_before_noise_hides_it() -> None:
    known = Known(MOS)

    def rounded() -> Iterator[torch.Tensor]:
        for chunk in known.read():
            yield chunk.bfloat16().float()

    output = known.model.output
    with pytest.raises(DataError, match="rounded to bfloat16"):
        noisy_rank_of(rounded, output, ROWS, None, C)
    with pytest.raises(DataError, match="rounded to bfloat16"):
        centred_spectrum_of(rounded, output, ROWS, None)


def test_float64_has_a_threshold_of_its_own() -> None:
    known = Known(SOFTMAX, torch.float64)
    value, details, _ = known.noisy(1e-20)
    values = np.linalg.svd(with_noise(known.held, 1e-20), compute_uv=False)
    threshold = press_threshold(ROWS, VOCABULARY, 2.0**-52)
    assert value == count_above(values, threshold) > 8
    assert details["relative_threshold"] == threshold


def test_without_room_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known(MOS)
    monkeypatch.setattr("repro.rank.reduction.available_memory", lambda: 1000.0)
    monkeypatch.setattr(model_rank, "reduce_rows", None)
    for measured in (lambda: known.noisy(C), known.centred):
        with pytest.raises(MatrixError, match="to do: take fewer words, or a machine with more"):
            measured()
