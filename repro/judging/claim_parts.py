"""The parts of the report document on the arms: claim, evidence, provenance, curves, costs."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from math import fsum
from operator import or_
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from repro.evidence.evidence import (
    Evidence,
    PublishedArm,
    Replicate,
    RunsThere,
    State,
    TableSource,
)
from repro.expectations.base import pair
from repro.expectations.kinds import kind_of
from repro.judging import document as doc
from repro.judging.document_parts import RankOfArm, RanksPart, finite
from repro.machine import cores, now, package_version, processor
from repro.schema import numbers as fmt
from repro.specs.arm import Arm
from repro.specs.claim import AuthorSource, Claim, PrintedSource
from repro.specs.configuration import value_at
from repro.stats.records import Sample
from repro.trainers.base import Training
from repro.trainers.curve import Curve, CurveMark
from repro.trainers.table import Measurable

SHOWN: Mapping[State, Literal["finished", "excluded", "imputed", "missing"]] = {
    "finished": "finished",
    "diverged": "excluded",
    "excluded": "excluded",
    "imputed": "imputed",
    "missing": "missing",
    "stale": "missing",
    "damaged": "missing",
}
"""State of a replicate -> what the report calls it; damage is named in the verdict."""


def shown_file(file: str) -> str:
    """A claim file as a report names it: below the present folder, or by its name alone.

    An absolute path would make the same claim and the same runs give another document elsewhere.
    """
    path, here = Path(file), Path.cwd()
    if not path.is_absolute():
        return file
    return str(path.relative_to(here)) if path.is_relative_to(here) else path.name


def claim_part(claim: Claim) -> doc.ClaimPart:
    """The claim as declared, with the digest of its decisive fields at this scale."""
    return doc.ClaimPart(
        id=claim.id,
        title=claim.title,
        source=_source_part(claim.source),
        file=shown_file(claim.file),
        digest=claim.digest(),
        design=claim.design,
        unit=replicate_of(claim),
    )


def replicate_of(claim: Claim) -> str:
    """What a replicate is called: by the kind of an expectation, by its column, or a seed."""
    kinds = (kind_of(each).replicate(each, claim.seeds.plan) for each in claim.expectations)
    column = "" if claim.seeds.items else claim.seeds.unit or ""
    return next(filter(None, kinds), column) or "seed"


def _source_part(source: PrintedSource | AuthorSource) -> doc.SourcePart | doc.AuthorPart:
    if isinstance(source, AuthorSource):
        return doc.AuthorPart(own=source.own)
    return doc.SourcePart(**source.model_dump())


def scale_part(claim: Claim, evidence: Evidence) -> doc.ScalePart:
    """The scale and its notice, which also tells where values are from that are not trained."""
    notice = " ".join((claim.notice.strip(), *origins(claim, evidence)))
    return doc.ScalePart(name=claim.scale, notice=notice)


def origins(claim: Claim, evidence: Evidence) -> list[str]:
    """A sentence for each source of values but the runs of the store."""
    said = []
    for file in dict.fromkeys(source.file for source in evidence.tables.values()):
        arms = [arm for arm, source in evidence.tables.items() if source.file == file]
        said.append(f"The values of {_whose(claim, arms)} are the user's own, from {file}.")
        if averaged := evidence.tables[arms[0]].averaged:
            what = (
                "are answers to items"
                if claim.seeds.items
                else "were averaged within units before any test"
            )
            said.append(f"Its rows {what}: {averaged}.")
        ignored = evidence.tables[arms[0]].ignored
        if ignored:
            said.append(f"Left unread there: {', '.join(ignored)}.")
        if there := _runs_there(evidence, arms):
            said.append(f"{there}.")
    if evidence.published:
        whose = _whose(claim, list(evidence.published))
        said.append(f"The values of {whose} are printed numbers.")
    return said


def _runs_there(evidence: Evidence, arms: list[str]) -> str:
    """How many runs are where these arms are from, and how many of them no arm uses."""
    found = (evidence.tables[arm].runs for arm in arms)
    return reduce(or_, (runs for runs in found if runs is not None), RunsThere()).said


def _whose(claim: Claim, arms: list[str]) -> str:
    labels = [claim.arms[arm].label for arm in arms]
    if len(arms) == len(claim.arms) > 1:
        return "all arms"
    return pair(labels)


LEAST_RANKED = 3
"""With two arms ranks are signs, whose test says all."""


def ranks_parts(claim: Claim, evidence: Evidence) -> tuple[RanksPart, ...]:
    """Mean ranks where three arms or more have values of tasks that stand for others."""
    over: dict[tuple[str, tuple[str, ...]], None] = {}
    for each in claim.expectations:
        kind = kind_of(each)
        if kind.plans_effects and not kind.by_seed(each):
            over[each.measurement, tuple(sorted(kind.tasks(each)))] = None
    return tuple(
        _ranks(claim, name, tasks, columns)
        for name, tasks in over
        if len(columns := _by_task(claim, evidence, name, tasks)) >= LEAST_RANKED
    )


def _by_task(
    claim: Claim, evidence: Evidence, name: str, tasks: Sequence[str]
) -> dict[str, list[float]]:
    """The mean value in each task, of every arm that has one in all of them."""
    found = {}
    for arm in claim.arms:
        runs = [run for run in evidence.finished(arm) if name in run.values]
        column = [[run.values[name] for run in runs if run.task == task] for task in tasks]
        if all(column):
            found[arm] = [fmean(values) for values in column]
    return found


LEVEL_OF_RANKS = 0.05
"""That of Nemenyi's test of all pairs, which is two-sided and context, as papers print it."""


