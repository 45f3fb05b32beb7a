"""What a GPU's training leaves behind, on a CPU: carried, unpacked, stopped in time, resumed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.gpu import carry, paper
from benchmarks.gpu.carried import NOTE, continued, origin_of
from repro.errors import StoreError
from repro.trainers.language_model.checkpoint import FILE_NAME, load_checkpoint, save_checkpoint
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train
from repro.trainers.run import RunSpec
from tests.trainers import small
from tests.trainers.test_checkpoint import checkpoint

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def packed(folder: Path, **changes: object) -> Path:
    """A checkpoint of random weights, its best ones those of its average, packed."""
    average = {"output.weight": torch.randn(300, 200)}
    values = {
        "weights": {"output.weight": torch.randn(300, 200), "output.bias": torch.randn(7)},
        "average": average,
        "best": {name: tensor.clone() for name, tensor in average.items()},
        **changes,
    }
    save_checkpoint(checkpoint(**values), folder)
    carry.pack(folder, folder / "pack")
    return folder / "pack"


class TestCarrying:
    def test_what_comes_back_is_rounded_and_says_so(self, tmp_path: Path):
        """Every weight within 2^-8 of itself, all else exact, under another key, with a note."""
        torch.manual_seed(0)
        pack = packed(tmp_path / "from")
        key = carry.unpack([pack], tmp_path / "to")
        before, _ = load_checkpoint(tmp_path / "from", "a" * 64)
        after, note = load_checkpoint(tmp_path / "to", key)
        assert (note, key != "a" * 64) == (None, True)
        for group in carry.GROUPS:
            ours, theirs = getattr(after, group), getattr(before, group)
            assert ours.keys() == theirs.keys()
            for name, tensor in ours.items():
                assert tensor.dtype == theirs[name].dtype
                assert ((tensor - theirs[name]).abs() <= 2**-8 * theirs[name].abs()).all()
                assert torch.equal(tensor, theirs[name].bfloat16().to(tensor.dtype))
        for name in ("history", "best_epoch", "averaging", "average_steps", "late_factor"):
            assert getattr(after, name) == getattr(before, name)
        assert json.loads((pack / carry.MANIFEST).read_text())["note"] == NOTE
        with pytest.raises(StoreError, match="belongs to another run"):
            load_checkpoint(tmp_path / "to", "a" * 64)

    def test_best_weights_that_are_the_average_take_no_place(self, tmp_path: Path):
        """Two groups of 120 kB in bfloat16 are carried, not three."""
        torch.manual_seed(0)
        pack = packed(tmp_path)
        size = sum(path.stat().st_size for path in pack.glob("*.part"))
        assert 0.5 * 240_000 < size < 240_000
        index = json.loads((pack / carry.MANIFEST).read_text())["groups"]
        assert (index["best"]["same_as"], index["average"]["same_as"]) == ("average", None)

    def test_parts_have_at_most_their_size(self, tmp_path: Path, monkeypatch):
        """Cut at 50 kB into whole parts and a rest; more than a trip holds is refused, by name."""
        torch.manual_seed(0)
        monkeypatch.setattr(carry, "PART_BYTES", 50_000)
        pack = packed(tmp_path)
        sizes = [path.stat().st_size for path in sorted(pack.glob("*.part"))]
        assert sizes[:-1] == [50_000] * (len(sizes) - 1)
        assert 2 <= len(sizes) <= carry.TRIP_PARTS
        assert carry.unpack([pack], tmp_path / "to") != "a" * 64
        monkeypatch.setattr(carry, "PART_BYTES", 20_000)
        with pytest.raises(StoreError, match="--part weights, then --part average"):
            carry.pack(tmp_path, tmp_path / "other")

    def test_groups_may_travel_alone(self, tmp_path: Path):
        """Three packs make the checkpoint that one makes; without one of them it is refused."""
        whole = packed(tmp_path / "from")
        alone = [tmp_path / group for group in carry.GROUPS]
        for folder in alone:
            arguments = [str(tmp_path / "from"), str(folder), "--part", folder.name]
            assert carry.main(["pack", *arguments]) == 0
        key = carry.unpack(alone, tmp_path / "to")
        assert key == carry.unpack([whole], tmp_path / "whole")
        one, two = (load_checkpoint(tmp_path / to, key)[0] for to in ("to", "whole"))
        for group in carry.GROUPS:
            for name, tensor in getattr(one, group).items():
                assert torch.equal(tensor, getattr(two, group)[name])
        with pytest.raises(StoreError, match="no pack holds average or best"):
            carry.unpack(alone[:1], tmp_path / "lacking")
        other = packed(tmp_path / "elsewhere", average_steps=18)
        with pytest.raises(StoreError, match="of different checkpoints"):
            carry.unpack([alone[0], other], tmp_path / "mixed")

    def test_a_damaged_part_is_refused_in_words(self, tmp_path: Path, capsys):
        """A byte that changed, a part that is missing, a checkpoint that is in the way."""
        pack = packed(tmp_path / "from")
        (part,) = pack.glob("*.part")
        content = bytearray(part.read_bytes())
        content[1000] ^= 1
        part.write_bytes(content)
        assert carry.main(["unpack", str(pack), str(tmp_path / "to")]) == 1
        assert f"{part} is damaged" in capsys.readouterr().err
        part.unlink()
        with pytest.raises(StoreError, match="a part is missing"):
            carry.unpack([pack], tmp_path / "to")
        with pytest.raises(StoreError, match="holds a checkpoint already"):
            carry.unpack([pack], tmp_path / "from")
        with pytest.raises(StoreError, match="no checkpoint that can be read"):
            carry.pack(tmp_path / "to", tmp_path / "pack")


class Clock:
    """Every look at it takes a second."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 1
        return self.time


