"""The parts of a model by name, as far as its specification tells them: for rates of their own."""

from __future__ import annotations

from collections.abc import Iterator

from repro.errors import Problem
from repro.specs.configuration import Configuration
from repro.specs.model import Model, Own, Plif, latent_contexts
from repro.specs.wording import choose
from repro.specs.yaml import Document

LSTM = ("input_weight", "recurrent_weight", "input_bias", "recurrent_bias")
MIXTURE = ("latent_weight", "latent_bias", "prior_weight")


def parameter_names(model: Model) -> tuple[str, ...]:
    """The parameters that are trained, but for those inside a user's own parts."""
    names = ["output.weight", "output.bias"]
    if model.trunk is None:
        names += [f"trunk.layers.{layer}.{name}" for layer in range(model.layers) for name in LSTM]
    if latent_contexts(model.output):
        names += [f"output.mixture.{name}" for name in MIXTURE]
    if isinstance(model.output, Plif) and not model.output.frozen:
        names.append("output.slopes")
    if model.decoder == "free":
        names.append("embedding.weight")
    return tuple(names)


def parts(model: Model) -> tuple[str, ...]:
    """Every name that a part goes by: parameters, and their beginnings up to a dot, once each."""
    found = {"trunk": None}
    for name in parameter_names(model):
        steps = name.split(".")
        found |= {".".join(steps[: count + 1]): None for count in range(len(steps))}
    return tuple(found)


def unknown_parts(document: Document, configuration: Configuration) -> Iterator[Problem]:
    """Learning rates for parts that the model has not, where its specification can tell."""
    model, rates = configuration.model, configuration.recipe.learning_rates or {}
    own = [name for name in ("output", "trunk") if isinstance(getattr(model, name), Own)]
    known = parts(model)
    for name in rates:
        if name in known or name.partition(".")[0] in own:
            continue
        place = document.key_place(("recipe", "learning_rates", name))
        what = f"recipe.learning_rates: the model has no part '{name}' that is trained"
        shown = ", ".join(part for part in known if part.count(".") < 3)
        yield Problem(place, what, f"one of {shown}", choose(name, known))
