"""`repro runs check` and `repro runs export`, and what `verify` says of damaged runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from repro.cli import app
from repro.registry.registry import Registry
from repro.report.write import read_document
from repro.specs.claim import Claim
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.store.sealed import read_sealed
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.measurement import Reported
from repro.workflows.doctor import examine
from repro.workflows.runs import check_runs, export_runs
from tests.judging.evidence import rank_details

FILE = Path(__file__).parents[1] / "end_to_end" / "claims" / "tiny_rank.yaml"
WEIGHTS = {"output.weight": np.arange(300, dtype=np.float32)}
SPECTRUM = {"singular_values": np.arange(50.0)}
RANKS = {"mos": 30.0, "moc": 7.0, "softmax": 7.0}


def filled(root: Path) -> RunStore:
    """A store with every run of tiny_rank at quick, registered, as training leaves them."""
    store, claim = RunStore(root), load_claim(FILE, "quick")
    Registry(store).register(claim)
    for arm in claim.trained:
        for number in claim.numbers(arm):
            put(store, claim, arm, number)
    return store


def put(store: RunStore, claim: Claim, arm: str, number: int) -> None:
    run, rank = claim.run(arm, number), RANKS[arm] + (number if arm == "mos" else 0)
    history: list[dict[str, Any]] = [{"epoch": 1, "valid_loss": 3.0}]
    store.put_run(run, history=history, weights=WEIGHTS, best_epoch=1)
    for spec in claim.measurements.values():
        if isinstance(spec, Rank):
            details: Any = rank_details(rank, rank, rank)
            store.put_measurement(run.key, spec, value=rank, details=details, arrays=SPECTRUM)
        elif not isinstance(spec, Reported):
            store.put_measurement(run.key, spec, value=50.0 + number)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("whole") / "store").root


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> RunStore:
    shutil.copytree(whole, tmp_path / "store")
    return RunStore(tmp_path / "store")


def repro(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


def verify(store: RunStore, *more: str | Path) -> Result:
    place = ("--store", store.root, "--reports", store.root.parent / "reports")
    return repro("verify", FILE, "--no-train", *place, *more)


def large(store: RunStore, pattern: str) -> Path:
    """A file of the first run; ``pattern`` names it in its folder."""
    return next(iter(store.folder(next(iter(store.keys()))).glob(pattern)))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def swap(path: Path) -> None:
    """Put another file of the same size in its place, as two runs of one model have it."""
    path.write_bytes(bytes(path.stat().st_size))


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


FILES = ("model.safetensors", "measurements/*.safetensors", "spec.json")


@pytest.mark.parametrize("damage", [cut, Path.unlink, link])
@pytest.mark.parametrize("name", FILES)
def test_verify_sees_what_is_gone_or_cut(
    store: RunStore, name: str, damage: Callable[[Path], None]
) -> None:
    """Weights, spectra and specifications are looked at by every verify: INVALID, exit 4."""
    path = large(store, name)
    damage(path)
    done = verify(store)
    assert done.exit_code == 4, done.output
    assert "INVALID" in done.output
    assert str(path) in done.output
    assert "8 reused, 1 damaged" in done.output


def test_a_changed_specification_is_seen_by_verify(store: RunStore) -> None:
    """It is small, so its digest is compared each time."""
    path = large(store, "spec.json")
    path.write_text(path.read_text().replace("1", "2", 1))
    assert verify(store).exit_code == 4


@pytest.mark.parametrize("damage", [flip, cut, swap, Path.unlink, link])
@pytest.mark.parametrize("name", FILES)
def test_check_finds_all_damage(store: RunStore, name: str, damage: Callable[[Path], None]) -> None:
    """Every artefact is compared with its digest; the file and what to do are named."""
    path = large(store, name)
    damage(path)
    done = repro("runs", "check", "--store", store.root)
    assert done.exit_code == 4
    assert f"damaged: {path}: " in done.output
    assert "to do: remove " in done.output
    assert "9 runs read, 1 damaged" in done.output


@pytest.mark.parametrize("damage", [flip, cut])
def test_check_finds_a_damaged_provenance(store: RunStore, damage: Callable[[Path], None]) -> None:
    """It is no evidence, so a verdict does not hang on it."""
    key = next(iter(store.keys()))
    store.put_provenance(key, {"training": {}})
    path = store.folder(key) / "provenance.json"
    damage(path)
    done = repro("runs", "check", "--store", store.root)
    assert done.exit_code == 4
    assert str(path) in done.output
    assert verify(store).exit_code == 0


def test_check_of_a_whole_store(store: RunStore) -> None:
    """Nothing is damaged, and a run that is only begun is none that was read."""
    store.put_progress("0" * 64, {})
    done = repro("runs", "check", "--store", store.root)
    assert (done.exit_code, done.output) == (
        0,
        "9 runs read, nothing is damaged; 1 not finished\n",
    )


def test_check_of_a_claims_runs(store: RunStore) -> None:
    """Damage of other runs is not looked for."""
    claim = load_claim(FILE, "quick")
    arm = claim.trained[0]
    extra = claim.run(arm, 99)
    put(store, claim.model_copy(), arm, 99)
    flip(store.folder(extra.key) / "model.safetensors")
    assert repro("runs", "check", FILE, "--store", store.root).exit_code == 0
    assert repro("runs", "check", "--store", store.root).exit_code == 4


def test_check_reads_ledgers(store: RunStore) -> None:
    """A log that was tampered with is damage as well."""
    path = store.root / "looks" / "tiny_rank" / "quick.jsonl"
    path.write_text(path.read_text().replace('"digest"', '"digset"'))
    done = repro("runs", "check", FILE, "--store", store.root)
    assert done.exit_code == 4
    assert str(path) in done.output


def test_doctor_tells_damage(store: RunStore) -> None:
    """A run with its weights cut short is a problem of the store, not `ok`."""
    assert any("9 runs" in one.what and one.state == "ok" for one in examine(store.root, None))
    cut(large(store, "model.safetensors"))
    found = [one for one in examine(store.root, None) if "1 of 9 runs" in one.what]
    assert [one.state for one in found] == ["problem"]
    assert "repro runs check" in found[0].advice


def test_an_export_is_judged_like_its_source(store: RunStore, tmp_path: Path) -> None:
    """Runs, measurements and the log: same verdict, same registration, less to carry."""
    to = tmp_path / "sample" / "store"
    done = repro("runs", "export", FILE, "--to", to, "--without-weights", "--store", store.root)
    assert done.exit_code == 0, done.output
    assert f"9 runs exported without weights to {to}" in done.output
    assert not list(to.rglob("*.safetensors"))
    status = verify(RunStore(store.root)).exit_code
    before = read_document(tmp_path / "reports" / "tiny_rank" / "quick" / "report.json")
    assert verify(RunStore(to), "--reports", tmp_path / "again").exit_code == status
    after = read_document(tmp_path / "again" / "tiny_rank" / "quick" / "report.json")
    assert before.provenance.without_weights == 0
    assert after.provenance.without_weights == 9
    apart = {"provenance"}
    assert after.model_dump(exclude=apart) == before.model_dump(exclude=apart)
    assert after.registration is not None
    assert after.registration.state == "before"
    html = (tmp_path / "again" / "tiny_rank" / "quick" / "report.html").read_text()
    assert "exported without weights and spectra" in html
    assert (
        "exported without"
        not in (tmp_path / "reports" / "tiny_rank" / "quick" / "report.html").read_text()
    )


def test_an_export_without_weights_says_so_in_its_records(store: RunStore, tmp_path: Path) -> None:
    """The record is sealed with it, and check and verify accept that they are absent."""
    export_runs(store, tmp_path / "to", weights=False)
    exported = RunStore(tmp_path / "to")
    key = next(iter(exported.keys()))
    document = read_sealed(exported.folder(key) / "record.json")
    assert document is not None
    assert document["without_weights"] is True
    assert check_runs(exported).damages == ()
    with pytest.raises(Exception, match="exported without its weights") as caught:
        exported.weights(key)
    assert caught.value.exit_code == 4  # type: ignore[attr-defined]


def test_an_export_with_weights_is_whole(store: RunStore, tmp_path: Path) -> None:
    """Every file of evidence is the same, and nothing else goes along."""
    (store.folder(next(iter(store.keys()))) / "error.txt").write_text("an old traceback")
    assert export_runs(store, tmp_path / "to").copied == 9
    exported = {p.relative_to(tmp_path / "to"): p for p in (tmp_path / "to").rglob("*.*")}
    source = {p.relative_to(store.root): p for p in store.root.rglob("*.*")}
    assert {name.name for name in source.keys() - exported.keys()} == {"error.txt"}
    for name, path in exported.items():
        same = path.read_bytes() == source[name].read_bytes()
        assert same == (name.name != "repro-store.json"), name


def test_export_again_adds_nothing(store: RunStore, tmp_path: Path) -> None:
    """What is there stays as it is, bare runs too; an export of an export is one."""
    export_runs(store, tmp_path / "to", weights=False)
    files = {path: path.read_bytes() for path in (tmp_path / "to").rglob("*.*")}
    again = export_runs(store, tmp_path / "to")
    assert (again.copied, again.there) == (0, 9)
    assert {path: path.read_bytes() for path in (tmp_path / "to").rglob("*.*")} == files
    export_runs(RunStore(tmp_path / "to"), tmp_path / "third")
    assert check_runs(RunStore(tmp_path / "third")).damages == ()
    assert not list((tmp_path / "third").rglob("*.safetensors"))


def test_damaged_runs_are_not_exported(store: RunStore, tmp_path: Path) -> None:
    """An export never seals what is damaged; lost weights do no harm to one without weights."""
    flip(large(store, "model.safetensors"))
    done = repro("runs", "export", "--to", tmp_path / "to", "--store", store.root)
    assert done.exit_code == 4
    large(store, "model.safetensors").unlink()
    assert export_runs(store, tmp_path / "bare", weights=False).copied == 9
    cut(large(store, "history.jsonl"))
    with pytest.raises(Exception, match=r"history\.jsonl"):
        export_runs(store, tmp_path / "other", weights=False)


def test_an_export_takes_no_other_run_of_a_key(store: RunStore, tmp_path: Path) -> None:
    """Runs that were trained apart are not mixed."""
    other = RunStore(tmp_path / "to")
    claim = load_claim(FILE, "quick")
    run = claim.run(claim.trained[0], 0)
    other.put_run(run, history=[], weights={"w": np.zeros(3)}, best_epoch=1)
    done = repro("runs", "export", "--to", other.root, "--store", store.root)
    assert done.exit_code == 4
    assert "trained apart" in done.output


def test_an_export_to_its_own_store_is_refused(store: RunStore, tmp_path: Path) -> None:
    """Also by another name; and a folder that is somebody's is left alone."""
    (tmp_path / "alias").symlink_to(store.root, target_is_directory=True)
    for place in (store.root, tmp_path / "alias"):
        done = repro("runs", "export", "--to", place, "--store", store.root)
        assert (done.exit_code, "is the store itself" in done.output) == (5, True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    done = repro("runs", "export", "--to", tmp_path / "mine", "--store", store.root)
    assert done.exit_code == 5


def test_a_ledger_grows_by_what_is_new(store: RunStore, tmp_path: Path) -> None:
    """A later export brings the lines that came since; another history is refused."""
    export_runs(store, tmp_path / "to", weights=False)
    name = Path("looks") / "tiny_rank" / "quick.jsonl"
    assert repro("verify", FILE, "--store", store.root, "--reports", tmp_path / "r").exit_code < 2
    assert (store.root / name).read_bytes() != (tmp_path / "to" / name).read_bytes()
    export_runs(store, tmp_path / "to", weights=False)
    assert (store.root / name).read_bytes() == (tmp_path / "to" / name).read_bytes()
    first = json.loads((store.root / name).read_text().splitlines()[0])
    (tmp_path / "to" / name).write_text(json.dumps({**first, "time": "1999"}) + "\n")
    with pytest.raises(Exception, match="another history"):
        export_runs(store, tmp_path / "to", weights=False)
