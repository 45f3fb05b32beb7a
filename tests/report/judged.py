"""Documents that were judged in full: every kind of expectation, every part of a judgement."""

# ruff: noqa: E501 - texts read better in one piece

from __future__ import annotations

import math
from typing import Any

from repro.judging.document import Document
from tests.report.documents import (
    MEASUREMENTS,
    PPL,
    RANK,
    TRAIN,
    arm,
    base,
    claim,
    key_of,
    make,
    result,
    verdict,
)
from tests.report.judgements import (
    analysis,
    design,
    family,
    few_analyses,
    look,
    many_analyses,
    planned_looks,
    registration,
    replication,
    sixty_looks,
)


def everything() -> Document:
    """mos_rank with every part of a judgement."""
    published = base()["published"]
    published[0]["replication"] = replication(
        "ratio", original=35.6, ours=23.6, prediction=[18.2, 69.9], detectable=1.04, same_sign=True,
        significant=True, effect_ratio=0.88, effect_ratio_low=0.81, effect_ratio_high=0.97,
        telescope_p=None, sceptical_nominal=0.0004, sceptical_golden=0.0001, sceptical_controlled=2e-6,
        pooled=24.1, pooled_low=23.4, pooled_high=24.9, original_in_interval=False)  # fmt: skip
    refused = (
        "Three seeds and a two-sided permutation test have p of at least 0.1 whatever the data are."
    )
    return make(
        verdict=verdict(agreement="COMPATIBLE", agreement_reason="Ours lies inside the interval."),
        scale={"name": "paper", "notice": "This is the paper's own experiment, seed for seed."},
        published=published, robustness=[few_analyses()],
        design=[design("far_above_moc", assumed_effect="a ratio of 20", minimum_detectable=11.8,
                       sd=[0.018, 0.002], note="Simulated: 81.2% with a standard error of 0.4%."),
                design("separated", power=None, minimum_detectable=None, seeds_80=None, seeds_90=None,
                       sd=[], sd_source="", refused=refused, seeds=3)],
        sequential=[sixty_looks("far_above_moc", centre=14.0)],
        registration=registration("before", (["expectations.far_above_moc.at_least"], False),
                                  (["alpha", "arms.mos.model.output.experts"], True), earlier=1),
        control={"nights": 60, "found": 3, "alpha": 0.05, "low": 0.0104, "high": 0.1392},
        family=family("e_bh"),
        levels=[{"expectation": "far_above_moc", "test": "Welch's t on logarithms",
                 "text": "false CONFIRMED in 6.1% of 100,000 draws at n = 5, sd 3:1, t4 tails (α = 5%)."}],
    )  # fmt: skip


def associated() -> Document:
    """Associations: over seeds of three arms, over means of arms with a window, and a size."""
    ranks = [
        [402 + i for i in range(5)],
        [2800 + 210 * i for i in range(5)],
        [8100 + 330 * i for i in range(5)],
    ]
    ppls = [
        [60.3, 60.9, 61.2, 60.1, 60.6],
        [58.9, 59.3, 58.2, 58.8, 59.0],
        [57.9, 56.2, 57.1, 56.6, 57.4],
    ]
    names = [
        ("softmax", "Softmax"),
        ("moc", "Mixture of contexts, fifteen experts and a long name"),
        ("mos", "MoS"),
    ]
    arms = [arm(n, label, {RANK: r, PPL: p})
            for (n, label), r, p in zip(names, ranks, ppls, strict=True)]  # fmt: skip
    points = [
        {"arm": n, "replicate": i, "x": r[i], "y": p[i], "counted": p[i] >= 57.0}
        for (n, _), r, p in zip(names, ranks, ppls, strict=True) for i in range(5)
    ]  # fmt: skip
    means = [{"arm": n, "replicate": None, "x": sum(r) / 5, "y": sum(p) / 5, "counted": True}
             for (n, _), r, p in zip(names, ranks, ppls, strict=True)]  # fmt: skip
    size = [{"value": sign * 0.3, "label": f"size, {'−' if sign < 0 else '+'}0.3", "why": "weak by Cohen's table"}
            for sign in (-1, 1)]  # fmt: skip
    ids = [n for n, _ in names]
    results = [
        result("goes_with", PPL, ids, kind="association", against=RANK, scale="correlation",
               statement="The correlation of perplexity with rank is at least 0.3 in size, within 57 to 62.",
               test="Pearson's r, one-sided tests of its size (Fisher z)", effect=-0.91, points=points,
               effect_label="Pearson's r of test perplexity with rank", limits=size, claimed="outside",
               interval={"low": -0.98, "high": -0.62, "level": 0.95}, conclusion="CONFIRMED", p=0.0008,
               sentence="Pearson's r is −0.91 over 13 points.", details={"window": "13 of 15 points"}),
        result("over_means", PPL, ids, kind="association", against=RANK, scale="correlation", role="context",
               statement="The means of the arms fall together.", test="Spearman's rho", effect=-1.0,
               effect_label="Spearman's rho of test perplexity with rank", points=means,
               limits=[{"value": 0, "label": "no correlation, 0", "why": ""}], claimed="below",
               conclusion="INCONCLUSIVE", sentence="Three points settle nothing."),
    ]  # fmt: skip
    rows = [
        analysis(
            "declared", "as declared: Pearson's r", effect=-0.91, low=-0.98, high=-0.62, p=0.0008
        ),
        analysis("seed", "without seed 1 of MoS", effect=-0.89, low=-0.99, high=-0.51, p=0.002),
    ]
    return make(
        claim=claim("rank_and_perplexity", "Perplexity falls as the rank rises", "…", "Figure 2"),
        verdict=verdict(flags=[], sentence="Perplexity and rank go together."), arms=arms,
        measurements=[MEASUREMENTS[PPL], MEASUREMENTS[RANK]], results=results, curves=[],
        canaries=[], published=[], robustness=[{"expectation": "goes_with", "analyses": rows}],
        registration=registration("none"), family=family("bh"),
    )  # fmt: skip


