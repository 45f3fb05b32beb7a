"""An unfinished run on the way to another store: exact, in parts, refused where it is not whole."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from repro.digest import digest
from repro.errors import ReproError, StoreError
from repro.running import worker
from repro.running.worker import RunLog
from repro.store import unfinished as parts
from repro.store.run_store import RunStore
from repro.store.sealed import seal
from repro.trainers.language_model.checkpoint import load_checkpoint, save_checkpoint
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.training import train
from repro.trainers.run import PlannedRun, RunSpec
from repro.trainers.trainer import Facts, Progress
from repro.workflows.runs import export_runs, export_unfinished, import_runs
from tests.commands import repro
from tests.trainers import small

CPU = torch.device("cpu")
RUN = small.run(small.MOS, small.rich_recipe(batch_size=12))
OTHER = small.run(small.SOFTMAX, small.rich_recipe(batch_size=12))


class KilledError(Exception):
    """The training is killed."""


def trained(store: RunStore, run: RunSpec = RUN, *, epochs: int | None = None) -> RunStore:
    """Go on with a run in a store, to its end or killed after so many epochs."""

    def killing(where: Progress) -> None:
        if epochs is not None and where.epoch > epochs:
            raise KilledError

    folder = store.working_folder(run)
    corpus = load_corpus(small.corpus(), None)
    try:
        (done,) = train([run], corpus, device=CPU, folders=[folder], progress=killing)
    except KilledError:
        return store
    finished = done.finished()
    store.put_run(
        run, history=finished.history, weights=finished.weights, best_epoch=finished.best_epoch
    )
    return store


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run, killed after its second epoch."""
    return trained(RunStore(tmp_path_factory.mktemp("killed") / "store"), epochs=2).root


@pytest.fixture
def begun(killed: Path, tmp_path: Path) -> RunStore:
    """A copy of that store."""
    return RunStore(shutil.copytree(killed, tmp_path / "begun"))


@pytest.fixture
def folder(begun: RunStore, tmp_path: Path) -> Path:
    """Its parts, of 4 kB."""
    assert export_unfinished(begun, tmp_path / "parts", part_bytes=4000).parts == 1
    return tmp_path / "parts" / RUN.key


def test_a_run_that_moved_ends_with_the_bits_of_one_that_never_stopped(
    begun: RunStore, folder: Path, tmp_path: Path
) -> None:
    """Killed a second time on the way; the store that it left has all that it had."""
    assert len(list(folder.glob("*.part"))) > 3
    other = RunStore(tmp_path / "other")
    assert import_runs(other, folder.parent).parts == 1
    trained(trained(other, epochs=3))
    whole = trained(RunStore(tmp_path / "whole"))
    assert other.record(RUN.key) == whole.record(RUN.key)
    assert other.history(RUN.key) == whole.history(RUN.key)
    assert begun.state(RUN.key) == "started"
    assert trained(begun).record(RUN.key) == whole.record(RUN.key)


def test_the_checkpoint_with_more_epochs_stays(begun: RunStore, folder: Path) -> None:
    """As many are not more; a finished run is not touched."""
    assert import_runs(begun, folder).there == 1
    trained(begun, epochs=3)
    assert import_runs(begun, folder).there == 1
    trained(begun)
    before = begun.record(RUN.key)
    assert import_runs(begun, folder).there == 1
    assert begun.record(RUN.key) == before


def test_a_checkpoint_that_is_further_takes_the_place_of_an_earlier_one(
    begun: RunStore, tmp_path: Path
) -> None:
    shutil.copytree(begun.root, tmp_path / "behind")
    trained(begun, epochs=3)
    export_unfinished(begun, tmp_path / "parts")
    behind = RunStore(tmp_path / "behind")
    assert import_runs(behind, tmp_path / "parts").parts == 1
    name = parts.CHECKPOINT
    assert (behind.folder(RUN.key) / name).read_bytes() == (
        begun.folder(RUN.key) / name
    ).read_bytes()


def changed_manifest(folder: Path, **changes: object) -> None:
    path = folder / parts.MANIFEST
    document = json.loads(path.read_text())
    del document["sha256"]
    path.write_bytes(seal({**document, **changes}))


def without_manifest(folder: Path) -> None:
    (folder / parts.MANIFEST).unlink()


def not_json(folder: Path) -> None:
    (folder / parts.MANIFEST).write_bytes(b"{")


def grow(folder: Path) -> None:
    with (folder / "0001.part").open("ab") as file:
        file.write(b"more")


def add(folder: Path) -> None:
    """A part of another export, which had more of them."""
    (folder / "0099.part").write_bytes(b"left")


