"""Judging values that were not trained here: a user's table, printed numbers, and mixtures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pytest

from repro.evidence.csv_table import TableFile, frame_table
from repro.evidence.evidence import Evidence, PublishedArm
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import from_table, measured, table_schema
from repro.report.view import view
from repro.report.write import document_text
from repro.specs.claim import Claim, ScaleName
from tests.evidence.tidy import MOS, RANKS, printed_softmax
from tests.judging.evidence import claim, evidence, fair

MINE = "a pandas frame"


def own(
    of: Claim, values: Mapping[str, Sequence[float]], measurement: str = "rank", first: int = 0
) -> Evidence:
    """The user's own values of one measurement."""
    rows = [(a, first + i, measurement, v) for a, vs in values.items() for i, v in enumerate(vs)]
    frame = pd.DataFrame(rows, columns=["arm", "seed", "measurement", "value"])
    return from_table(of, frame_table(frame, table_schema(of, measured(of))))


def ranks(of: Claim | None = None, **changes: Sequence[float]) -> Document:
    """mos_rank judged on ranks of the user's own."""
    of = of or claim("mos_rank")
    return check_claim(of, own(of, {**RANKS, **changes}))


def control_flags(document: Document) -> list[str]:
    """What the flags say about controls."""
    return [flag.text for flag in document.verdict.flags if flag.kind == "canary"]


def test_a_users_own_ranks_confirm_the_rank_claim() -> None:
    """The verdict is that of the same values from runs; the control that is missing is a flag."""
    document = ranks()
    assert document.verdict.validity == "VALID"
    assert document.verdict.conclusion == "CONFIRMED"
    assert [one.state for one in document.canaries] == ["passed", "missing"]
    said = control_flags(document)
    assert len(said) == 3
    assert all("not controlled for" in one and MINE in one for one in said)
    assert {flag.kind for flag in document.verdict.flags} == {"canary"}


def test_a_users_own_rank_above_the_bound_is_invalid() -> None:
    """d + 2 binds whoever measured: a Softmax rank of 34.5 cannot be, and no rounding hides it."""
    document = ranks(softmax=(34, 34, 34.5, 34, 34))
    assert document.verdict.validity == "INVALID"
    assert "Softmax 34 to 34.5" in document.verdict.validity_reason


def test_a_users_own_rank_below_the_bound_is_a_flag() -> None:
    """A low rank is flagged as it is for runs."""
    assert any(
        "measured" in one and "lower than" in one for one in control_flags(ranks(moc=[33] * 5))
    )


def test_a_table_without_the_arms_configuration_cannot_be_bounded() -> None:
    """Without a configuration there is no d, so the bound is not controlled, and it is said."""
    of = claim("mos_rank")
    bare = {
        n: a.model_copy(update={"configuration": None, "source": TableFile(table="x.csv")})
        for n, a in of.arms.items()
    }
    comparable = of.comparable.model_copy(update={"same": ()})
    document = ranks(of.model_copy(update={"arms": bare, "comparable": comparable}))
    assert document.verdict.validity == "VALID"
    assert [one.state for one in document.canaries] == ["missing", "missing"]
    assert len(control_flags(document)) == 5
    assert {arm.parameters for arm in document.arms} == {None}


def test_fewer_seeds_than_planned_are_incomplete() -> None:
    """Four of the five planned seeds carry no conclusion, whoever left the fifth out."""
    document = ranks(mos=MOS[:4])
    assert document.verdict.validity == "INCOMPLETE"
    assert document.verdict.validity_reason == "MoS (K=4): 4 of 5 seeds"
    assert document.changes[0].text == f"Add 1 seed of MoS (K=4) to {MINE}."


def test_more_seeds_than_planned_all_count() -> None:
    """Seven seeds are seven, and the report says that five were planned."""
    document = ranks(mos=(*MOS, 800, 805))
    assert document.verdict.conclusion == "CONFIRMED"
    mos = document.arms[0]
    assert (mos.summaries[0].n, mos.planned) == (7, 5)
    assert "7, 5 planned" in document_text_of_view(document)


def document_text_of_view(document: Document) -> str:
    """Everything that a reader of the report sees."""
    return repr(view(document))


def test_the_report_says_whose_the_values_are() -> None:
    """At the top and where it is told how it was run: the file, its digest, and who vouches."""
    document = ranks()
    assert document.scale.notice.endswith(
        "The values of all arms are the user's own, from " + MINE + "."
    )
    digest = document.arms[0].table.sha256 if document.arms[0].table else ""
    assert len(digest) == 64
    seen = document_text_of_view(document)
    assert digest in seen
    assert "nothing has checked it" in seen
    assert "Each dot is one seed" in seen


def test_a_report_on_runs_says_nothing_of_tables() -> None:
    """The words about tables are absent where everything was trained."""
    of = claim("fair_mos")
    document = check_claim(of, evidence(of, fair(0.0)))
    seen = document_text_of_view(document)
    assert document.scale.notice == of.notice.strip()
    assert "Where the values are from" not in seen
    assert "Each dot is one trained model" in seen
    assert {(arm.evidence, arm.table) for arm in document.arms} == {("runs", None)}


