"""The run store: a run's key names a folder, and a sealed record in it says that it is whole.

<store>/<key[:2]>/<key>/
        spec.json                    the resolved run, which hashes to the key
        record.json                  written last: how the run ended, digests of what it left
        history.jsonl                one line per epoch
        model.safetensors            the weights of the best epoch
        measurements/<name>.json     one number each, sealed, with .safetensors for its arrays
        provenance.json              when, on what, how long: no evidence
        measuring-<digest>/<name>/   what a measurement of these weights goes on from after a stop
        checkpoint.*, progress.json, error.txt, .lock      only of use while it is trained

What is read is checked; what is damaged raises StoreError and is never trained over silently.
A committed run is never overwritten. Writers hold ``lock``; readers need nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import JsonValue

from repro.errors import StoreError
from repro.files import remove
from repro.store.artefacts import (
    ERROR,
    HISTORY,
    PROGRESS,
    RECORD,
    SPEC,
    WEIGHTS,
    RunRecord,
    Scalar,
    StoredMeasurement,
    artefact,
    dump_arrays,
    finite,
)
from repro.store.places import LOCK, OUTPUTS, confirm_root, hold, make_run_folder, prepare_root
from repro.store.reading import MEASUREMENTS, StoreReader
from repro.store.sealed import (
    PROVENANCE,
    exists,
    is_folder,
    make_folder,
    reaching,
    read_bytes,
    seal,
    write_atomically,
)
from repro.trainers.run import ENDED, Keyed
from repro.trainers.table import Measurable

if TYPE_CHECKING:
    from repro.store.artefacts import Arrays


MEASURING = "measuring"


class RunStore(StoreReader):
    """A folder of runs. Opening one touches nothing; the folder appears with the first write.

    ``identity`` is that of the store that is meant: a writer that finds another, or none, raises
    StoreUnreachableError.
    """

    def __init__(self, root: Path | str, identity: str | None = None) -> None:
        super().__init__(root)
        self._identity = identity

    def prepare(self) -> str:
        """Make the store if there is none, once; then only see that it is still the same one.

        Gives its identity. StoreUnreachableError if it vanished or was replaced meanwhile.
        """
        if self._identity is None:
            self._identity = prepare_root(self.root)
        else:
            confirm_root(self.root, self._identity)
        return self._identity

    @classmethod
    def default(cls) -> Self:
        """The store at $REPRO_STORE, else in the user's data directory."""
        place = os.environ.get("REPRO_STORE")
        if place:
            return cls(place)
        from platformdirs import user_data_dir  # noqa: PLC0415 - rarely needed

        return cls(Path(user_data_dir("repro")) / "store")

    @contextmanager
    def lock(self, key: str) -> Iterator[bool]:
        """Hold the run: True inside, or False at once if another process holds it."""
        with hold(self.root, key, self.prepare()) as held:
            yield held

    def working_folder(self, run: Keyed) -> Path:
        """The folder of a run that is to be trained, with its specification in it."""
        folder = self._run_folder(run.key)
        if read_bytes(folder / SPEC) is None:
            text = json.dumps(run.identity(), indent=1, sort_keys=True) + "\n"
            write_atomically(folder / SPEC, text.encode("ascii"))
        self.check_spec(run.key)
        return folder

    def put_run(
        self,
        run: Keyed,
        *,
        history: Sequence[Mapping[str, Scalar]],
        weights: Arrays | None,
        files: Mapping[str, bytes] | None = None,
        best_epoch: int | None = None,
        diverged: int | None = None,
    ) -> bool:
        """Commit a trained run, the record last; False, and nothing is written, if it is there.

        One that has not diverged leaves weights, ``files`` of any other kind, or both.
        """
        if self.committed(run.key) is not None:
            return False
        folder = self.working_folder(run)
        lines = [json.dumps(finite(row), sort_keys=True, allow_nan=False) for row in history]
        left = {HISTORY: "".join(f"{line}\n" for line in lines).encode("ascii")}
        left |= files or {}
        if weights is not None:
            left[WEIGHTS] = dump_arrays(weights)
        if diverged is None and len(left) == 1:
            raise StoreError(f"{folder}: the run left nothing to measure, and did not diverge")
        record = RunRecord(
            key=run.key,
            state="finished" if diverged is None else "diverged",
            best_epoch=best_epoch,
            epochs=len(lines),
            diverged=diverged,
            artefacts={name: artefact(data) for name, data in left.items()},
        )
        for name, data in left.items():
            write_atomically(folder / name, data)
        write_atomically(folder / RECORD, seal(record.document()))
        return True

    def put_measurement(
        self,
        key: str,
        measurement: Measurable,
        *,
        value: float | None,
        details: Mapping[str, JsonValue] | None = None,
        arrays: Arrays | None = None,
    ) -> bool:
        """Store a measurement of a finished run; False, and nothing is written, if it is there.

        None is the value of one in which the run diverged.
        """
        record = self.record(key)
        if record.state == "diverged":
            raise StoreError(f"{self.folder(key)}: the run diverged; it has nothing to measure")
        if self.measurement(key, measurement) is not None:
            return False
        data = dump_arrays(arrays) if arrays else None
        document: dict[str, JsonValue] = {
            "schema": 1,
            "run": key,
            "weights": record.measured_of(),
            "measurement": measurement.model_dump(mode="json"),
            "value": value,
            "details": dict(details or {}),
            "arrays": None if data is None else artefact(data).model_dump(),
        }
        path = self._measurement_path(key, measurement)
        content = _sealed_measurement(path, document, measurement.label)
        make_folder(path.parent)
        if data is not None:
            write_atomically(path.with_suffix(".safetensors"), data)
        write_atomically(path, content)
        _remove(_done_with(self.measuring_folder(key)))
        return True

    def measuring_folder(self, key: str) -> Path:
        """Where measurements of a committed run keep what they go on from; of these weights alone.

        A folder in it that has the name of a measurement is removed once that is stored.
        """
        return self.folder(key) / f"{MEASURING}-{self.record(key).measured_of()[:16]}"

    def place_to_measure(self, key: str) -> Path:
        """The ``measuring_folder``, without what is no plain folder of plain files there."""
        place = self.measuring_folder(key)
        if any(path.is_symlink() for path in (place, *place.rglob("*"))):
            _remove([place])
        return place

    def put_provenance(
        self, key: str, document: Mapping[str, JsonValue], *, durable: bool = True
    ) -> None:
        path = self._run_folder(key) / PROVENANCE
        write_atomically(path, seal(dict(document)), durable=durable)

    def put_progress(self, key: str, document: Mapping[str, JsonValue]) -> None:
        """Say how far a run is; not worth a flush to the disk."""
        data = json.dumps(document, sort_keys=True).encode("ascii")
        write_atomically(self._run_folder(key) / PROGRESS, data, durable=False)

    def put_error(self, key: str, text: str) -> None:
        data = text.encode("utf-8", "replace")
        write_atomically(self._run_folder(key) / ERROR, data, durable=False)

    def has_failed(self, key: str) -> bool:
        """Whether a run that is not finished failed when it was tried last."""
        return exists(self.folder(key) / ERROR)

    def _run_folder(self, key: str) -> Path:
        """The folder of a run that is to be written to."""
        return make_run_folder(self.root, key, self.prepare())

    def drop_checkpoint(self, key: str) -> None:
        """Remove the checkpoint of a committed run: hundreds of megabytes that nobody reads."""
        if self.committed(key) is not None:
            _remove(list(self.folder(key).glob("checkpoint*")))

    def sweep(self, key: str) -> None:
        """Remove writes of earlier processes that were cut off; call it only under ``lock``."""
        if self._exists(key):
            _remove(_cut_off(self.folder(key)))

    def tidy(self, key: str) -> None:
        """Remove what only training and measuring needed: checkpoints, progress, cut-off writes.

        What a measurement that is not stored goes on from stays.
        """
        if self.committed(key) is not None:
            _remove(self._rubbish(key))

    def _rubbish(self, key: str) -> list[Path]:
        """The files and folders of a committed run that are of no more use."""
        folder, measuring = self.folder(key), self.measuring_folder(key)
        files = [path for path in (folder / PROGRESS, folder / ERROR) if exists(path)]
        others = [path for path in folder.glob(f"{MEASURING}-*") if path != measuring]
        return [
            *_cut_off(folder), *folder.glob("checkpoint*"), *files, *others, *_done_with(measuring)
        ]  # fmt: skip

    def tidy_if_free(self, key: str) -> None:
        """Tidy a run that a killed process has left untidy, unless another process holds it."""
        with suppress(StoreError):  # also of a store that can only be read
            if self.committed(key) is None or not self._rubbish(key):
                return
            with self.lock(key) as held:
                if held:
                    self.tidy(key)

    def clear_if_free(self, key: str) -> None:
        """Remove what a killed process has left of a run that starts over, unless another has it.

        A disk that the run has filled is then free for the others.
        """
        with suppress(StoreError):
            folder = self.folder(key)
            if self.committed(key) is not None or not _begun(folder):
                return
            with self.lock(key) as held:
                if held and self.committed(key) is None:
                    _remove(_begun(folder))


