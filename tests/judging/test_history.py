"""What counts as a night: a block of seeds, however often it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from repro.expectations.declared import EProcess
from repro.judging.document import Document
from repro.judging.registration import control_part, undecided
from repro.registry.claim_log import Entry, Seen
from repro.registry.registry import Registry, with_seeds_so_far, with_seeds_tonight
from repro.specs.claim import Claim, Seeds
from repro.store.places import LOOKS
from tests.judging.nights import Nights, shipped
from tests.registry.made import read, record
from tests.test_controls import control

SEED = 20260407


@pytest.fixture(autouse=True)
def _not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are not written here: that takes a second each, and has tests of its own."""
    monkeypatch.setattr("repro.report.write.rendered", lambda document, formats: {})


def counted(document: Document) -> tuple[int, int]:
    """Nights of a control, and those with a difference."""
    assert document.control is not None
    return document.control.nights, document.control.found


def numbers(document: Document) -> list[int]:
    """The seeds of the first arm."""
    return [one.number for one in document.arms[0].replicates]


def lines(nights: Nights, of: Claim) -> int:
    """How many looks are on record."""
    return len(read(nights.store.root / LOOKS, of.id, of.scale).processes[of.digest()])


def look(nights: Nights, of: Claim, blocks: Sequence[int], version: str) -> None:
    """Put on record that a version of the program found no difference in blocks of five seeds."""
    held = [5 * block + i for block in blocks for i in range(5)]
    values: Seen = {
        name: {arm.first_seed + n: {"ppl": nights.values[name][n]} for n in held}
        for name, arm in of.arms.items()
    }
    entry = Entry(of.digest(), values, {}, "INCONCLUSIVE", version)
    record(nights.store.root / LOOKS, entry, of.id, of.scale)


def due(nights: Nights, of: Claim) -> tuple[Claim, Claim]:
    """The claim with the seeds that it has by now, and with those of the next night."""
    looks = Registry(nights.store).history(of).looks
    tonight = with_seeds_tonight(of, looks, lambda so_far: undecided(so_far, nights.store))
    return with_seeds_so_far(of, looks), tonight


def by(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on another version of the program judges."""
    monkeypatch.setattr("repro.judging.registration.package_version", lambda package: version)


def test_a_night_that_another_version_judges_again_is_one_night(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts once, plain verify stays with its seeds, and the next night skips no block."""
    nights, of = control(tmp_path, 3, false=0)
    (first,) = nights.verify(of)
    by("0.2.0", monkeypatch)
    for _ in range(2):
        (again,) = nights.verify(of)
        assert again.control == first.control
        assert numbers(again) == numbers(first) == list(range(5))
    assert counted(again) == (1, 1)
    assert lines(nights, of) == 2
    assert numbers(nights.night(of)) == list(range(5, 10))
    by("0.3.0", monkeypatch)
    assert numbers(nights.verify(of)[0]) == list(range(5, 10))
    last = nights.night(of)
    assert numbers(last) == list(range(10, 15))
    assert counted(last) == (3, 1)


def test_the_first_judgement_of_a_night_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found when it is judged again stays on record, and alters no count."""
    nights, of = control(tmp_path, 2, false=0)
    (first,) = nights.verify(of)
    look(nights, of, [0], "0.2.0")
    past = Registry(nights.store).past(of)
    assert [look.conclusion for look in past.history.looks] == ["CONFIRMED", "INCONCLUSIVE"]
    assert control_part(of, past) == first.control


def test_a_difference_that_is_found_later_is_in_no_night_so_far(tmp_path: Path) -> None:
    """The sentence does not count a night whose first judgement found nothing."""
    nights, of = control(tmp_path, 2, false=0)
    look(nights, of, [0], "0.0.1")
    (document,) = nights.verify(of)
    assert document.verdict.conclusion == "CONFIRMED"
    assert counted(document) == (1, 0)
    assert document.verdict.sentence.startswith(
        "A difference is found where there is none; 5% is expected by chance. "
    )


def test_a_block_that_was_skipped_once_is_not_counted(tmp_path: Path) -> None:
    """A log with blocks 0, 0 and 2 holds two nights; the last is 2 and the next is 3."""
    nights, of = control(tmp_path, 4)
    for version, blocks in (("0.1.0", [0]), ("0.2.0", [0]), ("0.2.0", [0, 2])):
        look(nights, of, blocks, version)
    past = Registry(nights.store).past(of)
    part = control_part(of, past)
    assert part is not None
    assert (part.nights, part.found) == (2, 0)
    assert [each.night for each in due(nights, of)] == [2, 3]


@pytest.mark.parametrize("first_seed", [900, 899_990])
def test_looks_at_seeds_that_the_claim_no_longer_has_are_invalid(
    tmp_path: Path, first_seed: int
) -> None:
    """A first seed that was changed leads to no distant block, and the evidence is INVALID."""
    nights, of = control(tmp_path, 2)
    nights.verify(of)
    other = of.arms["other"].model_copy(update={"first_seed": first_seed})
    moved = of.model_copy(update={"arms": {**of.arms, "other": other}})
    assert moved.digest() == of.digest()
    now, tonight = due(nights, moved)
    assert now.night == 0
    assert tonight.night <= 1
    nights.train_all(moved, 5)
    assert nights.verify(moved)[0].verdict.validity == "INVALID"


@pytest.mark.parametrize("method", ["eprocess_t", "group_obf"])
def test_another_version_adds_no_look_to_a_sequential_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Its looks are a function of its seeds: judged again they are the same, and no seed comes."""
    of, sd = shipped("group_claim"), 1.6
    if method == "eprocess_t":
        how = {"sequential": EProcess(method="eprocess_t"), "seeds": Seeds(min=4, plan=5, max=12)}
        of, sd = of.model_copy(update=how), 0.8
    rng = np.random.default_rng(SEED)
    most = of.seeds.max or 0
    nights = Nights(tmp_path, {arm: list(map(float, rng.normal(10, sd, most))) for arm in of.arms})
    nights.train_all(of, most)
    nights.night(of)
    last = nights.night(of)
    by("0.2.0", monkeypatch)
    (again,) = nights.verify(of)
    assert lines(nights, of) == 3
    assert numbers(again) == numbers(last)
    assert (again.sequential, again.verdict) == (last.sequential, last.verdict)
    now, tonight = due(nights, of)
    assert now.so_far == len(numbers(last))
    steps = {"eprocess_t": 1, "group_obf": 5}
    assert tonight.so_far == len(numbers(last)) + steps[method]
