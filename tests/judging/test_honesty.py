"""What a report must not say: more than its evidence, or something else than its numbers."""

from __future__ import annotations

from tests.judging.evidence import HIGH, claim, code, fair, judged, plif, ranks


def test_runs_of_an_older_revision_are_stale() -> None:
    """A claim that has a run of an older revision only is STALE, and says of which arm."""
    document = judged(claim("mos_rank"), ranks(HIGH), states={("mos", 1): "stale"})
    assert document.verdict.validity == "STALE"
    assert document.verdict.validity_reason == "MoS (K=4): 1 of 5 runs are of an older revision"
    assert document.verdict.conclusion is None
    assert code(document) == 3


def test_evidence_that_is_not_valid_concludes_nothing_anywhere() -> None:
    """No expectation keeps a conclusion, and no printed number an agreement, unless VALID."""
    states = {("mos", 3): "missing"}
    document = judged(claim("fair_mos", "paper"), fair(2.0), states=states)
    assert document.verdict.validity == "INCOMPLETE"
    assert {one.conclusion for one in document.results} == {None}
    assert {one.left_out for one in document.results} == {()}
    assert {one.agreement for one in document.published} == {"NOT-CHECKABLE"}
    assert document.verdict.agreement_reason == "the evidence is INCOMPLETE"


def test_nothing_declared_is_not_called_declared() -> None:
    """A claim whose file expects nothing says so, and counts CONFIRMED as expected."""
    verdict = judged(claim("mos_rank"), ranks(HIGH)).verdict
    assert verdict.expected == ""
    assert verdict.as_expected


def test_printed_digits_widen_what_they_predict() -> None:
    """Ranks two above the printed 9,981 ± 2 are compatible with it, within its rounding."""
    values = ranks([9982.0, 9983.0, 9984.0] * 3 + [9983.0], moc=282, softmax=402)
    document = judged(claim("mos_rank", "paper"), values)
    assert document.verdict.agreement == "COMPATIBLE"
    assert "1 of 2 printed comparisons cannot be checked" in document.verdict.agreement_reason


def test_an_assumed_number_of_seeds_is_shown_beside_the_printed_table() -> None:
    """What a table does not print is said where its numbers are shown."""
    document = judged(claim("fair_mos"), fair(0.0))
    assert all("Table 5" in one.locator for one in document.published)
    assert any("p = 0.62 does not follow" in one.locator for one in document.published)


def test_a_seed_whose_loss_leaves_nothing_to_test_is_not_a_changed_conclusion() -> None:
    """Separation of three and two seeds cannot decide, so leaving one out says nothing."""
    values = ranks((400.0, 410.0, 420.0), moc=66, softmax=66)
    document = judged(claim("mos_rank", "bench"), values)
    entry = next(one for one in document.results if one.id == "separate_from_moc")
    assert entry.conclusion == "CONFIRMED"
    assert {one.conclusion for one in entry.left_out} == {None}
    assert "one seed left out" not in {flag.kind for flag in document.verdict.flags}


def test_a_rank_near_its_ceiling_is_described_by_what_it_is() -> None:
    """The flag gives the ranks and the largest possible one, and does not call them equal."""
    document = judged(claim("mos_rank"), ranks((991, 992, 993, 994, 995)))
    flag = next(one for one in document.verdict.flags if one.kind == "ceiling")
    assert flag.text == (
        "MoS (K=4) reaches 991 to 995 of at most 1,000, so the ratio can hardly be larger."
    )


def test_a_sentence_has_the_digits_that_decide() -> None:
    """A ratio just below the least one is not printed as if it were equal to it."""
    values = ranks([7049.0] * 10, moc=282, softmax=282)
    document = judged(claim("mos_rank", "paper"), values)
    entry = next(one for one in document.results if one.id == "far_above_moc")
    assert entry.conclusion == "CONTRADICTED"
    assert "is 24.996 times" in entry.sentence


def test_a_name_keeps_its_capital_inside_a_sentence() -> None:
    """Clauses are joined without changing the labels at their heads."""
    assert "both decisive" not in judged(claim("mos_rank"), ranks(HIGH)).verdict.sentence
    assert "moS" not in judged(claim("mos_rank"), ranks(HIGH)).verdict.sentence


def test_a_contradiction_that_falls_to_holm_is_flagged_and_explained() -> None:
    """One of three leaves contradicted at 0.04 decides nothing: the sentence and a flag say why."""
    values = plif(frozen=0.1, softmax=2, train_softmax=0.37)
    document = judged(claim("lms_plif_regularization"), values)
    entry = next(one for one in document.results if one.id == "fits_training_worse")
    assert entry.conclusion == "CONTRADICTED"
    assert document.verdict.conclusion == "INCONCLUSIVE"
    said = "One of its three parts is contradicted alone, but not after correction for testing "
    assert document.verdict.sentence.startswith(said)
    assert "multiplicity" in {flag.kind for flag in document.verdict.flags}
    assert any("Holm" in step.text for step in document.changes)


def test_a_contradicted_claim_is_not_told_to_add_seeds() -> None:
    """More seeds for an undecided part cannot undo a contradiction of another."""
    values = plif(frozen=9.0, softmax=0, train_softmax=-2)
    document = judged(claim("lms_plif_regularization"), values)
    assert document.verdict.conclusion == "CONTRADICTED"
    assert not any("seeds per arm" in step.text for step in document.changes)


def test_a_diverged_run_that_is_allowed_for_is_a_flag() -> None:
    """Nine of ten runs are not shown as if they were ten."""
    document = judged(claim("fair_mos", "paper"), fair(0.0), states={("mos", 4): "diverged"})
    assert document.verdict.conclusion == "CONFIRMED"
    flag = next(one for one in document.verdict.flags if one.kind == "diverged")
    assert "MoS†: 1 run diverged" in flag.text


def test_a_significant_difference_comes_without_the_warning() -> None:
    """Only a large p-value is no evidence of equality."""
    document = judged(claim("fair_mos", "paper"), fair(2.0))
    entry = next(one for one in document.results if one.id == "as_published")
    assert "By the paper's rule the difference is significant (p = " in entry.sentence


def test_an_absolute_claim_path_leaves_no_trace() -> None:
    """The document names the claim file below the present folder, or by its name alone."""
    of = claim("mos_rank", file="/somewhere/else/claims/mos_rank.yaml")
    document = judged(of, ranks(HIGH))
    assert document.claim.file == "mos_rank.yaml"
    assert not any("/somewhere" in (step.command or "") for step in document.changes)
