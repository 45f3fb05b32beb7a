"""What several measurements need: a fresh process for one call, the references, a text on disk."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.contest import ALLOCATOR, threads_of
from benchmarks.speed.rows import Settings
from repro.running.pool import ProcessPool
from repro.trainers.language_model.spec import TextCorpus


class NoReferencesError(Exception):
    """The published code is needed, and where it is was not said."""


def reference_folder(settings: Settings) -> Path:
    """Where the published code is."""
    if settings.references is None:
        message = "this measurement needs --references PATH, or REPRO_REFERENCES"
        raise NoReferencesError(message)
    return settings.references.resolve()


def in_process(place: str, *arguments: Any, threads: int = 2, tuned: bool = True) -> Any:
    """Call ``module:function`` in a fresh process, by default with our allocator settings."""
    environment: Mapping[str, str] = threads_of(threads) | (ALLOCATOR if tuned else {})
    with ProcessPool(1, environment=environment, attempts=1) as pool:
        return pool.submit(_call, place, arguments).result()


def _call(place: str, arguments: tuple[Any, ...]) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)(*arguments)


def write_text(data: Path, vocabulary: int, train: int, valid: int) -> TextCorpus:
    """A text of random words below ``data``, and its specification.

    The test split, which nobody reads here, holds each word once, so that all are known.
    """
    words = [f"w{number}" for number in range(vocabulary - 1)]  # the last is the end of a line
    generator = np.random.default_rng(0)
    texts = {
        "train": _lines(generator.integers(0, vocabulary - 1, train - 1), words),
        "valid": _lines(generator.integers(0, vocabulary - 1, valid - 1), words),
        "test": _lines(np.arange(vocabulary - 1), words),
    }
    folder = data / "random"
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return TextCorpus.model_validate(
        {
            "kind": "text",
            "name": folder.name,
            "vocabulary": vocabulary,
            "tokens": {"train": train, "valid": valid, "test": vocabulary},
            "sha256": {n: hashlib.sha256(t.encode()).hexdigest() for n, t in texts.items()},
        }
    )


def _lines(numbers: np.ndarray, words: list[str]) -> str:
    """One line, which ends in one end of a sentence."""
    return " ".join(words[number] for number in numbers) + "\n"
