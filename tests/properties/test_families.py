"""A seed that is added changes the claims that use its arm, and those of their families, only."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.expectations.verdict_words import Conclusion, Finding
from repro.judging.assemble import document_of
from repro.judging.judge import Judgement, judge_claim, judge_families
from repro.judging.verdict import adjust_family
from repro.specs.claim import Claim
from repro.stats.multiplicity import adjusted_e_values, benjamini_hochberg, holm
from tests.judging.made import made, seen
from tests.properties.kinds import (
    KINDS,
    Values,
    claim_of,
    difference,
    renamed,
    values_of,
)

OTHER = dict(zip("abcdef", "uvwxyz", strict=True))
FAMILY: dict[str, Any] = {
    "name": "both",
    "method": "holm",
    "members": ["grown", "sister"],
    "why": "one sentence of the paper needs both",
}


def member(name: str) -> Claim:
    """A claim of a lower mean, one of the family."""
    written = difference()(1.0, 1.0)
    return made(written, id=name, family=FAMILY, seeds={"min": 2, "plan": 5})


def one_more(values: Values, arm: str, value: float) -> Values:
    """The values with one seed more in one arm."""
    grown = {name: [*column, value] for name, column in values[arm].items()}
    return {**values, arm: grown}


def outsider(name: str) -> Claim:
    """A claim of the kind on arms of its own, in no family."""
    claim = claim_of(KINDS[name])
    return claim.model_copy(
        update={
            "id": "outside",
            "arms": {OTHER[arm]: own for arm, own in claim.arms.items()},
            "expectations": tuple(
                one.model_copy(update={"of": tuple(OTHER[arm] for arm in one.of)})
                for one in claim.expectations
            ),
        }
    )


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=4)
@given(data=st.data())
def test_a_seed_changes_no_claim_outside(name: str, data: st.DataObject) -> None:
    """Whatever value the new seed has, a claim on other arms, in no family, is untouched."""
    inside = data.draw(values_of(KINDS["difference, welch"]))
    sisters = data.draw(values_of(KINDS["difference, welch"]))
    outside = renamed(data.draw(values_of(KINDS[name])), OTHER)
    extreme = data.draw(st.sampled_from((-1e6, 0.0, 9.0, 1e6)))
    seen_by: list[tuple[Judgement, ...]] = []
    for own in (inside, one_more(inside, "a", extreme)):
        claims = (member("grown"), own), (member("sister"), sisters), (outsider(name), outside)
        seen_by.append(judge_families([judge_claim(one, seen(one, v)) for one, v in claims]))
    before, after = seen_by
    assert after[2] == before[2]
    assert after[1].alone == before[1].alone
    assert after[0].judged != before[0].judged


def test_the_report_of_a_claim_outside_is_the_same() -> None:
    """But for the moment at which it was judged the whole document is equal."""
    texts = []
    for more in ({}, {"a": 1e6}):
        inside = {"a": {"loss": [8.0, 8.25, 8.5, 8.0, 8.125]}, "b": {"loss": [9.0, 9.5, 9.25] * 2}}
        for arm, value in more.items():
            inside = one_more(inside, arm, value)  # type: ignore[assignment]
        outside = {"u": {"loss": [8.0, 9.0, 8.5, 8.0, 8.25]}, "v": {"loss": [9.0, 9.5, 9.25, 9, 8]}}
        claims = (member("grown"), inside), (outsider("equivalence, abs"), outside)
        both = judge_families([judge_claim(one, seen(one, v)) for one, v in claims])
        texts.append(document_of(both[1], command="").model_dump(exclude={"provenance"}))
    assert texts[0] == texts[1]


def test_a_seed_does_reach_the_family() -> None:
    """A sister that Holm let stand beside strong evidence falls when that evidence is gone."""
    sister = {
        "a": {"loss": [8.0, 8.25, 8.5, 8.0, 8.125]},
        "b": {"loss": [8.5, 8.25, 8.5, 8.75, 8.5]},
    }
    strong = {
        "a": {"loss": [8.0, 8.25, 8.5, 8.0, 8.125]},
        "b": {"loss": [9.0, 9.5, 9.25, 9.0, 9.5]},
    }
    words = []
    for own in (strong, one_more(strong, "a", 1e6)):
        pair = (member("grown"), own), (member("sister"), sister)
        words.append(judge_families([judge_claim(one, seen(one, v)) for one, v in pair])[1])
    assert [one.finding.conclusion if one.finding else None for one in words] == [
        Conclusion.CONFIRMED,
        Conclusion.INCONCLUSIVE,
    ]
    assert words[0].alone == words[1].alone


chances = st.lists(st.floats(0, 1), min_size=1, max_size=7)
evidence = st.lists(st.floats(0, 1e4), min_size=1, max_size=7)
ADJUSTMENTS = {"holm": holm, "bh": benjamini_hochberg}


@pytest.mark.parametrize("method", ADJUSTMENTS)
@given(chances, st.data())
def test_a_smaller_p_makes_no_adjusted_one_larger(
    method: str, ps: list[float], data: st.DataObject
) -> None:
    """Stronger evidence of one claim weakens none of the family."""
    adjust = ADJUSTMENTS[method]
    place, factor = data.draw(st.integers(0, len(ps) - 1)), data.draw(st.floats(0, 1))
    stronger = [factor * p if i == place else p for i, p in enumerate(ps)]
    assert all(
        new <= old * (1 + 1e-12) for new, old in zip(adjust(stronger), adjust(ps), strict=True)
    )


@pytest.mark.parametrize("method", ADJUSTMENTS)
@given(chances)
def test_adjusted_p_values_keep_their_order(method: str, ps: list[float]) -> None:
    """Adjusting makes no p smaller, none larger than 1, and keeps which is the stronger."""
    adjusted = ADJUSTMENTS[method](ps)
    assert all(p <= own * (1 + 1e-12) and own <= 1 for p, own in zip(ps, adjusted, strict=True))
    by_p = [own for _, own in sorted(zip(ps, adjusted, strict=True))]
    assert by_p == sorted(by_p)


@given(chances)
def test_holm_is_the_stricter(ps: list[float]) -> None:
    """Holm's adjusted p is never below Benjamini and Hochberg's, nor above Bonferroni's."""
    for strict, loose, p in zip(holm(ps), benjamini_hochberg(ps), ps, strict=True):
        assert loose <= strict * (1 + 1e-12)
        assert strict <= min(1.0, p * len(ps)) * (1 + 1e-12)


