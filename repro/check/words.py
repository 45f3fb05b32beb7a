"""Why a claim has its conclusion, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from repro.report import document as doc
from repro.specs.expectation import All, Tree
from repro.verdict import Conclusion

WORDS: dict[Conclusion, doc.ConclusionWord] = {
    Conclusion.CONFIRMED: "CONFIRMED",
    Conclusion.CONTRADICTED: "CONTRADICTED",
    Conclusion.INCONCLUSIVE: "INCONCLUSIVE",
    Conclusion.TRIVIAL: "TRIVIAL",
    Conclusion.NOT_TESTED: "NOT-TESTED",
}

HEADS = {
    Conclusion.CONFIRMED: "{n} decisive expectations hold",
    Conclusion.CONTRADICTED: "{n} decisive expectations are contradicted",
    Conclusion.INCONCLUSIVE: "{n} decisive expectations are not decided",
    Conclusion.TRIVIAL: "{n} effects are real but smaller than was declared to matter",
    Conclusion.NOT_TESTED: "{n} decisive expectations have no result",
}
TREES = {
    Conclusion.CONFIRMED: "The declared combination ({tree}) holds",
    Conclusion.CONTRADICTED: "The declared combination ({tree}) is contradicted",
    Conclusion.INCONCLUSIVE: "The declared combination ({tree}) is not decided",
    Conclusion.TRIVIAL: "The declared combination ({tree}) holds only trivially",
    Conclusion.NOT_TESTED: "The declared combination ({tree}) is not tested",
}
ALONE = "Contradicted on its own, but not at its Holm level among {n} expectations"


def why(
    conclusion: Conclusion,
    found: Sequence[doc.Result],
    *,
    tree: Tree | None = None,
    alone: str = "",
) -> str:
    """Why, in one sentence: the findings that decide, as clauses where there are several.

    ``tree`` for a claim that joins its expectations in another way than all together; ``alone``
    is what the claim would be by itself, where only its family leaves it undecided.
    """
    deciding = [one.sentence for one in found if one.conclusion == conclusion.value]
    if alone:
        own = "; ".join(clause(one.sentence) for one in found)
        return f"{alone} by itself, but not at its level among the claims of its family: {own}."
    if conclusion is Conclusion.INCONCLUSIVE and not tree:
        contradicted = [one.sentence for one in found if one.conclusion == "CONTRADICTED"]
        if contradicted:
            head = ALONE.format(n=len(found))
            return f"{head}: {'; '.join(clause(one) for one in contradicted)}."
    if tree:
        undecided = conclusion is Conclusion.INCONCLUSIVE
        shown = [one.sentence for one in found] if undecided or not deciding else deciding
        head = TREES[conclusion].format(tree=joined(tree))
        return f"{head}: {'; '.join(clause(one) for one in shown)}."
    if len(deciding) == 1:
        return deciding[0]
    head = HEADS[conclusion].format(n=_count(len(deciding), conclusion))
    return f"{head}: {'; '.join(clause(one) for one in deciding)}."


def joined(tree: Tree) -> str:
    """How expectations are joined: `all of x, (at least one of y, z by Holm)`."""
    parts = tree.all if isinstance(tree, All) else tree.any
    names = ", ".join(one if isinstance(one, str) else f"({joined(one)})" for one in parts)
    return f"all of {names}" if isinstance(tree, All) else f"at least one of {names} by Holm"


def _count(n: int, conclusion: Conclusion) -> str:
    """`Both` where all must be meant, since a conjunction holds only if every part does."""
    words = {2: "Two", 3: "Three", 4: "Four"}
    if conclusion is not Conclusion.CONFIRMED:
        return words.get(n, str(n))
    return "Both" if n == 2 else f"All {words.get(n, str(n)).lower()}"


def clause(sentence: str) -> str:
    """A sentence inside another; a name at its head keeps its capital."""
    clause = sentence.rstrip(".")
    if clause.startswith(("The ", "Not tested")):
        return clause[0].lower() + clause[1:]
    return clause
