"""`repro rank` prints the rank of anybody's matrix."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from repro.rank.spectrum import count_above
from tests.commands import repro

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/rank-of-your-model.md").read_text(encoding="utf-8")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Log-probabilities of a Softmax with 12 dimensions."""
    generator = np.random.default_rng(5)
    logits = generator.normal(size=(700, 12)) @ generator.normal(size=(12, 250))
    logits = logits.astype(np.float32)
    exact = np.log(np.exp(logits.astype(np.float64)).sum(axis=1, keepdims=True))
    file = tmp_path / "rows.npy"
    np.save(file, logits - exact.astype(np.float32))
    return file


def test_text(rows: Path) -> None:
    printed = repro("rank", rows)
    assert printed.returncode == 0, printed.stderr
    lines = printed.stdout.splitlines()
    assert lines[0] == f"{rows}: 700 contexts x 250 words, float32"
    assert lines[1].startswith("rank 13 by Press's threshold, ")
    assert lines[-1] == "control, a matrix of rank 32 by the same reduction (qr): 32, passed"


def test_json(rows: Path, tmp_path: Path) -> None:
    spectrum = tmp_path / "values.npy"
    printed = repro(
        "rank", rows, "--json", "--spectrum", spectrum, "--threshold", "0.5", "--epsilon", "0.01",
        "--centred",
    )  # fmt: skip
    found: dict[str, Any] = json.loads(printed.stdout)
    assert next(iter(found)) == "press"
    assert found["press"] == 13
    assert found["at"] == {"0.5": 1}
    assert list(found["effective"]) == list(found["centred"]["effective"]) == ["0.01"]
    values = np.load(spectrum)
    curve = found["curve"]
    assert curve["ranks"] == [count_above(values, t) for t in curve["tolerances"]]
    whole = np.load(rows).astype(np.float64)
    expected = np.linalg.svd(whole, compute_uv=False)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12 * expected[0])
    centred = np.linalg.svd(whole - whole.mean(axis=0), compute_uv=False)
    stable = float(np.sum((centred / centred[0]) ** 2))
    assert found["centred"]["stable"] == pytest.approx(stable, rel=1e-9)


def test_counts(rows: Path) -> None:
    found = json.loads(repro("rank", rows, "--json", "--counts").stdout)
    assert (found["press"], found["reduction"]) == (13, "inertia")
    assert not {"effective", "stable", "curve", "tenth"} & set(found)
    for option, *value in (
        ("--spectrum", "x"), ("--figure", "x"), ("--noise", "1e-6"), ("--epsilon", "0.1"),
        ("--centred",),
    ):  # fmt: skip
        refused = repro("rank", rows, "--counts", option, *value)
        message = f"{option} with --counts: counts alone give no spectrum"
        assert (refused.returncode, refused.stderr.splitlines()[0]) == (2, message)


def test_figure(rows: Path, tmp_path: Path) -> None:
    """One SVG with three plots and every threshold with its rank; the same bytes each time."""
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        assert repro("rank", rows, "--figure", file, "--threshold", "0.5").returncode == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    svg = ET.fromstring(files[0].read_bytes())
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [each.text for each in svg.iter("{http://www.w3.org/2000/svg}text")]
    titles = ("Rank against the tolerance", "Singular values", "Share of the first singular values")
    assert [texts.count(title) for title in titles] == [1, 1, 1]
    marks = ("Press's threshold: 13", "Tenth of Press's threshold: 13", "Numpy's threshold: 13")
    for mark in (*marks, "Ten times Press's threshold: 13", "At 0.5: 1"):
        assert texts.count(mark) == 2
    assert [texts.count(letter) for letter in "ABCDEF"] == [4, 4, 4, 4, 4, 0]
    assert texts.count("rows.npy") == 3


def test_cumulative_shares(rows: Path) -> None:
    """Of the sum of all singular values, as an SVD in float64 has them."""
    found = json.loads(repro("rank", rows, "--json").stdout)["cumulative"]
    values = np.linalg.svd(np.load(rows).astype(np.float64), compute_uv=False)
    expected = [np.sum(values[:k]) / np.sum(values) for k in found["first"]]
    assert (found["first"][0], found["first"][-1]) == (1, len(values))
    np.testing.assert_allclose(found["share"], expected, rtol=1e-6)


def test_noise(rows: Path) -> None:
    """A little noise lifts Press's rank from 13 to all, and leaves the effective rank."""
    found = json.loads(repro("rank", rows, "--json", "--noise", "1e-20", "--noise", "1e-6").stdout)
    none, some = (found["noise"][c] for c in ("1e-20", "1e-06"))
    assert (none["press"], none["press_change"]) == (13, 0)
    assert (some["press"], some["press_change"]) == (250, 237)
    share = found["largest_singular_value"] ** 2 / (700 * 250)
    assert some["deviation"] == pytest.approx(np.sqrt(1e-6 * share), rel=1e-12)
    assert some["effective"]["0.001"] == found["effective"]["0.001"]
    assert some["effective_change"]["0.001"] == 0
    lines = repro("rank", rows, "--noise", "1e-6").stdout.splitlines()
    assert "  Press's: 250 (+237)" in lines
    assert f"  effective, 0.001: {some['effective']['0.001']} (+0)" in lines


