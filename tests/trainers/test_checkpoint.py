"""One file that holds all that affects the continuation."""

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from repro.errors import StoreError
from repro.trainers.language_model.checkpoint import (
    DAMAGED_NAME,
    FILE_NAME,
    Checkpoint,
    EpochRecord,
    load_checkpoint,
    save_checkpoint,
    sha256_of,
)

KEY = "a" * 64


def checkpoint(**changes):
    values = Checkpoint(
        run_key=KEY,
        history=(EpochRecord(1, 3.25, 3.1, False, 40), EpochRecord(2, 0.1, 1 / 3, True, 40)),
        best_epoch=2,
        diverged=None,
        averaging=True,
        average_steps=17,
        late_factor=0.1 + 0.2,
        weights={"output.weight": torch.rand(3, 2), "output.bias": torch.rand(3).double()},
        average={"output.weight": torch.rand(3, 2)},
        best={"output.weight": torch.rand(3, 2)},
        optimiser={"mean/output.weight": torch.rand(3, 2)},
        optimiser_steps=23,
    )
    return values.model_copy(update=changes)


def test_what_is_saved_is_loaded(tmp_path):
    """Every field comes back, numbers and tensors bit for bit."""
    saved = checkpoint()
    save_checkpoint(saved, tmp_path)
    loaded, note = load_checkpoint(tmp_path, KEY)
    assert note is None
    for group in ("weights", "average", "best", "optimiser"):
        ours, theirs = getattr(loaded, group), getattr(saved, group)
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    names = ("run_key", "history", "best_epoch", "diverged", "averaging", "average_steps")
    for name in (*names, "late_factor", "optimiser_steps"):
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
    assert "training starts over" in note


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


def test_a_damaged_file_is_moved_aside(tmp_path):
    """What cannot be read is kept under another name, where nothing overwrites it."""
    (tmp_path / FILE_NAME).write_bytes(b"damaged")
    load_checkpoint(tmp_path, KEY)
    save_checkpoint(checkpoint(), tmp_path)
    assert (tmp_path / DAMAGED_NAME).read_bytes() == b"damaged"
    assert load_checkpoint(tmp_path, KEY)[1] is None


@pytest.mark.parametrize("error", [PermissionError(13, "no"), OSError(5, "Input/output error")])
def test_a_file_that_cannot_be_read_is_not_damaged(tmp_path, monkeypatch, error):
    """A failing disk raises OSError, and the file, which may be whole, stays where it is."""
    save_checkpoint(checkpoint(), tmp_path)

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fail)
        with pytest.raises(type(error)):
            load_checkpoint(tmp_path, KEY)
    assert load_checkpoint(tmp_path, KEY)[0] is not None


RECORD = {"epoch": 1, "train_loss": 3.0, "valid_loss": 3.0, "averaging": False, "tokens": 40}
STATE = {
    "format": 1,
    "run_key": KEY,
    "history": [RECORD],
    "best_epoch": 1,
    "diverged": None,
    "averaging": False,
    "average_steps": 0,
}


def seal(path, text, tensors):
    """A checkpoint whose digest is right, whatever it says."""
    path.write_bytes(save(tensors, {"state": text, "sha256": sha256_of(text, tensors)}))


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[" * 200_000,
        "null",
        json.dumps({**STATE, "history": {}}),
        json.dumps({**STATE, "history": [[]]}),
        json.dumps({**STATE, "history": [{**RECORD, "epoch": 2}]}),
        json.dumps({**STATE, "history": [RECORD, RECORD]}),
        json.dumps({**STATE, "history": [{**RECORD, "valid_loss": float("nan")}]}),
        json.dumps({**STATE, "history": [{**RECORD, "more": 1}]}),
        json.dumps({**STATE, "best_epoch": 2}),
        json.dumps({**STATE, "best_epoch": -1}),
        json.dumps({**STATE, "best_epoch": 0}),
        json.dumps({**STATE, "best_epoch": True}),
        json.dumps({**STATE, "diverged": 1}),
        json.dumps({**STATE, "average_steps": "1"}),
        json.dumps({**STATE, "optimiser_steps": -1}),
        json.dumps({**STATE, "format": 2}),
        json.dumps({**STATE, "weights": {}}),
        json.dumps({**STATE, "run_key": None}),
    ],
)
def test_a_sealed_state_of_the_wrong_shape_is_damage(tmp_path, text):
    """A digest proves that nothing changed since, not that it was right: the state is checked."""
    tensors = {"weights/a": torch.ones(2), "best/a": torch.ones(2)}
    seal(tmp_path / FILE_NAME, json.dumps(STATE), tensors)
    assert load_checkpoint(tmp_path, KEY)[1] is None
    seal(tmp_path / FILE_NAME, text, tensors)
    loaded, note = load_checkpoint(tmp_path, KEY)
    assert loaded is None
    assert note is not None
    assert "is damaged" in note


@pytest.mark.parametrize("name", ["a", "other/a", "run_key/a", "optimiser/mean/a"])
def test_tensors_of_no_group_are_damage(tmp_path, name):
    """Every tensor is of the weights, their average, the best, or an optimiser's counted steps."""
    tensors = {"weights/a": torch.ones(2), "best/a": torch.ones(2), name: torch.ones(2)}
    seal(tmp_path / FILE_NAME, json.dumps(STATE), tensors)
    loaded, note = load_checkpoint(tmp_path, KEY)
    assert loaded is None
    assert note is not None


def test_a_temporary_file_can_be_told_and_is_nobody_elses(tmp_path, monkeypatch):
    """Its name ends in .tmp, and it differs between two writes of one process number."""
    names = []
    replace_ = Path.replace

    def note(self, target):
        names.append(self.name)
        return replace_(self, target)

    monkeypatch.setattr(Path, "replace", note)
    save_checkpoint(checkpoint(), tmp_path)
    save_checkpoint(checkpoint(), tmp_path)
    assert all(name.startswith(".") and name.endswith(".tmp") for name in names)
    assert len(set(names)) == 2
