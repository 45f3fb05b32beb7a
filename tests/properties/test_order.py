"""The order of seeds, of arms, of expectations and of claims never matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.judging.judge import Judgement, judge_claim, judge_families
from repro.specs.claim import Claim
from tests.judging.made import made, seen
from tests.properties.kinds import (
    KINDS,
    Values,
    each,
    first,
    judge,
    known_claim,
    margin,
    plain,
    renamed,
    values_of,
    words,
)

TIMELESS = [name for name, kind in KINDS.items() if not kind.in_time]


def shuffled(data: st.DataObject, values: Values, *, together: bool) -> Values:
    """The same values with their seeds numbered in another order, one order for all or each own."""
    n = len(next(iter(values.values()))["loss"])
    orders = st.permutations(range(n))
    order = data.draw(orders)
    found = {}
    for arm, own in values.items():
        mine = order if together else data.draw(orders)
        found[arm] = {name: [column[place] for place in mine] for name, column in own.items()}
    return found


def assert_same(one: Judgement, other: Judgement) -> None:
    """Both say the same of every expectation and of the claim, but for round-off."""
    assert one.validity is other.validity
    for mine, others in zip(one.judged, other.judged, strict=True):
        assert words(mine) == words(others)
        assert (others.finding.p, others.finding.p_opposite) == pytest.approx(
            (mine.finding.p, mine.finding.p_opposite), rel=1e-7, abs=1e-300
        )
        if mine.result is not None and others.result is not None:
            assert others.result.effect == pytest.approx(mine.result.effect, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", TIMELESS)
@settings(max_examples=7)
@given(data=st.data())
def test_seeds_have_numbers_and_no_order(name: str, data: st.DataObject) -> None:
    """Which seed gave which value changes nothing, as long as pairs stay pairs."""
    kind = KINDS[name]
    values = data.draw(values_of(kind))
    other = shuffled(data, values, together=kind.together)
    assert_same(judge(known_claim(name), values), judge(known_claim(name), other))


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=4)
@given(data=st.data())
def test_the_order_in_which_seeds_are_listed_means_nothing(name: str, data: st.DataObject) -> None:
    """Seeds may be listed in any order: they are known by their numbers."""
    claim, values = known_claim(name), data.draw(values_of(KINDS[name]))
    listed = seen(claim, values)
    other = replace(
        listed,
        arms={arm: tuple(data.draw(st.permutations(own))) for arm, own in listed.arms.items()},
    )
    assert_same(judge_claim(claim, listed), judge_claim(claim, other))


@pytest.mark.parametrize("name", [name for name in KINDS if len(KINDS[name].arms) > 1])
@settings(max_examples=4)
@given(data=st.data())
def test_the_order_in_which_arms_are_listed_means_nothing(name: str, data: st.DataObject) -> None:
    """Arms may be declared and listed in any order, and have any names."""
    kind, claim, values = KINDS[name], known_claim(name), data.draw(values_of(KINDS[name]))
    order = data.draw(st.permutations([*kind.arms]))
    turned = claim.model_copy(update={"arms": {arm: claim.arms[arm] for arm in order}})
    assert_same(judge(claim, values), judge(turned, {arm: values[arm] for arm in order}))
    names = dict(zip(kind.arms, "uvwxyz", strict=False))
    other = claim.model_copy(
        update={
            "arms": {names[arm]: claim.arms[arm] for arm in order},
            "expectations": tuple(
                one.model_copy(update={"of": tuple(names[arm] for arm in one.of)})
                for one in claim.expectations
            ),
        }
    )
    assert_same(judge(claim, values), judge(other, renamed(values, names)))


@settings(max_examples=7)
@given(data=st.data())
def test_the_order_of_arms_in_a_cloud_of_points_means_nothing(data: st.DataObject) -> None:
    """An association over the seeds of several arms is that of its points, clustered by arm."""
    kind = KINDS["association, of arms"]
    values = data.draw(values_of(kind))
    own, other = (
        first(made(_cloud(order), arms="abcdef", **_two(kind.n)), values)
        for order in ("abcdef", "".join(data.draw(st.permutations("abcdef"))))
    )
    if own.result is None or other.result is None:
        assert own.refused == other.refused
        return
    assert own.result.effect == pytest.approx(other.result.effect, abs=1e-12)
    assert own.finding == other.finding


def _cloud(arms: str) -> dict[str, Any]:
    return plain("association", arms, against="size", points="replicates", direction="positive")(
        1.0, 1.0
    )


def _two(n: int) -> dict[str, Any]:
    return {
        "measurements": dict(known_claim("association, of arms").measurements),
        "seeds": {"min": 2, "plan": n},
    }


PARTS: tuple[dict[str, Any], ...] = (
    {"id": "up", **plain("difference", direction="lower", test="welch")(1.0, 1.0)},
    {"id": "near", **margin("equivalence")(1.0, 1.0)},
    {"id": "not_worse", **margin("non_inferiority")(1.0, 1.0)},
    {
        "id": "apart",
        "kind": "separation",
        "of": ["b", "a"],
        "at_least": {"value": 1, "why": "every seed of it"},
    },
)
TREES: tuple[dict[str, Any] | None, ...] = (
    None,
    {"all": ["up", "near", "not_worse", "apart"]},
    {"any": ["up", "near", "not_worse", "apart"]},
    {"any": ["near", {"all": ["up", "not_worse", "apart"]}]},
    {"all": ["not_worse", {"any": ["near", {"all": ["up", "apart"]}]}]},
)


def turned(data: st.DataObject, tree: Any) -> Any:
    """The tree with the parts of every node in another order."""
    if not isinstance(tree, dict):
        return tree
    ((word, parts),) = tree.items()
    return {word: [turned(data, part) for part in data.draw(st.permutations(parts))]}


@pytest.mark.parametrize("tree", TREES)
@settings(max_examples=10)
@given(data=st.data())
def test_the_order_of_expectations_means_nothing(tree: Any, data: st.DataObject) -> None:
    """Expectations, and the parts of a tree that joins them, may stand in any order."""
    values = data.draw(values_of(KINDS["equivalence, abs"]))
    order = data.draw(st.permutations(PARTS))
    own, other = (
        judge(made(*parts, combine=how, seeds={"min": 2, "plan": 5}), values)
        for parts, how in ((PARTS, tree), (order, turned(data, tree)))
    )
    assert own.finding == other.finding


def family(members: Sequence[str], method: str) -> dict[str, Any]:
    """A family of these claims."""
    return {"name": "all", "method": method, "members": [*members], "why": "one sentence needs all"}


def member(name: str, how: dict[str, Any]) -> Claim:
    """A claim of a lower mean, in a family."""
    return made(
        plain("difference", direction="lower", test="welch")(1.0, 1.0),
        id=name,
        family=how,
        seeds={"min": 2, "plan": 5},
    )


@pytest.mark.parametrize("method", ["holm", "bh"])
@settings(max_examples=10)
@given(data=st.data())
def test_the_order_of_claims_means_nothing(method: str, data: st.DataObject) -> None:
    """Claims of a family may be judged, and be named in it, in any order."""
    names = ["one", "two", "three", "four"]
    values = {name: data.draw(values_of(KINDS["difference, welch"])) for name in names}
    whole = []
    for order in (names, data.draw(st.permutations(names))):
        how = family(order, method)
        judged = [
            judge(member(name, how), values[name]) for name in data.draw(st.permutations(names))
        ]
        whole.append({one.claim.id: one.finding for one in judge_families(judged)})
    assert whole[0] == whole[1]


@settings(max_examples=10)
@given(data=st.data())
def test_a_claim_without_family_does_not_know_what_else_is_judged(data: st.DataObject) -> None:
    """A claim that declares no family is judged as if it were alone."""
    claim, values = known_claim("equivalence, abs"), data.draw(values_of(KINDS["equivalence, abs"]))
    lone = judge(claim, values)
    other = judge(member("one", family(["one", "two"], "holm")), values)
    moved = judge(member("two", family(["one", "two"], "holm")), each(values, list))
    assert judge_families([other, lone, moved])[1] == lone == judge_families([lone])[0]
