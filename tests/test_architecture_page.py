"""The page on architecture names what there is: its wings, its files, its layers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")


def layers() -> list[str]:
    """The modules of the contract on layers, from top to bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (own,) = (one for one in contracts if one["id"] == "layers")
    return [name for line in own["layers"] for name in line.split(" | ")]


def wings() -> list[str]:
    """The wings of the page's table, in its order."""
    tree = PAGE[PAGE.index("## The tree") : PAGE.index("## Layers")]
    cells = re.findall(r"^\| (`[a-z][^|/]*`) \|", tree, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def test_every_wing_has_a_row() -> None:
    """The table has every module at the top of `repro`, and no other."""
    top = {path.stem for path in (ROOT / "repro").iterdir() if not path.name.startswith(("_", "."))}
    assert sorted(wings()) == sorted(top - {"py"}), "give each module a row in The tree"


def test_the_table_is_in_the_order_of_the_layers() -> None:
    """An upper line may import a lower one: the order is that of the contract."""
    order = layers()
    places = [order.index(name) for name in wings()]
    rows = [line for line in order if line in wings()]
    assert [order[place] for place in places] == rows, "order its rows as the layers"


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:repro|tests|docs)/[\w./-]+)`", PAGE)))
)
def test_every_named_file_is_there(path: str) -> None:
    """A file or folder that the page names exists."""
    assert (ROOT / path).exists()
