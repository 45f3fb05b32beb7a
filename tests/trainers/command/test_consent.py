"""No program is run without consent, and a folder may be trusted once."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.store.run_store import RunStore
from tests.commands import repro
from tests.trainers.command.toy import CLAIM, LEAVES, program, verify, worst_class


def test_without_consent_nothing_is_run(folder: Path) -> None:
    """One sentence, with the command that would be run."""
    done = verify(folder, code=False)
    assert done.returncode == 2
    assert not (folder / "store").exists() or not list(RunStore(folder / "store").keys())
    (said,) = done.stderr.strip().splitlines()
    for optimizer in ("adam", "adamw"):
        assert f"train.py --seed '{{seed}}' --optimizer {optimizer} --out '{{out}}'" in said
    assert "--allow-code" in said


@pytest.mark.parametrize("below", ["", "/.."], ids=["the folder", "one above"])
def test_a_folder_may_be_trusted_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    """The program is named all the same, and an edit changes nothing about it."""
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", f"/nowhere:{folder}{below}")
    done = verify(folder, code=False)
    assert done.returncode == 0, done.stderr
    assert "running code from outside repro: " in done.stderr
    program(folder, LEAVES + "\n# edited")
    assert "10 runs trained" in verify(folder, code=False).stdout


def test_a_folder_that_is_trusted_says_nothing_of_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor of one whose name begins alike, nor of a claim that is given beside one of it."""
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(folder / "code"))
    assert verify(folder, code=False).returncode == 2
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(folder)[:-1])
    assert verify(folder, code=False).returncode == 2
    mine = folder / "mine"
    mine.mkdir()
    (mine / "b.claim.yaml").write_text(CLAIM.replace("id: adamw", "id: b_adamw"), encoding="utf-8")
    (folder / "code").rename(mine / "code")
    (folder / "code").symlink_to(mine / "code")
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(mine))
    done = verify(folder, str(mine / "b.claim.yaml"), code=False)
    assert done.returncode == 2


def test_a_link_in_a_trusted_folder_leads_to_no_consent(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = folder / "trusted"
    trusted.mkdir()
    (trusted / "a.claim.yaml").symlink_to(folder / "a.claim.yaml")
    (trusted / "code").mkdir()
    (trusted / "code" / "train.py").write_text(LEAVES, encoding="utf-8")
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(trusted))
    assert verify(trusted, code=False).returncode == 2


def test_a_trusted_folder_is_named_from_the_root(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", ".")
    done = verify(folder, code=False)
    assert done.returncode == 2
    assert "REPRO_ALLOW_CODE_IN: '.' is another folder wherever" in done.stderr


def test_a_trusted_folder_is_trusted_by_every_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by `verify` alone; a run that is named by its key is of no folder."""
    worst_class(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    verify(folder)
    place = ["--store", str(folder / "store")]
    claim = str(folder / "a.claim.yaml")
    key = next(iter(RunStore(folder / "store").keys()))
    by_code = ["--measurement", "{use: 'functions_of_files:length', label: size, better: higher}"]
    lines = [["measure", claim, *place], ["runs", "check", claim, *place], ["audit", claim]]
    for line in lines:
        assert "--allow-code" in repro(*line).stderr
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(folder))
    for line in lines:
        assert "--allow-code" not in repro(*line).stderr
    for subject in (key, claim):
        assert "--allow-code" in repro("measure", subject, *place, *by_code).stderr
