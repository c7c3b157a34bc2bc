"""What asks for rebuilds: the refresh, turns and trades. Source: S3 (three rebuild flows)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from minara_site.access.models import User
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.jobs.owner_schedule import nudge
from minara_site.kernel.jobs.services import KEPT_FOR, request_run
from profile_app.activity.services.sync import sync_owner
from profile_app.portrait.services.bridge import bridge_owner
from profile_app.rebuild.core import Flow, RunOutcome
from profile_app.rebuild.models import RebuildRun
from profile_app.workspace.services import sync_workspace


def refresh(*, owner_id: int, now: datetime, requested_by: str = "") -> dict[str, Any] | None:
    """Read the owner's folder and accounts, bring tags in step with preferences, and ask for each rebuild at once."""
    owner = User.objects.filter(pk=owner_id).first()
    if owner is None:
        return None
    problems = sync_workspace(owner=owner, now=now)
    synced = sync_owner(owner_id=owner_id, now=now, is_forced=True) or {}
    tags = bridge_owner(owner=owner, now=now)
    arguments = {"owner_id": owner_id, "is_forced": True, "requested_by": requested_by}
    for flow in Flow:
        request_run(flow.job, arguments, now=now, requested_by=requested_by)
    return {"folder_problems": len(problems), "tags": tags, "added": synced.get("added", 0)}


def on_turns_recorded(*, ids: Sequence[int], now: datetime) -> dict[str, int]:
    """Let the turns of their owners be read; the cooldown of each says when."""
    owners = set(Turn.objects.filter(pk__in=ids).values_list("session__owner", flat=True))
    for owner_id in owners:
        nudge(Flow.MEMORIES.job, owner_id, now=now)
    return {"owners": len(owners)}


def purge_runs(*, now: datetime) -> dict[str, int]:
    """Delete runs that wrote nothing and ended 90 days ago; those that wrote are the evidence of what they wrote."""
    over = RebuildRun.objects.filter(ended_at__lte=now - KEPT_FOR).exclude(outcome=RunOutcome.WRITTEN)
    return {"deleted": over.delete()[0]}


def nudge_summary(sender: object, *, owner_id: int, **facts: Any) -> None:
    """Let the summary of an owner be rebuilt who traded; its cooldown says when."""
    nudge(Flow.SUMMARY.job, owner_id, now=timezone.now())
