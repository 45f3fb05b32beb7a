"""One defect per file, its exact message at its end: adding a rule means adding a small file."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from repro.errors import RuleError, ShapeError, SpecError
from repro.specs.claim import SCALES, ScaleName
from repro.specs.load import load_claim
from tests.specs.kept import has_four_parts, kept_message

BAD = Path(__file__).parent / "bad"
DEFECTS = sorted(path.stem for path in BAD.glob("*.yaml"))
OF_A_SCALE = [name for name in DEFECTS if "scale" in name or name.startswith("five")]


@cache
def refused(name: str, scale: ScaleName = "quick") -> SpecError:
    with pytest.raises(SpecError) as caught:
        load_claim(Path(f"{name}.yaml"), scale)
    return caught.value


@pytest.fixture(autouse=True)
def _beside_the_files(monkeypatch, parsed_once):
    monkeypatch.chdir(BAD)


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_message_is_exactly_the_one_that_is_kept(defect):
    """Each defect is refused with the message at the end of its file, which has four parts."""
    kept = kept_message(Path(f"{defect}.yaml"))
    assert f"{refused(defect)}\n" == kept
    assert has_four_parts(kept)


@pytest.mark.parametrize("defect", OF_A_SCALE)
def test_the_scale_that_is_asked_for_does_not_matter(defect):
    """A mistake at any scale is refused at every scale."""
    assert len({str(refused(defect, scale)) for scale in SCALES}) == 1


def test_the_defects_are_found():
    """None is lost with its file."""
    assert len(DEFECTS) > 230
    assert len(OF_A_SCALE) > 10


@pytest.mark.parametrize(
    ("name", "stage"), [("five_mistakes_of_shape", ShapeError), ("five_broken_rules", RuleError)]
)
def test_five_mistakes_of_one_stage_give_five_messages(name, stage):
    """All mistakes of a stage come out at once, each once, in the order of the file."""
    problems = refused(name).problems
    assert type(refused(name)) is stage
    assert len(problems) == 5
    assert list(problems) == sorted(problems, key=lambda problem: problem.place)


TITLE = "title: A mixture of softmaxes has a higher rank than one softmax"
MENDED = {
    "five_mistakes": {
        TITLE.replace("title", "titel"): TITLE,
        "min: three": "min: 3",
        "ratoi": "ratio",
        "-0.3": "0.3",
    },
    "five_mistakes_of_five_kinds": {"alpha: 0.05\nalpha: 0.05\n": "alpha: 0.05\n"},
    "text_for_a_dialog_model": {"chen_cherry}": "chen_cherry_7}"},
    "override_of_a_bad_configuration": {"broken/several": "tiny/softmax"},
}
"""Files with mistakes of both stages, and what fixes those of the first."""


@pytest.mark.parametrize("name", MENDED)
def test_rules_are_looked_at_once_the_shape_is_mended(name, tmp_path, monkeypatch):
    """The shape comes first, without a word on rules; then come all broken rules at once.

    An override is looked at once the configuration below it has the right shape.
    """
    text = Path(f"{name}.yaml").read_text(encoding="utf-8")
    for wrong, right in MENDED[name].items():
        assert wrong in text
        text = text.replace(wrong, right)
    first = refused(name)
    shutil.copytree("configurations", tmp_path / "configurations")
    (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuleError) as caught:
        load_claim(Path(f"{name}.yaml"), "quick")
    kept = (BAD.parent / "fixed" / f"{name}.txt").read_text(encoding="utf-8")
    assert f"{caught.value}\n" == kept
    assert not {problem.what for problem in first.problems} & {
        problem.what for problem in caught.value.problems
    }
