"""What to do about evidence that carries no conclusion: named by its cause, and it works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from repro.evidence.evidence import TableSource, TidyTable
from repro.judging.assemble import check_claim, document_of
from repro.judging.document import Document
from repro.judging.gather import from_table
from repro.judging.judge import judge_claim
from repro.specs.claim import Comparable
from tests.judging.evidence import HIGH, claim, evidence, fair, ranks
from tests.judging.evidence import judged as on_runs
from tests.judging.made import diverging, judged, made
from tests.judging.test_drift import claim as sequential
from tests.judging.test_drift import judged as drifting
from tests.judging.test_drift import steps

LOW, TOP = (10.0, 10.1, 9.9, 10.2, 9.8), (12.0, 12.3, 11.8, 12.1, 11.9)
FLAT, HIGHER, ZEROS = (10.0,) * 5, (11.0,) * 5, (0.0,) * 5
RELATIVE = {"kind": "equivalence", "margin": {"relative": 0.1, "why": "a tenth of the other"}}
ABSOLUTE = {"kind": "equivalence", "margin": {"abs": 5.0, "why": "what matters"}}
SEPARATE = {"kind": "separation", "of": ["b", "a"], "at_least": {"value": 1, "why": "it is above"}}
TWICE = {"kind": "ratio", "at_least": {"value": 2, "why": "twice as much"}}
BETTER = {"kind": "difference", "direction": "lower"}


def advice(document: Document) -> list[str]:
    return [step.text for step in document.changes]


def on_rows(seeds: Mapping[str, int], **rows: Sequence[float]) -> Document:
    """The document of `a is lower than b` on a table with these values."""
    values = {arm: {n: {"loss": v} for n, v in enumerate(own)} for arm, own in rows.items()}
    of = made({**BETTER, "of": ["a", "b"]}, seeds=seeds)
    table = TidyTable(TableSource("made.csv", "0" * 64), values)
    return document_of(judge_claim(of, from_table(of, table)))


def test_a_table_is_told_how_many_seeds_of_which_arm_it_needs() -> None:
    """INCOMPLETE: with as many seeds as the advice asks for, it is VALID."""
    planned = {"min": 5, "plan": 5}
    document = on_rows(planned, a=LOW, b=TOP[:3])
    assert document.verdict.validity == "INCOMPLETE"
    assert advice(document) == ["Add 2 seeds of B to made.csv."]
    assert on_rows(planned, a=LOW, b=TOP).verdict.validity == "VALID"


def test_a_packaged_claim_is_verified_again_by_its_id_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is not there; in the checkout the command names the file."""
    place = Path(__file__).parents[2]
    packaged = claim("mos_rank").model_copy(update={"file": str(place / "claims/mos_rank.yaml")})
    named = {place: "claims/mos_rank.yaml", tmp_path: "mos_rank"}
    for folder, name in named.items():
        monkeypatch.chdir(folder)
        document = on_runs(packaged, ranks(HIGH), known=35)
        assert document.changes[0].command is not None
        assert document.changes[0].command.startswith(f"repro verify {name} --scale ")


def test_a_failed_control_is_not_taken_for_a_damaged_file() -> None:
    """INVALID by a control: training again in this store would give the same number."""
    document = on_runs(claim("mos_rank"), ranks(HIGH), known=35)
    text, command = document.changes[0].text, document.changes[0].command
    assert text.endswith("Find the cause (a library, a device, a text that the models have seen), "
                         "then train and measure in a new store.")  # fmt: skip
    assert command is not None
    assert command.endswith("--store NEW_FOLDER")
    assert on_runs(claim("mos_rank"), ranks(HIGH), known=34).verdict.validity == "VALID"


def test_copied_values_name_the_file_and_no_pairing() -> None:
    """INVALID: the table is where one arm stands twice, and the flag on pairs is not raised."""
    document = on_rows({"min": 5, "plan": 5}, a=LOW, b=LOW)
    assert document.verdict.validity == "INVALID"
    assert advice(document) == ["Find out which of A and B the values in made.csv are of."]
    assert [flag.kind for flag in document.verdict.flags] == ["one arm copied from another"]
    assert document.verdict.validity_reason.count("9.8") == 1
    assert "A and B have 5 values of 5 in common" in document.verdict.sentence


@pytest.mark.parametrize("comparable", [{"parameters_within": 0.0001}, {"same": ("schedule",)}])
def test_what_must_be_the_same_is_named_by_its_key(comparable: dict[str, Any]) -> None:
    """NOT-COMPARABLE: without the key that is named, the arms are judged."""
    of = claim("fair_mos")
    other = claim("mos_rank", "bench").arms["softmax"]
    declared = of.model_copy(
        update={
            "arms": {**of.arms, "softmax": other},
            "comparable": Comparable.model_validate(comparable),
        }
    )
    document = check_claim(declared, evidence(declared, fair(0.0)))
    assert document.verdict.validity == "NOT-COMPARABLE"
    (key,) = comparable
    assert f"take it out of `comparable: {{{key}" in advice(document)[0]
    without = declared.model_copy(update={"comparable": Comparable()})
    assert check_claim(without, evidence(without, fair(0.0))).verdict.validity == "VALID"