def sparse(folder: Path) -> None:
    """A part of 15 GB that takes no room on the disk, and is never read."""
    document = json.loads((folder / parts.MANIFEST).read_text())["parts"]
    changed_manifest(folder, parts=[{**document[0], "size": 15 * 10**9}])
    with (folder / "0000.part").open("wb") as file:
        file.truncate(15 * 10**9)


def remove(folder: Path) -> None:
    (folder / "0001.part").unlink()


def damage(folder: Path) -> None:
    content = bytearray((folder / "0001.part").read_bytes())
    content[7] ^= 1
    (folder / "0001.part").write_bytes(content)


def mix(folder: Path) -> None:
    """Two parts of one size change places, and the manifest says so."""
    document = json.loads((folder / parts.MANIFEST).read_text())["parts"]
    first, second, *others = ({**part} for part in document)
    first["digest"], second["digest"] = second["digest"], first["digest"]
    changed_manifest(folder, parts=[first, second, *others])
    one, other = ((folder / name).read_bytes() for name in ("0000.part", "0001.part"))
    (folder / "0000.part").write_bytes(other)
    (folder / "0001.part").write_bytes(one)


def lead_out(folder: Path) -> None:
    document = json.loads((folder / parts.MANIFEST).read_text())["parts"]
    changed_manifest(folder, parts=[{**document[0], "name": "../../0001.part"}])


def link(folder: Path) -> None:
    (folder / "0001.part").rename(folder / "elsewhere")
    (folder / "0001.part").symlink_to("elsewhere")


def other_run(folder: Path) -> None:
    changed_manifest(folder, run="f" * 64)


def cut(folder: Path, content: bytes, **changes: object) -> None:
    """Parts of another content, whole by all that the manifest says."""
    for part in folder.glob("*.part"):
        part.unlink()
    (folder / "0000.part").write_bytes(content)
    sha256 = hashlib.sha256(content).hexdigest()
    piece = {"name": "0000.part", "size": len(content), "digest": sha256}
    changed_manifest(folder, parts=[piece], digest=sha256, **changes)


def joined(folder: Path) -> bytes:
    return b"".join(part.read_bytes() for part in sorted(folder.glob("*.part")))


def of_another_run(folder: Path) -> None:
    """The checkpoint of another run, under the manifest of this one."""
    store = trained(RunStore(folder.parent.parent / "apart"), OTHER, epochs=2)
    cut(folder, (store.folder(OTHER.key) / parts.CHECKPOINT).read_bytes())


def of_another_model(folder: Path) -> None:
    """A sealed checkpoint of this run, with weights that its model does not have."""
    checkpoint, _ = load_checkpoint(folder.parent.parent / "begun" / RUN.key[:2] / RUN.key, RUN.key)
    assert checkpoint is not None
    renamed = {f"{name}_": each for name, each in checkpoint.weights.items()}
    place = folder.parent.parent / "renamed"
    save_checkpoint(checkpoint.model_copy(update={"weights": renamed}), place)
    cut(folder, (place / parts.CHECKPOINT).read_bytes())


def text_for_epochs(folder: Path) -> None:
    state = json.dumps({"history": "x" * 99})
    header = json.dumps({"__metadata__": {"state": state}}).encode()
    cut(folder, len(header).to_bytes(8, "little") + header, epochs=99)


def repeated(folder: Path) -> None:
    document = json.loads((folder / parts.MANIFEST).read_text())["parts"]
    changed_manifest(folder, parts=document[:1] * 3)


def no_run(folder: Path) -> None:
    spec = json.dumps({"training": {"anything": 1}})
    changed_manifest(folder, spec=spec, run=digest(json.loads(spec)))


def other_epochs(folder: Path) -> None:
    changed_manifest(folder, epochs=99)


def unsealed(folder: Path) -> None:
    path = folder / parts.MANIFEST
    path.write_text(path.read_text().replace('"epochs": 2', '"epochs": 3'))


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (without_manifest, "manifest.json: is missing"),
        (sparse, "states 15,000,000,000 bytes, and a checkpoint of this run has at most "),
        (remove, "0001.part: is missing"),
        (damage, "0001.part: is damaged, or of another checkpoint"),
        (mix, "its parts are mixed"),
        (lead_out, "manifest.json: parts.0.name"),
        (link, "0001.part: "),
        (grow, "0001.part: "),
        (add, "0099.part: is not named by the manifest"),
        (not_json, "manifest.json: "),
        (other_run, "its specification is of another run"),
        (of_another_run, f"has a checkpoint of run {OTHER.key}"),
        (of_another_model, "has a checkpoint with the weights of another model"),
        (text_for_epochs, "is not a whole checkpoint"),
        (repeated, "is not the next part"),
        (no_run, "has no specification of a run"),
        (other_epochs, "states other epochs than its parts have"),
        (unsealed, "manifest.json: has the digest"),
    ],
)
def test_parts_that_are_not_whole_are_refused_by_name(harm, said, folder, tmp_path):
    """And nothing of them is in the store."""
    harm(folder)
    other = RunStore(tmp_path / "other")
    with pytest.raises(StoreError, match="to do: ") as caught:
        import_runs(other, folder.parent)
    assert said in str(caught.value)
    assert "to do: remove" not in str(caught.value)
    assert not list(other.keys())