def _sealed_measurement(path: Path, document: dict[str, JsonValue], label: str) -> bytes:
    """What the file of a measurement holds; StoreError for what no store can keep."""
    try:
        content = seal(document)
        StoredMeasurement.model_validate_json(json.dumps(document))
    except (ValueError, TypeError) as error:
        raise StoreError(f"{path}: '{label}' cannot be stored: {error}") from error
    return content


def _begun(folder: Path) -> list[Path]:
    """The files and folders of a run that was begun and did not end."""
    return [*_cut_off(folder), *folder.glob("checkpoint*")]


def _done_with(measuring: Path) -> list[Path]:
    """What measurements that are stored kept in the folder ``measuring``; all of it if no other."""
    if measuring.is_symlink():
        return [measuring]
    if not measuring.is_dir():
        return []
    stored = {path.stem for path in (measuring.parent / MEASUREMENTS).glob("*.json")}
    kept = list(measuring.iterdir())
    done = [path for path in kept if path.name in stored]
    return done if len(done) < len(kept) else [measuring]


def _cut_off(folder: Path) -> list[Path]:
    """What a write leaves in the folder of a run when its process is killed."""
    found = [path for name in (".*.tmp", ".checkpoint.*") for path in folder.glob(name)]
    if is_folder(folder / MEASUREMENTS):
        found += (folder / MEASUREMENTS).glob(".*.tmp")
    return found


