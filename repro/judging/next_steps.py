"""What would settle a claim, and what would change its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repro.errors import ClaimError
from repro.evidence.evidence import Evidence
from repro.expectations.kinds import kind_of
from repro.expectations.sequential import SEQUENTIAL
from repro.expectations.verdict_words import Conclusion, Fault, Validity, Verdict
from repro.files import claims, resolved
from repro.judging import document as doc
from repro.judging.claim_parts import replicate_of, shown_file
from repro.judging.verdict import Judged, all_must_hold, heading, joined
from repro.schema import numbers as fmt
from repro.specs.claim import Claim
from repro.stats.power import seeds_to_settle
from repro.stats.records import TestResult


def lower(sentence: str) -> str:
    """The sentence as it goes on after a colon."""
    return f"{sentence[:1].lower()}{sentence[1:]}"


LARGER = {
    "bench": "Run it at the next larger scale, bench, another experiment with its own verdict.",
    "paper": "Run it at the paper scale, the paper's own experiment.",
}

NEXT = "Judge it at the next scale of its file, {scale}, which has a verdict of its own."


def what_would_change(
    claim: Claim,
    evidence: Evidence,
    verdict: Verdict,
    judged: tuple[Judged, ...],
    faults: tuple[Fault, ...],
) -> tuple[doc.ScaleStep, ...]:
    """Steps that would change the verdict, nearest first; ``faults`` are those of the evidence."""
    deciding = [part for part in judged if part.expectation.role == "decisive"]
    steps = []
    if verdict.validity is Validity.VALID:
        if verdict.conclusion is Conclusion.NOT_TESTED:
            steps += [_test(part, claim) for part in deciding if part.refused]
            if claim.sequential is not None:  # what does not vary yet may vary later
                steps.append(_more_looks(claim, evidence))
        if verdict.conclusion is Conclusion.INCONCLUSIVE:
            alone = joined(claim, deciding).conclusion
            if claim.sequential is not None:
                steps.append(_more_looks(claim, evidence))
            elif alone is not Conclusion.INCONCLUSIVE:
                steps.append(_family(claim, alone))
            else:
                steps += _fresh_seeds(deciding, claim, evidence)
            if alone is Conclusion.INCONCLUSIVE and all_must_hold(claim):
                contradicted = [
                    part for part in deciding if part.conclusion is Conclusion.CONTRADICTED
                ]
                steps += [_holm(part, claim, len(deciding)) for part in contradicted]
    else:
        remedies = dict.fromkeys((fault.remedy, fault.options) for fault in faults)
        for remedy, options in remedies:
            again = None if options is None else _verify(claim, claim.scale, options)
            steps.append(_step(remedy, again))
    following = claim.declared[claim.declared.index(claim.scale) + 1 :] if claim.declared else ()
    if following:
        text = LARGER.get(following[0], NEXT.format(scale=following[0]))
        steps.append(_step(text, _verify(claim, following[0])))
    return tuple(steps)


def _more_looks(claim: Claim, evidence: Evidence) -> doc.ScaleStep:
    """A sequential claim grows look by look, up to its largest number of seeds."""
    most, all_there = _end(claim, evidence)
    if all_there:
        return _step(
            f"The claim ends at {most} seeds per arm, and they are there: it stays undecided."
        )
    if all(arm in evidence.tables for arm in claim.arms if arm not in evidence.published):
        return _step(f"Add seeds to its table: the claim ends at {most} seeds per arm.")
    text = f"Look again with more seeds: there are {claim.due} per arm, and {most} at most."
    return _step(text, _verify(claim, claim.scale, "--nightly"))


def _verify(claim: Claim, scale: str, options: str = "") -> str:
    """The command that verifies a claim, with consent to the code that it would run.

    A claim that came with repro, and does not lie below the present folder, goes by its id.
    """
    consent = "--allow-code" if any(claim.arms[name].code for name in claim.trained) else ""
    place = resolved(Path(claim.file))
    elsewhere = place.is_relative_to(resolved(claims())) and not place.is_relative_to(Path.cwd())
    named = claim.id if elsewhere else shown_file(claim.file)
    words = ("repro verify", named, "--scale", scale, options, consent)
    return " ".join(filter(None, words))


def _step(text: str, command: str | None = None) -> doc.ScaleStep:
    return doc.ScaleStep(text=text, command=command)


def _test(judged: Judged, claim: Claim) -> doc.ScaleStep:
    """What a test that refused the evidence needs; more seeds only where they would help."""
    name = heading(judged.expectation, claim)
    if judged.advice:
        return _step(f"{name}: {judged.advice}.")
    help_ = "more seeds would not help, but what its test asks for: "
    help_ = help_ if seeds_are_no_use(judged, claim) else ""
    return _step(f"{name}: {help_}{judged.refused}.")


def seeds_are_no_use(judged: Judged, claim: Claim) -> bool:
    """Whether a reader of a test that refused the evidence may think that seeds are missing."""
    others = claim.seeds.items or kind_of(judged.expectation).replicate(
        judged.expectation, claim.seeds.plan
    )
    return not judged.too_few and not others


def _family(claim: Claim, alone: Conclusion) -> doc.ScaleStep:
    members = 0 if claim.family is None else len(claim.family.members)
    return _step(
        f"By itself the claim is {alone}, but not at its level among the {members} claims of its "
        "family: fresh seeds, declared first, would tell."
    )


def _holm(judged: Judged, claim: Claim, leaves: int) -> doc.ScaleStep:
    return _step(
        f"{heading(judged.expectation, claim)}: contradicted on its own, but not at its Holm level "
        f"among {leaves} expectations. Fresh seeds, declared first, would tell."
    )


def _fresh_seeds(deciding: list[Judged], claim: Claim, evidence: Evidence) -> list[doc.ScaleStep]:
    """How many fresh seeds would settle all that is open; a step a part where none is computed.

    Seeds that are added to those that were seen would not count, so none is advised.
    """
    found = [(part, settling(part, claim, evidence)) for part in deciding]
    open_ = [(part, said) for part, said in found if said is not None]
    needed = [said.seeds for _, said in open_ if said.seeds is not None]
    refused = [_test(part, claim) for part in deciding if part.result is None]
    if not needed or len(needed) < len(open_):
        named = ((heading(part.expectation, claim), said.text) for part, said in open_)
        return [*refused, *(_step(f"{name}: {lower(text)}") for name, text in named)]
    what = "it" if len(deciding) == 1 else "every open part"
    text = (
        f"About {_fresh(claim, evidence, max(needed))}, would have a chance of 80 % to decide "
        f"{what}, if effects and scatter stay as found. Adding {replicate_of(claim)}s to these "
        "would not count, because no stopping rule was declared."
    )
    return [_step(text, _verify(claim, claim.scale)), *refused]


def _fresh(claim: Claim, evidence: Evidence, seeds: int) -> str:
    """So many seeds that nobody has seen, and where they are declared before they run."""
    unit = replicate_of(claim)
    units = f"pairs of {unit}s" if claim.design == "paired" else f"{unit}s per arm"
    many = f"{fmt.count(seeds)} fresh {units}"
    if evidence.tables:
        return f"{many} in a new table, declared first with `plan: {seeds}`"
    first = 1 + max(each.number for runs in evidence.arms.values() for each in runs)
    declared = f"`plan: {seeds}`, and `first_seed: {first}` for each arm"
    return f"{many}, declared first with {declared}"


@dataclass(frozen=True, slots=True)
class Settling:
    """What would settle it, as a sentence; ``seeds`` per arm, where a number is computed."""

    text: str
    seeds: int | None = None


def settling(judged: Judged, claim: Claim, evidence: Evidence) -> Settling | None:
    """What would settle an expectation; None where it is decided, or its test was refused."""
    expectation, result = judged.expectation, judged.result
    if judged.conclusion is not Conclusion.INCONCLUSIVE or result is None:
        return None
    if result.test in SEQUENTIAL:
        most, all_there = _end(claim, evidence)
        if all_there:
            return Settling(
                f"All {fmt.count(most)} planned seeds per arm are there, so it stays open."
            )
        return Settling(f"More seeds may settle it, up to the planned {fmt.count(most)} per arm.")
    if never := kind_of(expectation).cannot_settle(expectation, result):
        return Settling(never)
    printed = [claim.arms[arm].label for arm in expectation.of if arm in evidence.published]
    if printed:
        unknown = f"How many {replicate_of(claim)}s would settle it is not computed"
        return Settling(f"{unknown}: printed ones ({' and '.join(printed)}) cannot grow.")
    return _seeds(judged, claim, evidence, result)


def _seeds(judged: Judged, claim: Claim, evidence: Evidence, result: TestResult) -> Settling:
    """So many seeds, where the test compares the means of two arms."""
    expectation = judged.expectation
    unit = replicate_of(claim)
    what = "tasks" if kind_of(expectation).plans_effects else f"{unit}s"
    unknown = Settling(f"More {what} may settle it; how many is not computed.")
    if len(expectation.of) != 2:
        return unknown
    try:
        a, b = kind_of(expectation).compared(expectation, claim.context(), evidence.read)
        seeds = seeds_to_settle(result, a, b, border=kind_of(expectation).border(expectation))
    except ClaimError:
        return unknown
    if seeds is None:
        return Settling(
            f"Even a thousand {unit}s would hardly settle it: the effect found is too close to the "
            "declared limit."
        )
    many = f"{fmt.count(seeds)} {f'pairs of {unit}s' if result.paired else f'{unit}s per arm'}"
    chance = "with a chance of 80 %, if effect and scatter stay as found"
    way = kind_of(expectation).way(expectation, result)
    return Settling(f"About {many} would settle it{way}, {chance}.", seeds)


def _end(claim: Claim, evidence: Evidence) -> tuple[int, bool]:
    """The largest number of seeds per arm, and whether they are there; printed ones do not grow."""
    most = claim.seeds.max or claim.seeds.plan
    growing = (arm for arm in claim.arms if arm not in evidence.published)
    return most, min(len(evidence.arms[arm]) for arm in growing) >= most
