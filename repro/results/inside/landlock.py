"""Landlock of Linux: a process that gives up every file but those in one folder, and the network.

Written after the kernel's documentation, Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path
from typing import Final

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of system calls, the same on every machine."""

ASK_VERSION: Final = 1
BENEATH: Final = 1
NO_NEW_PRIVILEGES: Final = 38

RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many rights on files a version of Landlock knows; later ones know 16."""

READ: Final = 0b1100
"""Of those: to read a file, and to list a folder."""

NETWORK, SCOPES = 0b11, 0b11
"""To bind and to connect; to reach sockets and processes outside."""


def confine(folder: Path) -> bool:
    """Give up for ever all but ``folder``; False where the system has no Landlock.

    Python's own library can still be read: some of it is imported when it is first used.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long

    def call(number: int, *arguments: int | bytes | None) -> int:
        typed = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
        return int(libc.syscall(ctypes.c_long(number), *typed))

    version = call(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1:
        return False
    files = (1 << RIGHTS.get(version, 16)) - 1
    handled = [files, *([NETWORK] if version >= 4 else []), *([SCOPES] if version >= 6 else [])]
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    rules = call(CREATE_RULESET, attributes, len(attributes), 0)
    if rules < 0:
        return False
    for place, rights in {folder: files, Path(os.__file__).parent: READ}.items():
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
        call(ADD_RULE, rules, BENEATH, struct.pack("=Qi", rights, handle), 0)
        os.close(handle)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    held = call(RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return held
