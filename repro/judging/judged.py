"""One expectation on the evidence: the test it names, and the rule that judges it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repro.errors import ClaimError, TooFewError
from repro.evidence.base import Evidence
from repro.expectations.base import Read
from repro.expectations.kinds import Expectation, kind_of
from repro.expectations.rules import NOT_TESTED, Conclusion, Finding
from repro.expectations.sentences import upper
from repro.judging.verdict import conclude_conjunction, conclude_tree
from repro.schema import numbers as fmt
from repro.specs.claim import All, Claim
from repro.stats.records import TestResult, UnmatchedError

NOTHING = Finding(Conclusion.INCONCLUSIVE, 1.0, 1.0)
"""What is found by a rule that is only repeated, and concludes nothing."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One expectation with its finding; ``result`` is absent where the test ``refused``, and why.

    ``too_few``: it was refused for want of data, so that more seeds would help. An expectation
    that repeats the paper's own rule has a result and finds nothing.
    """

    expectation: Expectation
    result: TestResult | None
    finding: Finding
    refused: str = ""
    too_few: bool = False

    @property
    def conclusion(self) -> Conclusion:
        """The conclusion of this expectation alone, at its own level."""
        return self.finding.conclusion


def judge(expectation: Expectation, claim: Claim, read: Read) -> Judged:
    """Test and judge one expectation."""
    kind = kind_of(expectation)
    try:
        result = kind.test(expectation, claim.context(), read)
        found = kind.conclude(expectation, result) if kind.concludes(expectation) else NOTHING
    except UnmatchedError as error:
        told = error.told([claim.arms[arm].label for arm in expectation.of])
        return Judged(expectation, None, NOT_TESTED, told, too_few=True)
    except ClaimError as error:
        told = _labelled(str(error), [claim.arms[arm].label for arm in expectation.of])
        return Judged(expectation, None, NOT_TESTED, told, isinstance(error, TooFewError))
    return Judged(expectation, result, found)


def _labelled(text: str, labels: Sequence[str]) -> str:
    """What a test refused, with the labels of two arms for the letters of the statistics."""
    if len(labels) != 2:
        return text
    label = dict(zip("AB", labels, strict=True))
    text = re.sub(r"\bmean ([AB])\b", lambda found: f"the mean of {label[found[1]]}", text)
    return re.sub(r"^([AB])\b(?= is)", lambda found: label[found[1]], text)


def detail_reader(evidence: Evidence, name: str) -> Read:
    """Reads a number among the details of a measurement in place of its value."""
    return lambda arm, measurement: evidence.detail(arm, measurement, name)


def decisive(claim: Claim) -> tuple[Expectation, ...]:
    """The expectations that are joined to the claim."""
    return tuple(
        expectation for expectation in claim.expectations if expectation.role == "decisive"
    )


def all_must_hold(claim: Claim) -> bool:
    """Whether the claim is the conjunction of its decisive expectations, without inner nodes."""
    tree = claim.combine
    return tree is None or (isinstance(tree, All) and all(isinstance(p, str) for p in tree.all))


def joined(claim: Claim, judged: Iterable[Judged]) -> Finding:
    """The finding of the claim: its decisive expectations, by its tree or all together."""
    findings = {
        part.expectation.id: part.finding for part in judged if part.expectation.role == "decisive"
    }
    if claim.combine is None:
        return conclude_conjunction(list(findings.values()), alpha=claim.alpha)
    return conclude_tree(claim.combine, findings, alpha=claim.alpha)


def heading(expectation: Expectation, claim: Claim) -> str:
    """What a reader calls an expectation: measurement and arms, kind and id where needed."""
    context = claim.context()
    label = kind_of(expectation).effect_label(expectation, context)
    kinds = [
        each.kind
        for each in claim.expectations
        if kind_of(each).effect_label(each, context) == label
    ]
    return f"{upper(label)}{fmt.told_apart(expectation.id, expectation.kind, kinds)}"