def test_a_figure_that_cannot_be_written_costs_no_result(rows: Path, tmp_path: Path) -> None:
    printed = repro("rank", rows, "--figure", tmp_path / "none" / "a.svg")
    assert printed.returncode == 5
    assert "rank 13 by Press's threshold" in printed.stdout
    assert "a.svg: No such file or directory\n  expected: a place" in printed.stderr


def test_what_a_kill_has_left_of_a_spectrum_is_swept(rows: Path, tmp_path: Path) -> None:
    """Beside the file that is written, of that file alone, and not what is written right now."""
    left = {".s.npy.a.tmp": 3600, ".s.npy.b.tmp": 0, ".other.npy.a.tmp": 3600}
    for name, seconds in left.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - seconds,) * 2)
    assert repro("rank", rows, "--spectrum", tmp_path / "s.npy").returncode == 0
    assert {each.name for each in tmp_path.glob(".*")} == {*left} - {".s.npy.a.tmp"}


def test_lims_bound(rows: Path, tmp_path: Path) -> None:
    """A reference has the rank by its own bound that it was said to have."""
    spectrum = tmp_path / "values.npy"
    assert repro("rank", rows, "--spectrum", spectrum).returncode == 0
    values = np.linalg.svd(np.load(rows).astype(np.float64), compute_uv=False)
    options = ("--reference", spectrum, "--reference-rank", "11")
    found = json.loads(repro("rank", rows, "--json", *options).stdout)
    assert found["empirical"]["rank"] == 11
    assert found["empirical"]["bound"] == pytest.approx(values[11], rel=1e-9)
    assert (
        f"by the empirical bound of {values[11]:.6g}: 11\n" in repro("rank", rows, *options).stdout
    )
    half = tmp_path / "half.npy"
    np.save(half, np.load(spectrum) / 2)
    counted = repro(
        "rank", rows, "--json", "--counts", "--reference", half, "--reference-rank", "11"
    )
    assert json.loads(counted.stdout)["empirical"]["rank"] == np.sum(values > values[11] / 2)


@pytest.mark.parametrize(
    ("reference", "rank", "message"),
    [
        (None, 3, "--reference-rank without --reference\n  expected: both"),
        ([2.0, 1.0], None, "--reference without --reference-rank\n"),
        ([2.0, 1.0], 2, "values.npy: 2 singular values, for --reference-rank 2\n"),
        ([2.0, 0.0], 1, "values.npy: singular value 2 is 0\n"),
        ([2.0, 1e-9], 1, "a bound of 1e-09: below "),
        ([[2.0, 1.0]], 1, "values.npy: numbers of type float64, 1 x 2\n"),
        ([2.0, np.nan], 1, "values.npy: numbers that are negative or not finite\n"),
        ([2, 1], 1, "values.npy: numbers of type int64, 2\n"),
    ],
)
def test_references_that_give_no_bound(
    rows: Path, tmp_path: Path, reference: Any, rank: int | None, message: str
) -> None:
    options: list[str | Path] = []
    if reference is not None:
        np.save(tmp_path / "values.npy", np.asarray(reference))
        options += ["--reference", tmp_path / "values.npy"]
    if rank is not None:
        options += ["--reference-rank", str(rank)]
    refused = repro("rank", rows, "--counts", *options)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "\n  to do: " in refused.stderr


def test_a_control_that_fails_is_a_failure(rows: Path) -> None:
    with mock.patch("repro.rank.matrix_rank.control_rows", return_value=[np.ones((5, 250))]):
        printed = repro("rank", rows)
    assert printed.returncode == 1
    assert printed.stdout.endswith("FAILED\n")


def test_rounded_numbers_are_refused(rows: Path) -> None:
    np.save(rows, np.load(rows).astype(np.float16).astype(np.float32))
    refused = repro("rank", rows)
    assert refused.returncode == 2
    assert "rounded to float16" in refused.stderr
    assert repro("rank", rows, "--precision", "float16").returncode == 0


def test_a_file_of_half_precision_says_what_its_thresholds_are(rows: Path) -> None:
    """By its own epsilon; 1,200 rows put numpy's threshold above every singular value."""
    exact = np.random.default_rng(2).normal(size=(1200, 40))
    np.save(rows, (exact - 9).astype(np.float16))
    printed = repro("rank", rows)
    assert printed.returncode == 0, printed.stderr
    said = printed.stdout
    assert "1,200 contexts x 40 words, float16\n" in said
    assert (
        "  by numpy's default threshold: 0 "
        "(it is 1.17 of the largest singular value: nothing can be above it)\n" in said
    )


def test_the_example_of_the_page(tmp_path: Path) -> None:
    """A small transformer, by the command of the page, in a process of its own."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (shown,) = re.findall(r"^tiny:.*?^rank (\d+) by", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "tiny.py").write_text(code, encoding="utf-8")
    line = [sys.executable, "-m", "repro", "rank", "tiny:log_probabilities", "--json"]
    printed = subprocess.run(
        line, cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{ROOT}"}, capture_output=True,
        text=True, check=True, timeout=120,
    )  # fmt: skip
    found = json.loads(printed.stdout)
    assert (found["press"], found["rows"], found["columns"]) == (int(shown), 2560, 500)
