"""What this machine has: versions, processors, a GPU, the store, the corpora. Changes nothing."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repro import files as resources
from repro.errors import ReproError
from repro.machine import NOT_INSTALLED, cores, free_disk, package_version
from repro.store.run_store import RunStore
from repro.store.sealed import noting_damage
from repro.trainers.devices import shared_by_mps

CORPORA = ("ptb", "wt2")
NEEDED = ("scipy", "pandas", "matplotlib", "jinja2", "typst", "pydantic")
ROOM = 2 * 2**30


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing looked at: fine, worth knowing, or a problem with what to do about it."""

    state: Literal["ok", "note", "problem"]
    what: str
    advice: str = ""


def examine(store: Path, data: Path | None) -> Iterator[Diagnosis]:
    """Every finding, in the order in which a first run would meet them."""
    yield Diagnosis("ok", f"Python {platform.python_version()} on {platform.platform(terse=True)}")
    yield from map(_package, NEEDED)
    yield Diagnosis("ok", f"{cores()} processor cores")
    yield _gpu()
    yield _resources()
    yield _store(store)
    yield from _corpora(data)


def _package(name: str) -> Diagnosis:
    version = package_version(name)
    if version == NOT_INSTALLED:
        return Diagnosis("problem", f"{name} is not installed", "pip install repro-verdict")
    return Diagnosis("ok", f"{name} {version}")


def _gpu() -> Diagnosis:
    if package_version("torch") == NOT_INSTALLED:
        advice = "pip install 'repro-verdict[lm]' (judging, audits and programs do without)"
        return Diagnosis("note", "torch is not installed; it trains language models", advice)
    try:
        import torch
    except ImportError as error:
        return Diagnosis("problem", f"torch cannot be imported: {error}", "pip install torch")
    if torch.cuda.is_available():
        faster = "" if shared_by_mps() else "nvidia-cuda-mps-control -d (replicates train faster)"
        return Diagnosis("ok", f"GPU: {torch.cuda.get_device_name()}", faster)
    return Diagnosis("note", "no GPU; models are trained on the processor")


def _resources() -> Diagnosis:
    try:
        return Diagnosis("ok", f"claims and templates: {resources.claims().parent}")
    except ReproError as error:
        return Diagnosis("problem", str(error), "pip install --force-reinstall repro-verdict")


def _store(place: Path) -> Diagnosis:
    try:
        store = RunStore(place)
        keys = list(store.keys())
        damages: list[str] = []
        for key in keys:
            with noting_damage(damages):
                if store.committed(key):
                    store.see(key)
        runs, damaged = len(keys), len(damages)
    except ReproError as error:
        return Diagnosis("problem", f"store {place}: {error}", "give another with --store")
    parent = next(p for p in (place, *place.parents) if p.exists())
    if not os.access(parent, os.W_OK):
        return Diagnosis("problem", f"store {place} cannot be written", "give another with --store")
    free = free_disk(parent)
    if damaged:
        found = f"store {place}: {damaged} of {runs} runs are damaged"
        return Diagnosis("problem", found, f"repro runs check --store {place}")
    found = f"store {place}: {runs} runs, {free / 2**30:.0f} GiB free"
    if free < ROOM:
        return Diagnosis("problem", found, "make room, or give another place with --store")
    return Diagnosis("ok", found)


def _corpora(data: Path | None) -> Iterator[Diagnosis]:
    """The quick scale needs none; bench and paper need those that the claims name."""
    if data is None:
        advice = "set REPRO_DATA to the folder that holds ptb/ and wt2/ (not needed for quick)"
        yield Diagnosis("note", "no corpora: REPRO_DATA is not set", advice)
        return
    for name in CORPORA:
        texts = [f"{name}/{split}.txt" for split in ("train", "valid", "test")]
        missing = [text for text in texts if not (data / text).is_file()]
        if missing:
            yield Diagnosis("note", f"corpus {name}: {', '.join(missing)} not in {data}")
        else:
            yield Diagnosis("ok", f"corpus {name} in {data}")
