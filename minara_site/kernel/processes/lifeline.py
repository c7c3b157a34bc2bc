"""A child does not outlive its parent, not even one that was killed with SIGKILL.

Linux sends a signal of the child's choice when the parent dies. Elsewhere these functions do nothing; there only an
orderly stop ends the children.
"""

import ctypes
import os
import signal
import sys
from functools import cache

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def follow_parent(parent: int, number: int) -> None:
    """Have the calling process get the signal when its parent, of this process id, dies or is already dead."""
    if LIBC is None:
        return
    LIBC.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


@cache
def bind_forked_children() -> None:
    """Have every process that this one and its children fork from now on be killed when its parent dies."""
    parents = [os.getpid()]

    def follow_forker() -> None:
        follow_parent(parents[0], signal.SIGKILL)
        parents[0] = os.getpid()

    os.register_at_fork(after_in_child=follow_forker)
