"""Every sentence of a result: what was found, what was claimed, what follows, what would settle it.

Examples for each kind of expectation and each conclusion that it can have; their sentences are in
`sentences.txt`, one a line, to be read as a whole.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.judging.made import LOSS, judged, made
from tests.judging.test_kinds import ALIKE, HALF, HIGH, LOW, NEAR, difference, margin

WIDE = (9.0, 11.0, 10.0, 12.0, 8.0)
ABOVE = tuple(value + 0.8 for value in WIDE)
SLIGHTLY = tuple(value + 0.3 for value in WIDE)
LEVEL = (12.75, 9.85, 8.81, 10.82, 11.77)
"""The mean of ABOVE, and no value of it: an arm with the same values is a copy."""
SIZES = {"loss": LOSS, "size": {**LOSS, "label": "size"}}
ALONE = {"arms": "a", "measurements": SIZES}
GROWS = {"loss": (1.0, 1.5, 3.2, 3.9, 5.4, 5.8), "size": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)}
LOOSE = {"loss": (3.0, 1.5, 2.2, 3.9, 2.4, 3.8), "size": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)}
FALLS = {"loss": GROWS["loss"][::-1], "size": GROWS["size"]}
ORDER = "finished"
"""The column that says that seeds came in this order, as looks need it."""

NIGHTLY = {"sequential": {"method": "eprocess_t"}, "seeds": {"min": 4, "plan": 4, "max": 30}}


def smallest(**more: Any) -> dict[str, Any]:
    return difference(smallest_effect=HALF, **more)


def times(kind: str, least: float, of: str = "ba") -> dict[str, Any]:
    return {"kind": kind, "of": list(of), "at_least": {"value": least, "why": "so many times"}}


def bound(most: float, share: float | None = None) -> dict[str, Any]:
    limit = {"kind": "bound", "of": ["a"], "at_most": {"value": most, "why": "a declared bound"}}
    return (
        limit if share is None else {**limit, "share": {"value": share, "why": "so large a share"}}
    )


def along(kind: str, direction: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "of": ["a", "b", "c"], "direction": direction, **more}


def together(**more: Any) -> dict[str, Any]:
    return {"kind": "association", "of": ["a"], "against": "size", "points": "replicates", **more}


def wins(clusters: Any = "none") -> dict[str, Any]:
    return {"kind": "proportion", "of": ["a", "b"], "clusters": clusters}


def size(kind: str, value: float) -> dict[str, Any]:
    return together(**{f"magnitude_at_{kind}": {"value": value, "why": "a declared size"}})


Example = tuple[dict[str, Any], Any, Any, dict[str, Any]]
EXAMPLES: dict[str, Example] = {
    "difference: LOW against HIGH": (difference(), LOW, HIGH, {}),
    "difference higher: LOW against HIGH": (difference(direction="higher"), LOW, HIGH, {}),
    "difference: WIDE against ABOVE": (difference(), WIDE, ABOVE, {}),
    "difference higher: WIDE against ABOVE": (difference(direction="higher"), WIDE, ABOVE, {}),
    "difference: LOW against LOW reversed": (difference(), LOW, LOW[::-1], {}),
    "difference different: LOW against HIGH": (difference(direction="different"), LOW, HIGH, {}),
    "difference different: WIDE against ABOVE": (
        difference(direction="different"),
        WIDE,
        ABOVE,
        {},
    ),
    "difference permutation: WIDE against ABOVE": (difference("permutation"), WIDE, ABOVE, {}),
    "difference brunner_munzel: LOW against HIGH": (difference("brunner_munzel"), LOW, HIGH, {}),
    "difference brunner_munzel higher: LOW against HIGH": (
        difference("brunner_munzel", "higher"),
        LOW,
        HIGH,
        {},
    ),
    "difference brunner_munzel: WIDE against ABOVE": (
        difference("brunner_munzel"),
        WIDE,
        ABOVE,
        {},
    ),
    "difference yuen: WIDE against ABOVE": (difference("yuen"), WIDE, ABOVE, {}),
    "difference by 0.5: LOW against HIGH": (smallest(), LOW, HIGH, {}),
    "difference by 0.5: LOWx4 against NEARx4": (smallest(), LOW * 4, NEAR * 4, {}),
    "difference by 0.5: HIGH against LOW": (smallest(), HIGH, LOW, {}),
    "difference by 0.5: LOWx4 against ALIKEx4": (smallest(), LOW * 4, ALIKE * 4, {}),
    "difference by 0.5: LOW against NEAR": (smallest(), LOW, NEAR, {}),
    "difference by 0.5: WIDE against ABOVE": (smallest(), WIDE, ABOVE, {}),
    "difference by 0.5: ABOVE against WIDE": (smallest(), ABOVE, WIDE, {}),
    "equivalence: LOWx4 against ALIKEx4": (margin("equivalence"), LOW * 4, ALIKE * 4, {}),
    "equivalence: LOWx4 against NEARx4": (margin("equivalence"), LOW * 4, NEAR * 4, {}),
    "equivalence: LOW against HIGH": (margin("equivalence"), LOW, HIGH, {}),
    "equivalence: WIDE against SLIGHTLY": (margin("equivalence"), WIDE, SLIGHTLY, {}),
    "equivalence: WIDE against ABOVE": (margin("equivalence"), WIDE, ABOVE, {}),
    "equivalence relative 0.05: HIGH against LOW": (
        margin("equivalence", {"relative": 0.05, "why": "five per cent"}),
        HIGH,
        LOW,
        {},
    ),
    "non_superiority: LOW against HIGH": (margin("non_superiority"), LOW, HIGH, {}),
    "non_superiority: HIGH against LOW": (margin("non_superiority"), HIGH, LOW, {}),
    "non_superiority: LOWx4 against ALIKEx4": (margin("non_superiority"), LOW * 4, ALIKE * 4, {}),
    "non_superiority: WIDE against SLIGHTLY": (margin("non_superiority"), WIDE, SLIGHTLY, {}),
    "non_superiority: WIDE against ABOVE": (margin("non_superiority"), WIDE, ABOVE, {}),
    "non_superiority: ABOVE against WIDE": (margin("non_superiority"), ABOVE, WIDE, {}),
    "non_inferiority: LOW against HIGH": (margin("non_inferiority"), LOW, HIGH, {}),
    "non_inferiority: HIGH against LOW": (margin("non_inferiority"), HIGH, LOW, {}),
    "non_inferiority: LOWx4 against ALIKEx4": (margin("non_inferiority"), LOW * 4, ALIKE * 4, {}),
    "non_inferiority: WIDE against SLIGHTLY": (margin("non_inferiority"), WIDE, SLIGHTLY, {}),
    "non_inferiority: WIDE against ABOVE": (margin("non_inferiority"), WIDE, ABOVE, {}),
    "non_inferiority: ABOVE against WIDE": (margin("non_inferiority"), ABOVE, WIDE, {}),
    "ratio 1.1: LOW against HIGH": (times("ratio", 1.1), LOW, HIGH, {}),
    "ratio 1.3: LOW against HIGH": (times("ratio", 1.3), LOW, HIGH, {}),
    "ratio 1.2: LOW against HIGH": (times("ratio", 1.2), LOW, HIGH, {}),
    "ratio 1.21: LOW against HIGH": (times("ratio", 1.21), LOW, HIGH, {}),
    "separation 1: LOW against HIGH": (times("separation", 1), LOW, HIGH, {}),
    "separation 1.1: LOW against HIGH": (times("separation", 1.1), LOW, HIGH, {}),
    "separation 1.1 ab: LOW against HIGH": (times("separation", 1.1, "ab"), LOW, HIGH, {}),
    "separation 1.2: LOW against HIGH": (times("separation", 1.2), LOW, HIGH, {}),
    "bound 11: LOW against HIGH": (bound(11), LOW, HIGH, {}),
    "bound 10.1: LOW against HIGH": (bound(10.1), LOW, HIGH, {}),
    "bound 11 0.5: LOW against HIGH": (bound(11, 0.5), LOW, HIGH, {}),
    "bound 11 0.9: LOW against HIGH": (bound(11, 0.9), LOW, HIGH, {}),
    "bound 5 0.5: LOW against HIGH": (bound(5, 0.5), LOW, HIGH, {}),
    "association positive: GROWS": (
        together(direction="positive"),
        GROWS,
        None,
        ALONE,
    ),
    "association positive: LOOSE": (
        together(direction="positive"),
        LOOSE,
        None,
        ALONE,
    ),
    "association positive: FALLS": (
        together(direction="positive"),
        FALLS,
        None,
        ALONE,
    ),
    "association negative: LOOSE": (
        together(direction="negative"),
        LOOSE,
        None,
        ALONE,
    ),
    "association different: GROWS": (
        together(direction="different"),
        GROWS,
        None,
        ALONE,
    ),
    "association different: LOOSE": (
        together(direction="different"),
        LOOSE,
        None,
        ALONE,
    ),
    "association at most 0.5: GROWS": (size("most", 0.5), GROWS, None, ALONE),
    "association at least 0.5: GROWS": (size("least", 0.5), GROWS, None, ALONE),
    "association at most 0.5: LOOSE": (size("most", 0.5), LOOSE, None, ALONE),
    "association at least 0.5: LOOSE": (size("least", 0.5), LOOSE, None, ALONE),
    "association at least 0.9: LOOSE": (size("least", 0.9), LOOSE, None, ALONE),
    "association at most 0.999: GROWS": (
        size("most", 0.999),
        GROWS,
        None,
        ALONE,
    ),
    "trend increasing welch: LOW against HIGH": (
        along("trend", "increasing", test="welch"),
        LOW,
        HIGH,
        {"arms": "abc"},
    ),
    "trend decreasing welch: LOW against HIGH": (
        along("trend", "decreasing", test="welch"),
        LOW,
        HIGH,
        {"arms": "abc"},
    ),
    "trend increasing welch: WIDE against ABOVE": (
        along("trend", "increasing", test="welch"),
        WIDE,
        ABOVE,
        {"arms": "abc"},
    ),
    "trend decreasing welch: WIDE against ABOVE": (
        along("trend", "decreasing", test="welch"),
        WIDE,
        ABOVE,
        {"arms": "abc"},
    ),
    "trend increasing jonckheere: LOW against HIGH": (
        along("trend", "increasing", test="jonckheere"),
        LOW,
        HIGH,
        {"arms": "abc"},
    ),
    "trend decreasing jonckheere: LOW against HIGH": (
        along("trend", "decreasing", test="jonckheere"),
        LOW,
        HIGH,
        {"arms": "abc"},
    ),
    "trend increasing jonckheere: WIDE against ABOVE": (
        along("trend", "increasing", test="jonckheere"),
        WIDE,
        ABOVE,
        {"arms": "abc"},
    ),
    "trend decreasing jonckheere: WIDE against ABOVE": (
        along("trend", "decreasing", test="jonckheere"),
        WIDE,
        ABOVE,
        {"arms": "abc"},
    ),
    "trend increasing kendall: LOW against HIGH": (
        along("trend", "increasing", test="kendall"),
        LOW,
        HIGH,
        {"arms": "abc"},
    ),
    "trend decreasing kendall: LOW against HIGH": (
        along("trend", "decreasing", test="kendall"),
        LOW,
        HIGH,
        {"arms": "abc"},
    ),
    "trend increasing kendall: WIDE against ABOVE": (
        along("trend", "increasing", test="kendall"),
        WIDE,
        ABOVE,
        {"arms": "abc"},
    ),
    "trend decreasing kendall: WIDE against ABOVE": (
        along("trend", "decreasing", test="kendall"),
        WIDE,
        ABOVE,
        {"arms": "abc"},
    ),
    "ordering increasing: LOW against HIGH": (
        along("ordering", "increasing"),
        LOW,
        HIGH,
        {"arms": "abc"},
    ),
    "ordering decreasing: LOW against HIGH": (
        along("ordering", "decreasing"),
        LOW,
        HIGH,
        {"arms": "abc"},
    ),
    "ordering increasing: WIDE against ABOVE": (
        along("ordering", "increasing"),
        WIDE,
        ABOVE,
        {"arms": "abc"},
    ),
    "ordering decreasing: WIDE against ABOVE": (
        along("ordering", "decreasing"),
        WIDE,
        ABOVE,
        {"arms": "abc"},
    ),
    "proportion: LOWx2 against HIGHx2": (wins(), LOW * 2, HIGH * 2, {}),
    "proportion 2: HIGHx2 against LOWx2": (wins(2), HIGH * 2, LOW * 2, {}),
    "proportion: LOW against LOW reversed": (wins(), LOW, LOW[::-1], {}),
    "proportion: LOW against (9.0, 9.0, 9.0, 10.3, 9.9)": (
        wins(),
        LOW,
        (9.0, 9.0, 9.0, 10.3, 9.9),
        {},
    ),
    "sequential difference: LOW[:4] against HIGH[:4]": (difference(), LOW[:4], HIGH[:4], NIGHTLY),
    "sequential difference: HIGH against LOW": (difference(), HIGH, LOW, NIGHTLY),
    "sequential difference: WIDE against ABOVE": (difference(), WIDE, ABOVE, NIGHTLY),
    "sequential difference by 0.5: LOW[:4] against HIGH[:4]": (
        smallest(),
        LOW[:4],
        HIGH[:4],
        NIGHTLY,
    ),
    "sequential difference by 0.5: HIGH against LOW": (smallest(), HIGH, LOW, NIGHTLY),
    "sequential difference by 0.5: WIDE against ABOVE": (smallest(), WIDE, ABOVE, NIGHTLY),
    "sequential equivalence: LOW[:4] against HIGH[:4]": (
        margin("equivalence"),
        LOW[:4],
        HIGH[:4],
        NIGHTLY,
    ),
    "sequential equivalence: HIGH against LOW": (margin("equivalence"), HIGH, LOW, NIGHTLY),
    "sequential equivalence: WIDE against ABOVE": (margin("equivalence"), WIDE, ABOVE, NIGHTLY),
    "sequential non_inferiority: LOW[:4] against HIGH[:4]": (
        margin("non_inferiority"),
        LOW[:4],
        HIGH[:4],
        NIGHTLY,
    ),
    "sequential non_inferiority: HIGH against LOW": (margin("non_inferiority"), HIGH, LOW, NIGHTLY),
    "sequential non_inferiority: WIDE against ABOVE": (
        margin("non_inferiority"),
        WIDE,
        ABOVE,
        NIGHTLY,
    ),
    "sequential difference by 0.5: LOWx4 against NEARx4": (smallest(), LOW * 4, NEAR * 4, NIGHTLY),
}


def values_of(example: Example) -> dict[str, Any]:
    """Of three arms the third has the mean of the second, or lies two above where that is HIGH."""
    _, a, b, fields = example
    c = tuple(value + 2 for value in b) if b == HIGH else LEVEL
    values = {"a": a, "b": b, "c": c}
    return {arm: values[arm] for arm in fields.get("arms", "ab")}


def told() -> dict[str, tuple[str, str]]:
    """name of an example -> its conclusion and its sentence."""
    text = (Path(__file__).parent / "sentences.txt").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("#")]
    return {name: (conclusion, sentence) for name, conclusion, sentence in rows}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_sentence_says_what_was_found_and_claimed_and_follows(name: str) -> None:
    """Exactly as in the table of sentences."""
    one, _, _, fields = EXAMPLES[name]
    (found,) = judged(made(one, **fields), values_of(EXAMPLES[name]), order=ORDER).results
    assert (found.conclusion, found.sentence) == told()[name]


def test_every_conclusion_of_every_kind_is_among_them() -> None:
    """Only a smallest effect makes one trivial."""
    assert list(told()) == list(EXAMPLES)
    seen = {(EXAMPLES[name][0]["kind"], conclusion) for name, (conclusion, _) in told().items()}
    kinds = {kind for kind, _ in seen}
    assert len(kinds) == 11
    words = {"CONFIRMED", "CONTRADICTED", "INCONCLUSIVE"}
    assert {(kind, word) for kind in kinds for word in words} | {("difference", "TRIVIAL")} == seen


def test_what_is_open_says_what_would_settle_it() -> None:
    """So many seeds, or none, or that their number is not computed; what is decided does not."""
    for conclusion, sentence in told().values():
        settles = "settle it" in sentence or "planned" in sentence
        assert settles == (conclusion == "INCONCLUSIVE")


@pytest.mark.parametrize("kind", sorted({example[0]["kind"] for example in EXAMPLES.values()}))
def test_any_label_fits_its_sentence(kind: str) -> None:
    """`of with dropout` is no English: a label stands as a subject or after *than*."""
    example = next(each for each in EXAMPLES.values() if each[0]["kind"] == kind)
    one, _, _, fields = example
    labels = {"a": "with dropout", "b": "without dropout", "c": "by hand"}
    values = values_of(example)
    of = made(one, **fields)
    arms = {name: arm.model_copy(update={"label": labels[name]}) for name, arm in of.arms.items()}
    (found,) = judged(of.model_copy(update={"arms": arms}), values).results
    assert "with dropout" in found.sentence + found.statement + found.effect_label
    for text in (found.sentence, found.statement, found.effect_label):
        for label in labels.values():
            assert f"of {label}" not in text
            assert f"in {label}" not in text
