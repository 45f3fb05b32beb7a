"""A measurement that is taken of one arm with settings of that arm alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from repro.errors import ShapeError
from repro.judging.document import Document
from repro.report.blocks import TableBlock
from repro.report.view import view
from repro.specs.claim import Claim
from repro.specs.load import load_claim, read_measurement
from repro.store.run_store import RunStore
from repro.trainers.language_model.measurements.perplexity import Perplexity
from repro.workflows.verify import Options, verify_claims
from tests.running.doing import do

FILE = Path(__file__).parents[1] / "end_to_end" / "claims" / "tiny_rank.yaml"
PAPERS = Path(__file__).parents[2] / "claims" / "yang2018"
OF_ALL = "{scaling: sum, rate: 0.02, decay: 0.5, epsilon: 0.01, statistics_batch_size: 8}"
OWN = "{scaling: sum, rate: 0.2, decay: 0.5, epsilon: 0.01, statistics_batch_size: 8}"


def dynamic(settings: str, more: str = "") -> str:
    """The measurement, as a claim file has it."""
    return f"{{kind: perplexity, split: test, mode: dynamic, dynamic: {settings}{more}}}"


def written(folder: Path, measurement: str) -> Claim:
    """The tiny claim with this measurement besides."""
    configurations = FILE.parent / "configurations"
    if not (folder / "configurations").exists():
        shutil.copytree(configurations, folder / "configurations")
    text = FILE.read_text(encoding="utf-8")
    here = "\nmeasurements:\n"
    assert text.count(here) == 1
    expected = "\nexpectations:\n"
    context = (
        "  - {id: learns_better, kind: difference, role: context, measurement: learning, "
        "of: [mos, softmax], direction: lower}\n"
    )
    text = text.replace(here, f"{here}  learning: {measurement}\n")
    (folder / "claim.yaml").write_text(
        text.replace(expected, f"{expected}{context}"), encoding="utf-8"
    )
    return load_claim(folder / "claim.yaml", "quick")


@pytest.fixture(scope="module")
def claim(tmp_path_factory: pytest.TempPathFactory) -> Claim:
    """Softmax has its own rate, MoS that of all others."""
    return written(
        tmp_path_factory.mktemp("own"), dynamic(OF_ALL, f", dynamic_of: {{softmax: {OWN}}}")
    )


def alone(settings: str) -> Perplexity:
    found = read_measurement(dynamic(settings), "here")
    assert isinstance(found, Perplexity)
    return found


def test_each_arm_has_the_measurement_that_its_settings_alone_would_be(claim: Claim) -> None:
    """So what was measured before is found again, by its key."""
    assert claim.taken_of("softmax")["learning"] == alone(OWN)
    assert claim.taken_of("mos")["learning"] == alone(OF_ALL)
    keys = {
        planned.arm.split()[0]: {m.key for m in planned.measurements} for planned in claim.runs()
    }
    assert alone(OWN).key in keys["Softmax"] - keys["MoS"]
    assert alone(OF_ALL).key in keys["MoS"] - keys["Softmax"]


def test_settings_of_arms_are_declared_and_others_change_no_digest(
    claim: Claim, tmp_path: Path
) -> None:
    """They decide, so they are a part of the claim; without any it is what it was."""
    plain = written(tmp_path, dynamic(OF_ALL))
    assert plain.digest() != claim.digest()
    assert "dynamic_of" not in str(plain.decisive_fields())
    assert {run.run.key for run in plain.runs()} == {run.run.key for run in claim.runs()}


def test_each_arm_is_measured_with_its_settings_and_the_report_says_which(
    claim: Claim, tmp_path: Path
) -> None:
    store = RunStore(tmp_path / "store")
    for planned in claim.runs():
        do(store, planned)
    for arm, settings in (("mos", OF_ALL), ("softmax", OWN)):
        stored = store.measurement(claim.run(arm, 0).key, alone(settings))
        assert stored is not None
    options = Options(store, reports=tmp_path / "reports", train=False)
    (document,) = verify_claims([claim], options).documents
    values = {arm.id: arm.replicates[0].values["learning"] for arm in document.arms}
    stored = store.measurement(claim.run("softmax", 0).key, alone(OWN))
    assert stored is not None
    assert values["softmax"] == stored.value
    assert rows(document)["learning › dynamic › rate"] == ("0.02", "0.02", "0.2")


def rows(document: Document) -> dict[str, tuple[str, ...]]:
    """What differs between the arms, by setting."""
    blocks = [block for section in view(document).sections for block in section.blocks]
    tables = [each for each in blocks if isinstance(each, TableBlock)]
    differ = next(each for each in tables if each.caption == "What differs between the arms")
    return {row[0]: tuple(row[1:]) for row in differ.rows}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (f", dynamic_of: {{sofmax: {OWN}}}", "learning.dynamic_of: there is no arm 'sofmax'"),
        (", dynamic_of: {softmax: {rate: 0.2}}", "learning.dynamic_of.softmax.scaling"),
    ],
)
def test_a_mistake_is_refused_with_its_place(tmp_path: Path, more: str, said: str) -> None:
    """File, line and column of the name, or of what is missing."""
    with pytest.raises(Exception, match=r"claim\.yaml:\d+:\d+: measurements\.") as caught:
        written(tmp_path, dynamic(OF_ALL, more))
    assert said in str(caught.value)


def test_settings_of_arms_belong_to_a_claim() -> None:
    """`repro measure --measurement` knows no arms."""
    with pytest.raises(ShapeError, match="dynamic_of: only a claim has arms"):
        read_measurement(dynamic(OF_ALL, f", dynamic_of: {{softmax: {OWN}}}"), "here")


def test_settings_of_arms_belong_to_dynamic_evaluation() -> None:
    """Elsewhere they would change nothing."""
    with pytest.raises(ShapeError, match="dynamic_of changes nothing"):
        read_measurement(f"{{kind: perplexity, split: test, dynamic_of: {{a: {OWN}}}}}", "here")


@pytest.mark.parametrize(("corpus", "mos"), [("ptb", (0.075, 0.001)), ("wt2", (0.02, 0.002))])
def test_awd_lstm_is_read_with_its_own_constants(corpus: str, mos: tuple[float, float]) -> None:
    """Decay and epsilon of the papers' code; the rate is 0.002 in all."""
    claim = load_claim(PAPERS / f"mos_finetuned_beats_awd_{corpus}.claim.yaml", "paper")
    found = {arm: claim.taken_of(arm)["dynamic_perplexity"] for arm in ("mos", "softmax")}
    settings = {arm: each.dynamic for arm, each in found.items() if isinstance(each, Perplexity)}
    constants = {arm: (s.rate, s.decay, s.epsilon) for arm, s in settings.items() if s is not None}
    assert constants == {"mos": (0.002, *mos), "softmax": (0.002, 0.02, 0.001)}
