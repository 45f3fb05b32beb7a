"""An index of the runs of a store that are whole, so that a plan need not read them all again.

It is made from the folders of runs, and lies in the user's cache (`repro.kept`). A run in it is
believed for as long as nothing in its folder was touched: names, inodes, sizes and the times of
content and of status of all files are as when it was read, links included. Any other is read.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

from repro import kept
from repro.errors import StoreError
from repro.store.reading import StoreReader

KIND = "runs"

SETTLED_NS = 5 * 10**9
"""A file that was touched since is not believed: its next change may show the same time."""

MOST = 200_000
"""The index of a store has no more runs than this."""


class RunIndex:
    """The runs of one store that are whole, with the keys of measurements that are, too."""

    def __init__(self, store: StoreReader) -> None:
        self._store, self._place = store, store.root
        self._runs = kept.read(KIND, store.root)
        self._shards: dict[str, bool] = {}
        self._there = False
        self._changed = False

    def seen(self, key: str) -> str:
        """What the folder of a run looks like now; empty if it cannot be believed later."""
        with suppress(OSError, StoreError):  # reading it says what is wrong
            self._there = self._there or self._store.exists()
            return self._seen(key) if self._there else ""
        return ""

    def is_whole(self, key: str, seen: str, measurements: Iterable[str]) -> bool:
        """Whether a run that looks so was found whole with these measurements."""
        before, *known = self._runs.get(key, [""])
        return before == seen != "" and {*measurements} <= {*known}

    def put(self, key: str, seen: str, measurements: Iterable[str]) -> None:
        """A run that looked so before it was read, and is whole with these measurements."""
        if seen:
            before, *known = self._runs.get(key, [""])
            both = (*(known if before == seen else ()), *measurements)
            self._runs[key] = [seen, *dict.fromkeys(both)]
            self._changed = True

    def write(self) -> None:
        """Keep what was found, for the next plan; nothing where nothing is new."""
        if self._changed:
            kept.write(KIND, self._place, dict([*self._runs.items()][-MOST:]))

    def _seen(self, key: str) -> str:
        shard = f"{self._place}/{key[:2]}"
        folder = f"{shard}/{key}"
        if shard not in self._shards:
            self._shards[shard] = stat.S_ISDIR(os.lstat(shard).st_mode)
        status = os.lstat(folder)
        if not (self._shards[shard] and stat.S_ISDIR(status.st_mode)):
            return ""
        found = [(folder, status), *_below(folder)]
        newest = max(max(each.st_mtime_ns, each.st_ctime_ns) for _, each in found)
        if newest > time.time_ns() - SETTLED_NS:
            return ""
        facts = [
            (name, s.st_mode, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
            for name, s in sorted(found)
        ]
        return sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """All that is in a folder and below, with its status; no link is followed."""
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.path, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from _below(entry.path)


@contextmanager
def run_index(store: StoreReader) -> Iterator[RunIndex]:
    """The index of a store, written when all is done."""
    index = RunIndex(store)
    yield index
    index.write()
