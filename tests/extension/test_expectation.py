"""An expectation kind of others, from the claim file to the report, without a line in `repro`."""

from __future__ import annotations

import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from repro.cli import app
from repro.errors import CodeError, ReproError, RuleError, ShapeError
from repro.extend import ExpectationKind
from repro.judging.document import Document, Result
from repro.plugins import version_of
from repro.report.write import read_document
from repro.specs.claim import Claim
from repro.specs.load import load_claim
from tests.edits import changed
from tests.extension.expectation import MedianAtMost

GOOD = Path(__file__).parents[1] / "specs" / "good"
USE = "tests.extension.expectation:MedianAtMostKind"
QUICK = f"""  - id: quick
    use: "{USE}"
    measurement: seconds
    of: [new]
    at_most: 50
"""


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    """A claim on a table, with one expectation of others among its own."""
    shutil.copy(GOOD / "table_claim.csv", tmp_path)
    text = (GOOD / "table_claim.yaml").read_text(encoding="utf-8")
    text = text.replace("expectations:\n", f"expectations:\n{QUICK}")
    text = text.replace(
        "measurements:\n",
        'planned_sd: {seconds: {sd: 0.5, why: "as in a pilot of ten seeds"}}\nmeasurements:\n',
    )
    path = tmp_path / "mine.claim.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def loaded(path: Path) -> Claim:
    """The claim, with consent."""
    return load_claim(path, "paper", allow_code=True)


def refused(path: Path, error: type[ReproError] = ShapeError) -> str:
    """What is said of a file with a mistake."""
    with pytest.raises(error) as found:
        loaded(path)
    return str(found.value)


def verified(path: Path, folder: Path, status: int = 0) -> tuple[Document, str]:
    """The document and the page of `repro verify`."""
    arguments = ["verify", str(path), "--reports", str(folder / "reports"), "--allow-code"]
    done = CliRunner().invoke(app, [*arguments, "--store", str(folder / "store"), "--no-train"])
    assert done.exit_code == status, done.output
    (page,) = folder.glob("reports/*/paper/report.html")
    return read_document(page.with_name("report.json")), page.read_text(encoding="utf-8")


def result_of(document: Document) -> Result:
    """What was found of the kind of others."""
    return next(result for result in document.results if result.id == "quick")


def test_it_is_judged_and_reported(claim: Path, tmp_path: Path) -> None:
    """Ten seeds of ten below the limit: p = 1 / 1024, in its own words, with each seed left out."""
    document, page = verified(claim, tmp_path)
    result = result_of(document)
    assert document.verdict.conclusion == "CONFIRMED"
    assert (result.kind, result.conclusion) == ("median_at_most", "CONFIRMED")
    assert result.p == 1 / 1024
    assert [(case.replicate, case.conclusion) for case in result.left_out] == [
        (seed, "CONFIRMED") for seed in range(10)
    ]
    assert result.test == "exact sign test of the median, one-sided"
    assert "The median seconds an epoch of New lies 8.95 below the limit of 50" in page
    assert "exact sign test of the median, one-sided" in page
    assert result.details["judged_by"] == f"{USE}, version {version_of(USE)}"
    assert "Judged by" in page


def test_it_contradicts(claim: Path, tmp_path: Path) -> None:
    """A claim that is wrong is found to be, and its verdict with it."""
    document, page = verified(changed(claim, "at_most: 50", "at_most: 30"), tmp_path, 1)
    assert result_of(document).conclusion == document.verdict.conclusion == "CONTRADICTED"
    assert "above the limit of 30" in page


def test_as_context_it_decides_nothing(claim: Path, tmp_path: Path) -> None:
    """Its role is that of any expectation; a scale may change it."""
    scale = "  paper:\n    expectations: {quick: {role: context}}\n"
    changed(claim, "at_most: 50", "at_most: 30")
    document, _ = verified(changed(claim, "  paper:\n", scale), tmp_path)
    assert result_of(document).conclusion == "CONTRADICTED"
    assert document.verdict.conclusion == "CONFIRMED"


