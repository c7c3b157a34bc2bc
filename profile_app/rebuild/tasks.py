"""The jobs of rebuilds, one a flow, and the refresh that asks for all. Source: S3 (three rebuild flows)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from minara_site.access.models import User
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.jobs.owner_schedule import nudge
from minara_site.kernel.jobs.services import request_run
from profile_app.activity.services.sync import sync_owner
from profile_app.portrait.services.bridge import bridge_owner
from profile_app.rebuild.core import Flow
from profile_app.rebuild.services.run import rebuild
from profile_app.workspace.services import sync_workspace


def rebuild_summary(*, owner_id: int, now: datetime, is_forced: bool = False, requested_by: str = "schedule") -> Any:
    """Run the rebuild of the trading summary."""
    return rebuild(Flow.SUMMARY, owner_id=owner_id, now=now, is_forced=is_forced, requested_by=requested_by)


def rebuild_tags(*, owner_id: int, now: datetime, is_forced: bool = False, requested_by: str = "schedule") -> Any:
    """Run the rebuild of the tags."""
    return rebuild(Flow.TAGS, owner_id=owner_id, now=now, is_forced=is_forced, requested_by=requested_by)


def rebuild_memories(*, owner_id: int, now: datetime, is_forced: bool = False, requested_by: str = "schedule") -> Any:
    """Run the reading of turns."""
    return rebuild(Flow.MEMORIES, owner_id=owner_id, now=now, is_forced=is_forced, requested_by=requested_by)


def refresh(*, owner_id: int, now: datetime, requested_by: str = "") -> dict[str, Any] | None:
    """Read the owner's folder and accounts, bring tags in step with preferences, and ask for each rebuild at once."""
    owner = User.objects.filter(pk=owner_id).first()
    if owner is None:
        return None
    problems = sync_workspace(owner=owner, now=now)
    synced = sync_owner(owner_id=owner_id, now=now, is_forced=True) or {}
    tags = bridge_owner(owner=owner, now=now)
    for flow in Flow:
        arguments = {"owner_id": owner_id, "is_forced": True, "requested_by": requested_by}
        request_run(flow.job, arguments, now=now, requested_by=requested_by or "refresh")
    return {"folder_problems": len(problems), "tags": tags, "added": synced.get("added", 0)}


def on_turns_recorded(*, ids: Sequence[int], now: datetime) -> dict[str, int]:
    """Let the turns of their owners be read; the cooldown of each says when."""
    owners = set(Turn.objects.filter(pk__in=ids).values_list("session__owner", flat=True))
    for owner_id in owners:
        nudge(Flow.MEMORIES.job, owner_id, now=now)
    return {"owners": len(owners)}


def nudge_summary(sender: object, *, owner_id: int, **facts: Any) -> None:
    """Let the summary of an owner be rebuilt who traded; its cooldown says when."""
    nudge(Flow.SUMMARY.job, owner_id, now=timezone.now())
