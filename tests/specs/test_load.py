"""What a claim file becomes: resolved at one scale, frozen, the same every time."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pydantic
import pytest

from repro.errors import ShapeError, SpecError
from repro.expectations.difference import Difference
from repro.expectations.exact import Bound
from repro.specs.claim import SCALES, Claim
from repro.specs.configuration import Configuration
from repro.specs.load import load_claim, load_claims
from repro.trainers.language_model.measurements.perplexity import Perplexity
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.language_model.spec import MoS, Softmax
from tests.edits import changed

GOOD = Path(__file__).parent / "good"
CLAIMS = Path(__file__).parents[2] / "claims"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the good claim and its configurations."""
    shutil.copytree(GOOD / "configurations", tmp_path / "claims/configurations")
    shutil.copy(GOOD / "claim.yaml", tmp_path / "claims")
    return tmp_path / "claims"


def configuration(claim: Claim, arm: str = "mos") -> Configuration:
    found = claim.arms[arm].configuration
    assert isinstance(found, Configuration)
    return found


def split(claim: Claim, name: str) -> str:
    measurement = claim.measurements[name]
    assert isinstance(measurement, Perplexity | Rank)
    return measurement.split


def refused(where: Path | list[Path]) -> SpecError:
    with pytest.raises(SpecError) as caught:
        load_claims(where, "quick")
    return caught.value


def test_the_top_level_is_what_a_scale_does_not_change():
    """At a scale without overrides, every value is that of the top level."""
    claim = load_claim(GOOD / "claim.yaml", "paper")
    assert claim.scale == "paper"
    assert claim.seeds.plan == 4
    assert split(claim, "ppl") == "test"
    assert configuration(claim).model.output == MoS(components=3)
    assert claim.arms["mos"].overridden == ()
    assert claim.expect is None


def test_a_scale_changes_what_it_names():
    """Arms, measurements, sizes, seeds and the expected conclusion follow the scale."""
    claim = load_claim(GOOD / "claim.yaml", "quick")
    assert claim.seeds.plan == 3
    assert split(claim, "ppl") == "valid"
    assert split(claim, "rank") == "test"
    assert claim.expectations[2].margin.abs == 1  # type: ignore[attr-defined]
    assert claim.expectations[0].at_least.value == 2  # type: ignore[attr-defined]
    assert claim.expect is not None
    assert claim.expect.conclusion == "inconclusive"
    assert claim.notice.startswith("A synthetic language")


def test_an_override_changes_only_the_keys_it_names():
    """The rest of the configuration stands, and the changed paths are listed."""
    claim = load_claim(GOOD / "claim.yaml", "quick")
    assert claim.arms["mos"].overridden == ("model.output.components", "recipe.epochs")
    found = configuration(claim)
    assert found.model.output == MoS(components=2)
    assert found.recipe.epochs == 2
    assert found.recipe.clip == 0.1
    assert found.corpus.vocabulary == 20


def test_a_new_kind_replaces_the_whole_mapping(folder):
    """Keys of the old kind do not linger beside the new kind."""
    file = changed(folder / "claim.yaml", "{output: {components: 2}}", "{output: {kind: softmax}}")
    claim = load_claim(file, "quick")
    assert configuration(claim).model.output == Softmax()
    assert claim.arms["mos"].overridden == ("model.output", "recipe.epochs")


def test_a_reason_goes_with_the_value_it_was_for(folder):
    """An assumed value that is overridden loses its reason, unless a new one is given."""
    file = changed(folder / "claim.yaml", "recipe: {epochs: 2}", "recipe: {clip: 2}")
    assert configuration(load_claim(file, "quick")).assumed == {}
    assert configuration(load_claim(file, "paper")).assumed != {}
    changed(file, "recipe: {clip: 2}", 'recipe: {clip: 2}, assumed: {recipe.clip: "as we like it"}')
    claim = load_claim(file, "quick")
    assert configuration(claim).assumed == {"recipe.clip": "as we like it"}
    assert claim.arms["mos"].overridden == ("model.output.components", "recipe.clip")


def test_a_claim_is_frozen():
    """What is loaded cannot be changed by whoever gets it."""
    claim = load_claim(GOOD / "claim.yaml", "quick")
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        claim.alpha = 0.5  # type: ignore[misc]


def test_the_file_is_called_what_the_user_called_it(monkeypatch):
    """A relative path stays relative, in the claim and in messages."""
    monkeypatch.chdir(GOOD)
    assert load_claim(Path("claim.yaml"), "quick").file == "claim.yaml"


def test_loading_is_deterministic(folder):
    """The same files give equal claims, with one digest, wherever they lie."""
    for scale in SCALES:
        here, there = (load_claim(f / "claim.yaml", scale) for f in (GOOD, folder))
        assert here == load_claim(GOOD / "claim.yaml", scale)
        assert here.digest() == there.digest()
    assert len({load_claim(GOOD / "claim.yaml", scale).digest() for scale in SCALES}) == 3