def _remove(paths: Iterable[Path]) -> None:
    """Remove files and folders as far as the system lets us: what is left harms nobody."""
    for path in paths:
        with suppress(OSError):
            remove(path)


LARGEST = 2**40
"""Bytes of the largest file that is copied."""


def busy(store: StoreReader, key: str) -> StoreError:
    """Why nothing is written to a run that another process holds."""
    return StoreError(
        f"{store.folder(key)}: the run is being trained by another process\n"
        "  to do: wait until it has ended, or end it"
    )


def copy_run(
    source: StoreReader,
    key: str,
    target: RunStore,
    *,
    measurements: Collection[Measurable] | None = None,
    weights: bool = True,
) -> bool:
    """Copy a committed run with these measurements of it, or all; False if it is there.

    A run that is there is given the measurements that it lacks; what is left there of one that is
    not committed is replaced. Without ``weights`` neither they nor spectra are copied, and the
    record says so. StoreError for a run that is damaged, where a run of that key with other weights
    is in the target, and where another process holds it there.
    """
    every = source.check_numbers(key)
    stored = [each for each in every if measurements is None or each.measurement in measurements]
    with target.lock(key) as held:
        if not held:
            raise busy(target, key)
        copied = _copy_run(source, key, target, stored, weights=weights)
        _remove([target.folder(key) / LOCK])  # no part of what was copied
        return copied


def _copy_run(
    source: StoreReader,
    key: str,
    target: RunStore,
    stored: list[StoredMeasurement],
    *,
    weights: bool,
) -> bool:
    record, there = source.record(key), target.committed(key)
    if there is not None and there.artefacts != record.artefacts:
        raise StoreError(
            f"{target.folder(key)}: holds a run of the same key that was trained apart\n"
            "  expected: the same run, or none\n"
            "  to do: export to another folder"
        )
    bare = not weights or record.without_weights or (there is not None and there.without_weights)
    if not bare:
        source.check(key)
    folder = make_run_folder(target.root, key, target.prepare())
    if there is None:
        _remove([folder / WEIGHTS, folder / PROVENANCE])  # of a process that was killed
    for name in _names(record, stored, bare=bare):
        to, kept = folder / name, there is not None
        data = None if kept and exists(to) else read_bytes(source.folder(key) / name, LARGEST)
        if data is not None:
            make_folder(to.parent)
            write_atomically(to, data)
    if there is None:
        document = record.model_copy(update={"without_weights": bare}).document()
        write_atomically(folder / RECORD, seal(document))
    return there is None


def _names(record: RunRecord, stored: list[StoredMeasurement], *, bare: bool) -> Iterator[str]:
    """The files to copy, each after those that it needs; the record comes after all of them."""
    yield from (SPEC, PROVENANCE)
    yield from (name for name in record.artefacts if name != WEIGHTS or not bare)
    for each in stored:
        name = f"{MEASUREMENTS}/{each.measurement.key}"
        if not bare and each.arrays is not None:
            yield f"{name}.safetensors"
        yield f"{name}.json"


class OutputStore(RunStore):
    """What programs left, in a store of runs."""

    def __init__(self, runs: RunStore) -> None:
        super().__init__(runs.root / OUTPUTS)
        self._runs = runs

    def prepare(self) -> str:
        """As in RunStore; a store of runs that has vanished is not made again here."""
        self._runs.prepare()
        return super().prepare()

    def check_spec(self, key: str) -> None:
        """See that the identity is whole."""
        self._identity_of(key)

    def clear_if_free(self, key: str) -> None:
        """As in RunStore, unless a program has ended there and is only to be recorded."""
        with suppress(StoreError):
            if not exists(self.folder(key) / ENDED):
                super().clear_if_free(key)

    def put(self, program: Keyed, files: Mapping[str, bytes]) -> None:
        """Record what a program left, in place of a record that lacks something."""
        self.forget(program.key)
        self.put_run(program, history=(), weights=None, files=files)
        self.drop_checkpoint(program.key)

    def forget(self, key: str) -> None:
        """Remove what is recorded under a key; call it only under ``lock``."""
        if self.committed(key) is None:
            return
        folder = self.folder(key)
        with reaching(folder):
            for name in (RECORD, *self.record(key).artefacts):
                remove(folder / name)

    def take_over(self, earlier: Path, program: Keyed) -> Path:
        """The working folder of a program, with the checkpoints of an ``earlier`` one, if any."""
        folder = self.working_folder(program)
        with reaching(folder):
            for path in earlier.glob("checkpoint*"):
                if not exists(folder / path.name):
                    path.rename(folder / path.name)
        return folder
