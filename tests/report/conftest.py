"""Every document rendered once for all tests of reports."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from repro.judging.document import Document
from repro.report.write import write_report
from tests.report.cases import all_documents


@pytest.fixture(scope="session")
def documents() -> dict[str, Document]:
    """Every document by name."""
    return all_documents()


class Rendered(dict[str, Path]):
    """The folder of every report, which is written when a test, on whatever core, first asks."""

    def __init__(self, documents: dict[str, Document], root: Path) -> None:
        super().__init__()
        self.documents = documents
        self.root = root

    def __missing__(self, name: str) -> Path:
        document = self.documents[name]
        folder = self.root / name / document.scale.name
        with (self.root / f"{name}.written").open("a") as mark:
            fcntl.flock(mark, fcntl.LOCK_EX)
            if mark.tell() == 0:
                write_report(document, folder)
                mark.write("whole")
        self[name] = folder
        return folder


@pytest.fixture(scope="session")
def reports(
    documents: dict[str, Document], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The folder of every report by the document's name; nothing may be written there."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reports"
    root.mkdir(exist_ok=True)
    return Rendered(documents, root)
