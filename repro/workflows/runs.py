"""Looking after the runs of a store: whether they are whole, and copies of them for others."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from repro.errors import StoreError, StoreUnreachableError
from repro.registry.claim_log import ClaimLog
from repro.registry.registry import Registry, with_every_night
from repro.running.plan import merged
from repro.specs.claim import Claim
from repro.store.places import LOOKS
from repro.store.run_store import OutputStore, RunStore, copy_run
from repro.store.sealed import MARKER, exists, is_folder, make_folder, noting_damage
from repro.store.unfinished import (
    LARGEST_HEADER,
    PART_BYTES,
    folders_of_parts,
    take_parts,
    write_parts,
)
from repro.trainers.run import PlannedRun, RunSpec
from repro.trainers.table import Measurable
from repro.trainers.trainer import trainer_of


@dataclass(frozen=True, slots=True)
class Checked:
    """How many runs were read, how many are not finished, and what is damaged, in words.

    ``outputs`` is of how many programs what they left was read.
    """

    read: int
    unfinished: int
    damages: tuple[str, ...]
    outputs: int = 0


@dataclass(frozen=True, slots=True)
class Exported:
    """How many runs were copied, were there already, or are not finished and so were not.

    ``parts`` is of how many unfinished ones a checkpoint went along.
    """

    copied: int
    there: int
    unfinished: int
    parts: int = 0


def check_runs(store: RunStore, claims: Sequence[Claim] = ()) -> Checked:
    """Read all evidence, weights and spectra too, of every run, or of those that claims use.

    Their logs, and what programs left for them, are read as well. StoreUnreachableError when
    the store is out of reach.
    """
    read = unfinished = 0
    damages: list[str] = []
    for claim_id, scale in _ledgers(store, claims):
        with noting_damage(damages):
            ClaimLog(store.root / LOOKS, claim_id, scale).read()
    for key in _chosen(store, claims):
        with noting_damage(damages):
            if store.committed(key):
                read += 1
                store.check(key)
            else:
                unfinished += 1
    left, outputs = OutputStore(store), 0
    runs = _runs(store, claims) if claims else ()
    sources = (trainer_of(each.run.training).source(each.run) for each in runs)
    used = sorted({source.key for source in sources if source is not None})
    for key in used if claims else left.keys():
        with noting_damage(damages):
            if left.committed(key):
                outputs += 1
                left.check(key)
    return Checked(read, unfinished, tuple(damages), outputs)


def export_runs(
    store: RunStore,
    to: Path,
    claims: Sequence[Claim] = (),
    *,
    weights: bool = True,
    done: str = "exported",
) -> Exported:
    """Copy every run, or those that claims use at their scales, with the logs of the claims.

    ``to`` is a folder that is new or empty, or a store; what is there stays as it is. What
    programs left is not copied, as runs are judged without it. Without
    ``weights`` neither they nor spectra are copied, and the record of each run says so.
    StoreError that names what is damaged, and the other runs, which are copied all the same.
    """
    target = RunStore(to)
    if target.root.resolve() == store.root.resolve():
        raise StoreUnreachableError(f"{to}: is the store itself\n  to do: give another folder")
    target.prepare()
    for claim_id, scale in _ledgers(store, claims):  # first: another history refuses all
        ClaimLog(store.root / LOOKS, claim_id, scale).copy_to(target.root / LOOKS)
    copied: dict[str, bool] = {}
    damages: list[str] = []
    unfinished = 0
    for key, measurements in _chosen(store, claims).items():
        with noting_damage(damages):
            if not store.committed(key):
                unfinished += 1
                continue
            copied[key] = copy_run(store, key, target, measurements=measurements, weights=weights)
    _refuse(damages, copied, done)
    return Exported(sum(copied.values()), len(copied) - sum(copied.values()), unfinished)


def export_unfinished(
    store: RunStore, to: Path, claims: Sequence[Claim] = (), *, part_bytes: int = PART_BYTES
) -> Exported:
    """Cut the checkpoints of unfinished runs, all or those that claims use, into parts.

    ``to`` is a folder, made if it is missing. The store keeps what it has, and training may go on.
    StoreError as of ``export_runs``.
    """
    make_folder(to)
    cut: dict[str, bool] = {}
    damages: list[str] = []
    for key in _chosen(store, claims):
        with noting_damage(damages):
            if store.state(key) == "started":
                cut[key] = write_parts(store, key, to, part_bytes) > 0
    _refuse(damages, [key for key, any_part in cut.items() if any_part], "exported")
    return Exported(0, 0, len(cut) - sum(cut.values()), sum(cut.values()))


def import_runs(store: RunStore, source: Path) -> Exported:
    """Bring a store of finished runs, or parts of unfinished ones, into the store.

    A run that is finished here stays as it is; of two checkpoints that with more epochs stays.
    StoreError for anything that is damaged, before it is used; the other runs are imported.
    """
    store.prepare()
    if exists(source / MARKER):
        done = export_runs(RunStore(source), store.root, done="imported")
        if done.unfinished and not done.copied + done.there:
            raise StoreError(
                f"{source}: holds no finished run, and {done.unfinished} that "
                f"{'is' if done.unfinished == 1 else 'are'} not finished\n"
                "  expected: finished runs, or parts of unfinished ones\n"
                f"  to do: repro runs export --unfinished --store {source} --to FOLDER, and import "
                "that folder"
            )
        return done
    found = list(folders_of_parts(source)) if source.is_dir() else []
    if not found:
        raise StoreError(
            f"{source}: holds no runs\n  expected: a store, or parts of unfinished runs\n"
            "  to do: name the folder that `repro runs export` wrote"
        )
    taken: dict[str, bool] = {}
    damages: list[str] = []
    for folder in found:
        with noting_damage(damages):
            key, new = take_parts(folder, store, _unfit)
            taken[key] = new or taken.get(key, False)
    _refuse(damages, taken, "imported")
    return Exported(0, len(taken) - sum(taken.values()), 0, sum(taken.values()))


def _refuse(damages: Sequence[str], whole: Collection[str], done: str) -> None:
    """StoreError for what is damaged, which names the runs with which all is well."""
    if damages:
        others = [f"  {done} all the same: run {key}" for key in whole]
        raise StoreError("\n".join([*damages, *others]))


COPIES = 8.0
"""Copies of the weights in a checkpoint at most: those of now, mean, best, and an optimiser's."""