def test_order_of_rows_and_names_of_seeds_never_matter() -> None:
    """Seeds are names in an independent design: other numbers, the same results."""
    of = claim("mos_rank")
    low, high = own(of, RANKS), own(of, RANKS, first=1000)
    one, other = check_claim(of, low), check_claim(of, high)
    assert one.verdict == other.verdict
    assert [r.effect for r in one.results] == [r.effect for r in other.results]


@pytest.mark.parametrize(
    ("scale", "checked"), [("quick", False), ("bench", False), ("paper", True)]
)
def test_agreement_is_only_for_the_papers_scale_and_says_whose_values(
    scale: ScaleName, *, checked: bool
) -> None:
    """A table at paper scale is compared with the paper, and the reason names the table."""
    of = claim("fair_mos", scale)
    columns = {arm: values["test_perplexity"] for arm, values in fair(0.06).items()}
    verdict = check_claim(of, own(of, columns, "test_perplexity")).verdict
    assert (verdict.agreement != "NOT-CHECKABLE") == checked
    assert (MINE in verdict.agreement_reason) == checked


def mixed(mean: str, sd: str | None, n: int | None) -> Document:
    """My ten runs of MoS, at 56.4, against a printed baseline."""
    of = printed_softmax(mean, sd, n)
    mine = evidence(claim("fair_mos", "paper"), fair(0.0)).arms["mos"]
    numbers = PublishedArm(mean=mean, sd=sd, n=n)
    return check_claim(
        of, Evidence({"mos": mine, "softmax": ()}, {"softmax": {"test_perplexity": numbers}})
    )


@pytest.mark.parametrize(
    ("mean", "conclusion"), [("56.40", "CONFIRMED"), ("58.10", "CONTRADICTED")]
)
def test_my_runs_are_judged_against_a_printed_baseline(mean: str, conclusion: str) -> None:
    """Welch's test takes a summary on one side, and the report says which side that is."""
    document = mixed(mean, "0.10", 10)
    assert document.verdict.validity == "VALID"
    assert document.verdict.conclusion == conclusion
    assert [arm.evidence for arm in document.arms] == ["runs", "published"]
    assert document.scale.notice.endswith("The values of Softmax, printed are printed numbers.")
    printed = document.arms[1].summaries[0]
    assert (printed.mean, printed.sd, printed.n, printed.low) == (float(mean), 0.1, 10, None)
    assert f"{mean} ± 0.10, 10 seeds, as printed" in document_text_of_view(document)


def test_printed_and_sampled_arms_give_the_numbers_of_two_samples() -> None:
    """Mean, sd and n of the sample itself in place of the sample change no statistic."""
    of = claim("fair_mos", "paper")
    both = check_claim(of, evidence(of, fair(0.0)))
    known = evidence(of, fair(0.0)).sample("softmax", "test_perplexity").summary()
    half = mixed(repr(known.mean), repr(known.sd), known.n)
    ours = {r.id: (r.effect, r.p, r.df) for r in both.results}
    theirs = {r.id: (r.effect, r.p, r.df) for r in half.results}
    assert ours.keys() == theirs.keys()
    for name, numbers in ours.items():
        assert theirs[name] == pytest.approx(numbers, rel=1e-9)


def test_a_printed_baseline_cancels_from_the_agreement() -> None:
    """Where b is the paper's own number on both sides only a has an error, so less is expected."""
    shared, own = (mixed(mean, "0.10", 10).published[0].replication for mean in ("56.45", "56.46"))
    assert shared is not None
    assert own is not None
    width = own.prediction[1] - own.prediction[0]
    assert shared.prediction[1] - shared.prediction[0] < 0.95 * width
    assert shared.sceptical_golden is None
    assert own.sceptical_golden is not None


def test_printed_numbers_do_not_agree_with_themselves() -> None:
    """Where every arm is printed, nothing of ours agrees with the paper or differs from it."""
    of = printed_softmax("56.45", "0.10", 10)
    of = of.model_copy(update={"arms": dict.fromkeys(of.arms, of.arms["softmax"])})
    numbers = {"test_perplexity": PublishedArm(mean="56.45", sd="0.1", n=10)}
    found = Evidence(dict.fromkeys(of.arms, ()), dict.fromkeys(of.arms, numbers))
    verdict = check_claim(of, found).verdict
    assert verdict.validity == "VALID"
    assert verdict.agreement == "NOT-CHECKABLE"


@pytest.mark.parametrize(("sd", "n"), [(None, 10), ("0.10", None), (None, None)])
def test_a_bare_mean_is_refused_in_words(sd: str | None, n: int | None) -> None:
    """Without deviation or number of seeds nothing is concluded, and the reason is a sentence."""
    document = mixed("56.40", sd, n)
    assert document.verdict.conclusion == "NOT-TESTED"
    assert {one.p for one in document.results} == {None}
    assert all(one.sentence for one in document.results)
    assert document_text(document)
