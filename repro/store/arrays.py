"""Arrays to bytes and back (safetensors), and what a JSON row may hold."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.store.files import damaged
from repro.store.records import Artefact, Scalar

if TYPE_CHECKING:
    from numpy import ndarray

    Arrays = Mapping[str, ndarray[Any, Any]]


def dump_arrays(arrays: Arrays) -> bytes:
    """The arrays as one safetensors file; equal arrays give equal bytes."""
    import numpy as np  # noqa: PLC0415 - reading a number out of a store needs no numpy
    from safetensors.numpy import save  # noqa: PLC0415 - as above

    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def load_arrays(path: Path, data: bytes) -> dict[str, ndarray[Any, Any]]:
    """The arrays in the bytes of a safetensors file."""
    from safetensors import SafetensorError  # noqa: PLC0415 - see dump_arrays
    from safetensors.numpy import load  # noqa: PLC0415 - as above

    try:
        return load(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise damaged(path, f"cannot be read: {error}", "a safetensors file") from error


def artefact(data: bytes) -> Artefact:
    """What a record says about a file of these bytes."""
    return Artefact(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def finite(row: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The row with None in the place of NaN and infinity, which JSON does not know."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
