"""The table of trainers, and which of them a configuration is for."""

from __future__ import annotations

import json
from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator, SerializeAsAny

from repro.plugins import Table, require_consent
from repro.trainers.base import Training


class Trains(Protocol):
    """A trainer, as far as documents depend on it: what it reads, and what it recognises."""

    @property
    def Spec(self) -> type[Training]:  # noqa: N802 - a class
        """What a configuration for it holds."""

    def recognises(self, document: dict[str, Any]) -> bool:
        """Whether a configuration that names no trainer is for this one."""


TRAINERS: Table[type[Trains]] = Table(
    "repro.trainers",
    {
        "language_model": "repro.trainers.language_model.trainer:LanguageModels",
        "dialog": "repro.trainers.dialog.trainer:DialogModels",
    },
)


def trainer_for(document: object) -> Trains:
    """The trainer that a configuration names, or else the built-in one that recognises it.

    DataError where what it names is not there.
    """
    first, *others = TRAINERS.names()
    if not isinstance(document, dict):
        return TRAINERS.get(first)()
    named = document.get("trainer")
    if isinstance(named, dict):
        named = named.get("use")
    if isinstance(named, str):
        require_consent(named, "a configuration names it as its trainer")
        return TRAINERS.get(named)()
    every = (TRAINERS.get(name)() for name in others)
    return next((one for one in every if one.recognises(document)), TRAINERS.get(first)())


def _of_its_trainer(value: object) -> object:
    """A resolved configuration as JSON, read by the trainer that it is for."""
    if isinstance(value, Training):
        return value
    return trainer_for(value).Spec.model_validate_json(json.dumps(value))


AnyTraining = Annotated[SerializeAsAny[Training], BeforeValidator(_of_its_trainer)]
"""A configuration of any trainer."""
