from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import JsonValue

from repro.digest import digest
from repro.errors import StoreError
from repro.looks import Entry, History, history, read, record, register, registrations

CLAIM, SCALE = "fair_mos", "quick"
FIELDS: dict[str, JsonValue] = {
    "alpha": 0.05,
    "expectations": [{"id": "not_better", "margin": {"abs": 0.3}}],
}
WIDER: dict[str, JsonValue] = {
    "alpha": 0.05,
    "expectations": [{"id": "not_better", "margin": {"abs": 0.5}}],
}
FIRST, SECOND = digest(FIELDS), digest(WIDER)
VALUES = {"mos": {0: 56.1, 1: 56.4, 2: 56.2}, "softmax": {0: 56.5, 1: 56.3, 2: 56.7}}
MORE = {"mos": {**VALUES["mos"], 3: 56.0}, "softmax": {**VALUES["softmax"], 3: 56.6}}


def entry(values=VALUES, digest=FIRST, conclusion="INCONCLUSIVE", **other) -> Entry:
    """A look at some values."""
    fields = {"claim_id": CLAIM, "scale": SCALE, "version": "0.1.0", "time": "2026-01-01T00:00:00"}
    results = {"not_better": {"e": 2.5, "p": None}}
    return Entry(
        digest=digest, values=values, results=results, conclusion=conclusion, **fields | other
    )


def file(place: Path) -> Path:
    """The file of the ledger."""
    return place / CLAIM / f"{SCALE}.jsonl"


def test_looks_come_back_in_order(tmp_path):
    """
    Looks are numbered from 1 within their process and come back with what they saw and said.
    """
    place = tmp_path / "deep" / "looks"
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
    record(tmp_path, entry(scale="paper"))
    record(tmp_path, entry(claim_id="other"))
    assert len(read(tmp_path, CLAIM, SCALE).entries) == 1
    assert len(read(tmp_path, CLAIM, "paper").entries) == 1


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_torn_line_is_kept_reported_and_passed_over(tmp_path, cut):
    """
    A last line cut short by a crash is named and stays; later looks are added after it. Where
    only the end of the line is missing the look counts.
    """
    record(tmp_path, entry())
    record(tmp_path, entry(MORE))
    file(tmp_path).write_bytes(file(tmp_path).read_bytes()[:-cut])
    torn = () if cut == 1 else (f"{file(tmp_path)}:2",)
    content = file(tmp_path).read_bytes()
    assert read(tmp_path, CLAIM, SCALE).torn == torn
    record(tmp_path, entry(MORE, conclusion="CONFIRMED"))
    after = history(tmp_path, CLAIM, SCALE, FIRST)
    assert after.torn == torn
    assert [look.conclusion for look in after.looks][-1] == "CONFIRMED"
    assert len(after.looks) == (3 if cut == 1 else 2)
    assert file(tmp_path).read_bytes().startswith(content)


def test_two_torn_lines_are_no_obstacle(tmp_path):
    """
    A crash while writing after a crash leaves two torn lines, and the ledger goes on.
    """
    record(tmp_path, entry())
    with file(tmp_path).open("ab") as stream:
        stream.write(b'{"kind":"lo\n{"ki')
    assert record(tmp_path, entry(MORE)).number == 2
    assert len(read(tmp_path, CLAIM, SCALE).torn) == 2


HOSTILE = {
    "no JSON": b"look\n",
    "no object": b"[]\n",
    "no text": b"\xff\xfe\n",
    "nested": b"[" * 20000 + b"\n",
    "NaN": b'{"kind":"look","number":NaN}\n',
    "unknown kind": b'{"before":"","kind":"peek"}\n',
    "link is a number": b'{"before":3,"kind":"look"}\n',
    "blank": b"\n",
    "extra field": b'{"before":"","kind":"registration","digest":"","time":"","fields":{},"x":1}\n',
    "control characters": b'{"before":"","kind":"\\u001b[31m"}\n',
}


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_bad_line_is_named(tmp_path, line):
    """
    A whole line that is no entry is an error that names file and line, and stops writing too.
    """
    record(tmp_path, entry())
    with file(tmp_path).open("ab") as stream:
        stream.write(line)
    for action in (lambda: read(tmp_path, CLAIM, SCALE), lambda: record(tmp_path, entry(MORE))):
        with pytest.raises(StoreError, match=rf"^{file(tmp_path)}:2: is not") as caught:
            action()
        assert "\x1b" not in str(caught.value)


