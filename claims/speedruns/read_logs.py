"""Reads final validation losses from the logs of a clone of KellerJordan/modded-nanogpt.

`python claims/speedruns/read_logs.py CLONE` writes `track_1/runs.csv`, `track_2/runs.csv` and
`track_3/runs.csv` anew. What is read: the record, a number for the run, the name of its log, the
step, the validation loss and the training time. Source: commit f411b3d (MIT licence).
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

COMMIT = "f411b3d346aa52d3504324ca93c230fd84c6c07f"
FOLDERS = {
    "track_1": "records/track_1_short/",
    "track_2": "records/track_2_medium/",
    "track_3": "records/track_3_optimization/results/",
}
HEAD = ("record", "run", "log", "step", "val_loss", "train_time_ms")

LINE = re.compile(r"step:(\d+)/(\d+) val_loss:(\d+\.\d+)(?:.*?train_time:(\d+)ms)?")
"""A line of a log that gives a validation loss."""
HISTORY = re.compile(r"^\| \d+ \| (\d+)(?:\(!\))? \|.*\[log\]\(results/([^)/]+)/", re.MULTILINE)
"""A row of the third track's history: the declared number of steps, and the folder of the logs."""

UUID = re.compile(r"(?<=[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
"""What is cut from the name of a log: its first eight digits find it."""

PROGRAMS = {
    "2025-12-11_NorMuonOptimsAndFixes": {"NorMuon Fixes": "", "": "baseline"},
    "2026-01-10_FusedLinearReLUSquare": {"single_gpu": "single_gpu_baseline"},
    "2025-07-12_BosAlign": {"c1fd8a38": "timed_again"},
    "2026-02-06_SparseBigramGradient": {
        "80860ac1": "baseline",
        "b49c59fc": "baseline",
        "c38f3379": "baseline",
    },
    "2026-04-08_PairedHeadMuon/logs": {"baseline": "baseline", "split_qk": "split_qk"},
    "20260609_soap_f1_auxb2_clean": {"A40": "a40"},
}
"""Folders whose logs are of several programs: the beginnings of names, and what the part is."""

AVERAGED = {"20260619_cwd_rowfloor_tailema"}
"""Records that are read with averaged weights, whose loss a log gives beside the other."""


class Run(NamedTuple):
    """A row of `runs.csv`, but for its number."""

    record: str
    log: str
    step: int
    val_loss: str
    train_time_ms: str


def main(clone: Path) -> None:
    """Writes the files."""
    for track, folder in FOLDERS.items():
        runs = sorted(_runs(clone, folder))
        target = Path(__file__).parent / track / "runs.csv"
        target.parent.mkdir(exist_ok=True)
        with target.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(HEAD)
            numbers: dict[tuple[str, int], int] = defaultdict(int)
            for run in runs:
                number = numbers[run.record, run.step]
                numbers[run.record, run.step] += 1
                rows.writerow((run.record, number, *run[1:]))


def _runs(clone: Path, folder: str) -> Iterator[Run]:
    """The runs in the folders of a track; a log without a validation loss is none."""
    declared = _declared(clone) if "track_3" in folder else {}
    for path in _git(clone, "ls-tree", "-r", "--name-only", "-z", COMMIT, folder).split("\0"):
        if path.endswith((".txt", ".log")):
            record, _, log = path.removeprefix(folder).rpartition("/")
            text = _git(clone, "show", f"{COMMIT}:{path}")
            if found := loss(text, record, declared.get(record.split("/")[0])):
                yield Run(part(record, log), UUID.sub("", Path(log).stem), *found)


def loss(text: str, record: str, declared: int | None) -> tuple[int, str, str] | None:
    """Step, loss and time at the declared step, or at the end of a run that came to its end."""
    if record in AVERAGED:
        text = re.sub(r"val_loss:\S+ val_avg_loss:\S+ val_ema_loss:", "val_loss:", text)
    lines = {int(step): (loss, time) for step, _, loss, time in LINE.findall(text)}
    ends = {int(planned) for _, planned, _, _ in LINE.findall(text)}
    step = next((step for step in (declared, *sorted(ends)) if step in lines), None)
    return None if step is None else (step, *lines[step])


def _declared(clone: Path) -> dict[str, int]:
    """The number of steps that the history of the third track gives for each folder."""
    readme = _git(clone, "show", f"{COMMIT}:records/track_3_optimization/README.md")
    return {folder: int(steps) for steps, folder in HISTORY.findall(readme)}


def part(record: str, log: str) -> str:
    """The folder, and which part of it where it holds several programs; a seed is no part."""
    record = re.sub(r"/seed_\d+$", "", record)
    for beginning, name in PROGRAMS.get(record, {}).items():
        if log.startswith(beginning):
            return f"{record}/{name}" if name else record
    return record


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True)  # noqa: S607
    return done.stdout.decode(errors="replace")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
