"""One defect a file, its exact message beside it: adding a rule means adding two small files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.specs.claim import SCALES, ScaleName
from repro.specs.load import load_claim

BAD = Path(__file__).parent / "bad"
DEFECTS = sorted(path.stem for path in BAD.glob("*.yaml"))


@cache
def refused(name: str, scale: ScaleName = "quick") -> SpecError:
    with pytest.raises(SpecError) as caught:
        load_claim(Path(f"{name}.yaml"), scale)
    return caught.value


@pytest.fixture(autouse=True)
def _beside_the_files(monkeypatch):
    monkeypatch.chdir(BAD)


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_message_is_exactly_the_one_that_is_kept(defect):
    """Each defect is refused with the message in the file of the same name."""
    assert str(refused(defect)) + "\n" == Path(f"{defect}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_message_has_four_parts(defect):
    """Every problem says where, what, what was expected, and what to do."""
    for problem in refused(defect).problems:
        assert problem.place.file.endswith(".yaml")
        assert problem.place.line > 0
        assert problem.place.column > 0
        assert problem.what
        assert problem.expected
        assert problem.advice


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_scale_that_is_asked_for_does_not_matter(defect):
    """A mistake at any scale is refused at every scale."""
    assert len({str(refused(defect, scale)) for scale in SCALES}) == 1


def test_there_is_no_message_without_its_defect():
    """Every kept message belongs to a file."""
    assert {path.stem for path in BAD.glob("*.txt")} == set(DEFECTS)
    assert len(DEFECTS) > 30


@pytest.mark.parametrize("name", ["five_mistakes", "five_mistakes_of_five_kinds"])
def test_five_mistakes_give_five_messages(name):
    """All mistakes come out at once, each once, in the order in which they are written."""
    problems = refused(name).problems
    assert len(problems) == 5
    assert list(problems) == sorted(problems, key=lambda problem: problem.place)
