"""Races: processes of one installation that begin together, and wait for each other wherever they say so.

A test calls one function by `Site.call`. That process loads Django, stores what is needed, and forks the others:

    def two_editors(rounds: int) -> str:
        seed()
        taken = in_processes((edit_often, "ana", rounds), (edit_often, "ben", rounds))
        return json.dumps({"taken": taken, **outcome()})

They begin once all have started. `meet()` makes them begin a step together too; each must call it equally often.
"""

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

from django.db import connections

FORK = get_context("fork")
LONGEST_WAIT_SECONDS = 60.0

barriers: list[Barrier] = []  # that of this process's race is the last


def in_processes(*acts: tuple[Any, ...]) -> list[Any]:
    """Call each function with its arguments in a process of its own, all at once; return what they returned."""
    connections.close_all()
    barriers.append(FORK.Barrier(len(acts)))
    started = []
    for act, *arguments in acts:
        ours, theirs = FORK.Pipe(duplex=False)
        process = FORK.Process(target=answer, args=(theirs, act, arguments))
        process.start()
        theirs.close()  # a process that dies is the end of its pipe
        started.append((process, ours))
    answers = [receive(ours) for _process, ours in started]
    for process, _ours in started:
        process.join()
    barriers.pop()
    failed = [found for is_done, found in answers if not is_done]
    assert not failed, "\n".join(map(str, failed))
    return [found for _is_done, found in answers]


def meet() -> None:
    """Wait until every process of the race is here; fail when one has ended."""
    barriers[-1].wait(LONGEST_WAIT_SECONDS)


def answer(pipe: Connection, act: Callable[..., Any], arguments: list[Any]) -> None:
    """Do one process's part."""
    try:
        meet()
        pipe.send((True, act(*arguments)))
    except BaseException as error:
        barriers[-1].abort()
        pipe.send((False, repr(error)))
        raise


def receive(pipe: Connection) -> tuple[bool, Any]:
    """Return whether a process came to its end, and what it returned or failed with."""
    try:
        is_done, found = pipe.recv()
    except EOFError:
        return False, "a process died"
    return bool(is_done), found
