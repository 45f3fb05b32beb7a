"""Dialog models as configurations: found by what they hold, priced, compared, never batched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.evidence.evidence import Evidence
from repro.judging.quality import Quality
from repro.judging.validity import judge_validity
from repro.running.grouping import Group
from repro.specs.claim import Comparable
from repro.specs.configuration import Configuration, read_sheet
from repro.specs.load import load_claim
from repro.trainers.dialog.bleu import Bleu
from repro.trainers.dialog.spec import Beam, DialogTrainingSpec
from repro.trainers.language_model.measurements.perplexity import Perplexity
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.run import PlannedRun, RunSpec
from repro.trainers.trainer import cost, memory, replicate_memory

CONFIGURATIONS = Path(__file__).parents[2] / "claims" / "configurations"
SWITCHBOARD = CONFIGURATIONS / "yang2018" / "switchboard"
CLAIM = """schema: 1
id: answers
title: A mixture answers better than Softmax
source: {paper: some2018, citation: "made for the tests", locator: nowhere, quote: "for the tests"}
arms:
  mos: {label: MoS, configuration: yang2018/switchboard/mos, override: {recipe: RECIPE}}
  softmax: {label: Softmax, configuration: yang2018/switchboard/softmax}
design: independent
seeds: {min: 4, plan: 4}
measurements: {answers: {kind: bleu, order: 1, side: recall, smoothing: chen_cherry_7}}
expectations:
  - id: better
    kind: difference
    measurement: answers
    of: [mos, softmax]
    direction: higher
    smallest_effect: {abs: 0.001, why: "what the table prints in its last digit"}
scales: {paper: {notice: "Switchboard in another preprocessing than the paper's."}}
"""


def training(name: str) -> DialogTrainingSpec:
    found = read_sheet(SWITCHBOARD / f"{name}.yaml")
    assert found.problems == ()
    assert found.configuration is not None
    resolved = found.configuration.training()
    assert isinstance(resolved, DialogTrainingSpec)
    return resolved


def planned(name: str) -> PlannedRun:
    wanted = (
        Perplexity(split="test"),
        Perplexity(split="train", mode="training"),
        Rank(),
        Bleu(order=1, side="recall", smoothing="chen_cherry_7"),
    )
    return PlannedRun(run=RunSpec(training=training(name), replicate=0), measurements=wanted)


def claim(folder: Path, recipe: str = "{}") -> Path:
    (folder / "answers.yaml").write_text(CLAIM.replace("RECIPE", recipe), encoding="utf-8")
    return folder / "answers.yaml"


@pytest.mark.parametrize("name", ["softmax", "moc", "mos"])
def test_a_run_is_read_as_what_it_is(name: str) -> None:
    """From its own JSON a run of dialogs comes back with the same key, and none of a text does."""
    run = RunSpec(training=training(name), replicate=1)
    read = RunSpec.model_validate_json(run.model_dump_json(exclude_none=True))
    assert isinstance(read.training, DialogTrainingSpec)
    assert read.key == run.key
    assert DialogTrainingSpec.of(read) == read.training
    text = read_sheet(CONFIGURATIONS / "yang2018" / "ptb" / "mos.yaml").configuration
    assert isinstance(text, Configuration)
    with pytest.raises(ValueError, match="trains a language model"):
        _ = DialogTrainingSpec.of(RunSpec(training=text.training(), replicate=1))


def test_parts_of_both_kinds_do_not_go_together() -> None:
    """A language model on dialogs is no run."""
    document = RunSpec(training=training("softmax"), replicate=0).model_dump(mode="json")
    text = read_sheet(CONFIGURATIONS / "yang2018" / "ptb" / "mos.yaml").configuration
    assert text is not None
    document["training"]["model"] = text.model.model_dump(mode="json")
    with pytest.raises(ValueError, match="validation error"):
        RunSpec.model_validate_json(json.dumps(document))


def test_answers_are_searched_for_once() -> None:
    """Eight BLEUs of the same answers cost as much as one; those of another beam, as much again."""
    one, *others = (
        Bleu(order=order, side=side, smoothing="chen_cherry_7")
        for order in (1, 2, 3, 4)
        for side in ("recall", "precision")
    )
    wide = Bleu(order=1, side="recall", smoothing="chen_cherry_7", beam=Beam(size=20))
    run = planned("softmax")
    costs = [
        sum(cost(run.model_copy(update={"measurements": those})).measurements.values())
        for those in ((one,), (one, *others), (one, wide))
    ]
    assert costs[0] > 0
    assert costs[1] == costs[0]
    assert costs[2] > 2 * costs[0]


def test_costs_are_of_the_right_size() -> None:
    """A mixture of 15 softmaxes costs some three times as much, and beam search is no trifle."""
    softmax, mos = cost(planned("softmax")), cost(planned("mos"))
    assert 2 < mos.training / softmax.training < 5
    by_hand = 20 * 6 * 2_059_243 * 10e6  # epochs x 6 x tokens x weights, most of them multiplied
    assert 0.5 < softmax.training / by_hand < 3
    names = [one.key for one in planned("softmax").measurements]
    perplexity, while_training, rank, answers = (softmax.measurements[name] for name in names)
    assert while_training == 0
    assert rank > perplexity
    assert answers > perplexity
    assert 1e9 < memory(planned("mos")) < 10e9


def test_replicates_are_trained_in_turn() -> None:
    """However much memory there is, no two dialog models are one model."""
    runs = tuple(
        PlannedRun(run=RunSpec(training=training("mos"), replicate=n), measurements=())
        for n in range(4)
    )
    group = Group(runs)
    assert group.together(1, 1e15) == 1
    assert len(group.parts(1)) == 4
    assert 0.1e9 < replicate_memory(group.runs[0].run.training) < 5e9


def test_what_is_declared_equal_is_compared(tmp_path: Path) -> None:
    """Another rate of Adam is another schedule; the same recipe is the same."""
    same = Comparable(same=("corpus", "precision", "epochs", "averaging", "schedule"))
    evidence = Evidence(arms={}, published={}, tables={})
    as_it_is = load_claim(claim(tmp_path), "paper").model_copy(update={"comparable": same})
    faults = judge_validity(as_it_is, evidence, (), (), Quality())
    assert not any("differ" in fault.reason for fault in faults)
    faster = claim(tmp_path, "{optimiser: {kind: adam, learning_rate: 0.002}}")
    other = load_claim(faster, "paper").model_copy(update={"comparable": same})
    (fault,) = judge_validity(other, evidence, (), (), Quality())
    assert "the arms differ in schedule (optimiser)" in fault.reason


def test_a_setting_without_effect_is_refused(tmp_path: Path) -> None:
    """Softmax has no latent contexts that could be dropped; the mixture has."""
    text = CLAIM.replace("RECIPE", "{dropout: {latent: 0.1}}")
    (tmp_path / "answers.yaml").write_text(text, encoding="utf-8")
    assert len(load_claim(tmp_path / "answers.yaml", "paper").trained) == 2
    switched = text.replace("switchboard/mos", "switchboard/softmax")
    (tmp_path / "answers.yaml").write_text(switched, encoding="utf-8")
    with pytest.raises(SpecError, match=r"recipe\.dropout\.latent of arm 'mos' has no effect"):
        load_claim(tmp_path / "answers.yaml", "paper")