class TestPaper:
    def run(self, epochs: int = 6) -> RunSpec:
        recipe = small.recipe(epochs=epochs, averaging={"kind": "et", "epoch": 1})
        return small.run(recipe_=recipe)

    def explore(self, run: RunSpec, folder: Path, ends: float):
        corpus = load_corpus(TrainingSpec.of(run).corpus, None)
        return paper.explore(run, corpus, CPU, folder, paper.Deadline(ends, Clock()))

    def test_it_stops_in_time_and_goes_on(self, tmp_path: Path):
        """Three epochs fit, then the rest; together they are the run that was not stopped."""
        run = self.run()
        first, spectrum = self.explore(run, tmp_path, ends=4.5)
        assert len(first["history"]) == 3
        assert first["epoch_seconds"] == [1.0] * 3
        assert (first["run"], first["origin"]) == (run.key, None)
        assert first["rank"] <= first["rank_bound"] == 8
        assert len(spectrum) == 30
        second, _ = self.explore(run, tmp_path, ends=99)
        (whole,) = train(
            [run], load_corpus(TrainingSpec.of(run).corpus, None), device=CPU, folders=[None]
        )
        assert [record["valid_loss"] for record in second["history"]] == [
            record.valid_loss for record in whole.history
        ]
        best = second["history"][second["best_epoch"] - 1]["valid_loss"]
        assert second["perplexity"]["valid"] == pytest.approx(np.exp(best), rel=1e-6)

    def test_at_least_one_epoch_is_trained(self, tmp_path: Path):
        """A time that is over already ends the training after its first epoch."""
        assert len(self.explore(self.run(), tmp_path, ends=0)[0]["history"]) == 1

    def test_from_rounded_weights_it_is_another_run(self, tmp_path: Path):
        """It goes on where it was, near the exact run, under a key that no plain run has."""
        run = self.run(4)
        self.explore(run, tmp_path / "exact", ends=3.5)
        carry.pack(tmp_path / "exact", tmp_path / "pack")
        key = carry.unpack([tmp_path / "pack"], tmp_path / "rounded")
        assert continued(run, tmp_path / "rounded").key == key != run.key
        rounded, _ = self.explore(run, tmp_path / "rounded", ends=99)
        exact, _ = self.explore(run, tmp_path / "exact", ends=99)
        assert (rounded["run"], exact["run"]) == (key, run.key)
        assert rounded["origin"]["run"] == run.key
        assert NOTE in rounded["notes"]
        assert NOTE not in exact["notes"]
        losses = [[one["valid_loss"] for one in each["history"]] for each in (rounded, exact)]
        assert losses[0][:2] == losses[1][:2]
        assert losses[0][2:] != losses[1][2:]
        assert losses[0][2:] == pytest.approx(losses[1][2:], rel=1e-2)
        carry.pack(tmp_path / "rounded", tmp_path / "again")
        carry.unpack([tmp_path / "again"], tmp_path / "twice")
        origin = origin_of(tmp_path / "twice")
        assert origin is not None
        assert (origin.run, len(origin.carried)) == (run.key, 2)

    def test_the_command_asks_for_resume(self, tmp_path: Path, capsys):
        """A checkpoint of an earlier command is neither lost nor silently gone on from."""
        folder = tmp_path / "out-checkpoint"
        save_checkpoint(checkpoint(), folder)
        arguments = ["--device", "cpu", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
        assert paper.main(arguments) == 2
        assert f"--resume {folder}" in capsys.readouterr().err
        assert (folder / FILE_NAME).exists()
        assert paper.main([*arguments, "--resume", str(tmp_path / "new")]) == 1
        assert "cannot read" in capsys.readouterr().err
