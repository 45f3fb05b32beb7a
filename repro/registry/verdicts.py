"""What a claim came to at a time, on which evidence; and what was changed from one to the next.

Kept at a scale whenever that changed, one JSON object a line, append-only, in
STORE/verdicts/ID-DIGEST/SCALE.jsonl, where DIGEST is that of the place of the claim file (of a
packaged claim its name), so that claims of one id in two folders have two histories, and a table
that is written again has one. A line that cannot be read, torn by a crash or of a newer version,
is passed over.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from repro.digest import canonical_json
from repro.errors import StoreUnreachableError
from repro.expectations.base import EffectScale
from repro.expectations.verdict_words import Agreement, Conclusion, Validity
from repro.files import claims, resolved, sync_folder, try_lock
from repro.registry.claim_log import ROUND_OFF
from repro.schema import numbers as fmt
from repro.schema.base import Spec
from repro.store.places import VERDICTS
from repro.store.run_store import RunStore
from repro.store.sealed import (
    JSON_LIMIT,
    damaged,
    make_folder,
    open_or_make,
    out_of_reach,
    read_bytes,
)

COUNTED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

NAMED = 3
"""So many fields, files or packages are named."""

Short = Annotated[str, StringConstraints(max_length=1000)]


class Change(Spec):
    """What was changed against the verdict before, in words."""

    kind: Literal["claim", "runs", "input", "code", "versions", "family"]
    text: Short


class KeptNumber(Spec):
    """The effect that decides an expectation, and its interval: an absent end is unbounded."""

    expectation: Short
    effect: float | None
    low: float | None
    high: float | None
    scale: EffectScale
    digits: Annotated[int, Field(ge=0, le=100)]
    conclusion: Conclusion | None


class KeptVerdict(Spec):
    """What a claim came to at a time (UTC), and what was changed since the verdict before.

    ``numbers`` has one of each decisive expectation, in the order of the claim.
    """

    created: Short
    validity: Validity
    conclusion: Conclusion | None
    agreement: Agreement
    expected: Short
    as_expected: bool
    numbers: tuple[KeptNumber, ...]
    claim: Short
    changed: tuple[Change, ...] = ()

    @property
    def word(self) -> str:
        """The conclusion, or why there is none."""
        return str(self.conclusion or self.validity)


class KeptArm(Spec):
    """On what an arm was judged; digests of eight digits, which tell what was changed.

    ``seeds`` has one for each value that counts, by task and seed, and is empty where they are too
    many; ``values`` is of all together, ``runs`` of the keys of runs, ``file`` of what was read.
    """

    source: Short
    count: int
    values: Short
    runs: Short
    file: Short
    seeds: dict[Short, Short]


class VerdictEntry(KeptVerdict):
    """A line of the log: a verdict, and on what it was reached.

    ``fields`` are the decisive fields of the claim by their dotted paths, each as a digest.
    """

    arms: dict[Short, KeptArm]
    fields: dict[Short, Short]
    family: tuple[Short, ...]
    versions: dict[Short, Short]

    def kept(self) -> KeptVerdict:
        """What a report says of it."""
        return KeptVerdict(**{name: getattr(self, name) for name in KeptVerdict.model_fields})

    def says(self, other: VerdictEntry) -> bool:
        """Whether word, numbers (up to round-off) and evidence are those of another verdict."""
        words = ("validity", "conclusion", "agreement", "expected", "arms")
        return all(getattr(self, name) == getattr(other, name) for name in words) and (
            len(self.numbers) == len(other.numbers)
            and all(map(same_number, self.numbers, other.numbers))
        )


def same_number(one: KeptNumber, other: KeptNumber) -> bool:
    """Whether an expectation came to the same, up to round-off of the largest of its numbers."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in ("effect", "low", "high")]
    size = max((abs(number) for pair in pairs for number in pair if number is not None), default=0)
    return (one.expectation, one.conclusion) == (other.expectation, other.conclusion) and all(
        a is b if a is None or b is None else abs(a - b) <= ROUND_OFF * size for a, b in pairs
    )


