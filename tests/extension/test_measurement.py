"""A measurement of others, from the claim file over training and the store to the report."""

from __future__ import annotations

import math
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from repro.cli import app
from repro.errors import CodeError, DataError, RuleError, ShapeError, SpecError
from repro.report.write import read_document
from repro.specs.claim import Claim
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.table import measurement_of_others
from tests.edits import changed
from tests.extension.measurement import MeanEntropy

CLAIMS = Path(__file__).parents[1] / "end_to_end" / "claims"
USE = "tests.extension.measurement:MeanEntropy"
MINE = f"""
  entropy:
    use: "{USE}"
    split: valid
"""


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    """A claim about two tiny language models, on the measurement of others alone."""
    return written(tmp_path)


def written(folder: Path) -> Path:
    shutil.copytree(CLAIMS / "configurations", folder / "configurations")
    text = (CLAIMS / "tiny_fair.yaml").read_text(encoding="utf-8")
    text = text.replace("\n  test_perplexity: {kind: perplexity, split: test}\n", MINE)
    text = text.replace("measurement: test_perplexity", "measurement: entropy")
    path = folder / "mine.claim.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def loaded(path: Path) -> Claim:
    return load_claim(path, "quick", allow_code=True)


def repro(command: str, path: Path, *more: str) -> Result:
    arguments = [command, str(path), "--store", str(path.parent / "store"), *more]
    return CliRunner().invoke(app, arguments)


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The claim, trained and judged."""
    path = written(tmp_path_factory.mktemp("mine"))
    more = ("--reports", str(path.parent / "reports"), "--allow-code", "--workers", "1")
    done = repro("verify", path, "--scale", "quick", *more)
    assert done.exit_code in (0, 1, 3), done.output
    return path


def test_it_is_taken_stored_and_reported(verified: Path) -> None:
    """Its value, at most the logarithm of the vocabulary, is that of the store in the report."""
    claim, store = loaded(verified), RunStore(verified.parent / "store")
    (page,) = verified.parent.glob("reports/*/quick/report.html")
    document = read_document(page.with_name("report.json"))
    (part,) = document.measurements
    assert (part.kind, part.label, part.digits) == (
        "mean_entropy",
        "mean entropy on the valid split",
        3,
    )
    assert "ean entropy on the valid split" in page.read_text(encoding="utf-8")
    for arm in document.arms:
        run = claim.run(arm.id, 0)
        stored = store.measurement(run.key, claim.measurements["entropy"])
        assert stored is not None
        assert stored.value == arm.replicates[0].values["entropy"]
        assert 0 < stored.value < math.log(run.training.corpus.vocabulary)  # type: ignore[attr-defined]
        assert stored.details == {"tokens": run.training.corpus.tokens.valid - 1}  # type: ignore[attr-defined]


def test_a_second_verify_measures_nothing(verified: Path) -> None:
    """What is stored is found again by its key, which has the version of its file."""
    before = sorted((verified.parent / "store").rglob("mean_entropy-*.json"))
    assert len(before) == 6
    done = repro("plan", verified, "--scale", "quick", "--allow-code")
    assert done.exit_code == 0, done.output
    assert "6 runs, 0 to train or measure" in done.output


def test_a_store_with_it_is_checked_without_its_code(verified: Path) -> None:
    """A store imports nothing: what is stored is as it was written."""
    done = CliRunner().invoke(app, ["runs", "check", "--store", str(verified.parent / "store")])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("command", ["verify", "plan"])
def test_it_needs_consent(claim: Path, command: str) -> None:
    """Code from outside repro is imported by nobody who has not said so."""
    done = repro(command, claim)
    assert done.exit_code == 2
    assert (
        f"{USE} is code from outside repro, yours or another's, which runs with your rights"
        in done.stderr
    )
    with pytest.raises(CodeError, match=USE):
        load_claim(claim, "quick")


def test_an_installed_package_needs_no_consent(
    claim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment is the user's own: the name of an entry point is enough, as `kind`."""
    point = EntryPoint("mean_entropy", USE, "repro.measurements")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: (point,))
    changed(claim, f'use: "{USE}"', "kind: mean_entropy")
    measurement = load_claim(claim, "quick").measurements["entropy"]
    assert isinstance(measurement, MeanEntropy)
    assert measurement.use == USE


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ("split: valid", "split: vlaid", ".split: ", "did you mean 'valid'?"),
        ("split: valid", "splt: valid", ".splt: ", "did you mean 'split'?"),
        (":MeanEntropy", ":MeanEntrpy", ".use: ", "no attribute 'MeanEntrpy'"),
        ("extension.measurement", "extension.nothing", ".use: ", "No module named"),
        (":MeanEntropy", ":Measured", ".use: ", "this is no measurement"),
        ("split: valid", 'version: "7"', ".version: ", "not 7"),
    ],
)
def test_mistakes_in_its_keys_have_a_place(
    claim: Path, old: str, new: str, place: str, said: str
) -> None:
    """As those of built-in measurements: where, what, what was expected, what to do."""
    with pytest.raises(ShapeError) as found:
        loaded(changed(claim, old, new))
    assert f"measurements.entropy{place}" in str(found.value)
    assert said in str(found.value)


def test_a_scale_may_change_it(claim: Path) -> None:
    """What a scale says of it is read by the same class."""
    scale = f'quick:\n    measurements: {{entropy: {{use: "{USE}", split: test}}}}\n'
    measurement = loaded(changed(claim, "quick:\n", scale)).measurements["entropy"]
    assert isinstance(measurement, MeanEntropy)
    assert measurement.split == "test"


def test_its_keys_and_its_version_are_in_its_key(
    claim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another split, or another state of its code, is another measurement and another claim."""
    first = loaded(claim)
    assert loaded(claim).measurements["entropy"].key == first.measurements["entropy"].key
    monkeypatch.setattr("repro.specs.load.version_of", lambda use: f"another of {use}")
    second = loaded(claim)
    assert second.measurements["entropy"].key != first.measurements["entropy"].key
    assert second.digest() != first.digest()


def test_what_is_no_measurement_is_none() -> None:
    """A class must be one of a measurement, to be named as one."""
    with pytest.raises(DataError, match="this is no measurement"):
        measurement_of_others("math:sqrt")


def test_it_serves_the_trainers_that_it_names(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An arm of another trainer does not have it, and the claim says so."""
    monkeypatch.setattr(MeanEntropy, "trainers", ("dialog",))
    with pytest.raises(RuleError, match="arm 'mos' is a language model, which has no mean_entropy"):
        loaded(claim)
    assert issubclass(RuleError, SpecError)
