"""Runs by key: records, histories, weights and measurements in folders of plain files."""

from repro.store.records import Artefact, RunRecord, StoredMeasurement
from repro.store.runs import RunStore

__all__ = ["Artefact", "RunRecord", "RunStore", "StoredMeasurement"]
