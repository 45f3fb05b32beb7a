"""`repro` in this process, for the tests of what it prints: a process of its own takes a second."""

from __future__ import annotations

import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from repro.cli import main


def repro(*arguments: str | Path) -> CompletedProcess[str]:
    """What the command prints and ends with."""
    line = ["repro", *map(str, arguments)]
    before, status = signal.getsignal(signal.SIGTERM), 0
    with (
        mock.patch.object(sys, "argv", line),
        redirect_stdout(StringIO()) as printed,
        redirect_stderr(StringIO()) as errors,
    ):
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            signal.signal(signal.SIGTERM, before)
    return CompletedProcess(line, status, printed.getvalue(), errors.getvalue())
