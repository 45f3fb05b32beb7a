"""The base of every source of evidence: its keys in an arm, and what others must know of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from repro.errors import Problem
from repro.files import leads_out
from repro.results.readings import TASK
from repro.schema.base import ObjectName, Spec
from repro.schema.messages import Words, closest
from repro.schema.yaml import Steps, YamlDocument

if TYPE_CHECKING:
    from repro.evidence.evidence import PublishedArm, Replicate, TidyTable
    from repro.store.run_store import RunStore
    from repro.trainers.measurement import MeasurementSpec
    from repro.trainers.run import RunSpec


@dataclass(frozen=True, slots=True)
class Facts:
    """What is trained for an arm; of an arm whose values were made elsewhere, nothing.

    ``overridden`` are dotted paths. ``code`` is what training needs of others.
    """

    configuration: Any = None
    configuration_id: str | None = None
    overridden: tuple[str, ...] = ()
    code: tuple[Any, ...] = ()
    first_seed: int = 0


@dataclass(frozen=True, slots=True)
class DeclaredAt:
    """Where a source stands in a claim file, and what its names may stand for.

    ``find_configuration`` takes that place, and the name of a configuration: none, for the one that
    the claim holds itself.
    """

    document: YamlDocument
    steps: Steps
    find_configuration: Callable[
        [YamlDocument, Steps, str | None], tuple[Facts | None, tuple[Problem, ...]]
    ]

    @property
    def folder(self) -> Path:
        """The folder of the claim file."""
        return Path(self.document.file).parent

    def problem(self, key: str, mistake: str, expected: str, advice: str) -> Problem:
        """A mistake in one of the keys."""
        return self.document.problem((*self.steps, key), mistake, expected, advice)

    def missing_file(
        self, key: str, name: str, *, sort: str, ending: str, later: bool = False
    ) -> Problem | None:
        """What is wrong with a file beside the claim; no other file is ever read or quoted.

        ``sort`` is what it is called: a table, in a CSV file, whose ending is `csv`. It may come
        ``later``, as a claim is declared before its results, unless its name looks misspelt.
        """
        path, noun = self.folder / name, f"a {ending.upper()} file"
        if path.is_dir():
            advice = "write the path of the file in it, or put the file itself there"
            return self.problem(key, f"'{name}' is a folder", noun, advice)
        if not path.is_file():
            files = (each for each in path.parent.glob(f"*.{ending}") if each.is_file())
            known = [each.relative_to(self.folder).as_posix() for each in files]
            if later:  # of another number are the results of another day
                known = [
                    each for each in known if re.sub(r"\d", "", each) != re.sub(r"\d", "", name)
                ]
            guess = closest(name, sorted(known))
            if later and not guess and not path.is_symlink():
                return None
            advice = f"did you mean '{guess}'?" if guess else f"put the {sort} there"
            return self.problem(key, f"there is no {sort} '{name}'", f"a file {path}", advice)
        if leads_out(path, self.folder):
            mistake = f"{sort} '{name}' is a link that leads elsewhere"
            advice = "put the file itself there"
            return self.problem(key, mistake, "a file in the folder of the claim", advice)
        return None


@dataclass(frozen=True, slots=True)
class Needs:
    """What a claim declares that its sources have to suit.

    ``series``: some measurement is one, reduced to a number. ``unit`` is the column of the unit
    whose evaluations are averaged, ``sources`` are those of the sources of variation.
    """

    series: bool
    unit: str | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableSchema:
    """``arms`` are read from the table, ``elsewhere`` says why other arms are not.

    ``needed`` are the measurements without which a decisive expectation cannot be judged,
    ``order`` the column that says in which order the replicates came, where the claim declares one.
    ``specs`` are the measurements as they are declared, ``tasks`` those of which each arm has runs,
    where the claim is over tasks. ``unit`` is the column of the unit, where its rows are averaged
    later, and ``sources`` are the columns of the sources of variation, of the item and its cluster.
    ``by_item``: a row is one of very many.
    """

    arms: tuple[str, ...]
    measurements: tuple[str, ...]
    needed: Mapping[str, tuple[str, ...]]
    elsewhere: Mapping[str, str]
    order: str | None = None
    specs: Mapping[str, Any] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    unit: str | None = None
    sources: tuple[str, ...] = ()
    by_item: bool = False

    @property
    def more_columns(self) -> tuple[str, ...]:
        """The columns of task, unit, sources and order, as far as there are to be any."""
        units = () if self.unit is None else (self.unit,)
        return tuple(dict.fromkeys((*self.of_tasks, *units, *self.sources, *self.in_order)))

    @property
    def in_order(self) -> tuple[str, ...]:
        """The column of the order, if there is to be one."""
        return () if self.order is None else (self.order,)

    @property
    def of_tasks(self) -> tuple[str, ...]:
        """The column of the task, if there is to be one."""
        return (TASK,) if self.tasks else ()


class EvidenceSource(Spec):
    """Where the values of an arm come from. Its fields are its keys in the arm.

    ``elsewhere`` says why a table of other arms has no values of this one. ``trains``: its values
    are those of runs that are made here. ``has_units``: it may average rows within a unit.
    ``shown`` is what a report calls it, if not by its class.
    """

    elsewhere: ClassVar[str] = "the claim names another source for it"
    trains: ClassVar[bool] = False
    has_units: ClassVar[bool] = False
    shown: ClassVar[str] = ""

    @property
    def label(self) -> str:
        """What a report calls it."""
        return self.shown or type(self).__name__

    @property
    def has_tasks(self) -> bool:
        """Whether its values may be those of several tasks."""
        return not self.trains and self.printed is None

    @property
    def printed(self) -> Mapping[str, PublishedArm] | None:
        """Printed numbers by measurement, where they are all that is known."""
        return None

    def resolve(self, at: DeclaredAt) -> tuple[Facts | None, tuple[Problem, ...]]:
        """What is trained for the arm, or every mistake in what the keys name."""
        del at
        return Facts(), ()

    def unsuited(self, needs: Needs, arm: str) -> Iterator[tuple[Steps, Words]]:
        """What of the source cannot be as the claim is: the key in the arm, and what is wrong."""
        del needs, arm
        yield from ()

    def identity(self, configuration: Any) -> Any:
        """What decides the verdict: a part of the digest of the claim.

        ``configuration`` is what is trained, if anything is.
        """
        del configuration
        declared = self.model_dump(mode="json", exclude_defaults=True, exclude={"kind"})
        return {"evidence": declared}

    def values(self, schema: TableSchema, folder: Path) -> TidyTable | None:
        """The values that are there before anything is trained; None where there are none.

        ``folder`` is that of the claim file. SpecError with every mistake.
        """
        del schema, folder
        return None

    def replicates(
        self, runs: Iterable[RunSpec], measurements: Mapping[str, MeasurementSpec], store: RunStore
    ) -> tuple[Replicate, ...]:
        """What a store has of the runs of the arm."""
        del runs, measurements, store
        return ()


class OwnSource(EvidenceSource):
    """The base of a source that is not built in: a class below it, whose fields are its keys.

    ``use`` is its `module:object`, and ``version`` that in which it is here. ``kind`` is the name
    that an installed package gives it, where a claim asks for it by that.
    """

    kind: str = ""
    use: ObjectName
    version: Annotated[str, Field(min_length=1, max_length=100)] = ""


def tables_to_come(sources: Iterable[EvidenceSource], folder: Path) -> tuple[str, ...]:
    """The tables that are named and not there yet: a claim is declared before its results."""
    named = dict.fromkeys(getattr(each, "table", None) for each in sources)
    return tuple(name for name in named if name and not (folder / name).is_file())
