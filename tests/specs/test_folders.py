"""A folder of claims: what is taken, what is passed over, and what is told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.schema import yaml
from repro.specs.claim import ScaleName
from repro.specs.load import load_claim, load_claims

GOOD = Path(__file__).parent / "good"
CLAIMS = Path(__file__).parents[2] / "claims"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with configurations in a project, and no claim yet."""
    (tmp_path / "pyproject.toml").touch()
    shutil.copytree(GOOD / "configurations", tmp_path / "claims/configurations")
    return tmp_path / "claims"


def put(file: Path, *scales: str, of: str = "claim.yaml") -> None:
    """A good claim, named like its file, with these scales only, or with all."""
    text = (GOOD / of).read_text(encoding="utf-8")
    (old,) = (line for line in text.splitlines() if line.startswith("id: "))
    text = text.replace(old, f"id: {file.name.partition('.')[0]}")
    if scales:
        notice = 'notice: "A synthetic language, which says nothing about any other."'
        declared = "".join(f"  {scale}: {{{notice}}}\n" for scale in scales)
        text = text[: text.index("\nscales:")] + f"\nscales:\n{declared}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def ids(where: Path | list[Path], scale: ScaleName | None = None) -> list[str]:
    return [claim.id for claim in load_claims(where, scale)]


def refused(where: Path | list[Path], scale: ScaleName | None = None) -> str:
    with pytest.raises(SpecError) as caught:
        load_claims(where, scale)
    return str(caught.value)


def test_claims_of_all_folders_below_are_taken_by_path(folder: Path) -> None:
    """Each at its smallest scale; the order is that of the paths."""
    for name in ("z.yaml", "b/y.claim.yaml", "b/a/x.claim.yaml", "a/w.yaml"):
        put(folder / name)
    assert ids(folder) == ["w", "x", "y", "z"]
    assert {claim.scale for claim in load_claims(folder)} == {"quick"}


def test_hidden_folders_and_configurations_are_not_entered(folder: Path) -> None:
    """Whatever lies there, at any depth."""
    put(folder / "there.yaml")
    for name in (".hidden/a.claim.yaml", "sub/configurations/b.claim.yaml", ".c.claim.yaml"):
        put(folder / name)
    assert ids(folder) == ["there"]


def test_a_folder_behind_a_link_is_not_entered(folder: Path, tmp_path: Path) -> None:
    """What is below is below, and a loop of links ends."""
    put(folder / "there.yaml")
    put(tmp_path / "elsewhere/not_there.yaml")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "loop").symlink_to(folder)
    assert ids(folder) == ["there"]


def test_files_of_other_kinds_are_passed_over(folder: Path) -> None:
    """Audits, searches, configurations, and what is nothing of repro; broken YAML among it."""
    put(folder / "there.yaml")
    shutil.copy(CLAIMS / "published/parthiban2021_p_values.yaml", folder)
    shutil.copy(CLAIMS / "searches/quick.yaml", folder)
    shutil.copy(GOOD / "configurations/tiny/mos.yaml", folder / "a_configuration.yaml")
    for name, text in {
        "workflow": "on: push\njobs: {test: {steps: []}}\n",
        "list": "- a\n- b\n",
        "anchors": "base: &base {a: 1}\nother: *base\n",
        "broken": "a: [1\nb: {\n",
        "empty": "",
    }.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "binary.yaml").write_bytes(b"\xff\x00\x01")
    assert ids(folder) == ["there"]


@pytest.mark.parametrize(
    ("name", "text", "mistake"),
    [
        ("bad.claim.yaml", "anything: 1\n", "anything: unknown key"),
        ("bad.claim.yaml", "a: [1\nb: {\n", "bad.claim.yaml:2:"),
        ("bad.yaml", "expectations: []\n", "arms"),
        ("bad.yaml", "arms: {}\n", "expectations"),
        ("bad.yaml", "id: bad\narms: [1\n", "bad.yaml:"),
        ("bad.yaml", "id: bad\nexpectations:\n\t- a\n", "bad.yaml:3:1"),
    ],
)
def test_a_claim_with_mistakes_is_told(folder: Path, name: str, text: str, mistake: str) -> None:
    """By its name, or by a key that only claims have, it was meant to be one."""
    put(folder / "there.yaml")
    (folder / "sub").mkdir()
    (folder / "sub" / name).write_text(text, encoding="utf-8")
    said = refused(folder)
    assert mistake in said
    assert str(folder / "sub" / name) in said


def test_a_file_that_cannot_be_read_is_told(folder: Path) -> None:
    """It could be a claim; a pipe, and a file larger than any claim, could not."""
    put(folder / "there.yaml")
    os.mkfifo(folder / "pipe.yaml")
    (folder / "large.yaml").write_text("# " + 1_000_000 * "x", encoding="utf-8")
    assert ids(folder) == ["there"]
    (folder / "nowhere.yaml").symlink_to(folder / "gone.yaml")
    assert f"{folder / 'nowhere.yaml'}:1:1: cannot be read: no such file" in refused(folder)


def test_a_file_that_is_named_is_always_taken(folder: Path) -> None:
    """An audit, a file of any name, one in a hidden folder: the user meant it."""
    put(folder / "there.yaml")
    put(folder / ".hidden/named.yaml")
    shutil.copy(CLAIMS / "published/parthiban2021_p_values.yaml", folder / "audit.yaml")
    assert ids([folder, folder / ".hidden/named.yaml"]) == ["there", "named"]
    assert "this is an audit, and no claim" in refused([folder, folder / "audit.yaml"])
    assert "this is an audit, and no claim" in refused([folder / "audit.yaml", folder])


