"""Tables as papers and repositories print them: names, bold, units and heads that mislead."""

from __future__ import annotations

import pytest

from repro.errors import SpecError
from tests.audit.printed import audited, welch

FIVE = "\nmean ± std over 5 seeds\n"


def piped(*rows):
    """A Markdown table of these rows, cells between commas."""
    head, *body = (f"| {' | '.join(row.split(', '))} |\n" for row in rows)
    return head + "|---" * (rows[0].count(",") + 1) + "|\n" + "".join(body)


def p_of(rows):
    return {name: row.p_welch for name, row in rows.items()}


def test_a_letter_or_ns_at_the_end_of_a_name_is_part_of_it(tmp_path):
    body = "a2c, 93.4±0.2", "GPT-2a, 94.4±0.3", "GPT-2b, 91.0±0.3", "DS-3 ns, 95.0±0.4"
    rows, _ = audited(tmp_path, piped("Method, Return", *body) + FIVE)
    assert p_of(rows) == {
        "DS-3 ns vs a2c, Return": pytest.approx(welch((95.0, 0.4, 5), (93.4, 0.2, 5))),
        "DS-3 ns vs GPT-2a, Return": pytest.approx(welch((95.0, 0.4, 5), (94.4, 0.3, 5))),
        "DS-3 ns vs GPT-2b, Return": pytest.approx(welch((95.0, 0.4, 5), (91.0, 0.3, 5))),
    }


@pytest.mark.parametrize(
    "note",
    ["Means with the same letter do not differ.", "a: of 2020; b: ours", "a as reported. b ours"],
)
def test_a_letter_behind_a_value_is_a_footnote_where_a_note_says_it(tmp_path, note):
    text = piped("Method, Loss", "Base, 14.0 ± 0.5 a", "Ours, 12.0 ± 0.5b") + FIVE
    (row,) = audited(tmp_path, f"{text}{note}\n")[0].values()
    assert row.p_welch == pytest.approx(welch((12.0, 0.5, 5), (14.0, 0.5, 5)))
    with pytest.raises(SpecError, match="is not a number"):
        audited(tmp_path, text)


def test_bold_of_one_method_is_not_the_best(tmp_path):
    """97.5 in bold is the lowest of A, and the author's own; nobody says that lower is better."""
    cells = (
        "CLIP, 97.9±0.3, 83.1±1.6",
        "CLS, 98.7±0.1, 83.4±1.2",
        "Ours, {}97.5±0.2{}, {}90.8±1.7{}",
    )
    text = piped("Method, A, B", *cells) + FIVE
    rows, said = audited(tmp_path, text.replace("{}", "**"))
    assert set(rows) == {
        f"{pair}, {column}"
        for pair in ("CLIP vs CLS", "CLIP vs Ours", "CLS vs Ours")
        for column in "AB"
    }
    assert rows["CLIP vs CLS, A"].p_welch == pytest.approx(welch((97.9, 0.3, 5), (98.7, 0.1, 5)))
    assert "All that is bold is of one method" in said
    assert "Hsu" not in said
    assert "CLS is the best" in audited(tmp_path, text.replace("{}", ""), better="higher")[1]


@pytest.mark.parametrize(
    ("name", "values", "doubt"),
    [
        ("**Ours**", "**90.0±0.2**, 1.0±0.1", ""),
        ("Ours", "**90.0±0.2**, 1.0±0.1", "Lower is taken to be better in A, by what is in bold"),
        ("Ours", "**90.0±0.2**, 4.0±0.1", "Bold is on the highest here and on the lowest there"),
    ],
)
def test_bold_says_one_direction_and_which(tmp_path, name, values, doubt):
    other = "**5.0±0.1**" if "4.0" in values else "2.0±0.1"
    text = piped(
        "Method, A, B", "X, 93.0±0.2, 3.0±0.1", f"Y, 94.0±0.2, {other}", f"{name}, {values}"
    )
    rows, said = audited(tmp_path, text + FIVE)
    assert doubt in said
    taken = "Lower is" in said
    assert ("X vs Y, A" in rows) != taken
