"""A configuration file: model, corpus and recipe, with the source of every value.

Code of others: the `module:object` that configurations name, and where they name it.

It is part of a model that is trained here, and runs with the rights of whoever trains it. So it
is imported only with consent; a plan, a verdict and a report need none.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import BeforeValidator, ConfigDict, Field, create_model

from repro.plugins import version_of
from repro.schema.base import Count, Reason, Spec
from repro.trainers.base import TrainerName, Training
from repro.trainers.table import TRAINERS, trainer_for


class NamedCode(Spec):
    """An object in a module, the version that is stated, and the places that lead to it.

    ``place`` is where `use` is written, ``arm`` where the claim names the configuration.
    """

    use: str
    version: str
    place: str
    arm: str


class Tuning(Spec):
    """How much search chose the hyper-parameters: how many settings were tried, and on what."""

    settings: Count
    selected_on: Literal["valid", "test", "not stated"]
    source: Reason


class Configuration(Spec):
    """One arm's training: what `claims/configurations/<id>.yaml` holds.

    ``source`` says where the values are printed; ``assumed`` maps the dotted path of each value
    that no paper prints to the reason for it; ``tuning`` is the search that chose the values.
    None of them changes a number, so none is in a key.
    """

    schema_version: Literal[1] = Field(alias="schema")
    title: str
    source: Reason
    assumed: dict[str, Reason] = {}
    tuning: Tuning | None = None
    trainer: Any = None

    trains: ClassVar[type[Training]]

    if TYPE_CHECKING:  # the keys of its trainer

        def __getattr__(self, name: str) -> Any: ...

    def training(self) -> Training:
        """The part that determines numbers."""
        names = [name for name in self.trains.model_fields if name != "trainer"]
        named = {} if self.trains.built_in else {"trainer": self.trainer}
        return self.trains(**{name: getattr(self, name) for name in names}, **named)


def _named(value: object) -> object:
    """The trainer of a document with its version, which the document may leave out."""
    document = {"use": value} if isinstance(value, str) else value
    if not isinstance(document, dict) or not isinstance(document.get("use"), str):
        return document
    version = version_of(TRAINERS.where(document["use"]))
    stated = document.setdefault("version", version)
    if stated != version:
        raise ValueError(f"version is '{stated}', and the one that is here is '{version}'")
    return document


@cache
def _class_of(spec: type[Training]) -> type[Configuration]:
    """What a configuration file of a trainer holds: what every one has, and its own keys."""
    own: dict[str, Any] = {n: (field.annotation, field) for n, field in spec.model_fields.items()}
    if spec.built_in:
        own["trainer"] = (Literal[spec.built_in] | None, None)
    else:
        own["trainer"] = (Annotated[TrainerName, BeforeValidator(_named)], ...)
    name = f"{spec.__name__.removesuffix('TrainingSpec')}Configuration"
    made = create_model(name, __base__=Configuration, __doc__=Configuration.__doc__, **own)
    made.trains = spec
    return made


def configuration_class(data: object) -> type[Configuration]:
    """What a document says that it is, by the trainer that it is for."""
    return _class_of(trainer_for(data).Spec)


class OthersConfiguration(Configuration):
    """One arm's training by a trainer that is not built in, which says what the other keys are."""

    model_config = ConfigDict(extra="allow")

    trainer: str | dict[str, str]


def document_type() -> Any:
    """What a configuration file may be, for its schema."""
    built_in = (_class_of(TRAINERS.get(name)().Spec) for name in TRAINERS.names())
    return Union[(*built_in, OthersConfiguration)]
