"""What the processes of the races do: one process with Django loaded forks the others, all on one shared database.

Their clock is noon, so that a dead one's lease is over for whoever comes a minute later, and nobody has to wait.
"""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from multiprocessing import get_context
from typing import Any
from unittest import mock

from django.db import connections

from memory_app.roles import registry
from memory_app.roles.core import Status, Trigger
from memory_app.roles.models import RoleMemory, RoleState
from memory_app.roles.services import closing, reflect, stages
from memory_app.roles.services.reflect import reflect_role
from minara_site.access.models import User
from minara_site.kernel.events import role_memory_changed
from minara_site.kernel.jobs import leases
from tests.kit.clock import NOON
from tests.memory_app.roles.reflecting import CALL, SWING, make_call, make_registry, open_market

FORK = get_context("fork")
PAUSE_SECONDS = 0.03
LATER = NOON + timedelta(seconds=60)


def prepare(entries: int, *roles: str) -> None:
    """Open the market and make so many wrong calls of each role."""
    registry.install(make_registry())
    owner = User.objects.get(is_default=True)
    open_market()
    for role_id in roles or (CALL,):
        for number in range(entries):
            make_call(owner, role_id=role_id, hours=160 - number, decision=f"Call number {number}.")


def in_processes(act: Callable[..., Any], each: list[tuple[Any, ...]]) -> list[Any]:
    """Call the function once for each of these arguments, each in a process of its own; return what they returned."""
    connections.close_all()
    answers = FORK.SimpleQueue()
    processes = [FORK.Process(target=answer, args=(answers, act, arguments)) for arguments in each]
    for process in processes:
        process.start()
    found = [answers.get() for _process in processes]
    for process in processes:
        process.join()
    return found


def answer(answers: Any, act: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Do one process's part."""
    try:
        answers.put(act(*arguments))
    except BaseException as error:
        answers.put(repr(error))
        raise


def race(processes: int, triggers: int, entries: int) -> str:
    """Trigger one role from many processes at once; return what each reflection call came to, and who wrote what."""
    prepare(entries)
    found = in_processes(trigger_again, [(number, triggers, time.time() + 0.3) for number in range(processes)])
    last = reflect_role(CALL, trigger=Trigger.MANUAL, now=NOON)
    rows = RoleMemory.objects.filter(role_id=CALL)
    written = Counter(pk for each in found for pk in each["written"])
    return json.dumps(
        {
            "results": Counter(result for each in found for result in each["results"]),
            "written": sorted(written.values()),
            "reflected": rows.filter(status=Status.REFLECTED, reflected_at__isnull=False).count(),
            "lessons": rows.exclude(lesson="").count(),
            "dropped": RoleState.objects.get(pk=CALL).dropped,
            "left": last.counts,
        }
    )


def trigger_again(number: int, triggers: int, begin: float) -> dict[str, Any]:
    """Trigger the role again and again, each time in another way."""
    written: list[int] = []

    def note(entry_ids: tuple[int, ...], **event: Any) -> None:
        written.extend(entry_ids)

    role_memory_changed.connect(note)
    kinds = list(Trigger)
    time.sleep(max(begin - time.time(), 0))
    results = []
    for turn in range(triggers):
        ended = reflect_role(CALL, trigger=kinds[(number + turn) % len(kinds)], now=NOON)
        results.append(ended.result.value)
        time.sleep(PAUSE_SECONDS)
    return {"results": results, "written": written}


def drop_beside_one(callers: int, processes: int) -> str:
    """Let one process reflect while the others call; return how long each call took in ms, and what it came to."""
    prepare(1)
    connections.close_all()
    holder = FORK.Process(target=reflect_once, args=(CALL, 0.0))
    holder.start()
    while not leases.find_lease(reflect.lease_name(CALL), now=NOON):
        time.sleep(0.01)
    shares = [callers // processes + (number < callers % processes) for number in range(processes)]
    found = in_processes(call_and_measure, [(share,) for share in shares])
    took = [each for part in found for each in part["took"]]
    results = Counter(result for part in found for result in part["results"])
    print(json.dumps({"took": took, "results": results, "dropped": RoleState.objects.get(pk=CALL).dropped}), flush=True)
    holder.join()
    return "ended"


def call_and_measure(callers: int) -> dict[str, Any]:
    """Call the role while another sweep has it."""
    RoleState.objects.filter(pk=CALL).exists()  # the connection is open before anything is measured
    took, results = [], []
    for _caller in range(callers):
        begun = time.perf_counter()
        results.append(reflect_role(CALL, trigger=Trigger.MANUAL, now=NOON).result.value)
        took.append((time.perf_counter() - begun) * 1000)
    return {"took": took, "results": results}


def two_roles_and_one_twice() -> str:
    """Reflect on two roles at once, then on one role from two processes at once; return the results."""
    prepare(1, CALL, SWING)
    two = in_processes(reflect_once, [(role_id, time.time() + 0.3) for role_id in (CALL, SWING)])
    make_call(User.objects.get(is_default=True), hours=30)
    twice = in_processes(reflect_once, [(CALL, time.time() + 0.3)] * 2)
    return json.dumps({"two": two, "twice": twice})


def reflect_once(role_id: str, begin: float) -> str:
    """Reflect on a role at this moment."""
    time.sleep(max(begin - time.time(), 0))
    return reflect_role(role_id, trigger=Trigger.CRON, now=NOON).result.value


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def before(*_given: Any, **_named: Any) -> None:
    """Die instead of doing this."""
    die()


def after(act: Callable[..., Any]) -> Callable[..., Any]:
    """Do this, and die."""

    def act_and_die(*given: Any, **named: Any) -> None:
        act(*given, **named)
        die()

    return act_and_die


FAILPOINTS: dict[str, Callable[[], Any]] = {
    "lock taken": lambda: mock.patch.object(reflect, "sweep", before),
    "after stage 1": lambda: mock.patch.object(stages, "classify", after(stages.classify)),
    "before stage 2": lambda: mock.patch.object(stages, "draw_lesson", before),
    "after stage 2": lambda: mock.patch.object(stages, "draw_lesson", after(stages.draw_lesson)),
    "before write": lambda: mock.patch.object(closing, "close_reflected", before),
    "before unlock": lambda: mock.patch.object(leases, "release_lease", before),
}


def die_everywhere(times: int) -> str:
    """Kill a sweep at every step; return what the next one came to, at once and a minute later, and what stands."""
    prepare(0)
    owner = User.objects.get(is_default=True)
    found = []
    for failpoint in list(FAILPOINTS) * times:
        entry = make_call(owner, decision=f"Killed: {failpoint}.")
        connections.close_all()
        process = FORK.Process(target=die_at, args=(failpoint,))
        process.start()
        process.join()
        soon = sweep_at(NOON)
        later = sweep_at(LATER)
        row = RoleMemory.objects.get(pk=entry.pk)
        found.append([failpoint, process.exitcode, soon, later, row.status, bool(row.lesson)])
    return json.dumps(found)


def die_at(failpoint: str) -> None:
    """Reflect, and die at this step."""
    with FAILPOINTS[failpoint]():
        reflect_role(CALL, trigger=Trigger.CRON, now=NOON)


def sweep_at(now: datetime) -> str:
    """Return what a sweep comes to."""
    return reflect_role(CALL, trigger=Trigger.CRON, now=now).result.value
