"""Runs from one store to another, file by file, checked on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from repro.errors import StoreError
from repro.specs.measurement import Measurable, measurement_key
from repro.store.files import exists, make_folder, read_bytes, seal, write_atomically
from repro.store.places import make_run_folder
from repro.store.reading import (
    HISTORY,
    MEASUREMENTS,
    PROVENANCE,
    RECORD,
    SPEC,
    WEIGHTS,
    StoreReader,
)
from repro.store.records import RunRecord, StoredMeasurement
from repro.store.runs import RunStore

LARGEST = 2**40
"""Bytes of the largest file that is copied."""


def copy_run(
    source: StoreReader,
    key: str,
    target: RunStore,
    *,
    measurements: Collection[Measurable] | None = None,
    weights: bool = True,
) -> bool:
    """Copy a committed run with these measurements of it, or all; False if it is there.

    A run that is there is given the measurements that it lacks. Without ``weights`` neither they
    nor spectra are copied, and the record says so. StoreError for a run that is damaged, and
    where a run of that key with other weights is in the target.
    """
    every = source.check_numbers(key)
    stored = [one for one in every if measurements is None or one.measurement in measurements]
    record, there = source.record(key), _record(target, key)
    if there is not None and there.artefacts != record.artefacts:
        raise StoreError(
            f"{target.folder(key)}: holds a run of the same key that was trained apart\n"
            "  expected: the same run, or none\n"
            "  to do: export to another folder"
        )
    bare = not weights or record.without_weights or (there is not None and there.without_weights)
    if not bare:
        source.check(key)
    target.prepare()
    folder = make_run_folder(target.root, key)
    for name in _names(record, stored, bare=bare):
        _copy(source.folder(key) / name, folder / name)
    if there is None:
        document = record.model_copy(update={"without_weights": bare}).document()
        write_atomically(folder / RECORD, seal(document))
    return there is None


def _record(store: StoreReader, key: str) -> RunRecord | None:
    return store.record(key) if store.state(key) in ("finished", "diverged") else None


def _names(record: RunRecord, stored: list[StoredMeasurement], *, bare: bool) -> Iterator[str]:
    """The files to copy, each after those that it needs; the record comes after all of them."""
    yield from (SPEC, PROVENANCE, HISTORY)
    if not bare and WEIGHTS in record.artefacts:
        yield WEIGHTS
    for each in stored:
        name = f"{MEASUREMENTS}/{measurement_key(each.measurement)}"
        if not bare and each.arrays is not None:
            yield f"{name}.safetensors"
        yield f"{name}.json"


def _copy(path: Path, to: Path) -> None:
    """A file, unless it is there already; a provenance may be missing."""
    data = None if exists(to) else read_bytes(path, LARGEST)
    if data is not None:
        make_folder(to.parent)
        write_atomically(to, data)