def test_a_changed_or_removed_line_is_noticed(tmp_path):
    """
    A look that was edited, removed or moved afterwards is an error that names the line after.
    """
    record(tmp_path, entry())
    record(tmp_path, entry(MORE))
    record(tmp_path, entry(MORE, conclusion="CONFIRMED"))
    lines = file(tmp_path).read_bytes().splitlines(keepends=True)
    edited = lines[0].replace(b"INCONCLUSIVE", b"CONTRADICTED")
    for changed, at in (([edited, *lines[1:]], 2), (lines[1:], 1), ([lines[0], lines[2]], 2)):
        file(tmp_path).write_bytes(b"".join(changed))
        with pytest.raises(StoreError, match=rf":{at}: does not follow"):
            read(tmp_path, CLAIM, SCALE)


@pytest.mark.parametrize(
    "name", ["../escape", "a/b", "", ".", "..", "A", "a\n", "x" * 65, "a\0b", "/etc/passwd"]
)
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    """
    A claim id or scale that is no short name is refused before anything is read or made.
    """
    place = tmp_path / "looks"
    for names in ((name, SCALE), (CLAIM, name)):
        with pytest.raises(StoreError, match="cannot name a ledger"):
            read(place, *names)
        with pytest.raises(StoreError, match="cannot name a ledger"):
            record(place, entry(claim_id=names[0], scale=names[1]))
    with pytest.raises(StoreError, match="is no digest"):
        record(place, entry(digest="../" + FIRST))
    assert not (tmp_path / "escape").exists()


def test_links_and_folders_in_the_way_are_refused(tmp_path):
    """
    A symbolic link in place of folder or file, and a folder in place of the file, are errors.
    """
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "looks").mkdir()
    (tmp_path / "looks" / CLAIM).symlink_to(elsewhere)
    with pytest.raises(StoreError, match="plain folder"):
        record(tmp_path / "looks", entry())
    other = tmp_path / "other" / CLAIM
    other.mkdir(parents=True)
    (other / f"{SCALE}.jsonl").symlink_to(tmp_path / "target")
    with pytest.raises(StoreError):
        record(tmp_path / "other", entry())
    (other / f"{SCALE}.jsonl").unlink()
    (other / f"{SCALE}.jsonl").mkdir()
    with pytest.raises(StoreError):
        record(tmp_path / "other", entry())
    assert not (tmp_path / "target").exists()
    assert list(elsewhere.iterdir()) == []


def test_what_json_cannot_hold_is_refused(tmp_path):
    """
    A value or result that is not finite is refused with its reason, and nothing is written.
    """
    with pytest.raises(StoreError, match="cannot be written as JSON"):
        record(tmp_path, entry({"mos": {0: float("nan")}}))
    with pytest.raises(StoreError, match=r"not_better\.e"):
        record(
            tmp_path,
            Entry(CLAIM, SCALE, FIRST, VALUES, {"not_better": {"e": float("inf")}}, "x", "0"),
        )
    assert file(tmp_path).read_bytes() == b""
    assert record(tmp_path, entry()).number == 1


def test_looks_at_once_are_all_kept(tmp_path):
    """
    Twenty looks from eight threads at once leave twenty lines, numbered without gap.
    """
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: record(tmp_path, entry(conclusion=str(i))), range(20)))
    looks = read(tmp_path, CLAIM, SCALE).processes[FIRST]
    assert [look.number for look in looks] == list(range(1, 21))
    assert {look.conclusion for look in looks} == {str(i) for i in range(20)}


def test_a_short_write_is_reported_and_the_ledger_goes_on(tmp_path, monkeypatch):
    """
    A full disk that takes half a line is an error; the next look is written after the half.
    """
    record(tmp_path, entry())
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:30]))
    with pytest.raises(StoreError, match="could not be written whole"):
        record(tmp_path, entry(MORE))
    monkeypatch.undo()
    assert record(tmp_path, entry(MORE)).number == 2
    assert read(tmp_path, CLAIM, SCALE).torn == (f"{file(tmp_path)}:2",)


def test_a_line_is_plain_json(tmp_path):
    """
    Anybody can read the ledger: one JSON object a line, with the replicates looked at.
    """
    record(tmp_path, entry())
    line = json.loads(file(tmp_path).read_text())
    assert line["kind"] == "look"
    assert line["arms"]["mos"]["replicates"] == [0, 1, 2]
