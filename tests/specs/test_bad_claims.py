"""Claims with one defect each, and the exact message that each is refused with.

`one_change.yaml` has those that differ in one place from a claim that is right; the others are
files of their own, with the message at the end.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest
import yaml

from repro.errors import RuleError, ShapeError, SpecError
from repro.specs.claim import SCALES, ScaleName
from repro.specs.load import load_claim
from tests.specs.kept import has_four_parts, kept_message

HERE = Path(__file__).parent
BAD = HERE / "bad"
CHANGED = {
    each["name"]: each
    for each in yaml.safe_load((HERE / "one_change.yaml").read_text(encoding="utf-8"))
}
DEFECTS = sorted([*CHANGED, *(path.stem for path in BAD.glob("*.yaml"))])
OF_A_SCALE = [name for name in DEFECTS if "scale" in name or name.startswith("five")]


@cache
def refused(name: str, scale: ScaleName = "quick") -> SpecError:
    with pytest.raises(SpecError) as caught:
        load_claim(Path(f"{name}.yaml"), scale)
    return caught.value


def changed(name: str) -> str:
    """The claim that is right, with the one change."""
    change = CHANGED[name]
    lines = (HERE / "good" / change["of"]).read_text(encoding="utf-8").split("\n")
    start = change["line"] - 1
    stop = start + len(change["were"])
    assert lines[start:stop] == change["were"], f"{name}: {change['of']} has changed there"
    return "\n".join([*lines[:start], *change["are"], *lines[stop:]])


def kept(name: str) -> str:
    """The message that a defect is refused with."""
    message = CHANGED[name]["message"] if name in CHANGED else kept_message(BAD / f"{name}.yaml")
    assert isinstance(message, str)
    return message


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    """A folder with all of them."""
    folder = shutil.copytree(BAD, tmp_path_factory.mktemp("defects") / "bad")
    for name in CHANGED:
        (folder / f"{name}.yaml").write_text(changed(name), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _beside_the_files(monkeypatch, parsed_once, every):
    monkeypatch.chdir(every)


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_message_is_exactly_the_one_that_is_kept(defect):
    """Each defect is refused with the message that stands with it, which has four parts."""
    assert f"{refused(defect)}\n" == kept(defect)
    assert has_four_parts(kept(defect))


@pytest.mark.parametrize("defect", OF_A_SCALE)
def test_the_scale_that_is_asked_for_does_not_matter(defect):
    """A mistake at any scale is refused at every scale."""
    assert len({str(refused(defect, scale)) for scale in SCALES}) == 1


def test_the_defects_are_found():
    """None is lost."""
    assert len(DEFECTS) == len(set(DEFECTS)) > 230
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
    said = (HERE / "fixed" / f"{name}.txt").read_text(encoding="utf-8")
    assert f"{caught.value}\n" == said
    assert not {problem.what for problem in first.problems} & {
        problem.what for problem in caught.value.problems
    }
