"""`repro check`: ok, or every mistake with its place, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands import repro
from tests.specs.test_scales import put

BAD = Path(__file__).parents[1] / "specs" / "bad"


def test_a_good_claim_is_ok(tmp_path: Path) -> None:
    file = put(tmp_path, "small", "full")
    done = repro("check", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"ok {file}: table_claim (small, full)\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "table_claim.csv",
        "table_claim.yaml",
    ]


def test_mistakes_are_those_of_verify(tmp_path: Path) -> None:
    """All of them, on stderr; a good file beside a bad one is ok all the same."""
    good, bad = put(tmp_path), BAD / "negative_margin.yaml"
    done = repro("check", bad, good)
    assert done.returncode == 2
    assert done.stdout == f"ok {good}: table_claim (declared)\n"
    assert done.stderr == repro("verify", bad).stderr


def test_a_folder_is_checked_whole(tmp_path: Path) -> None:
    """Claims that verify would pass over for their scale, too; what is no claim is left out."""
    put(tmp_path, "paper", of="table_claim", source=PRINTED)
    (tmp_path / "other.yaml").write_text("a: 1\n")
    assert repro("check", tmp_path).stdout.startswith("ok ")
    (tmp_path / "empty").mkdir()
    done = repro("check", tmp_path / "empty")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no claim in this folder" in done.stderr


PRINTED = """source:
  {paper: example2024, citation: "An example", locator: "p. 1", quote: "is better"}
"""


def test_two_claims_of_one_id_are_told(tmp_path: Path) -> None:
    file = put(tmp_path)
    copy = file.with_name("copy.yaml")
    copy.write_bytes(file.read_bytes())
    done = repro("check", file, copy)
    assert done.returncode == 2
    assert "is the id of another claim" in done.stderr


def test_json_names_every_place(tmp_path: Path) -> None:
    good, bad = put(tmp_path), BAD / "negative_margin.yaml"
    done = repro("check", good, bad, tmp_path / "none.yaml", "--json")
    assert (done.returncode, done.stderr) == (2, "")
    first, second, third = json.loads(done.stdout)
    assert first == {
        "file": str(good),
        "ok": True,
        "id": "table_claim",
        "scales": ["declared"],
        "to_come": [],
        "problems": [],
    }
    (problem,) = second["problems"]
    said = f"{bad}:{problem['line']}:{problem['column']}: {problem['what']}"
    assert repro("verify", bad).stderr.startswith(said)
    assert not third["ok"]
    assert "no such file" in third["problems"][0]["what"]
