"""Claims that are looked at every night: which seeds they have, and what stays on record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from repro.errors import StoreError
from repro.expectations.declared import EProcess
from repro.expectations.margins import NonSuperiority
from repro.expectations.verdict_words import Conclusion
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import gather
from repro.specs.claim import Claim, Expect, Seeds
from repro.store.places import LOOKS
from tests.judging.evidence import code
from tests.judging.nights import Nights, shipped
from tests.registry.made import read

SEED = 20260404


def draws(mean: float, n: int = 31, sd: float = 0.3, seed: int = SEED) -> list[float]:
    """Perplexities around a mean."""
    return [float(x) for x in np.random.default_rng(seed).normal(mean, sd, n)]


@pytest.fixture(autouse=True)
def _not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are not written here: that takes a second each, and has tests of its own."""
    monkeypatch.setattr("repro.report.write.rendered", lambda document, formats: {})


def margin_claim(**changes: object) -> Claim:
    """At most 5 to 12 pairs: the mixture is no better than Softmax by 1 or more; an e-process."""
    seeds = Seeds(min=4, plan=5, max=12)
    return shipped(
        "group_claim", **{"sequential": EProcess(method="eprocess_t"), "seeds": seeds, **changes}
    )


def place(
    tmp_path: Path, of: Claim, mos: Sequence[float | None], softmax: Sequence[float | None]
) -> Nights:
    """A store in which every run is there already, as if each night had trained its own."""
    nights = Nights(tmp_path, {"mos": mos, "softmax": softmax})
    nights.train_all(of, of.seeds.max or of.seeds.plan)
    return nights


def seeds_of(document: Document) -> list[int]:
    """How many replicates each arm has in a report."""
    return [len(arm.replicates) for arm in document.arms]


def looks_of(nights: Nights, of: Claim) -> int:
    """How many looks are on record, of all versions of a claim."""
    processes = read(nights.store.root / LOOKS, of.id, of.scale).processes
    return sum(map(len, processes.values()))


def test_every_night_adds_a_pair_until_the_claim_is_decided(tmp_path: Path) -> None:
    """From 5 pairs on one more a night; once the e-process has confirmed, none."""
    of = margin_claim()
    nights = place(tmp_path, of, draws(10, sd=0.8), draws(10, sd=0.8, seed=SEED + 1))
    seen = [nights.night(of) for _ in range(9)]
    decided = [one.verdict.conclusion for one in seen]
    first = decided.index(Conclusion.CONFIRMED)
    assert first > 0
    grown = [5 + i for i in range(first + 1)]
    assert [seeds_of(one) for one in seen] == [[n, n] for n in (*grown, *[grown[-1]] * (8 - first))]
    assert set(decided[first:]) == {"CONFIRMED"}
    assert looks_of(nights, of) == first + 1
    assert seen[-1].sequential[0].crossing == grown[-1]
    assert [look.seeds for look in seen[-1].sequential[0].looks] == list(range(4, grown[-1] + 1))


def test_an_undecided_sequential_claim_is_inconclusive(tmp_path: Path) -> None:
    """Before its first crossing the status is 3; or 0 where that is declared to be expected."""
    of = margin_claim()
    nights = place(tmp_path, of, draws(10, sd=0.8), draws(10, sd=0.8, seed=SEED + 1))
    document = nights.night(of)
    assert document.verdict.conclusion == "INCONCLUSIVE"
    assert code(document) == 3
    assert document.results[0].test == "t e-process, valid at every look"
    (step,) = document.changes[:1]
    assert step.command is not None
    assert step.command.endswith("--nightly")
    expect = Expect(conclusion="inconclusive", why="the first nights have too few seeds")
    assert code(nights.verify(of.model_copy(update={"expect": expect}))[0]) == 0


def test_without_nightly_the_same_seeds_are_judged_again(tmp_path: Path) -> None:
    """A plain verify after some nights has their seeds, and is no look of its own."""
    of = margin_claim()
    nights = place(tmp_path, of, draws(10, sd=0.8), draws(10, sd=0.8, seed=SEED + 1))
    nights.night(of)
    last = nights.night(of)
    before = looks_of(nights, of)
    (again,) = nights.verify(of)
    assert seeds_of(again) == seeds_of(last)
    assert again.verdict == last.verdict
    assert looks_of(nights, of) == before == 2


