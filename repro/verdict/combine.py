"""Findings joined: all of them, at least one, any tree of both (METHODS.md 2.1).

``p`` of a joined finding is the evidence for the whole, ``p_opposite`` that for its contrary;
each is a p-value again, so that nodes can be joined further, and families of claims too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repro.errors import ClaimError
from repro.specs.expectation import All, Node
from repro.stats.multiplicity import holm
from repro.verdict.rules import decide
from repro.verdict.words import Conclusion, Finding


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
        own = zip(adjusted, words, strict=True)
        smallest = min(p for p, word in own if word is Conclusion.CONFIRMED)
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