def changes(before: VerdictEntry, now: VerdictEntry) -> tuple[Change, ...]:
    """What was changed between two verdicts on one claim, the likeliest cause first.

    That a claim plans more seeds is not told beside the seeds that were added.
    """
    evidence = (*_evidence(before, now, "runs"), *_evidence(before, now, "input"))
    paths = [] if before.claim == now.claim else _differing(before.fields, now.fields)
    planned = paths and all(path.startswith(_PLANNED) for path in paths)
    claim = () if planned and evidence else _claim(before, now, paths)
    said = "other claims of its family were judged with it"
    family = () if before.family == now.family else (Change(kind="family", text=said),)
    return (*claim, *evidence, *family, *_versions(before, now))


_PLANNED = ("seeds.plan", "seeds.min", "seeds.max", "seeds.values", "seeds.numbers")
"""Decisive fields that say how many seeds there are."""

_FILES = ".digests."
"""In the path of a decisive field: what follows is a file of a program."""


def _claim(before: VerdictEntry, now: VerdictEntry, paths: Sequence[str]) -> Iterator[Change]:
    """Decisive fields, and files of programs, whose digests are among them."""
    if before.claim == now.claim:
        return
    files = [path.partition(_FILES)[2] for path in paths if _FILES in path]
    others = [path for path in paths if _FILES not in path]
    if files:
        yield Change(kind="code", text=f"{_named(files)} {_was(len(set(files)))} edited")
    if others or not files:
        fields = f" ({_named(others)})" if others else ""
        yield Change(kind="claim", text=f"the claim was changed{fields}")


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [each for each in {**before, **now} if before.get(each) != now.get(each)]


def _named(names: Iterable[str]) -> str:
    """The first of several names: `alpha, design and 2 more`; each cut where it is long."""
    unique = [name[:100] for name in dict.fromkeys(names)]
    more = f" and {len(unique) - NAMED} more" if len(unique) > NAMED else ""
    return f"{', '.join(unique[:NAMED])}{more}"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _evidence(
    before: VerdictEntry, now: VerdictEntry, kind: Literal["runs", "input"]
) -> Iterator[Change]:
    """Seeds of arms that are trained, or of results that are there: added, removed, changed."""
    pairs = {
        name: (before.arms[name], arm)
        for name, arm in now.arms.items()
        if name in before.arms and (arm.source == "runs") == (kind == "runs")
    }
    moved = {name: _moved(*pair) for name, pair in pairs.items()}
    if not any(old != new for old, new in pairs.values()):
        return
    whole = [moved[name][1] == old.count for name, (old, _) in pairs.items() if old.count]
    if whole and all(whole) and any(added for added, _, _ in moved.values()):
        yield Change(kind=kind, text="all seeds are other ones")
        return
    said = list(_said(moved))
    again = "other runs gave the same values" if kind == "runs" else "a file was written again"
    yield from (Change(kind=kind, text=text) for text in said or [again])


def _moved(old: KeptArm, new: KeptArm) -> tuple[int, int, int]:
    """How many seeds of an arm were added, removed, and have other values; -1: nobody can tell."""
    if (old.count and not old.seeds) or (new.count and not new.seeds):
        more = new.count - old.count
        return max(more, 0), max(-more, 0), -1 if not more and old.values != new.values else 0
    both = old.seeds.keys() & new.seeds.keys()
    changed = sum(old.seeds[seed] != new.seeds[seed] for seed in both)
    return len(new.seeds) - len(both), len(old.seeds) - len(both), changed


def _said(moved: Mapping[str, tuple[int, int, int]]) -> Iterator[str]:
    """`two seeds were added`: to each arm, or `two seeds of moc and one of mos`."""
    for place, done in enumerate(("added", "removed", "changed")):
        counts = {name: each[place] for name, each in moved.items() if each[place]}
        if not counts:
            continue
        if -1 in counts.values():
            yield f"values of {_named(counts)} were changed"
            continue
        first, *_ = numbers = list(counts.values())
        seeds = f"{_word(first)} {'seed' if first == 1 else 'seeds'}"
        if len(counts) < len(moved) or len(set(numbers)) > 1:
            names = list(counts)
            more = [f"{_word(counts[name])} of {name}" for name in names[1:]]
            seeds = " and ".join((f"{seeds} of {names[0]}", *more[:NAMED]))
        elif done != "changed":
            yield f"{seeds} {_was(first)} {done}"
            continue
        many = (
            f"the values of {seeds} were" if done == "changed" else f"{seeds} {_was(sum(numbers))}"
        )
        yield f"{many} {done}"


