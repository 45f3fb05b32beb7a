"""The workflows of CI are valid, and give nobody more than they need."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from repro.running.budget import seconds_of
from tests.commands import repro

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


def test_the_nightly_does_not_silently_begin_again() -> None:
    """Without the runs of earlier nights it fails, but for the first night and on request."""
    nightly = steps(ROOT / ".github" / "workflows" / "nightly.yml")
    names = [step.get("name", "") for step in nightly]
    refusal = nightly[names.index("Do not silently begin again")]
    assert nightly[names.index("Restore the runs of earlier nights")]["id"] == "restore"
    assert refusal["if"] == (
        "github.run_number > 1 && steps.restore.outputs.cache-matched-key == '' "
        "&& inputs.restart != true"
    )
    assert "exit 1" in refusal["run"]
    assert names.index("Do not silently begin again") < names.index("Set up")


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
    program.write_text(f'#!/bin/sh\necho "$@" > asked\nexit {status}\n', encoding="utf-8")
    program.chmod(0o755)
    script = by_name("Judge the speedruns")["run"]
    ended = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        check=False,
    )
    assert ended.returncode == ends_with
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert asked == "verify claims/speedruns --reports reports/speedruns\n"


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


def test_the_nightly_verifies_every_claim_in_its_time() -> None:
    """Papers and own claims, the library and the speedruns; nightly ones by a command alone."""
    nightly = steps(ROOT / ".github" / "workflows" / "nightly.yml")
    commands = [step.get("run", "") for step in nightly]
    folders = [f"claims/{name}" for name in ("lim2018", "parthiban2021", "yang2018")]
    assert [line for line in commands if "verify" in line] == [
        f"./dev verify claims/*.yaml {' '.join(folders)} $MORE --budget 4h --format github",
        "./dev verify claims/library --budget 20min --format github",
        by_name("Judge the speedruns")["run"],
        "./dev verify claims/nightly --nightly --budget 15min --format github",
    ]
    for step in nightly:
        if budget := re.search(r"--budget (\S+)", step.get("run", "")):
            assert seconds_of(budget[1]) < 60 * step["timeout-minutes"]
    minutes = sum(step.get("timeout-minutes", 0) for step in nightly)
    assert (
        minutes < load(ROOT / ".github/workflows/nightly.yml")["jobs"]["verify"]["timeout-minutes"]
    )
    known = {path.parent for path in (ROOT / "claims").rglob("*.claim.yaml")}
    assert known - {ROOT / folder for folder in folders} == {
        ROOT / "claims" / "controls",
        *(path for path in (ROOT / "claims" / "library").iterdir() if path.is_dir()),
        ROOT / "claims" / "nightly",
        ROOT / "claims" / "speedruns" / "track_1",
        ROOT / "claims" / "speedruns" / "track_3",
        ROOT / "claims" / "wikitext2",
    }


THERE = """#!/bin/sh
for each; do
  shift
  case $each in claims/lim2018 | claims/parthiban2021 | claims/controls) continue ;; esac
  set -- "$@" "$each"
