"""What the runs of each arm cost to train: counted, and timed where and when they ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from repro.evidence.evidence import Evidence, Replicate
from repro.judging import document as doc
from repro.specs.claim import Claim


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
