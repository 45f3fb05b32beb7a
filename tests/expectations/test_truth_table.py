"""The rule of every kind of expectation, as a table: each border, from both sides."""

from __future__ import annotations

import pytest

from tests.expectations.judges import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    NO,
    OPEN,
    SMALL,
    TRIVIAL,
    YES,
    at_least,
    bounded,
    different,
    equivalent,
    exact_ratio,
    higher,
    joined,
    lower,
    not_better,
    not_worse,
    ratio,
    separated,
    shared,
)

TABLE = [
    # difference: p <= alpha, with the claimed sign or the opposite one
    ("higher: p below", higher(effect=1, p=0.04), CONFIRMED),
    ("higher: p at alpha", higher(effect=1, p=0.05), CONFIRMED),
    ("higher: p above", higher(effect=1, p=0.0501), INCONCLUSIVE),
    ("higher: opposite", higher(effect=-1, p=0.05), CONTRADICTED),
    ("higher: opposite, p above", higher(effect=-1, p=0.0501), INCONCLUSIVE),
    ("higher: no effect at all", higher(effect=0, p=1.0), INCONCLUSIVE),
    ("lower: p below", lower(effect=-1, p=0.05), CONFIRMED),
    ("lower: opposite", lower(effect=1, p=0.05), CONTRADICTED),
    ("lower: p above", lower(effect=-1, p=0.06), INCONCLUSIVE),
    ("different: either sign", different(effect=-1, p=0.05), CONFIRMED),
    ("different: p above", different(effect=-1, p=0.9), INCONCLUSIVE),
    # difference with a smallest effect of 1
    ("m: above it", at_least(1.01, 2), CONFIRMED),
    ("m: touches it", at_least(1.0, 2), INCONCLUSIVE),
    ("m: spans it", at_least(0.5, 2), INCONCLUSIVE),
    ("m: real but small", at_least(0.01, 0.99), TRIVIAL),
    ("m: real, touches m", at_least(0.01, 1.0), INCONCLUSIVE),
    ("m: touches 0 and below m", at_least(0.0, 0.99), CONTRADICTED),
    ("m: spans 0 and below m", at_least(-0.5, 0.99), CONTRADICTED),
    ("m: spans 0 and touches m", at_least(-0.5, 1.0), INCONCLUSIVE),
    ("m: below 0", at_least(-3, -2), CONTRADICTED),
    ("m: spans 0 and m", at_least(-1, 2), INCONCLUSIVE),
    ("m, lower: below it", at_least(-2, -1.01, "lower"), CONFIRMED),
    ("m, lower: real but small", at_least(-0.99, -0.01, "lower"), TRIVIAL),
    ("m, lower: above 0", at_least(2, 3, "lower"), CONTRADICTED),
    # equivalence within 1
    ("tost: inside", equivalent(-0.9, 0.9), CONFIRMED),
    ("tost: inside, 0 excluded", equivalent(0.1, 0.9), CONFIRMED),
    ("tost: touches above", equivalent(-0.9, 1.0), INCONCLUSIVE),
    ("tost: touches below", equivalent(-1.0, 0.9), INCONCLUSIVE),
    ("tost: spans", equivalent(0.9, 1.1), INCONCLUSIVE),
    ("tost: at the margin, beyond", equivalent(1.0, 1.1), CONTRADICTED),
    ("tost: beyond below", equivalent(-1.2, -1.0), CONTRADICTED),
    ("tost: wider than both", equivalent(-2, 2), INCONCLUSIVE),
    # non-superiority and non-inferiority by 1
    ("not better: within", not_better(-5, 0.99), CONFIRMED),
    ("not better: touches", not_better(-5, 1.0), INCONCLUSIVE),
    ("not better: spans", not_better(0, 2), INCONCLUSIVE),
    ("not better: beyond", not_better(1.0, 2), CONTRADICTED),
    ("not better, lower is better: within", not_better(-0.99, 5, "lower"), CONFIRMED),
    ("not better, lower is better: beyond", not_better(-2, -1.0, "lower"), CONTRADICTED),
    ("not worse: within", not_worse(-0.99, 5), CONFIRMED),
    ("not worse: spans", not_worse(-1.0, 5), INCONCLUSIVE),
    ("not worse: beyond", not_worse(-2, -1.0), CONTRADICTED),
    # ratio of at least 3
    ("ratio: above", ratio(3.01, 4), CONFIRMED),
    ("ratio: touches from above", ratio(3.0, 4), INCONCLUSIVE),
    ("ratio: spans", ratio(2, 4), INCONCLUSIVE),
    ("ratio: touches from below", ratio(2, 3.0), INCONCLUSIVE),
    ("ratio: below", ratio(2, 2.99), CONTRADICTED),
    ("exact ratio: above", exact_ratio(301.0, 100.0), CONFIRMED),
    ("exact ratio: equal", exact_ratio(300.0, 100.0), CONFIRMED),
    ("exact ratio: below", exact_ratio(299.0, 100.0), CONTRADICTED),
    # separation
    ("separation: all beyond", separated((7, 8, 9), (1, 2, 3)), CONFIRMED),
    ("separation: all beyond twice", separated((7, 8, 9), (1, 2, 3), 2.0), CONFIRMED),
    ("separation: not three times", separated((7, 8, 9), (1, 2, 3), 3.0), INCONCLUSIVE),
    ("separation: a tie", separated((3, 8, 9), (1, 2, 3)), INCONCLUSIVE),
    ("separation: the other way", separated((1, 2, 3), (7, 8, 9)), CONTRADICTED),
    ("separation: the other way, twice", separated((1, 2, 3), (7, 8, 9), 2.0), CONTRADICTED),
    ("separation: lower", separated((1, 2, 3), (7, 8, 9), direction="lower"), CONFIRMED),
    # structural bound, share
    ("bound: all within", bounded(400, 402, 402), CONFIRMED),
    ("bound: one beyond", bounded(400, 402, 402.5), CONTRADICTED),
    ("share: nine of nine", shared(9, 9), CONFIRMED),
    ("share: eight of eight", shared(8, 8), INCONCLUSIVE),
    ("share: three of nine", shared(3, 9), CONTRADICTED),
    ("share: four of nine", shared(4, 9), INCONCLUSIVE),
    # conjunction
    ("all hold", joined(YES, YES, YES), CONFIRMED),
    ("one is open", joined(YES, OPEN, YES), INCONCLUSIVE),
    ("one is trivial", joined(YES, SMALL, YES), TRIVIAL),
    ("all are trivial", joined(SMALL, SMALL), TRIVIAL),
    ("trivial and open", joined(SMALL, OPEN, YES), INCONCLUSIVE),
    ("one contradicted at its Holm level", joined(YES, NO, YES), CONTRADICTED),
    ("at it exactly", joined(YES, (CONTRADICTED, 0.025)), CONTRADICTED),
    (
        "contradicted, but not at its Holm level",
        joined(YES, YES, (CONTRADICTED, 0.02)),
        INCONCLUSIVE,
    ),
    ("contradicted, trivial, not at Holm", joined(SMALL, (CONTRADICTED, 0.04)), INCONCLUSIVE),
    ("one contradicted, another open", joined(NO, OPEN), CONTRADICTED),
    ("a leaf alone", joined((CONTRADICTED, 0.05)), CONTRADICTED),
    ("two contradicted: Holm steps down", joined(NO, (CONTRADICTED, 0.04), YES), CONTRADICTED),
]


@pytest.mark.parametrize(
    ("judge", "conclusion"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE]
)
def test_the_truth_table(judge, conclusion):
    """
    Each kind of expectation concludes by its exact rule, borders included.
    """
    assert judge().conclusion is conclusion
