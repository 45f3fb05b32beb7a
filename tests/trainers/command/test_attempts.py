"""A run that was cut off and went on: what of its earlier attempts counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import DataError
from repro.results.series import Row
from repro.trainers.command.attempts import CUTS, Attempts, begun
from repro.trainers.command.results import rows_of
from repro.trainers.command.spec import Results


class Run:
    """The folder of a run, its ``{out}`` and the file of its series."""

    def __init__(self, folder: Path, form: str = "jsonl", step: str = "step") -> None:
        self.folder, self.out, self.step = folder, folder / "out", step
        self.out.mkdir()
        self.file = self.out / "log"
        pattern = {"pattern": r"step=(?P<step>\d+) loss=(?P<loss>\S+)"} if form == "log" else {}
        self.results = Results(**{form: "{out}/log"}, **pattern)
        self.attempts = Attempts()

    def attempt(self, text: str) -> None:
        """One more, which writes so much at the end of the file."""
        self.attempts = begun(self.out, self.folder, self.file, series=self.results.series)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(text)

    def rows(self) -> list[Row]:
        values = {"out": str(self.out)}
        return rows_of(self.results, values, self.folder, self.attempts, self.step or None)


def lines(first: int, last: int, loss: float) -> str:
    return "".join(f'{{"step": {n}, "loss": {loss}}}\n' for n in range(first, last + 1))


def losses(rows: list[Row]) -> list[tuple[float | None, float | None]]:
    return [(row["step"], row["loss"]) for row in rows]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_rows_that_were_taken_back_are_left_out(run: Run) -> None:
    """The checkpoint was at 2; the row of step 3 that counts is the later one."""
    run.attempt(lines(1, 4, 9.0))
    run.attempt(lines(3, 5, 1.0))
    assert losses(run.rows()) == [(1, 9.0), (2, 9.0), (3, 1.0), (4, 1.0), (5, 1.0)]


def test_also_a_row_of_the_very_step_at_which_it_was_cut_off(run: Run) -> None:
    run.attempt(lines(1, 3, 9.0))
    run.attempt(lines(3, 4, 1.0))
    run.attempt(lines(4, 4, 0.5))
    assert losses(run.rows()) == [(1, 9.0), (2, 9.0), (3, 1.0), (4, 0.5)]


def test_two_rows_of_a_step_in_one_attempt_both_count(run: Run) -> None:
    run.attempt('{"step": 1, "loss": 2}\n{"step": 1, "valid": 3}\n')
    run.attempt('{"step": 2, "loss": 1}\n{"step": 2, "valid": 2}\n')
    assert len(run.rows()) == 4


def test_half_a_line_is_left_out(run: Run) -> None:
    """With which an attempt was cut off, wherever the next one goes on writing."""
    run.attempt(lines(1, 2, 9.0) + '{"step": 3, "lo')
    run.attempt(lines(3, 4, 1.0))
    assert [step for step, _ in losses(run.rows())] == [1, 2, 3, 4]


def test_a_file_that_ends_without_a_newline_loses_no_row(run: Run) -> None:
    run.attempt(lines(1, 2, 9.0).rstrip("\n"))
    run.attempt("\n" + lines(3, 3, 1.0))
    assert [step for step, _ in losses(run.rows())] == [1, 2, 3]


def test_a_program_that_begins_its_file_anew_is_believed(run: Run) -> None:
    run.attempt(lines(1, 4, 9.0))
    run.file.unlink()
    run.attempt("")
    run.file.write_text(lines(1, 2, 1.0), encoding="utf-8")
    assert losses(run.rows()) == [(1, 1.0), (2, 1.0)]


def test_what_is_gone_when_the_next_attempt_ends_is_no_part_of_it(run: Run) -> None:
    """It took up the file that was there when it began, and wrote another one in its place."""
    run.attempt(lines(1, 4, 9.0))
    run.attempt("")
    run.file.write_text(lines(1, 2, 1.0), encoding="utf-8")
    assert losses(run.rows()) == [(1, 1.0), (2, 1.0)]


def test_a_csv_may_have_its_header_once_or_again(tmp_path: Path) -> None:
    run = Run(tmp_path, "csv")
    run.attempt("step,loss\n1,9\n2,9\n3,9\n")
    run.attempt("2,1\n3,1\n")
    run.attempt("step,loss\n3,0.5\n")
    assert losses(run.rows()) == [(1, 9.0), (2, 1.0), (3, 0.5)]


def test_a_log(tmp_path: Path) -> None:
    run = Run(tmp_path, "log")
    run.attempt("step=1 loss=9\nstep=2 loss=9\nste")
    run.attempt("step=2 loss=1\n")
    assert losses(run.rows()) == [(1, 9.0), (2, 1.0)]


def test_a_step_that_no_row_has_is_told(tmp_path: Path) -> None:
    """Also where nothing was cut off: it would be of no use the day that something is."""
    run = Run(tmp_path, step="epoch")
    run.attempt(lines(1, 2, 1.0))
    with pytest.raises(DataError, match="no row has the step 'epoch'"):
        run.rows()


def test_a_file_of_results_has_to_be_written_anew(tmp_path: Path) -> None:
    run = Run(tmp_path, "file", step="")
    run.attempt('{"error": 1}')
    run.attempt("")
    assert run.file.read_text() == ""
    assert run.attempts.again


def test_a_link_out_of_the_folder_is_not_removed_through(tmp_path: Path) -> None:
    run = Run(tmp_path, "file", step="")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "r.json").write_text("{}")
    (run.out / "link").symlink_to(tmp_path / "elsewhere")
    begun(run.out, run.folder, run.out / "link" / "r.json", series=False)
    assert (tmp_path / "elsewhere" / "r.json").exists()


def test_the_first_attempt_remembers_nothing(run: Run) -> None:
    (run.folder / CUTS).write_text("[[1, 2, 3]]")
    run.attempt(lines(1, 2, 1.0))
    assert run.attempts == Attempts()
    assert not (run.folder / CUTS).exists()


@pytest.mark.parametrize("damaged", ["", "[", "{}", "[[1]]", '[[1, 2, "x", 4]]', "[1]"])
def test_notes_that_are_damaged_are_as_good_as_none(run: Run, damaged: str) -> None:
    run.attempt(lines(1, 2, 1.0))
    (run.folder / CUTS).write_text(damaged)
    run.attempt(lines(3, 3, 1.0))
    assert len(run.rows()) == 3
