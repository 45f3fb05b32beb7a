"""Reading a run store: everything is compared with its digest before anybody sees it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from repro.digest import digest
from repro.errors import StoreError
from repro.store.artefacts import (
    HISTORY,
    PROGRESS,
    RECORD,
    SPEC,
    WEIGHTS,
    Artefact,
    RunProvenance,
    RunRecord,
    Scalar,
    State,
    StoredMeasurement,
    load_arrays,
    wrong_detail,
)
from repro.store.places import check_root, list_keys, refuse_address, run_folder_of
from repro.store.sealed import (
    PROVENANCE,
    damaged,
    digest_of,
    exists,
    is_folder,
    parse_json,
    read_bytes,
    read_sealed,
    refuse_newer,
    size_of,
)
from repro.trainers.run import RunSpec
from repro.trainers.table import Measurable

if TYPE_CHECKING:
    from numpy import ndarray


MEASUREMENTS = "measurements"
R = TypeVar("R", bound=BaseModel)


class StoreReader:
    """What can be asked of a store without writing to it."""

    def __init__(self, root: Path | str) -> None:
        refuse_address(root)
        self.root = Path(root).expanduser().absolute()
        self._checked = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.root)!r})"

    def folder(self, key: str) -> Path:
        """Where a run lies, or would lie."""
        return run_folder_of(self.root, key)

    def exists(self) -> bool:
        """Whether there is a store; an error for one that this version cannot read."""
        return check_root(self.root)

    def keys(self) -> Iterator[str]:
        """The keys of all runs that were at least started, in order."""
        return list_keys(self.root)

    def state(self, key: str) -> State:
        """``missing``, ``started`` (trained in part), ``finished`` or ``diverged``."""
        record = self.committed(key)
        if record is not None:
            return record.state
        started = self._exists(key) and exists(self.folder(key) / SPEC)
        return "started" if started else "missing"

    def record(self, key: str) -> RunRecord:
        record = self.committed(key)
        if record is None:
            raise StoreError(f"{self.folder(key)}: no finished run is here\n  to do: train it")
        return record

    def spec(self, key: str) -> RunSpec:
        """The run that the key names."""
        path, document = self.folder(key) / SPEC, self._identity_of(key)
        document.pop("schema", None)
        try:
            return RunSpec.model_validate_json(json.dumps(document))
        except ValidationError as error:
            raise damaged(path, "is of another version of repro", "a run specification") from error

    def identities(self) -> Iterator[dict[str, Any]]:
        """What every committed run is; one that is damaged is passed over."""
        for key in self.keys():
            with suppress(StoreError):
                if self.committed(key) is not None:
                    yield self._identity_of(key)

    def check_spec(self, key: str) -> None:
        """See that the specification is whole; one for a trainer of others is not read as such.

        That would import it, and whoever looks into a store may not have consented.
        """
        training = self._identity_of(key).get("training")
        if not (isinstance(training, dict) and "trainer" in training):
            self.spec(key)

    def history(self, key: str) -> tuple[dict[str, Scalar], ...]:
        """One row per epoch; None stands for a number that was not finite."""
        path = self.folder(key) / HISTORY
        lines = self._artefact(path, self.record(key).artefacts.get(HISTORY)).splitlines()
        rows = [parse_json(path, line) for line in lines]
        if not all(isinstance(row, dict) for row in rows):
            raise damaged(path, "holds a line that is no JSON object", "one object an epoch")
        return tuple(rows)

    def weights(self, key: str) -> dict[str, ndarray[Any, Any]]:
        """The weights of the best epoch, by name; StoreError if the run was exported without."""
        path, record = self.folder(key) / WEIGHTS, self.record(key)
        _refuse_exported(path, record)
        return load_arrays(path, self._artefact(path, record.artefacts.get(WEIGHTS)))

    def files(self, key: str) -> dict[str, bytes]:
        """What a run left beside its weights, by the names of the files."""
        return {
            name: self._artefact(self.folder(key) / name, artefact)
            for name, artefact in self.record(key).files.items()
        }

    def measurement(self, key: str, measurement: Measurable) -> StoredMeasurement | None:
        """A measurement of a committed run; None if it was not taken."""
        return self._measurement(key, measurement, self.committed(key))

    def _measurement(
        self, key: str, measurement: Measurable, record: RunRecord | None
    ) -> StoredMeasurement | None:
        path = self._measurement_path(key, measurement)
        if record is None or not is_folder(path.parent):
            return None
        advice = f"remove {path} (it is then measured again)"
        document = read_sealed(path, advice)
        if document is None:
            return None
        stored = _validate(StoredMeasurement, path, document)
        if stored.run != key or stored.measurement.key != measurement.key:
            raise damaged(path, "is about another run or measurement", f"{measurement!r} of {key}")
        value, details = stored.value, stored.details
        if value is not None and (wrong := wrong_detail(measurement, value, details)):
            raise damaged(path, wrong, f"the details of a {measurement.kind}", advice)
        if record.state == "diverged" or stored.weights != record.measured_of():
            raise damaged(path, "was taken from other weights", "those of record.json")
        return stored

    def is_measured(self, key: str) -> bool:
        """Whether any measurement of a run was taken."""
        folder = self.folder(key) / MEASUREMENTS
        return is_folder(folder) and any(folder.glob("*.json"))

    def arrays(self, key: str, measurement: Measurable) -> dict[str, ndarray[Any, Any]]:
        """The arrays of a measurement, by name; empty if it left none."""
        stored = self.measurement(key, measurement)
        if stored is None:
            raise StoreError(f"{self.folder(key)}: '{measurement.label}' was not measured")
        if stored.arrays is None:
            return {}
        path = self._arrays_path(key, measurement)
        _refuse_exported(path, self.record(key))
        return load_arrays(path, self._artefact(path, stored.arrays))

    def provenance(self, key: str) -> dict[str, JsonValue]:
        """When, on what and how long it ran; empty if nothing is known.

        It is no evidence: a file that is damaged or of another shape is as good as none.
        """
        if not self._exists(key):
            return {}
        with suppress(StoreError, ValidationError):
            document = read_sealed(self.folder(key) / PROVENANCE) or {}
            RunProvenance.model_validate_json(json.dumps(document))
            return document
        return {}

    def progress(self, key: str) -> dict[str, JsonValue] | None:
        """What the process that trains the run last said; never an error."""
        with suppress(StoreError):
            if self._exists(key):
                path = self.folder(key) / PROGRESS
                data = read_bytes(path, limit=2**16)
                document = None if data is None else parse_json(path, data)
                return document if isinstance(document, dict) else None
        return None

    def see(self, key: str, measurements: Iterable[StoredMeasurement] = ()) -> None:
        """See that a committed run is whole, as far as these measurements of it need it.

        The specification is compared with the key; weights and arrays are looked at for their
        sizes, and not read: that is ``check``. StoreError for what is damaged or missing.
        """
        self._see(key, self.record(key), measurements)

    def whole(
        self, key: str, measurements: Iterable[Measurable]
    ) -> tuple[RunRecord | None, list[StoredMeasurement | None]]:
        """The record of a run, if it is committed, with these measurements; as ``see`` found."""
        record = self.committed(key)
        stored = [self._measurement(key, each, record) for each in measurements]
        if record is not None:
            self._see(key, record, [each for each in stored if each is not None])
        return record, stored

    def _see(self, key: str, record: RunRecord, measurements: Iterable[StoredMeasurement]) -> None:
        self._identity_of(key)
        for path, artefact in self._large(key, record, measurements):
            size = size_of(path)
            if size is None:
                raise damaged(path, "is missing", f"a file of {artefact.bytes:,} bytes")
            if size != artefact.bytes:
                raise damaged(path, f"has {size:,} bytes", f"{artefact.bytes:,}")

    def check(self, key: str) -> None:
        """Read all that a committed run left, its provenance too; StoreError if any is bad."""
        path = self.folder(key) / PROVENANCE
        _validate(RunProvenance, path, read_sealed(path) or {})
        stored = self.check_numbers(key)
        for path, artefact in self._large(key, self.record(key), stored):
            found = digest_of(path)
            if found != artefact.sha256:
                mistake = "is missing" if found is None else f"has the digest {found}"
                raise damaged(path, mistake, artefact.sha256)

    def check_numbers(self, key: str) -> tuple[StoredMeasurement, ...]:
        """As ``check``, but for weights and spectra; gives all measurements of the run."""
        self.check_spec(key)
        self.history(key)
        return tuple(self._every_measurement(key))

    def _every_measurement(self, key: str) -> Iterator[StoredMeasurement]:
        folder = self.folder(key) / MEASUREMENTS
        for path in sorted(folder.glob("*.json")) if is_folder(folder) else ():
            stored = _validate(StoredMeasurement, path, read_sealed(path) or {})
            if path != self._measurement_path(key, stored.measurement):
                raise damaged(path, "has another name than its measurement", "its own name")
            self.measurement(key, stored.measurement)
            yield stored

    def _large(
        self, key: str, record: RunRecord, measurements: Iterable[StoredMeasurement]
    ) -> Iterator[tuple[Path, Artefact]]:
        """The files of weights, and of the arrays of measurements, that have to be there."""
        if record.state == "finished" and not (record.has_weights or record.files):
            path = self.folder(key) / WEIGHTS
            raise damaged(path, "is missing from the record", "a file that the record names")
        for name, artefact in record.files.items():
            yield self.folder(key) / name, artefact
        if record.has_weights and not record.without_weights:
            yield self.folder(key) / WEIGHTS, record.artefacts[WEIGHTS]
        for each in measurements:
            if each.arrays is not None and not record.without_weights:
                yield self._arrays_path(key, each.measurement), each.arrays

    def _identity_of(self, key: str) -> dict[str, Any]:
        """The specification of a run as it is written, compared with its key."""
        path = self.folder(key) / SPEC
        data = read_bytes(path)
        document = None if data is None else parse_json(path, data)
        if not isinstance(document, dict) or digest(document) != key:
            mistake = "is missing" if data is None else "does not hash to the key of its run"
            raise damaged(path, mistake, f"digest {key}")
        return document

    def committed(self, key: str) -> RunRecord | None:
        """The record of a run; None while it is not committed."""
        if not self._exists(key):
            return None
        path = self.folder(key) / RECORD
        document = read_sealed(path)
        if document is None:
            return None
        record = _validate(RunRecord, path, document)
        if record.key != key:
            raise damaged(path, f"is the record of run {record.key}", f"that of {key}")
        return record

    def _measurement_path(self, key: str, measurement: Measurable) -> Path:
        return self.folder(key) / MEASUREMENTS / f"{measurement.key}.json"

    def _arrays_path(self, key: str, measurement: Measurable) -> Path:
        return self._measurement_path(key, measurement).with_suffix(".safetensors")

    def _exists(self, key: str) -> bool:
        folder = self.folder(key)
        self._checked = self._checked or check_root(self.root)
        return self._checked and is_folder(folder.parent) and is_folder(folder)

    @staticmethod
    def _artefact(path: Path, artefact: Artefact | None) -> bytes:
        if artefact is None:
            raise damaged(path, "is missing from the record", "a file that the record names")
        data = read_bytes(path, artefact.bytes)
        if data is None:
            raise damaged(path, "is missing", artefact.sha256)
        found = hashlib.sha256(data).hexdigest()
        if found != artefact.sha256:
            mistake = f"has {len(data):,} bytes and the digest {found}"
            raise damaged(path, mistake, artefact.sha256)
        return data


def _refuse_exported(path: Path, record: RunRecord) -> None:
    """StoreError for a file that its run was exported without."""
    if record.without_weights and not exists(path):
        raise StoreError(
            f"{path}: the run was exported without its weights and spectra\n"
            "  expected: the store that it was trained in\n"
            "  to do: give that store with --store, or train the run again in another one"
        )


def _validate(kind: type[R], path: Path, document: dict[str, Any]) -> R:
    refuse_newer(path, document.get("schema"))
    try:
        return kind.model_validate_json(json.dumps(document))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise damaged(path, f"{place}: {first['msg']}", f"a {kind.__name__}") from error
