"""The log of looks: what was seen and concluded, under which fields, in order and for good."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from repro.errors import StoreError
from repro.registry.claim_log import History
from tests.registry.made import (
    CLAIM,
    FIELDS,
    FIRST,
    MORE,
    SCALE,
    SECOND,
    VALUES,
    WIDER,
    entry,
    file,
    history,
    read,
    record,
    register,
    registrations,
)


def test_looks_come_back_in_order(tmp_path):
    """
    Looks are numbered from 1 within their process and come back with what they saw and said.
    """
    place = tmp_path / "looks"
    record(place, entry())
    record(place, entry(MORE, conclusion="CONFIRMED"))
    first, second = read(place, CLAIM, SCALE).processes[FIRST]
    assert (first.number, second.number) == (1, 2)
    assert (first.n, second.n) == ({"mos": 3, "softmax": 3}, {"mos": 4, "softmax": 4})
    assert second.conclusion == "CONFIRMED"
    assert first.results == {"not_better": {"e": 2.5, "p": None}}
    assert first.time == "2026-01-01T00:00:00"


def test_a_ledger_that_was_never_written_is_empty(tmp_path):
    """
    Where nobody looked there is no look, and reading makes no file.
    """
    assert history(tmp_path / "none", CLAIM, SCALE, FIRST) == History((), {}, ())
    assert registrations(tmp_path, CLAIM, SCALE) == ()
    assert list(tmp_path.iterdir()) == []


def test_the_same_look_is_written_once(tmp_path):
    """
    A look that repeats the last one is not written again; another conclusion is.
    """
    record(tmp_path, entry())
    before = file(tmp_path).read_bytes()
    assert record(tmp_path, entry(time="2027-01-01T00:00:00")).number == 1
    assert file(tmp_path).read_bytes() == before
    assert record(tmp_path, entry(conclusion="CONFIRMED")).number == 2


def test_round_off_is_no_other_look(tmp_path):
    """
    Numbers that differ in their last digits repeat a look; a visible difference is another one.
    """
    for e, number in ((2.5, 1), (2.5 * (1 + 1e-15), 1), (2.5001, 2), (None, 3), (0.0, 4)):
        look = replace(entry(), results={"not_better": {"e": e, "p": None}})
        assert record(tmp_path, look).number == number
    assert record(tmp_path, replace(look, results={"not_better": {"p": None}})).number == 5


def test_what_another_version_says_is_kept(tmp_path):
    """
    The same look by another version of the program is on record beside the first, once.
    """
    for version, number in (("0.1.0", 1), ("0.2.0", 2), ("0.2.0", 2)):
        assert record(tmp_path, entry(version=version)).number == number


def test_nothing_is_rewritten(tmp_path):
    """
    Every look leaves the bytes that were there and adds one line of JSON.
    """
    content = b""
    for values in (VALUES, MORE):
        record(tmp_path, entry(values))
        after = file(tmp_path).read_bytes()
        assert after.startswith(content)
        assert after[len(content) :].count(b"\n") == 1
        content = after


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (
            {**MORE, "mos": {**MORE["mos"], 1: 55.0}},
            "look 1 saw other values of arm 'mos'.*another",
        ),
        ({**MORE, "mos": {0: 56.1, 2: 56.2, 3: 56.0}}, "replicate 1 is gone"),
        ({"mos": MORE["mos"]}, "arm 'softmax': replicate 0 is gone"),
    ],
)
def test_a_replaced_seed_is_seen(tmp_path, values, what):
    """
    A value that was looked at and is now another one, or gone, is an error; nothing is written.
    """
    record(tmp_path, entry())
    before = file(tmp_path).read_bytes()
    with pytest.raises(StoreError, match=what):
        record(tmp_path, entry(values))
    assert file(tmp_path).read_bytes() == before


def test_an_edit_starts_a_new_process_and_the_old_one_is_shown(tmp_path):
    """
    Other decisive fields are another process with its own numbers; the earlier stays in sight,
    and going back to the old fields continues its process instead of resetting it.
    """
    record(tmp_path, entry())
    record(tmp_path, entry(MORE))
    record(tmp_path, entry(MORE, digest=SECOND))
    edited = history(tmp_path, CLAIM, SCALE, SECOND)
    assert [look.number for look in edited.looks] == [1]
    assert [look.time for look in edited.others[FIRST]] == ["2026-01-01T00:00:00"] * 2
    assert record(tmp_path, entry(MORE, conclusion="CONFIRMED")).number == 3


def test_registrations_show_what_changed_and_after_how_many_looks(tmp_path):
    """
    The paths of changed fields are named, with the number of looks that came before; the same
    fields are registered once.
    """
    for fields, key in ((FIELDS, FIRST), (FIELDS, FIRST), (WIDER, SECOND)):
        register(tmp_path, CLAIM, SCALE, key, fields)
        record(tmp_path, entry(digest=key))
    register(tmp_path, CLAIM, SCALE, FIRST, {"seeds": 5, **FIELDS, "expectations": []})
    edits = registrations(tmp_path, CLAIM, SCALE)
    assert [edit.changed for edit in edits] == [
        (),
        ("expectations.0.margin.abs",),
        ("expectations.0", "seeds"),
    ]
    assert [edit.looks_before for edit in edits] == [0, 1, 2]
    assert edits[1].registration.fields == WIDER


def test_claims_and_scales_have_ledgers_of_their_own(tmp_path):
    """
    A look of one scale or claim is no look of another.
    """
    record(tmp_path, entry())
    record(tmp_path, entry(), scale="paper")
    record(tmp_path, entry(), claim_id="other")
    assert len(read(tmp_path, CLAIM, SCALE).entries) == 1
    assert len(read(tmp_path, CLAIM, "paper").entries) == 1


def test_looks_at_once_are_all_kept(tmp_path):
    """
    Twenty looks from eight threads at once leave twenty lines, numbered without gap.
    """
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: record(tmp_path, entry(conclusion=str(i))), range(20)))
    looks = read(tmp_path, CLAIM, SCALE).processes[FIRST]
    assert [look.number for look in looks] == list(range(1, 21))
    assert {look.conclusion for look in looks} == {str(i) for i in range(20)}


def test_a_line_is_plain_json(tmp_path):
    """
    Anybody can read the log: one JSON object a line, with the replicates looked at.
    """
    record(tmp_path, entry())
    line = json.loads(file(tmp_path).read_text())
    assert line["kind"] == "look"
    assert line["arms"]["mos"]["replicates"] == [0, 1, 2]
