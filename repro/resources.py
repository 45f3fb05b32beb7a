"""Where the files beside the code are: templates, claims, and the papers' configurations.

In a checkout they lie beside the package, where people edit them; in an installed wheel they
lie inside it, below `_data`. Nothing else in `repro` needs to know which of the two it is.
"""

from __future__ import annotations

from pathlib import Path

from repro.errors import DataError

PACKAGE = Path(__file__).resolve().parent


def folder(name: str, package: Path = PACKAGE) -> Path:
    """The folder ``name`` that came with this installation; DataError when there is none."""
    inside, beside = package / "_data" / name, package.parent / name
    if inside.is_dir():
        return inside
    if (package.parent / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    raise DataError(
        f"the folder {name!r} did not come with this installation of repro\n"
        f"  looked for: {inside} and {beside}\n"
        "  to do: install repro-verdict again"
    )


def templates() -> Path:
    """The report templates."""
    return folder("templates")


def template(name: str) -> str:
    """The text of one report template."""
    return (templates() / name).read_text(encoding="utf-8")


def claims() -> Path:
    """The claim files that come with repro, and `configurations/` among them."""
    return folder("claims")
