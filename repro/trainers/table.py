"""The tables of trainers and of measurements, and the types of what documents say of them."""

from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, Union

from pydantic import BeforeValidator, Field, SerializeAsAny

from repro.consent import require_consent
from repro.errors import DataError
from repro.plugins import Table, class_of_others, load_object
from repro.schema.base import open_union
from repro.trainers.base import TRAINER_NAME, Training
from repro.trainers.control import Control
from repro.trainers.derived import DerivedMeasurement
from repro.trainers.measurement import (
    FunctionMeasurement,
    MeasurementByCode,
    MeasurementSpec,
    OthersMeasurement,
    OwnMeasurement,
    Reported,
)

NAMED = re.compile(TRAINER_NAME)

TRAINERS: Table[type[Any]] = Table(
    "repro.trainers",
    {
        "language_model": "repro.trainers.language_model.trainer:LanguageModels",
        "dialog": "repro.trainers.dialog.trainer:DialogModels",
        "command": "repro.trainers.command.trainer:Commands",
    },
)


def trainer_for(document: object) -> Any:
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
        if ":" in named and not NAMED.fullmatch(named):
            raise DataError(
                f"'{named[:100]}' is no trainer\n"
                f"  expected: {', '.join(TRAINERS.names())}, or `module:object`\n"
                "  to do: write the module as it is imported, ':', and the name in it"
            )
        require_consent(named)
        return TRAINERS.get(named)()
    every = (TRAINERS.get(name)() for name in others)
    return next((each for each in every if each.recognises(document)), TRAINERS.get(first)())


def _of_its_trainer(value: object) -> Any:
    """A resolved configuration as JSON, read by the trainer that it is for."""
    if isinstance(value, Training):
        return value
    return trainer_for(value).Spec.model_validate_json(json.dumps(value))


MEASUREMENTS: Table[type[MeasurementSpec]] = Table(
    "repro.measurements",
    {
        "perplexity": "repro.trainers.language_model.measurements.perplexity:Perplexity",
        "rank": "repro.trainers.language_model.measurements.rank:Rank",
        "flops": "repro.trainers.language_model.measurements.flops:Flops",
        "word_similarity": "repro.trainers.language_model.measurements.similarity:WordSimilarity",
        "generalisation_gap": (
            "repro.trainers.language_model.measurements.perplexity:GeneralisationGap"
        ),
        "spectral": "repro.trainers.language_model.measurements.spectral:Spectral",
        "noisy_rank": "repro.trainers.language_model.measurements.changed_matrix:NoisyRank",
        "centred_spectrum": (
            "repro.trainers.language_model.measurements.changed_matrix:CentredSpectrum"
        ),
        "pairwise_kl": "repro.trainers.language_model.measurements.kl:PairwiseKl",
        "kl_from_truth": "repro.trainers.language_model.measurements.kl:KlFromTruth",
        "hit_rate": "repro.trainers.language_model.measurements.hit_rate:HitRate",
        "bleu": "repro.trainers.dialog.bleu:Bleu",
    },
)

CONTROLS = (
    "repro.trainers.language_model.measurements.rank:RankBound",
    "repro.trainers.language_model.measurements.rank:KnownRank",
    "repro.trainers.language_model.measurements.kl:EntropyFloor",
)
"""All controls that there are; a measurement of others can name these alone."""


if TYPE_CHECKING:
    AnyControl: TypeAlias = Control
    Measurable: TypeAlias = MeasurementSpec
else:
    AnyControl = Annotated[
        Union[tuple(map(load_object, CONTROLS))],  # noqa: UP007
        Field(discriminator="kind"),
    ]
    _BUILTIN = [MEASUREMENTS.get(name) for name in MEASUREMENTS.names()]
    Measurable = open_union(
        [*_BUILTIN, Reported, DerivedMeasurement],
        OthersMeasurement,
        MeasurementByCode,
        MEASUREMENTS.has,
    )


def measurement_of_others(name: str) -> tuple[str, type[MeasurementByCode]]:
    """Where a measurement that is not built in is, and its keys; DataError for what is none."""
    if inspect.isfunction(MEASUREMENTS.get(name)):
        return MEASUREMENTS.where(name), FunctionMeasurement
    expected = "a class below Measurement of repro.extend, or a function"
    refused = ("measurement", expected, "add-a-measurement")
    return class_of_others(MEASUREMENTS, name, OwnMeasurement, refused)


AnyTraining = Annotated[SerializeAsAny[Training], BeforeValidator(_of_its_trainer)]
"""A configuration of any trainer."""
