"""constraints.txt decides what a fresh machine gets; it must say so completely and say no more."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
DOCUMENT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, EXTRAS = DOCUMENT["project"], DOCUMENT["project"]["optional-dependencies"]
DIRECT = [
    Requirement(line)
    for line in [
        *PROJECT["dependencies"],
        *(line for extra in ("library", "lm") for line in EXTRAS[extra]),
        *DOCUMENT["dependency-groups"]["dev"],
    ]
]


def machine(python: str) -> dict[str, str]:
    """What markers ask, on this machine with one version of Python."""
    here = {name: str(value) for name, value in default_environment().items()}
    return {**here, "python_version": python, "python_full_version": f"{python}.0"}


def pinned(python: str) -> dict[str, str]:
    """Name -> version, as the file reads for one version of Python."""
    here = machine(python)
    found: dict[str, str] = {}
    for pin in map(Requirement, LINES):
        if pin.marker is None or pin.marker.evaluate(here):
            name = canonicalize_name(pin.name)
            assert name not in found, f"{name} is pinned twice for Python {python}"
            (found[name],) = (clause.version for clause in pin.specifier)
    return found


def test_a_line_is_a_name_an_exact_version_and_perhaps_a_marker() -> None:
    """No address, no option, no local path, no comment: nothing that ties the file to a machine."""
    form = re.compile(r"[a-z0-9-]+==[0-9][0-9a-z.]*( ; [\w'.<>=! ()-]+)?")
    assert [line for line in LINES if not form.fullmatch(line)] == []


def test_every_pin_but_those_of_torch_has_its_hashes() -> None:
    """The machine chooses torch's build, CPU or CUDA, and with it what that one needs."""
    text = (ROOT / "hashes.txt").read_text(encoding="utf-8").replace("\\\n", "")
    hashed = dict(
        line.split(" --hash=", maxsplit=1) for line in re.sub(" +", " ", text).splitlines()
    )
    of_torch = re.compile("(torch|triton|cuda-.*|nvidia-.*)==.*")
    others = [line for line in LINES if not of_torch.fullmatch(line)]
    assert sorted(map(str.strip, hashed)) == sorted(others)
    form = re.compile(r"sha256:[0-9a-f]{64}")
    assert all(map(form.fullmatch, " --hash=".join(hashed.values()).split(" --hash=")))


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_every_direct_dependency_is_pinned_within_its_range(python: str) -> None:
    """What pyproject.toml asks for has exactly one version, which it accepts."""
    pins = pinned(python)
    here = machine(python)
    needed = [each for each in DIRECT if each.marker is None or each.marker.evaluate(here)]
    asked = {canonicalize_name(wanted.name): wanted.specifier for wanted in needed}
    assert asked.keys() <= pins.keys()
    assert [name for name, range_ in asked.items() if not range_.contains(pins[name])] == []


def test_torch_is_pinned_without_a_build() -> None:
    """The machine chooses between the CPU and the CUDA build of the one version of torch."""
    assert [line for line in LINES if line.startswith("torch==")] == ["torch==2.13.0"]


def test_nothing_asks_for_torchvision() -> None:
    """torch's sister packages are no dependency: their builds must match torch's to the letter."""
    assert not {"torchvision", "torchaudio"} & set(pinned("3.11"))