done
"""
"""A program that passes on what it is given, but for folders that are not there."""


def test_three_nights_of_the_workflow(tmp_path: Path) -> None:
    """As GitHub runs its steps: the third night is red, and says first what changed and why."""
    program = tmp_path / "dev"
    program.write_text(f'{THERE}exec {sys.executable} -m repro "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    good = ROOT / "tests" / "specs" / "good"
    text = (good / "table_claim.yaml").read_text(encoding="utf-8")
    table = (good / "table_claim.csv").read_text(encoding="utf-8")
    for name in (".", "yang2018"):
        folder = tmp_path / "claims" / name
        folder.mkdir(parents=True, exist_ok=True)
        own = text.replace("id: table_claim", f"id: of_{folder.name}").replace(
            "\n  paper:\n", "\n  quick:\n"
        )
        (folder / f"{folder.name}.claim.yaml").write_text(own, encoding="utf-8")
        (folder / "table_claim.csv").write_text(table, encoding="utf-8")
    environment = {
        **os.environ,
        "REPRO_STORE": str(tmp_path / ".store"),
        "MORE": "claims/controls",
        "GITHUB_STEP_SUMMARY": "summary.md",
    }

    def step(name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", by_name(name)["run"]],
            cwd=tmp_path, env=environment, check=False, capture_output=True, text=True,
        )  # fmt: skip

    for night in range(3):
        if night == 2:
            worse = table.replace("new,", "x,").replace("old,", "new,").replace("x,", "old,")
            (tmp_path / "claims" / "yang2018" / "table_claim.csv").write_text(
                worse, encoding="utf-8"
            )
        verified = step("Verify")
        assert verified.returncode == (6 if night == 2 else 0), verified.stderr
        assert ("::error file=" in verified.stdout) == (night == 2)
        (tmp_path / "summary.md").unlink(missing_ok=True)
        assert step("Write one summary").returncode == 0
        summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
        first, *_ = summary.splitlines()
        assert len(re.findall("^## ", summary, re.MULTILINE)) == 1
        if night < 2:
            assert first == "## None changed, 0 not as expected, of 2 verdicts: 2 CONFIRMED"
        else:
            assert "Was CONFIRMED on " in first
            assert ", now CONTRADICTED: " in first
            assert summary.index("### Changed") < summary.index("### Example")


def test_the_artefact_of_the_nightly_opens() -> None:
    """Its root is the folder of the index, and the committed reports are not in it."""
    nightly = steps(ROOT / ".github" / "workflows" / "nightly.yml")
    (upload,) = (
        step["with"]["path"] for step in nightly if "upload-artifact" in step.get("uses", "")
    )
    included, *excluded = upload.split()
    assert included == "reports/"
    committed = {path.name for path in (ROOT / "reports").iterdir() if path.is_dir()}
    assert {"library", "sample"} <= committed
    assert {"!reports/library/**", "!reports/sample/**"} == {*excluded}


def copied() -> list[str]:
    """The workflows of the page for one's own claims: GitHub's and GitLab's."""
    text = (ROOT / "docs" / "how-to" / "nightly.md").read_text(encoding="utf-8")
    return re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)


def test_the_workflows_to_copy_are_valid(tmp_path: Path) -> None:
    """By the schemas of both hosts, with the actions that the nightly itself has, and safe."""
    ours = (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    for text, schema in zip(copied(), ("github-workflows", "gitlab-ci"), strict=True):
        path = tmp_path / ".github" / "workflows" / f"{schema}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        status, said = run(TOOLS / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", path)
        assert status == 0, said
        assert {*re.findall(r"uses: (.*)", text)} <= {*re.findall(r"uses: (.*)", ours)}
    status, said = run(TOOLS / "zizmor", "--offline", path.with_name("github-workflows.yml"))
    assert status == 0, said


def test_the_commands_to_copy_do_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one claim: the list for the summary, the page for the artefact, and JUnit for GitLab."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPRO_STORE", str(tmp_path / ".store"))
    (tmp_path / "claims").mkdir()
    for suffix in ("yaml", "csv"):
        name = "mine.claim.yaml" if suffix == "yaml" else "table_claim.csv"
        shutil.copy(
            ROOT / "tests" / "specs" / "good" / f"table_claim.{suffix}", tmp_path / "claims" / name
        )
    github, gitlab = map(yaml.safe_load, copied())
    (command,) = (s["run"] for s in github["jobs"]["verify"]["steps"] if s.get("name") == "Verify")
    (other,) = (line for line in gitlab["verdicts"]["script"] if "verify" in line)
    assert command == f"{other} --format github"
    assert repro(*command.split()[1:]).returncode == 0
    assert (tmp_path / "reports" / "index.md").read_text(encoding="utf-8").startswith("## ")
    assert (tmp_path / "reports" / "index.html").is_file()
    assert [*tmp_path.glob(gitlab["verdicts"]["artifacts"]["reports"]["junit"])]
