"""Arms with tables and printed numbers, scales that a claim lacks, and designs of all kinds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.evidence.csv_table import TableFile
from repro.judging.gather import read_tables
from repro.specs.claim import SCALES, Claim, ScaleName
from repro.specs.load import load_claim

GOOD = Path(__file__).parent / "good"
SCALE_OF: dict[str, ScaleName] = {
    "benchmarks_claim": "paper",
    "control_claim": "quick",
    "data_sets_claim": "quick",
    "group_claim": "quick",
    "items_claim": "quick",
    "mixed_claim": "quick",
    "paired_claim": "quick",
    "relations_claim": "paper",
    "sequential_claim": "quick",
    "table_claim": "paper",
    "tasks_claim": "paper",
    "within_claim": "quick",
}


def good(name: str) -> Claim:
    return load_claim(GOOD / f"{name}.yaml", SCALE_OF[name])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the claim whose values are in a table."""
    for file in GOOD.glob("table_claim.*"):
        shutil.copy(file, tmp_path)
    return tmp_path


def test_every_example_is_named_here():
    """Each good claim but two, which have all scales, is loaded below at its one scale."""
    every = {path.stem for path in GOOD.glob("*.yaml")}
    assert every == {"claim", "designs_claim", *SCALE_OF}


@pytest.mark.parametrize("name", SCALE_OF)
def test_a_scale_that_the_claim_lacks_is_named_with_those_it_has(name):
    """A claim may have one scale; the others are refused in a sentence, and nothing is read."""
    assert good(name).scale == SCALE_OF[name]
    for scale in SCALES:
        if scale != SCALE_OF[name]:
            with pytest.raises(SpecError) as caught:
                load_claim(GOOD / f"{name}.yaml", scale)
            (problem,) = caught.value.problems
            assert f"no scale '{scale}'" in problem.what
            assert problem.expected == SCALE_OF[name]


def test_an_arm_says_where_its_values_come_from():
    """Runs, a table and printed numbers may meet in one claim; only the first are planned."""
    claim = good("mixed_claim")
    kinds = {name: arm.source.shown for name, arm in claim.arms.items()}
    assert kinds == {"mos": "runs", "softmax": "published", "theirs": "table"}
    assert claim.trained == ("mos",)
    assert len(claim.runs()) == claim.seeds.plan
    printed = claim.arms["softmax"].published
    assert printed is not None
    assert printed["ppl"].mean == "15.20"


def test_a_table_lies_beside_the_claim():
    """The path of a table can be opened, wherever the program runs."""
    claim = good("table_claim")
    source = claim.arms["new"].source
    assert isinstance(source, TableFile)
    table = Path(claim.file).parent / str(source.table)
    assert table.read_text(encoding="utf-8").startswith("arm,seed,measurement,value\n")


def test_the_digest_does_not_know_where_the_claim_lies(folder):
    """A claim with a table has one digest in every folder, and another table is another claim."""
    here, there = GOOD / "table_claim.yaml", folder / "table_claim.yaml"
    digest = load_claim(here, "paper").digest()
    assert load_claim(there, "paper").digest() == digest
    shutil.copy(folder / "table_claim.csv", folder / "other.csv")
    text = there.read_text(encoding="utf-8").replace("table: table_claim.csv", "table: other.csv")
    there.write_text(text, encoding="utf-8")
    assert load_claim(there, "paper").digest() != digest


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_table_cannot_be_a_link_that_leads_elsewhere(folder, target):
    """A link out of the claim's folder is refused, so that no other file is read or quoted."""
    inside = folder / "claims"
    outside = folder / "secret"
    inside.mkdir()
    outside.mkdir()
    shutil.copy(folder / "table_claim.csv", outside / "table_claim.csv")
    text = (folder / "table_claim.yaml").read_text(encoding="utf-8")
    if target == "folder":
        (inside / "data").symlink_to(outside)
        text = text.replace("table: table_claim.csv", "table: data/table_claim.csv")
    else:
        (inside / "table_claim.csv").symlink_to(outside / "table_claim.csv")
    (inside / "table_claim.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="leads elsewhere") as caught:
        load_claim(inside / "table_claim.yaml", "paper")
    assert "secret" not in str(caught.value)


def test_a_folder_in_place_of_a_table_is_called_a_folder(folder):
    """A folder by the name of the table is not said to be absent, nor to be meant."""
    (folder / "table_claim.csv").unlink()
    (folder / "table_claim.csv").mkdir()
    with pytest.raises(SpecError) as caught:
        load_claim(folder / "table_claim.yaml", "paper")
    said = str(caught.value.problems[0]).replace(str(folder), "")
    assert said == (
        "/table_claim.yaml:11:28: arms.new.table: 'table_claim.csv' is a folder\n"
        "  expected: a CSV file\n"
        "  to do: write the path of the file in it, or put the file itself there"
    )


def test_a_table_may_lie_in_a_folder_below(folder):
    """A table below the claim's folder is found under the name with its folder."""
    (folder / "data").mkdir()
    shutil.move(folder / "table_claim.csv", folder / "data/table_claim.csv")
    file = folder / "table_claim.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("table_claim.csv", "data/table_claim.csv"), encoding="utf-8")
    claim = load_claim(file, "paper")
    assert claim.arms["new"].source == TableFile(table="data/table_claim.csv")
    assert set(read_tables(claim)) >= {"new"}


def test_the_arms_of_a_control_share_no_run():
    """A negative control has one training twice, and every replicate of it once."""
    claim = good("control_claim")
    keys = {planned.run.key for planned in claim.runs()}
    assert len({planned.run.training.digest() for planned in claim.runs()}) == 1
    assert len(keys) == 2 * claim.seeds.plan
    assert claim.numbers("other") == range(500_000, 500_005)


def test_paired_arms_share_their_streams():
    """Runs of a paired design are keyed as such, so that no independent run stands in for one."""
    assert {planned.run.streams for planned in good("paired_claim").runs()} == {"paired"}


def test_what_belongs_to_the_whole_claim_reaches_it():
    """Tree, family, looks and control are those of the file."""
    claim = good("sequential_claim")
    assert claim.sequential is not None
    assert claim.sequential.method == "eprocess_t"
    assert claim.family is not None
    assert claim.family.members == ("sequential_claim", "another_claim")
    assert claim.combine is not None
    assert claim.combine.model_dump() == {"any": ("differs", "as_good")}
    assert claim.seeds.plan == 6
    tree = good("relations_claim").combine
    assert tree is not None
    assert tree.model_dump() == {"all": ("falls", {"any": ("in_order", "go_together")})}
    assert good("control_claim").control is not None


def test_a_claim_grows_without_being_another_claim():
    """More planned seeds add runs to those that a claim had."""
    claim = good("group_claim")
    few = {planned.run.key for planned in claim.runs()}
    many = {planned.run.key for planned in claim.at_night(so_far=20).runs()}
    assert few < many
    assert len(many) == 40


def test_each_decisive_field_changes_the_digest():
    """What decides a verdict is in the digest; what is only said is not."""
    claim = good("sequential_claim")
    for field in ("combine", "family", "sequential"):
        assert claim.model_copy(update={field: None}).digest() != claim.digest()
    assert claim.model_copy(update={"title": "another title"}).digest() == claim.digest()
