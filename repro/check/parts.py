"""The parts of the report document that restate claim and evidence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from repro.check.words import digits
from repro.evidence import Evidence, State
from repro.report import document as doc
from repro.report import format as fmt
from repro.specs.claim import Arm, Claim
from repro.specs.measurement import Measurement, Rank
from repro.stats.sample import Sample

SHOWN: Mapping[State, Literal["finished", "excluded", "missing"]] = {
    "finished": "finished",
    "diverged": "excluded",
    "missing": "missing",
    "stale": "missing",
    "damaged": "missing",
}
"""State of a run in the store -> what the report calls it; damage is named in the verdict."""


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
        source=doc.Source(**claim.source.model_dump()),
        file=shown_file(claim.file),
        digest=claim.digest(),
        design=claim.design,
    )


def measurement_parts(claim: Claim) -> tuple[doc.MeasurementPart, ...]:
    """Every measurement of the claim, by its name there."""
    return tuple(
        doc.MeasurementPart(
            key=name, label=one.label, kind=one.kind, better=one.better, digits=digits(one)
        )
        for name, one in claim.measurements.items()
    )


def arm_parts(claim: Claim, evidence: Evidence) -> tuple[doc.Arm, ...]:
    """Every arm: configuration, replicates, summaries."""
    return tuple(_arm(name, arm, claim, evidence) for name, arm in claim.arms.items())


def _arm(name: str, arm: Arm, claim: Claim, evidence: Evidence) -> doc.Arm:
    configuration = arm.configuration
    training = configuration.training()
    resolved = training.identity()
    return doc.Arm(
        id=name,
        label=arm.label,
        configuration=arm.configuration_id,
        parameters=training.parameters,
        rank_bound=configuration.model.rank_bound(),
        source=configuration.source,
        assumed=tuple(
            doc.Assumption(path=path, value=_shown(_at(resolved, path)), why=why)
            for path, why in configuration.assumed.items()
        ),
        training=resolved,
        replicates=tuple(_replicate(one.number, name, evidence) for one in evidence.arms[name]),
        summaries=_summaries(name, claim, evidence),
    )


def _at(document: dict[str, Any], path: str) -> Any:
    """The value at a dotted path; None for an option that is absent."""
    value: Any = document
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _shown(value: Any) -> str:
    """A value of a configuration in words, the parts of a nested one by name."""
    if isinstance(value, dict):
        return ", ".join(f"{fmt.plain_name(name)} {_shown(part)}" for name, part in value.items())
    return fmt.setting(value)


def _replicate(number: int, arm: str, evidence: Evidence) -> doc.Replicate:
    one = next(r for r in evidence.arms[arm] if r.number == number)
    return doc.Replicate(
        number=number, key=one.key, state=SHOWN[one.state], values=dict(one.values)
    )


def _summaries(arm: str, claim: Claim, evidence: Evidence) -> tuple[doc.Summary, ...]:
    if not evidence.finished(arm):
        return ()
    return tuple(
        _summary(name, one, evidence.sample(arm, name)) for name, one in claim.measurements.items()
    )


def _summary(name: str, measurement: Measurement, sample: Sample) -> doc.Summary:
    summary = sample.summary()
    positive = min(sample.values) > 0
    return doc.Summary(
        measurement=name,
        n=summary.n,
        mean=summary.mean,
        sd=summary.sd,
        geometric_mean=sample.geometric_mean
        if positive and isinstance(measurement, Rank)
        else None,
        low=min(sample.values),
        high=max(sample.values),
    )


def curves(claim: Claim, evidence: Evidence) -> tuple[doc.Curve, ...]:
    """rank(tolerance) of every arm and every rank measurement."""
    found = []
    for name, one in claim.measurements.items():
        if not isinstance(one, Rank):
            continue
        for arm in claim.arms:
            details = [r.details[name] for r in evidence.finished(arm)]
            if details:
                found.append(
                    doc.Curve(
                        arm=arm,
                        measurement=name,
                        tolerances=tuple(details[0]["tolerances"]),
                        ranks=tuple(tuple(d["curve"]) for d in details),
                        threshold=details[0]["relative_threshold"],
                    )
                )
    return tuple(found)
