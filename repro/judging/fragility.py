"""What a conclusion is worth: its level, where its test errs more often, and what it hangs on.

Fragile is what one seed, the threshold of a rank, another test, the family or the digits that a
paper left out would change: a printed mean and a printed standard deviation are each known to half
a unit of their last digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal

import numpy as np

from repro.errors import ClaimError
from repro.evidence.evidence import Evidence
from repro.expectations.base import Read
from repro.expectations.kinds import Expectation, kind_of
from repro.expectations.verdict_words import Conclusion, Flag, FlagKind
from repro.judging import document as doc
from repro.judging.agreement import half_unit
from repro.judging.document_parts import LevelPart, Robustness, Strength
from repro.judging.interim import drift_flags
from repro.judging.robustness import Case
from repro.judging.validity import caveats
from repro.judging.variation import shared_levels
from repro.judging.verdict import (
    Judged,
    all_must_hold,
    decisive,
    detail_reader,
    heading,
    joined,
    judge,
    log_reader,
)
from repro.schema import numbers as fmt
from repro.specs.claim import Claim
from repro.specs.tree import All, AtLeastOne, Node
from repro.stats.correlation import AssociationResult, MagnitudeResult
from repro.stats.error_rates import (
    design_of_items,
    design_of_one,
    design_of_points,
    design_over_tasks,
    designs_of,
    key_of,
    level_of,
    worst_level,
)
from repro.stats.item_scores import ItemsResult, paired_items
from repro.stats.measured_cells import CellDesign, of_one_arm, of_units
from repro.stats.records import Arm, Sample, Summary, TestResult, match, require_sample
from repro.stats.stopping import SequentialResult, one_sided

CEILING = 0.99
"""Share of the largest possible rank from which on a ratio can hardly grow."""

Judgements = tuple[Judged, ...]


def flags(
    claim: Claim,
    evidence: Evidence,
    judged: Judgements,
    controls: tuple[doc.JudgedControl, ...],
    cases: tuple[Case, ...],
    analyses: tuple[Robustness, ...],
) -> tuple[Flag, ...]:
    """Every reason why the conclusion is fragile, or what a reader should know as well.

    ``cases`` are the claim without each seed in turn, ``analyses`` the other admissible ones.
    """
    deciding = tuple(part for part in judged if part.expectation.role == "decisive")
    conclusion = joined(claim, deciding).conclusion
    return (
        *_one_seed(claim, deciding, cases, conclusion),
        *_multiplicity(claim, deciding, conclusion),
        *rounding(claim, evidence, deciding),
        *_tolerance(claim, evidence, deciding),
        *_test_choice(claim, analyses),
        *_ceiling(claim, evidence, deciding),
        *drift_flags(claim, deciding),
        *shared_levels(claim, evidence),
        *caveats(claim, evidence, controls),
    )


def _one_seed(
    claim: Claim, before: Judgements, cases: tuple[Case, ...], conclusion: Conclusion
) -> list[Flag]:
    """Cases that conclude otherwise, of those in which every test has enough seeds left.

    Seeds and tasks are counted apart: a run of all tasks may be left out, and so may a task.

    A test that refuses all the seeds is not repeated without some of them: what it would find
    says nothing of a conclusion in which it has no part.
    """
    if conclusion is Conclusion.NOT_TESTED:
        return []
    refused = {part.expectation.id: part for part in before if part.refused}
    deciding = decisive(claim)
    tried: list[tuple[Case, Conclusion]] = []
    for case in cases:
        again = {**case.judged, **refused}
        judged = [again[expectation.id] for expectation in deciding if expectation.id in again]
        lost = any(part.refused and part.expectation.id not in refused for part in judged)
        if (
            len(judged) < len(deciding)
            or lost
            or not any(case.concerns(expectation) for expectation in deciding)
        ):
            continue
        tried.append((case, joined(claim, judged).conclusion))
    said = []
    for kind in (FlagKind.ONE_SEED_LEFT_OUT, FlagKind.ONE_TASK_LEFT_OUT):
        of_tasks = kind is FlagKind.ONE_TASK_LEFT_OUT
        alike = [each for each in tried if bool(each[0].task) is of_tasks]
        found = [each for each in alike if each[1] is not conclusion]
        if found:
            said.append(Flag(kind, _hangs_on_one(claim, conclusion, found, len(alike))))
    return said


def _hangs_on_one(
    claim: Claim, conclusion: Conclusion, found: list[tuple[Case, Conclusion]], tried: int
) -> str:
    """How often one seed less changes the conclusion.

    Only of a conclusion that a claim makes is a seed named: of an open one it would be a recipe.
    """
    example, other = found[0]
    thing, which = example.names(claim, *decisive(claim))
    if conclusion is Conclusion.CONFIRMED:
        more = f" in {len(found)} of {tried} cases" if tried > 1 else ""
        return f"It hangs on one {thing}{more}: without {which} it would be {other}."
    stays = f"stays {conclusion} in {tried - len(found)} of {tried} cases"
    return (
        f"With one {thing} left out it {stays}: one {thing} can tip it, so more are needed, and "
        "none may be dropped."
    )


def _multiplicity(claim: Claim, judgements: Judgements, conclusion: Conclusion) -> list[Flag]:
    """A leaf that is contradicted on its own, but not at its level among all of them."""
    if conclusion is Conclusion.CONTRADICTED or not all_must_hold(claim):
        return []
    return [
        Flag(
            FlagKind.MULTIPLICITY,
            f"{heading(part.expectation, claim)}: contradicted on its own ({fmt.p_value(p)}), but "
            f"not at its Holm level among {len(judgements)} expectations.",
        )
        for part in judgements
        if part.conclusion is Conclusion.CONTRADICTED
        for p in (part.finding.p_opposite,)
    ]


def _tolerance(claim: Claim, evidence: Evidence, judgements: Judgements) -> list[Flag]:
    found = []
    for part in judgements:
        arms, measurement = part.expectation.of, part.expectation.measurement
        if part.refused or not all(evidence.detailed(arm, measurement) for arm in arms):
            continue
        for name, words in claim.measurements[measurement].readings.items():
            if not all(evidence.detailed(arm, measurement, name) for arm in arms):
                continue
            other = judge(part.expectation, claim, detail_reader(evidence, name)).conclusion
            if other is not part.conclusion:
                reads = " and ".join(
                    _reads(claim, evidence, arm, measurement, name) for arm in arms
                )
                text = (
                    f"{heading(part.expectation, claim)}: at {words}, where {reads}, "
                    f"this expectation would be {other}."
                )
                found.append(Flag(FlagKind.TOLERANCE, text))
    return found


def _reads(claim: Claim, evidence: Evidence, arm: str, measurement: str, name: str) -> str:
    """`MoS reads 784 to 798`: the ranks of an arm at another threshold."""
    ranks = [int(run.details[measurement][name]) for run in evidence.counted(arm)]
    low, high = fmt.count(min(ranks)), fmt.count(max(ranks))
    return f"{claim.arms[arm].label} reads {low if low == high else f'{low} to {high}'}"


def _test_choice(claim: Claim, analyses: tuple[Robustness, ...]) -> list[Flag]:
    """A flag for each other test of the same question, among the analyses, that answers otherwise.

    Welch's, Student's and the permutation test ask whether the means differ. Ranks and trimmed
    means are other quantities: that a test of them answers otherwise is no reason to doubt the
    means, so it is no flag; the report counts it after the flags.
    """
    names = {expectation.id: heading(expectation, claim) for expectation in claim.expectations}
    found = []
    for part in analyses:
        declared = next(analysis for analysis in part.analyses if analysis.declared)
        for analysis in part.analyses:
            other = analysis.conclusion
            if analysis.choice == "test" and other not in (None, declared.conclusion):
                text = f"{names[part.expectation]}: by {analysis.name} it would be {other}."
                found.append(Flag(FlagKind.TEST_CHOICE, text))
    return found


def _ceiling(claim: Claim, evidence: Evidence, judgements: Judgements) -> list[Flag]:
    for judged in judgements:
        expectation = judged.expectation
        arm, name = expectation.of[0], expectation.measurement
        multiple = kind_of(expectation).scale(expectation) == "ratio"
        if not multiple or not evidence.detailed(arm, name):
            continue
        measurement = claim.measurements[name]
        known = [measurement.largest(run.details[name]) for run in evidence.counted(arm)]
        largest = [each for each in known if each is not None]
        if not largest:
            continue
        values = evidence.sample(arm, name).values
        if any(v >= CEILING * top for v, top in zip(values, largest, strict=True)):
            span = fmt.span(fmt.count(int(min(values))), fmt.count(int(max(values))))
            text = (
                f"{claim.arms[arm].label} reaches {span} of at most "
                f"{fmt.count(max(largest))}, so the ratio can hardly be larger."
            )
            return [Flag(FlagKind.CEILING, text)]
    return []


Corner = Mapping[str, tuple[int, int]]
"""arm -> the side to which its means, and its standard deviations, are moved: -1 or 1."""

SIDES = ((-1, -1), (-1, 1), (1, -1), (1, 1))


def rounding(claim: Claim, evidence: Evidence, judged: tuple[Judged, ...]) -> list[Flag]:
    """A flag for each of these expectations that the unrounded numbers could turn over.

    Tried are the corners: every mean and deviation of an arm at the same end of what it may be.
    """
    found = []
    for part in judged:
        printed = [arm for arm in part.expectation.of if arm in evidence.published]
        if part.refused or not printed:
            continue
        for chosen in product(SIDES, repeat=len(printed)):
            corner = dict(zip(printed, chosen, strict=True))
            again = judge(part.expectation, claim, _reader(claim, evidence, corner))
            if not again.refused and again.conclusion is not part.conclusion:
                whose = " and ".join(claim.arms[arm].label for arm in printed)
                text = (
                    f"{heading(part.expectation, claim)}: within the rounding of the printed "
                    f"numbers ({whose}) it could be {again.conclusion}."
                )
                found.append(Flag(FlagKind.ROUNDING, text))
                break
    return found


def _reader(claim: Claim, evidence: Evidence, corner: Corner) -> Read:
    """Reads printed numbers at one end of what they may have been before they were rounded."""

    def read(arm: str, measurement: str) -> Arm:
        known = evidence.read(arm, measurement)
        texts = (claim.arms[arm].published or {}).get(measurement)
        if arm not in corner or texts is None or not isinstance(known, Summary):
            return known
        mean, sd = corner[arm]
        moved = known.mean + mean * half_unit(texts.mean)
        if known.sd is None or texts.sd is None:
            return Summary(known.n, moved, known.sd)
        return Summary(known.n, moved, max(0.0, known.sd + sd * half_unit(texts.sd)))

    return read


LOOKS: dict[str, Literal["planned", "every"]] = {"group_obf": "planned", "eprocess_t": "every"}


def strength_of(judged: Judged) -> Strength | None:
    """The level of one expectation; None where it was not tested.

    A two-sided test finds a declared direction at half its alpha; a claim that two arms differ
    in either direction has both halves.
    """
    result = judged.result
    if result is None:
        return None
    if result.p is None:
        return Strength(one_sided_level=None)
    either = kind_of(judged.expectation).either_way(judged.expectation)
    looks = None
    if isinstance(result, SequentialResult) and len(result.looks) > 1:
        looks = LOOKS.get(result.test)  # the seeds of a table without an order had but one
    halved = not (one_sided(result) or either)
    return Strength(
        one_sided_level=result.alpha / 2 if halved else result.alpha,
        tails=2 if either else 1,
        looks=looks or "one",
    )


def strength_of_claim(
    claim: Claim, conclusion: Conclusion | None, decisive: Sequence[Judged]
) -> Strength | None:
    """The level of a claim: that of its weakest part, in its family that of the family.

    It bounds the chance of a false conclusion for every tree: a conjunction is confirmed at the
    level of each part, and what needs each part alone is corrected over all of them (Holm). A
    conjunction that each seed beyond a bound contradicts leaves nothing to chance.
    """
    if conclusion in (None, Conclusion.NOT_TESTED):
        return None
    if conclusion is Conclusion.CONTRADICTED and all_must_hold(claim):
        against = [part.result for part in decisive if part.conclusion is conclusion]
        if any(result is not None and result.p is None for result in against):
            return Strength(one_sided_level=None)
    found = [strength for part in decisive if (strength := strength_of(part)) is not None]
    levels = [each for each in found if each.one_sided_level is not None]
    if not levels:
        return Strength(one_sided_level=None) if found else None
    weakest = max(levels, key=lambda each: (each.one_sided_level or 0.0, each.tails))
    if claim.family is None:
        return weakest
    # An e-value of a difference is that of both directions: e-BH has no half to speak of.
    level = claim.alpha if claim.family.method == "e_bh" else weakest.one_sided_level
    return weakest.model_copy(update={"one_sided_level": level, "family": claim.family.method})


def measured_levels(
    claim: Claim, judged: tuple[Judged, ...], evidence: Evidence
) -> tuple[LevelPart, ...]:
    """What is known against the test of every expectation, and of all of them, near its design."""
    looks = claim.sequential.looks if claim.sequential else ()
    found = []
    for part in judged:
        if part.result is None:
            continue
        kind, declared = kind_of(part.expectation), part.expectation
        texts = (
            level_of(part.result, _designs(part, part.result, claim, evidence), looks=looks),
            kind.doubt(declared, claim.context(), evidence.read),
        )
        found += [
            LevelPart(expectation=declared.id, test=part.result.test, text=text)
            for text in texts
            if text
        ]
    return (*found, *_together(claim, judged, evidence))


def _together(claim: Claim, judged: tuple[Judged, ...], evidence: Evidence) -> Iterator[LevelPart]:
    """The levels of what Holm's method joins: parts of which one is enough, claims of a family."""
    decisive = [part for part in judged if part.expectation.role == "decisive" and part.result]
    designs = [
        design
        for part in decisive
        if part.result is not None and len(part.expectation.of) > 1
        if not of_units(key_of(part.result))
        for design in _designs(part, part.result, claim, evidence)
    ]
    by_holm = {
        "any": claim.combine is not None and _has_any(claim.combine),
        "family": claim.family is not None and claim.family.method == "holm",
    }
    for key, by_key in by_holm.items():
        text = worst_level(key, designs) if by_key else None
        if text is not None:
            yield LevelPart(expectation=decisive[0].expectation.id, test="holm", text=text)


