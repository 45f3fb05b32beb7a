"""From one expectation on its evidence to findings and verdicts, by fixed rules.

A verdict has three fields, never one word: *validity* (can the evidence be used?),
*conclusion* (what does it say about the claim?), *agreement* (does it fit the paper's
number?). Only VALID evidence carries a conclusion.

[L, U] is the interval of the effect, positive as claimed, and p its evidence. alpha is two-sided
for a difference and an association, so that a declared direction is found at the one-sided level
alpha / 2; with ``tails: 1``, and for everything else, it is one-sided, and [L, U] has level
1 - 2 alpha.

=========================== ================================ ==================================
expectation                 CONFIRMED                        CONTRADICTED
=========================== ================================ ==================================
difference, association     p <= alpha, the claimed sign     p <= alpha, the opposite sign
  with ``tails: 1``         p <= alpha                       p of the other side <= alpha
difference beyond m         L > m (TRIVIAL: 0 < L, U < m)    L <= 0 and U < m, or U < 0
equivalence, margin m       -m < L and U < m                 L >= m or U <= -m
non-inferiority and the     L > the limit                    U < the limit
  like, ratio, share
level, at most m            U < m                            L > m
within, margin m            -m < L and U < m                 else 0 outside of L to U
separation, trend, order,   p <= alpha                       p of the contrary <= alpha
  proportion, magnitude
bound in every seed         every seed keeps it              one does not
sequential                  its first crossing, whatever came later
conjunction                 every part                       a part at its Holm level over all
disjunction                 a part at its Holm level         every part
=========================== ================================ ==================================

*Different* is never contradicted. What is neither is INCONCLUSIVE. A test that refuses the
evidence is NOT-TESTED: it has found nothing, p = 1 both ways.

``p`` of a joined finding is the evidence for the whole, ``p_opposite`` that for its contrary;
each is a p-value again, so that nodes can be joined further, and families of claims too
(statistics.md 2.1). In a family both are adjusted over all members: the one keeps or loses
CONFIRMED, the other CONTRADICTED. A member that is not judged counts as p = 1 (e = 0) in both.
TRIVIAL, of which no p is claimed, stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from repro.errors import ClaimError, TooFewError
from repro.evidence.evidence import Evidence
from repro.expectations.base import Read
from repro.expectations.decision_rules import decide
from repro.expectations.kinds import Expectation, kind_of
from repro.expectations.verdict_words import (
    NOT_TESTED,
    Conclusion,
    Finding,
    Validity,
)
from repro.schema import numbers as fmt
from repro.specs.claim import Claim
from repro.specs.tree import All, Node
from repro.stats.multiplicity import adjusted_e_values, benjamini_hochberg, holm
from repro.stats.records import Arm, Sample, TestResult, UnmatchedError

NOTHING = Finding(Conclusion.INCONCLUSIVE, 1.0, 1.0)
"""What is found by a rule that is only repeated, and concludes nothing."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One expectation with its finding; ``result`` is absent where the test ``refused``, and why.

    ``too_few``: it was refused for want of data, so that more seeds would help. ``advice`` is
    what to do about it, where the test knows. An expectation that repeats the paper's own rule has
    a result and finds nothing.
    """

    expectation: Expectation
    result: TestResult | None
    finding: Finding
    refused: str = ""
    too_few: bool = False
    advice: str = ""

    @property
    def conclusion(self) -> Conclusion:
        """The conclusion of this expectation alone, at its own level."""
        return self.finding.conclusion


def judge(expectation: Expectation, claim: Claim, read: Read) -> Judged:
    """Test and judge one expectation."""
    kind = kind_of(expectation)
    try:
        expectation = kind.settled(expectation, read)
        result = kind.test(expectation, claim.context(), read)
        found = kind.conclude(expectation, result) if kind.concludes(expectation) else NOTHING
    except UnmatchedError as error:
        told = error.told([claim.arms[arm].label for arm in expectation.of])
        return Judged(expectation, None, NOT_TESTED, told, too_few=True, advice=error.advice)
    except ClaimError as error:
        told = _labelled(str(error), [claim.arms[arm].label for arm in expectation.of])
        few = isinstance(error, TooFewError)
        return Judged(expectation, None, NOT_TESTED, told, few, error.advice)
    return Judged(expectation, result, found)


def _labelled(text: str, labels: Sequence[str]) -> str:
    """What a test refused, with the labels of two arms for the letters of the statistics."""
    if len(labels) != 2:
        return text
    label = dict(zip("AB", labels, strict=True))
    text = re.sub(r"\bmean ([AB])\b", lambda found: f"the mean of {label[found[1]]}", text)
    return re.sub(r"^([AB])\b(?= (?:is|has)\b)", lambda found: label[found[1]], text)


def detail_reader(evidence: Evidence, name: str) -> Read:
    """Reads a number among the details of a measurement in place of its value."""
    return lambda arm, measurement: evidence.detail(arm, measurement, name)


def log_reader(evidence: Evidence) -> Read:
    """Reads the logarithms of values; printed numbers stay as they are."""

    def read(arm: str, measurement: str) -> Arm:
        known = evidence.read(arm, measurement)
        return known.log() if isinstance(known, Sample) else known

    return read


def decisive(claim: Claim) -> tuple[Expectation, ...]:
    """The expectations that are joined to the claim."""
    return tuple(each for each in claim.expectations if each.role == "decisive")


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
    return f"{fmt.upper_first(label)}{fmt.told_apart(expectation.id, expectation.kind, kinds)}"


def conclude_conjunction(leaves: Sequence[Finding], *, alpha: float = 0.05) -> Finding:
    """Joins findings that must all hold: intersection-union, so no correction to confirm.

    CONTRADICTED needs a leaf that is contradicted at its Holm level over all leaves, for
    with three leaves one is contradicted by chance in 7 to 14 % of cases. A leaf that was not
    tested leaves the whole NOT-TESTED, unless another contradicts it. ``alpha`` is that of the
    family. ``ClaimError`` without leaves.
    """
    _need_leaves(leaves)
    words = {leaf.conclusion for leaf in leaves}
    undecided = Conclusion.INCONCLUSIVE
    if Conclusion.NOT_TESTED in words:
        undecided = Conclusion.NOT_TESTED
    conclusion, p_opposite = undecided, 1.0
    if Conclusion.CONTRADICTED in words:
        adjusted = zip(holm([leaf.p_opposite for leaf in leaves]), leaves, strict=True)
        p_opposite = min(p for p, leaf in adjusted if leaf.conclusion is Conclusion.CONTRADICTED)
        conclusion = Conclusion.CONTRADICTED if p_opposite <= alpha else undecided
    elif words == {Conclusion.CONFIRMED}:
        conclusion = Conclusion.CONFIRMED
    elif words <= {Conclusion.CONFIRMED, Conclusion.TRIVIAL}:
        conclusion = Conclusion.TRIVIAL
    return Finding(conclusion, max(leaf.p for leaf in leaves), p_opposite)


def conclude_disjunction(leaves: Sequence[Finding], *, alpha: float = 0.05) -> Finding:
    """Joins findings of which at least one must hold.

    CONFIRMED needs a leaf that is confirmed at its Holm level over all leaves; CONTRADICTED
    needs all contradicted, without correction; TRIVIAL a trivial one where none is confirmed,
    not even at its own level. A leaf that was not tested has found nothing; where none was
    tested, neither was the whole. ``p`` is the smallest Holm-adjusted p, ``p_opposite`` the
    largest. ``alpha`` is that of the family. ``ClaimError`` without leaves.
    """
    _need_leaves(leaves)
    words = [leaf.conclusion for leaf in leaves]
    adjusted = holm([leaf.p for leaf in leaves])
    conclusion = Conclusion.INCONCLUSIVE
    if Conclusion.CONFIRMED in words:
        by_word = zip(adjusted, words, strict=True)
        smallest = min(p for p, word in by_word if word is Conclusion.CONFIRMED)
        conclusion = decide(confirmed=smallest <= alpha, contradicted=False)
    elif Conclusion.TRIVIAL in words:
        conclusion = Conclusion.TRIVIAL
    elif len(set(words)) == 1:
        conclusion = words[0]
    return Finding(conclusion, min(adjusted), max(leaf.p_opposite for leaf in leaves))


def conclude_tree(tree: Node, findings: Mapping[str, Finding], *, alpha: float = 0.05) -> Finding:
    """Joins findings bottom up, each node by its rule over its own parts; a leaf is its finding.

    ``findings`` are by id. ``alpha`` holds at every node. ``ClaimError`` for an id without a
    finding.
    """
    if isinstance(tree, str):
        if tree not in findings:
            raise ClaimError(f"nothing was found for '{tree}'; known: {', '.join(findings)}")
        return findings[tree]
    parts = tree.all if isinstance(tree, All) else tree.any
    conclude = conclude_conjunction if isinstance(tree, All) else conclude_disjunction
    return conclude([conclude_tree(part, findings, alpha=alpha) for part in parts], alpha=alpha)


def _need_leaves(leaves: Sequence[object]) -> None:
    if not leaves:
        raise ClaimError("a claim needs at least one decisive expectation")


def adjust_family(
    findings: Sequence[Finding | None], *, method: Literal["holm", "bh"], alpha: float = 0.05
) -> tuple[Finding | None, ...]:
    """The findings with adjusted p-values, INCONCLUSIVE where these no longer reach ``alpha``.

    ``None`` is a member that is not judged, and stays so; the order is kept. Holm keeps the
    chance of any false conclusion of one sort below alpha, bh their expected share.
    ``ClaimError`` for an unknown method.
    """
    if method not in ("holm", "bh"):
        raise ClaimError(f"a family is adjusted by holm or bh, not {method!r}")
    adjust = holm if method == "holm" else benjamini_hochberg
    return _weakened(
        findings,
        adjust([1.0 if finding is None else finding.p for finding in findings]),
        adjust([1.0 if finding is None else finding.p_opposite for finding in findings]),
        alpha,
    )


def adjust_family_by_e(
    findings: Sequence[Finding | None],
    e_values: Sequence[tuple[float, float] | None],
    *,
    alpha: float = 0.05,
) -> tuple[Finding | None, ...]:
    """The same by e-BH: the expected share of false conclusions however the claims depend.

    ``e_values`` are the current ones of each claim and of its contrary, never their maxima
    over time. The new p-values are ``1 / e`` of the adjusted e-values, at most 1. ``ClaimError``
    where a finding has no e-values.
    """
    if len(e_values) != len(findings):
        raise ClaimError(f"{len(e_values)} pairs of e-values for {len(findings)} findings")
    pairs = []
    for finding, pair in zip(findings, e_values, strict=True):
        if finding is not None and pair is None:
            raise ClaimError(
                "e_bh needs the e-values of every claim; only sequential ones have any"
            )
        pairs.append((0.0, 0.0) if finding is None or pair is None else pair)
    ps, opposites = (
        [min(1.0, 1 / e) if e > 0 else 1.0 for e in adjusted_e_values(values)]
        for values in ([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    )
    return _weakened(findings, ps, opposites, alpha)


def _weakened(
    findings: Sequence[Finding | None],
    ps: Sequence[float],
    opposites: Sequence[float],
    alpha: float,
) -> tuple[Finding | None, ...]:
    return tuple(
        None
        if finding is None
        else Finding(_kept(finding.conclusion, p, opposite, alpha), p, opposite)
        for finding, p, opposite in zip(findings, ps, opposites, strict=True)
    )


def _kept(conclusion: Conclusion, p: float, opposite: float, alpha: float) -> Conclusion:
    deciding = {Conclusion.CONFIRMED: p, Conclusion.CONTRADICTED: opposite}
    lost = deciding.get(conclusion, 0.0) > alpha
    return Conclusion.INCONCLUSIVE if lost else conclusion


def roll_up(validities: Iterable[Validity]) -> Validity:
    """The worst of several validities; VALID when there are none."""
    return max(validities, key=list(Validity).index, default=Validity.VALID)