def test_the_plan_says_that_its_power_is_unknown(claim: Path, tmp_path: Path) -> None:
    """Nothing is refused, and nothing is made up."""
    arguments = ["plan", str(claim), "--store", str(tmp_path / "store"), "--allow-code"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    own = done.stdout.partition("quick: 10 seeds per arm\n")[2].partition("more_accurate")[0]
    assert "No power is computed for this kind of expectation." in own
    assert "%" not in own


@pytest.mark.parametrize("command", ["verify", "plan", "runs check", "audit"])
def test_it_needs_consent(
    claim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """It is imported by nobody who has not said so; each command can be told."""
    monkeypatch.setenv("REPRO_STORE", str(tmp_path / "store"))
    (tmp_path / "store").mkdir()
    arguments = [*command.split(), str(claim)]
    assert "--allow-code" in CliRunner().invoke(app, [*command.split(), "--help"]).output
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert f"mine.claim.yaml:20:10: {USE} is code from outside repro" in done.stderr
    assert "--allow-code" in done.stderr
    with pytest.raises(CodeError, match=USE):
        load_claim(claim, "paper")


def test_an_installed_package_needs_no_consent(
    claim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment is the user's own: the name of an entry point is enough, as `kind`."""
    point = EntryPoint("median_at_most", USE, "repro.expectations")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: (point,))
    changed(claim, f'use: "{USE}"', "kind: median_at_most")
    (declared,) = (e for e in load_claim(claim, "paper").expectations if e.id == "quick")
    assert isinstance(declared, MedianAtMost)
    assert declared.use == USE


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ("at_most: 50", "at_most: fifty", ":23:14: ", "'fifty' is of the wrong type"),
        ("at_most: 50", "at_most: -1", ":23:14: ", "at_most: -1 is out of range"),
        ("at_most: 50", "at_least: 50", ":23:5: ", "did you mean 'at_most'?"),
        ("    at_most: 50\n", "", ":19:5: ", "at_most: missing key"),
        ("of: [new]\n    at_most", "of: [new, old]\n    at_most", ":22:9: ", "entries: 2"),
        ("MedianAtMostKind", "MedianAtLeastKind", ":20:10: ", "no attribute 'MedianAtLeastKind'"),
        ("extension.expectation:", "extension.nothing:", ":20:10: ", "No module named"),
        (":MedianAtMostKind", ":comb", ":20:10: ", "this is no kind of expectation"),
        ("    at_most: 50\n", "    at_most: 50\n    version: 7\n", ":24:14: ", "wrong type"),
        ("    at_most: 50\n", '    at_most: 50\n    version: "7"\n', ":24:14: ", "not 7"),
    ],
)
def test_mistakes_in_its_keys_have_a_place(
    claim: Path, old: str, new: str, place: str, said: str
) -> None:
    """As those of built-in kinds: where, what, what was expected, what to do."""
    text = refused(changed(claim, old, new))
    assert f"mine.claim.yaml{place}expectations.quick" in text
    assert said in text
    assert "  expected: " in text
    assert "  to do: " in text


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ("of: [new]", "of: [newer]", ":22:10: ", "there is no arm 'newer'"),
        ("    measurement: seconds\n    of: [new]\n", "    measurement: second\n    of: [new]\n",
         ":21:18: ", "there is no measurement 'second'"),
        ("min: 5", "min: 4", ":13:14: ", "4 seeds per arm are not accepted for quick"),
        ("published:\n", "sequential: {method: eprocess_t}\npublished:\n",
         ":19:5: ", "kind median_at_most has no sequential test"),
    ],
)  # fmt: skip
def test_rules_hold_for_it(claim: Path, old: str, new: str, place: str, said: str) -> None:
    """Names that lead nowhere, and fewer seeds than could confirm it."""
    text = refused(changed(claim, old, new), RuleError)
    assert f"mine.claim.yaml{place}" in text
    assert said in text


def test_its_keys_and_its_version_are_in_the_digest(
    claim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another limit, or another state of its code, is another claim."""
    first = loaded(claim).digest()
    assert loaded(claim).digest() == first
    monkeypatch.setattr("repro.specs.load.version_of", lambda use: f"another of {use}")
    assert loaded(claim).digest() != first
    monkeypatch.undo()
    assert loaded(changed(claim, "at_most: 50", "at_most: 49")).digest() != first


class Silent(ExpectationKind):
    """A kind that says nothing of itself."""

    Declared = MedianAtMost


def test_a_kind_that_is_not_whole_is_refused(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is judged, and by the name of what it lacks."""
    monkeypatch.setattr("tests.extension.expectation.MedianAtMostKind", Silent)
    assert "the kind does not say conclude, effect_label, name_of_test, " in refused(claim)


def test_a_family_adjusts_it(claim: Path, tmp_path: Path) -> None:
    """Nine seeds of ten below the limit: p = 11 / 1024 alone, five times that by Holm."""
    family = "family:\n  name: medians\n  method: holm\n  members: [strong, weak, c, d, e, f]\n"
    text = claim.read_text(encoding="utf-8").replace(
        "    direction", "    role: context\n    direction", 1
    )
    text = text.replace("    margin", "    role: context\n    margin")
    text = text.replace("published:\n", f'{family}  why: "they are told together"\npublished:\n')
    arguments = ["verify", "--allow-code", "--no-train", "--store", str(tmp_path / "store")]
    for name, limit in (("strong", "50"), ("weak", "41.45")):
        path = tmp_path / f"{name}.claim.yaml"
        path.write_text(
            text.replace("id: table_claim", f"id: {name}").replace(
                "at_most: 50", f"at_most: {limit}"
            ),
            encoding="utf-8",
        )
        arguments.append(str(path))
    done = CliRunner().invoke(app, [*arguments, "--reports", str(tmp_path / "reports")])
    assert done.exit_code == 3, done.output
    for name, p, adjusted, conclusion in (
        ("strong", 1 / 1024, 6 / 1024, "CONFIRMED"),
        ("weak", 11 / 1024, 55 / 1024, "INCONCLUSIVE"),
    ):
        document = read_document(tmp_path / "reports" / name / "paper" / "report.json")
        assert result_of(document).p == p
        assert result_of(document).conclusion == "CONFIRMED"
        assert document.verdict.conclusion == conclusion
        assert document.family is not None
        found = {member.claim: member.adjusted for member in document.family.members}
        assert found[name] == pytest.approx(adjusted)