REFUSED: list[tuple[dict[str, Any], Any, Any, str, dict[str, Any]]] = [
    (BETTER, FLAT, HIGHER, "use ratio (then an exact comparison), separation or bound",
     SEPARATE),
    (RELATIVE, ZEROS, LOW, "declare an absolute margin", ABSOLUTE),
    (RELATIVE, LOW, (-0.1, 0.1, -0.2, 0.15, 0.02), "declare an absolute margin", ABSOLUTE),
    (TWICE, (-1.0, 2.0, 3.0, 1.0, 2.0), TOP,
     "use difference", BETTER),
    ({**BETTER, "test": "brunner_munzel"}, FLAT, FLAT, "use a bound on each arm", {}),
    ({**BETTER, "test": "yuen"}, (1.0, 2.0, 2.0, 2.0, 9.0), (3.0, 4.0, 4.0, 4.0, 8.0),
     "use ratio, separation or bound", SEPARATE),
]  # fmt: skip
"""An expectation, values that its test refuses, the advice, and an expectation that follows it."""


@pytest.mark.parametrize(("one", "a", "b", "said", "other"), REFUSED)
def test_a_test_that_refused_says_what_would_do(
    one: dict[str, Any], a: Any, b: Any, said: str, other: dict[str, Any]
) -> None:
    """NOT-TESTED: the step is that of the refusal, and the expectation that it names is tested."""
    of = {"of": ["a", "b"]}
    document = judged(made({**of, **one}, seeds={"min": 5, "plan": 5}), {"a": a, "b": b})
    assert document.verdict.conclusion in {"NOT-TESTED", None}
    assert advice(document)[0].endswith(f": {said}.")
    if other:
        tested = judged(made({**of, **other}, seeds={"min": 5, "plan": 5}), {"a": a, "b": b})
        assert tested.verdict.conclusion not in {"NOT-TESTED", None}


def test_too_few_pairs_are_told_to_grow() -> None:
    """NOT-TESTED for want of data: with more, it is tested."""
    one = {**BETTER, "test": "permutation", "of": ["a", "b"]}
    document = judged(made(one), {"a": LOW[:3], "b": TOP[:3]})
    assert advice(document) == ["Loss, A minus B: add replicates."]
    assert judged(made(one), {"a": LOW, "b": TOP}).verdict.conclusion == "CONFIRMED"


def test_an_older_revision_is_trained_again() -> None:
    """STALE: the command trains the seeds again, and with them the claim is judged."""
    document = on_runs(claim("mos_rank"), ranks(HIGH), states={("mos", 1): "stale"})
    assert document.changes[0].text == "Train them again."
    assert (document.changes[0].command or "").endswith("mos_rank.yaml --scale quick")
    assert on_runs(claim("mos_rank"), ranks(HIGH)).verdict.validity == "VALID"


def test_a_run_of_a_table_without_a_value_gets_one() -> None:
    """INCOMPLETE: a run that is said to be missing, with its value, or as a divergence."""
    rows = {
        arm: {n: {"loss": v} for n, v in enumerate(own)} for arm, own in (("a", LOW), ("b", TOP))
    }
    del rows["b"][4]
    source = TableSource("made.csv", "0" * 64)
    of = made({**BETTER, "of": ["a", "b"]}, seeds={"min": 4, "plan": 5, "diverged": "exclude<=1"})
    lost = TidyTable(source, rows, {"b": {4: "missing"}})
    document = check_claim(of, from_table(of, lost))
    assert document.verdict.validity == "INCOMPLETE"
    assert advice(document) == [
        "Give each run in made.csv its value, or `diverged` if it has none."
    ]
    told = TidyTable(source, rows, {"b": {4: "diverged"}})
    assert check_claim(of, from_table(of, told)).verdict.validity == "VALID"


def test_too_many_divergences_ask_for_a_larger_plan() -> None:
    """INCOMPLETE: as many seeds must finish as the verdict rests on."""
    of = made({**BETTER, "of": ["a", "b"]}, seeds={"min": 4, "plan": 5, "diverged": "exclude<=3"})
    document = diverging(of, {"a": LOW, "b": [*TOP[:2], None, None, None]})
    assert advice(document) == ["Raise `seeds: {plan: 5}`, so that 4 finish although some diverge."]
    seeds = {"min": 4, "plan": 8, "diverged": "exclude<=3"}
    more = made({**BETTER, "of": ["a", "b"]}, seeds=seeds)
    b: list[float | None] = [*TOP[:2], None, None, None, *TOP[2:]]
    assert diverging(more, {"a": [*LOW, 10.05, 9.95, 10.3], "b": b}).verdict.validity == "VALID"


def test_seeds_that_drifted_are_replaced_by_new_ones() -> None:
    """INVALID by drift: fresh seeds of one kind carry a conclusion."""
    a, b = steps((5, 5.0), (35, -3.0))
    document = drifting(sequential(), a, b)
    assert advice(document)[0].startswith("Find out in what the first seeds differ from the later")
    assert drifting(sequential(), *steps((40, 5.0))).verdict.validity == "VALID"
