"""Nothing outside a kind's own file asks which kind it is: what others must know, the kind says.

A seam has a table of kinds. Below repro/ no ``isinstance``, ``issubclass``, ``match`` or comparison
of ``type`` names a class of a kind, and nothing compares the attribute that names a kind with such
a name, but in the files of the seam itself: those that hold the kinds, and the table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Seam:
    """The classes and names of the kinds of one seam, and the file in which each may be asked."""

    name: str
    homes: dict[str, str]
    names: frozenset[str]
    table: str
    asked: frozenset[str] = frozenset({"kind"})
    """The attributes that hold the name of a kind."""

    def allowed(self, file: str, word: str) -> bool:
        """Whether ``file`` may ask for a class, or for a name, of a kind: its home, or below it."""
        home = self.homes.get(word, "")
        return file in (self.table, home) or (home.endswith("/") and file.startswith(home))


def expectations() -> Seam:
    """The kinds of expectations: what is declared, and what is known of it."""
    from repro.expectations import kinds

    homes = {}
    for name in kinds.KINDS.names():
        kind = kinds.KINDS.get(name)
        for each in (kind, kind.Declared):
            homes[each.__name__] = f"{each.__module__.replace('.', '/')}.py"
    return Seam(
        "expectations", homes, frozenset(kinds.KINDS.names()), "repro/expectations/kinds.py"
    )


def sources() -> Seam:
    """Where values of an arm come from."""
    from repro.evidence import sources

    kinds = map(sources.SOURCES.get, sources.SOURCES.names())
    homes = {each.__name__: f"{each.__module__.replace('.', '/')}.py" for each in kinds}
    return Seam("sources", homes, frozenset(), "repro/evidence/sources.py")


def importers() -> Seam:
    """Which reader finds the runs of an arm."""
    from repro.results.importers import IMPORTERS

    kinds = map(IMPORTERS.get, IMPORTERS.names())
    homes = {each.__name__: f"{each.__module__.replace('.', '/')}.py" for each in kinds}
    return Seam("importers", homes, frozenset(), "repro/results/importers.py")


def sequential() -> Seam:
    """How a sequential claim is looked at; the module that asks which turns it into a test."""
    home = "repro/expectations/sequential.py"
    return Seam("sequential", dict.fromkeys(("EProcess", "GroupSequential"), home), frozenset(), "")


def trainers() -> Seam:
    """What trains: a trainer and what it is configured with, each in a folder of its own."""
    from repro.trainers.table import TRAINERS

    homes = {}
    for name in TRAINERS.names():
        trainer = TRAINERS.get(name)
        for each in (trainer, trainer.Spec):
            homes[each.__name__] = f"{each.__module__.rpartition('.')[0].replace('.', '/')}/"
    asked = frozenset({"built_in", "trained_by"})
    return Seam("trainers", homes, frozenset(TRAINERS.names()), "repro/trainers/table.py", asked)


SEAMS = [expectations(), sources(), importers(), sequential(), trainers()]


def questions(nodes: list[ast.AST], seam: Seam) -> Iterator[tuple[int, str]]:
    """Line and word of everything that asks which kind of a seam something is."""
    for node in nodes:
        line, asked = getattr(node, "lineno", 0), list[ast.AST]()
        if isinstance(node, ast.Call) and _called(node) in ("isinstance", "issubclass"):
            asked = [node.args[1]]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(side, ast.Call) and _called(side) == "type" for side in sides):
                asked = list(sides)
            if any(isinstance(side, ast.Attribute) and side.attr in seam.asked for side in sides):
                yield from ((line, text) for text in _texts(sides) if text in seam.names)
        for part in asked:
            for name in ast.walk(part):
                word = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
                if word in seam.homes:
                    yield line, word


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _texts(sides: list[ast.expr]) -> Iterator[str]:
    for side in sides:
        for node in ast.walk(side):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def asking(source: str) -> list[ast.AST]:
    """The nodes of a text that may ask something."""
    nodes = ast.walk(ast.parse(source))
    return [each for each in nodes if isinstance(each, ast.Call | ast.MatchClass | ast.Compare)]


@cache
def product() -> dict[str, list[ast.AST]]:
    """The same of each file below repro/."""
    return {
        path.relative_to(ROOT).as_posix(): asking(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "repro").rglob("*.py"))
    }


@pytest.mark.parametrize("seam", SEAMS, ids=lambda seam: seam.name)
def test_only_a_kind_knows_its_kind(seam: Seam) -> None:
    """No switch on a kind outside its file and the table."""
    found = []
    for file, nodes in product().items():
        for line, word in questions(nodes, seam):
            if not seam.allowed(file, word):
                found.append(f"{file}:{line}: {word}")
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(x, Difference)",
        "isinstance(x, Ratio | exact.Bound)",
        "isinstance(x, (Trend, int))",
        "type(x) is Ordering",
        "x.kind == 'difference'",
        "x.kind in ('trend', 'ordering')",
        "'bound' != x.declared.kind",
        "match x:\n    case Proportion(also=y):\n        pass",
    ],
)
def test_a_switch_is_found(source: str) -> None:
    """Every way to ask is seen."""
    assert list(questions(asking(source), expectations()))


@pytest.mark.parametrize(
    "source",
    ["x.training.built_in == 'command'", "x.trained_by != 'dialog'", "isinstance(x, Commands)"],
)
def test_a_switch_on_a_trainer_is_found(source: str) -> None:
    """By the attributes that name one, or its class."""
    assert list(questions(asking(source), trainers()))


def test_other_kinds_are_not_meant() -> None:
    """The scale of an effect has names that kinds have too; a base class is no kind."""
    for source in ("x.scale == 'ratio'", "isinstance(x, Declared)", "x.kind == 'rank'"):
        assert not list(questions(asking(source), expectations()))
