from __future__ import annotations

from pathlib import Path

import pytest

from repro import files as resources
from repro.errors import DataError


def test_checkout() -> None:
    """In a checkout the templates are those beside the package."""
    assert resources.templates().parent == resources.PACKAGE.parent
    assert "<!doctype html>" in resources.template("report.html.j2")
    assert resources.claims().name == "claims"


def test_wheel(tmp_path: Path) -> None:
    """In an installed wheel they are inside the package, whatever lies beside it."""
    package = tmp_path / "repro"
    (package / "_data" / "templates").mkdir(parents=True)
    (tmp_path / "templates").mkdir()
    assert resources.folder("templates", package) == package / "_data" / "templates"


def test_strangers_are_not_taken(tmp_path: Path) -> None:
    """A folder of that name among installed packages is not ours."""
    (tmp_path / "templates").mkdir()
    with pytest.raises(DataError, match="install repro-verdict again"):
        resources.folder("templates", tmp_path / "repro")
