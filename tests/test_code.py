"""A claim that names code from outside repro cannot make any command import it unasked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from repro.digest import file_digest
from repro.errors import CodeError, DataError
from repro.plugins import version_of
from repro.running.engine import RunOptions, SerialEngine
from repro.running.execute import execute
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.language_model.spec import Own
from tests.running.test_own_parts import plan_of

EVIL = 'from pathlib import Path\nPath("ran").write_text("the module was imported")\nX = 1\n'
CONFIGURATION = """schema: 1
title: a stranger's
source: "made for the tests"
corpus:
  {kind: synthetic, vocabulary: 40, dimension: 8, components: 3, sharpness: 5.0,
   tokens: {train: 4000, valid: 400, test: 600}}
model:
  embedding_size: 4
  hidden_size: 4
  context_size: 4
  layers: 1
  output: {kind: own, use: "evil:X", version: "VERSION"}
recipe:
  {epochs: 1, batch_size: 4, learning_rate: 1, window: {base: 10}, valid_batch_size: 10}
"""
CLAIM = """schema: 1
id: stranger
title: A claim that came by mail
source: {paper: mine2026, citation: "made for the tests", locator: nowhere, quote: "for the tests"}
arms:
  a: {label: a, configuration: his/own}
  b:
    label: b
    configuration: his/own
    override:
      model:
        output: {kind: own, use: "evil.inside:Y", version: "1"}
design: independent
seeds: {min: 3, plan: 3}
measurements: {ppl: {kind: perplexity, split: test, batch_size: 4}}
expectations:
  - id: same
    kind: equivalence
    measurement: ppl
    of: [a, b]
    margin: {abs: 1, why: "made for the tests of this project"}
scales: {quick: {notice: "A tiny model for the tests."}}
"""
SEARCH = """schema: 1
search: his
title: A search that came by mail
source: "made for the tests"
base: {configuration: his/own}
seeds: 2
root: 1
selected_on: valid
budget: {settings: 2, epochs: 8}
stages:
  - {id: rate, design: one_at_a_time, grid: {recipe.learning_rate: [1.0, 2.0]}}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a stranger's claim, search and module, which says when it is imported."""
    (tmp_path / "evil.py").write_text(EVIL)
    (tmp_path / "claim.yaml").write_text(CLAIM)
    (tmp_path / "search.yaml").write_text(SEARCH)
    configuration(tmp_path, "1.0")
    return tmp_path


def configuration(place: Path, version: str) -> None:
    """The configuration that names the module in a version."""
    folder = place / "configurations" / "his"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.yaml").write_text(CONFIGURATION.replace("VERSION", version))


def repro(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m repro` in the stranger's folder, where Python finds the module."""
    return subprocess.run(
        [sys.executable, "-m", "repro", *arguments],
        capture_output=True, text=True, check=False, cwd=place,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        (
            ("verify", "claim.yaml", "--store", "store", "--engine", "serial"),
            (
                "claim.yaml:6:32: evil:X and evil.inside:Y are code from outside repro",
            ),
        ),
        (
            ("tune", "search.yaml", "--store", "store", "--engine", "serial"),
            ("search.yaml:5:23: evil:X is code from outside repro",),
        ),
    ],
)  # fmt: skip
def test_code_is_refused_before_it_is_imported(
    place: Path, arguments: tuple[str, ...], places: tuple[str, ...]
) -> None:
    """Status 2, the object, the places that lead to it, and the option; nothing has run."""
    done = repro(place, *arguments)
    assert done.returncode == 2, done.stderr
    for sentence in places:
        assert sentence in done.stderr
    assert "give --allow-code" in done.stderr
    assert not (place / "ran").exists()
    assert not (place / "store").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "claim.yaml", "--store", "store"),
        ("verify", "claim.yaml", "--store", "store", "--no-train"),
        ("tune", "search.yaml", "--dry-run"),
    ],
)
def test_what_trains_nothing_imports_nothing(place: Path, arguments: tuple[str, ...]) -> None:
    """A plan, a verdict on what is there, and a search that is only priced need no consent."""
    done = repro(place, *arguments)
    assert done.returncode in (0, 3), done.stderr
    assert not (place / "ran").exists()


def test_another_version_is_refused_before_it_is_imported(place: Path) -> None:
    """Consent is to the version that the claim states."""
    done = repro(
        place, "verify", "claim.yaml", "--store", "store", "--engine", "serial", "--allow-code"
    )
    assert done.returncode == 2, done.stderr
    found = f"sha256:{file_digest(place / 'evil.py')[:16]}"
    assert f"evil:X: its version here is {found}" in done.stderr
    assert not (place / "ran").exists()


def test_a_search_in_a_trusted_folder_needs_no_option(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on to what a search with the option comes to: here another version."""
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(place))
    done = repro(place, "tune", "search.yaml", "--store", "store", "--engine", "serial")
    assert "--allow-code" not in done.stderr
    assert "evil:X: its version here is" in done.stderr


def test_the_version_of_a_module_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is the package that it lies in."""
    package = tmp_path / "packed_evil"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('the package was imported')")
    (package / "inside.py").write_text("raise SystemExit('the module was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    digest = file_digest(package / "inside.py")
    assert version_of("packed_evil.inside:X") == f"sha256:{digest[:16]}"
    for missing in ("packed_evil.outside:X", "packed_evil.inside.deeper:X", "no_such_thing:X"):
        with pytest.raises(DataError, match="No module named"):
            version_of(missing)
    assert not [name for name in sys.modules if name.startswith("packed_evil")]


def test_python_callers_have_to_allow_it_as_well(tmp_path: Path) -> None:
    """`execute` refuses runs that need code from outside repro, unless it is told otherwise."""
    plan = plan_of(Own(use="evil:X", version="1"))
    with pytest.raises(CodeError, match="evil:X is code from outside repro"):
        execute(plan, RunOptions(RunStore(tmp_path), engine=SerialEngine(), device="cpu"))
    assert "evil" not in sys.modules


def test_code_is_named_by_the_arms_that_need_it(place: Path) -> None:
    """With the version, and the places in the claim and in what it names."""
    claim = load_claim(place / "claim.yaml", "quick")
    (one,) = claim.arms["b"].code
    assert (one.use, one.version) == ("evil.inside:Y", "1")
    assert one.place == f"{place / 'claim.yaml'}:12:34"
