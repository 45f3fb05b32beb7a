"""Runs without a value: a table can say that they diverged, and the claim's policy is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from repro import judge
from repro.errors import SpecError
from repro.evidence.csv_table import frame_table, read_table
from repro.evidence.evidence import Evidence, TidyTable
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import (
    apply_divergence_policy,
    from_table,
    measured,
    read_tables,
    table_schema,
)
from repro.specs.claim import Claim
from repro.store.run_store import RunStore
from repro.workflows.verify import Options, verify_claims
from tests.evidence.tidy import HEADER, small
from tests.judging.made import made
from tests.judging.test_kinds import difference

LOSSES = {"a": [1.0, 1.2, 1.1, 0.9, 1.3, 1.0], "b": [2.0, 2.3, 2.1, 1.9, 2.2, 2.1]}
CELL = "diverged"


def text(lost: dict[tuple[str, int], str], *, state: bool = False) -> str:
    """A table of six seeds per arm; ``lost`` ones have this in place of a value, or as a state."""
    lines = [f"{HEADER},state" if state else HEADER]
    for arm, values in LOSSES.items():
        for seed, value in enumerate(values):
            said = lost.get((arm, seed))
            if state:
                lines.append(f"{arm},{seed},loss,{'' if said else value},{said or 'finished'}")
            else:
                lines.append(f"{arm},{seed},loss,{said or value}")
    return "\n".join(lines) + "\n"


def claim(policy: str, test: str = "welch", least: int = 3, **more: Any) -> Claim:
    """That the loss of a is lower, with a policy on runs that diverge."""
    seeds = {"min": least, "plan": 6, "max": 40, "diverged": policy}
    return made(difference(test), seeds=seeds, **more)


def by_results(of: Claim, content: str, folder: Path) -> Document:
    """As `verify --results` judges it."""
    path = folder / "results.csv"
    path.write_text(content, encoding="utf-8")
    options = Options(RunStore(folder / "store"), reports=folder / "reports", results=path)
    return verify_claims([of], options).documents[0]


def by_frame(of: Claim, content: str, folder: Path) -> Document:
    """As `repro.judge` judges it."""
    path = folder / "results.csv"
    path.write_text(content, encoding="utf-8")
    return judge(of, pd.read_csv(path, keep_default_na=False))


def by_arm(of: Claim, content: str, folder: Path) -> Document:
    """As arms with `table:` are judged."""
    path = folder / "made.csv"
    path.write_text(content, encoding="utf-8")
    of = of.model_copy(update={"file": str(folder / "made.yaml")})
    table: TidyTable = read_tables(of)["a"]
    return check_claim(of, from_table(of, table))


ROADS = [by_results, by_frame, by_arm]
Road = Callable[[Claim, str, Path], Document]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("state", [False, True], ids=["a cell", "a state"])
def test_one_that_diverged_is_invalid_by_default(tmp_path: Path, road: Road, state: bool) -> None:
    """A crashed seed is data: it is counted, and cannot be left out silently."""
    verdict = road(claim("invalid"), text({("b", 2): CELL}, state=state), tmp_path).verdict
    assert verdict.validity == "INVALID"
    rule = "0 allowed by `seeds: {diverged: invalid}`"
    assert verdict.validity_reason == f"B: 1 of 6 runs diverged; {rule}"


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("state", [False, True], ids=["a cell", "a state"])
def test_as_many_as_declared_are_left_out_and_named(
    tmp_path: Path, road: Road, state: bool
) -> None:
    """One of six may be excluded, two may not."""
    document = road(claim("exclude<=1"), text({("b", 2): CELL}, state=state), tmp_path)
    assert document.verdict.conclusion == "CONFIRMED"
    flags = [flag.text for flag in document.verdict.flags if flag.kind == "diverged"]
    assert flags == ["B: 1 run diverged and excluded by the declared policy (seed 2)."]
    assert [one.state for one in document.arms[1].replicates][2] == "excluded"
    assert document.results[0].details["seeds"] == "6 and 5"
    lost = text({("b", 2): CELL, ("b", 4): CELL}, state=state)
    assert road(claim("exclude<=1"), lost, tmp_path).verdict.validity == "INVALID"


@pytest.mark.parametrize("road", ROADS)
def test_the_worst_counts_as_worse_than_any(tmp_path: Path, road: Road) -> None:
    """In a test of order a run that diverged takes the worst place, and the flag says so."""
    content = text({("a", 0): CELL, ("a", 1): CELL, ("a", 2): CELL})
    document = road(claim("worst", "brunner_munzel"), content, tmp_path)
    assert document.verdict.validity == "VALID"
    assert document.verdict.conclusion == "INCONCLUSIVE"
    (flag,) = [flag.text for flag in document.verdict.flags if flag.kind == "diverged"]
    assert flag.startswith("A: 3 runs diverged and counted as worse than any value")
    assert document.results[0].details["seeds"] == "6 per arm"


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize(
    "more",
    [{"design": "paired"}, {"sequential": {"method": "eprocess_t"}}],
    ids=["paired", "sequential"],
)
def test_a_pair_goes_together(tmp_path: Path, road: Road, more: dict[str, Any]) -> None:
    """Where replicates are pairs, the partner of one that diverged is left out with it."""
    of = claim("exclude<=1", "paired" if "design" in more else "welch", 4, **more)
    document = road(of, text({("b", 2): CELL}), tmp_path)
    flags = [flag.text for flag in document.verdict.flags if flag.kind == "diverged"]
    assert "A: left out, because their pair diverged (seed 2)." in flags
    assert document.results[0].details["seeds"] == "5 per arm"


def table(folder: Path, content: str) -> TidyTable:
    """What is read of a table of arms a and b."""
    path = folder / "results.csv"
    path.write_text(content, encoding="utf-8")
    return read_table(path, small())


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("diverged", "diverged"),
        ("Crashed", "diverged"),
        ("FAILED", "diverged"),
        ("killed", "diverged"),
        ("running", "missing"),
    ],
)
def test_states_of_trackers_are_understood(tmp_path: Path, word: str, state: str) -> None:
    """Whatever ended without a result is for the policy; what runs is not there yet."""
    head = f"{HEADER},state\na,0,ppl,1,finished\na,1,ppl,nan,{word}\nb,0,ppl,2,finished\n"
    found = table(tmp_path, head)
    assert found.lost == {"a": {1: state}}
    assert found.values == {"a": {0: {"ppl": 1.0}}, "b": {0: {"ppl": 2.0}}}
    assert found.seeds("a") == (0, 1)


def test_a_run_that_is_not_finished_makes_the_claim_incomplete() -> None:
    """It is a planned seed that is missing, and the advice is to give its value."""
    of = claim("exclude<=1")
    rows = [
        (arm, seed, "loss", v, "finished") for arm in "ab" for seed, v in enumerate(LOSSES[arm])
    ]
    rows[3] = ("a", 3, "loss", float("nan"), "running")
    document = judge(of, pd.DataFrame(rows, columns=[*HEADER.split(","), "state"]))
    assert document.verdict.validity == "INCOMPLETE"
    advice = "Give each run in a pandas frame its value, or `diverged` if it has none."
    assert document.changes[0].text == advice


def test_whatever_else_is_known_of_a_run_that_diverged_is_not_used(tmp_path: Path) -> None:
    """One measurement that diverged is the run that did; its other values count for nothing."""
    content = f"{HEADER}\na,0,ppl,1\na,0,rank,3\na,1,ppl,Diverged\na,1,rank,3\nb,0,ppl,1\n"
    found = table(tmp_path, content)
    assert found.values["a"] == {0: {"ppl": 1.0, "rank": 3.0}}
    assert found.lost == {"a": {1: "diverged"}}


def test_an_arm_of_which_every_run_diverged_has_rows(tmp_path: Path) -> None:
    """That nothing finished is no mistake of the table; the claim cannot be judged with it."""
    found = table(tmp_path, f"{HEADER}\na,0,ppl,diverged\na,1,ppl,diverged\nb,0,ppl,1\n")
    assert found.seeds("a") == (0, 1)
    of = claim("exclude<=1")
    rows = [("a", s, "loss", "diverged") for s in range(6)]
    rows += [("b", s, "loss", str(v)) for s, v in enumerate(LOSSES["b"])]
    document = judge(of, pd.DataFrame(rows, columns=HEADER.split(",")))
    assert document.verdict.validity == "INVALID"


@pytest.mark.parametrize("cell", ["nan", "", "inf", "N/A"])
def test_the_advice_on_an_empty_cell_is_to_say_what_became_of_the_run(
    tmp_path: Path, cell: str
) -> None:
    """Nobody is told to leave out a seed that has no value."""
    with pytest.raises(SpecError) as caught:
        table(tmp_path, f"{HEADER}\na,0,ppl,1\na,1,ppl,{cell}\nb,0,ppl,1\n")
    assert "write `diverged` if the run diverged, or the value" in str(caught.value)
    assert "leave out" not in str(caught.value)


def test_a_state_that_nobody_knows_is_named(tmp_path: Path) -> None:
    """With its row and column, and the states that there are."""
    with pytest.raises(SpecError) as caught:
        table(tmp_path, f"{HEADER},state\na,0,ppl,1,finnished\nb,0,ppl,1,finished\n")
    assert "2:11: row 2, column state: 'finnished' is no state of a run" in str(caught.value)
    assert "did you mean 'finished'?" in str(caught.value)


def test_evidence_with_a_run_that_diverged_goes_to_a_frame_and_back() -> None:
    """`Evidence.table()` does not lose it, and a claim on the frame is judged the same."""
    of = claim("exclude<=1")
    rows = [(arm, s, "loss", str(v)) for arm in "ab" for s, v in enumerate(LOSSES[arm])]
    rows[3] = ("a", 3, "loss", "diverged")
    names = table_schema(of, measured(of))
    evidence = from_table(of, frame_table(pd.DataFrame(rows, columns=HEADER.split(",")), names))
    frame = evidence.table()
    assert list(frame.columns) == [*HEADER.split(","), "state"]
    again: Evidence = from_table(of, frame_table(frame, names))
    assert again.arms == evidence.arms
    assert apply_divergence_policy(of, again).arms == apply_divergence_policy(of, evidence).arms
    worst = of.model_copy(update={"seeds": of.seeds.model_copy(update={"diverged": "worst"})})
    imputed = apply_divergence_policy(worst, evidence)
    assert from_table(of, frame_table(imputed.table(), names)).arms == evidence.arms
