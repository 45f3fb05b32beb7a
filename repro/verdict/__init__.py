"""From test results to verdicts, by fixed rules.

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
separation, trend, order,   p <= alpha                       p of the contrary <= alpha
  proportion, magnitude
bound in every seed         every seed keeps it              one does not
sequential                  its first crossing, whatever came later
conjunction                 every part                       a part at its Holm level over all
disjunction                 a part at its Holm level         every part
=========================== ================================ ==================================

*Different* is never contradicted. What is neither is INCONCLUSIVE. A test that refuses the
evidence is NOT-TESTED: it has found nothing, p = 1 both ways. A conjunction with such a part is
NOT-TESTED, unless another part contradicts it at its Holm level, which counts this one too; a
disjunction and a family count it as having found nothing, and a disjunction of which no part was
tested is NOT-TESTED. A conjunction of parts that are confirmed or trivial is TRIVIAL if one is.

Statuses for a shell, the gravest first: 70 the program failed, 5 infrastructure, 4 INVALID, 2
usage, 1 a decided conclusion that is not the expected one, 3 INCONCLUSIVE, NOT-TESTED or no
conclusion where another was expected, 0 all as expected.
"""

from __future__ import annotations

from repro.verdict.agreement import agree
from repro.verdict.combine import (
    conclude_conjunction,
    conclude_disjunction,
    conclude_tree,
)
from repro.verdict.family import adjust_family, adjust_family_by_e
from repro.verdict.rules import (
    Direction,
    by_interval,
    by_p,
    by_sign,
    certain,
    conclude_difference,
    conclude_ratio,
    conclude_sequential,
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
    "Conclusion",
    "Direction",
    "Finding",
    "Flag",
    "FlagKind",
    "Validity",
    "Verdict",
    "adjust_family",
    "adjust_family_by_e",
    "agree",
    "by_interval",
    "by_p",
    "by_sign",
    "certain",
    "conclude_conjunction",
    "conclude_difference",
    "conclude_disjunction",
    "conclude_ratio",
    "conclude_sequential",
    "conclude_tree",
    "exit_code",
    "roll_up",
    "status_of",
]
