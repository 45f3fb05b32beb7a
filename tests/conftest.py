"""What a test may ask for, and what happens when the machine does not have it.

A test marked ``browser``, ``data`` or ``gpu`` is skipped, with the reason, where its need cannot
be met. With ``REPRO_REQUIRE_BROWSER``, ``REPRO_REQUIRE_DATA`` or ``REPRO_REQUIRE_GPU`` set (as
``.ci/run`` does) it fails instead, so that a gate never passes by leaving things out.
"""

from __future__ import annotations

import functools
import gc
import os
import shutil
import signal
import tarfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from repro.schema import yaml

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Examples are the same on every machine and in every run; a slow machine is not a bug.
hypothesis.settings.register_profile("repro", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("repro")

# A shell that starts the tests in the background has SIGINT ignored, for their children too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests run side by side: a matrix product that took every core would slow all of them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# As root in a container there is no sandbox; the rest keeps Chromium off the network.
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> Path | None:
    """The browser to drive: $REPRO_CHROMIUM, else the system's Chromium."""
    named = os.environ.get("REPRO_CHROMIUM")
    found = named or shutil.which("chromium") or "/usr/bin/chromium"
    return Path(found) if os.access(found, os.X_OK) else None


def corpora() -> Path | None:
    """The folder of corpora, if $REPRO_DATA names one."""
    named = os.environ.get("REPRO_DATA")
    return Path(named).resolve() if named and Path(named).is_dir() else None


def _lack_of_browser() -> str:
    return "" if chromium() else "no Chromium: install it, or set REPRO_CHROMIUM"


def _lack_of_data() -> str:
    return "" if corpora() else "no corpora: set REPRO_DATA to their folder"


def _lack_of_gpu() -> str:
    import torch

    return "" if torch.cuda.is_available() else "no CUDA device"


def _lack_of_time() -> str:
    return "" if os.environ.get("REPRO_FULL_SIZE") else "takes minutes: set REPRO_FULL_SIZE=1"


LACKS: dict[str, Callable[[], str]] = {
    "browser": _lack_of_browser,
    "data": _lack_of_data,
    "full_size": _lack_of_time,
    "gpu": _lack_of_gpu,
}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """What collecting makes stays: no search for garbage looks at it, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose need cannot be met, or fail it where the need is required."""
    for need, lack in LACKS.items():
        if item.get_closest_marker(need) and (reason := lack()):
            if os.environ.get(f"REPRO_REQUIRE_{need.upper()}"):
                pytest.fail(f"{reason} (REPRO_REQUIRE_{need.upper()} is set)", pytrace=False)
            pytest.skip(reason)


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own runs."""
    monkeypatch.setenv("REPRO_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))


_parsed_once = functools.cache(yaml.parse_document)


@pytest.fixture
def parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same text of the same file is parsed once: it is most of the work of loading claims."""
    monkeypatch.setattr(yaml, "parse_document", _parsed_once)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of corpora; mark the test ``data``."""
    folder = corpora()
    assert folder is not None, "a test that uses data_dir must be marked data"
    return folder


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of reports/sample, for tests that only read them."""
    folder = tmp_path_factory.mktemp("sample")
    with tarfile.open(Path(__file__).parents[1] / "reports" / "sample" / "runs.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "store"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window; mark the test ``browser``."""
    from playwright.sync_api import sync_playwright

    executable = chromium()
    assert executable is not None, "a test that uses browser must be marked browser"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=[*CHROMIUM_FLAGS])
        yield running
        running.close()
