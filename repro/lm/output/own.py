"""A user's own output layer, from outside this package."""

from __future__ import annotations

import torch

from repro.errors import DataError
from repro.lm.output.base import OutputLayer
from repro.plugins import load_object, version_of
from repro.specs.model import Own


def own_output(
    spec: Own, vocabulary: int, embedding_size: int, context_size: int, dtype: torch.dtype
) -> OutputLayer:
    """The layer that ``spec`` names, called with these sizes and its options.

    Raises DataError when it is not there, not an output layer, or not what ``spec`` states: of
    another version, or with another number of parameters.
    """
    make = load_object(spec.use)
    version = version_of(spec.use)
    if version != spec.version:
        raise _differs(spec, f"its version here is {version}", f"version {spec.version}", version)
    layer = make(vocabulary, embedding_size, context_size, dtype, **spec.options)
    if not isinstance(layer, OutputLayer):
        message = f"{spec.use} makes no output layer\n  expected: a subclass of OutputLayer"
        raise DataError(message)
    shared = layer.weight.numel() + layer.bias.numel()
    count = sum(p.numel() for p in layer.parameters()) - shared
    if count != spec.parameters:
        what = f"it has {count:,} parameters beside the decoder's"
        raise _differs(spec, what, f"{spec.parameters:,}, as the configuration states", count)
    return layer


def _differs(spec: Own, what: str, expected: str, value: object) -> DataError:
    advice = f"write {value} in the configuration; that is another run"
    return DataError(f"{spec.use}: {what}\n  expected: {expected}\n  to do: {advice}")