def ordered() -> Document:
    """Trend, ordering, wins and losses, a relative margin and a share of seeds."""
    arms = [
        arm("k15", "MoS, K = 15", {PPL: [56.9, 57.3, 56.6, 57.0]}),
        arm("k1", "Softmax (K = 1)", {PPL: [60.4, 60.9, 60.1, 60.6]}),
        arm("k4", "MoS, K = 4", {PPL: [58.5, 58.9, 58.2, 58.8]}, evidence="table", configuration=None,
            parameters=None, source=None, training={},
            table={"file": "mine.csv", "sha256": key_of("table")}, planned=5),
    ]  # fmt: skip
    down = ["k1", "k4", "k15"]
    results = [
        result("falls", PPL, down, kind="trend", ordered=True, scale="share", test="Jonckheere-Terpstra test, one-sided",
               effect=1.0, effect_label="share of pairs of seeds of different arms whose perplexity is falling",
               interval={"low": 0.93, "high": 1.0, "level": 0.95}, claimed="above", p=1.1e-6,
               limits=[{"value": 0.5, "label": "no trend, 0.5", "why": ""}], conclusion="CONFIRMED",
               sentence="In 100% of the pairs the perplexity falls."),
        result("in_order", PPL, down, kind="ordering", ordered=True, test="one-sided Welch tests of all pairs, Holm",
               effect=-1.65, effect_label="test perplexity, the step with the least evidence",
               interval={"low": None, "high": -1.2, "level": 0.9}, claimed="below", p=2e-5,
               limits=[{"value": 0, "label": "no difference, 0", "why": ""}], conclusion="CONFIRMED",
               sentence="Every step is in order."),
        result("wins", PPL, ["k15", "k1"], kind="proportion", scale="share", test="exact sign test, one-sided",
               effect=8 / 11, interval={"low": 0.3903, "high": 0.9398, "level": 0.95}, claimed="above",
               effect_label="share of 12 measurements in which MoS, K = 15 beats Softmax (K = 1)",
               limits=[{"value": 0.5, "label": "share, 50%", "why": ""}], p=0.113, conclusion="INCONCLUSIVE",
               sentence="MoS beats Softmax in 8 of 12 measurements and loses in 3, 1 tie.",
               details={"wins": "8", "losses": "3", "ties": "1"}),
        result("close", PPL, ["k15", "k4"], kind="equivalence", scale="relative", test="TOST, Fieller",
               effect=-0.0287, interval={"low": -0.034, "high": -0.0231, "level": 0.9}, claimed="between",
               effect_label="test perplexity, relative difference of K = 15 to K = 4", p=0.99,
               limits=[{"value": -0.01, "label": "margin, −1%", "why": "as declared"},
                       {"value": 0.01, "label": "margin, +1%", "why": "as declared"}],
               conclusion="CONTRADICTED", sentence="K = 15 is 2.9% lower.", smallest_confirmable_margin=0.034),
        result("kept", PPL, ["k1"], kind="bound", scale="share", test="exact binomial test", effect=1.0,
               effect_label="share of seeds of Softmax within the bound", claimed="above",
               interval={"low": 0.398, "high": 1.0, "level": 0.95}, conclusion="INCONCLUSIVE",
               limits=[{"value": 0.9, "label": "least share, 90%", "why": "declared"}], sentence="4 of 4."),
    ]  # fmt: skip
    rows = [
        analysis("declared", "as declared: TOST, Fieller", effect=-0.0287, low=-0.034, high=-0.0231, p=0.99,
                 conclusion="CONTRADICTED"),
        analysis("test", "on logarithms", effect=-0.0291, low=-0.035, high=-0.0232, conclusion="CONTRADICTED"),
    ]  # fmt: skip
    return make(
        claim=claim("more_experts", "More experts, lower perplexity", "…", "Table 3"),
        verdict=verdict(conclusion="CONTRADICTED", flags=[], as_expected=False), arms=arms,
        measurements=[MEASUREMENTS[PPL]], results=results, curves=[], canaries=[], published=[],
        robustness=[{"expectation": "close", "analyses": rows}],
        design=[design("close", minimum_detectable=0.0213, power=0.027, seeds_80=None, seeds_90=None,
                       note="More than 1,000 seeds would be needed."),
                design("wins", minimum_detectable=0.86, power=0.9999, sd=[], sd_source="")],
        registration=registration("after"), sequential=[planned_looks("in_order")],
    )  # fmt: skip


