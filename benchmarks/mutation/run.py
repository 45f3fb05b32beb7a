"""Mutation testing of ``repro/stats`` and ``repro/judging``: a seeded sample of mutmut's mutants.

A copy of the package and of its tests is mutated in a folder of its own; the checkout is never
touched. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MUTATED = ("repro/stats/*.py", "repro/judging/verdict.py", "repro/expectations/decision_rules.py")
TESTS = (
    "tests/stats",
    "tests/expectations",
    "tests/properties",
    "tests/test_verdict.py",
    "tests/test_conclusions.py",
)
HELPERS = ("tests/conftest.py", "tests/judging/made.py", "claims", "templates", "README.md", "docs")
TOO_SLOW = "tests/stats/test_design.py::test_every_number_keeps_its_promise[difference-permutation]"
FIRST = "repro.expectations.decision_rules.*"
"""A module with few mutants: to run it writes the mutants of all."""

SAMPLES = ("20261121:15", "20261122:6")
"""Seed and mutants a module: the sample whose survivors were met with tests, and a fresh one."""

STATUS = {0: "survived", 1: "killed", 3: "killed", 5: "no tests", 33: "no tests", None: "not run"}
TIMEOUT = {36, 24, -24, 152, 255}

CONFIGURATION = """\
[tool.pytest.ini_options]
pythonpath = ["."]
addopts = ["--import-mode=importlib", "-p", "no:cacheprovider"]
timeout = 0
markers = ["browser", "data", "gpu", "slow"]
filterwarnings = ["error"]

[tool.mutmut]
source_paths = ["repro"]
only_mutate = {mutated}
also_copy = ["claims", "templates", "README.md", "docs"]
timeout_multiplier = 4.0
timeout_constant = 5.0
use_git_change_detection = false
track_dependencies = false
use_setproctitle = false
process_isolation = "forkserver"
pytest_add_cli_args_test_selection = {tests}
"""


def copy(folder: Path) -> None:
    """Everything that the tests need, and mutmut's configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("repro", *TESTS, *HELPERS):
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=skip)
        elif source.exists():
            shutil.copy2(source, target)
    tests = [name for name in TESTS if (folder / name).exists()]
    text = CONFIGURATION.format(
        mutated=json.dumps(MUTATED), tests=json.dumps([*tests, f"--deselect={TOO_SLOW}"])
    )
    (folder / "pyproject.toml").write_text(text)


def mutmut(folder: Path, names: Iterable[str], children: int) -> None:
    """Run these mutants; how each ended is in mutmut's own files."""
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(children), *names]
    with (folder / "mutmut.log").open("a") as log:
        subprocess.run(command, cwd=folder, stdout=log, stderr=log, check=True)


def outcomes(folder: Path) -> dict[str, dict[str, int | None]]:
    """module -> mutant -> its exit code; None where it was not run."""
    found = {}
    for file in sorted((folder / "mutants" / "repro").rglob("*.meta")):
        own = json.loads(file.read_text())["exit_code_by_key"]
        if own:
            module = file.relative_to(folder / "mutants").name.removesuffix(".py.meta")
            found[f"{file.parent.name}/{module}"] = own
    return found


def sample(mutants: Mapping[str, Iterable[str]], seed: int, size: int) -> list[str]:
    """``size`` mutants of each module (all of them where it has no more), by a constant seed."""
    drawn = []
    for module, names in mutants.items():
        own = sorted(names)
        draw = random.Random(f"{seed}:{module}")
        drawn += sorted(draw.sample(own, min(size, len(own))))
    return drawn


def summary(found: Mapping[str, Mapping[str, int | None]], names: Iterable[str]) -> str:
    """Counts by module of the sampled mutants, then the survivors."""
    wanted, left = set(names), list[str]()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for module, own in found.items():
        for name, code in own.items():
            if name in wanted:
                word = "timeout" if code in TIMEOUT else STATUS.get(code, "crashed")
                counts[module][word] += 1
                left += [f"{name}: {word}"] if word in ("survived", "no tests", "not run") else []
    lines = [
        f"| {module} | {len(found[module])} | {own.total()} | {own['killed'] + own['crashed']} "
        f"| {own['timeout']} | {own['survived'] + own['no tests'] + own['not run']} |"
        for module, own in counts.items()
    ]
    head = "| module | mutants | sampled | killed | timeout | survived |\n|---|---|---|---|---|---|"
    return "\n".join([head, *lines, "", *left])


def main() -> None:
    """Copy, mutate, sample, run, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="an empty folder outside the checkout")
    parser.add_argument("--sample", nargs="+", default=SAMPLES, metavar="SEED:SIZE")
    parser.add_argument("--children", type=int, default=2, help="processes")
    chosen = parser.parse_args()
    copy(chosen.folder)
    mutmut(chosen.folder, [FIRST], chosen.children)
    mutants = outcomes(chosen.folder)
    pairs = [tuple(map(int, one.split(":"))) for one in chosen.sample]
    samples = {pair: sample(mutants, *pair) for pair in pairs}
    names = sorted({name for drawn in samples.values() for name in drawn})
    mutmut(chosen.folder, names, chosen.children)
    for (seed, size), drawn in samples.items():
        print(f"## seed {seed}, {size} a module\n")
        print(summary(outcomes(chosen.folder), drawn), end="\n\n")


if __name__ == "__main__":
    main()