def _word(count: int) -> str:
    return COUNTED[count] if count < len(COUNTED) else fmt.count(count)


def _versions(before: VerdictEntry, now: VerdictEntry) -> Iterator[Change]:
    """`numpy 2.1 is now 2.2`; repro with the commit of its checkout."""
    old, new = before.versions, now.versions
    said = [
        f"{name} {old.get(name, 'of no known version')} is now {new.get(name, 'not installed')}"
        for name in _differing(old, new)
    ]
    if said:
        yield Change(kind="versions", text=_named(said))


SHOWN = 14
"""So many verdicts of the past a report holds."""

PATIENCE_SECONDS = 10.0
"""For another process that writes the same history; then it is not kept, and a note says so."""


def since(before: Sequence[VerdictEntry], entry: VerdictEntry) -> VerdictEntry:
    """The verdict with what was changed since the last of those before it."""
    changed = changes(before[-1], entry) if before else ()
    return entry.model_copy(update={"changed": changed})


def identity(file: str, results: Path | None = None) -> str:
    """What tells a claim from others of its id: where its file lies, and results of the user's own.

    A claim that came with repro is the same wherever that is installed.
    """
    place, packaged = resolved(Path(file)), resolved(claims())
    inside = place.is_relative_to(packaged)
    parts = ["packaged", place.relative_to(packaged).as_posix()] if inside else [str(place)]
    return "\n".join([*parts, *([] if results is None else [str(resolved(results))])])


@dataclass(frozen=True, slots=True)
class VerdictLog:
    """The history of one claim at one scale in a store; ``of`` is its ``identity``."""

    store: RunStore
    claim: str
    scale: str
    of: str

    @property
    def path(self) -> Path:
        digest = hashlib.sha256(self.of.encode(errors="surrogateescape")).hexdigest()[:16]
        return self.store.root / VERDICTS / f"{self.claim}-{digest}" / f"{self.scale}.jsonl"

    def read(self) -> tuple[VerdictEntry, ...]:
        """All verdicts that can be read, oldest first; StoreError where the file cannot be."""
        return _entries(read_bytes(self.path) or b"")

    def prepare(self) -> None:
        """Make the file where there is none; StoreError where it cannot be written."""
        self.store.prepare()
        with self._opened():
            pass

    def keep(self, entry: VerdictEntry) -> None:
        """Append a verdict with what was changed, unless it says what the last one does.

        StoreError where it cannot be written.
        """
        self.store.prepare()
        with self._opened() as handle:
            self._lock(handle)
            content = read_bytes(self.path) or b""
            before = _entries(content)
            if before and entry.says(before[-1]):
                return
            line = canonical_json(since(before, entry).model_dump(mode="json")).encode("ascii")
            whole = (b"\n" if content and not content.endswith(b"\n") else b"") + line + b"\n"
            if len(content) + len(whole) > JSON_LIMIT:
                raise damaged(self.path, "is full", f"at most {JSON_LIMIT:,} bytes")
            if os.write(handle, whole) != len(whole):
                raise StoreUnreachableError(f"{self.path}: the line could not be written whole")
            os.fsync(handle)
            sync_folder(self.path.parent)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The file, made if it is missing, for writing at its end."""
        make_folder(self.path.parent.parent)
        make_folder(self.path.parent)
        handle = open_or_make(self.path, os.O_APPEND)
        try:
            yield handle
        except OSError as error:
            raise out_of_reach(self.path, error) from error
        finally:
            os.close(handle)

    def _lock(self, handle: int) -> None:
        """Hold the file until it is closed; StoreUnreachableError where another process does."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not try_lock(handle):
            if time.monotonic() > deadline:
                raise StoreUnreachableError(f"{self.path}: it cannot be locked")
            time.sleep(0.01)


def _entries(content: bytes) -> tuple[VerdictEntry, ...]:
    """The lines that are entries."""
    found = []
    for line in content.split(b"\n"):
        try:
            found.append(VerdictEntry.model_validate_json(line))
        except ValidationError:
            continue
    return tuple(found)