def test_a_folder_gives_its_claims_by_name(folder):
    """In order; hidden files and configurations are none."""
    for name in ("b", "a"):
        shutil.copy(folder / "claim.yaml", folder / f"{name}.yaml")
        changed(folder / f"{name}.yaml", "id: tiny_rank", f"id: {name}")
    (folder / ".hidden.yaml").write_text("not a claim")
    assert [claim.id for claim in load_claims(folder, "quick")] == ["a", "b", "tiny_rank"]


def test_a_path_may_be_a_text_and_the_scale_may_be_left_out(folder):
    """Then it is the one that `verify` takes."""
    file = folder / "claim.yaml"
    assert load_claim(str(file)) == load_claim(file, "quick")
    assert load_claims(str(file)) == load_claims([str(file)]) == load_claims(file)


def test_a_file_that_is_named_twice_is_read_once(folder):
    """A folder and a file of it give one claim."""
    assert len(load_claims([folder, folder / "claim.yaml"], "quick")) == 1


def test_two_claims_cannot_share_an_id(folder):
    """The second is refused, and says where the first is."""
    shutil.copy(folder / "claim.yaml", folder / "copy.yaml")
    (problem,) = refused(folder).problems
    assert problem.place.file.endswith("copy.yaml")
    assert problem.place.line == 2
    assert "claim.yaml:2:5" in problem.what


def test_a_folder_without_claims_is_refused(tmp_path):
    """Nothing to verify is a mistake, not a success."""
    (problem,) = refused(tmp_path).problems
    assert "no claim in this folder" in problem.what
    assert problem.expected == "files *.claim.yaml"


def test_the_mistakes_of_all_files_come_out_together(folder):
    """One error holds the problems of every file, a shared configuration's only once."""
    for name in ("other", "third", "fourth"):
        shutil.copy(folder / "claim.yaml", folder / f"{name}.yaml")
        changed(folder / f"{name}.yaml", "id: tiny_rank", f"id: {name}")
    for name in ("claim", "other"):
        changed(folder / f"{name}.yaml", "alpha: 0.05", "alpha: 5")
    changed(folder / "configurations/tiny/mos.yaml", "epochs: 1", "epochs: 0")
    error = refused(folder)
    names = [Path(problem.place.file).name for problem in error.problems]
    assert sorted(names) == ["claim.yaml", "mos.yaml", "other.yaml"]
    assert isinstance(error, ShapeError)


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_configuration_cannot_be_a_link_that_leads_elsewhere(folder, tmp_path, target):
    """A link out of configurations/ is refused, so that no other file is read or quoted."""
    inside, outside = folder / "configurations/tiny", tmp_path / "elsewhere"
    shutil.copytree(inside, outside)
    if target == "folder":
        shutil.rmtree(inside)
        inside.symlink_to(outside)
    else:
        (inside / "mos.yaml").unlink()
        (inside / "mos.yaml").symlink_to(outside / "mos.yaml")
    text = str(refused(folder))
    assert "leads elsewhere" in text
    assert "elsewhere/" not in text


def test_configurations_come_from_the_package_when_not_beside_the_claim(tmp_path):
    """A claim in any folder may name the configurations that come with repro."""
    shipped = min(CLAIMS.glob("*.yaml"))
    shutil.copy(shipped, tmp_path / "mine.yaml")
    assert load_claim(tmp_path / "mine.yaml", "paper").arms


def test_reading_never_hangs(tmp_path):
    """A pipe, a device, a folder and a missing file are refused at once."""
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "pipe.yaml", Path("/dev/zero"), tmp_path / "empty", tmp_path / "none"):
        (problem,) = refused([path]).problems
        assert problem.place.file == str(path)


@pytest.mark.usefixtures("parsed_once")
def test_every_shipped_claim_loads_at_every_scale():
    """The claims that come with repro are well formed and mean something, at all scales."""
    files = list(CLAIMS.glob("*.yaml"))
    assert len(files) == 3
    for scale in SCALES:
        assert len(load_claims(files, scale)) == 3
        claims = load_claims(CLAIMS, scale)
        assert {claim.id for claim in claims} > {file.stem for file in files}
        assert all(claim.scale == scale for claim in claims)


def test_a_scale_may_have_its_own_design():
    """The streams of its runs, and a test that is not named, follow it."""
    claims = {scale: load_claim(GOOD / "designs_claim.yaml", scale) for scale in SCALES}
    assert [one.design for one in claims.values()] == ["paired", "independent", "independent"]
    streams = {scale: {run.run.streams for run in one.runs()} for scale, one in claims.items()}
    assert streams == {"quick": {"paired"}, "bench": {"independent"}, "paper": {"independent"}}
    tests = {
        scale: [one.test for one in claim.expectations if isinstance(one, Difference)]
        for scale, claim in claims.items()
    }
    assert tests == {
        "quick": ["paired", "paired"],
        "bench": ["welch", "student"],
        "paper": ["yuen", "student"],
    }


