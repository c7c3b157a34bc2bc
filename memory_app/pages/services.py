"""Makes cached pages out of date, in every process: the one write of this room. Source: S1, architecture."""

from typing import Any

from memory_app.pages.models import CompiledPageVersion
from minara_site.access.models import User
from minara_site.kernel.db import add_one
from minara_site.kernel.events import (
    fact_recorded,
    memory_written,
    role_memory_changed,
    trade_outcome_updated,
    trade_recorded,
)

EVENTS = (memory_written, fact_recorded, role_memory_changed, trade_recorded, trade_outcome_updated)


def listen() -> None:
    """Let the events that change what pages are made of raise the version."""
    for event in EVENTS:
        event.connect(raise_version, dispatch_uid="compiled pages")


def raise_version(sender: object, *, owner_id: int, **facts: Any) -> None:
    """Count that an owner's data changed, after it is committed."""
    is_there = add_one(CompiledPageVersion, owner_id, "version")
    if not is_there and User.objects.filter(pk=owner_id).exists():
        CompiledPageVersion.objects.bulk_create(
            [CompiledPageVersion(owner_id=owner_id)],
            ignore_conflicts=True,
        )
        add_one(CompiledPageVersion, owner_id, "version")
