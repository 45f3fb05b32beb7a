"""Digests of claims stay what they are: a registration names its claim by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repro.specs.claim import SCALES
from repro.specs.load import load_claim

TESTS = Path(__file__).parents[1]
KEPT = json.loads((Path(__file__).parent / "digests.json").read_text(encoding="utf-8"))
FILES = sorted({name.split("@")[0] for name in KEPT})


@pytest.mark.parametrize("name", sorted(KEPT))
def test_the_digest_of_a_claim_is_the_one_that_is_kept(name):
    """Options that were added later, left out, change no digest at any scale."""
    file, scale = name.split("@")
    assert load_claim(TESTS / file, scale).digest() == KEPT[name]


@pytest.mark.parametrize("file", FILES)
def test_every_scale_of_a_claim_is_kept(file):
    """A scale that a file has, and that is not among those kept, would be judged by nobody."""
    declared = load_claim(TESTS / file, _first(file)).declared
    assert {name.split("@")[1] for name in KEPT if name.startswith(f"{file}@")} == set(declared)


def test_welch_written_out_has_the_digest_of_welch_left_out(tmp_path):
    """A test that is written although it is the default is the same claim."""
    text = (TESTS / "specs/good/mixed_claim.yaml").read_text(encoding="utf-8")
    assert "test: welch" not in text
    for file in (TESTS / "specs/good").glob("mixed_claim.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    written = text.replace("direction: lower\n", "direction: lower\n    test: welch\n")
    assert written != text
    (tmp_path / "mixed_claim.yaml").write_text(written, encoding="utf-8")
    (tmp_path / "configurations").symlink_to(TESTS / "specs/good/configurations")
    kept = KEPT["specs/good/mixed_claim.yaml@quick"]
    assert load_claim(tmp_path / "mixed_claim.yaml", "quick").digest() == kept


def _first(file: str) -> str:
    return next(scale for scale in SCALES if f"{file}@{scale}" in KEPT)
