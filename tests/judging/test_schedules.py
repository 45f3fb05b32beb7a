"""The verdict had training ended elsewhere: a schedule among the admissible analyses."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from repro.evidence.evidence import Evidence
from repro.judging.assemble import check_claim
from repro.judging.document_parts import Analysis
from repro.judging.gather import gather
from repro.store.run_store import RunStore
from repro.trainers.language_model.measurements.perplexity import Perplexity
from tests.judging.evidence import claim, evidence
from tests.judging.nights import WEIGHTS

MOS, SOFTMAX = (56.4, 56.5, 56.3, 56.6, 56.4), (56.5, 56.4, 56.6, 56.3, 56.5)


def with_schedules(known: Evidence, gap: float) -> Evidence:
    """Three epochs a run; after two of them MoS lies ``gap`` below Softmax, then nothing does."""
    arms = {
        arm: tuple(
            replace(
                one,
                schedule=(90.0, 70.0 + one.number / 10 - (gap if arm == "mos" else 0), 57.0),
            )
            for one in replicates
        )
        for arm, replicates in known.arms.items()
    }
    return replace(known, arms=arms)


def schedules(known: Evidence) -> dict[str, Analysis]:
    """The schedule analyses of *MoS is not better* on this evidence."""
    (panel,) = check_claim(claim("fair_mos"), known).robustness
    return {one.name: one for one in panel.analyses if one.choice == "schedule"}


def known() -> Evidence:
    """Five seeds an arm, equal at the end."""
    columns = {"mos": MOS, "softmax": SOFTMAX}
    values = {arm: {"test_perplexity": column} for arm, column in columns.items()}
    return evidence(claim("fair_mos"), values)


def test_half_way_another_verdict_may_hold() -> None:
    """Five below after two of three epochs contradicts *not better*; the headline stays."""
    of = with_schedules(known(), 5.0)
    half = schedules(of)["validation perplexity after half of the epochs"]
    assert half.effect == pytest.approx(-5.0)
    assert half.conclusion == "CONTRADICTED"
    assert not half.declared
    document = check_claim(claim("fair_mos"), of)
    assert document.verdict.conclusion == check_claim(claim("fair_mos"), known()).verdict.conclusion


def test_in_bits_the_schedule_is_in_bits() -> None:
    """A measurement in bits is compared with log2 of the validation perplexities."""
    plain = claim("fair_mos")
    measured = plain.measurements["test_perplexity"].model_copy(update={"unit": "bits"})
    of = plain.model_copy(update={"measurements": {"test_perplexity": measured}})
    document = check_claim(of, with_schedules(known(), 5.0))
    (panel,) = document.robustness
    found = {one.name: one for one in panel.analyses if one.choice == "schedule"}
    half = found["validation bits per token after half of the epochs"]
    means = [
        sum(math.log2(70 + number / 10 - gap) for number in range(5)) / 5 for gap in (5.0, 0.0)
    ]
    assert half.effect == pytest.approx(means[0] - means[1])


def test_constant_values_after_the_last_epoch_are_refused_in_words() -> None:
    """Where every run ends alike the test refuses, and the row says so."""
    last = schedules(with_schedules(known(), 5.0))["validation perplexity after the last epoch"]
    assert last.conclusion is None
    assert "variance 0" in last.refused


def test_a_schedule_that_is_the_declared_analysis_again_is_no_other_one() -> None:
    """Where the last epoch is the best one, its values are those that were measured."""
    of = known()
    arms = {
        arm: tuple(
            replace(run, schedule=(70.0 + run.number, run.values["test_perplexity"]))
            for run in runs
        )
        for arm, runs in of.arms.items()
    }
    found = schedules(replace(of, arms=arms))
    assert "validation perplexity after the last epoch" not in found


def test_without_a_history_there_is_no_such_analysis() -> None:
    """Values of a table have no epochs."""
    assert schedules(known()) == {}


def test_the_history_of_a_run_becomes_its_schedule(tmp_path: Path) -> None:
    """Validation losses in nats of a stored run are read as perplexities; one lost hides all."""
    of, store = claim("fair_mos"), RunStore(tmp_path / "store")
    for number, second in ((0, 4.0), (1, None)):
        run = of.run("mos", number)
        store.put_run(
            run,
            history=[{"epoch": 1, "valid_loss": 5.0}, {"epoch": 2, "valid_loss": second}],
            weights=WEIGHTS,
            best_epoch=2,
        )
        measured = of.measurements["test_perplexity"]
        assert isinstance(measured, Perplexity)
        store.put_measurement(run.key, measured, value=60.0)
    first, other, *_ = gather(of, store).arms["mos"]
    assert first.schedule == pytest.approx((math.exp(5), math.exp(4)))
    assert other.schedule == ()
