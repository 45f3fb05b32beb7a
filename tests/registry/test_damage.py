"""Logs of looks that were torn, edited, redirected or cut short: named, and left as they are."""

from __future__ import annotations

import os

import pytest

from repro.errors import StoreError
from repro.registry.claim_log import Entry
from tests.registry.made import (
    CLAIM,
    FIRST,
    MORE,
    SCALE,
    VALUES,
    entry,
    file,
    history,
    read,
    record,
)


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
    A crash while writing after a crash leaves two torn lines, and the log goes on.
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
        with pytest.raises(StoreError, match="cannot name a log"):
            read(place, *names)
        with pytest.raises(StoreError, match="cannot name a log"):
            record(place, entry(), *names)
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
            Entry(FIRST, VALUES, {"not_better": {"e": float("inf")}}, "x", "0"),
        )
    assert file(tmp_path).read_bytes() == b""
    assert record(tmp_path, entry()).number == 1


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
