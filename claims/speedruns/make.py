"""Writes a claim file for each set of runs in `records.csv`.

`python claims/speedruns/make.py` writes them anew; a test compares them with what it would write.
Numbers, descriptions and printed means in `records.csv` are those of the histories in the
repository's READMEs; `waived` are the records whose title speaks of the program's speed alone, by
our reading.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
LEAST = 3
"""Runs that a set needs."""
TARGET = 3.28
COMMIT = "f411b3d"

FOLDERS = {
    "track_1": "records/track_1_short",
    "track_3": "records/track_3_optimization/results",
}
LOCATORS = {
    "track_1": "README.md, Rules, 2",
    "track_3": "records/track_3_optimization/README.md, Rules, 3",
}
QUOTES = {
    "track_1": """submissions must provide enough run logs to attain a statistical significance
    level of p<0.01 that their mean val loss is ≤3.28""",
    "track_3": """the run(s) are required to pass a one-sided z-test assuming σ=0.0013 that
    achieves p<.001 (hence 3.09σ = 0.004 delta below the target)""",
}
ALPHAS = {"track_1": "0.01", "track_3": "0.001"}
PRINTED_TO = {"track_1": "digits: 4, granularity: 0.0001", "track_3": "digits: 5"}
TESTS = {
    "track_1": "",
    "track_3": """
      The loss is that at the declared number of steps.""",
}
KNOWN_SD = {
    "track_1": "",
    "track_3": """
    sd: {value: 0.0013, why: the rule assumes it}""",
}

LEFT_OUT = {
    "2024-10-29_Optimizers": "one run of each of four programs",
    "2024-11-06_ShortcutsTweaks": "one run of each of six programs",
    "2025-05-09_SkipMLPBlocks": "the runs of 2025-09-05_SkipMLPBlocks",
}
"""Sets of at least three runs without a claim, and why."""

TEMPLATE = """\
# yaml-language-server: $schema=../../claim.schema.json
# Written by ../make.py.
schema: 1
id: {id}
title: "{title}: the mean validation loss is at most {target}"
source:
  paper: modded_nanogpt
  citation: "KellerJordan/modded-nanogpt, commit {commit} (MIT licence)"
  locator: "{locator}; {folder}"
  quote: >-
    {quote}

alpha: {alpha}
arms:
  runs:
    label: "{label}"
    import: {{from: files, path: runs.csv, each: row, seed: run, where: {{record: "{record}", step: {step}}}}}
design: independent
seeds: {{min: {least}, plan: {n}}}
measurements:
  val_loss: {{kind: reported, label: validation loss, better: lower, {printed_to}}}
expectations:
  - id: below_target
    kind: level
    measurement: val_loss
    of: [runs]
    at_most: {{value: {target}, why: the target of the speedrun}}{known_sd}
scales:
  paper:
    notice: >-
      {about} Nothing is trained. The number of runs was not fixed beforehand.{test}
"""  # noqa: E501


def files() -> Mapping[Path, str]:
    """The path of each claim file, and what it holds."""
    counts = sets()
    return {
        HERE / record["track"] / f"{record['id']}.claim.yaml": claim(
            record, counts[record["track"], record["record"], record["step"]]
        )
        for record in read("records.csv")
    }


def sets() -> Counter[tuple[str, str, str]]:
    """How many runs each set has, by track, record and number of steps."""
    return Counter(
        (track, run["record"], run["step"])
        for track in FOLDERS
        for run in read(f"{track}/runs.csv")
    )


def read(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file in this folder."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def claim(record: Mapping[str, str], n: int) -> str:
    """The claim file about a set of ``n`` runs."""
    track = record["track"]
    return TEMPLATE.format(
        id=record["id"],
        title=title(record),
        label=label(record),
        about=about(record),
        folder=f"{FOLDERS[track]}/{record['record']}",
        locator=LOCATORS[track],
        quote=QUOTES[track],
        alpha=ALPHAS[track],
        printed_to=PRINTED_TO[track],
        test=TESTS[track],
        known_sd=KNOWN_SD[track],
        record=record["record"],
        step=record["step"],
        target=TARGET,
        least=LEAST,
        commit=COMMIT,
        n=n,
    )


def label(record: Mapping[str, str]) -> str:
    """What a report calls the runs: `record 88`, `result 44` or `baseline, 1480 steps`."""
    if record["role"] != "record":
        return f"{record['role']}, {record['step']} steps"
    noun = "record" if record["track"] == "track_1" else "result"
    return f"{noun} {record['number']}"


def title(record: Mapping[str, str]) -> str:
    """`Speedrun record 88, Prefix token prediction auxiliary loss`."""
    game = "Speedrun" if record["track"] == "track_1" else "Optimizer"
    text = record["description"].replace("\\", "").replace('"', "'") or record["record"]
    return f"{game} {label(record)}, {text}"


def about(record: Mapping[str, str]) -> str:
    """Who claims this of a set of runs, and what the rule exempts."""
    if record["role"] == "baseline":
        return "Runs of an earlier program, for comparison: nobody submitted them as a record."
    if record["role"] == "trial":
        return "Further runs in the folder of a record: they are not the record itself."
    if record["waived"]:
        return "By its title only the speed of the program changed: the rule waives the test."
    return "The runs that were submitted with the record."


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
