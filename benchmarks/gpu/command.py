"""What the commands share: where results go, and what they were found on."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch

from repro.trainers.devices import numerics
from repro.trainers.trainer import Facts


def add_device(parser: argparse.ArgumentParser) -> None:
    """``--device``."""
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="(%(default)s)")


def add_out(parser: argparse.ArgumentParser) -> None:
    """``--out``."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="where results are written"
    )


def write(folder: Path, name: str, document: Mapping[str, Any], markdown: str) -> None:
    """``name.json`` and ``name.md``, after each finding again: a command may be killed."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=1)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(markdown, encoding="utf-8")


@contextmanager
def computing(device: Literal["cpu", "cuda"]) -> Iterator[Facts]:
    """As a worker computes; gives the facts, without the name of the machine."""
    with numerics(device) as facts:
        machine = {name: fact for name, fact in facts["machine"].items() if name != "host"}
        yield {**facts, "machine": machine}


def surroundings(facts: Mapping[str, Mapping[str, Any]]) -> str:
    """The device and the versions."""
    software = ", ".join(f"{name} {version}" for name, version in facts["software"].items())
    machine = facts["machine"]
    libraries = f"; CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"
    found = libraries if facts["settings"]["device"] == "cuda" else ""
    return f"{machine['device']}; {machine['platform']}, {machine['processor']}; {software}{found}."
