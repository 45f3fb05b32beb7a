"""Measurements that an arm does not have, and ranks that nothing controls or bounds."""

from __future__ import annotations

from collections.abc import Iterator

from repro.errors import Problem
from repro.expectations.exact import Bound
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.specs.claim import KnownRank, RankBound
from repro.specs.measurement import Reported
from repro.specs.rules.training import LEAST_TOKENS, streams, too_short
from repro.specs.scaled import ScaledClaim
from repro.trainers.dialog.spec import DialogTrainingSpec
from repro.trainers.language_model.spec import BOUNDED, TrainingSpec
from repro.trainers.measurement import Bleu, Measurable, Perplexity, Rank
from repro.trainers.run import AnyTraining


def _taken(claim: ScaledClaim) -> Iterator[tuple[Steps, Measurable]]:
    """The measurements that are taken here, and where each is written."""
    for name, measurement in claim.measurements.items():
        if not isinstance(measurement, Reported):
            yield claim.steps("measurements", name), measurement


def _texts(claim: ScaledClaim) -> Iterator[tuple[str, TrainingSpec]]:
    """The arms that train a language model, on a text that is read in parallel streams."""
    for name, training in claim.trainings.items():
        if isinstance(training, TrainingSpec):
            yield name, training


def _measured_batches_fit(claim: ScaledClaim) -> Iterator[Problem]:
    for steps, measurement in _taken(claim):
        for key, size, split in streams(measurement):
            for name, training in _texts(claim):
                count = getattr(training.corpus.tokens, split)
                if count // size < LEAST_TOKENS:
                    subject = f"{key}, for arm '{name}',"
                    words = too_short(subject, size, count, split)
                    yield claim.problem(steps, *words)
                    break


def _contexts_fit(claim: ScaledClaim) -> Iterator[Problem]:
    for steps, measurement in _taken(claim):
        if not isinstance(measurement, Rank) or measurement.contexts is None:
            continue
        for name, training in _texts(claim):
            rows = measurement.rows(getattr(training.corpus.tokens, measurement.split))
            if 0 < rows < measurement.contexts:
                what = (
                    f"contexts is {measurement.contexts:,}, and the {measurement.split} split of "
                    f"arm '{name}' has {rows:,}"
                )
                advice = "take fewer, or leave it out for all"
                yield claim.problem((*steps, "contexts"), what, f"at most {rows:,}", advice)
                break


def _training_mode(claim: ScaledClaim) -> Iterator[Problem]:
    for steps, value in _taken(claim):
        if isinstance(value, Perplexity) and value.mode == "training" and value.split != "train":
            what = f"nothing is trained on the {value.split} split, so mode training has no value"
            advice = "write `split: train`, or leave the mode out"
            yield claim.problem((*steps, "split"), what, "train", advice)


def _measurements_apply(claim: ScaledClaim) -> Iterator[Problem]:
    """What is taken is taken of every arm that is trained; the first that has it not is named."""
    for steps, measurement in _taken(claim):
        for name, training in claim.trainings.items():
            found = list(_inapplicable(measurement, training, f"arm '{name}'"))
            for key, words in found:
                yield claim.problem((*steps, key), *words)
            if found:
                break


def _inapplicable(
    measurement: Measurable, training: AnyTraining, whose: str
) -> Iterator[tuple[str, Words]]:
    """The key of each setting that such a model has not, and what to say of it."""
    if isinstance(training, DialogTrainingSpec):
        yield from _of_dialogs(measurement, training, whose)
    elif isinstance(measurement, Bleu):
        what = f"{whose} is a language model, and only a dialog model answers"
        yield "kind", (what, "perplexity or rank", "measure something else, or name other arms")


def _of_dialogs(
    measurement: Measurable, training: DialogTrainingSpec, whose: str
) -> Iterator[tuple[str, Words]]:
    if isinstance(measurement, Bleu):
        return
    if measurement.batch_size != 1:
        what = f"batch_size changes nothing of {whose}: responses are read one by one"
        yield "batch_size", (what, "no batch_size", "leave it out")
    if isinstance(measurement, Perplexity) and measurement.mode == "dynamic":
        what = f"{whose} is a dialog model, and only a language model has a dynamic evaluation"
        yield "mode", (what, "evaluation or training", "leave out mode and dynamic")
    if isinstance(measurement, Perplexity) and measurement.weight is not None:
        what = f"{whose} is a dialog model, which is trained without windows"
        yield "weight", (what, "no weight", "leave it out")
    if isinstance(measurement, Rank) and measurement.contexts is not None:
        rows: int = getattr(training.corpus.tokens, measurement.split)
        if rows < measurement.contexts:
            what = (
                f"contexts is {measurement.contexts:,}, and the {measurement.split} split of "
                f"{whose} has {rows:,}"
            )
            advice = "take fewer, or leave it out for all"
            yield "contexts", (what, f"at most {rows:,}", advice)