def _ranks(
    claim: Claim, name: str, tasks: Sequence[str], columns: Mapping[str, Sequence[float]]
) -> RanksPart:
    import numpy as np  # noqa: PLC0415 - only where methods are ranked

    from repro.stats.data_sets import mean_ranks  # noqa: PLC0415

    values = np.array(list(columns.values())).T
    better = claim.measurements[name].better
    found = mean_ranks(values, better=better, alpha=LEVEL_OF_RANKS)
    ranked = sorted(zip(found.ranks, columns, strict=True))
    return RanksPart(
        measurement=name,
        tasks=len(tasks),
        arms=tuple(RankOfArm(arm=arm, rank=rank) for rank, arm in ranked),
        chi_squared=found.chi_squared,
        p=found.p,
        f=finite(found.f),
        p_of_f=found.p_of_f,
        critical_difference=found.critical_difference,
        level=LEVEL_OF_RANKS,
    )


def measurement_parts(claim: Claim) -> tuple[doc.MeasurementPart, ...]:
    """Every measurement of the claim, by its name there."""
    return tuple(
        doc.MeasurementPart(
            key=name,
            label=each.label,
            kind=each.kind,
            better=each.better,
            digits=each.digits,
            formula=each.formula(claim.measurements),
            censored_at=each.censored_at,
        )
        for name, each in claim.measurements.items()
    )


def arm_parts(claim: Claim, evidence: Evidence) -> tuple[doc.ArmPart, ...]:
    """Every arm: configuration, replicates, summaries."""
    return tuple(_arm(name, arm, claim, evidence) for name, arm in claim.arms.items())


def _parts(training: Training) -> tuple[doc.ParametersOfPart, ...]:
    counts = training.parameters_by_part.items()
    return tuple(doc.ParametersOfPart(part=part, parameters=count) for part, count in counts)


def _arm(name: str, arm: Arm, claim: Claim, evidence: Evidence) -> doc.ArmPart:
    configuration = arm.configuration
    training = None if configuration is None else configuration.training()
    resolved = {} if training is None else training.identity()
    table = evidence.tables.get(name)
    return doc.ArmPart(
        id=name,
        label=arm.label,
        evidence=arm.source.label if table is None else table.label,
        table=None if table is None else _table(table),
        planned=None if name in evidence.published else claim.due,
        configuration=arm.configuration_id,
        parameters=None if training is None else training.parameters,
        parameters_by_part=() if training is None else _parts(training),
        rank_bound=arm.bound,
        source=None if configuration is None else configuration.source,
        assumed=tuple(
            doc.Assumption(path=path, value=_shown(value_at(resolved, path)), why=why)
            for path, why in ({} if configuration is None else configuration.assumed).items()
        ),
        tuning=None
        if configuration is None or configuration.tuning is None
        else doc.SearchPart(**configuration.tuning.model_dump()),
        code=tuple(doc.Code(use=code.use, version=code.version) for code in arm.code),
        training=resolved,
        measured=_measured(name, claim) if arm.trained else {},
        replicates=tuple(
            doc.ReplicatePart(
                number=each.number,
                key=each.key,
                state=SHOWN[each.state],
                values=dict(each.values),
                task=each.task,
            )
            for each in evidence.arms[name]
        ),
        summaries=_summaries(name, claim, evidence),
    )


