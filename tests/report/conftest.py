"""Every document rendered once for all tests of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.judging.document import Document
from repro.report.write import write_report
from tests.report.cases import all_documents


@pytest.fixture(scope="session")
def documents() -> dict[str, Document]:
    """Every document by name."""
    return all_documents()


@pytest.fixture(scope="session")
def reports(
    documents: dict[str, Document], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The folder of every report by the document's name."""
    root = tmp_path_factory.mktemp("reports")
    folders = {name: root / name / document.scale.name for name, document in documents.items()}
    for name, document in documents.items():
        write_report(document, folders[name])
    return folders
