"""What a reader of the report alone must be told of a verdict."""

from __future__ import annotations

from tests.judging.made import LOSS, judged, made
from tests.judging.test_judgement import FAILS, HOLDS, OPEN
from tests.judging.test_kinds import HIGH, LOW, difference


def test_the_combination_is_told() -> None:
    """A reader of the report alone sees what was joined how, and that Holm's levels decide."""
    tree = {"all": ["e0", {"any": ["e1", "e2"]}]}
    document = judged(made(HOLDS, FAILS, OPEN, combine=tree), {"a": LOW, "b": HIGH})
    said = "The declared combination (all of e0, (at least one of e1, e2 by Holm)) is not decided. "
    assert document.verdict.sentence.startswith(said)


def test_the_p_beside_a_smallest_effect_says_of_what_it_is() -> None:
    """It is that of no difference, and not of the effect that was declared."""
    least = {"abs": 0.5, "why": "half a unit of loss"}
    values = {"a": LOW, "b": HIGH}
    (found,) = judged(made(difference(smallest_effect=least)), values).results
    assert "Better (p = 4.1e−8), and by more than 0.5, as claimed" in found.sentence


def test_benchmarks_are_named_as_the_units() -> None:
    """Of a proportion over measurements neither seeds nor one measurement are the units."""
    names = [f"task{number}" for number in range(6)]
    measurements = {name: {**LOSS, "label": f"loss on {name}"} for name in names}
    one = {"kind": "proportion", "measurement": "task0", "of": ["a", "b"], "clusters": "none"}
    of = made({**one, "also": names[1:]}, measurements=measurements)
    values = {arm: dict.fromkeys(names, own) for arm, own in (("a", LOW), ("b", HIGH))}
    (found,) = judged(of, values).results
    assert found.details["units"] == ", ".join(f"loss on {name}" for name in names)
    assert "seeds" not in found.details