def _measured(arm: str, claim: Claim) -> dict[str, Any]:
    """The settings with which measurements are taken of this arm, where not all arms share them."""
    return {
        name: each.model_dump(mode="json", exclude_none=True)
        for name, each in claim.taken_of(arm).items()
        if claim.measurements[name].named_arms
    }


def _table(table: TableSource) -> doc.TableFilePart:
    if not table.files:
        return doc.TableFilePart(file=table.file, sha256=table.sha256)
    return doc.ReadFilesPart(file=table.file, sha256=table.sha256, files=dict(table.files))


def _shown(value: Any) -> str:
    """A value of a configuration in words, the parts of a nested one by name."""
    if isinstance(value, dict):
        return ", ".join(f"{fmt.plain_name(name)} {_shown(part)}" for name, part in value.items())
    return fmt.setting(value)


def _summaries(arm: str, claim: Claim, evidence: Evidence) -> tuple[doc.SummaryPart, ...]:
    if arm in evidence.published:
        return tuple(_printed(name, each) for name, each in evidence.published[arm].items())
    counted = evidence.counted(arm)
    return tuple(
        _summary(name, each, evidence.sample(arm, name))
        for name, each in claim.measurements.items()
        if counted and all(name in replicate.values for replicate in counted)
    )


def _printed(name: str, arm: PublishedArm) -> doc.SummaryPart:
    return doc.SummaryPart(
        measurement=name,
        n=arm.n,
        mean=float(arm.mean),
        sd=None if arm.sd is None else float(arm.sd),
        geometric_mean=None,
        low=None,
        high=None,
        as_printed=arm.mean if arm.sd is None else f"{arm.mean} ± {arm.sd}",
    )


def _summary(name: str, measurement: Measurable, sample: Sample) -> doc.SummaryPart:
    low, high, geometric = min(sample.values), max(sample.values), None
    if sample.tasks:
        means = [each.summary().mean for each in sample.by_task().values()]
        mean, sd = fsum(means) / len(means), None
    else:
        mean, sd = sample.summary().mean, sample.summary().sd
        geometric = sample.geometric_mean if low > 0 and measurement.logarithmic else None
    return doc.SummaryPart(
        measurement=name,
        n=sample.n,
        mean=mean,
        sd=sd,
        geometric_mean=geometric,
        low=low,
        high=high,
    )


PACKAGES = ("torch", "numpy", "scipy", "statsmodels", "pandas", "matplotlib", "typst", "pydantic")


def collect(
    evidence: Evidence, command: str, costs: tuple[doc.CostPart, ...] = ()
) -> doc.Provenance:
    """Facts about this judging and about the runs it judged."""
    every = [run for runs in evidence.arms.values() for run in runs]
    runs = [run for run in every if run.provenance]
    training = [part_of(run.provenance, "training") for run in runs]
    threads = {int(part_of(t, "settings").get("threads", 1)) for t in training}
    return doc.Provenance(
        created=now(),
        repro_version=package_version("repro-verdict"),
        python=platform.python_version(),
        packages={name: package_version(name) for name in PACKAGES},
        platform=platform.platform(terse=True),
        processor=processor(),
        cores=cores(),
        devices=tuple(sorted({_device(t) for t in training})),
        threads_per_run=max(threads, default=1),
        run_seconds={run.key: _seconds(run.provenance) for run in runs},
        costs=costs,
        command=command,
        code_revision=revision(Path(__file__).parents[2]),
        without_weights=len({run.key for run in every if run.without_weights}),
    )


