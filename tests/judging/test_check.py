"""Judging shipped claims on evidence made by hand."""

from __future__ import annotations

import subprocess
import sys

import pytest

from repro.specs.claim import Expect, ScaleName, Seeds
from tests.judging.evidence import HIGH, Values, claim, code, fair, judged, plif, ranks


def test_high_ranks_confirm_the_rank_claim() -> None:
    """MoS far above low-rank arms that keep their bound: VALID, CONFIRMED, canaries passed."""
    document = judged(claim("mos_rank"), ranks(HIGH))
    assert document.verdict.validity == "VALID"
    assert document.verdict.conclusion == "CONFIRMED"
    assert [one.state for one in document.canaries] == ["passed", "passed"]
    assert document.verdict.flags == ()
    assert code(document) == 0


def test_the_sentence_of_a_verdict_carries_the_effect_and_the_limit() -> None:
    """The reason states the ratio found, and the part itself the ratio declared."""
    document = judged(claim("mos_rank"), ranks(HIGH))
    assert "23.6 times" in document.verdict.sentence
    assert "At least 10 times, as claimed" in document.results[0].sentence


def test_low_ranks_contradict_the_rank_claim() -> None:
    """MoS barely above the others, in every seed, is evidence for the opposite."""
    document = judged(claim("mos_rank"), ranks((40, 41, 42, 40, 41)))
    assert document.verdict.conclusion == "CONTRADICTED"
    assert code(document) == 1


def test_scattered_ranks_decide_nothing() -> None:
    """An interval across the declared ratio is INCONCLUSIVE; the report says how many settle it."""
    document = judged(claim("mos_rank"), ranks((150, 990, 200, 980, 950)))
    assert document.verdict.conclusion == "INCONCLUSIVE"
    assert any("fresh seeds per arm, declared first" in step.text for step in document.changes)
    assert code(document) == 3


@pytest.mark.parametrize(("softmax", "moc"), [(35, 34), (34, 36), (1000, 34)])
def test_a_rank_above_the_structural_bound_invalidates(softmax: float, moc: float) -> None:
    """A Softmax or MoC rank above d + 2 says the instrument is broken: INVALID, no conclusion."""
    document = judged(claim("mos_rank"), ranks(HIGH, moc=moc, softmax=softmax))
    assert document.verdict.validity == "INVALID"
    assert document.verdict.conclusion is None
    assert "low_rank_arms" in document.verdict.validity_reason
    assert code(document) == 4


def test_a_rank_below_the_structural_bound_is_a_flag() -> None:
    """A Softmax rank below d + 2 keeps the claim VALID and makes it fragile."""
    document = judged(claim("mos_rank"), ranks(HIGH, softmax=33))
    assert document.verdict.validity == "VALID"
    assert document.verdict.conclusion == "CONFIRMED"
    assert [flag.kind for flag in document.verdict.flags] == ["canary"]


def test_a_synthetic_matrix_of_wrong_rank_invalidates() -> None:
    """A known rank that does not come out exactly makes every rank worthless."""
    document = judged(claim("mos_rank"), ranks(HIGH), known=35)
    assert document.verdict.validity == "INVALID"
    assert "known_matrix" in document.verdict.validity_reason


def test_a_missing_run_is_incomplete() -> None:
    """A planned run that is missing leaves no conclusion, although the others would decide."""
    document = judged(claim("mos_rank"), ranks(HIGH), states={("mos", 2): "missing"})
    assert document.verdict.validity == "INCOMPLETE"
    assert document.verdict.validity_reason == "MoS (K=4): 4 of 5 seeds"
    assert document.verdict.conclusion is None
    assert code(document) == 3


def test_nothing_at_all_is_incomplete() -> None:
    """An empty store gives a report without results, not an error."""
    of = claim("mos_rank")
    states = {(arm, number): "missing" for arm in of.arms for number in range(5)}
    document = judged(of, ranks(HIGH), states=states)
    assert document.verdict.validity == "INCOMPLETE"
    assert document.results == ()
    assert document.curves == ()


def test_damaged_evidence_invalidates() -> None:
    """A damaged artefact makes the claim INVALID and names the file."""
    document = judged(claim("mos_rank"), ranks(HIGH), states={("moc", 1): "damaged"})
    assert document.verdict.validity == "INVALID"
    assert "record.json" in document.verdict.validity_reason
    assert code(document) == 4


