"""What a design can find, by the scatter that its test has."""

from __future__ import annotations

from typing import Any

import pytest

from repro.judging.design_power import design_parts, refuse_designs
from repro.judging.document_parts import DesignPart
from repro.specs.claim import Claim
from repro.stats.power import PairedDesign, power_difference
from tests.judging.made import made
from tests.judging.test_kinds import difference

PRINTED: dict[str, Any] = {
    "expectation": "e0",
    "locator": "Table 1",
    "arms": {
        name: {"mean": mean, "sd": "1.00", "n": 8} for name, mean in (("a", "9"), ("b", "10"))
    },
}
WHY = "as eight seeds of a first trial"


def paired(**fields: Any) -> Claim:
    """a is 1 lower than b, as printed, in pairs of seeds."""
    whole = {"design": "paired", "seeds": {"min": 8, "plan": 8}, "published": [PRINTED]}
    return made(difference(test="paired"), **{**whole, **fields})


def part(of: Claim) -> DesignPart:
    """What is said of its only expectation."""
    (found,) = design_parts(of)
    return found


def test_the_scatter_of_the_arms_says_nothing_of_pairs() -> None:
    """Pairs of correlated seeds scatter less, of unrelated ones more: no power is computed."""
    found = part(paired())
    assert found.power is None
    assert found.refused == ""
    assert found.note == "The claim plans no sd_of_differences of 'loss' (planned_sd)."
    refuse_designs([paired()])


def test_the_scatter_of_the_arms_is_not_taken_for_that_of_pairs() -> None:
    """A planned sd is that of an arm, whatever its size."""
    assert part(paired(planned_sd={"loss": {"sd": 9.0, "why": WHY}})).power is None


@pytest.mark.parametrize("sd", [0.2, 0.8, 1.5])
def test_pairs_are_planned_by_the_scatter_of_their_differences(sd: float) -> None:
    """Which the claim states."""
    found = part(paired(planned_sd={"loss": {"sd_of_differences": sd, "why": WHY}}))
    assert found.power == pytest.approx(power_difference(PairedDesign(sd, 8, 0.05), 1.0))
    assert (found.sd, found.sd_source) == ((sd,), WHY)


def test_arms_are_not_planned_by_the_scatter_of_differences() -> None:
    """Welch's test has need of that of the arms."""
    scatter = {"loss": {"sd_of_differences": 0.2, "why": WHY}}
    of = made(difference(), seeds={"min": 8, "plan": 8}, planned_sd=scatter)
    assert part(of).note == "The claim plans no sd of 'loss' (planned_sd)."


@pytest.mark.parametrize(
    ("n", "power", "said"),
    [(4, 0.473, "The power is simulated"), (5, 0.767, "Computed by Welch's t-test")],
)
def test_four_replicates_have_the_power_of_the_permutation_test(
    n: int, power: float, said: str
) -> None:
    """With 70 splits Welch's power for two sds, .61, is far above that of the test, .47."""
    arms = {**PRINTED["arms"], "a": {"mean": "8", "sd": "1.00", "n": 8}}
    printed = {**PRINTED, "arms": arms}
    found = part(
        made(difference(test="permutation"), seeds={"min": n, "plan": n}, published=[printed])
    )
    assert found.power == pytest.approx(power, abs=0.01)
    assert found.note.startswith(said)