def _has_any(node: Node) -> bool:
    if isinstance(node, AtLeastOne):
        return True
    return isinstance(node, All) and any(_has_any(part) for part in node.all)


def _designs(
    judged: Judged, result: TestResult, claim: Claim, evidence: Evidence
) -> tuple[CellDesign, ...]:
    """What the arms, or the differences within pairs, look like; none where nothing is known.

    An arm that is held to a constant has a design of its own.
    """
    expectation, kind = judged.expectation, kind_of(judged.expectation)
    by_seed = kind.by_seed(expectation)
    try:
        if (tasks := kind.tasks(expectation)) and not by_seed:
            return _design_over_tasks(expectation, tasks, evidence)
        read = log_reader(evidence) if kind.scale(expectation) == "ratio" else evidence.read
        arms = kind.compared(expectation, claim.context(), read)
        if result.paired:
            return (_design_of_pairs(arms, result),)
    except ClaimError:
        return ()
    if isinstance(result, AssociationResult | MagnitudeResult):
        points = kind_of(expectation).points(expectation, evidence.read)
        counted = [point for point in points if point.counted]
        return (design_of_points([each.x for each in counted], [each.y for each in counted]),)
    if of_units(key_of(result)) and not by_seed:
        return ()
    alone = len(arms) == 1 or of_one_arm(key_of(result))
    return (design_of_one(arms[-1]),) if alone else designs_of(arms)


def _design_of_pairs(arms: Sequence[Arm], result: TestResult) -> CellDesign:
    """What the differences within pairs of seeds look like; of items, those within items."""
    if isinstance(result, ItemsResult):
        return design_of_items(paired_items(*(require_sample(arm, "items") for arm in arms[:2])))
    first, second = match(arms[:2], "pairs")
    differences = (a - b for a, b in zip(first.values, second.values, strict=True))
    return design_of_one(Sample.of(*differences))


def _design_over_tasks(
    expectation: Expectation, tasks: Sequence[str], evidence: Evidence
) -> tuple[CellDesign, ...]:
    """What the runs of these tasks look like; nothing is known of single runs."""
    arms = []
    for arm in expectation.of:
        runs = require_sample(evidence.read(arm, expectation.measurement), "a task").by_task()
        arms.append([np.array(runs[task].values) for task in tasks])
    if any(len(runs) < 2 for arm in arms for runs in arm):
        return ()
    return (design_over_tasks(*arms),)
