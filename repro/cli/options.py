"""Options that several commands take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from repro.store import RunStore


class ScaleChoice(StrEnum):
    """How large a claim is run."""

    quick = "quick"
    bench = "bench"
    paper = "paper"


class DeviceChoice(StrEnum):
    """Where models are trained."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


class EngineChoice(StrEnum):
    """How replicates are trained."""

    auto = "auto"
    processes = "processes"
    batched = "batched"
    serial = "serial"


Claims = Annotated[
    list[Path], typer.Argument(help="Claim files, or folders of them.", show_default=False)
]
Scale = Annotated[
    ScaleChoice | None,
    typer.Option(help="How large to run the claims; default the smallest scale of each, quick."),
]
Device = Annotated[DeviceChoice, typer.Option(help="Where to train; auto takes a GPU if any.")]
Engine = Annotated[
    EngineChoice,
    typer.Option(
        help="How replicates are trained: each alone in one of several processes, several as one "
        "model (batched), one after another (serial); auto is processes on a CPU, batched on a GPU."
    ),
]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Import and run the code that configurations name, `use: module:object`; it has "
        "your rights.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, max=1024, help="Processes; default one a core, fewer where memory is short."
    ),
]
Store = Annotated[
    Path | None, typer.Option(help="Run store; default $REPRO_STORE, else your data folder.")
]
Data = Annotated[Path | None, typer.Option(envvar="REPRO_DATA", help="Folder of the corpora.")]


def store_place(store: Path | None) -> Path:
    """Where the store is: as named, else the default place."""
    from repro.store import RunStore

    return store if store is not None else RunStore.default().root


def open_store(store: Path | None) -> RunStore:
    """The store that is named, else the default one."""
    from repro.store import RunStore

    return RunStore(store) if store is not None else RunStore.default()
