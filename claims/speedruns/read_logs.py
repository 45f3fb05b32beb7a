"""Reads final validation losses from the logs of a clone of KellerJordan/modded-nanogpt.

`python claims/speedruns/read_logs.py CLONE` writes `track_1/runs.csv`, `track_2/runs.csv` and
`track_3/runs.csv` anew. What is read: the record, a number for the run, the name of its log, the
step, the validation loss and the training time. A run that diverged has the loss nan.
`left_out.csv` names every other text file in the folders, and why no run was read from it.
Source: commit f411b3d (MIT licence).
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
COMMIT = "f411b3d346aa52d3504324ca93c230fd84c6c07f"
FOLDERS = {
    "track_1": "records/track_1_short/",
    "track_2": "records/track_2_medium/",
    "track_3": "records/track_3_optimization/results/",
}
HEAD = ("record", "run", "log", "step", "val_loss", "train_time_ms")
HEAD_LEFT_OUT = ("track", "record", "log", "why")

LINE = re.compile(r"step:(\d+)/(\d+) val_loss:(\d+\.\d+|-?nan|-?inf)(?:.*?train_time:(\d+)ms)?")
"""A line of a log that gives a validation loss, which is no number where the run diverged."""
COPY = re.compile(r"final_val_loss|fake_log\w*|\w+_stdout")
"""Files that repeat what a log says, or put several logs together."""
HISTORY = re.compile(r"^\| \d+ \| (\d+)(?:\(!\))? \|.*\[log\]\(results/([^)/]+)/", re.MULTILINE)
"""A row of the third track's history: the declared number of steps, and the folder of the logs."""

UUID = re.compile(r"(?<=[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
"""What is cut from the name of a log: its first eight digits find it."""
SEED = re.compile(r"seed_(\d+)")
"""A folder, below that of a record, for one run."""

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


class LeftOut(NamedTuple):
    """A row of `left_out.csv`, but for its track."""

    record: str
    log: str
    why: str


class Run(NamedTuple):
    """A row of `runs.csv`, but for its number."""

    record: str
    log: str
    step: int
    val_loss: str
    train_time_ms: str


def main(clone: Path) -> None:
    """Writes the files."""
    left_out: list[tuple[str, ...]] = []
    for track, folder in FOLDERS.items():
        found = sorted(_found(clone, folder), key=order)
        _write(track, [each for each in found if isinstance(each, Run)])
        left_out += [(track, *each) for each in found if isinstance(each, LeftOut)]
    with (HERE / "left_out.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD_LEFT_OUT, *left_out])


def order(found: Run | LeftOut) -> tuple[str, int, str]:
    """By record, then by seed where the log has a folder of its own for each, then by name."""
    seed = SEED.match(found.log)
    return found.record, int(seed[1]) if seed else -1, found.log


def _write(track: str, runs: Iterable[Run]) -> None:
    """The runs of a track, numbered in each set."""
    target = HERE / track / "runs.csv"
    target.parent.mkdir(exist_ok=True)
    with target.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(HEAD)
        numbers: dict[tuple[str, int], int] = defaultdict(int)
        for run in runs:
            number = numbers[run.record, run.step]
            numbers[run.record, run.step] += 1
            rows.writerow((run.record, number, *run[1:]))


def _found(clone: Path, folder: str) -> Iterator[Run | LeftOut]:
    """What is read from each text file in the folders of a track, or why nothing is."""
    declared = _declared(clone) if "track_3" in folder else {}
    for path in _git(clone, "ls-tree", "-r", "--name-only", "-z", COMMIT, folder).split("\0"):
        if path.endswith((".txt", ".log")):
            record, log = split(path.removeprefix(folder))
            try:
                text = _git(clone, "show", f"{COMMIT}:{path}")
            except subprocess.CalledProcessError:
                yield LeftOut(record, log, "not in the clone that was read")
            else:
                yield read(text, record, log, declared.get(record.split("/")[0]))


def split(path: str) -> tuple[str, str]:
    """The record, and the name of the log; a folder for a seed belongs to the name."""
    record, _, name = path.rpartition("/")
    log = UUID.sub("", Path(name).stem)
    head, _, last = record.rpartition("/")
    return (head, f"{last}/{log}") if SEED.fullmatch(last) else (record, log)


def read(text: str, record: str, log: str, declared: int | None) -> Run | LeftOut:
    """The run of a log, or why it gives none."""
    if COPY.fullmatch(log.rpartition("/")[2]):
        return LeftOut(record, log, "repeats other files")
    found = loss(text, record, declared)
    if isinstance(found, str):
        return LeftOut(record, log, found)
    return Run(part(record, log), log, *found)


def loss(text: str, record: str, declared: int | None) -> tuple[int, str, str] | str:
    """Step, loss and time at the declared step; without one at the end; or why there is none."""
    if record in AVERAGED:
        text = re.sub(r"val_loss:\S+ val_avg_loss:\S+ val_ema_loss:", "val_loss:", text)
    lines = {int(step): (loss, time) for step, _, loss, time in LINE.findall(text)}
    ends = {int(planned) for _, planned, _, _ in LINE.findall(text)}
    if not lines:
        return "no line with a val_loss"
    wanted = sorted(ends) if declared is None else [declared]
    step = next((step for step in wanted if step in lines), None)
    if step is not None:
        value, time = lines[step]
        return step, value if value[0].isdigit() else "nan", time
    if declared is None:
        return f"ends at step {max(lines)} of {max(ends)}"
    return f"no loss at the declared step {declared}"


def _declared(clone: Path) -> dict[str, int]:
    """The number of steps that the history of the third track gives for each folder."""
    readme = _git(clone, "show", f"{COMMIT}:records/track_3_optimization/README.md")
    return {folder: int(steps) for steps, folder in HISTORY.findall(readme)}


def part(record: str, log: str) -> str:
    """The folder, and which part of it where it holds several programs."""
    for beginning, name in PROGRAMS.get(record, {}).items():
        if log.startswith(beginning):
            return f"{record}/{name}" if name else record
    return record


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True)  # noqa: S607
    return done.stdout.decode(errors="replace")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
