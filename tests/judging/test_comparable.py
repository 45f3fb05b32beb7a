"""Comparability: what the claim declares to be equal is equal, or nothing is concluded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from repro.judging.assemble import check_claim
from repro.judging.document import VerdictPart
from repro.report.blocks import TableBlock
from repro.report.sections.methods import settings
from repro.specs.claim import Claim, Comparable, Sameness
from repro.specs.configuration import Tuning
from repro.trainers.language_model.recipe import FromEpoch, WindowLength
from repro.trainers.language_model.spec import Digests
from tests.evidence.tidy import printed_softmax
from tests.judging.evidence import claim, evidence, fair


def changed(of: Claim, part: str, **changes: Any) -> Claim:
    """The claim with another recipe (or corpus, or tuning) in its Softmax arm."""
    arm = of.arms["softmax"]
    assert arm.configuration is not None
    value = (
        changes[part]
        if part in changes
        else getattr(arm.configuration, part).model_copy(update=changes)
    )
    configuration = arm.configuration.model_copy(update={part: value})
    arms = {**of.arms, "softmax": arm.model_copy(update={"configuration": configuration})}
    return of.model_copy(update={"arms": arms})


def declaring(*same: Sameness) -> Claim:
    """fair_mos, declaring nothing but this to be the same."""
    return claim("fair_mos", "paper", comparable=Comparable(same=same))


def verdict(of: Claim) -> VerdictPart:
    """The verdict on values that would otherwise confirm."""
    return check_claim(of, evidence(of, fair(0.0))).verdict


CHANGES: Mapping[str, Any] = {
    "epochs": 3,
    "batch_size": 7,
    "learning_rate": 1.5,
    "decay": "linear",
    "window": WindowLength(base=35),
    "clip": 1.0,
    "averaging": FromEpoch(epoch=2),
}


@pytest.mark.parametrize("setting", list(CHANGES))
def test_every_setting_of_the_schedule_must_be_equal(setting: str) -> None:
    """A difference in how steps are taken is NOT-COMPARABLE, and the setting is named."""
    of = changed(declaring("schedule"), "recipe", **{setting: CHANGES[setting]})
    said = verdict(of)
    assert said.validity == "NOT-COMPARABLE"
    assert said.conclusion is None
    assert said.validity_reason == (
        f"the arms differ in schedule ({setting}), which the claim declares to be the same"
    )


def test_several_settings_of_a_schedule_are_all_named() -> None:
    """One reason lists them, in the order of the recipe."""
    of = changed(declaring("schedule"), "recipe", clip=1.0, epochs=3)
    assert "schedule (epochs, clip)" in verdict(of).validity_reason


def test_regularisation_is_no_part_of_the_schedule() -> None:
    """Dropout and weight decay may differ where only the schedule is declared to be the same."""
    of = changed(declaring("schedule"), "recipe", weight_decay=0.5, embedding_noise=0.1)
    assert verdict(of).validity == "VALID"


@pytest.mark.parametrize(
    ("same", "part", "changes"),
    [
        ("precision", "recipe", {"precision": "float64"}),
        ("precision", "recipe", {"products": "bf16"}),
        ("epochs", "recipe", {"epochs": 3}),
        ("averaging", "recipe", {"averaging": FromEpoch(epoch=2)}),
        ("corpus", "corpus", {"sha256": None}),
    ],
)
def test_what_is_declared_equal_is_compared(
    same: Sameness, part: str, changes: dict[str, Any]
) -> None:
    """Precision, epochs, averaging and corpus (by its digests): a difference is NOT-COMPARABLE."""
    assert verdict(declaring(same)).validity == "VALID"
    of = declaring(same)
    if part == "corpus":
        corpus = of.arms["softmax"].configuration.corpus  # type: ignore[union-attr]
        other = {**corpus.sha256.model_dump(), "test": "0" * 64}
        changes = {"sha256": Digests(**other)}
    said = verdict(changed(of, part, **changes))
    assert said.validity == "NOT-COMPARABLE"
    which = f" ({', '.join(changes)})" if same == "precision" else ""
    assert f"the arms differ in {same}{which}," in said.validity_reason


def tuned(of: Claim, **settings: int | None) -> Claim:
    """The claim with so many settings tried for each arm."""
    arms = dict(of.arms)
    for name, count in settings.items():
        tuning = (
            None
            if count is None
            else Tuning(settings=count, selected_on="valid", source="made up for this test")
        )
        configuration = arms[name].configuration
        assert configuration is not None
        with_tuning = configuration.model_copy(update={"tuning": tuning})
        arms[name] = arms[name].model_copy(update={"configuration": with_tuning})
    return of.model_copy(update={"arms": arms})


def test_an_equal_budget_of_search_is_comparable() -> None:
    """Twelve settings tried for both arms, whatever they were selected on."""
    assert verdict(tuned(declaring("tuning"), mos=12, softmax=12)).validity == "VALID"


def test_an_unequal_budget_of_search_is_not() -> None:
    """The numbers of settings are named."""
    said = verdict(tuned(declaring("tuning"), mos=40, softmax=1))
    assert said.validity == "NOT-COMPARABLE"
    assert "tuning (MoS† 40, Softmax‡ 1 settings)" in said.validity_reason


def test_a_search_that_nobody_states_is_not_comparable() -> None:
    """Not stated is not equal: the arm is named."""
    said = verdict(tuned(declaring("tuning"), mos=12, softmax=None))
    assert said.validity == "NOT-COMPARABLE"
    assert said.validity_reason == (
        "the tuning of Softmax‡ is not stated, and the claim declares it to be the same"
    )


@pytest.mark.parametrize("same", ["corpus", "schedule", "tuning", "precision"])
def test_a_printed_arm_cannot_be_shown_to_be_comparable(same: Sameness) -> None:
    """Of printed numbers no configuration is known, so a declared sameness is not met."""
    of = printed_softmax().model_copy(update={"comparable": Comparable(same=(same,))})
    trained = claim("fair_mos", "paper")
    found = evidence(trained, fair(0.0))
    document = check_claim(of, found)
    assert document.verdict.validity == "NOT-COMPARABLE"
    assert "Softmax, printed is not stated" in document.verdict.validity_reason


def test_an_unknown_number_of_parameters_is_not_comparable() -> None:
    """Parameters within 1 % of what is not known: NOT-COMPARABLE."""
    of = printed_softmax().model_copy(update={"comparable": Comparable(parameters_within=0.01)})
    document = check_claim(of, evidence(claim("fair_mos", "paper"), fair(0.0)))
    assert "number of parameters of Softmax, printed" in document.verdict.validity_reason


def test_how_much_search_chose_the_settings_is_in_the_report() -> None:
    """Declared equal or not: the number tried, the split, the source, and who states nothing."""
    of = tuned(declaring("corpus"), mos=2948, softmax=None)
    document = check_claim(of, evidence(of, fair(0.0)))
    first, second = document.arms
    assert first.tuning is not None
    assert (first.tuning.settings, first.tuning.selected_on) == (2948, "valid")
    assert second.tuning is None
    tables = {one.caption: one for one in settings(document) if isinstance(one, TableBlock)}
    assert tables["How the settings were chosen"].rows == (
        ("MoS†", "2,948", "validation", "made up for this test"),
        ("Softmax‡", "not stated", "–", "–"),
    )


def test_where_no_search_is_stated_there_is_no_table_of_one() -> None:
    """Most papers say nothing of it, for any arm."""
    of = tuned(declaring("corpus"), mos=None, softmax=None)
    blocks = settings(check_claim(of, evidence(of, fair(0.0))))
    assert "How the settings were chosen" not in {getattr(one, "caption", "") for one in blocks}
