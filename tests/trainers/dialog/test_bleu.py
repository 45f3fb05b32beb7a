"""BLEU against examples that were published or worked out by hand."""

import math
from fractions import Fraction

import pytest

from repro.trainers.dialog.bleu import bleu, matched, smoothed_precisions

# Papineni et al. 2002, examples 1 and 2
CANDIDATE_1 = (
    "It is a guide to action which ensures that the military always obeys the commands of the party"
)
CANDIDATE_2 = "It is to insure the troops forever hearing the activity guidebook that party direct"
REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    (
        "It is the guiding principle which guarantees the military forces always being under the "
        "command of the Party"
    ),
    "It is the practical guide for the army always to heed the directions of the party",
]
THE = "the the the the the the the"
CATS = ["the cat is on the mat", "there is a cat on the mat"]

# Chen and Cherry 2014 discuss short responses of this kind
SHORT, LONG = "it is .", "it is a place of quiet contemplation ."


def words(*texts):
    return [text.split() for text in texts]


def precisions(hypothesis, references, order, smoothing="none"):
    return smoothed_precisions(hypothesis.split(), words(*references), order, smoothing)


def score(hypothesis, references, order, smoothing="none"):
    return bleu(hypothesis.split(), words(*references), order, smoothing)


@pytest.mark.parametrize(
    ("candidate", "references", "n", "expected"),
    [
        (CANDIDATE_1, REFERENCES, 1, Fraction(17, 18)),
        (CANDIDATE_2, REFERENCES, 1, Fraction(8, 14)),
        (CANDIDATE_1, REFERENCES, 2, Fraction(10, 17)),
        (CANDIDATE_2, REFERENCES, 2, Fraction(1, 13)),
        (THE, CATS, 1, Fraction(2, 7)),
        (THE, CATS, 2, Fraction(0)),
    ],
)
def test_modified_precisions_are_the_published_ones(candidate, references, n, expected):
    """Papineni et al. 2002 print these fractions for their examples (case does not count)."""
    lower = [reference.lower() for reference in references]
    assert precisions(candidate.lower(), lower, n)[n - 1] == pytest.approx(float(expected))


def test_bleu_of_the_published_example():
    """NLTK documents 0.5045... for candidate 1 of Papineni et al. 2002, as its case is."""
    assert math.floor(score(CANDIDATE_1, REFERENCES, 4) * 1e4) == 5045


def test_a_perfect_response_scores_one_and_an_empty_one_nothing():
    """Whatever the smoothing, as far as the response has n-grams."""
    for smoothing in ("none", "add_one", "chen_cherry_7"):
        for order in (1, 2, 3, 4):
            assert score(LONG, [LONG], order, smoothing) == pytest.approx(1)
            assert score("", [LONG], order, smoothing) == 0


@pytest.mark.parametrize(
    ("reference", "penalty"), [("a b c", 0.0), ("a b c d", 0.0), ("a b c d e f g h", 1 - 8 / 4)]
)
def test_only_a_response_that_is_too_short_is_penalised(reference, penalty):
    """exp(1 - r / c) if the response is shorter than its reference."""
    shared = min(4, len(reference.split())) / 4
    assert score("a b c d", [reference], 1) == pytest.approx(math.exp(penalty) * shared)


def test_the_nearest_reference_length_counts_and_of_two_the_shorter():
    """A response of 4 words between references of 3 and 5 is not too short."""
    assert score("a b c d", ["a b c d e", "x y z"], 1) == pytest.approx(1)
    assert score("a b c d", ["a b c d e", "x"], 1) == pytest.approx(math.exp(-1 / 4))


def test_without_smoothing_one_order_without_match_makes_the_score_zero():
    """The geometric mean of anything and 0 is 0."""
    assert score(SHORT, [LONG], 2) == pytest.approx(math.exp(1 - 8 / 3) * math.sqrt(1 / 2))
    assert score(SHORT, [LONG], 3) == 0


def test_add_one_leaves_single_words_as_they_are():
    """(m + 1) / (l + 1) for n above 1 (Lin and Och 2004)."""
    assert precisions(SHORT, [LONG], 3, "add_one") == pytest.approx([3 / 3, 2 / 3, 1 / 2])


def test_smoothing_7_worked_by_hand():
    """3, 1 and 0 matches of 3, 2 and 1 n-grams; the zero becomes ln 3 / 5 first."""
    filled = math.log(3) / 5
    first = (4 + 3 + 1) / 3
    second = (first + 1 + filled) / 3
    third = (second + filled + 0) / 3
    expected = [first / 3, second / 2, third / 1]
    assert precisions(SHORT, [LONG], 3, "chen_cherry_7") == pytest.approx(expected)
    # the order above the last is counted, but not filled
    assert precisions(SHORT, [LONG], 2, "chen_cherry_7")[1] == pytest.approx((first + 1) / 3 / 2)
    mean = math.fsum(map(math.log, expected)) / 3
    value = score(SHORT, [LONG], 3, "chen_cherry_7")
    assert value == pytest.approx(math.exp(1 - 8 / 3 + mean))


def test_smoothing_4_makes_each_further_zero_smaller():
    """The i-th order without a match counts (ln c / 5)^i, before the average is taken."""
    filled = math.log(2) / 5
    assert [matched(["b", "a"], [["a", "c"]], n) for n in (1, 2, 3)] == [1, 0, 0]
    first = (2 + 1 + filled) / 3
    second = (first + filled + filled**2) / 3
    third = (second + filled**2 + 0) / 3
    expected = [first / 2, second, third]
    assert precisions("b a", ["a c"], 3, "chen_cherry_7") == pytest.approx(expected)


def test_a_response_of_one_word():
    """ln 1 is 0: nothing is filled in, and the average alone smooths."""
    assert precisions("yeah", ["yeah"], 2, "chen_cherry_7") == pytest.approx([1, 1 / 3])
    assert precisions("yeah", ["no"], 2, "chen_cherry_7") == pytest.approx([1 / 3, 1 / 9])
