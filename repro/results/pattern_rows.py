"""Numbers in the lines of a text: a row for each line in which a pattern is found.

A user gives the pattern: it may go back and forth in a line without an end, which nothing in this
process could stop. So it is searched in another one (`pattern_search.py`), whose seconds are
counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final, Self

from repro.errors import DataError
from repro.results.series import MOST_ROWS, Row, series_of
from repro.schema.cells import is_odd, with_points

SEARCH: Final = Path(__file__).with_name("pattern_search.py")

SECONDS: Final = 30
"""Of computing, for all lines of a text together: some ten million, by a sound pattern."""

WAIT_S: Final = 1.0


class PatternRows:
    """The rows of a text that is told line by line; they are known when it has ended.

    A context, at whose end the search ends as well. Without a pattern there are no rows.
    """

    def __init__(self, pattern: str | None, *, most: int = MOST_ROWS) -> None:
        self._pattern, self._most = pattern, most
        self._search: subprocess.Popen[bytes] | None = None
        self._telling = Lock()
        self._rows: list[Row] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._search is not None:
            self._search.kill()  # which also ends the wait of a line that it does not take
        with self._telling:
            self._pattern = None
            if self._search is not None:
                with suppress(OSError):  # lines that it has not read
                    self._search.communicate()

    def __call__(self, line: str) -> None:
        """One more line; a search that has been ended takes no more."""
        with self._telling, suppress(BrokenPipeError):
            if self._pattern is None:
                return
            search = self._search = self._search or self._begun(self._pattern)
            if search.stdin is not None:
                search.stdin.write(line.encode("utf-8", "replace") + b"\n")

    def _begun(self, pattern: str) -> subprocess.Popen[bytes]:
        job = json.dumps([pattern, SECONDS, self._most])
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(SEARCH), job],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def rows(self) -> list[Row]:
        """All of them; no line is searched after it.

        DataError for more than are read, or for a pattern that takes too long.
        """
        if self._pattern is not None:
            if not self._telling.acquire(timeout=WAIT_S):  # by a line that the search does not take
                raise _slow("the pattern is searched more slowly than lines are printed")
            try:
                self._rows = self._answer()
                self._pattern = None
            finally:
                self._telling.release()
        return self._rows

    def _answer(self) -> list[Row]:
        if self._search is None:
            return []
        content, _ = self._search.communicate()
        answer: dict[str, Any] = json.loads(content) if content else {}
        if "rows" not in answer:
            place = f"line {answer['slow']:,}" if "slow" in answer else "one of its lines"
            raise _slow(f"the pattern is searched without an end in {place}")
        if len(answer["rows"]) > self._most:
            raise DataError(
                f"the pattern is found in more than {self._most:,} lines\n"
                f"  expected: at most {self._most:,}, of which none may be left out\n"
                "  to do: write a pattern that is found in fewer lines, or print less often"
            )
        found = [{k: v for k, v in row.items() if v is not None} for row in answer["rows"]]
        with_points(found)
        try:
            rows = series_of(found)
        except ValueError as error:
            raise DataError(f"the pattern finds what cannot be read: {error}") from error
        for name, cell in (each for row in found for each in row.items()):
            if "," in cell and is_odd(cell):
                raise DataError(
                    f"the pattern finds '{cell}' of '{name}', which may be one number or another\n"
                    "  expected: numbers with a decimal point, without marks between thousands\n"
                    "  to do: print them so"
                )
        return rows


def _slow(mistake: str) -> DataError:
    return DataError(
        f"{mistake}\n  expected: at most {SECONDS} seconds of computing for all lines\n"
        "  to do: write a pattern without repeats inside of repeats, such as (a+)+, "
        "and with fewer .* in it"
    )
