"""Where the configuration that an arm names is looked for, and where it never is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.specs.configuration import Configuration
from repro.specs.load import load_claim

GOOD = Path(__file__).parent / "good"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose claim is two folders below the configurations that it names."""
    below = tmp_path / "project" / "claims" / "paper" / "table"
    below.mkdir(parents=True)
    shutil.copy(GOOD / "claim.yaml", below)
    (tmp_path / "project" / "pyproject.toml").touch()
    return tmp_path / "project"


def put(folder: Path, source: str = "GOOD") -> None:
    """The good configurations in a folder, with their source replaced, so that they are known."""
    shutil.copytree(GOOD / "configurations", folder / "configurations")
    for file in folder.glob("configurations/tiny/*.yaml"):
        lines = file.read_text(encoding="utf-8").splitlines()
        lines = [f"source: {source}" if line.startswith("source:") else line for line in lines]
        file.write_text("\n".join(lines), encoding="utf-8")


def source(claim: Path) -> str:
    found = load_claim(claim, "paper").arms["mos"].configuration
    assert isinstance(found, Configuration)
    return found.source


def refused(claim: Path) -> str:
    with pytest.raises(SpecError) as caught:
        load_claim(claim, "paper")
    return str(caught.value)


def test_the_nearest_folder_above_has_the_configuration(project: Path) -> None:
    """Beside the claim first, then in each folder above, the project's own included."""
    claim = project / "claims/paper/table/claim.yaml"
    for folder in (project, project / "claims", project / "claims/paper", claim.parent):
        put(folder, f"that of {folder.name}")
        assert source(claim) == f"that of {folder.name}"


def test_a_folder_without_the_configuration_is_not_the_last(project: Path) -> None:
    """Each name is looked for by itself."""
    claim = project / "claims/paper/table/claim.yaml"
    put(project / "claims", "the complete one")
    put(project / "claims/paper", "the nearer one")
    (project / "claims/paper/configurations/tiny/mos.yaml").unlink()
    assert source(claim) == "the complete one"


@pytest.mark.parametrize("mark", [".git", "pyproject.toml"])
def test_nothing_above_the_project_is_read(project: Path, mark: str) -> None:
    """The search ends at the folder that is the project; the message says where it looked."""
    (project / "pyproject.toml").unlink()
    (project / "claims" / mark).touch()
    put(project)
    (project / "claims" / "configurations").mkdir()
    claim = project / "claims/paper/table/claim.yaml"
    said = refused(claim)
    assert "there is no configuration 'tiny/mos'" in said
    assert (
        f"expected: a file {claim.parent}/configurations/tiny/mos.yaml, "
        f"or one in {project}/claims/configurations or the packaged configurations\n"
    ) in said
    assert f"{project}/configurations" not in said


def test_without_a_project_nothing_above_is_read(project: Path) -> None:
    """What lies above is anybody's, as in a folder for temporary files."""
    (project / "pyproject.toml").unlink()
    put(project / "claims/paper", "just above")
    claim = project / "claims/paper/table/claim.yaml"
    assert "there is no configuration 'tiny/mos'" in refused(claim)
    put(claim.parent, "next to it")
    assert source(claim) == "next to it"


def test_a_link_that_leads_elsewhere_is_not_made_good_above(project: Path) -> None:
    """The nearest is refused, though a folder above has a file of that name."""
    claim = project / "claims/paper/table/claim.yaml"
    put(project, "above")
    put(claim.parent)
    mos = claim.parent / "configurations/tiny/mos.yaml"
    mos.rename(project / "elsewhere.yaml")
    mos.symlink_to(project / "elsewhere.yaml")
    assert "leads elsewhere" in refused(claim)


def test_paths_are_shown_as_the_user_gave_them(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim by a relative path has the configurations of folders above by relative paths."""
    monkeypatch.chdir(project)
    put(project / "claims")
    broken = project / "claims/configurations/tiny/mos.yaml"
    broken.write_text("nothing: 1\n", encoding="utf-8")
    said = refused(Path("claims/paper/table/claim.yaml"))
    assert said.startswith("claims/configurations/tiny/mos.yaml:1:1: ")


def test_dots_in_the_path_of_a_claim_do_not_widen_the_search(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`../claim.yaml` is looked at where it lies: its folders, not those of the way to it."""
    other = project / "claims/other/deeper"
    other.mkdir(parents=True)
    put(project / "claims/other", "on the way")
    put(project, "the project's")
    monkeypatch.chdir(other)
    assert source(Path("../../paper/table/claim.yaml")) == "the project's"


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_link_in_a_folder_above_leads_nowhere(project: Path, target: str) -> None:
    """What a link leads to outside `configurations` is neither read nor quoted."""
    claim, outside = project / "claims/paper/table/claim.yaml", project / "elsewhere"
    put(outside)
    if target == "folder":
        (project / "configurations").symlink_to(outside / "configurations")
    else:
        put(project)
        (project / "configurations/tiny/mos.yaml").unlink()
        (project / "configurations/tiny/mos.yaml").symlink_to(
            outside / "configurations/tiny/mos.yaml"
        )
    said = refused(claim)
    assert "leads elsewhere" in said
    assert "elsewhere/" not in said
