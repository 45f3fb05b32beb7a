"""Mutation testing by wing of ``repro``: a seeded sample of mutmut's mutants of every module.

A copy of the checkout is mutated in a folder of its own; the checkout is never touched. See
README.md beside this file.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import fnmatch
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import accumulate
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[2]
BOTH = ("tests/test_verdict.py", "tests/test_conclusions.py")
TESTS = {
    "stats": ("tests/stats",),
    "judging": ("tests/judging", *BOTH),
    "expectations": (
        "tests/expectations",
        "tests/judging",
        "tests/properties",
        "tests/specs",
        "tests/drafting/test_items.py",
        "tests/extension/test_expectation.py",
        *BOTH,
    ),
    "results": (
        "tests/results",
        "tests/evidence",
        "tests/drafting",
        "tests/extension/test_reader.py",
        "tests/cli/test_noise.py",
    ),
}
"""Wing -> the tests that mirror it."""

NOT_COPIED = shutil.ignore_patterns(".git", "__pycache__", ".*_cache")
SLOW = 5.0
"""Seconds of processor time after which a test is cut off when it is first run."""

FIRST, SECOND = 10.0, 30.0
"""Seconds of tests that a mutant is given: of the quick ones, and of the others if it survives."""

MEMORY = 8 << 30
LEFT = ("survived", "not reached", "broken")

ALONE = "repro/results/pattern_search.py"
"""Run as a script that can import nothing of the package: it is not mutated."""

APART = {"repro.results.inside.": "repro.results.reader."}
"""Modules that run in a process of their own, and the module that starts it."""


@dataclass
class Reach:
    """What a test did when it was first run, with nothing mutated."""

    seconds: float
    functions: list[str]
    passed: bool
    slow: bool


@dataclass
class Measurement:
    """The tests are collected once; every mutant is run in a fork that has run no test."""

    names: Sequence[str]
    reached: Path
    items: dict[str, pytest.Item] = field(default_factory=dict)
    reach: dict[str, Reach] = field(default_factory=dict)
    fates: dict[str, str] = field(default_factory=dict)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own: which functions every test reaches, then the mutants."""
        self.items = {item.nodeid: item for item in session.items}
        known = json.loads(self.reached.read_text()) if self.reached.exists() else {}
        new = [item for name, item in self.items.items() if name not in known]
        forked(partial(self.first_run, new, known), 3600, 36000)
        found = json.loads(self.reached.read_text())
        self.reach = {name: Reach(**found[name]) for name in self.items}
        for name in self.names:
            self.fates[name] = self.fate(name)
            told(f"{name}: {self.fates[name]}")
        return True

    def first_run(self, items: Iterable[pytest.Item], known: dict[str, object]) -> None:
        """Write down the time of each test and the functions that it reaches."""
        hits = set[str]()
        import_module("repro.mutant").__dict__["reached"] = hits.add
        os.environ["MUTANT_UNDER_TEST"] = "stats"
        signal.signal(signal.SIGPROF, lambda *_: pytest.fail("too slow"))
        for item in items:
            hits.clear()
            start = sum(os.times()[:4])
            signal.setitimer(signal.ITIMER_PROF, SLOW)
            passed = run(item)
            signal.setitimer(signal.ITIMER_PROF, 0)
            seconds = sum(os.times()[:4]) - start
            slow = seconds > 0.9 * SLOW
            known[item.nodeid] = vars(Reach(seconds, sorted(hits), passed, slow))
        self.reached.write_text(json.dumps(known))

    def fate(self, name: str) -> str:
        """How a mutant ends: by the quick tests that reach it, the others if it survives."""
        function = name.partition("__mutmut_")[0]
        own = [test for test, one in self.reach.items() if reaches(one.functions, function)]
        own = [test for test in own if self.reach[test].passed or self.reach[test].slow]
        own.sort(key=lambda test: (self.reach[test].slow, self.reach[test].seconds))
        spent = accumulate(self.reach[test].seconds for test in own)
        pairs = zip(own, spent, strict=True)
        quick = [one for one, total in pairs if total <= FIRST and not self.reach[one].slow]
        slow = own[len(quick) :]
        fate = self.outcome(name, quick, FIRST)
        return self.outcome(name, slow, SECOND) if fate in LEFT and slow else fate

    def outcome(self, name: str, tests: Sequence[str], seconds: float) -> str:
        """Run these tests until one fails, or until the time is spent."""
        if not tests:
            return "not reached"
        told_by = Path("killed_by")
        told_by.unlink(missing_ok=True)
        ended = forked(partial(self.kill, name, tests, seconds, told_by), 2 * seconds, 20 * seconds)
        if ended == 0:
            return "survived"
        if told_by.exists():
            return f"killed by {told_by.read_text()}"
        return "timeout" if os.WIFSIGNALED(ended) else "broken"

    def kill(self, name: str, tests: Sequence[str], seconds: float, told_by: Path) -> None:
        """In a process of its own: one mutant, and its tests."""
        os.environ["MUTANT_UNDER_TEST"] = name
        for test in tests:
            if not run(self.items[test]):
                told_by.write_text(test)
                os._exit(1)
            if sum(os.times()[:4]) > seconds:
                break


def reaches(functions: Iterable[str], function: str) -> bool:
    """Whether a test that reaches these functions reaches this one."""
    starters = [starter for inside, starter in APART.items() if function.startswith(inside)]
    return any(one == function or one.startswith(tuple(starters)) for one in functions)


