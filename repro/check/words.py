"""Why a claim has its conclusion, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from repro.report import document as doc
from repro.specs.expectation import All, Tree
from repro.verdict import Conclusion

HEADS = {
    Conclusion.CONFIRMED: "{n} decisive expectations hold.",
    Conclusion.CONTRADICTED: "Contradicted in {n} of {total} decisive expectations, and one is "
    "enough{others}.",
    Conclusion.INCONCLUSIVE: "Not decided in {n} of {total} decisive expectations.",
    Conclusion.TRIVIAL: "Real, but smaller than was declared to matter, in {n} of {total} decisive "
    "expectations.",
    Conclusion.NOT_TESTED: "No result in {n} of {total} decisive expectations.",
}
TREES = {
    Conclusion.CONFIRMED: "The declared combination ({tree}) holds.",
    Conclusion.CONTRADICTED: "The declared combination ({tree}) is contradicted.",
    Conclusion.INCONCLUSIVE: "The declared combination ({tree}) is not decided.",
    Conclusion.TRIVIAL: "The declared combination ({tree}) holds only trivially.",
    Conclusion.NOT_TESTED: "The declared combination ({tree}) is not tested.",
}
ALONE = "Contradicted on its own, but not at its Holm level among {n} expectations."
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four"}


def why(
    conclusion: Conclusion,
    found: Sequence[doc.Result],
    *,
    tree: Tree | None = None,
    alone: str = "",
) -> str:
    """Why: which expectations decide, and the sentence of each of these.

    ``tree`` for a claim that joins its expectations in another way than all together; ``alone``
    is what the claim would be by itself, where only its family leaves it undecided.
    """
    deciding = [one.sentence for one in found if one.conclusion == conclusion.value]
    if alone:
        head = f"{alone} by itself, but not at its level among the claims of its family."
        return _after(head, [one.sentence for one in found])
    if conclusion is Conclusion.INCONCLUSIVE and not tree:
        contradicted = [one.sentence for one in found if one.conclusion == "CONTRADICTED"]
        if contradicted:
            return _after(ALONE.format(n=len(found)), contradicted)
    if len(found) == 1 and not tree:
        return found[0].sentence
    n = _count(len(deciding), conclusion)
    head = HEADS[conclusion].format(n=n, total=_number(len(found)), others=_confirmed(found))
    if tree:
        head = TREES[conclusion].format(tree=joined(tree))
    if conclusion is Conclusion.NOT_TESTED:
        return _after(head, _refused_first(found))
    undecided = tree and conclusion is Conclusion.INCONCLUSIVE
    return _after(head, [one.sentence for one in found] if undecided or not deciding else deciding)


def _confirmed(found: Sequence[doc.Result]) -> str:
    """Which of the others hold, so that nobody takes the whole for the opposite."""
    names = [f"'{one.id}'" for one in found if one.conclusion == "CONFIRMED"]
    if not names:
        return ""
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return f"; {listed} {'is' if len(names) == 1 else 'are'} confirmed"


def _refused_first(found: Sequence[doc.Result]) -> list[str]:
    """The sentence of every part: those without a result by name, then what the others found."""
    refused = [one for one in found if one.conclusion == "NOT-TESTED"]
    others = [one for one in found if one.conclusion != "NOT-TESTED"]
    named = [f"'{one.id}': {one.sentence[:1].lower()}{one.sentence[1:]}" for one in refused]
    return [*named, *(f"'{one.id}', {one.conclusion}: {one.sentence}" for one in others)]


def _after(head: str, sentences: Sequence[str]) -> str:
    return " ".join([head, *sentences])


def joined(tree: Tree) -> str:
    """How expectations are joined: `all of x, (at least one of y, z by Holm)`."""
    parts = tree.all if isinstance(tree, All) else tree.any
    names = ", ".join(one if isinstance(one, str) else f"({joined(one)})" for one in parts)
    return f"all of {names}" if isinstance(tree, All) else f"at least one of {names} by Holm"


def _number(n: int) -> str:
    return NUMBERS.get(n, str(n))


def _count(n: int, conclusion: Conclusion) -> str:
    """`Both` where all must be meant, since a conjunction holds only if every part does."""
    if conclusion is not Conclusion.CONFIRMED:
        return _number(n)
    return "Both" if n == 2 else f"All {_number(n)}"