def test_a_run_that_is_being_trained_is_left_alone(folder: Path, tmp_path: Path) -> None:
    other = RunStore(tmp_path / "other")
    with other.lock(RUN.key), pytest.raises(StoreError, match="is being trained"):
        import_runs(RunStore(other.root), folder)


def test_parts_are_not_written_over(begun: RunStore, folder: Path) -> None:
    with pytest.raises(StoreError, match="is there already"):
        export_unfinished(begun, folder.parent)


def test_finished_runs_are_imported_from_a_store(begun: RunStore, tmp_path: Path) -> None:
    """What export wrote, and back; a second time they are there already."""
    trained(begun)
    export_runs(begun, tmp_path / "exported")
    other = RunStore(tmp_path / "other")
    found = [import_runs(other, tmp_path / "exported") for _ in range(2)]
    assert [(each.copied, each.there) for each in found] == [(1, 0), (0, 1)]


def test_a_finished_run_is_not_imported_over_one_that_is_being_trained(
    begun: RunStore, tmp_path: Path
) -> None:
    trained(begun)
    other = RunStore(tmp_path / "other")
    with other.lock(RUN.key), pytest.raises(StoreError, match="is being trained"):
        import_runs(RunStore(other.root), begun.root)
    assert other.committed(RUN.key) is None


def test_what_a_killed_process_left_is_replaced_by_a_finished_run(
    begun: RunStore, tmp_path: Path
) -> None:
    """Files that were written before the record are no part of the run that arrives."""
    trained(begun)
    other = RunStore(tmp_path / "other")
    place = other.working_folder(RUN)
    for name in ("history.jsonl", "weights.safetensors", "provenance.json"):
        (place / name).write_bytes(b"left")
    assert import_runs(other, begun.root).copied == 1
    other.check(RUN.key)
    assert other.provenance(RUN.key) == begun.provenance(RUN.key)


def test_a_damaged_checkpoint_is_replaced_by_a_whole_one(
    begun: RunStore, folder: Path, tmp_path: Path
) -> None:
    other = RunStore(tmp_path / "other")
    (other.working_folder(RUN) / parts.CHECKPOINT).write_bytes(b"damaged")
    assert import_runs(other, folder).parts == 1
    trained(other)


def two(begun: RunStore, to: Path) -> list[Path]:
    """The parts of two runs, in the order in which they are imported."""
    trained(begun, OTHER, epochs=2)
    assert export_unfinished(begun, to, part_bytes=4000).parts == 2
    return sorted(to.iterdir())


@pytest.mark.parametrize("bad", [0, 1])
def test_one_damaged_run_stops_no_other_and_both_are_named(
    bad: int, begun: RunStore, tmp_path: Path
) -> None:
    folders = two(begun, tmp_path / "parts")
    damage(folders[bad])
    other = tmp_path / "other"
    done = repro("runs", "import", str(tmp_path / "parts"), "--store", str(other))
    assert done.returncode == 4
    whole = folders[1 - bad].name
    assert f"{folders[bad].name}/0001.part: is damaged" in done.stderr
    assert f"  imported all the same: run {whole}" in done.stderr
    assert [*RunStore(other).keys()] == [whole]


def test_a_damaged_finished_run_stops_no_other_and_both_are_named(
    begun: RunStore, tmp_path: Path
) -> None:
    for run in (RUN, OTHER):
        trained(begun, run)
    first, second = sorted(begun.keys())
    (begun.folder(first) / "history.jsonl").write_text("{}")
    done = repro("runs", "import", str(begun.root), "--store", str(tmp_path / "other"))
    assert done.returncode == 4
    assert f"{first}/history.jsonl: " in done.stderr
    assert f"  imported all the same: run {second}" in done.stderr
    assert [*RunStore(tmp_path / "other").keys()] == [second]