def test_more_divergence_than_declared_invalidates() -> None:
    """An arm that loses more runs than the policy allows is INVALID."""
    document = judged(claim("mos_rank"), ranks(HIGH), states={("mos", 0): "diverged"})
    assert document.verdict.validity == "INVALID"
    assert (
        "MoS (K=4): 1 of 5 runs diverged; 0 allowed by `seeds: {diverged: invalid}`"
        in document.verdict.validity_reason
    )


def test_divergence_within_the_policy_is_excluded_and_shown() -> None:
    """A diverged run that the policy allows for is named, and the others are judged."""
    of = claim("mos_rank", seeds=Seeds(min=3, plan=5, diverged="exclude<=1"))
    document = judged(of, ranks(HIGH), states={("mos", 0): "diverged"})
    assert document.verdict.conclusion == "CONFIRMED"
    mos = next(arm for arm in document.arms if arm.id == "mos")
    assert [one.state for one in mos.replicates] == ["excluded", *["finished"] * 4]
    assert mos.summaries[0].n == 4


def test_a_conclusion_that_hangs_on_one_seed_is_flagged() -> None:
    """Leaving out the one outlier changes INCONCLUSIVE; the flag names no seed to be dropped."""
    document = judged(claim("mos_rank"), ranks((800, 801, 802, 803, 60)))
    assert document.verdict.conclusion == "INCONCLUSIVE"
    flag = next(f for f in document.verdict.flags if f.kind == "one seed left out")
    assert flag.text == (
        "With one seed left out it stays INCONCLUSIVE in 14 of 15 cases: one seed can tip it, so "
        "more are needed, and none may be dropped."
    )


def test_a_conclusion_that_hangs_on_the_threshold_is_flagged() -> None:
    """A ratio that falls below the limit at ten times the threshold is fragile."""
    document = judged(claim("mos_rank"), ranks(HIGH), tenfold=0.3)
    assert document.verdict.conclusion == "CONFIRMED"
    assert {flag.kind for flag in document.verdict.flags} == {"tolerance"}


def test_a_rank_at_its_ceiling_is_flagged() -> None:
    """A full rank cannot grow, so the ratio says how small the others are and no more."""
    document = judged(claim("mos_rank"), ranks((999, 1000, 998, 1000, 999)))
    assert "ceiling" in {flag.kind for flag in document.verdict.flags}


@pytest.mark.parametrize(
    ("values", "conclusion"),
    [
        (plif(frozen=0.1, softmax=2, train_softmax=-2), "CONFIRMED"),
        (plif(frozen=9.0, softmax=2, train_softmax=-2), "CONTRADICTED"),
        (plif(frozen=0.1, softmax=-2, train_softmax=-2), "CONTRADICTED"),
        (plif(frozen=0.1, softmax=2, train_softmax=2), "CONTRADICTED"),
        (plif(frozen=0.9, softmax=2, train_softmax=-2), "INCONCLUSIVE"),
        (plif(frozen=0.1, softmax=0, train_softmax=-2), "INCONCLUSIVE"),
    ],
)
def test_regularisation_is_a_conjunction(values: Values, conclusion: str) -> None:
    """Equivalence of frozen and learned, worse train and better test must all hold."""
    document = judged(claim("lms_plif_regularization"), values)
    assert document.verdict.conclusion == conclusion


def test_the_papers_rule_is_repeated_and_counts_for_nothing() -> None:
    """The as-published test is shown with its warning, and has no conclusion of its own."""
    document = judged(claim("fair_mos"), fair(0.0))
    entry = next(one for one in document.results if one.id == "as_published")
    assert entry.conclusion is None
    assert entry.test == "Student's t-test, two-sided"
    assert "By the paper's rule the difference is not significant" in entry.sentence
    assert "no evidence of equality" in entry.sentence


@pytest.mark.parametrize(
    ("shift", "conclusion"),
    [(-2.0, "CONFIRMED"), (0.0, "CONFIRMED"), (0.3, "INCONCLUSIVE"), (2.0, "CONTRADICTED")],
)
def test_not_better_is_decided_by_the_margin(shift: float, conclusion: str) -> None:
    """MoS is not better unless it beats Softmax by the margin; at the margin nothing is decided."""
    document = judged(claim("fair_mos", "paper"), fair(shift))
    assert document.verdict.conclusion == conclusion


