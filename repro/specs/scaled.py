"""A claim file of the right shape, resolved at one scale: what the rules are checked on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from repro.errors import Problem
from repro.evidence.base import DeclaredAt
from repro.expectations.declared import ArmFacts, Context, Design, MeasurementFacts, Mistake
from repro.expectations.kinds import Expectation, kind_of
from repro.schema.messages import bare, choose, listed
from repro.schema.yaml import Steps, YamlDocument
from repro.specs.arm import Arm, ArmSpec
from repro.specs.claim import Claim, ClaimFile, ExpectationOverride, Scale, ScaleName, Seeds
from repro.specs.configuration import Configurations
from repro.trainers.base import Training
from repro.trainers.table import Measurable


def _wrong_sizes(
    document: YamlDocument, steps: Steps, base: Expectation, sizes: Mapping[str, Any]
) -> Iterator[Problem]:
    """What the override at ``steps`` of a claim changes, and cannot change."""
    fields = type(base).model_fields  # the at_least of a ratio is a limit, too
    allowed = [
        key
        for key, field in ExpectationOverride.model_fields.items()
        if key in fields
        and (key == "at_least" or bare(fields[key].annotation) == bare(field.annotation))
    ]
    for key in sorted(sizes):
        if key not in allowed:
            mistake = f"kind '{base.kind}' has no '{key}' to override"
            advice = choose(key, allowed) if allowed else "remove it"
            expected = listed(allowed) if allowed else "no key"
            yield document.problem(steps, mistake, expected, advice, at=(key,), key=True)
        elif sizes[key] is None and type(None) not in get_args(fields[key].annotation):
            words = {"test": "the name of a test", "role": "decisive or context"}
            mistake, expected = "an expectation needs this", words.get(key, "a mapping")
            advice = "write a value, or remove the line"
            yield document.problem((*steps, key), mistake, expected, advice)
    for unfit in kind_of(base).unfit_sizes(sizes):
        yield document.problem((*steps, *unfit.keys), unfit.what, unfit.expected, unfit.advice)


@dataclass(frozen=True, slots=True)
class ScaledClaim:
    """A claim file with the changes of one scale, and where each part is written.

    ``arms`` are as they are declared. ``evidence`` is what those resolve to whose configuration
    or table could be read: all of them in a claim without mistakes.
    """

    document: YamlDocument
    file: ClaimFile
    scale: ScaleName
    changes: Scale
    design: Design
    seeds: Seeds
    arms: dict[str, ArmSpec]
    evidence: dict[str, Arm]
    measurements: dict[str, Measurable]
    expectations: tuple[Expectation, ...]

    @property
    def trainings(self) -> dict[str, Training]:
        """What is trained, by arm."""
        found = ((name, arm.configuration) for name, arm in self.evidence.items())
        return {name: each.training() for name, each in found if each is not None}

    @property
    def trained(self) -> list[str]:
        """The arms that name a configuration."""
        return [name for name, arm in self.arms.items() if arm.source.trains]

    def placed(self) -> Iterator[tuple[Steps, Expectation]]:
        """Each expectation, and where it is written."""
        for position, expectation in enumerate(self.expectations):
            yield ("expectations", position), expectation

    def named(self) -> Iterator[tuple[Steps, Expectation]]:
        """As ``placed``, of those of which every name is defined, so that a kind may look it up."""
        for steps, each in self.placed():
            if set(each.reads) <= self.measurements.keys() and set(each.of) <= self.arms.keys():
                yield steps, each

    def decisive(self) -> Iterator[tuple[Steps, Expectation]]:
        """As ``placed``, of those that decide the verdict."""
        return ((steps, each) for steps, each in self.placed() if each.role == "decisive")

    def steps(self, *steps: str) -> Steps:
        """Where a part is written: at the scale, if the scale changes it."""
        return scaled_steps(self.document, self.scale, *steps)

    def context(self) -> Context:
        """What the kinds of expectations may know of the claim."""
        named = self.changes.design is not None
        return Context(
            alpha=self.file.alpha,
            design=self.design,
            arms={name: ArmFacts(arm.label, arm.first_seed) for name, arm in self.arms.items()},
            measurements={
                name: MeasurementFacts(
                    each.label, each.better, each.digits, each.censored_at, each.value_scale
                )
                for name, each in self.measurements.items()
            },
            min_seeds=self.seeds.min,
            sequential=self.file.sequential,
            design_name=f"the design of scale '{self.scale}'" if named else "the design",
            unit=self.seeds.called,
        )

    def mistake(self, steps: Steps, expectation: Expectation, found: Mistake) -> Problem:
        """What a kind finds wrong with an expectation: at the scale, if the scale changes it."""
        changed: Steps = ("scales", self.scale, "expectations", expectation.id)
        if found.keys:
            at_scale = self.document.get(*changed, found.keys[0]) is not None
            steps = (*(changed if at_scale else steps), *found.keys)
        return self.problem(steps, found.what, found.expected, found.advice)

    def problem(self, steps: Steps, mistake: str, expected: str, advice: str) -> Problem:
        """A problem of what is written at ``steps``."""
        end = len(steps) - (isinstance(steps[-1], int) and len(steps) > 2)
        return self.document.problem(steps[:end], mistake, expected, advice, at=steps[end:])

    def resolved(self) -> Claim:
        """The claim at this scale; only for one without mistakes."""
        same = Claim.model_fields.keys() & ClaimFile.model_fields.keys()
        here: dict[str, Any] = {
            "file": self.document.file,
            "scale": self.scale,
            "declared": self.file.declared,
            "notice": self.changes.notice,
            "design": self.design,
            "arms": self.evidence,
            "seeds": self.seeds,
            "planned_sd": {**self.file.planned_sd, **self.changes.planned_sd},
            "measurements": self.measurements,
            "expectations": self.expectations,
            "forced": self.changes.forced,
            "expect": self.changes.expect,
        }
        return Claim(**{key: getattr(self.file, key) for key in same} | here)


def scaled_steps(document: YamlDocument, scale: ScaleName, *steps: str) -> Steps:
    """The way to a part at a scale, or to that of the top level where the scale has none."""
    changed = ("scales", scale, *steps)
    return steps if document.get(*changed) is None else changed


def scale_claim(
    document: YamlDocument, file: ClaimFile, scale: ScaleName, configurations: Configurations
) -> tuple[ScaledClaim, list[Problem]]:
    """The claim at a scale, and what is wrong with its evidence and its overrides."""
    changes: Scale = file.changes(scale)
    problems: list[Problem] = []
    arms = {name: changes.arms.get(name, arm) for name, arm in file.arms.items()}
    evidence: dict[str, Arm] = {}
    for name, spec in arms.items():
        steps = scaled_steps(document, scale, "arms", name)
        facts, wrong = spec.source.resolve(DeclaredAt(document, steps, configurations.resolve))
        problems += wrong
        if facts is not None:
            evidence[name] = Arm.of(spec, facts)
    design, expectations = changes.design or file.design, []
    for base in file.expectations:
        override = changes.expectations.get(base.id, ExpectationOverride())
        sizes = {key: getattr(override, key) for key in override.model_fields_set}
        unfit = list(
            _wrong_sizes(document, ("scales", scale, "expectations", base.id), base, sizes)
        )
        problems += unfit
        kind = kind_of(base)
        expectations.append(kind.following(base if unfit else kind.overridden(base, sizes), design))
    scaled = ScaledClaim(
        document=document,
        file=file,
        scale=scale,
        changes=changes,
        design=design,
        seeds=changes.seeds or file.seeds,
        arms=arms,
        evidence=evidence,
        measurements={
            name: changes.measurements.get(name, measurement)
            for name, measurement in file.measurements.items()
        },
        expectations=tuple(expectations),
    )
    return scaled, problems
