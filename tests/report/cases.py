"""Every document that the tests render, by name: realistic ones, and some nobody would wish for."""

# ruff: noqa: E501 - texts read better in one piece

from __future__ import annotations

import json
from functools import cache
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
    left_out,
    make,
    rank_arms,
    result,
    verdict,
)
from tests.report.judged import JUDGED, everything


def with_text(text: str) -> Document:
    """A document with every part, and ``text`` in place of every free string."""

    def put(value: Any, key: str = "") -> Any:
        fixed = {
            "key", "measurement", "arm", "arms", "conclusion", "validity", "agreement", "role", "scale",
            "state", "kind", "better", "name", "design", "claimed", "expected", "created", "id", "evidence",
            "against", "choice", "expectation", "method", "order", "stop", "looks", "family",
        }  # fmt: skip
        if isinstance(value, dict):
            return {k: put(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [put(item, key) for item in value]
        return text if isinstance(value, str) and key not in fixed else value

    data = put(json.loads(everything().model_dump_json(by_alias=True)))
    return Document.model_validate_json(json.dumps(data))


def mos_rank() -> Document:
    """Confirmed, but fragile."""
    return make()


def plain_confirmed() -> Document:
    """Confirmed without a flag."""
    return make(verdict=verdict(flags=[]))


def plif() -> Document:
    """A conjunction of three, contradicted by one of its leaves; the file expected as much."""
    frozen = [61.42, 61.55, 61.31, 61.48, 61.60, 61.39, 61.51, 61.44]
    learned = [61.40, 61.52, 61.36, 61.45, 61.66, 61.33, 61.49, 61.50]
    softmax = [60.91, 61.02, 60.83, 60.97, 61.10, 60.88, 60.95, 60.99]
    arms = [
        arm("softmax", "Softmax", {PPL: softmax, TRAIN: [v - 18.1 for v in softmax]}),
        arm("learned", "LMS-PLIF, slopes learned together with the rest of the network",
            {PPL: learned, TRAIN: [v - 14.2 for v in learned]}),
        arm("frozen", "LMS-PLIF, slopes frozen at their random start (the identity is not used)",
            {PPL: frozen, TRAIN: [v - 14.0 for v in frozen]}),
    ]  # fmt: skip
    n = {"frozen": 8, "learned": 8, "softmax": 8}
    results = [
        result("freezing_changes_nothing", PPL, ["frozen", "learned"], kind="equivalence",
               statement="Freezing the slopes changes the test perplexity by less than 0.3 either way.",
               test="TOST on Welch's t", effect_label="test perplexity, frozen − learned",
               effect=-0.0013, interval={"low": -0.092, "high": 0.089, "level": 0.9},
               limits=[{"value": -0.3, "label": "margin −0.3", "why": "an eighth of the printed gain"},
                       {"value": 0.3, "label": "margin +0.3", "why": "an eighth of the printed gain"}],
               claimed="between", p=3.1e-6, df=13.9, conclusion="CONFIRMED",
               sentence="Frozen and learned differ by 0.00, surely by less than 0.09.",
               smallest_confirmable_margin=0.092, left_out=left_out(n, "CONFIRMED")),
        result("trains_worse", TRAIN, ["learned", "softmax"],
               statement="LMS-PLIF has a higher train perplexity than Softmax.",
               effect_label="train perplexity, learned − softmax", effect=4.41,
               interval={"low": 4.3, "high": 4.52, "level": 0.95},
               limits=[{"value": 0.0, "label": "zero", "why": "any difference counts"}],
               claimed="above", p=2.2e-19, df=13.2, conclusion="CONFIRMED",
               sentence="The train perplexity of LMS-PLIF is 4.41 higher.",
               left_out=left_out(n, "CONFIRMED")),
        result("tests_better", PPL, ["learned", "softmax"],
               statement="LMS-PLIF has a lower test perplexity than Softmax.",
               effect_label="test perplexity, learned − softmax", effect=0.51,
               interval={"low": 0.4, "high": 0.62, "level": 0.95},
               limits=[{"value": 0.0, "label": "zero", "why": "any difference counts"}],
               claimed="below", p=8.9e-8, df=13.6, conclusion="CONTRADICTED",
               sentence="The test perplexity of LMS-PLIF is 0.51 higher, not lower.",
               left_out=left_out(n, "CONTRADICTED")),
    ]  # fmt: skip
    return make(
        claim=claim("lms_plif_regularization", "LMS-PLIF's gain is regularisation, not expressiveness",
                    "The gain persists when the slopes are frozen: the function acts as a regulariser.",
                    "section 5.2, Table 4"),
        verdict=verdict(
            conclusion="CONTRADICTED", flags=[], expected="CONTRADICTED", as_expected=True,
            expected_why="models this small do not overfit, so regularisation has nothing to gain.",
            sentence="Freezing changes nothing and training is worse, but the test perplexity is worse "
            "as well: +0.51, where the claim needs it below zero."),
        measurements=[MEASUREMENTS[PPL], MEASUREMENTS[TRAIN]], results=results, arms=arms,
        canaries=[], curves=[], published=[],
        changes=[{"text": "More epochs, until Softmax overfits: that is the bench scale.",
                  "command": "repro verify claims/lms_plif_regularization.yaml --scale bench"}],
    )  # fmt: skip


def fair_mos() -> Document:
    """Inconclusive, with context beside it and a printed comparison."""
    mos = [169.4, 171.9, 166.9, 167.2, 171.6]
    softmax = [168.6, 169.9, 171.2, 169.3, 167.0]
    margin = {"value": -0.3, "label": "margin −0.3", "why": "an eighth of the 2.4 that MoS gained"}
    results = [
        result("not_better", PPL, ["mos", "softmax"], kind="non_superiority",
               statement="MoS† is not better than Softmax‡ by more than 0.3.",
               test="Welch's t, one-sided", effect_label="test perplexity, MoS† − Softmax‡", effect=0.2,
               interval={"low": -1.92, "high": None, "level": 0.9}, limits=[margin], claimed="above",
               p=0.33, df=6.4, conclusion="INCONCLUSIVE",
               sentence="The difference may be anything above −1.92, and the margin is −0.3.",
               smallest_confirmable_margin=1.92, left_out=left_out({"mos": 5}, "INCONCLUSIVE")),
        result("equivalent", PPL, ["mos", "softmax"], kind="equivalence", role="context",
               statement="MoS† and Softmax‡ differ by less than 0.3.", test="TOST on Welch's t",
               effect_label="test perplexity, MoS† − Softmax‡", effect=0.2,
               interval={"low": -1.92, "high": 2.32, "level": 0.9},
               limits=[margin, {**margin, "value": 0.3, "label": "margin +0.3"}], claimed="between",
               p=0.46, df=6.4, conclusion="INCONCLUSIVE", sentence="Wide intervals settle nothing."),
        result("as_published", PPL, ["mos", "softmax"], role="context", test="Student's t",
               statement="The paper's own test finds no difference.",
               effect_label="test perplexity, MoS† − Softmax‡", effect=0.2,
               interval={"low": -2.4, "high": 2.8, "level": 0.95}, p=0.8621, df=8,
               conclusion="INCONCLUSIVE", sentence="Student's t: no difference found."),
    ]  # fmt: skip
    return make(
        claim=claim("fair_mos", "Fairly compared, MoS is not better than Softmax",
                    "MoS and Softmax perform on par when they have the same number of parameters.",
                    "Table 5"),
        verdict=verdict(
            conclusion="INCONCLUSIVE", flags=[], expected="INCONCLUSIVE", as_expected=True,
            expected_why="five small models a side cannot settle a margin of 0.3.",
            sentence="Five seeds an arm cannot tell whether MoS gains more than 0.3."),
        measurements=[MEASUREMENTS[PPL]], results=results, curves=[], canaries=[],
        arms=[arm("mos", "MoS†", {PPL: mos}), arm("softmax", "Softmax‡", {PPL: softmax})],
        published=[{"expectation": "as_published", "locator": "Table 5", "p": "0.62",
                    "arms": [{"arm": "mos", "mean": "56.39", "sd": "0.19", "n": 10},
                             {"arm": "softmax", "mean": "56.45", "sd": "0.10", "n": 10}],
                    "agreement": "COMPATIBLE", "reason": "Ours lies inside the prediction interval."}],
        changes=[{"text": "About 140 seeds an arm would settle it: 70 more minutes on two cores.",
                  "command": "repro verify claims/fair_mos.yaml --seeds 140"}],
    )  # fmt: skip


def invalid() -> Document:
    """A control failed, so nothing is concluded."""
    canaries = base()["canaries"]
    canaries[1] |= {"measured": "41 in seed 3", "state": "failed"}
    canaries.append({"id": "moc_bound", "statement": "No MoC rank is below d + 2.",
                     "expected": "34", "measured": "33 in seed 1", "state": "flagged"})  # fmt: skip
    results = [{**r, "conclusion": None, "left_out": []} for r in base()["results"]]
    arms = rank_arms()
    arms[0] = arm("softmax", "Softmax", {RANK: [34, 34, 34, 41, 34]}, rank_bound=34)
    return make(
        verdict=verdict(
            validity="INVALID", validity_reason="A Softmax rank of 41 is above its bound of 34.",
            conclusion=None, flags=[], as_expected=False,
            sentence="A control failed: the instrument that measures the rank cannot be trusted."),
        canaries=canaries, results=results, arms=arms,
    )  # fmt: skip


def incomplete() -> Document:
    """Nothing ran."""
    empty: dict[str, Any] = {"replicates": [], "summaries": []}
    missing = [
        {"number": i, "key": key_of("mos", i), "state": "missing", "values": {}} for i in range(2)
    ]
    arms = [{**a, **empty} for a in rank_arms()]
    arms[2]["replicates"] = missing
    return make(
        verdict=verdict(
            validity="INCOMPLETE", validity_reason="0 of 5 seeds an arm.", conclusion=None, flags=[],
            as_expected=False, sentence="15 runs are missing, so nothing can be concluded."),
        arms=arms, results=[], canaries=[], curves=[],
        changes=[{"text": "Train the 15 missing runs.", "command": "repro verify claims/mos_rank.yaml"}],
    )  # fmt: skip


def thirty_seeds() -> Document:
    """Four arms with long names, thirty seeds, ties, an arm without a value, and a lone seed."""
    long = "the mixture of softmaxes at equal parameters with a name that nobody should give"
    arms = [
        arm("a", "Softmax", {RANK: [402] * 30}, rank_bound=402),
        arm("b", "Mixture_of_contexts_written_as_one_very_long_identifier", {RANK: [282] * 30},
            rank_bound=282),
        arm("c", long, {RANK: [9_000 + 31 * i for i in range(30)]}, parameters=22_125_000),
        arm("d", "Only one", {RANK: [5_120]}),
        arm("e", "Not yet", {}),
    ]  # fmt: skip
    arms[3]["replicates"].append(
        {"number": 1, "key": key_of("d", 1), "state": "diverged", "values": {}}
    )
    limits = [
        {"value": 25.0, "label": "least ratio 25", "why": "the paper's is 36"},
        {
            "value": 24.5,
            "label": "the ratio that a second reading of the table gives",
            "why": "see there",
        },
    ]
    results = [
        result("x", RANK, ["c", "a"], scale="ratio", kind="ratio", effect=23.4, limits=limits,
               interval={"low": 22.9, "high": 23.9, "level": 0.9}, claimed="above", p=0.99993,
               conclusion="CONTRADICTED", sentence="Less than 25 times.", effect_label="ratio, " + long),
    ]  # fmt: skip
    return make(arms=arms, results=results, curves=[], published=[],
                measurements=[MEASUREMENTS[RANK]],
                verdict=verdict(conclusion="CONTRADICTED", as_expected=False))  # fmt: skip


def state(validity: str) -> Document:
    """A document that is valid in no way but this one."""
    why = {"STALE": "The runs are of revision 1 of MoS; it is at 2.",
           "NOT-COMPARABLE": "Parameters differ by 12%; the claim allows 1%."}[validity]  # fmt: skip
    results = [{**r, "conclusion": None, "left_out": []} for r in base()["results"]]
    return make(results=results, verdict=verdict(
        validity=validity, validity_reason=why, conclusion=None, flags=[], as_expected=False,
        sentence=why))  # fmt: skip


def trivial() -> Document:
    """Real, but below the smallest effect of interest."""
    return make(verdict=verdict(conclusion="TRIVIAL", flags=[], as_expected=False))


HOSTILE = (
    '<script>alert(1)</script> ]]> --> <!-- &amp; " \' `x` $x^2$ \\alpha #panic("no") *bold* _it_ '
    "@ref <label> {{ 7 * 7 }} {% raw %} | pipe שלום مرحبا \u202edesrever 漢字 😀 line\nbreak\ttab"
)
ENDLESS = "x" * 5000


def endless() -> Document:
    """Words of 5,000 letters wherever a person writes."""
    data = json.loads(everything().model_dump_json(by_alias=True))
    data["claim"]["title"] = data["verdict"]["sentence"] = ENDLESS
    data["claim"]["source"]["quote"] = data["claim"]["source"]["locator"] = ENDLESS
    data["arms"][0]["label"] = data["results"][0]["statement"] = ENDLESS
    data["results"][0]["effect_label"] = data["results"][0]["limits"][0]["label"] = ENDLESS
    data["canaries"][0]["statement"] = data["canaries"][0]["measured"] = ENDLESS
    data["robustness"][0]["analyses"][1]["name"] = data["registration"]["edits"][0]["paths"][0] = (
        ENDLESS
    )
    data["design"][1]["refused"] = data["family"]["members"][1]["claim"] = ENDLESS
    return Document.model_validate_json(json.dumps(data))


@cache
def all_documents() -> dict[str, Document]:
    """Every document by name."""
    return {
        "mos_rank": mos_rank(), "plain_confirmed": plain_confirmed(), "plif": plif(),
        "fair_mos": fair_mos(), "invalid": invalid(), "incomplete": incomplete(),
        "thirty_seeds": thirty_seeds(), "stale": state("STALE"),
        "not_comparable": state("NOT-COMPARABLE"), "trivial": trivial(),
        "hostile": with_text(HOSTILE), "endless": endless(),
        **{name: document() for name, document in JUDGED.items()},
    }  # fmt: skip
