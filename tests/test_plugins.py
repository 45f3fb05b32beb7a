"""A seam's table: built-ins, entry points, `module:object`, and what is said of other names."""

from __future__ import annotations

import sys
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest

from repro.errors import DataError
from repro.plugins import Table, version_of

TABLE: Table[object] = Table(
    "repro.tests", {"decimal": "decimal:Decimal", "fraction": "fractions:Fraction"}
)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with an entry point for a name of its own and one for a built-in's name."""
    (tmp_path / "strangers_module.py").write_text("class Thing: ...\n")
    folder = tmp_path / "stranger-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[repro.tests]\nthing = strangers_module:Thing\ndecimal = strangers_module:Thing\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "strangers_module", raising=False)


def test_a_built_in() -> None:
    assert TABLE.get("decimal") is Decimal
    assert TABLE.names() == ("decimal", "fraction")


@pytest.mark.usefixtures("installed")
def test_an_entry_point() -> None:
    found = TABLE.get("thing")
    assert found is sys.modules["strangers_module"].Thing
    assert TABLE.names() == ("decimal", "fraction")


@pytest.mark.usefixtures("installed")
def test_no_entry_point_replaces_a_built_in() -> None:
    assert TABLE.get("decimal") is Decimal
    assert "strangers_module" not in sys.modules


@pytest.mark.usefixtures("installed")
def test_a_module_and_its_object() -> None:
    assert TABLE.get("strangers_module:Thing") is sys.modules["strangers_module"].Thing


def test_an_unknown_name() -> None:
    with pytest.raises(DataError) as raised:
        TABLE.get("fractoin")
    assert str(raised.value) == (
        "'fractoin': nothing of that name is in repro.tests\n"
        "  expected: decimal, fraction, or `module:object`\n"
        "  to do: did you mean 'fraction'? Otherwise install the package that has it, "
        "or name its `module:object`"
    )


@pytest.mark.usefixtures("installed")
def test_an_unknown_name_may_be_near_to_an_entry_point() -> None:
    with pytest.raises(DataError, match="did you mean 'thing'"):
        TABLE.get("thign")


def test_a_name_like_no_other() -> None:
    with pytest.raises(DataError, match="to do: install the package that has it, or name"):
        TABLE.get("zzz")


def test_a_module_that_is_not_there() -> None:
    with pytest.raises(DataError, match="No module named 'nowhere'"):
        TABLE.get("nowhere:Thing")


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    table: Table[object] = Table("repro.tests", {"never": "no_such_module:Thing"})
    assert table.names() == ("never",)
    with pytest.raises(DataError, match="no_such_module"):
        table.get("never")


def test_a_module_in_folders_without_init_has_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Namespace packages, one in the other: nothing of them has been imported before."""
    (tmp_path / "outer_ns" / "inner_ns").mkdir(parents=True)
    (tmp_path / "outer_ns" / "inner_ns" / "mine.py").write_text("raise SystemExit", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert version_of("outer_ns.inner_ns.mine:Thing").startswith("sha256:")


def test_a_folder_without_init_inside_a_package_runs_nothing_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking a version up never imports code, not even that of a package around a namespace."""
    (tmp_path / "with_code" / "bare_ns").mkdir(parents=True)
    (tmp_path / "with_code" / "__init__.py").write_text("raise SystemExit('it ran')", "utf-8")
    (tmp_path / "with_code" / "bare_ns" / "mine.py").write_text("", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with suppress(DataError):
        assert version_of("with_code.bare_ns.mine:Thing").startswith("sha256:")
    assert "with_code" not in sys.modules
