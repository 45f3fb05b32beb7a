"""What commands cost that train nothing: ``python -m benchmarks.speed.costs``.

Processor seconds of whole processes, the median of several, each beside its yardstick in turn:

- ``repro --help`` against a bare start of Python (aim: 15 times);
- ``repro plan`` of 300 claims whose 10,200 runs are all in a generated store (aim: 6 s);
- the index of 500 reports, copies of those of reports/library (aim: 3 s);
- a second ``repro verify`` of an unchanged table claim against
  ``import numpy, scipy.stats, pydantic, typer`` (aim: 1.5 times).

``--baseline CHECKOUT`` measures another version of repro in the same way, in turn with this one.
What commands keep begins empty; ``first_s`` is what each version took before it had kept anything.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.speed import machine

ROOT = Path(__file__).parents[2]
CLAIMS, SEEDS, REPORTS = 300, 17, 500
IMPORTS = "import numpy, scipy.stats, pydantic, typer"
INDEX = (
    "import pathlib, sys; from repro.report.write import write_index as w; w(pathlib.Path({!r}))"
)

CLAIM = """schema: 1
id: claim_{number}
title: Program {number} has a lower loss than the baseline
source: {{own: "Generated, to be planned."}}
configuration:
  trainer: command
  command: [{python}, train.py, --seed, "{{seed}}", "{{args}}"]
  files: [train.py]
  results: {{stdout: "loss (?P<loss>[0-9.]+)"}}
arms:
  changed: {{label: changed, args: {{rate: {number}.5}}}}
  baseline: {{label: baseline, args: {{rate: {number}}}}}
design: independent
seeds: {{min: {seeds}, plan: {seeds}}}
measurements:
  loss: {{kind: reported, from: loss, reduce: last, label: loss, better: lower}}
expectations:
  - id: better
    kind: difference
    measurement: loss
    of: [changed, baseline]
    direction: lower
    smallest_effect: {{abs: 0.01, why: "a hundredth matters here"}}
"""

Case = tuple[str, float, Callable[[Path], list[str]], list[str] | None]
"""A name, its aim, the command in the version at a path, and the yardstick: none is a second."""


def main() -> int:
    """Measure, print and write; 0 if all aims are reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.costs")
    parser.add_argument("--baseline", type=Path, help="a checkout of an earlier version")
    parser.add_argument("--only", nargs="*", help="help, plan, index, verify")
    parser.add_argument("--samples", type=int, default=7)
    parser.add_argument("--out", type=Path, help="a file, to which .json is added")
    given = parser.parse_args()
    versions = {"here": ROOT} | ({"baseline": given.baseline.resolve()} if given.baseline else {})
    rows = []
    with tempfile.TemporaryDirectory(prefix="repro-costs-") as folder:
        os.environ["REPRO_CACHE"] = str(Path(folder) / "cache")
        for case in _cases(Path(folder), given.only):
            rows.append(_row(case, versions, given.samples))
            print(json.dumps(rows[-1]), flush=True)
    if given.out is not None:
        document = {
            "command": shlex.join(["python", "-m", "benchmarks.speed.costs", *_told(given)]),
            "date": datetime.now(UTC).date().isoformat(),
            **machine.description(),
            "rows": rows,
        }
        given.out.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
    return int(not all(row["here"] <= row["aim"] for row in rows))


def _told(given: argparse.Namespace) -> list[str]:
    baseline = ["--baseline", "CHECKOUT"] if given.baseline else []
    return [*baseline, *(["--only", *given.only] if given.only else [])]


def _cases(folder: Path, only: list[str] | None) -> Iterator[Case]:
    """Each workload is made when its turn comes."""
    asked = set(only or ("help", "plan", "index", "verify"))
    if "help" in asked:
        yield "help", 15.0, lambda _: _repro("--help"), [sys.executable, "-c", "pass"]
    if "plan" in asked:
        claims, store = make_store(folder)
        yield "plan", 6.0, lambda _: _repro("plan", claims, "--store", store), None
    if "index" in asked:
        reports = make_reports(folder)
        yield "index", 3.0, lambda _: [sys.executable, "-c", INDEX.format(str(reports))], None
    if "verify" in asked:
        yield "verify", 1.5, lambda at: _verify(folder, at), [sys.executable, "-c", IMPORTS]


def _repro(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-P", "-m", "repro", *map(str, arguments)]


def _verify(folder: Path, version: Path) -> list[str]:
    """Of the version's own claim, with a store and reports of its own."""
    own = folder / version.name
    claim = version / "claims" / "speedruns" / "track_1" / "speedrun_88.claim.yaml"
    return _repro("verify", claim, "--store", own / "store", "--reports", own / "reports")


def make_store(folder: Path) -> tuple[Path, Path]:
    """Claims about a program, and a store with all their runs; nothing is run."""
    from repro.specs.load import load_claims
    from repro.store.run_store import RunStore

    claims = folder / "claims"
    claims.mkdir()
    (claims / "train.py").write_text("print('loss 0.5')\n")
    for number in range(CLAIMS):
        text = CLAIM.format(number=number, seeds=SEEDS, python=json.dumps(sys.executable))
        (claims / f"claim_{number}.claim.yaml").write_text(text)
    store = RunStore(folder / "store")
    kept = {"kept.json": b"{}", "output.txt": b"loss 0.5\n"}
    for claim in load_claims(claims):
        for each in claim.runs():
            value = 0.5 + (hash(each.run.key) % 100) / 1000
            rows = json.dumps({"rows": [{"loss": value}], "series": True}).encode()
            files = kept | {"results.json": rows}
            store.put_run(each.run, history=[], weights=None, files=files)
            for measurement in each.measurements:
                details = {"row": 0, "rows": 1}
                store.put_measurement(each.run.key, measurement, value=value, details=details)
    return claims, store.root


def make_reports(folder: Path) -> Path:
    """A folder with copies of the library's reports under other names."""
    found = sorted((ROOT / "reports" / "library").glob("*/*/report.json"))
    for number in range(REPORTS):
        place = folder / "reports" / f"claim_{number}" / "quick"
        place.mkdir(parents=True)
        shutil.copy(found[number % len(found)], place)
    return folder / "reports"


def _row(case: Case, versions: dict[str, Path], samples: int) -> dict[str, Any]:
    """The medians of the ratios, the yardstick taken in turn with every version."""
    name, aim, command, yardstick = case
    seconds: dict[str, list[float]] = {version: [] for version in versions}
    ratios: dict[str, list[float]] = {version: [] for version in versions}
    first: dict[str, float] = {}
    for sample in range(samples + 1):
        for version, place in versions.items():
            unit = 1.0 if yardstick is None else _processor_seconds(yardstick, place)
            found = _processor_seconds(command(place), place)
            first.setdefault(version, round(found, 3))
            if sample:
                seconds[version].append(found)
                ratios[version].append(found / unit)
    return {
        "name": name,
        "aim": aim,
        "unit": "s" if yardstick is None else shlex.join(["python", *yardstick[1:]]),
        **{version: round(statistics.median(each), 2) for version, each in ratios.items()},
        "first_s": first,
        "cpu_s": {v: [round(statistics.median(s), 3), min(s), max(s)] for v, s in seconds.items()},
    }


def _processor_seconds(command: list[str], version: Path) -> float:
    """User and system time of a process and what it waited for."""
    environment = os.environ | {"PYTHONPATH": str(version), "COLUMNS": "80"}
    child = subprocess.Popen(
        command, env=environment, cwd=version, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in {0, 1, 2, 3}:
        sys.exit(f"{shlex.join(command)}: status {child.returncode}\n{said.decode()}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
