"""Replicates that diverged, by the policy that the claim declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import TypeAdapter

from repro.evidence.evidence import State
from repro.expectations.declared import EProcess
from repro.expectations.kinds import Expectation
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import apply_divergence_policy
from repro.specs.claim import Claim, Seeds
from repro.stats.records import beyond
from tests.judging.evidence import claim, evidence, fair, ranks

States = Mapping[tuple[str, int], State]
LOST: States = {("mos", 1): "diverged"}


def declared(policy: str, **changes: object) -> Claim:
    """fair_mos at paper scale with a policy."""
    return claim("fair_mos", "paper", seeds=Seeds(min=5, plan=10, diverged=policy), **changes)


def judged(of: Claim, states: States = LOST) -> Document:
    """The claim on runs of which some diverged; MoS is 0.1 below Softmax otherwise."""
    return check_claim(of, evidence(of, fair(0.1), states=states))


def flagged(document: Document) -> list[str]:
    """What the report says about runs that diverged."""
    return [flag.text for flag in document.verdict.flags if flag.kind == "diverged"]


def test_invalid_allows_none() -> None:
    """One that diverges is one too many."""
    verdict = judged(declared("invalid")).verdict
    assert verdict.validity == "INVALID"
    rule = "MoS†: 1 of 10 runs diverged; 0 allowed by `seeds: {diverged: invalid}`"
    assert rule in verdict.validity_reason


@pytest.mark.parametrize(("lost", "validity"), [(1, "VALID"), (2, "VALID"), (3, "INVALID")])
def test_exclude_allows_as_many_as_it_says(lost: int, validity: str) -> None:
    """Two an arm may be left out, and a third invalidates."""
    states: States = {("mos", i): "diverged" for i in range(lost)}
    document = judged(declared("exclude<=2"), states)
    assert document.verdict.validity == validity
    rule = "MoS†: 3 of 10 runs diverged; 2 allowed by `seeds: {diverged: exclude<=2}`"
    assert (rule in document.verdict.validity_reason) == (lost == 3)
    mos = document.arms[0]
    assert mos.summaries[0].n == 10 - lost
    assert [one.state for one in mos.replicates[:lost]] == ["excluded"] * lost


def test_worst_is_worse_than_any_value_of_all_arms() -> None:
    """With perplexities, where lower is better: above the largest finished one of any arm.

    Told apart by a test of order, and by nobody who reads it.
    """
    of = declared("worst")
    found = evidence(of, fair(0.1), states=LOST)
    highest = max(fair(0.1)["softmax"]["test_perplexity"])
    sample = apply_divergence_policy(of, found).sample("mos", "test_perplexity")
    assert sample.n == 10
    assert sample.values[1] == pytest.approx(highest, rel=1e-8)
    assert beyond(sample.values[1], highest)
    assert highest > max(v for i, v in enumerate(sample.values) if i != 1)
    assert sample.diverged == (1,)
    assert sample.without(2).diverged == (1,)
    assert sample.without(1).diverged == ()


def test_worst_of_what_should_be_high_is_the_lowest() -> None:
    """For a rank, where higher is better, a replicate that diverged counts as the lowest."""
    of = claim("mos_rank", seeds=Seeds(min=3, plan=5, diverged="worst"))
    values = ranks((800, 801, 802, 803, 804), moc=30, softmax=31)
    found = apply_divergence_policy(of, evidence(of, values, states={("mos", 4): "diverged"}))
    *finished, lost = found.sample("mos", "rank").values
    assert finished == [800, 801, 802, 803]
    assert lost == pytest.approx(30, rel=1e-8)
    assert beyond(30, lost)
    assert found.detail("mos", "rank", "tenth").values[4] == 30
    assert found.detail("mos", "rank", "tenth").diverged == (4,)


def test_worst_is_said_and_shown() -> None:
    """The report names the replicate, counts it, and calls it neither finished nor excluded."""
    document = judged(declared("worst"))
    assert document.verdict.validity == "VALID"
    (said,) = flagged(document)
    assert said.startswith("MoS†: 1 run diverged and counted as worse than any value")
    assert said.endswith("(seed 1).")
    assert document.arms[0].replicates[1].state == "imputed"
    assert document.arms[0].summaries[0].n == 10


def expecting(**keys: Any) -> Claim:
    """fair_mos, of which one expectation of order is left, under the policy ``worst``."""
    one = TypeAdapter(Expectation).validate_python(
        {"id": "only", "measurement": "test_perplexity", **keys}
    )
    return declared("worst", expectations=(one,), combine=None, published=())


def test_worst_can_turn_a_verdict() -> None:
    """MoS tends to be lower by 0.5, until half its runs diverge: then nothing says that it does."""
    of = expecting(
        kind="difference", of=("mos", "softmax"), direction="lower", test="brunner_munzel"
    )
    sound = check_claim(of, evidence(of, fair(0.5)))
    states: States = {("mos", i): "diverged" for i in range(5)}
    hurt = check_claim(of, evidence(of, fair(0.5), states=states))
    assert sound.verdict.conclusion == "CONFIRMED"
    assert hurt.verdict.conclusion == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("share", "sound", "hurt"),
    [(None, "CONFIRMED", "CONTRADICTED"), (0.7, "CONFIRMED", "INCONCLUSIVE")],
)
def test_a_run_that_diverged_keeps_no_bound(share: float | None, sound: str, hurt: str) -> None:
    """However wide the bound is: six of ten keep it when four diverge."""
    why = "made for the tests"
    declared_share = {} if share is None else {"share": {"value": share, "why": why}}
    of = expecting(kind="bound", of=("mos",), at_most={"value": 1e6, "why": why}, **declared_share)
    states: States = {("mos", i): "diverged" for i in range(4)}
    for lost, conclusion in (({}, sound), (states, hurt)):
        document = check_claim(of, evidence(of, fair(0.1), states=lost))
        assert document.verdict.conclusion == conclusion
        (result,) = document.results
        assert result.sentence.startswith(
            "Test perplexity: MoS† keeps within the bound of at most 1e+06 in "
            f"{10 - len(lost)} of 10 seeds"
        )


def test_worst_still_needs_the_least_number_that_finished() -> None:
    """Imputed values are no evidence of their own: four finished of five needed are too few."""
    states: States = {("mos", i): "diverged" for i in range(6)}
    verdict = judged(declared("worst"), states).verdict
    assert verdict.validity == "INCOMPLETE"
    assert verdict.validity_reason == "MoS†: 4 of 10 seeds, 6 diverged, and at least 5 must finish"


def test_when_all_diverge_nothing_is_the_worst() -> None:
    """Without a finished value there is none to take, and the claim is INCOMPLETE."""
    of = declared("worst")
    states: States = {(arm, i): "diverged" for arm in of.arms for i in range(10)}
    document = judged(of, states)
    assert document.verdict.validity == "INCOMPLETE"
    assert document.results == ()


@pytest.mark.parametrize(
    "changes", [{"design": "paired"}, {"sequential": EProcess(method="eprocess_t")}]
)
def test_an_excluded_replicate_takes_its_pair_with_it(changes: dict[str, object]) -> None:
    """Where replicates are pairs, the partner of one that diverged is left out and named."""
    of = declared("exclude<=1", **changes)
    found = apply_divergence_policy(of, evidence(of, fair(0.1), states=LOST))
    assert found.sample("softmax", "test_perplexity").replicates == (0, 2, 3, 4, 5, 6, 7, 8, 9)
    for arm in of.arms:
        assert [each.number for each in found.counted(arm)] == [0, 2, 3, 4, 5, 6, 7, 8, 9]
    assert "Softmax‡: left out, because their pair diverged (seed 1)." in flagged(judged(of))


def test_in_an_independent_design_every_finished_run_counts() -> None:
    """Replicates of the same number share nothing, so none is left out for another."""
    of = declared("exclude<=1")
    found = apply_divergence_policy(of, evidence(of, fair(0.1), states=LOST))
    assert found.sample("softmax", "test_perplexity").n == 10


@pytest.mark.parametrize("policy", ["invalid", "worst", "exclude<=1"])
def test_settling_twice_changes_nothing(policy: str) -> None:
    """The policy is applied once, however often it is asked for."""
    of = declared(policy, design="paired")
    once = apply_divergence_policy(of, evidence(of, fair(0.1), states=LOST))
    assert apply_divergence_policy(of, once) == once