def test_unequal_sizes_are_not_comparable() -> None:
    """Arms whose numbers of parameters differ by more than declared carry no conclusion."""
    of = claim("fair_mos")
    smaller = claim("mos_rank").arms["softmax"]
    document = judged(of.model_copy(update={"arms": {**of.arms, "softmax": smaller}}), fair(0.0))
    assert document.verdict.validity == "NOT-COMPARABLE"
    assert "74,984" in document.verdict.validity_reason
    assert document.verdict.conclusion is None
    assert code(document) == 3


@pytest.mark.parametrize("scale", ["quick", "bench"])
def test_only_the_paper_scale_speaks_about_the_paper(scale: ScaleName) -> None:
    """At quick and bench every agreement is NOT-CHECKABLE, and says why."""
    document = judged(claim("fair_mos", scale), fair(0.05))
    assert {one.agreement for one in document.published} == {"NOT-CHECKABLE"}
    assert f"the {scale} scale is not the paper's experiment" in document.verdict.agreement_reason


@pytest.mark.parametrize(
    ("shift", "agreement"),
    [(0.06, "COMPATIBLE"), (2.0, "LARGER"), (-2.0, "OPPOSITE")],
)
def test_agreement_is_by_the_prediction_interval(shift: float, agreement: str) -> None:
    """At paper scale our effect is compared with what the printed numbers predict (-0.06)."""
    document = judged(claim("fair_mos", "paper"), fair(shift))
    assert document.verdict.agreement == agreement


def test_a_printed_number_without_scatter_is_not_checkable() -> None:
    """Yang's ranks are of one run each, so nothing predicts a replication; the reason says so."""
    values = ranks([9981.0] * 10, moc=282, softmax=402)
    document = judged(claim("mos_rank", "paper"), values)
    yang = next(one for one in document.published if one.expectation == "far_above_moc")
    assert yang.agreement == "NOT-CHECKABLE"
    assert "no standard deviation" in yang.reason


def test_an_expected_contradiction_is_as_expected() -> None:
    """A claim may declare another conclusion; then that is what exits with 0."""
    why = "declared beforehand, to test the declaration"
    of = claim("mos_rank", expect=Expect(conclusion="contradicted", why=why))
    document = judged(of, ranks((40, 41, 42, 40, 41)))
    assert document.verdict.as_expected
    assert document.verdict.expected_why == why
    assert code(document) == 0
    assert code(judged(of, ranks(HIGH))) == 1


def test_a_test_that_would_mean_nothing_is_refused_in_words() -> None:
    """Means without any variance are not compared: NOT-TESTED, with the reason."""
    values = {arm: {"test_perplexity": [56.0] * 10} for arm in ("mos", "softmax")}
    document = judged(claim("fair_mos", "paper"), values)
    entry = next(one for one in document.results if one.id == "not_better")
    assert entry.conclusion == document.verdict.conclusion == "NOT-TESTED"
    assert code(document) == 3
    assert entry.effect is None
    assert "varia" in entry.sentence


def test_documents_of_the_same_evidence_are_equal_but_for_provenance() -> None:
    """Everything that derives from time or machine is in provenance, and nothing else is."""
    first, second = (judged(claim("mos_rank"), ranks(HIGH)) for _ in range(2))
    assert first.model_dump(exclude={"provenance"}) == second.model_dump(exclude={"provenance"})


def test_every_result_shows_its_verdict_with_each_seed_left_out() -> None:
    """A ratio over two arms of five has ten such verdicts."""
    document = judged(claim("mos_rank"), ranks(HIGH))
    entry = next(one for one in document.results if one.id == "far_above_moc")
    assert len(entry.left_out) == 10
    assert {one.conclusion for one in entry.left_out} == {"CONFIRMED"}


def test_judging_never_imports_torch() -> None:
    """A report can be judged and written on a machine without torch."""
    program = (
        "import sys; from tests.without_torch import NoTorch\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "from tests.judging.evidence import HIGH, claim, judged, ranks\n"
        "print(judged(claim('mos_rank'), ranks(HIGH)).verdict.conclusion)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "CONFIRMED", done.stderr