def watched() -> Document:
    """Sixty analyses and sixty looks; a control that errs too often; edited after results."""
    softmax = [60.91 + 0.07 * math.sin(3 * i) for i in range(28)]
    plif = [61.22 + 0.09 * math.sin(5 * i) for i in range(28)]
    results = [
        result("worse", PPL, ["plif", "softmax"], effect=0.31, p=0.011, df=8.1, conclusion="CONFIRMED",
               statement="LMS-PLIF has a higher test perplexity than Softmax.", claimed="above",
               effect_label="test perplexity, LMS-PLIF − Softmax", sentence="0.31 higher.",
               interval={"low": 0.08, "high": 0.54, "level": 0.95},
               limits=[{"value": 0.0, "label": "zero", "why": "any difference counts"}]),
        result("train", TRAIN, ["plif", "softmax"], effect=None, sentence="Not measured.", role="context",
               effect_label="train perplexity, LMS-PLIF − Softmax"),
    ]  # fmt: skip
    edits = [(["expectations.worse.alternative"], True)]
    return make(
        claim=claim("plif_watched", "LMS-PLIF is worse, watched every night", "…", "section 5.2"),
        verdict=verdict(flags=[{"kind": "test", "text": "Yuen's test does not confirm it."}]),
        arms=[arm("softmax", "Softmax", {PPL: softmax}), arm("plif", "LMS-PLIF, slopes frozen", {PPL: plif})],
        measurements=[MEASUREMENTS[PPL], MEASUREMENTS[TRAIN]], results=results, curves=[], canaries=[],
        published=[{"expectation": "worse", "locator": "Table 4", "p": "6.41e-2",
                    "arms": [{"arm": "plif", "mean": "56.39", "sd": "0.19", "n": 10},
                             {"arm": "softmax", "mean": "56.45", "sd": "0.10", "n": 10}],
                    "agreement": "OPPOSITE", "reason": "Ours lies outside the prediction interval.",
                    "replication": replication(inside=False, effect_ratio=None, effect_ratio_high=None,
                                               detectable=None, sceptical_nominal=None,
                                               sceptical_golden=None, sceptical_controlled=None)}],
        robustness=[many_analyses("worse")], sequential=[sixty_looks("worse"), planned_looks("worse"),
                    {**sixty_looks("worse"), "looks": [], "crossing": None, "stop": "go on"},
                    {**sixty_looks("worse"), "looks": [look(3, None)], "crossing": None, "stop": "go on",
                     "sensitivity": {}}],
        registration=registration("before", *edits, earlier=2),
        control={"nights": 60, "found": 12, "alpha": 0.05, "low": 0.108, "high": 0.323},
        family=family(), design=[design("worse")],
        levels=[{"expectation": "worse", "test": "Welch's t", "text": "6.3% at n = 3."}],
    )  # fmt: skip


def printed_only() -> Document:
    """Two printed arms and no run; nothing was looked at, controlled or registered yet."""

    def printed(name: str, mean: float, sd: float) -> dict[str, Any]:
        whole = {"n": 10, "low": None, "high": None, "geometric_mean": None}
        return arm(name, name.upper(), {}, evidence="published", configuration=None, parameters=None,
                   source=None, training={},
                   summaries=[{"measurement": PPL, "mean": mean, "sd": sd, **whole}])  # fmt: skip

    results = [result("same", PPL, ["a", "b"], effect=-0.06, p=0.62, conclusion="INCONCLUSIVE",
                      interval={"low": -0.2, "high": 0.08, "level": 0.9}, sentence="−0.06 ± 0.14.")]  # fmt: skip
    return make(
        arms=[printed("a", 56.39, 0.19), printed("b", 56.45, 0.10)], results=results, curves=[],
        canaries=[], published=[], measurements=[{**MEASUREMENTS[PPL], "kind": "reported"}],
        verdict=verdict(conclusion="INCONCLUSIVE", flags=[]), changes=[],
        control={"nights": 0, "found": 0, "alpha": 0.05, "low": 0.0, "high": 1.0},
        registration=registration("none", (["alpha"], True)),
    )  # fmt: skip


JUDGED = {
    "everything": everything, "associated": associated, "ordered": ordered, "watched": watched,
    "printed_only": printed_only,
}  # fmt: skip
"""Every document of this file by name."""
