"""What the processes of the races do: one process with Django loaded forks the others, all on one shared database.

Their clock is noon.
"""

import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
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
from tests.kit.racers import FORK, in_processes, meet
from tests.kit.site import wait_until
from tests.memory_app.roles.reflecting import CALL, SWING, make_call, make_registry, open_market


def prepare(entries: int, *roles: str) -> None:
    """Open the market and make so many wrong calls of each role."""
    registry.install(make_registry())
    open_market()
    for role_id in roles or (CALL,):
        for number in range(entries):
            call(number, role_id=role_id)


def call(number: int, **fields: Any) -> RoleMemory:
    """Make a wrong call."""
    owner = User.objects.get(is_default=True)
    return make_call(owner, hours=160 - number, decision=f"Call number {number}.", **fields)


def race(processes: int, rounds: int, triggers: int, dropped: str) -> str:
    """Trigger one role from many processes at once, each time for a new call; return what came of it, and who wrote what."""
    prepare(0)
    found = in_processes(*((trigger_again, number, rounds, triggers, dropped) for number in range(processes)))
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


def trigger_again(number: int, rounds: int, triggers: int, dropped: str) -> dict[str, Any]:
    """Trigger the role again and again, each time in another way; one of the processes makes the calls."""
    written: list[int] = []

    def note(entry_ids: tuple[int, ...], **event: Any) -> None:
        written.extend(entry_ids)

    role_memory_changed.connect(note)
    kinds, results = list(Trigger), []
    for turn in range(rounds):
        if number == 0:
            call(turn)
        meet()
        begin = number + turn
        results += [sweep_once(CALL, dropped, kinds[each % len(kinds)]) for each in range(begin, begin + triggers)]
    return {"results": results, "written": written}


def drop_beside_one(callers: int, processes: int, returned: str) -> str:
    """Let one process reflect while the others call, and tell when all have returned; return what their calls came to."""
    prepare(1)
    connections.close_all()
    holder = FORK.Process(target=sweep_once, args=(CALL,))
    holder.start()
    wait_until(lambda: leases.find_lease(reflect.lease_name(CALL), now=NOON))
    shares = [callers // processes + (number < callers % processes) for number in range(processes)]
    found = in_processes(*((call_often, share) for share in shares))
    Path(returned).touch()
    holder.join()
    results = Counter(result for part in found for result in part)
    return json.dumps({"results": results, "dropped": RoleState.objects.get(pk=CALL).dropped})


def call_often(callers: int) -> list[str]:
    """Call the role while another sweep has it."""
    return [sweep_once(CALL, trigger=Trigger.MANUAL) for _caller in range(callers)]


def two_roles_and_one_twice(dropped: str) -> str:
    """Reflect on two roles at once, then on one role from two processes at once; return the results."""
    prepare(1, CALL, SWING)
    two = in_processes((sweep_once, CALL), (sweep_once, SWING))
    call(30)
    twice = in_processes((sweep_once, CALL, dropped), (sweep_once, CALL, dropped))
    return json.dumps({"two": two, "twice": twice})


def sweep_once(role_id: str, dropped: str = "", trigger: Trigger = Trigger.CRON) -> str:
    """Reflect on a role; leave a file when another sweep has it."""
    result = reflect_role(role_id, trigger=trigger, now=NOON).result.value
    if dropped and result == "dropped":
        Path(dropped).touch()
    return result


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
    """Kill a sweep at every step; return what the next one came to at once, and what stands."""
    prepare(0)
    owner = User.objects.get(is_default=True)
    found = []
    for failpoint in list(FAILPOINTS) * times:
        entry = make_call(owner, decision=f"Killed: {failpoint}.")
        connections.close_all()
        process = FORK.Process(target=die_at, args=(failpoint,))
        process.start()
        process.join()
        soon = sweep_once(CALL)
        row = RoleMemory.objects.get(pk=entry.pk)
        found.append([failpoint, process.exitcode, soon, row.status, bool(row.lesson)])
    return json.dumps(found)


def die_at(failpoint: str) -> None:
    """Reflect, and die at this step."""
    with FAILPOINTS[failpoint]():
        reflect_role(CALL, trigger=Trigger.CRON, now=NOON)
