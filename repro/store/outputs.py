"""What finished programs left: records of their own, beside the runs that are read from them.

They are a store below the store, `<store>/outputs`, with the same sealed records and locks. A key
there is that of what is run, with which seed, and of nothing that is only read of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from repro.errors import StoreError
from repro.files import remove
from repro.store.artefacts import RECORD
from repro.store.places import OUTPUTS
from repro.store.run_store import RunStore
from repro.store.sealed import exists, reaching
from repro.trainers.run import ENDED, Keyed


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