def _unfit(spec: bytes, size: int, content: Callable[[], bytes]) -> str:
    """Why a checkpoint is none of the run that a specification names; its code is not imported.

    It is not read where it is said to be larger than one of this run can be.
    """
    document = json.loads(spec)
    training = document.get("training") if isinstance(document, dict) else None
    if isinstance(training, dict) and "trainer" in training:
        return "is of a trainer whose checkpoints do not move"
    try:
        named = {k: v for k, v in document.items() if k != "schema"}
        run = RunSpec.model_validate_json(json.dumps(named))
    except ValidationError as error:
        return f"has no specification of a run ({error.errors()[0]['msg']})"
    trainer = trainer_of(run.training)
    most = COPIES * trainer.disk(run.training) + LARGEST_HEADER
    if size > most:
        return f"states {size:,} bytes, and a checkpoint of this run has at most {most:,.0f}"
    return trainer.unfit_checkpoint(run, content())


def _chosen(
    store: RunStore, claims: Sequence[Claim]
) -> Mapping[str, Collection[Measurable] | None]:
    """The runs that are meant, all or those that claims use, with measurements, None for all."""
    if not claims:
        return dict.fromkeys(store.keys())
    return {planned.run.key: planned.measurements for planned in _runs(store, claims)}


def _runs(store: RunStore, claims: Sequence[Claim]) -> list[PlannedRun]:
    """The runs that claims use."""
    registry = Registry(store, make=False)
    so_far = [registry.so_far(claim) for claim in claims]
    now = [with_every_night(claim) for claim in so_far]
    return merged([planned for claim in now for planned in claim.runs()])


def _ledgers(store: RunStore, claims: Sequence[Claim]) -> list[tuple[str, str]]:
    """Claim and scale of each log that is meant."""
    if claims:
        return [(claim.id, claim.scale) for claim in claims]
    place = store.root / LOOKS
    files = sorted(place.glob("*/*.jsonl")) if is_folder(place) else []
    return [(path.parent.name, path.stem) for path in files]
