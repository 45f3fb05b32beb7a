"""Documents for the tests of reports: realistic ones, and some that nobody would wish for."""

# ruff: noqa: E501 - texts read better in one piece

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from repro.judging.document import Document

PPL = "perplexity-0c5e41a7d1b29a10"
TRAIN = "perplexity-77aa0f1b3c9d2e55"
RANK = "rank-1f00ba5eba11c0de"

QUICK = (
    "This is not the paper's experiment. Quick trains small models for seconds on a synthetic "
    "language whose true rank is known. It shows that the effect exists and that the instruments "
    "work, not how large it is on Penn Treebank."
)
MEASUREMENTS = {
    PPL: {"key": PPL, "label": "test perplexity", "kind": "perplexity", "better": "lower", "digits": 2},
    TRAIN: {
        "key": TRAIN, "label": "train perplexity (dropout on)", "kind": "perplexity",
        "better": "lower", "digits": 2,
    },
    RANK: {
        "key": RANK, "label": "rank of the test log-probabilities", "kind": "rank",
        "better": "higher", "digits": 0,
    },
}  # fmt: skip


def make(**changes: Any) -> Document:
    """A document from `base`, with some of its parts replaced."""
    return Document.model_validate_json(json.dumps({**base(), **changes}))


def key_of(*parts: object) -> str:
    """A run key: 64 hexadecimal digits."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def summary(measurement: str, values: Sequence[float]) -> dict[str, Any]:
    """A summary as the judging side computes it."""
    positive = measurement == RANK
    return {
        "measurement": measurement,
        "n": len(values),
        "mean": statistics.fmean(values),
        "sd": statistics.stdev(values) if len(values) > 1 else None,
        "geometric_mean": math.exp(statistics.fmean(map(math.log, values))) if positive else None,
        "low": min(values),
        "high": max(values),
    }


def arm(
    name: str, label: str, values: Mapping[str, Sequence[float]], **changes: Any
) -> dict[str, Any]:
    """An arm with a finished replicate for each value."""
    n = max((len(v) for v in values.values()), default=0)
    replicates = [
        {
            "number": i, "key": key_of(name, i), "state": "finished",
            "values": {m: float(v[i]) for m, v in values.items() if i < len(v)},
        }
        for i in range(n)
    ]  # fmt: skip
    return {
        "id": name,
        "label": label,
        "configuration": f"quick/{name}",
        "parameters": 214_432,
        "rank_bound": None,
        "source": "made for this scale; the paper's configuration is yang2018/ptb",
        "assumed": [],
        "training": training(name),
        "replicates": replicates,
        "summaries": [summary(m, v) for m, v in values.items() if v],
        **changes,
    }


def training(name: str) -> dict[str, Any]:
    """A resolved configuration."""
    return {
        "corpus": {"kind": "synthetic", "vocabulary": 1000, "tokens": [400_000, 40_000, 40_000]},
        "model": {
            "output": {"kind": name, "experts": 4 if name != "softmax" else None},
            "layers": 2, "hidden": 64, "embedding": 32, "dropout": {"input": 0.1, "output": 0.4},
            "tied": True,
        },
        "recipe": {"optimiser": "sgd", "learning_rate": 20.0, "epochs": 3, "clip": 0.25,
                   "window": "random, about 70", "averaging": "non-monotonic trigger of 5 epochs"},
    }  # fmt: skip


def result(name: str, measurement: str, arms: list[str], **changes: Any) -> dict[str, Any]:
    """A tested expectation."""
    return {
        "id": name, "kind": "difference", "role": "decisive", "statement": f"{name}, as declared.",
        "measurement": measurement, "arms": arms, "test": "Welch's t", "alpha": 0.05,
        "scale": "difference", "effect_label": f"{arms[0]} − {arms[-1]}", "effect": None,
        "interval": None, "limits": [], "claimed": "none", "p": None, "df": None,
        "conclusion": None, "sentence": "", "smallest_confirmable_margin": None, "left_out": [],
        "details": {}, **changes,
    }  # fmt: skip


def left_out(arms: dict[str, int], word: str, but: dict[tuple[str, int], str] | None = None) -> Any:
    """Conclusions with each replicate left out in turn."""
    return [
        {"arm": a, "replicate": i, "conclusion": (but or {}).get((a, i), word)}
        for a, n in arms.items()
        for i in range(n)
    ]


SOFTMAX, MOC, MOS = [34, 34, 34, 34, 34], [34, 34, 34, 34, 34], [797, 830, 795, 798, 791]


def rank_arms() -> list[dict[str, Any]]:
    """Three arms, two of them with five equal ranks."""
    return [
        arm("softmax", "Softmax", {RANK: SOFTMAX, PPL: [160.6, 161.9, 159.2, 161.3, 160.0]},
            rank_bound=34, parameters=102_760),
        arm("moc", "MoC, K = 4", {RANK: MOC, PPL: [178.2, 180.4, 176.0, 175.9, 180.5]},
            rank_bound=34, assumed=[ASSUMED]),
        arm("mos", "MoS, K = 4", {RANK: MOS, PPL: [169.4, 171.9, 166.9, 167.2, 171.6]},
            assumed=[ASSUMED]),
    ]  # fmt: skip


ASSUMED = {
    "path": "model.output.dropout_latent",
    "value": "0.29",
    "why": "the paper gives it for Penn Treebank only; the same value is used here",
}


def curve(arm_id: str, ranks: list[int], spread: int) -> dict[str, Any]:
    """rank(tolerance) of five replicates on a grid of nine."""
    grid = [7.6e-6 * 10 ** (i / 4 - 1) for i in range(9)]
    rows = [[max(r + spread * (k - 2), 1) if r < 1000 else r for r in ranks] for k in range(5)]
    return {
        "arm": arm_id, "measurement": RANK, "tolerances": grid, "ranks": rows, "threshold": 7.6e-6,
        "marks": [
            {"label": "ten times Press's threshold", "tolerances": [7.6e-5] * 5},
            {"label": "numpy's threshold", "tolerances": [9.5e-4] * 5},
        ],
    }  # fmt: skip


def base() -> dict[str, Any]:
    """mos_rank at quick scale: confirmed, with a flag, curves and controls."""
    counts = {"mos": 5, "moc": 5}
    ratio = result(
        "far_above_moc", RANK, ["mos", "moc"], kind="ratio", scale="ratio",
        statement="The rank of MoS is at least 10 times that of MoC.",
        test="Welch's t on logarithms, one-sided", effect_label="rank of MoS / rank of MoC",
        effect=23.58, interval={"low": 23.1, "high": None, "level": 0.9},
        limits=[{"value": 10.0, "label": "least ratio 10",
                 "why": "the paper's ratio is 36; small models and few epochs leave a third of it"}],
        claimed="above", p=2.0e-11, df=4.0, conclusion="CONFIRMED",
        sentence="MoS has 23.6 times the rank of MoC, and the ratio is at least 23.1 (95%, one-sided).",
        left_out=left_out(counts, "CONFIRMED", {("mos", 1): "INCONCLUSIVE"}),
        details={"variance": "the rank of MoC does not vary: 34 in every seed"},
    )  # fmt: skip
    bound = result(
        "softmax_is_bounded", RANK, ["softmax"], kind="bound", scale="none", test="exact",
        statement="No rank of Softmax is above d + 2 = 34.", effect_label="",
        conclusion="CONFIRMED", sentence="5 of 5 ranks of Softmax are at most 34.",
        details={"share": "5 of 5 within the bound; lower 95% bound of the share 0.549"},
    )  # fmt: skip
    separation = result(
        "separated", RANK, ["mos", "moc"], kind="separation", scale="none", role="context",
        statement="Every MoS is more than 10 times every MoC.", test="exact", effect_label="",
        p=1 / 252, conclusion="CONFIRMED", sentence="Separated in 25 of 25 pairs.",
    )  # fmt: skip
    return {
        "schema": 1,
        "claim": {
            "id": "mos_rank",
            "title": "The rank of MoS's log-probability matrix is far above MoC's and Softmax's",
            "source": {
                "paper": "yang2018", "citation": "Yang et al. 2018", "locator": "section 3 and Table 5",
                "quote": "… the matrix ranks induced by Softmax and MoC are both limited by the "
                "corresponding embedding sizes. By contrast, the matrix rank obtained from MoS does "
                "not suffer from this constraint …",
            },
            "file": "claims/mos_rank.yaml", "digest": key_of("claim"), "design": "independent",
        },
        "scale": {"name": "quick", "notice": QUICK},
        "verdict": {
            "validity": "VALID", "validity_reason": "All 15 runs are there, and every control passed.",
            "conclusion": "CONFIRMED", "agreement": "NOT-CHECKABLE",
            "agreement_reason": "Only the paper scale can be compared with the printed numbers.",
            "flags": [{"kind": "tolerance", "text": "At ten times Press's threshold the ratio is 9.97, "
                       "just under the declared 10."}],
            "sentence": "In every seed the rank of MoS is more than ten times that of MoC: 791 to 830 "
            "against 34.",
            "expected": "", "expected_why": "", "as_expected": True,
        },
        "measurements": [MEASUREMENTS[RANK], MEASUREMENTS[PPL]],
        "results": [ratio, bound, separation],
        "arms": rank_arms(),
        "canaries": [
            {"id": "synthetic_matrix", "statement": "A synthetic matrix of rank 48 has rank 48.",
             "expected": "48", "measured": "48", "state": "passed"},
            {"id": "softmax_bound", "statement": "No Softmax rank exceeds d + 2.",
             "expected": "at most 34", "measured": "34 in all 5 seeds", "state": "passed"},
        ],
        "curves": [
            curve("softmax", [36, 34, 34, 34, 34, 34, 34, 34, 33], 0),
            curve("moc", [35, 34, 34, 34, 34, 34, 34, 34, 34], 0),
            curve("mos", [1000, 1000, 988, 905, 797, 660, 540, 431, 339], 8),
        ],
        "published": [
            {
                "expectation": "far_above_moc", "locator": "Table 5", "p": None,
                "arms": [{"arm": "softmax", "mean": "400", "sd": None, "n": None},
                         {"arm": "moc", "mean": "280", "sd": None, "n": 1},
                         {"arm": "mos", "mean": "9981", "sd": None, "n": 1}],
                "agreement": "NOT-CHECKABLE",
                "reason": "The quick scale is not the paper's experiment.",
            }
        ],
        "changes": [
            {"text": "The bench scale trains on Penn Treebank itself: about half an hour on two cores.",
             "command": "repro verify claims/mos_rank.yaml --scale bench"},
            {"text": "A lower least ratio would not change the verdict.", "command": None},
        ],
        "provenance": provenance(),
    }  # fmt: skip


def provenance() -> dict[str, Any]:
    """A machine."""
    return {
        "created": "2026-11-21T13:30:00+00:00", "repro_version": "0.1.0", "python": "3.11.7",
        "packages": {"numpy": "2.4.1", "torch": "2.13.0", "scipy": "1.17.0"},
        "platform": "Linux 6.1 x86_64, glibc 2.36", "processor": "Intel Xeon", "cores": 2,
        "devices": ["cpu"], "threads_per_run": 1,
        "run_seconds": {key_of(a, i): 14.5 + i for a in ("softmax", "moc", "mos") for i in range(5)},
        "command": "repro verify claims/mos_rank.yaml",
    }  # fmt: skip


def verdict(**changes: Any) -> dict[str, Any]:
    """The verdict of `base`, changed."""
    given: dict[str, Any] = base()["verdict"]
    return {**given, **changes}


def claim(
    name: str, title: str, quote: str, locator: str, paper: str = "Parthiban et al. 2021"
) -> Any:
    """A claim of another paper."""
    return {
        "id": name, "title": title, "file": f"claims/{name}.yaml", "digest": key_of(name),
        "design": "independent",
        "source": {"paper": "parthiban2021", "citation": paper, "locator": locator, "quote": quote},
    }  # fmt: skip


def with_nights(document: Document) -> Document:
    """The same, which came to something else until the day before, and to itself since then."""
    last = datetime.fromisoformat(document.provenance.created)
    now = document.verdict.conclusion
    other = "CONFIRMED" if now != "CONFIRMED" else "INCONCLUSIVE"
    kept: dict[str, Any] = {
        "validity": document.verdict.validity, "agreement": document.verdict.agreement,
        "expected": "", "as_expected": True, "numbers": [], "claim": document.claim.digest,
    }  # fmt: skip
    verdicts = [
        {**kept, "validity": "VALID", "created": (last - timedelta(days=6)).isoformat(), "conclusion": other},
        {**kept, "created": (last - timedelta(days=1)).isoformat(), "conclusion": now,
         "changed": [{"kind": "runs", "text": "two seeds were added"}]},
    ]  # fmt: skip
    whole = json.loads(document.model_dump_json(by_alias=True))
    whole["provenance"]["history"] = {"verdicts": verdicts, "news": False}
    return Document.model_validate_json(json.dumps(whole))
