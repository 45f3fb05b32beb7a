"""Claims with something wrong in them, at random: refused in order, never with another error."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import Problem, SpecError
from repro.schema.yaml import read_document
from repro.specs.load import load_claim

GOOD = Path(__file__).parent / "good"
CLAIM = read_document(GOOD / "claim.yaml").data
OTHERS = [read_document(path).data for path in sorted(GOOD.glob("*_claim.yaml"))]
CONFIGURATION = read_document(GOOD / "configurations/tiny/mos.yaml").data
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, 0, 1, -1, 2.5, 10**30, "", "x", "mos", "rank", "ratio", "structural"),
        *([], ["mos"], ["mos", "softmax"], {}, {"kind": "rank"}, {"kind": []}, {"value": {}}),
        *({"all": ["x"]}, {"any": [{}]}, [["x"], [1]], "none", "exclude<=9", "../x", "welch"),
    ]
)
KEYS = st.sampled_from(["kind", "rank", "id", "of", "mos", "at_least", "override", "x.y", "-"])


def steps_below(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The steps to everything inside a document."""
    entries = value if isinstance(value, dict) else {}
    found = [before]
    for key, inside in enumerate(value) if isinstance(value, list) else entries.items():
        found += steps_below(inside, (*before, key))
    return found


@st.composite
def damaged(draw, document):
    """A document in which some values are replaced, removed or added."""
    result = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 4))):
        *steps, last = draw(st.sampled_from(steps_below(result)[1:]))
        holder = result
        for step in steps:
            holder = holder[step]
        action = draw(st.sampled_from(["replace", "remove", "add"]))
        if action == "remove" and len(steps_below(result)) > 2:
            del holder[last]
        elif action == "add" and isinstance(holder, dict):
            holder[draw(KEYS)] = copy.deepcopy(draw(VALUES))
        else:
            holder[last] = copy.deepcopy(draw(VALUES))
    return result


def assert_refused_in_order(folder: Path, claim: Any, configuration: Any) -> None:
    """Each mistake, if there is any, is told once, in reading order and with all its parts."""
    (folder / "configurations/tiny").mkdir(parents=True, exist_ok=True)
    softmax = (GOOD / "configurations/tiny/softmax.yaml").read_text(encoding="utf-8")
    (folder / "configurations/tiny/softmax.yaml").write_text(softmax, encoding="utf-8")
    (folder / "configurations/tiny/mos.yaml").write_text(json.dumps(configuration))
    for table in GOOD.glob("*.csv"):
        (folder / table.name).write_bytes(table.read_bytes())
    (folder / "claim.yaml").write_text(json.dumps(claim))
    problems = mistakes(folder / "claim.yaml")
    assert list(problems) == sorted(set(problems))
    assert all(p.what and p.expected and p.advice for p in problems)


def mistakes(file: Path) -> tuple[Problem, ...]:
    try:
        load_claim(file, "quick")
    except SpecError as error:
        return error.problems
    return ()


@settings(max_examples=40, deadline=None)
@given(claim=damaged(CLAIM))
def test_any_damage_to_a_claim_is_refused_in_order(tmp_path_factory, claim):
    """Whatever is wrong with a claim, each problem has four parts and is said once."""
    assert_refused_in_order(tmp_path_factory.getbasetemp(), claim, CONFIGURATION)


@settings(max_examples=80, deadline=None)
@given(claim=st.sampled_from(OTHERS).flatmap(damaged))
def test_any_damage_to_a_claim_of_any_kind_is_refused_in_order(tmp_path_factory, claim):
    """The same holds for tables, printed numbers, trees, families and looks."""
    assert_refused_in_order(tmp_path_factory.getbasetemp(), claim, CONFIGURATION)


@settings(max_examples=40, deadline=None)
@given(configuration=damaged(CONFIGURATION), override=damaged(CONFIGURATION))
def test_any_damage_to_a_configuration_is_refused_in_order(
    tmp_path_factory, configuration, override
):
    """The same holds for a configuration, and for what is laid over it."""
    claim = copy.deepcopy(CLAIM)
    claim["arms"]["mos"]["override"] = override
    assert_refused_in_order(tmp_path_factory.getbasetemp(), claim, configuration)


def test_a_claim_full_of_mistakes_is_refused_in_time(tmp_path):
    """Thousands of mistakes take no longer than two seconds."""
    expectation = {"id": "a", "kind": "ratio", "measurement": "nowhere", "of": ["sofmax", "moss"]}
    claim = copy.deepcopy(CLAIM)
    claim["expectations"] = [{**expectation, f"key{n}": n} for n in range(250)]
    claim["arms"] |= {
        f"arm{n}": {"label": "x", "configuration": f"no/where{n}"} for n in range(300)
    }
    start = time.process_time()
    assert_refused_in_order(tmp_path, claim, CONFIGURATION)
    assert time.process_time() - start < 2
