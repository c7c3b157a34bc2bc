"""Which process this is, and whether another one of this machine is gone: for what a dead process left behind.

Linux tells both in /proc. Elsewhere, and of the processes of another machine or container, nothing is known.
"""

import hashlib
import os
from functools import cache
from pathlib import Path

PROC = Path("/proc")
STATE, STARTED = 0, 19  # places of the fields of /proc/<pid>/stat behind the name, which may hold anything
DEAD = ("Z", "X")


@cache
def machine_name() -> str:
    """Return a name of this boot and this numbering of processes, empty where the system does not tell."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text()
        return hashlib.sha256(f"{boot}{(PROC / 'self/ns/pid').readlink()}".encode()).hexdigest()[:12]
    except OSError:
        return ""


def process_name() -> str:
    """Return `machine:process:start`, which no other process ever has; empty where the system does not tell."""
    fields = read_fields(os.getpid())
    return f"{machine_name()}:{os.getpid()}:{fields[STARTED]}" if machine_name() and fields else ""


def is_gone(name: str) -> bool:
    """Say whether a process of this machine with that `process_name` is dead for certain."""
    machine, _colon, rest = name.partition(":")
    number, _colon, started = rest.partition(":")
    if not machine or machine != machine_name() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # somebody else's process
    fields = read_fields(int(number))
    return bool(fields) and (fields[STATE] in DEAD or fields[STARTED] != started)


def read_fields(number: int) -> list[str]:
    """Return what the system says of a process, nothing where it does not tell."""
    try:
        return (PROC / str(number) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
