"""Importers: the table of the readers of other people's results."""

from __future__ import annotations

from repro.plugins import Table
from repro.results.importer import Importer

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
