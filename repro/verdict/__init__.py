"""From test results to verdicts, by fixed rules (METHODS.md 2.1).

A verdict has three fields, never one word: *validity* (can the evidence be used?),
*conclusion* (what does it say about the claim?), *agreement* (does it fit the paper's
number?).
"""

from __future__ import annotations

from repro.verdict.agreement import agree
from repro.verdict.combine import (
    All,
    Any,
    Tree,
    conclude_conjunction,
    conclude_disjunction,
    conclude_tree,
)
from repro.verdict.family import adjust_family, adjust_family_by_e
from repro.verdict.rules import (
    Direction,
    conclude_association,
    conclude_bound,
    conclude_difference,
    conclude_equivalence,
    conclude_magnitude,
    conclude_non_superiority,
    conclude_ordering,
    conclude_proportion,
    conclude_ratio,
    conclude_separation,
    conclude_sequential,
    conclude_share,
    conclude_trend,
)
from repro.verdict.status import exit_code, roll_up, status_of
from repro.verdict.words import (
    NOT_TESTED,
    Agreement,
    Conclusion,
    Finding,
    Flag,
    FlagKind,
    Validity,
    Verdict,
)

__all__ = [
    "NOT_TESTED",
    "Agreement",
    "All",
    "Any",
    "Conclusion",
    "Direction",
    "Finding",
    "Flag",
    "FlagKind",
    "Tree",
    "Validity",
    "Verdict",
    "adjust_family",
    "adjust_family_by_e",
    "agree",
    "conclude_association",
    "conclude_bound",
    "conclude_conjunction",
    "conclude_difference",
    "conclude_disjunction",
    "conclude_equivalence",
    "conclude_magnitude",
    "conclude_non_superiority",
    "conclude_ordering",
    "conclude_proportion",
    "conclude_ratio",
    "conclude_separation",
    "conclude_sequential",
    "conclude_share",
    "conclude_tree",
    "conclude_trend",
    "exit_code",
    "roll_up",
    "status_of",
]
