"""The language of which everything is known."""

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest

from repro.errors import DataError
from repro.rank.spectrum import count_above, press_threshold
from repro.specs.claim import Claim
from repro.specs.load import load_claim
from repro.trainers.language_model import corpus as synthetic
from repro.trainers.language_model.spec import SyntheticCorpus
from tests.trainers import small

CLAIMS = Path(__file__).parents[2] / "claims"

GOLDEN_TEXT = "0230fc7a9d536df2"


def test_rows_are_distributions():
    """Every row of the conditional matrix is positive and sums to 1."""
    matrix = synthetic.conditional_matrix(small.corpus())
    assert matrix.shape == (30, 30)
    assert (matrix > 0).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-12)


def test_extreme_sharpness_has_finite_logarithms():
    """Probabilities too small for a float64 still have their logarithm."""
    spec = small.corpus(sharpness=1e4)
    assert np.isfinite(synthetic.log_conditional_matrix(spec)).all()
    assert synthetic.entropy_perplexity(spec) >= 1


def test_the_stationary_distribution_is_a_fixed_point():
    """One step of the language leaves the long-run frequencies as they are."""
    q = synthetic.stationary_distribution(small.corpus())
    np.testing.assert_allclose(q @ synthetic.conditional_matrix(small.corpus()), q, rtol=1e-10)
    assert q.sum() == pytest.approx(1)


def test_a_language_that_never_settles_is_refused():
    """Nearly certain successors of one topic go round in circles, and have no limit."""
    with pytest.raises(DataError, match="do not settle in 10,000 steps"):
        synthetic.stationary_distribution(small.corpus(components=1, sharpness=1e4))


def rank_of(language: SyntheticCorpus) -> int:
    """The rank of log P* in float64, by Press's threshold."""
    matrix = synthetic.log_conditional_matrix(language)
    spectrum = np.linalg.svd(matrix, compute_uv=False)
    return count_above(spectrum, press_threshold(len(matrix), len(matrix), 2.0**-52))


def test_one_component_has_the_rank_of_a_softmax():
    """Without a mixture the rank is dimension + 2; a mixture has full rank."""
    assert rank_of(small.corpus(components=1)) == 4 + 2
    assert rank_of(small.corpus(components=4)) == 30


def quick_language(claim: Claim) -> SyntheticCorpus:
    """The language that the arms of a claim are trained on."""
    configuration = claim.arms["mos"].configuration
    assert configuration is not None
    assert isinstance(configuration.corpus, SyntheticCorpus)
    return configuration.corpus


@pytest.mark.parametrize(
    ("file", "rank"), [("mos_rank", 998), ("controls/low_rank_language.claim", 50)]
)
def test_the_claims_on_rank_say_the_true_rank_of_their_language(file: str, rank: int) -> None:
    """It is counted at the threshold that Press's formula gives for the models' test matrix."""
    claim = load_claim(CLAIMS / f"{file}.yaml", "quick")
    corpus = quick_language(claim)
    sigma = np.linalg.svd(synthetic.log_conditional_matrix(corpus), compute_uv=False)
    contexts = 40_000  # 20 streams of the 40,020 test words, each but its first word
    press = 0.5 * math.sqrt(contexts + corpus.vocabulary + 1) * np.finfo(np.float32).eps
    assert int((sigma > press * sigma[0]).sum()) == rank
    assert f"{rank}" in claim.notice


def test_entropy_of_a_language_with_equal_rows():
    """Nearly without sharpness the words are independent, with the entropy of Zipf's law."""
    spec = small.corpus(sharpness=1e-9)
    p = 1 / (np.arange(30) + 10)
    p /= p.sum()
    assert synthetic.entropy_perplexity(spec) == pytest.approx(math.exp(-(p * np.log(p)).sum()))


def test_bigram_frequencies_converge():
    """In a long text the word after w has the frequencies that the matrix states."""
    spec = small.corpus(vocabulary=5, tokens={"train": 200_000, "valid": 1, "test": 1})
    text = synthetic.sample_text(spec, "train")
    counts = np.zeros((5, 5))
    np.add.at(counts, (text[:-1], text[1:]), 1)
    expected = synthetic.conditional_matrix(spec)
    totals = counts.sum(axis=1, keepdims=True)
    error = (counts / totals - expected) / np.sqrt(expected * (1 - expected) / totals)
    assert np.abs(error).max() < 4.5


def test_the_text_is_always_the_same():
    """The first words of a split have the digest that they always had."""
    text = synthetic.sample_text(small.corpus(), "train")[:200]
    assert hashlib.sha256(text.astype("<i8").tobytes()).hexdigest()[:16] == GOLDEN_TEXT


def test_splits_and_seeds_differ():
    """Each split is a walk of its own, and another seed is another language."""
    spec = small.corpus(tokens={"train": 100, "valid": 100, "test": 100})
    train, valid = (synthetic.sample_text(spec, split) for split in ("train", "valid"))
    assert not np.array_equal(train, valid)
    other = small.corpus(seed=1)
    assert not np.allclose(synthetic.conditional_matrix(other), synthetic.conditional_matrix(spec))


def test_a_longer_text_begins_with_the_shorter_one():
    """The length of a split draws neither the language nor the text again."""
    short = synthetic.sample_text(small.corpus(), "train")
    longer = small.corpus(tokens={"train": 700, "valid": 9, "test": 9})
    assert np.array_equal(synthetic.sample_text(longer, "train")[:600], short)
