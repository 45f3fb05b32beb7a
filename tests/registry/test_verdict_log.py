"""What a claim came to before: kept whole by several writers, whatever a crash leaves."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from repro.errors import StoreError
from repro.expectations.verdict_words import Agreement, Conclusion, Validity
from repro.files import claims
from repro.registry.verdicts import KeptArm, KeptNumber, VerdictEntry, VerdictLog, changes, identity
from repro.store.run_store import RunStore


def arm(source: str = "table", *, file: str = "f", **seeds: str) -> KeptArm:
    """An arm with a digest for each seed: `s1="a"` is seed 1."""
    named = {name[1:]: each for name, each in seeds.items()}
    values = "".join(named.values())
    return KeptArm(source=source, count=len(named), values=values, runs="r", file=file, seeds=named)


def entry(effect: float = 1.0, **given: Any) -> VerdictEntry:
    number = KeptNumber(
        expectation="better",
        effect=effect,
        low=effect - 1,
        high=None,
        scale="difference",
        digits=2,
        conclusion=Conclusion.CONFIRMED,
    )
    known: dict[str, Any] = {
        "created": "2026-11-20T02:00:00+00:00",
        "validity": Validity.VALID,
        "conclusion": Conclusion.CONFIRMED,
        "agreement": Agreement.NOT_CHECKABLE,
        "expected": "",
        "as_expected": True,
        "numbers": (number,),
        "claim": "c",
        "arms": {"a": arm(s1="x", s2="y"), "b": arm(s1="z", s2="w")},
        "fields": {"alpha": "1", "design": "2"},
        "family": (),
        "versions": {"repro": "1.0", "numpy": "2.1"},
    }
    return VerdictEntry(**{**known, **given})


def log(place: Path, of: str = "here") -> VerdictLog:
    return VerdictLog(RunStore(place), "mine", "quick", of)


def test_what_says_the_same_is_kept_once(tmp_path: Path) -> None:
    """Up to round-off, whenever and by whichever version it is said."""
    for again in (
        entry(),
        entry(1.0 + 1e-12),
        entry(created="2026-11-21T02:00:00+00:00", versions={"repro": "2.0"}),
        entry(1.1),
        entry(1.1, arms={"a": arm(s1="x"), "b": arm(s1="z")}),
        entry(1.1, conclusion=None, validity=Validity.INVALID, arms={}),
    ):
        log(tmp_path).keep(again)
    found = log(tmp_path).read()
    assert [each.word for each in found] == ["CONFIRMED"] * 3 + ["INVALID"]
    assert [[each.text for each in one.changed] for one in found[:3]] == [
        [], [], ["one seed was removed"],
    ]  # fmt: skip


@pytest.mark.parametrize("left", [b'{"agreement":"NOT-CH', b"\xff\xfe", b"[1]\nnull\n", b"\n\n"])
def test_a_torn_line_is_passed_over(tmp_path: Path, left: bytes) -> None:
    """What a killed process left is no entry, and spoils none after it."""
    log(tmp_path).keep(entry())
    with log(tmp_path).path.open("ab") as stream:
        stream.write(left)
    assert len(log(tmp_path).read()) == 1
    log(tmp_path).keep(entry(2.0))
    assert [each.numbers[0].effect for each in log(tmp_path).read()] == [1.0, 2.0]


def keep_some(place: Path, first: int) -> None:
    for number in range(first, first + 20):
        log(place).keep(entry(float(number)))


def test_several_writers_lose_nothing(tmp_path: Path) -> None:
    """Each entry is there once, whoever wrote it."""
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(keep_some, [tmp_path] * 4, range(0, 400, 100)))
    found = [each.numbers[0].effect or 0.0 for each in log(tmp_path).read()]
    assert sorted(found) == [first + number for first in range(0, 400, 100) for number in range(20)]


def test_claims_are_told_apart_by_where_they_lie(tmp_path: Path) -> None:
    """One id in two folders is two claims, one file by two ways is one; results tell as well."""
    (tmp_path / "link").symlink_to(tmp_path / "one")
    one = identity(str(tmp_path / "one" / "a.yaml"))
    assert one == identity(str(tmp_path / "link" / "a.yaml"))
    assert one != identity(str(tmp_path / "two" / "a.yaml"))
    assert one != identity(str(tmp_path / "one" / "a.yaml"), tmp_path / "r.csv")
    assert log(tmp_path, one).path != log(tmp_path, "another").path
    assert identity(str(claims() / "mos_rank.yaml")) == "packaged\nmos_rank.yaml"


def test_what_cannot_be_read_or_written_is_an_error_of_the_store(tmp_path: Path) -> None:
    """A link or a folder in the place of the file is not followed."""
    path = log(tmp_path).path
    path.mkdir(parents=True)
    for use in (log(tmp_path).read, log(tmp_path).prepare, lambda: log(tmp_path).keep(entry())):
        with pytest.raises(StoreError):
            use()


def said(before: VerdictEntry, now: VerdictEntry) -> list[tuple[str, str]]:
    return [(each.kind, each.text) for each in changes(before, now)]


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ({"s1": "x", "s2": "y", "s3": "p", "s4": "q"}, {"s1": "z", "s2": "w", "s3": "p", "s4": "q"},
         ["two seeds were added"]),
        ({"s1": "x", "s2": "y", "s3": "p"}, {"s1": "z", "s2": "w"}, ["one seed of a was added"]),
        ({"s1": "x", "s2": "y", "s3": "p"}, {"s1": "z"},
         ["one seed of a was added", "one seed of b was removed"]),
        ({"s1": "x", "s2": "y", "s3": "p"}, {"s1": "z", "s2": "w", "s3": "p", "s4": "q"},
         ["one seed of a and two of b were added"]),
        ({"s1": "x", "s2": "n"}, {"s1": "z", "s2": "w"},
         ["the values of one seed of a were changed"]),
        ({"s1": "n", "s2": "y"}, {"s1": "n", "s2": "w"}, ["the values of one seed were changed"]),
        ({"s7": "x"}, {"s8": "z"}, ["all seeds are other ones"]),
        ({"s1": "x", "s2": "y"}, {"s1": "z", "s2": "w"}, ["a file was written again"]),
    ],
)  # fmt: skip
def test_what_was_changed_of_the_evidence(
    a: dict[str, str], b: dict[str, str], text: list[str]
) -> None:
    """In words, by arm where the arms differ."""
    arms = {"a": arm(file="new", **a), "b": arm(file="new", **b)}
    assert said(entry(), entry(arms=arms)) == [("input", each) for each in text]


def test_what_else_was_changed() -> None:
    """The claim by its fields, code by its files, versions by name; of many seeds how many."""
    edited = {"alpha": "9", "arms.a.digests.train.py": "n"}
    assert said(entry(), entry(claim="d", fields={**entry().fields, **edited})) == [
        ("code", "train.py was edited"), ("claim", "the claim was changed (alpha)"),
    ]  # fmt: skip
    assert said(entry(), entry(versions={"repro": "1.1", "numpy": "2.1"})) == [
        ("versions", "repro 1.0 is now 1.1")
    ]
    assert said(entry(), entry(family=("other",))) == [
        ("family", "other claims of its family were judged with it")
    ]
    many = [
        KeptArm(source="runs", count=n, values="v", runs="r", file="", seeds={}) for n in (2, 4)
    ]
    assert said(entry(arms={"a": many[0]}), entry(arms={"a": many[1]})) == [
        ("runs", "two seeds were added")
    ]
    other = many[1].model_copy(update={"values": "w"})
    assert said(entry(arms={"a": many[1]}), entry(arms={"a": other})) == [
        ("runs", "values of a were changed")
    ]


def test_more_seeds_are_not_told_twice() -> None:
    """A claim that plans the seeds that were added has no other cause."""
    more = {"a": arm(s1="x", s2="y", s3="p"), "b": arm(s1="z", s2="w", s3="p")}
    planned = entry(claim="d", fields={**entry().fields, "seeds.plan": "3"}, arms=more)
    assert said(entry(), planned) == [("input", "one seed was added")]


def test_other_clusters_are_no_other_number_of_seeds() -> None:
    """The column of clusters is written into the table, but what was changed is the claim."""
    before = entry()
    arms = {name: arm.model_copy(update={"source": "table"}) for name, arm in before.arms.items()}
    old = before.model_copy(update={"arms": arms})
    other = {name: arm.model_copy(update={"values": "other"}) for name, arm in arms.items()}
    fields = {**old.fields, "seeds.clusters": "passage"}
    now = old.model_copy(update={"claim": "d", "fields": fields, "arms": other})
    assert said(old, now)[0] == ("claim", "the claim was changed (seeds.clusters)")


def test_an_entry_is_one_line_of_json(tmp_path: Path) -> None:
    """Whatever its texts hold."""
    log(tmp_path).keep(entry(expected="a\nb\u2028c", claim="<script>"))
    (row,) = log(tmp_path).path.read_text().splitlines()
    assert json.loads(row)["claim"] == "<script>"