def test_the_first_crossing_stands_though_later_evidence_weakens(tmp_path: Path) -> None:
    """A claim that was confirmed stays so with seeds that would undo it; nothing resets."""
    of = margin_claim()
    calm, wild = draws(10, 5, 0.05), draws(3, 7, 4.0)
    nights = place(tmp_path, of, [*calm, *wild], draws(10, 12, 0.05, SEED + 1))
    first = nights.night(of)
    assert first.verdict.conclusion == "CONFIRMED"
    longer = of.at_night(so_far=12)
    later = check_claim(longer, gather(longer, nights.store))
    (part,) = later.sequential
    assert part.looks[-1].conclusion == "CONFIRMED"
    assert part.looks[-1].low is not None
    assert part.looks[-1].low < -1
    assert part.crossing == 4
    assert later.verdict.conclusion == "CONFIRMED"


def test_a_hopeless_claim_stops_before_its_largest_number(tmp_path: Path) -> None:
    """When hardly any continuation would decide, more seeds are not worth their cost."""
    of = margin_claim()
    nights = place(tmp_path, of, draws(9, 12, 6.0), draws(10, 12, 6.0, SEED + 1))
    last = [nights.night(of) for _ in range(4)][-1]
    assert last.sequential[0].stop == "futile"
    assert last.verdict.conclusion == "INCONCLUSIVE"
    assert seeds_of(last) == [5, 5]


def test_a_claim_ends_at_its_largest_number(tmp_path: Path) -> None:
    """At max there is nothing to add: the claim stays as it is, and the report says so."""
    of = margin_claim(seeds=Seeds(min=4, plan=5, max=6))
    nights = place(
        tmp_path, of, draws(10, sd=0.9, seed=SEED + 5), draws(10, sd=0.9, seed=SEED + 25)
    )
    last = [nights.night(of) for _ in range(4)][-1]
    assert seeds_of(last) == [6, 6]
    assert last.verdict.conclusion == "INCONCLUSIVE"
    assert "ends at 6 seeds per arm" in last.changes[0].text


def test_planned_looks_are_taken_one_a_night(tmp_path: Path) -> None:
    """A group-sequential claim goes to its next planned look: 5, 10, 15, 20."""
    of = shipped("group_claim")
    nights = place(tmp_path, of, draws(10, sd=1.6), draws(9.7, sd=1.6, seed=SEED + 1))
    seen = [nights.night(of) for _ in range(4)]
    sizes = [seeds_of(one)[0] for one in seen]
    assert sizes[:2] == [5, 10]
    assert set(sizes) <= {5, 10, 15, 20}
    (part,) = seen[1].sequential
    assert [look.seeds for look in part.looks] == [5, 10]
    assert part.method == "group_obf"
    assert seen[0].results[0].test == "Welch's t-test at planned looks (O'Brien-Fleming spending)"


def test_a_pair_that_diverges_is_left_out_and_the_nights_go_on(tmp_path: Path) -> None:
    """The newest replicate of one arm diverges: its pair goes with it, and the next night grows."""
    of = margin_claim(seeds=Seeds(min=4, plan=5, max=12, diverged="exclude<=1"))
    mos: list[float | None] = [*draws(10, sd=0.8)]
    mos[4] = None
    nights = place(tmp_path, of, mos, draws(10.6, sd=0.8, seed=SEED + 1))
    seen = [nights.night(of) for _ in range(3)]
    assert [seeds_of(one)[0] for one in seen] == [5, 6, 7]
    assert [one.sequential[0].looks[-1].seeds for one in seen] == [4, 5, 6]
    assert {arm.replicates[4].state for arm in seen[-1].arms} == {"excluded"}
    assert "diverged" in {flag.kind for flag in seen[-1].verdict.flags}


