"""Negative controls over nights, and what is on record of when a claim was declared."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

from repro.errors import DesignError
from repro.expectations.margins import Equivalence, NonSuperiority
from repro.judging.document import Document
from repro.registry.registry import Registry
from repro.report.formats import rendered
from repro.specs.claim import Claim, Forced, PlannedSd
from repro.store.places import LOOKS
from repro.store.run_store import RunStore
from repro.trainers.language_model.measurements.perplexity import GeneralisationGap, Perplexity
from repro.workflows.verify import Options, plan_runs, verify_claims
from tests.judging.evidence import code
from tests.judging.nights import Nights, shipped
from tests.registry.made import read

SEED = 20260406


@pytest.fixture(autouse=True)
def _not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are not written here: that takes a second each, and has tests of its own."""
    monkeypatch.setattr("repro.report.write.rendered", lambda document, formats: {})


def control(tmp_path: Path, nights: int, false: int = -1) -> tuple[Nights, Claim]:
    """Five seeds an arm for each night, equal but for one night in which they lie apart."""
    of = shipped("control_claim").model_copy(update={"expect": None})
    rng = np.random.default_rng(SEED)
    one, other = (list(map(float, rng.normal(10, 1, 5 * nights))) for _ in range(2))
    other = [value + 9 * (place // 5 == false) for place, value in enumerate(other)]
    made = Nights(tmp_path, {"one": one, "other": other})
    made.train_all(of, 5 * nights)
    return made, of


def test_a_control_takes_fresh_seeds_each_night(tmp_path: Path) -> None:
    """Night by night the next five of each arm; no difference is what is expected: status 0."""
    nights, of = control(tmp_path, 4)
    seen = [nights.night(of) for _ in range(3)]
    numbers = [[each.number for each in one.arms[1].replicates] for one in seen]
    assert numbers == [list(range(500_000 + 5 * n, 500_005 + 5 * n)) for n in range(3)]
    last = seen[-1]
    assert last.verdict.conclusion == last.verdict.expected == "INCONCLUSIVE"
    assert last.verdict.expected_why.startswith("a negative control: ")
    assert code(last) == 0
    assert last.control is not None
    assert (last.control.nights, last.control.found, last.control.alpha) == (3, 0, 0.05)
    assert last.control.low == 0
    assert last.control.high == pytest.approx(1 - 0.025 ** (1 / 3))


def test_a_false_difference_is_counted_and_ends_with_1(tmp_path: Path) -> None:
    """The night's verdict deviates, and its sentence gives the rate so far beside alpha."""
    nights, of = control(tmp_path, 4, false=1)
    first, second, third = (nights.night(of) for _ in range(3))
    assert [code(one) for one in (first, second, third)] == [0, 1, 0]
    assert second.verdict.sentence == (
        "A difference is found where there is none, in 1 of 2 nights so far; 5% is expected by "
        "chance."
    )
    assert third.control is not None
    assert (third.control.nights, third.control.found) == (3, 1)


def test_the_same_night_is_judged_again_without_nightly(tmp_path: Path) -> None:
    """A plain verify of a control looks at the last night, and counts no other."""
    nights, of = control(tmp_path, 3)
    nights.night(of)
    last = nights.night(of)
    (again,) = nights.verify(of)
    assert [arm.replicates for arm in again.arms] == [arm.replicates for arm in last.arms]
    assert again.control == last.control


def ordinary(**changes: object) -> Claim:
    return shipped("group_claim", **{"sequential": None, **changes})


def sound(tmp_path: Path, of: Claim, *, registered: bool = True) -> Nights:
    """A store with five runs of each arm, of a claim that was registered before them or not."""
    rng = np.random.default_rng(SEED)
    values = {arm: list(map(float, rng.normal(10, 0.3, 5))) for arm in of.arms}
    nights = Nights(tmp_path, values)
    if registered:
        nights.train_all(of, 5)
    for arm in of.trained:
        nights.train(of, arm, range(5))
    return nights


def test_a_claim_is_registered_before_its_first_look(tmp_path: Path) -> None:
    """The first line of the log is the registration, the second the look."""
    of = ordinary()
    nights = sound(tmp_path, of)
    (document,) = nights.verify(of)
    entries = read(nights.store.root / LOOKS, of.id, of.scale).entries
    assert [one.kind for one in entries] == ["registration", "look"]
    assert document.registration is not None
    assert document.registration.state == "before"
    assert document.registration.digest == of.digest() == entries[0].digest


def test_an_edit_before_any_run_is_no_edit_after_results(tmp_path: Path) -> None:
    """Registered, changed and registered again, and only then run: before, with its path."""
    of = ordinary()
    Registry(RunStore(tmp_path / "store")).register(of.model_copy(update={"alpha": 0.01}))
    (document,) = sound(tmp_path, of).verify(of)
    part = document.registration
    assert part is not None
    assert part.state == "before"
    assert [(one.paths, one.after_results) for one in part.edits] == [(("alpha",), False)]
    assert "declared after results were visible" not in {
        flag.kind for flag in document.verdict.flags
    }


def test_a_claim_whose_runs_were_there_before_it_is_not_called_registered(tmp_path: Path) -> None:
    """All its runs in the store when it is first put on record: its results were visible."""
    of = ordinary()
    (document,) = sound(tmp_path, of, registered=False).verify(of)
    assert document.registration is not None
    assert document.registration.state == "after"
    (flag,) = [
        one for one in document.verdict.flags if one.kind == "declared after results were visible"
    ]
    assert flag.text.endswith("was first put on record after results were visible.")


def trained(tmp_path: Path, of: Claim, seeds: int, value: float | None = 10.0) -> Nights:
    """A store with so many runs of each arm of a claim that is not registered."""
    nights = Nights(tmp_path, dict.fromkeys(of.arms, [value] * 5))
    for arm in of.trained:
        nights.train(of, arm, range(seeds))
    return nights


def is_late(nights: Nights, of: Claim) -> bool:
    """Whether a claim that is registered now is registered after its results."""
    Registry(nights.store).register(of)
    (made,) = Registry(nights.store).log(of).registrations()
    return made.late


def by_validation(name: str, of: Claim) -> Claim:
    """A claim with one more measurement, which no run has; or with another of that name."""
    added = Perplexity(kind="perplexity", split="valid")
    return of.model_copy(update={"measurements": {**of.measurements, name: added}})


def test_one_seed_of_each_arm_is_enough_to_see(tmp_path: Path) -> None:
    """More seeds are missing than are there; who has seen one may choose the direction."""
    of = ordinary()
    assert is_late(trained(tmp_path, of, 1), of)


def test_what_is_known_of_one_arm_alone_is_no_result(tmp_path: Path) -> None:
    """Another claim has trained its baseline; what it is compared with is unknown."""
    of = ordinary()
    nights = trained(tmp_path, of, 0)
    nights.train(of, of.trained[0], range(5))
    assert not is_late(nights, of)


def test_a_measurement_that_is_missing_hides_no_result(tmp_path: Path) -> None:
    """A claim that asks for something more of runs whose decisive numbers are there is late."""
    of = ordinary()
    nights, more = trained(tmp_path, of, 5), by_validation("other", of)
    assert plan_runs([more], nights.store).missing
    assert is_late(nights, more)


def test_runs_that_are_not_measured_show_nothing(tmp_path: Path) -> None:
    """Trained for another claim, whose measurement is another: nothing of this one is known."""
    of = ordinary()
    assert not is_late(trained(tmp_path, of, 5), by_validation("ppl", of))


def test_what_follows_from_stored_numbers_can_be_seen(tmp_path: Path) -> None:
    """A gap that nobody asked for, where both perplexities that it is made of are stored."""
    of, gap = ordinary(), GeneralisationGap()
    held_out, training = gap.sources
    both = of.model_copy(update={"measurements": {"ppl": held_out, "other": training}})
    one = of.model_copy(update={"measurements": {"ppl": held_out}})
    asked = of.model_copy(update={"measurements": {"ppl": gap}})
    assert is_late(trained(tmp_path / "both", both, 1), asked)
    assert not is_late(trained(tmp_path / "one", one, 1), asked)


def test_a_run_that_diverged_is_a_result(tmp_path: Path) -> None:
    """It has no value, and says which arm fails."""
    of = ordinary()
    assert is_late(trained(tmp_path, of, 1, value=None), of)


def late(document: Document) -> list[str]:
    """What the flags say of a declaration after results."""
    kind = "declared after results were visible"
    return [flag.text for flag in document.verdict.flags if flag.kind == kind]


def stricter(of: Claim) -> Claim:
    """The claim at another level, as somebody would set it who has seen the results."""
    return of.model_copy(update={"alpha": 0.01})


def test_without_training_a_claim_is_registered_too(tmp_path: Path) -> None:
    """`--no-train` on runs that were there first: on record, and after its results."""
    of = ordinary()
    nights = sound(tmp_path, of, registered=False)
    for _ in range(2):
        (document,) = nights.verify(of, train=False)
        assert document.registration is not None
        assert document.registration.state == "after"
        assert document.registration.on_record
        assert late(document)
    entries = read(nights.store.root / LOOKS, of.id, of.scale).entries
    assert [one.kind for one in entries] == ["registration", "look"]


EDITED = (
    "What decides the verdict was changed after results were visible (alpha). If those were the "
    "results of another claim, give this one an id of its own."
)


def test_without_training_an_edit_after_results_is_flagged(tmp_path: Path) -> None:
    """A level that was changed after a look is shown, whatever the road of the second look."""
    of = ordinary()
    nights = sound(tmp_path, of)
    nights.verify(of)
    (document,) = nights.verify(stricter(of), train=False)
    assert document.registration is not None
    assert document.registration.state == "after"
    assert [one.paths for one in document.registration.edits] == [("alpha",)]
    assert late(document) == [EDITED]


def test_without_training_what_is_unchanged_is_not_written_again(tmp_path: Path) -> None:
    """A store that is committed with its log stays as it is when its claim is judged again."""
    of = ordinary()
    nights = sound(tmp_path, of)
    (first,) = nights.verify(of)
    path = nights.store.root / LOOKS / of.id / f"{of.scale}.jsonl"
    before = path.read_bytes(), path.stat().st_mtime_ns
    (again,) = nights.verify(of, train=False)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert again.registration == first.registration
    assert again.registration is not None
    assert again.registration.state == "before"


def test_without_training_no_store_is_made(tmp_path: Path) -> None:
    """Nothing is there to be judged, and the place stays empty; the report says so."""
    of = ordinary()
    nights = Nights(tmp_path, {})
    (document,) = nights.verify(of, train=False)
    assert document.verdict.validity == "INCOMPLETE"
    assert not nights.store.root.exists()
    assert document.registration is not None
    assert not document.registration.on_record


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("closed", ["", LOOKS, f"{LOOKS}/NAME", f"{LOOKS}/NAME/quick.jsonl"])
def test_an_edit_that_cannot_be_written_is_flagged_all_the_same(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    closed: str,
    *,
    train: bool,
) -> None:
    """A store, or a log, that can only be read is judged as if it had been written."""
    of = ordinary()
    nights = sound(tmp_path, of)
    nights.verify(of)
    place = nights.store.root / closed.replace("NAME", of.id)
    path = nights.store.root / LOOKS / of.id / f"{of.scale}.jsonl"
    before, asked = path.read_bytes(), os.access
    monkeypatch.setattr(
        "repro.registry.registry.os.access", lambda at, mode: at != place and asked(at, mode)
    )
    (document,) = nights.verify(stricter(of), train=train)
    assert path.read_bytes() == before
    assert document.verdict.validity == "VALID"
    assert document.registration is not None
    assert document.registration.state == "after"
    assert not document.registration.on_record
    assert late(document) == [EDITED]
    page = rendered(document)["report.html"].decode()
    assert "This is not on record, because the store can only be read" in page


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_a_store_that_can_only_be_read_is_judged(tmp_path: Path) -> None:
    """A read-only store gives the same verdict, and stays as it is."""
    of = ordinary()
    nights = sound(tmp_path, of, registered=False)
    root = nights.store.root
    root.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        (document,) = nights.verify(of)
    finally:
        root.chmod(stat.S_IRWXU)
    assert document.verdict.validity == "VALID"
    assert not (root / LOOKS).exists()


def test_a_store_without_the_right_to_write_gets_no_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system says of the store decides, whoever asks."""
    of = ordinary()
    nights = sound(tmp_path, of, registered=False)
    asked = os.access
    monkeypatch.setattr(
        "repro.registry.registry.os.access",
        lambda path, mode: path != nights.store.root and asked(path, mode),
    )
    (document,) = nights.verify(of)
    assert document.verdict.validity == "VALID"
    assert not (nights.store.root / LOOKS).exists()


def test_two_at_once_do_not_corrupt_the_ledger(tmp_path: Path) -> None:
    """Eight at the same time leave one registration and one look, and a log that reads."""
    of = ordinary()
    nights = sound(tmp_path, of)
    options = Options(store=nights.store, reports=tmp_path / "reports")
    at_once = [threading.Thread(target=verify_claims, args=([of], options)) for _ in range(8)]
    for one in at_once:
        one.start()
    for one in at_once:
        one.join()
    entries = read(nights.store.root / LOOKS, of.id, of.scale).entries
    assert [one.kind for one in entries] == ["registration", "look"]


def hopeless() -> Claim:
    """Equivalence with a margin of 0.1 at a standard deviation of 0.15 and ten seeds: 2.6 %."""
    of = shipped("group_claim")
    (one,) = of.expectations
    assert isinstance(one, NonSuperiority)
    margin = one.margin.model_copy(update={"abs": 0.1})
    same = Equivalence(
        id="same", kind="equivalence", measurement="ppl", of=("mos", "softmax"), margin=margin
    )
    return of.model_copy(
        update={
            "sequential": None,
            "seeds": of.seeds.model_copy(update={"plan": 10, "max": None}),
            "expectations": (same,),
            "planned_sd": {"ppl": PlannedSd(sd=0.15, why="as in the issue")},
        }
    )


def test_a_design_that_can_hardly_decide_is_refused_before_training(tmp_path: Path) -> None:
    """File, expectation, power and the seeds that would do are named; nothing is written."""
    options = Options(store=RunStore(tmp_path / "store"), reports=tmp_path / "reports")
    with pytest.raises(DesignError) as refused:
        verify_claims([hopeless()], options)
    said = str(refused.value)
    assert "group_claim.yaml: 'same': 10 replicates give equivalence a power of 2.6 %" in said
    assert "40 would give 80 %" in said
    assert "--force" in said
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("how", ["option", "claim"])
def test_a_forced_design_is_run_and_flagged(tmp_path: Path, how: str) -> None:
    """What was forced is judged as any other, and the report says so."""
    of = hopeless()
    if how == "claim":
        of = of.model_copy(update={"forced": Forced(why="nothing better is affordable")})
    rng = np.random.default_rng(SEED)
    nights = Nights(tmp_path, {arm: list(map(float, rng.normal(10, 0.15, 10))) for arm in of.arms})
    nights.train_all(of, 10)
    (document,) = nights.verify(of, force=how == "option")
    (flag,) = [one for one in document.verdict.flags if one.kind == "forced design"]
    end = {"option": "It was run all the same.", "claim": "forced: nothing better is affordable"}
    assert flag.text.endswith(end[how])
    assert document.design[0].seeds_80 == 40