def test_one_damaged_run_stops_no_export_of_others(begun: RunStore, tmp_path: Path) -> None:
    trained(begun, OTHER, epochs=2)
    (begun.folder(RUN.key) / "spec.json").write_text("{}")
    to = tmp_path / "parts"
    done = repro("runs", "export", "--unfinished", "--to", str(to), "--store", str(begun.root))
    assert done.returncode == 4
    assert f"{RUN.key}/spec.json: does not hash" in done.stderr
    assert f"  exported all the same: run {OTHER.key}" in done.stderr
    assert [each.name for each in to.iterdir()] == [OTHER.key]


def test_a_store_of_unfinished_runs_says_how_they_move(begun: RunStore, tmp_path: Path) -> None:
    """It is no import of nothing; beside finished ones they are counted and left out."""
    bring = ("runs", "import", str(begun.root), "--store", str(tmp_path / "other"))
    done = repro(*bring)
    assert done.returncode == 4
    assert "holds no finished run, and 1 that is not finished" in done.stderr
    advice = f"to do: repro runs export --unfinished --store {begun.root} --to FOLDER, and import"
    assert advice in done.stderr
    trained(begun, OTHER)
    done = repro(*bring)
    assert done.returncode == 0
    assert done.stdout == "1 run imported; 1 not finished and left out (export --unfinished)\n"


def test_too_many_parts_are_refused_before_any_is_written(
    begun: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MOST_PARTS", 3)
    with pytest.raises(StoreError, match=r"parts of 4,000 bytes.*\n.*at most 3") as caught:
        export_unfinished(begun, tmp_path / "parts", part_bytes=4000)
    assert "to do: cut larger parts (--part-size)" in str(caught.value)
    assert not list((tmp_path / "parts").iterdir())


def test_more_than_memory_holds_is_not_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "available_memory", lambda: 1000.0)
    with pytest.raises(StoreError, match="memory"):
        import_runs(RunStore(tmp_path / "other"), folder)


def session(store: RunStore, host: str, epoch: int, clock: list[float]) -> RunLog:
    """What a worker on this machine writes in 100 s of a session that begins with an epoch."""
    facts: Facts = {"software": {"torch": "2.9"}, "machine": {"host": host}}
    log = RunLog(store, PlannedRun(run=RUN, measurements=()), facts)
    log.begin_training()
    for _ in range(2):
        log.training(Progress(RUN.key, epoch, 4, 1, 9, 12, 400, "train"))
        clock[0] += 50.0
    log.training(Progress(RUN.key, epoch, 4, 2, 9, 12, 400, "train"))
    return log


def test_a_run_that_moved_says_where_it_was_trained(
    begun: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its finished record has the machine and the versions of both sessions, and their time."""
    clock = [1000.0]
    timed = SimpleNamespace(
        monotonic=lambda: clock[0], strftime=time.strftime, gmtime=time.gmtime, time=time.time
    )
    monkeypatch.setattr(worker, "time", timed)
    session(begun, "first", 1, clock)
    export_unfinished(begun, tmp_path / "parts")
    other = RunStore(tmp_path / "other")
    import_runs(other, tmp_path / "parts")
    session(other, "second", 3, clock).end_training()
    training: Any = other.provenance(RUN.key)["training"]
    assert (training["sessions"], training["seconds"]) == (2, 200.0)
    found = [
        (each["machine"]["host"], each["from_epoch"], each["seconds"])
        for each in training["sessions_list"]
    ]
    assert found == [("first", 1, 100.0), ("second", 3, 100.0)]


def test_provenance_of_another_shape_is_refused(folder: Path, tmp_path: Path) -> None:
    changed_manifest(folder, provenance={"training": {"sessions_list": "two"}})
    with pytest.raises(StoreError, match=r"manifest\.json: .*sessions_list"):
        import_runs(RunStore(tmp_path / "other"), folder)


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ReproError, match="holds no runs"):
            import_runs(RunStore(tmp_path / "store"), place)


def test_the_commands_move_a_run(begun: RunStore, tmp_path: Path) -> None:
    """`runs export --unfinished` and `runs import`, and what they say."""
    to, other = tmp_path / "carried", tmp_path / "other"
    export = ("runs", "export", "--unfinished", "--to", str(to), "--part-size")
    assert "is not a size" in repro(*export, "16", "--store", str(begun.root)).stderr
    done = repro(*export, "16MB", "--store", str(begun.root))
    assert done.stdout == f"1 unfinished run exported in parts to {to}\n"
    done = repro("runs", "import", str(to), "--store", str(other))
    assert done.stdout == "1 run imported, 1 unfinished\n"
    assert RunStore(other).state(RUN.key) == "started"