def test_claims_without_the_scale_are_passed_over_in_a_folder(folder: Path) -> None:
    """They are named to whoever asks; a file that is named must have the scale."""
    put(folder / "both.yaml", "quick", "paper")
    put(folder / "a/one.yaml", "quick")
    put(folder / "a/two.yaml", "bench")
    passed_over: list[str] = []
    claims = load_claims(folder, "paper", passed_over=passed_over)
    assert [claim.id for claim in claims] == ["both"]
    assert passed_over == ["one", "two"]
    assert "the claim has no scale 'paper'" in refused([folder, folder / "a/one.yaml"], "paper")


def test_what_would_train_for_long_is_asked_for_by_its_scale(folder: Path) -> None:
    """Without a scale, a claim for hours or weeks is passed over, one from print is taken."""
    put(folder / "small.yaml", "quick", "paper")
    put(folder / "hours.yaml", "bench", "paper")
    put(folder / "weeks.yaml", "paper")
    put(folder / "printed.yaml", "paper", of="table_claim.yaml")
    shutil.copy(GOOD / "table_claim.csv", folder)
    passed_over: list[str] = []
    claims = load_claims(folder, passed_over=passed_over)
    assert [(claim.id, claim.scale) for claim in claims] == [
        ("printed", "paper"),
        ("small", "quick"),
    ]
    assert passed_over == ["hours", "weeks"]
    assert ids(folder, "paper") == ["hours", "printed", "small", "weeks"]
    assert ids(folder / "weeks.yaml") == ["weeks"]
    assert load_claims(folder / "hours.yaml")[0].scale == "bench"


def test_a_folder_with_nothing_left_is_refused(folder: Path) -> None:
    """The message says why: no claim, none at the scale, or only such as take long."""
    said = refused(folder)
    assert said == (
        f"{folder}:1:1: no claim in this folder\n"
        "  expected: files *.claim.yaml\n"
        "  to do: give a folder that holds claims, or the path of a claim"
    )
    put(folder / "sub/weeks.yaml", "paper")
    assert refused(folder) == (
        f"{folder}:1:1: no claim in this folder has the scale quick, and all would train\n"
        "  expected: a claim with the scale quick, or from print\n"
        "  to do: ask for the scale paper, which may take long, or name the file of a claim"
    )
    put(folder / "sub/bench.yaml", "bench")
    assert refused(folder, "quick") == (
        f"{folder}:1:1: no claim in this folder has the scale 'quick'\n"
        "  expected: one of bench, paper\n"
        "  to do: ask for a scale that is there, or add this one to a claim"
    )


def test_each_of_several_folders_must_have_something(folder: Path) -> None:
    """Also where another has; what two share counts for both."""
    put(folder / "a/one.yaml", "quick")
    put(folder / "b/two.yaml", "bench")
    said = refused([folder / "a", folder / "b"], "quick")
    assert said.startswith(f"{folder / 'b'}:1:1: no claim in this folder has the scale 'quick'")
    assert ids([folder, folder / "a"]) == ["one"]


def test_mistakes_at_another_scale_are_told_all_the_same(folder: Path) -> None:
    """A claim is passed over for its scale only where nothing is wrong with it."""
    put(folder / "there.yaml", "paper")
    put(folder / "wrong.yaml", "quick")
    text = (folder / "wrong.yaml").read_text(encoding="utf-8")
    (folder / "wrong.yaml").write_text(text.replace("tiny/mos", "tiny/nothing"), encoding="utf-8")
    said = refused(folder, "paper")
    assert "there is no configuration 'tiny/nothing'" in said


def test_two_claims_of_a_tree_cannot_share_an_id(folder: Path) -> None:
    """Both files are named, also where one is passed over for its scale."""
    put(folder / "a/same.claim.yaml", "paper")
    put(folder / "b/same.claim.yaml", "quick")
    said = refused(folder, "quick")
    assert said.startswith(f"{folder / 'b/same.claim.yaml'}:2:5: id: 'same' is the id of another")
    assert f"another claim, {folder / 'a/same.claim.yaml'}:2:5" in said


def test_one_file_is_read_without_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim that is named, by its path or a packaged id, costs what it costs alone."""
    put(folder / "one.yaml", of="table_claim.yaml")
    put(folder / "other.yaml")
    shutil.copy(GOOD / "table_claim.csv", folder)
    parsed: list[str] = []
    parse = yaml.parse_document

    def noted(text: str, file: str) -> yaml.YamlDocument:
        parsed.append(file)
        return parse(text, file)

    monkeypatch.setattr(yaml, "parse_document", noted)
    load_claim(folder / "one.yaml", "paper")
    assert parsed == [str(folder / "one.yaml")]
    parsed.clear()
    load_claims([Path("low_rank_language")])
    others = {Path(file).name for file in parsed if "configurations" not in Path(file).parts}
    assert others == {"low_rank_language.claim.yaml"}


@pytest.mark.usefixtures("parsed_once")
def test_every_packaged_claim_has_an_id_of_its_own() -> None:
    """All below claims/ load together, each known by its id, which is that of its file."""
    passed_over: list[str] = []
    loaded = [claim.id for claim in load_claims(CLAIMS, passed_over=passed_over)]
    found = loaded + passed_over
    assert len(found) == len(set(found))
    assert {"mos_rank", "fair_mos", "low_rank_language", "softmax_control"} <= set(loaded)
    assert "lms_plif_regularization_wt2" in passed_over
    for name in loaded:
        assert ids([Path(name)]) == [name]
