"""Claims of their author, scales with any name, and claims without scales."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.expectations.difference import Difference
from repro.specs.claim import UNSCALED, AuthorSource, Claim
from repro.specs.load import load_claim, load_claims

GOOD = Path(__file__).parent / "good"
SOURCE = re.compile(r"^source:\n(  .*\n)+", re.MULTILINE)
OWN = 'source: {own: "the new method may replace the old one"}\n'
NOTICE = 'notice: "Numbers that are made for the tests of this project."'


def put(folder: Path, *scales: str, of: str = "table_claim", source: str = OWN) -> Path:
    """A good claim of its author with these scales, or with none."""
    text = SOURCE.sub(source, (GOOD / f"{of}.yaml").read_text(encoding="utf-8"))
    text = text[: text.index("\nscales:") + 1]
    if scales:
        text += "scales:\n" + "".join(f"  {scale}: {{{NOTICE}}}\n" for scale in scales)
    if (table := GOOD / f"{of}.csv").exists():
        (folder / table.name).write_bytes(table.read_bytes())
    file = folder / f"{of}.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def only(where: Path) -> Claim:
    (claim,) = load_claims(where)
    return claim


def test_a_claim_of_its_author_quotes_nothing(tmp_path: Path) -> None:
    claim = only(put(tmp_path))
    assert claim.source == AuthorSource(own="the new method may replace the old one")
    assert claim.paper is None
    assert load_claim(GOOD / "table_claim.yaml", "paper").paper == "example2024"


def test_without_scales_a_claim_is_judged_as_it_is_declared(tmp_path: Path) -> None:
    """The one scale has a name of its own; what decides is all at the top level."""
    file = put(tmp_path)
    claim = only(file)
    assert (claim.scale, claim.declared) == (UNSCALED, (UNSCALED,))
    assert claim == load_claim(file, UNSCALED)
    with pytest.raises(SpecError, match="no scale 'quick'"):
        load_claim(file, "quick")


def test_the_digest_of_a_claim_says_its_scale(tmp_path: Path) -> None:
    """A scale with another name is another registration, though it changes nothing."""
    first, second = (only(put(tmp_path, name)) for name in ("small", "large"))
    assert first.digest() != second.digest()
    assert first.decisive_fields() | {"scale": "large"} == second.decisive_fields()


@pytest.mark.parametrize(
    ("scales", "order", "taken"),
    [
        (("mine", "full"), ("mine", "full"), "mine"),
        (("zeta", "alpha"), ("zeta", "alpha"), "zeta"),
        (("bench", "quick"), ("quick", "bench"), "quick"),
        (("mine", "quick"), ("mine", "quick"), "quick"),
        (("mine", "bench"), ("mine", "bench"), "mine"),
        (("bench", "mine"), ("bench", "mine"), "bench"),
    ],
)
def test_the_default_is_quick_or_the_first_of_the_file(
    tmp_path: Path, scales: tuple[str, ...], order: tuple[str, ...], taken: str
) -> None:
    """Of a claim that trains; names with a meaning go from small to large among themselves."""
    shutil.copytree(GOOD / "configurations", tmp_path / "configurations")
    claim = only(put(tmp_path, *scales, of="paired_claim"))
    assert claim.trained
    assert (claim.declared, claim.scale) == (order, taken)


@pytest.mark.parametrize(
    ("scales", "taken"),
    [((), [UNSCALED]), (("mine", "full"), ["mine"]), (("mine", "bench"), [])],
)
def test_a_folder_gives_what_trains_where_no_name_says_that_it_is_long(
    tmp_path: Path, scales: tuple[str, ...], taken: list[str]
) -> None:
    """A claim that trains is passed over only where the meaning of its names says how long."""
    shutil.copytree(GOOD / "configurations", tmp_path / "configurations")
    put(tmp_path)
    put(tmp_path, *scales, of="paired_claim")
    passed_over: list[str] = []
    claims = load_claims(tmp_path, passed_over=passed_over)
    assert [claim.scale for claim in claims if claim.trained] == taken
    assert len(claims) + len(passed_over) == 2


def test_a_scale_with_any_name_changes_what_it_names(tmp_path: Path) -> None:
    file = put(tmp_path, "strict")
    text = file.read_text(encoding="utf-8").replace(
        f"{{{NOTICE}}}",
        f'{{{NOTICE}, expectations: {{more_accurate: {{smallest_effect: {{abs: 0.7, why: "more is '
        'asked for here"}}}}',
    )
    file.write_text(text, encoding="utf-8")
    expectation = only(file).expectations[0]
    assert isinstance(expectation, Difference)
    assert expectation.smallest_effect is not None
    assert expectation.smallest_effect.abs == 0.7
