"""The kinds of expectations: where each is, and the union of what claim files declare of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ConfigDict

from repro.errors import DataError
from repro.expectations.base import Kind
from repro.expectations.declared import Context, Declared, OwnExpectation
from repro.expectations.sequential import NAMES, is_sequential
from repro.plugins import Table, class_of_others
from repro.schema.base import ObjectName, Spec, open_union
from repro.stats.records import TestResult

KINDS: Table[type[Kind[Any]]] = Table(
    "repro.expectations",
    {
        "difference": "repro.expectations.difference:DifferenceKind",
        "equivalence": "repro.expectations.margins:EquivalenceKind",
        "non_superiority": "repro.expectations.margins:NonSuperiorityKind",
        "non_inferiority": "repro.expectations.margins:NonInferiorityKind",
        "ratio": "repro.expectations.ratio:RatioKind",
        "separation": "repro.expectations.exact:SeparationKind",
        "bound": "repro.expectations.exact:BoundKind",
        "association": "repro.expectations.association:AssociationKind",
        "trend": "repro.expectations.order:TrendKind",
        "ordering": "repro.expectations.order:OrderingKind",
        "proportion": "repro.expectations.proportion:ProportionKind",
        "level": "repro.expectations.level:LevelKind",
        "spread": "repro.expectations.spread:SpreadKind",
        "survivals": "repro.expectations.survivals:SurvivalsKind",
        "over_tasks": "repro.expectations.over_tasks:OverTasksKind",
        "meta_analysis": "repro.expectations.meta_analysis:MetaAnalysisKind",
        "items": "repro.expectations.items:ItemsKind",
        "within": "repro.expectations.within:WithinKind",
    },
)
"""A new kind of ours is one line here, and its file."""


class OthersExpectation(Spec):
    """An expectation of a kind that is not built in; what it declares are its other keys.

    ``use`` names its class, `module:object`. A kind that an installed package adds is named by
    ``kind``, as those that are built in.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra={"required": ["use"]})

    use: ObjectName = ""


if TYPE_CHECKING:
    Expectation: TypeAlias = Declared
else:
    Expectation = open_union(
        [KINDS.get(name).Declared for name in KINDS.names()],
        OthersExpectation,
        OwnExpectation,
        KINDS.has,
    )


def kind_of(expectation: Declared) -> Kind[Any]:
    """What judging knows of the kind of an expectation."""
    return _kind(expectation.use if isinstance(expectation, OwnExpectation) else expectation.kind)


def kind_of_others(name: str) -> tuple[str, type[OwnExpectation]]:
    """Where a kind that is not built in is, and its keys; DataError for what is no kind."""
    expected = "a class below Kind, whose Declared is a class below Own"
    page = "add-an-expectation"
    use, kind = class_of_others(KINDS, name, Kind, ("kind of expectation", expected, page))
    declared, lacking = getattr(kind, "Declared", None), sorted(kind.__abstractmethods__)
    if not lacking and isinstance(declared, type) and issubclass(declared, OwnExpectation):
        return use, declared
    no_keys = "has no keys that a claim file can give it"
    mistake = f"does not say {', '.join(lacking)}" if lacking else no_keys
    raise DataError(
        f"{name}: the kind {mistake}\n  expected: {expected}\n  to do: see docs/how-to/{page}.md"
    )


@cache
def _kind(name: str) -> Kind[Any]:
    return KINDS.get(name)()


def name_of_test(expectation: Declared, context: Context, result: TestResult | None = None) -> str:
    """The test as a statistician calls it: in a sequential claim, that of its looks."""
    found = kind_of(expectation)
    if context.sequential is not None and found.on_means and is_sequential(expectation, context):
        design = context.design if len(expectation.of) > 1 else "one arm"
        return NAMES[context.sequential.method, design]
    used = "" if result is None else found.name_of_result(result)
    return used or found.name_of_test(expectation, context)
