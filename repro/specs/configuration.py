"""A configuration file: model, corpus and recipe, with the source of every value.

Code of others: the `module:object` that configurations name, and where they name it.

It is part of a model that is trained here, and runs with the rights of whoever trains it. So it
is imported only with consent; a plan, a verdict and a report need none.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repro.schema.base import Count, Reason, Spec
from repro.trainers.dialog.spec import DialogCorpus, DialogRecipe, DialogTrainingSpec, Seq2Seq
from repro.trainers.language_model.recipe import Recipe
from repro.trainers.language_model.spec import Corpus, Model, TrainingSpec


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


class _Described(Spec):
    """What every configuration has: where its values are from."""

    schema_version: Literal[1] = Field(alias="schema")
    title: str
    source: Reason
    assumed: dict[str, Reason] = {}
    tuning: Tuning | None = None


class Configuration(_Described):
    """One arm's training: what `claims/configurations/<id>.yaml` holds.

    ``source`` says where the values are printed; ``assumed`` maps the dotted path of each value
    that no paper prints to the reason for it; ``tuning`` is the search that chose the values.
    None of them changes a number, so none is in a key.
    """

    model: Model
    corpus: Corpus
    recipe: Recipe

    def training(self) -> TrainingSpec:
        """The part that determines numbers."""
        return TrainingSpec(model=self.model, corpus=self.corpus, recipe=self.recipe)


class DialogConfiguration(_Described):
    """One arm's training where it is a dialog model that is trained; all else is as there."""

    model: Seq2Seq
    corpus: DialogCorpus
    recipe: DialogRecipe

    def training(self) -> DialogTrainingSpec:
        """The part that determines numbers."""
        return DialogTrainingSpec(model=self.model, corpus=self.corpus, recipe=self.recipe)


AnyConfiguration = Configuration | DialogConfiguration


def configuration_class(data: object) -> type[Configuration | DialogConfiguration]:
    """What a document says that it is: its corpus or its model is of dialogs."""
    if isinstance(data, dict):
        for key, kind in (("corpus", "dialog"), ("model", "seq2seq")):
            part = data.get(key)
            if isinstance(part, dict) and part.get("kind") == kind:
                return DialogConfiguration
    return Configuration