def run(item: pytest.Item) -> bool:
    """Whether a test passes, or is skipped."""
    return not any(one.failed for one in runtestprotocol(item, log=False, nextitem=None))


def forked(work: Callable[[], None], cpu: float, wall: float) -> int:
    """Do this in a fork with these limits of time; how it ended, 0 where nothing was amiss."""
    shutil.rmtree("tmp", ignore_errors=True)
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        ended = 2
        try:
            work()
            ended = 0
        finally:
            if ended:
                told(traceback.format_exc())
            os._exit(ended)
    end = time.time() + wall
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if time.time() > end:
            os.killpg(pid, signal.SIGKILL)
        time.sleep(0.02)


def told(what: object) -> None:
    """A line for who waits, past pytest's own capture of what is printed."""
    with Path("log").open("a") as log:
        log.write(f"{time.strftime('%H:%M:%S')} {what}\n")


def mutated(file: Path) -> tuple[str, list[str]]:
    """The text with all its mutants, and their names; kept beside the copy, as it takes seconds."""
    text = file.read_text()
    kept = Path("..", "mutated", hashlib.sha256(text.encode()).hexdigest())
    if not kept.exists():
        made = import_module("mutmut.mutation.file_mutation").mutate_file_contents(str(file), text)
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps([made.code, list(made.mutant_names)]))
    code, names = json.loads(kept.read_text())
    return code, names


def mutate(wing: str, since: str | None) -> dict[str, list[str]]:
    """Mutate the modules of a wing (those changed since a commit) in place: module -> mutants."""
    files = [file for file in sorted(Path("repro", wing).rglob("*.py")) if str(file) != ALONE]
    if since:
        command = ["git", "-C", str(ROOT), "diff", "--name-only", "--no-renames", since, "HEAD"]
        changed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        files = [file for file in files if str(file) in changed]
    found = {}
    for file in files:
        code, own = mutated(file)
        file.write_text(code.replace("mutmut.mutation.trampoline", "repro.mutant"))
        module = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
        found[module] = [f"{module}.{name}" for name in own]
    return {module: names for module, names in found.items() if names}


def sample(names: Iterable[str], seed: str, size: int) -> list[str]:
    """``size`` mutants of a module (all of them where it has no more), by a constant seed."""
    own = sorted(names)
    return sorted(random.Random(seed).sample(own, min(size, len(own))))


def change(name: str) -> str:
    """The lines that a mutant changes."""
    module, _, own = name.rpartition(".")
    file = Path(*module.split("."))
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    text = file.read_text()
    found = {one.name: one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef)}
    before, after = (
        (ast.get_source_segment(text, found[each]) or "").splitlines()[1:]
        for each in (own.partition("__mutmut_")[0] + "__mutmut_orig", own)
    )
    lines = difflib.unified_diff(before, after, n=0, lineterm="")
    return "\n".join(line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---"))


def summary(mutants: dict[str, list[str]], fates: dict[str, str]) -> str:
    """Counts by module, then the survivors with what they change."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, fate in fates.items():
        counts[name.partition(".x")[0]][fate.split()[0]] += 1
    rows = [
        f"| {module} | {len(mutants[module])} | {own.total()} | {own['killed'] + own['timeout']} |"
        for module, own in counts.items()
    ]
    head = "| module | mutants | run | killed |\n|---|---|---|---|"
    left = {name: fate for name, fate in fates.items() if fate in LEFT}
    share = f"{len(fates) - len(left)} of {len(fates)} killed"
    survivors = (f"\n{name}: {left[name]}\n{change(name)}" for name in left)
    return "\n".join([head, *rows, "", share, *survivors])


def main() -> None:
    """Copy, mutate, sample, run, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder outside the checkout")
    parser.add_argument("--wing", required=True, choices=TESTS)
    parser.add_argument("--since", help="only modules that changed since this commit")
    parser.add_argument("--sample", default="20261127:6", metavar="SEED:SIZE")
    parser.add_argument("--only", nargs="+", metavar="PATTERN", help="only these of the mutants")
    chosen = parser.parse_args()
    folder = chosen.folder.resolve() / chosen.wing
    shutil.rmtree(folder / "copy", ignore_errors=True)
    shutil.copytree(ROOT, folder / "copy", ignore=NOT_COPIED)
    os.chdir(folder / "copy")
    with Path("pyproject.toml").open("a") as settings:
        settings.write('\n[tool.mutmut]\nsource_paths = ["repro"]\n')
    shutil.copy(Path(__file__).with_name("switch.py"), Path("repro", "mutant.py"))
    sys.path.insert(0, str(Path.cwd()))
    paths = [str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    os.environ |= {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
    seed, size = chosen.sample.split(":")
    mutants = mutate(chosen.wing, chosen.since)
    names = [one for own in mutants for one in sample(mutants[own], f"{seed}:{own}", int(size))]
    if chosen.only:
        names = [one for one in names if any(fnmatch.fnmatch(one, way) for way in chosen.only)]
    measurement = Measurement(names, folder / "reached.json")
    told(f"{len(names)} of {sum(map(len, mutants.values()))} mutants")
    options = ["-q", "-p", "no:cacheprovider", "-o", "timeout=0", "--basetemp=tmp"]
    pytest.main([*options, *TESTS[chosen.wing]], plugins=[measurement])
    print(summary(mutants, measurement.fates))


if __name__ == "__main__":
    main()