@cache
def revision(checkout: Path) -> str:
    """The commit of a checkout when first asked for, with `+` where its files were changed.

    Nothing of a folder that is no checkout.
    """
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        return ""
    options = ("--always", "--abbrev=12", "--dirty=+", "--exclude=*")
    command = [git, "-C", str(checkout), "describe", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _device(training: Mapping[str, Any]) -> str:
    """Where one run was trained, and with which torch: `CPU, AMD EPYC, torch 2.13.0`."""
    machine, software = part_of(training, "machine"), part_of(training, "software")
    names = [machine.get("device"), machine.get("processor")]
    if "torch" in software:
        names.append(f"torch {software['torch']}")
    return ", ".join(str(name) for name in names if name) or "unknown"


def _seconds(provenance: Mapping[str, Any]) -> float:
    """What the run cost, training and measuring together."""
    measured = part_of(provenance, "measurements")
    return round(
        training_seconds(provenance) + sum(share_of(part_of(measured, name)) for name in measured),
        1,
    )


Named = Sequence[tuple[str, CurveMark]]
"""Marks of a replicate, each after the name of the measurement that it is of."""


def curves(claim: Claim, evidence: Evidence) -> tuple[doc.CurvePart, ...]:
    """What each measurement would have been at other thresholds, of every arm."""
    found = []
    for name, measurement in claim.measurements.items():
        for arm in claim.arms:
            runs = [run for run in evidence.finished(arm) if run.details.get(name)]
            of_runs = [(run, measurement.curve(run.details[name])) for run in runs]
            known = [(run, curve) for run, curve in of_runs if curve is not None]
            grids = {curve.settings for _, curve in known}
            if len(grids) != 1:  # they are of matrices of several shapes, and not comparable
                continue
            first = known[0][1]
            marks = [[*_marks(claim, name, run, curve)] for run, curve in known]
            found.append(
                doc.CurvePart(
                    arm=arm,
                    measurement=name,
                    tolerances=first.settings,
                    ranks=tuple(curve.values for _, curve in known),
                    threshold=first.declared,
                    marks=tuple(_joined(marks)),
                    apart=first.apart,
                )
            )
    return tuple(found)


def _marks(claim: Claim, name: str, run: Any, curve: Curve) -> Iterator[tuple[str, CurveMark]]:
    """What readers know on a curve, and what the claim's other measurements of the run say."""
    yield from (("", mark) for mark in curve.marks)
    for other, measurement in claim.measurements.items():
        if claim.measurements[name] in measurement.sources and other in run.values:
            details: Mapping[str, Any] = run.details[name]
            if mark := measurement.curve_mark(details, run.values[other]):
                yield other, mark


def _joined(marks: Sequence[Named]) -> Iterator[doc.CurveMarkPart]:
    """The marks of all replicates, one after another."""
    for key in dict.fromkeys((name, mark.label) for each in marks for name, mark in each):
        same = [mark for each in marks for name, mark in each if (name, mark.label) == key]
        yield doc.CurveMarkPart(
            label=key[1],
            measurement=key[0],
            tolerances=tuple(mark.setting for mark in same if mark.setting is not None),
            ranks=tuple(mark.value for mark in same if mark.value is not None),
        )


def cost_parts(claim: Claim, evidence: Evidence) -> tuple[doc.CostPart, ...]:
    """A part for each arm that was trained here and of which something is known."""
    found = (_part(claim, name, evidence.arms.get(name, ())) for name in claim.trained)
    return tuple(part for part in found if part.runs or part.flops is not None)


def training_seconds(provenance: Mapping[str, Any]) -> float:
    """How long a run trained in all sessions: its share where runs were one model."""
    training = part_of(provenance, "training")
    return sum(map(share_of, training.get("sessions_list") or [training]))


def share_of(part: Mapping[str, Any]) -> float:
    """Seconds of a session, or of a measurement, divided by the runs that were trained together."""
    return float(part.get("seconds", 0.0)) / int(part_of(part, "engine").get("together", 1))


def part_of(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a provenance; empty where it is none."""
    part = document.get(name)
    return part if isinstance(part, Mapping) else {}


class _Timed(NamedTuple):
    """Seconds and tokens of the training of a run, and its epochs."""

    seconds: float
    tokens: int
    epochs: int


def _part(claim: Claim, name: str, runs: Sequence[Replicate]) -> doc.CostPart:
    configuration = claim.arms[name].configuration
    training = None if configuration is None else configuration.training()
    timed = [each for run in runs if (each := _timed(run)) is not None]
    peaks = [int(part_of(run.provenance, "training").get("peak_memory", 0)) for run in runs]
    return doc.CostPart(
        arm=name,
        runs=len(timed),
        flops=None if training is None else training.flops,
        seconds_per_epoch=fmean(t.seconds / t.epochs for t in timed) if timed else None,
        tokens_per_second=fmean(t.tokens / t.seconds for t in timed) if timed else None,
        peak_memory=max(peaks, default=0) or None,
    )


def _timed(run: Replicate) -> _Timed | None:
    """None where a run was not trained to its end, or nobody wrote down how long it took."""
    seconds = training_seconds(run.provenance)
    if run.state != "finished" or not seconds or not run.tokens:
        return None
    return _Timed(seconds, sum(run.tokens), len(run.tokens))
