"""The workflows of CI are valid, and give nobody more than they need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TOOLS = Path(sys.executable).parent

each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in load(path)["jobs"].values() for step in job["steps"]]


def run(*command: str | Path) -> tuple[int, str]:
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return ended.returncode, ended.stdout + ended.stderr


def test_there_is_a_nightly_workflow() -> None:
    """The tests below have something to test."""
    assert {"ci.yml", "nightly.yml"} <= {path.name for path in WORKFLOWS}


@each_workflow
def test_a_workflow_follows_the_schema(path: Path) -> None:
    """GitHub will be able to read it."""
    status, said = run(
        TOOLS / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", path
    )
    assert status == 0, said


@each_workflow
def test_zizmor_finds_nothing(path: Path) -> None:
    """No injection, no credentials left behind, no broad permissions, no unpinned action."""
    status, said = run(TOOLS / "zizmor", "--offline", "--persona=pedantic", path)
    assert status == 0, said


@each_workflow
def test_actions_are_githubs_own_and_pinned_by_commit(path: Path) -> None:
    """A moved tag changes nothing; the version stands beside the commit for the reader."""
    uses = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert uses
    assert [
        use for use in uses if not re.fullmatch(r"actions/\S+@[0-9a-f]{40} # v[\d.]+", use)
    ] == []


def test_the_nightly_keeps_its_runs_whatever_the_verdicts() -> None:
    """The store is saved where it was restored, and reports are uploaded, also after a failure."""
    nightly = steps(ROOT / ".github" / "workflows" / "nightly.yml")
    by_action = {step["uses"].split("@")[0]: step for step in nightly if "uses" in step}
    restore, save = by_action["actions/cache/restore"], by_action["actions/cache/save"]
    assert save["if"] == by_action["actions/upload-artifact"]["if"]
    assert save["if"] == "always() && steps.verify.outcome != 'skipped'"
    assert save["with"]["path"] == restore["with"]["path"] == ".store"
    assert save["with"]["key"] == restore["with"]["key"]
    assert save["with"]["key"].startswith(restore["with"]["restore-keys"])


def test_the_nightly_does_not_begin_anew_in_silence() -> None:
    """Without the runs of earlier nights it fails, but for the first night and on request."""
    nightly = steps(ROOT / ".github" / "workflows" / "nightly.yml")
    names = [step.get("name", "") for step in nightly]
    refusal = nightly[names.index("Do not begin anew in silence")]
    assert nightly[names.index("Restore the runs of earlier nights")]["id"] == "restore"
    assert refusal["if"] == (
        "github.run_number > 1 && steps.restore.outputs.cache-matched-key == '' "
        "&& inputs.restart != true"
    )
    assert "exit 1" in refusal["run"]
    assert names.index("Do not begin anew in silence") < names.index("Set up")


def by_name(name: str) -> dict[str, Any]:
    """A step of the nightly workflow."""
    nightly = steps(ROOT / ".github" / "workflows" / "nightly.yml")
    (found,) = (step for step in nightly if step.get("name") == name)
    return found


@pytest.mark.parametrize(
    ("status", "ends_with"),
    [(0, 0), (1, 0), (3, 0), (2, 2), (4, 4), (5, 5), (70, 70), (130, 130)],
)
def test_the_speedruns_may_have_any_verdict_and_no_error(
    tmp_path: Path, status: int, ends_with: int
) -> None:
    """As GitHub runs a step, with a program that ends with the status."""
    program = tmp_path / "dev"
    program.write_text(f'#!/bin/sh\necho "$@" > "$4"\nexit {status}\n', encoding="utf-8")
    program.chmod(0o755)
    script = by_name("Judge the speedruns")["run"]
    ended = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "GITHUB_STEP_SUMMARY": "summary"},
        check=False,
    )
    assert ended.returncode == ends_with
    asked = (tmp_path / "summary").read_text(encoding="utf-8")
    assert asked == "verify claims/speedruns --summary summary\n"


def verified(bench: bool) -> list[str]:
    """The words of the command that verifies, with what the choice of scale adds to it."""
    (nightly,) = (path for path in WORKFLOWS if path.name == "nightly.yml")
    added = load(nightly)["jobs"]["verify"]["env"]["MORE"]
    choice = re.fullmatch(r"\$\{\{ inputs\.scale == 'bench' && '(.+)' \|\| '(.+)' \}\}", added)
    assert choice is not None
    run: str = by_name("Verify")["run"]
    return run.replace("$MORE", choice[1 if bench else 2]).split()


@pytest.mark.parametrize("scale", ["quick", "bench"])
def test_the_nightly_takes_every_claim_that_has_the_scale(scale: str) -> None:
    """At minutes those with `quick`, at bench those with `bench`; and it asks for that scale."""
    words = verified(bench=scale == "bench")
    assert ("--scale=bench" in words) == (scale == "bench")
    named = [found for word in words if word.startswith("claims") for found in ROOT.glob(word)]
    having = [
        path
        for path in [*(ROOT / "claims").glob("*.yaml"), *(ROOT / "claims").rglob("*.claim.yaml")]
        if f"\n  {scale}:\n" in path.read_text(encoding="utf-8")
        and path.relative_to(ROOT / "claims").parts[0] not in {"library", "nightly", "speedruns"}
    ]
    assert having
    assert [path for path in having if not {path, *path.parents} & set(named)] == []


def test_the_nightly_verifies_every_claim_with_a_summary() -> None:
    """Papers and own claims, the library and the speedruns; nightly ones by a command alone."""
    commands = [
        step.get("run", "") for step in steps(ROOT / ".github" / "workflows" / "nightly.yml")
    ]
    folders = [f"claims/{name}" for name in ("lim2018", "parthiban2021", "yang2018")]
    summary = '--summary "$GITHUB_STEP_SUMMARY"'
    assert [line for line in commands if "verify" in line] == [
        f"./dev verify claims/*.yaml {' '.join(folders)} $MORE {summary}",
        f"./dev verify claims/library {summary}",
        by_name("Judge the speedruns")["run"],
        f"./dev verify claims/nightly --nightly {summary}",
    ]
    known = {path.parent for path in (ROOT / "claims").rglob("*.claim.yaml")}
    assert known - {ROOT / folder for folder in folders} == {
        ROOT / "claims" / "controls",
        *(path for path in (ROOT / "claims" / "library").iterdir() if path.is_dir()),
        ROOT / "claims" / "nightly",
        ROOT / "claims" / "speedruns" / "track_1",
        ROOT / "claims" / "speedruns" / "track_3",
        ROOT / "claims" / "wikitext2",
    }
