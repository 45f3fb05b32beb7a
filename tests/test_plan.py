"""`repro plan` as a design doctor: power, seeds and cost, and its status for hopeless designs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from repro.cli import app
from repro.specs.load import load_claim

ROOT = Path(__file__).parents[1]
GOOD = ROOT / "tests" / "specs" / "good"


def plan(*arguments: object) -> tuple[int, str]:
    """Status and output of `repro plan`."""
    done = CliRunner().invoke(app, ["plan", *map(str, arguments)])
    return done.exit_code, done.output


def hopeless(folder: Path, scale: str = "") -> Path:
    """A claim of tiny models whose margin is far below its planned scatter."""
    text = (GOOD / "group_claim.yaml").read_text(encoding="utf-8")
    text = text.replace("sequential: {method: group_obf, looks: [5, 10, 15, 20]}\n", "")
    text = text.replace("plan: 5, max: 20}", "plan: 5}")
    text = text.replace("kind: non_superiority", "kind: equivalence")
    text = text.replace(
        "expectations:", "planned_sd: {ppl: {sd: 4, why: 'as tiny models scatter'}}\nexpectations:"
    )
    shutil.copytree(GOOD / "configurations", folder / "configurations", dirs_exist_ok=True)
    path = folder / "hopeless.yaml"
    path.write_text(text + scale, encoding="utf-8")
    return path


def test_a_hopeless_design_is_refused_with_2(tmp_path: Path) -> None:
    """Power, the seeds that would do and what they cost are said; then it is refused."""
    status, said = plan(hopeless(tmp_path))
    assert status == 2
    assert "not_better: 5 seeds per arm" in said
    assert "planned sd 4.0, from as tiny models scatter" in said
    assert "80 % power: " in said
    assert "very roughly" in said
    assert "refused: 5 replicates give equivalence a power of 0.0 %" in said


def test_a_forced_design_ends_with_0(tmp_path: Path) -> None:
    """By the option, or in the claim with its reason, which is said."""
    path = hopeless(tmp_path)
    assert plan(path, "--force")[0] == 0
    path = hopeless(tmp_path, "    forced: {why: 'nothing better is affordable'}\n")
    status, said = plan(path)
    assert status == 0
    assert "refused, but forced: nothing better is affordable" in said


@pytest.mark.parametrize(
    ("name", "power"),
    [("fair_mos", "81%"), ("lms_plif_regularization", "> 99%"), ("mos_rank", "> 99%")],
)
def test_the_shipped_claims_plan_with_the_papers_scatter(name: str, power: str) -> None:
    """At paper scale every printed standard deviation is used, and no design is refused."""
    status, said = plan(ROOT / "claims" / f"{name}.yaml", "--scale", "paper")
    assert status == 0
    assert f"power {power}" in said
    assert load_claim(ROOT / "claims" / f"{name}.yaml", "paper").forced is None


def test_the_nightly_claims_can_decide() -> None:
    """The sequential one has its power by simulation of its own looks; none is refused."""
    status, said = plan(ROOT / "claims" / "nightly")
    assert status == 0
    assert "The power is simulated" in said
