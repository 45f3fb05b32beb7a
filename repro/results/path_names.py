"""What the names of results say: the number of a run in them, and what differs besides."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from repro.results.result_files import FORMS
from repro.results.roles import PHASES, RUNS

SAID_SEED = re.compile(r"(?i)seeds?[_=-]?(\d+)")
NUMBER = re.compile(r"\d+")
WHOLE = re.compile(r"(?<!\d)(?<!\d\.)(?<!\d[eE][-+])\d+(?!\d)(?!\.\d)(?![eE][-+]?\d)")
"""A number that is no part of one such as 0.1 or 1e-3."""

BETWEEN = re.compile(r"((?:(?!(?<=\d)\.\d|(?<=\d[eE])[-+]\d)[^A-Za-z0-9{}])+)")
"""What stands between the words of a path: nothing in 0.1 or 1e-3."""

TELLING = ("result", "eval", "metric", "test", "summary", "score", "log")
"""Words in the names of files that hold what a run came to, the surest first."""

EPISODES = "monitor.csv"
"""How the files of Stable-Baselines end: one run each, whose rows are its episodes."""

RAY = re.compile(
    r"(?P<before>(?:.*/)?[^/]*?_)(?P<trial>\d{5}_)?(?P<number>\d+)(?P<settings>(?:_[^/=]+=[^/]*?)?)"
    r"_\d{4}-\d\d-\d\d(?:_\d\d-\d\d-\d\d[A-Za-z0-9_]*)?(?P<after>/.*|$)"
)
"""A path with the folder of a trial of Ray: its number and settings, then a time and letters."""


def template_of(name: str) -> str:
    """The name with the number of the run in braces: that of a seed, or else the last one."""
    if (trial := RAY.fullmatch(name)) is not None:
        before, settings = f"{trial['before']}{'*_' if trial['trial'] else ''}", trial["settings"]
        if SAID_SEED.search(settings):
            return f"{before}*{SAID_SEED.sub(_in_braces, settings)}_*{trial['after']}"
        return f"{before}{{run}}{settings}_*{trial['after']}"
    stem, dot, ending = name.rpartition(".")
    text, rest = (stem, dot + ending) if dot and f".{ending.lower()}" in FORMS else (name, "")
    said = list(SAID_SEED.finditer(text))
    found = said or list(WHOLE.finditer(text)) or list(NUMBER.finditer(text))
    if not found:
        return name
    start, end = found[-1].span(1) if said else found[-1].span()
    return f"{text[:start]}{'{seed}' if said else '{run}'}{text[end:]}{rest}"


def _in_braces(said: re.Match[str]) -> str:
    return f"{said[0].removesuffix(said[1])}{{seed}}"


def telling(names: Sequence[str]) -> list[str]:
    """Those of the files that say what a run came to: others lie beside them in each folder."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for name in names:
        kinds[PurePosixPath(template_of(name)).name].append(name)
    shared = {
        kind: found
        for kind, found in kinds.items()
        if len({PurePosixPath(name).parent for name in found}) > 1
    }
    if len(shared) < 2:
        return next(iter(shared.values()), list(names))

    def rank(kind: str) -> int:
        places = (place for place, word in enumerate(TELLING) if word in kind.lower())
        return next(places, len(TELLING))

    first = min(shared, key=lambda kind: (rank(kind), kind))
    alike = [kind for kind in shared if NUMBER.sub("0", kind) == NUMBER.sub("0", first)]
    others = [kind for kind in shared if rank(kind) == rank(first)]
    if rank(first) == len(TELLING) or all(map(_says_more, others)):
        alike = others  # `seed_0/mixup.json` and `seed_0/plain.json`, or nothing tells
    return [name for kind in alike for name in shared[kind]]


def _says_more(kind: str) -> bool:
    """Whether the name of a file has a word besides those of results: `results_mixup.json`."""
    words = re.findall(r"[a-z]+", re.sub(r"\{\w+\}", "", kind.lower().rpartition(".")[0]))
    return any(word not in {*PHASES, *RUNS, "all", "best", "last", "seed"} for word in words)


def alike(names: Iterable[str]) -> dict[str, list[str]]:
    """The names by what they are without their number."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[template_of(name)].append(name)
    return found


def by_folder(names: Iterable[str], *, file: bool) -> dict[str, list[str]]:
    """The names by what they are without the folder of the run, where such folders have digits.

    It is the one that holds the ``file``, or the folder itself, and is called by any name that is
    made for one run: by a time, or at random. A seed that is said above it stays one.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        path = PurePosixPath(name)
        *above, folder = path.parent.parts or ("",) if file else path.parts
        before = SAID_SEED.sub(_in_braces, "/".join(above), count=1)
        rest = ["{folder}", *([path.name] if file else [])]
        template = "/".join(filter(None, (before, *rest)))
        found[template if NUMBER.search(folder) else name].append(name)
    return found


def labels_of(templates: Sequence[str]) -> list[str]:
    """What differs between the names, without what they begin and end with alike."""
    split = [BETWEEN.split(template) for template in templates]
    before = common(split)
    after = common([parts[before:][::-1] for parts in split])
    first = split[0]
    bare = any(parts[before : before + 1] and parts[before][:1].isdigit() for parts in split)
    if bare and before >= 2 and first[before - 2] and "/" not in first[before - 1]:
        before -= 2  # a number is told with the word before it: lr=0.1
    labels = ["".join(parts[before : len(parts) - after]) for parts in split]
    return [_tidied(label) or "plain" for label in labels]


def _tidied(label: str) -> str:
    label = re.sub(r"(?i)(seeds?[_=-]?)?\{(seed|run|folder)\}|\*", "", label).strip("/_-. ,")
    parts = label.split("/")
    return parts[0] if len({part.casefold() for part in parts}) == 1 else label  # PPO/PPO_0


def common(split: Sequence[Sequence[str]]) -> int:
    """How many parts all begin with."""

    def alike() -> Iterator[bool]:
        for parts in zip(*split, strict=False):
            yield len(set(parts)) == 1

    count = 0
    for same in alike():
        if not same:
            break
        count += 1
    return count
