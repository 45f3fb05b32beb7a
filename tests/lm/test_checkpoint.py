"""One file that holds all that affects the continuation."""

import os
from dataclasses import replace

import pytest
import torch

from repro.errors import StoreError
from repro.lm.checkpoint import FILE_NAME, Checkpoint, load_checkpoint, save_checkpoint
from repro.lm.records import EpochRecord

KEY = "a" * 64


def checkpoint(**changes):
    values = Checkpoint(
        run_key=KEY,
        history=(EpochRecord(1, 3.25, 3.1, False, 40), EpochRecord(2, 0.1, 1 / 3, True, 40)),
        best_epoch=2,
        diverged=None,
        averaging=True,
        average_steps=17,
        weights={"output.weight": torch.rand(3, 2), "output.bias": torch.rand(3).double()},
        average={"output.weight": torch.rand(3, 2)},
        best={"output.weight": torch.rand(3, 2)},
    )
    return replace(values, **changes)


def test_what_is_saved_is_loaded(tmp_path):
    """Every field comes back, numbers and tensors bit for bit."""
    saved = checkpoint()
    save_checkpoint(saved, tmp_path)
    loaded, note = load_checkpoint(tmp_path, KEY)
    assert note is None
    for group in ("weights", "average", "best"):
        ours, theirs = getattr(loaded, group), getattr(saved, group)
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    for name in ("run_key", "history", "best_epoch", "diverged", "averaging", "average_steps"):
        assert getattr(loaded, name) == getattr(saved, name)


def test_no_checkpoint(tmp_path):
    """An empty or missing folder holds no checkpoint, and there is nothing to say about it."""
    assert load_checkpoint(tmp_path, KEY) == (None, None)
    assert load_checkpoint(tmp_path / "missing", KEY) == (None, None)


@pytest.mark.parametrize("keep", [0, 1, 7, 100, 0.5, 0.99])
def test_a_truncated_file_is_ignored_with_a_note(tmp_path, keep):
    """A file cut anywhere is no checkpoint; the note names it and says what happens."""
    save_checkpoint(checkpoint(), tmp_path)
    path = tmp_path / FILE_NAME
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content)) if isinstance(keep, float) else keep])
    loaded, note = load_checkpoint(tmp_path, KEY)
    assert loaded is None
    assert note is not None
    assert str(path) in note
    assert "training starts anew" in note


def test_one_flipped_bit_is_noticed_wherever_it_is(tmp_path):
    """A file in which any one byte has changed is ignored with a note."""
    save_checkpoint(checkpoint(), tmp_path)
    path = tmp_path / FILE_NAME
    content = path.read_bytes()
    for position in range(0, len(content), 13):
        damaged = bytearray(content)
        damaged[position] ^= 4
        path.write_bytes(damaged)
        try:
            loaded, note = load_checkpoint(tmp_path, KEY)
        except StoreError:
            pytest.fail(f"byte {position}: damage was taken for another run")
        assert loaded is None, position
        assert note is not None
        assert "is damaged" in note


def test_a_foreign_file_is_ignored_with_a_note(tmp_path):
    """Bytes that are no checkpoint at all do not stop training."""
    (tmp_path / FILE_NAME).write_bytes(os.urandom(500))
    _, note = load_checkpoint(tmp_path, KEY)
    assert note is not None
    assert "is damaged" in note


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    """A folder that holds another run's state is an error that names both."""
    save_checkpoint(checkpoint(), tmp_path)
    with pytest.raises(StoreError) as caught:
        load_checkpoint(tmp_path, "b" * 64)
    assert "a" * 64 in str(caught.value)
    assert "b" * 64 in str(caught.value)


def test_a_failed_write_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    """When the disk fails, the last checkpoint is still there, and no temporary file is."""
    save_checkpoint(checkpoint(), tmp_path)

    def fail(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        save_checkpoint(checkpoint(best_epoch=1), tmp_path)
    kept, _ = load_checkpoint(tmp_path, KEY)
    assert kept is not None
    assert kept.best_epoch == 2
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