def _structural_bounds(claim: ScaledClaim) -> Iterator[Problem]:
    for steps, expectation in claim.placed():
        for key in ("at_most", "at_least") if isinstance(expectation, Bound) else ():
            limit = getattr(expectation, key)
            if isinstance(expectation, Bound) and limit is not None and limit.value == "structural":
                yield from _structural(claim, expectation, (*steps, key, "value"))


def _structural(claim: ScaledClaim, bound: Bound, steps: Steps) -> Iterator[Problem]:
    unbounded = _unbounded(claim)
    if bound.of[0] in unbounded:
        expected = f"a number, or an arm with a bound at every scale: output {BOUNDED}"
        advice = "write the limit as a number, or name another arm"
        yield claim.problem(steps, unbounded[bound.of[0]], expected, advice)
    if bound.measurement in _no_ranks(claim):
        what = f"the structural bound is one of rank, and '{bound.measurement}' is no rank"
        yield claim.problem(steps, what, "a number", "write the limit as a number")


def _canaries(claim: ScaledClaim) -> Iterator[Problem]:
    """Every rank of what is trained that an expectation reads is controlled by both kinds.

    A canary of an unknown measurement may be meant for any of them.
    """
    controlled = {(canary.measurement, canary.kind) for canary in claim.file.canaries}
    unknown = any(name not in claim.measurements for name, _ in controlled)
    if unknown or not claim.trained:
        return
    for name in dict.fromkeys(
        name for expectation in claim.expectations for name in expectation.reads
    ):
        if not isinstance(claim.measurements.get(name), Rank):
            continue
        kinds = [k for k in ("rank_bound", "known_rank") if (name, k) not in controlled]
        if kinds:
            what = f"nothing controls this rank: no canary of kind {' or '.join(kinds)}"
            advice = f"add {{id: ..., kind: {kinds[0]}, measurement: {name}}} to canaries"
            steps = ("measurements", name)
            yield claim.problem(steps, what, "canaries of kinds rank_bound, known_rank", advice)


def _canaries_apply(claim: ScaledClaim) -> Iterator[Problem]:
    unbounded = _unbounded(claim)
    for number, canary in enumerate(claim.file.canaries):
        if canary.measurement in _no_ranks(claim):
            what = f"a canary of kind {canary.kind} controls ranks, and this is no rank"
            steps: Steps = ("canaries", number, "measurement")
            yield claim.problem(steps, what, "a measurement of kind rank", "name a rank")
        if isinstance(canary, KnownRank) and not claim.trained:
            what = "a canary of kind known_rank controls how ranks are computed, and none is"
            steps = ("canaries", number, "kind")
            yield claim.problem(steps, what, "an arm that is trained", "remove it")
        for position, name in enumerate(canary.arms if isinstance(canary, RankBound) else ()):
            if name in unbounded:
                steps = ("canaries", number, "arms", position)
                expected = f"arms with a bound at every scale: output {BOUNDED}"
                yield claim.problem(steps, unbounded[name], expected, "name other arms")


def _no_ranks(claim: ScaledClaim) -> list[str]:
    """The measurements that are none of rank."""
    return [name for name, each in claim.measurements.items() if not isinstance(each, Rank)]


def _unbounded(claim: ScaledClaim) -> dict[str, str]:
    """Why no structure bounds the rank of an arm, by the arms where that is so."""
    found = {
        name: f"no structure is known of arm '{name}', which is not trained here"
        for name in claim.arms
        if name not in claim.trained
    }
    for name, training in claim.trainings.items():
        if training.model.rank_bound() is None:
            kind = training.model.output.kind
            found[name] = f"no structure bounds the rank of arm '{name}' when its output is {kind}"
    return found


RULES = (
    _measured_batches_fit,
    _contexts_fit,
    _training_mode,
    _measurements_apply,
    _structural_bounds,
    _canaries,
    _canaries_apply,
)