def test_the_design_of_a_scale_is_in_its_digest_as_that_of_a_file_is(folder):
    """A paired scale of an independent claim is the claim that would be paired throughout."""
    shutil.copy(GOOD / "designs_claim.yaml", folder)
    here = load_claim(folder / "designs_claim.yaml", "quick")
    changed(folder / "designs_claim.yaml", "design: independent\n", "design: paired\n")
    changed(folder / "designs_claim.yaml", "    design: paired\n", "")
    changed(folder / "designs_claim.yaml", "    test: student\n", "")
    changed(folder / "designs_claim.yaml", "better: {test: yuen}", "better: {test: paired}")
    assert load_claim(folder / "designs_claim.yaml", "quick").digest() == here.digest()


def test_a_paired_test_that_is_written_out_is_the_one_that_is_left_out(folder):
    """In a paired design."""
    shutil.copy(GOOD / "paired_claim.yaml", folder)
    written = load_claim(folder / "paired_claim.yaml", "quick")
    left_out = load_claim(changed(folder / "paired_claim.yaml", "    test: paired\n", ""), "quick")
    assert left_out.digest() == written.digest()


def test_a_scale_may_show_what_it_is_too_small_to_decide(folder: Path) -> None:
    """A scale gives an expectation another role; the other scales keep theirs."""
    file = changed(
        folder / "claim.yaml",
        "    expectations: {",
        '    expectations: {bounded: {at_most: {value: 7, why: "noise of small models"}}, '
        "higher: {role: context}, ",
    )
    quick, paper = (
        {one.id: one for one in load_claim(file, scale).expectations}
        for scale in ("quick", "paper")
    )
    assert (quick["higher"].role, paper["higher"].role) == ("context", "decisive")
    limits = [
        one.at_most.value
        for one in (quick["bounded"], paper["bounded"])
        if isinstance(one, Bound) and one.at_most is not None
    ]
    assert limits == [7, "structural"]


def test_a_scale_cannot_give_a_ratio_less_than_one(folder: Path) -> None:
    """What is no least ratio is refused where it is written."""
    file = changed(
        folder / "claim.yaml",
        "    expectations: {",
        '    expectations: {higher: {at_least: {value: structural, why: "no ratio at all"}}, ',
    )
    found = str(refused(file))
    assert "expectations.higher.at_least.value: structural is no least ratio" in found
    assert "a number of at least 1" in found


def test_a_packaged_claim_is_known_by_its_id(tmp_path, monkeypatch):
    """From any folder; a file or folder of that name comes first, and an unknown id is no file."""
    monkeypatch.chdir(tmp_path)
    assert [claim.id for claim in load_claims([Path("mos_rank")], "quick")] == ["mos_rank"]
    assert load_claims([Path("low_rank_language")])[0].id == "low_rank_language"
    with pytest.raises(SpecError, match="no such file"):
        load_claims([Path("no_such_claim")])
    (tmp_path / "mos_rank").mkdir()
    with pytest.raises(SpecError, match="no claim in this folder"):
        load_claims([Path("mos_rank")])


def test_an_unknown_id_is_told_the_nearest_ids_of_packaged_claims(tmp_path, monkeypatch):
    """Some where none is near; audits, searches and patterns of names are none of them."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError) as near:
        load_claims([Path("softmax_contrl")])
    files = {*CLAIMS.rglob("*.claim.yaml"), *CLAIMS.glob("*.yaml")}
    ids = {file.name.partition(".")[0] for file in files}
    lines = str(near.value).splitlines()
    assert lines[0] == "softmax_contrl:1:1: cannot be read: no such file or directory"
    readable, _, told = lines[1].partition(", such as ")
    assert (
        readable == f"  expected: a readable file, or the id of one of {len(ids)} packaged claims"
    )
    assert told.split(", ")[0] == "softmax_control"
    assert 1 <= len(told.split(", ")) <= 5
    assert {*told.split(", ")} <= ids
    assert lines[2:] == ["  to do: did you mean 'softmax_control'?"]
    for name in ("nosuch", "mos*"):
        with pytest.raises(
            SpecError, match=r"such as mos_rank, .*\n  to do: look for its id below "
        ):
            load_claims([Path(name)])
    with pytest.raises(SpecError, match="expected: a readable file\n  to do: check the path"):
        load_claims([Path("folder/nosuch")])


def test_a_name_of_configurations_is_no_claim(tmp_path, monkeypatch):
    """What lies among the configurations is never taken for a claim."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match="no such file"):
        load_claims([Path("mos")])
