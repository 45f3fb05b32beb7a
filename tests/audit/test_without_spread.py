"""Pairs that cannot be judged are told together; which way is better is not guessed silently."""

from __future__ import annotations

import pytest

from tests.audit.printed import audited, welch

GAT = """\
Method\tCora\tCiteseer\tPubmed
MLP\t55.1%\t46.5%\t71.4%
ManiReg\t59.5%\t60.1%\t70.7%
Planetoid\t75.7%\t64.7%\t77.2%
GCN\t81.5%\t70.3%\t79.0%
GCN-64\t81.4 ± 0.5%\t70.9 ± 0.5%\t79.0 ± 0.3%
MoNet\t81.7 ± 0.5%\t—\t78.8 ± 0.3%
GAT (ours)\t83.0 ± 0.7%\t72.5 ± 0.7%\t79.0 ± 0.3%
"""
"""Velickovic et al. 2018, numbers of Table 2."""

RETURNS = """\
Environment\tTD3\tDDPG\tPPO\tSAC
HalfCheetah\t9636.95 ± 859.06\t3305.60\t1795.43\t2347.19
Hopper\t3564.07 ± 114.74\t2020.46\t2164.70\t2996.66
"""
"""Fujimoto et al. 2018, numbers of Table 1."""


def test_pairs_without_a_spread_are_one_line(tmp_path):
    """Five of 17 can be judged, and Holm is over the pairs that have a spread, as before."""
    rows, said = audited(tmp_path, GAT, plus_minus="sd", n=100)
    names = "GCN, Planetoid, ManiReg, MLP"
    assert f"5 of 17 pairs can be judged; no spread (±) is printed for {names}." in said
    assert len(rows) == 5
    row = rows["GAT (ours) vs GCN-64, Cora"]
    assert row.p_welch == pytest.approx(welch((83.0, 0.7, 100), (81.4, 0.5, 100)))
    assert "Holm's correction is over 7 comparisons" in said


def test_none_of_the_pairs_can_be_judged(tmp_path):
    """One statement for all of them, and nobody is asked which way is better."""
    rows, said = audited(tmp_path, RETURNS)
    (row,) = rows.values()
    assert row.id == "none of 12 pairs"
    assert row.answer == "cannot say"
    assert row.reason == "no spread (±) is printed for DDPG, PPO, SAC"
    assert "which way is better" not in said


def test_percentages_above_one_half_are_taken_for_accuracies(tmp_path):
    """Said, and turned by the option, which then is no guess."""
    _, said = audited(tmp_path, GAT, plus_minus="sd", n=100)
    assert "Higher is taken to be better in Cora, Citeseer, Pubmed" in said
    _, said = audited(tmp_path, GAT, plus_minus="sd", n=100, better="higher")
    assert "is taken to be better" not in said


@pytest.mark.parametrize(
    ("header", "numbers", "guessed"),
    [
        ("X (%)", (91, 92, 93), True),
        ("CIFAR-10", (91, 92, 93), True),
        ("Cora", (0.81, 0.82, 0.83), True),
        ("X (%)", (1, 2, 3), False),
        ("MNIST", (1, 2, 3), False),
        ("X", (91, 92, 93), False),
        ("ImageNet", (910, 920, 930), False),
        ("CIFAR-10 error (%)", (91, 92, 93), False),
    ],
)
def test_what_is_taken_for_an_accuracy(tmp_path, header, numbers, guessed):
    """Rates of errors are in percent too, and mostly below one half."""
    body = "".join(f"{name}\t{at} ± 0.01\n" for name, at in zip("ABC", numbers, strict=True))
    rows, said = audited(tmp_path, f"Method\t{header}\n{body}", plus_minus="sd", n=5)
    assert ("is taken to be better" in said) == guessed
    assert len(rows) == (2 if guessed or "error" in header else 3)


def test_which_way_is_better_is_asked_for_in_one_line(tmp_path):
    """Where all pairs of many are compared."""
    body = "".join(f"{name}\t{at} ± 1\t{at} ± 1\n" for at, name in enumerate("ABCD", 10))
    _, said = audited(tmp_path, f"Method\tX\tY\n{body}", plus_minus="sd", n=5)
    assert said.count("--better higher or --better lower") == 1
    _, said = audited(tmp_path, f"Method\tX\tY\n{body}", plus_minus="sd", n=5, baseline="A")
    assert "--better" not in said
