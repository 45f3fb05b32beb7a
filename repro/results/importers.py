"""Readers of other people's results: the table, and what an `import` may declare."""

from __future__ import annotations

from typing import Any

from repro.plugins import Table, class_of_others
from repro.results.importer import CustomImporter, Importer, ThirdPartyImporter
from repro.schema.base import open_union

IMPORTERS: Table[type[Importer]] = Table(
    "repro.importers",
    {
        "files": "repro.results.result_files:Files",
        "mlflow": "repro.results.mlflow:Mlflow",
        "tensorboard": "repro.results.tensorboard:TensorBoard",
        "wandb": "repro.results.wandb:Wandb",
        "trackio": "repro.results.trackio:Trackio",
        "inspect": "repro.results.inspect_logs:Inspect",
        "lm_eval": "repro.results.lm_eval:LmEval",
    },
)
"""A new reader of ours is one line here, and its file."""

AnyImporter: Any = open_union(
    list(map(IMPORTERS.get, IMPORTERS.names())),
    ThirdPartyImporter,
    CustomImporter,
    lambda name: ":" in name or IMPORTERS.has(name),
    field="from_",
)


def custom_importer(name: str) -> tuple[str, type[CustomImporter]]:
    """Where a reader that is not built in is, and its keys; DataError for what is no reader."""
    refused = ("reader of results", "a class below repro.extend.Importer", "add-a-reader")
    return class_of_others(IMPORTERS, name, CustomImporter, refused)


def importer_named(name: str) -> type[Importer]:
    """The reader that an `import` calls so; DataError for what is no reader."""
    return IMPORTERS.get(name) if name in IMPORTERS.names() else custom_importer(name)[1]
