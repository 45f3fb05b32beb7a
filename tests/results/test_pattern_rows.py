"""Numbers in the lines of a text, whatever the pattern and the lines are."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from repro.errors import DataError, ReadingError
from repro.results import pattern_rows
from repro.results.paths import column_expression
from repro.results.pattern_rows import PatternRows
from repro.results.series import Row
from repro.specs.load import load_claim
from repro.trainers.command.one_run import finished
from repro.trainers.command.results import rows_of
from repro.trainers.command.spec import Results
from repro.trainers.command.trainer import read_run as read
from tests.evidence.test_imports import files, refused, written
from tests.trainers.command.toy import CLAIM

LOSS = r"loss=(?P<loss>\S+)"
HOSTILE = "^(?P<a>(a+)+)$"
"""On a line of so many a and another letter it takes two times as long for each a more."""

LINE = 40 * "a" + "!"


@pytest.fixture
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_rows, "SECONDS", 1)


def rows_in(pattern: str, *lines: str, most: int = 1_000) -> list[dict[str, float | None]]:
    with PatternRows(pattern, most=most) as search:
        for line in lines:
            search(line)
        return search.rows


def test_each_line_with_the_pattern_is_a_row() -> None:
    lines = ("loss=1", "", "no", "é loss=2.5\r", "loss=nan", "loss=soon \0")
    assert rows_in(LOSS, *lines) == [{"loss": 1.0}, {"loss": 2.5}, {"loss": None}, {}]
    assert rows_in(r"\x00(?P<loss>\d)|é(?P<b>\d)", "\0" + "4", "é5") == [{"loss": 4.0}, {"b": 5.0}]
    assert rows_in(LOSS) == []


def test_more_lines_than_are_read_are_refused() -> None:
    """The last of those that are read is not the last one."""
    lines = [f"loss={number}" for number in range(11)]
    assert len(rows_in(LOSS, *lines[1:], "nothing", most=10)) == 10
    with pytest.raises(DataError, match="in more than 10 lines"):
        rows_in(LOSS, *lines, most=10)


@pytest.mark.usefixtures("_hurried")
@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (HOSTILE, LINE),
        ("(?P<a>a|aa)+$", 100 * "a" + "!"),
        ("(?P<a>.*).*.*.*.*x", 9_000 * "a"),
        (r"(?P<a>\s*)+\d", 9_000 * " "),
    ],
)
def test_a_pattern_without_an_end_is_ended(pattern: str, line: str) -> None:
    began = time.process_time()
    with pytest.raises(DataError, match="searched without an end in line 2\n") as error:
        rows_in(pattern, "x", line, *(["later"] * 100_000))
    assert time.process_time() - began < 5, "it is not this process that searches"
    assert "at most 1 seconds of computing" in str(error.value)
    assert "repeats inside of repeats" in str(error.value)


@pytest.mark.usefixtures("_hurried")
def test_many_lines_that_are_slow_together_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="searched without an end in line"):
        rows_in(HOSTILE, *([19 * "a" + "!"] * 2_000))


def test_a_line_that_is_never_taken_does_not_hold_up_the_answer() -> None:
    """What tells the lines is another thread, which waits as long as the search does."""
    with PatternRows(HOSTILE) as search:

        def tell() -> None:
            for line in (LINE, *[1_000 * "b"] * 1_000):
                search(line)

        telling = threading.Thread(target=tell, daemon=True)
        telling.start()
        telling.join(0.5)
        with pytest.raises(DataError, match="more slowly than lines are printed"):
            _ = search.rows
    telling.join(20)
    assert not telling.is_alive()


@pytest.mark.usefixtures("_hurried")
def test_a_log_that_is_imported(tmp_path: Path) -> None:
    written(tmp_path, "1.log", f"a\n{LINE}\n")
    said = refused(files(tmp_path, "{seed}.log", "a", f", pattern: '{HOSTILE}'"))
    assert "1.log: the pattern is searched without an end in line 2" in said


@pytest.mark.usefixtures("_hurried")
def test_a_log_that_a_program_wrote(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"a\n{LINE}\n", encoding="utf-8")
    results = Results(log="{out}/log", pattern=HOSTILE)
    with pytest.raises(DataError, match="searched without an end in line 2"):
        rows_of(results, {"out": str(tmp_path)}, tmp_path)


@pytest.mark.usefixtures("_hurried")
def test_what_a_program_prints(tmp_path: Path) -> None:
    """It cannot be read so, and is kept; its program is not held up for good."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(
        f"print('a\\n{LINE}', flush=True)", encoding="utf-8"
    )
    text = CLAIM.replace('{file: "{out}/results.json"}', f"{{stdout: '{HOSTILE}'}}")
    (tmp_path / "a.claim.yaml").write_text(
        text.replace("from: eval.error", "from: a, reduce: last")
    )
    claim = load_claim(tmp_path / "a.claim.yaml", "quick", allow_code=True)
    (tmp_path / "place").mkdir()
    run = claim.run("adam", 1337)
    left = finished(run, tmp_path / "place")
    with pytest.raises(ReadingError, match="searched without an end in line 2"):
        read(run, left.files)


def test_names_of_columns_take_no_time_however_long() -> None:
    pattern = column_expression("{a}-{b}-{c}-{d}-{e}-{f}-{g} - error")
    began = time.process_time()
    assert re.fullmatch(pattern, 1_000 * "-x") is None
    assert time.process_time() - began < 1
    found = re.fullmatch(column_expression("{arm}-{seed} - error"), "mix-up-0-7 - error")
    assert found is not None
    assert found.groupdict() == {"arm": "mix", "seed": "up-0-7"}
    assert re.fullmatch(column_expression("x{a}{b}y"), "x12yy").groups() == ("1", "2y")  # type: ignore[union-attr]


def test_a_pattern_may_find_decimal_commas() -> None:
    """Where one of them can be no thousand; `1,234` beside numbers without a comma is refused."""

    def found(*lines: str) -> list[Row]:
        with PatternRows(r"loss (?P<loss>\S+)") as search:
            for line in lines:
                search(line)
            return search.rows

    assert found("loss 9,880", "loss 0,912") == [{"loss": 9.88}, {"loss": 0.912}]
    assert found("loss 91.2%") == [{"loss": 91.2}]
    for lines in (("loss 999", "loss 1,234"), ("loss 91.2%", "loss 0.912")):
        with pytest.raises(DataError, match="the pattern finds what cannot be read"):
            found(*lines)
    with pytest.raises(DataError, match="'1,234' of 'loss', which may be one number or another"):
        found("loss 1,234")
