"""Parts of documents about how a judgement was reached: analyses, looks, designs, families."""

# ruff: noqa: E501 - texts read better in one piece

from __future__ import annotations

import math
from typing import Any

from tests.report.documents import key_of


def analysis(choice: str, name: str, **changes: Any) -> dict[str, Any]:
    """One row of a specification curve."""
    return {
        "choice": choice, "name": name, "effect": None, "low": None, "high": None, "p": None,
        "conclusion": "CONFIRMED", "refused": "", "declared": choice == "declared", **changes,
    }  # fmt: skip


def few_analyses() -> dict[str, Any]:
    """Eight analyses of the ratio of ranks: other units, a refusal, another conclusion."""
    return {
        "expectation": "far_above_moc",
        "analyses": [
            analysis("declared", "as declared: Welch's t on logarithms, one-sided",
                     effect=23.58, low=23.1, p=2.0e-11),
            analysis("test", "Brunner-Munzel test (ranks)", p=0.0079),
            analysis("test", "Yuen's test (trimmed means)", conclusion=None,
                     refused="five seeds leave three after trimming; four are needed"),
            analysis("scale", "on logarithms, shown as the ratio that it means at the mean of the other arm",
                     effect=23.6, low=22.8, high=24.4, p=3.4e-10),
            analysis("tolerance", "at a tenth of Press's threshold", effect=26.7, low=26.1, p=1e-12),
            analysis("tolerance", "at ten times Press's threshold", effect=9.97, low=9.2,
                     conclusion="INCONCLUSIVE", p=0.51),
            analysis("seed", "without seed 0 of MoS, K = 4", effect=23.6, p=8e-9),
            analysis("measurement", "on the valid rank", effect=23.4, low=None, high=24.0, p=1e-10),
        ],
    }  # fmt: skip


def many_analyses(expectation: str) -> dict[str, Any]:
    """Sixty analyses, most of them without one seed of a long-named arm."""
    rows = [
        analysis("declared", "as declared: Welch's t", effect=0.31, low=0.08, high=0.54, p=0.011)
    ]
    rows += [
        analysis("test", name, effect=0.31, low=low, high=0.62 - low, p=p, conclusion=word)
        for name, low, p, word in (
            ("Student's t-test (equal variances)", 0.085, 0.0092, "CONFIRMED"),
            ("permutation of Welch's t", 0.07, 0.013, "CONFIRMED"),
            ("Yuen's test (trimmed means)", -0.02, 0.064, "INCONCLUSIVE"),
        )
    ]
    rows += [
        analysis("seed", f"without seed {i % 28} of {'Softmax' if i < 28 else 'LMS-PLIF, slopes frozen'}",
                 effect=0.31 + 0.06 * math.sin(i), low=0.06 + 0.08 * math.sin(i),
                 high=0.55 + 0.05 * math.sin(i), p=0.011 + 0.005 * math.sin(i) ** 2,
                 conclusion="INCONCLUSIVE" if i in (5, 11) else "CONFIRMED")
        for i in range(56)
    ]  # fmt: skip
    return {"expectation": expectation, "analyses": rows}


def design(expectation: str, **changes: Any) -> dict[str, Any]:
    """What a design could find."""
    return {
        "expectation": expectation, "seeds": 5, "sd": [0.15, 0.15], "assumed_effect": "0.3",
        "sd_source": "Table 4 of Parthiban et al. 2021, the larger of both", "power": 0.8123,
        "minimum_detectable": 0.295, "seeds_80": 5, "seeds_90": 7, "note": "", "refused": "", **changes,
    }  # fmt: skip


def registration(state: str = "before", *edits: tuple[list[str], bool], earlier: int = 0) -> Any:
    """When a claim was declared, and its changes as (fields, after results)."""
    return {
        "state": state, "digest": key_of("registered"), "earlier_processes": earlier,
        "edits": [{"paths": paths, "after_results": late} for paths, late in edits],
    }  # fmt: skip


def look(seeds: int, e: float | None, **changes: Any) -> dict[str, Any]:
    """One look at the seeds so far."""
    p = min(1.0, 1 / e) if e else 1.0
    return {"seeds": seeds, "e": e, "p": p, "low": None, "high": None,
            "conclusion": "INCONCLUSIVE", **changes}  # fmt: skip


def sixty_looks(expectation: str, centre: float = 0.5) -> dict[str, Any]:
    """An e-process that crosses its bound at 34 of 62 seeds."""
    looks = []
    for n in range(3, 63):
        half = 9.0 / (n - 2) ** 1.2 + 0.22
        looks.append(look(
            n, math.exp(0.0971 * (n - 3) + 0.6 * math.sin(n) - 0.4), low=centre - half, high=centre + half,
            conclusion="CONFIRMED" if n >= 34 else "INCONCLUSIVE"))  # fmt: skip
    looks[0] |= {"low": None, "high": None, "e": None, "p": 1.0}
    return {
        "expectation": expectation, "method": "eprocess_t", "bound": 20.0, "looks": looks,
        "crossing": 34, "stop": "confirmed", "sensitivity": {"g 0.25": 131.0, "g 1": 310.4, "g 4": 2.4e7},
    }  # fmt: skip


def planned_looks(expectation: str) -> dict[str, Any]:
    """Three planned looks by O'Brien and Fleming, not decided."""
    looks = [look(n, None, p=p, low=low, high=1.1 - n / 30)
             for n, p, low in ((5, 0.31, -2.4), (10, 0.12, -1.6), (15, 0.058, -0.9))]  # fmt: skip
    return {
        "expectation": expectation, "method": "group_obf", "bound": 0.0451, "looks": looks,
        "crossing": None, "stop": "futile", "sensitivity": {},
    }  # fmt: skip


def replication(scale: str = "difference", **changes: Any) -> dict[str, Any]:
    """Every measure of replication."""
    given = {
        "scale": scale, "original": -0.06, "ours": 0.11, "prediction": [-0.31, 0.19], "inside": True,
        "effect_ratio": -1.83, "effect_ratio_low": None, "effect_ratio_high": 1.4, "same_sign": False,
        "significant": False, "original_in_interval": True, "detectable": -0.12, "telescope_p": 0.021,
        "sceptical_nominal": 0.62, "sceptical_golden": 0.58, "sceptical_controlled": 0.55,
        "pooled": 0.02, "pooled_low": -0.09, "pooled_high": 0.13, "q": 2.31, "q_p": 0.14,
        "notes": ["The paper prints no seeds, so its scatter is taken as printed."],
    }  # fmt: skip
    return {**given, **changes}


def family(method: str = "holm") -> dict[str, Any]:
    """Four claims, one of them not judged yet."""
    values = {"holm": (0.0031, 0.0124), "bh": (0.0031, 0.0124), "e_bh": (412.5, 103.1)}[method]
    members = [
        {"claim": "mos_rank", "judged": True, "value": values[0], "adjusted": values[1]},
        {"claim": "fair_mos", "judged": True, "value": 0.62, "adjusted": 1.0},
        {"claim": "gss_on_wt2", "judged": True, "value": 0.031, "adjusted": 0.093},
        {
            "claim": "lms_plif_regularization_on_wt2",
            "judged": False,
            "value": None,
            "adjusted": None,
        },
    ]
    return {"name": "parthiban2021-tables", "method": method,
            "why": "The paper draws one conclusion from all of them.", "members": members}  # fmt: skip
