"""Digests of claims stay what they are: a registration names its claim by them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from repro.specs.claim import SCALES
from repro.specs.load import load_claim

TESTS = Path(__file__).parents[1]
KEPT = json.loads((Path(__file__).parent / "digests.json").read_text(encoding="utf-8"))
FILES = sorted({name.split("@")[0] for name in KEPT})


@pytest.mark.parametrize("file", FILES)
def test_the_digests_of_a_claim_are_those_that_are_kept(file):
    """Options that were added later, left out, change no digest at any scale."""
    kept = {scale: KEPT[f"{file}@{scale}"] for scale in SCALES if f"{file}@{scale}" in KEPT}
    claims = [load_claim(TESTS / file, scale) for scale in kept]
    assert {claim.scale: claim.digest() for claim in claims} == kept
    assert set(claims[0].declared) == set(kept)


def test_welch_written_out_has_the_digest_of_welch_left_out(tmp_path):
    """A test that is written although it is the default is the same claim."""
    text = (TESTS / "specs/good/sequential_claim.yaml").read_text(encoding="utf-8")
    written = text.replace("direction: lower\n", "direction: lower\n    test: welch\n")
    assert written != text
    (tmp_path / "sequential_claim.yaml").write_text(written, encoding="utf-8")
    shutil.copytree(TESTS / "specs/good/configurations", tmp_path / "configurations")
    kept = KEPT["specs/good/sequential_claim.yaml@quick"]
    assert load_claim(tmp_path / "sequential_claim.yaml", "quick").digest() == kept
