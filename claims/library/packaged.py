"""Writes which commands are those of claims that came with repro, which need no consent.

`python claims/library/packaged.py` writes the digests anew, after any edit of a claim here or of
its program; a test compares them with what it would write.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from repro.digest import file_digest
from repro.specs.load import check_files, load_claim
from repro.trainers.command.spec import CommandTraining

CLAIMS = Path(__file__).resolve().parents[1]
WRITTEN = CLAIMS.parent / "repro" / "trainers" / "command" / "packaged.json"


def trainings(file: Path) -> dict[str, CommandTraining]:
    """What the arms of a claim run, at all its scales, by digest."""
    (checked,), _ = check_files([file])
    runs = (run for scale in checked.scales for run in load_claim(file, scale).runs())
    found = (planned.run.training for planned in runs)
    return {each.digest(): each for each in found if isinstance(each, CommandTraining)}


def document() -> dict[str, Any]:
    """For each folder in which a claim that came with repro runs a program: files, and digests.

    Its files are the claims and what their `files` names: any other beside them is refused.
    """
    found: dict[str, Any] = {}
    for file in sorted(CLAIMS.rglob("*.claim.yaml")):
        if "trainer: command" not in file.read_text(encoding="utf-8"):
            continue
        for digest, training in trainings(file).items():
            folder = Path(training.folder)
            name = folder.relative_to(CLAIMS).as_posix()
            entry = found.setdefault(name, {"files": {}, "trainings": []})
            entry["files"] |= {file.relative_to(folder).as_posix(): file_digest(file)}
            entry["files"] |= training.digests
            entry["trainings"] = sorted({*entry["trainings"], digest})
    return found


if __name__ == "__main__":
    WRITTEN.write_text(json.dumps(document(), indent=1) + "\n", encoding="utf-8")
