"""What processes do with changes on one shared database."""

import json
import os
import signal
from typing import Any

from django.utils import timezone

from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import reject
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.changes import services
from minara_site.kernel.changes.models import Change, ChangeSet
from minara_site.kernel.changes.selectors import plan_undo
from minara_site.kernel.errors import Conflict
from minara_site.kernel.jobs.models import JobRun
from minara_site.shell.undo import undo_set
from tests.bench.changes import fill, reject_all
from tests.kit.clock import NOON
from tests.kit.racers import in_processes, meet
from tests.learning_app.rows import make_preference


def person() -> Principal:
    owner = User.objects.get(is_default=True)
    return Principal(owner, owner.role)


def two_undos(rounds: int) -> str:
    """Undo each of so many acts twice at once; return what came of it, and what stands."""
    principal = person()
    for _round in range(rounds):
        row = make_preference(principal.user)
        reject(preference_id=row.pk, owner=principal.user, actor=principal.actor, now=NOON)
    acts = list(ChangeSet.objects.order_by("pk").values_list("pk", flat=True))
    return json.dumps([in_processes((undo_each, acts), (undo_each, acts)), outcome()])


def undo_each(acts: list[int]) -> list[str]:
    """Undo acts one after the other, each together with the other process; return what came of each."""
    found = []
    for act in acts:
        meet()
        try:
            undo_set(act, principal=person(), now=timezone.now())
            found.append("done")
        except Conflict as conflict:
            found.append(conflict.problem_code)
    return found


def undo_and_die(count: int, slices: int) -> None:
    """Begin the undo of an act on so many rows, and die while so many slices are moved, the last not yet committed."""
    fill(person().user, count)
    act, principal = reject_all(NOON), person()
    plan = plan_undo([act.pk], actor=principal.actor, now=NOON, owner=principal.owner)
    made, _plan = undo_set(act.pk, principal=principal, now=NOON, sha256=plan.sha256)
    assert JobRun.objects.get(job=services.APPLY).arguments == {"set_id": made.pk}
    move, moved = services.move, []

    def move_and_die(*about: Any, **of: Any) -> None:
        move(*about, **of)
        moved.append(about)
        if len(moved) == slices:
            os.kill(os.getpid(), signal.SIGKILL)

    services.move = move_and_die
    services.apply_set(made.pk, now=NOON)


def undo_on() -> str:
    """Carry that undo on; return how many rows were moved before, what the job says, and what stands."""
    before = Preference.objects.filter(state="proposed").count()
    [made] = ChangeSet.objects.filter(act=services.UNDONE)
    return json.dumps([before, services.apply_set(made.pk, now=NOON), outcome()])


def outcome() -> dict[str, Any]:
    """Return what stands."""
    undone = Change.objects.filter(set__act=services.UNDONE)
    told = AuditEntry.objects.filter(tool_call="preference_undone").values_list("details", flat=True)
    return {
        "proposed": Preference.objects.filter(state="proposed").count(),
        "states": sorted(ChangeSet.objects.filter(act=services.UNDONE).values_list("state", flat=True)),
        "changes": undone.count(),
        "rows": undone.values("key").distinct().count(),
        "told": len([key for details in told for key in details["ids"]]),
    }