def test_a_value_that_changed_since_it_was_looked_at_is_invalid(tmp_path: Path) -> None:
    """A run that was trained again to another value ends with 4, and names what was expected."""
    of = margin_claim()
    mos, softmax = draws(10, sd=0.8), draws(10, sd=0.8, seed=SEED + 1)
    nights = place(tmp_path, of, mos, softmax)
    nights.night(of)
    folder = nights.store.folder(of.run("mos", 2).key)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    nights.values = {"mos": [11.0] * 31, "softmax": softmax}
    nights.train(of, "mos", [2])
    other = margin_claim(id="another_claim")
    changed, sound = nights.verify(of, other)
    assert changed.verdict.validity == "INVALID"
    assert "values of arm 'mos'" in changed.verdict.validity_reason
    assert code(changed) == 4
    assert sound.verdict.validity == "VALID"
    assert looks_of(nights, of) == 1


def test_an_edit_after_looking_starts_a_new_process_and_is_shown(tmp_path: Path) -> None:
    """Another margin is another process; the report names the field and flags the verdict."""
    of = margin_claim()
    nights = place(tmp_path, of, draws(10, sd=0.8), draws(10, sd=0.8, seed=SEED + 1))
    for _ in range(3):
        nights.night(of)
    (one,) = of.expectations
    assert isinstance(one, NonSuperiority)
    wider = one.model_copy(update={"margin": one.margin.model_copy(update={"abs": 2.0})})
    edited = nights.night(of.model_copy(update={"expectations": (wider,)}))
    part = edited.registration
    assert part is not None
    assert part.state == "after"
    assert [(edit.paths, edit.after_results) for edit in part.edits] == [
        (("expectations.0.margin.abs",), True)
    ]
    assert part.earlier_processes == 1
    assert seeds_of(edited) == [5, 5]
    assert "declared after results were visible" in {flag.kind for flag in edited.verdict.flags}


def test_a_new_title_or_label_changes_nothing(tmp_path: Path) -> None:
    """What does not decide is not hashed: the process goes on, and nothing is flagged."""
    of = margin_claim()
    nights = place(tmp_path, of, draws(10, sd=0.8), draws(10, sd=0.8, seed=SEED + 1))
    nights.night(of)
    arms = {**of.arms, "mos": of.arms["mos"].model_copy(update={"label": "Mixture"})}
    renamed = nights.night(of.model_copy(update={"title": "A better title", "arms": arms}))
    assert seeds_of(renamed) == [6, 6]
    assert renamed.registration is not None
    assert renamed.registration.state == "before"
    assert renamed.registration.edits == ()


def test_a_member_of_a_family_goes_on_until_that_is_enough_in_the_family(tmp_path: Path) -> None:
    """Evidence of 20 confirms one claim, but among two claims by e-BH it takes 40."""
    alone = margin_claim()
    family = shipped("sequential_claim").family
    member = margin_claim(family=family, id="another_claim")
    mos, softmax = draws(10, sd=0.5), draws(10, sd=0.5, seed=SEED + 1)
    lengths = {}
    for of in (alone, member):
        nights = place(tmp_path / of.id, of, mos, softmax)
        lengths[of.id] = seeds_of([nights.night(of) for _ in range(8)][-1])[0]
    assert lengths["another_claim"] > lengths["group_claim"]
    last = nights.looked[-1]
    assert last.family is not None
    assert last.family.members[1].value is not None
    assert last.family.members[1].value >= 40
    assert last.verdict.conclusion == "CONFIRMED"


def test_a_damaged_ledger_stops_the_program(tmp_path: Path) -> None:
    """A line that was changed by hand is an error, with the file and the line."""
    of = margin_claim()
    nights = place(tmp_path, of, draws(10), draws(10, seed=SEED + 1))
    nights.night(of)
    path = nights.store.root / LOOKS / of.id / f"{of.scale}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"planned":5', b'"planned":4'))
    nights.night(margin_claim(id="another_claim"))
    with path.open("ab") as stream:
        stream.write(b"{}\n")
    with pytest.raises(StoreError, match=r"quick\.jsonl:3"):
        nights.night(of)
