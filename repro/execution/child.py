"""The life of a worker process: take a call, answer it, until the parent is gone.

Started by ``pool`` with the numbers of two pipes: one for calls and answers, and one that the
parent never writes to, whose end tells that the parent has died.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

PR_SET_PDEATHSIG = 1
READY = "ready"

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def main(calls: int, life: int) -> None:
    """Serve calls until the parent closes the pipe or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent(life)
    connection = Connection(calls)
    try:
        connection.send(READY)
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))
    except (EOFError, OSError):
        os._exit(0)


def _answer(data: bytes) -> bytes:
    """(True, value) or (False, exception), pickled."""
    answer: tuple[bool, Any]
    try:
        call: Call = pickle.loads(data)  # noqa: S301 - from the parent, over a private pipe
        function, args, kwargs = call
        answer = True, function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - the caller decides
        answer = False, error
    try:
        data = pickle.dumps(answer)
        pickle.loads(data)  # noqa: S301 - our own: some exceptions do not survive the way back
    except Exception:  # noqa: BLE001 - pickling runs anybody's code
        data = pickle.dumps((False, RuntimeError(f"{type(answer[1]).__name__}: {answer[1]}")))
    return data


def _die_with_parent(life: int) -> None:
    """End at once when the parent ends, even by SIGKILL, whatever this process is busy with."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    threading.Thread(target=_watch, args=(life,), daemon=True).start()


def _watch(life: int) -> None:
    os.read(life, 1)
    os._exit(1)
