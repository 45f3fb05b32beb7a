"""An audit file in a folder of its own, and what its audit finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.audit.audit import audit_file
from repro.audit.comparison import Audited

HEAD = """\
schema: 1
audit: some
title: Numbers of a test
source: {paper: nobody2020, citation: "Nobody (2020), Nothing", locator: "Table 1"}
"""


@pytest.fixture
def audited(tmp_path: Path):
    """Audits a text, with CSV files beside it."""

    def _audited(text: str, **tables: str) -> dict[str, Audited]:
        for name, table in tables.items():
            (tmp_path / f"{name}.csv").write_text(table, encoding="utf-8")
        file = tmp_path / "some.yaml"
        file.write_text(HEAD + text, encoding="utf-8")
        return {row.id: row for row in audit_file(file).rows}

    return _audited
