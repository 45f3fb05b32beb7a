"""Numbers as people write them in tables and logs: each form is read, or refused in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import repro
from tests.drafting.test_compare import MIXUP, PLAIN, VALUES
from tests.drafting.test_published_forms import compared, is_read, is_refused, write


def table(
    written: Callable[[float], str] = str, separator: str = ",", *, above: str = "", more: str = ""
) -> str:
    rows = (separator.join((arm, str(seed), written(v))) for arm, seed, v in VALUES)
    header = separator.join(("method", "seed", "error"))
    Path("results.csv").write_text(above + "\n".join((header, *rows)) + f"\n{more}")
    return "results.csv"


def comma(value: float) -> str:
    return str(value).replace(".", ",")


def three_digits(value: float) -> str:
    return f"{value:.3f}".replace(".", ",")


@pytest.mark.parametrize(
    ("written", "separator", "said"),
    [
        (comma, ";", "decimal commas are read as points"),
        (comma, "\t", "decimal commas are read as points"),
        (three_digits, ";", "decimal commas are read as points"),
        (lambda value: f"{value}%", ",", "numbers with a percent sign are in percent"),
        (lambda value: f"{comma(value)} %", ";", "numbers with a percent sign are in percent"),
    ],
)
def test_a_table_of_numbers_as_they_are_written(
    written: Callable[[float], str], separator: str, said: str
) -> None:
    is_read(compared(results=table(written, separator)), said)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_tidy_table_with_decimal_commas_is_its_own_evidence(separator: str) -> None:
    """The claim reads it as it is."""
    rows = (separator.join((a, str(s), "error", f"{comma(v)}%")) for a, s, v in VALUES)
    header = separator.join(("arm", "seed", "measurement", "value"))
    Path("results.csv").write_text("\n".join((header, *rows)))
    is_read(compared(results="results.csv"))
    assert "table: results.csv" in Path("mixup_vs_plain.claim.yaml").read_text()


@pytest.mark.parametrize(
    ("written", "separator", "words"),
    [
        (three_digits, "\t", "'4,210' is not a finite number"),
        (lambda value: f'"{comma(value)}"', ",", "'4,21' is not a finite number"),
        (lambda value: f"{value * 220:,.0f}", ";", "'1,093' is not a finite number"),
        (lambda value: f"{value}%" if value < 4.5 else str(value / 100), ",", "and numbers with"),
        (lambda value: f"{int(value * 1000):_}", ",", "'4_210' is not a finite number"),
        (lambda _: "\N{ARABIC-INDIC DIGIT FOUR}", ",", "no number is in every arm"),
        (lambda value: f"{value} ± 0.3", ",", "is a printed mean"),
        (lambda value: f"{value} (0.3)", ",", "is a printed mean"),
    ],
)
def test_what_may_mean_something_else_is_refused(
    written: Callable[[float], str], separator: str, words: str
) -> None:
    """`4,210` alone may be four thousand."""
    is_refused(compared(results=table(written, separator)), words)


def test_percent_in_one_file_and_fractions_in_another_are_refused() -> None:
    for ending, text in (("json", '{{"error": "{}"}}'), ("log", "error: {}\n")):
        for arm, seed, value in VALUES:
            shown = f"{value}%" if arm == "mixup" else str(value / 100)
            write({f"{ending}/{arm}/seed_{seed}.{ending}": text.format(shown)})
        is_refused(compared(results=ending), "some numbers have a percent sign, and others none")
    rows = (f"{a}%,{b / 100}" for a, b in zip(MIXUP, PLAIN, strict=True))
    write({"wide.csv": "\n".join(("mixup,plain", *rows))})
    is_refused(compared(results="wide.csv"), "some numbers have a percent sign, and others none")


@pytest.mark.parametrize("ending", ["tsv", "log"])
def test_a_series_does_not_end_before_a_number_that_cannot_be_read(ending: str) -> None:
    """999 was its last value, for `1,200` was none."""
    text = "step=1\terror=999\nstep=2\terror=1,200\n"
    if ending == "tsv":
        text = "step\terror\n1\t999\n2\t1,200\n"
    write({f"{arm}/seed_{seed}.{ending}": text for arm, seed, _ in VALUES})
    is_refused(compared(), "'1,200' of 'error' is not a number")


def test_logs_with_decimal_commas() -> None:
    text = "step=1 error=9,9\nstep=2 error={}\n"
    write({f"{a}/seed_{s}.log": text.format(comma(v)) for a, s, v in VALUES})
    is_read(compared(), "the last value of each run")


# what stands above a table


@pytest.mark.parametrize("above", ["# made by hand\n# lr=0.1, wd=2\n\n", "\ufeff# one\n"])
def test_comments_above_the_header_are_left_out(above: str) -> None:
    is_read(compared(results=table(above=above)), "lines above the header that begin with # are")


@pytest.mark.parametrize("header", ["# seed,mixup,plain", "#seed,mixup,plain", "#,mixup,plain"])
def test_a_header_may_begin_with_a_mark_of_comments(header: str) -> None:
    rows = (f"{n},{a},{b}" for n, (a, b) in enumerate(zip(MIXUP, PLAIN, strict=True)))
    write({"results.csv": "\n".join(("# by numpy", header, *rows))})
    is_read(compared(results="results.csv"), "a column per arm: mixup, plain")


@pytest.mark.parametrize("above", ["# made by hand\n", "#"])
def test_a_tidy_table_below_a_comment_is_its_own_evidence(above: str) -> None:
    """The claim reads it as it is, and names its mistakes by the lines of the file."""
    rows = (f"{arm},{seed},error,{value}" for arm, seed, value in VALUES)
    text = above + "\n".join(("arm,seed,measurement,value", *rows))
    write({"results.csv": text})
    is_read(compared(results="results.csv"))
    write({"results.csv": f"{text}\nmixup,5,error,x\n"})
    done = repro("verify", "mixup_vs_plain.claim.yaml")
    assert f"results.csv:{12 + above.count(chr(10))}:15: row " in done.stderr


def test_a_row_that_is_commented_out_is_asked_about() -> None:
    is_refused(compared(results=table(more="#mixup,5,9.9\n")), "line 12 begins with #")


@pytest.mark.parametrize("rows", ["mixup,0,4.2\nmixup,1,4.3\nplain,0,5\n", "0,1000,12.3\n1,9,8\n"])
def test_a_table_without_a_header_is_refused(rows: str) -> None:
    write({"results.csv": rows})
    is_refused(compared(results="results.csv"), "names no columns", "write a header above it")


# why no number fits


def test_an_arm_without_a_value_is_named_with_its_cells() -> None:
    more = "".join(f"third,{seed},NA\n" for seed in range(6))
    for options in ((), ("--measure", "error")):
        done = compared(*options, results=table(more=more))
        is_refused(done, "arm 'third' has no value of 'error': NA in 6 cells")


def test_runs_that_failed_after_their_end_have_a_way_out() -> None:
    rows = [f"{a},{s},{v},{'crashed' if s == 1 else 'finished'}" for a, s, v in VALUES]
    write({"results.csv": "\n".join(("arm,seed,error,State", *rows))})
    done = compared(results="results.csv")
    assert "if these ended after their last step, compare without that column" in done.stdout
    write({"without.csv": "\n".join(row.rpartition(",")[0] for row in ("arm,seed,error,", *rows))})
    assert repro("compare", "without.csv", "--better", "lower", "--out", "second").returncode == 0


def test_spaces_after_commas_are_no_part_of_names_and_cells() -> None:
    rows = [f"{a}, {s}, {v}" for a, s, v in VALUES]
    write({"results.csv": "\n".join(("arm, seed, error", *rows))})
    done = compared(results="results.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mixup_vs_plain: VALID, CONFIRMED" in done.stdout


def test_a_number_that_no_arm_lacks_is_offered_or_none() -> None:
    rows = [f"{a},{s},{v}" for a, s, v in VALUES]
    rows += [f"cutmix,{s},NA" for s in range(5)]
    write({"results.csv": "\n".join(("arm,seed,error", *rows))})
    said = compared(results="results.csv").stderr
    assert "results.csv: arm 'cutmix' has no value of 'error': NA in 5 cells" in said
    assert said.rstrip().endswith("to do: leave that arm out")


def test_truth_values_are_to_be_written_as_numbers() -> None:
    rows = [f"{a},{s},{'True' if v < 4.6 else 'False'}" for a, s, v in VALUES]
    write({"results.csv": "\n".join(("arm,question_id,correct", *rows))})
    said = compared("--measure", "correct", results="results.csv").stderr
    assert "no number stands in 'correct'" in said
    assert said.rstrip().endswith("to do: write numbers there")


def test_the_place_of_a_cell_is_said_once() -> None:
    rows = [f"{a},{s},{'NA' if (a, s) == ('plain', 3) else v}" for a, s, v in VALUES]
    write({"results.csv": "\n".join(("arm,seed,error", *rows))})
    said = compared(results="results.csv").stderr
    assert "results.csv: row " in said
    assert said.count("results.csv") == 1


@pytest.mark.parametrize("names", [("True", "False"), ("null", "x"), ("true", "yes")])
def test_an_arm_may_be_called_by_a_word_of_yaml(names: tuple[str, str]) -> None:
    """Without quotes `true` is no text, and the claim that was drafted could not be read."""
    first, second = names
    rows = [
        f"{arm},{s},{s * 0.1 + shift}"
        for arm, shift in zip(names, (4, 5), strict=True)
        for s in range(5)
    ]
    Path("results.csv").write_text("\n".join(["use_ema,seed,error", *rows]) + "\n")
    done = repro("compare", "results.csv", "--better", "lower", "--baseline", second)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Error: {first} is 1.00 lower than {second}. Better, as claimed." in done.stdout


def test_blanks_behind_a_name_make_no_second_arm() -> None:
    """As blanks before it do not; else the baseline would have 3 of its 5 seeds, and a rival."""
    rows = [f"{arm}{' ' * (seed > 2)},{seed},{value} " for arm, seed, value in VALUES]
    Path("results.csv").write_text("\n".join(["method ,seed,error ", *rows]) + "\n")
    done = repro("compare", "results.csv", "--better", "lower", "--arm", "method")
    assert (done.returncode, done.stderr) == (0, "")
    assert "read: n, the seeds per arm: mixup 5, plain 5" in done.stdout
    assert "p = 1.3e-7" in done.stdout
    assert repro("verify", "mixup_vs_plain.claim.yaml").returncode == 0