@pytest.mark.parametrize("method", ADJUSTMENTS)
@given(chances, st.data())
def test_members_may_stand_in_any_order(method: str, ps: list[float], data: st.DataObject) -> None:
    """The adjusted p of a member does not depend on its place."""
    adjust, order = ADJUSTMENTS[method], data.draw(st.permutations(range(len(ps))))
    adjusted = adjust(ps)
    assert adjust([ps[i] for i in order]) == pytest.approx([adjusted[i] for i in order], rel=1e-12)


@pytest.mark.parametrize("method", ADJUSTMENTS)
@given(chances)
def test_a_larger_family_confirms_no_more(method: str, ps: list[float]) -> None:
    """A member that found nothing lowers no adjusted p."""
    adjust = ADJUSTMENTS[method]
    among = adjust([*ps, 1.0])[: len(ps)]
    assert all(own <= other * (1 + 1e-12) for own, other in zip(adjust(ps), among, strict=True))


@given(evidence, st.data())
def test_more_e_loses_no_rejection(es: list[float], data: st.DataObject) -> None:
    """A larger e-value of one member lowers no adjusted one, so that e-BH rejects no less."""
    place, factor = data.draw(st.integers(0, len(es) - 1)), data.draw(st.floats(1, 50))
    stronger = [factor * e if i == place else e for i, e in enumerate(es)]
    for new, old in zip(adjusted_e_values(stronger), adjusted_e_values(es), strict=True):
        assert new >= old


@given(evidence, st.data())
def test_e_values_may_stand_in_any_order(es: list[float], data: st.DataObject) -> None:
    """The adjusted e-value of a member does not depend on its place, nor exceeds its own."""
    order = data.draw(st.permutations(range(len(es))))
    adjusted = adjusted_e_values(es)
    assert adjusted_e_values([es[i] for i in order]) == tuple(adjusted[i] for i in order)
    assert all(new <= max(es) for new in adjusted)
    assert all(
        own * 0.05 < 1 or e * 0.05 >= 1 / len(es) for own, e in zip(adjusted, es, strict=True)
    )


METHODS: tuple[Literal["holm", "bh"], ...] = ("holm", "bh")


@pytest.mark.parametrize("method", METHODS)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6))
def test_a_family_only_takes_away(
    method: Literal["holm", "bh"], rows: list[tuple[float, float]]
) -> None:
    """Among others a claim keeps its word or becomes INCONCLUSIVE; it never gains one."""
    words = [Conclusion.CONFIRMED, Conclusion.CONTRADICTED, Conclusion.TRIVIAL]
    before = [Finding(words[i % 3], *row) for i, row in enumerate(rows)]
    for own, other in zip(before, adjust_family(before, method=method), strict=True):
        assert other is not None
        assert other.conclusion in (own.conclusion, Conclusion.INCONCLUSIVE)
        assert other.p >= own.p * (1 - 1e-12)
