"""Decisions on what the guard holds: release and discard, one or many, all or nothing. Source: decisions (holds)."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from django.db import transaction
from django.utils.translation import gettext as _

from memory_app.facts.services import carry_out_corrections
from memory_app.held.core import ROLE_KINDS, Kind
from memory_app.held.selectors import find_replaced, get_holds
from memory_app.memories.services import discard_memories, lock_memories, release_memories
from memory_app.roles.services.guarded import (
    discard_decisions,
    release_decisions,
    release_lessons,
)
from memory_app.roles.services.guarded import (
    lock_entries as lock_decisions,
)
from memory_app.user_profile.services import discard_value, lock_entries, release_value
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import FieldError, Invalid
from minara_site.kernel.events import memory_written, role_memory_changed, send_after_commit
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.services import settle_holds
from minara_site.kernel.ownership import EVERYONE, Owner

MAX_BULK = 5_000  # as many as a list lets a person choose


def release_hold(*, principal: Principal, hold_id: int, now: datetime, note: str = "") -> Hold:
    """Let one text in. Raises what `release_holds` raises."""
    return release_holds(principal=principal, hold_ids=[hold_id], now=now, note=note)[0]


def discard_hold(*, principal: Principal, owner: Owner, hold_id: int, now: datetime, note: str = "") -> Hold:
    """Throw one text away. Raises what `discard_holds` raises."""
    return discard_holds(principal=principal, owner=owner, hold_ids=[hold_id], now=now, note=note)[0]


def release_holds(*, principal: Principal, hold_ids: Sequence[int], now: datetime, note: str = "") -> list[Hold]:
    """Let texts in as they were written, all or nothing; operators only. The rules release this text for good.

    Raises NotFound, Invalid for too many, and Conflict when one was decided before.
    """
    principal.require(Act.HOLD_RELEASE)
    with transaction.atomic():
        holds = choose_holds(EVERYONE, hold_ids)
        memories, entries = lock_memories(ids_of(holds, Kind.MEMORY)), lock_entries(ids_of(holds, Kind.USER_PROFILE))
        lock_decisions([*ids_of(holds, Kind.ROLE_DECISION), *ids_of(holds, Kind.ROLE_LESSON)])
        settle_holds(holds, decision=Decision.RELEASED, actor=principal.actor, now=now, note=note)
        release_memories(memories)
        carry_out_corrections(memories, now=now)
        release_decisions(ids_of(holds, Kind.ROLE_DECISION))
        release_lessons(ids_of(holds, Kind.ROLE_LESSON))
        for hold in holds:
            if hold.kind == Kind.USER_PROFILE:
                release_value(entries[hold.object_id], actor=hold.actor, now=now)
        record_decisions(holds, actor=principal.actor, now=now, note=note)
    return holds


def discard_holds(
    *, principal: Principal, owner: Owner, hold_ids: Sequence[int], now: datetime, note: str = ""
) -> list[Hold]:
    """Throw texts away, all or nothing: an edit gives way to what stood, a new memory goes to the trash, a value goes.

    A decision of a role is deleted unless something was reflected on it; that, and a lesson, stays held for good,
    because a reflection is written once.
    `owner` is whose holds the caller reaches. Raises NotFound, Invalid for too many, and Conflict when one was
    decided before.
    """
    principal.require(Act.HOLD_DISCARD)
    with transaction.atomic():
        holds = choose_holds(owner, hold_ids)
        memories, entries = lock_memories(ids_of(holds, Kind.MEMORY)), lock_entries(ids_of(holds, Kind.USER_PROFILE))
        lock_decisions([*ids_of(holds, Kind.ROLE_DECISION), *ids_of(holds, Kind.ROLE_LESSON)])
        settle_holds(holds, decision=Decision.DISCARDED, actor=principal.actor, now=now, note=note)
        discard_memories(principal=principal, memories=memories, edited=find_replaced(holds), now=now, reason=note)
        for entry in entries.values():
            discard_value(entry)
        discard_decisions(ids_of(holds, Kind.ROLE_DECISION))
        record_decisions(holds, actor=principal.actor, now=now, note=note)
    return holds


def choose_holds(owner: Owner, hold_ids: Sequence[int]) -> list[Hold]:
    """Return exactly these holds. Raises Invalid or NotFound."""
    if not 0 < len(set(hold_ids)) <= MAX_BULK:
        problem = _("Choose between 1 and %(max)d texts.") % {"max": MAX_BULK}
        raise Invalid(problem, errors=(FieldError("ids", problem),))
    return get_holds(owner=owner, hold_ids=hold_ids)


def ids_of(holds: Sequence[Hold], kind: Kind) -> list[int]:
    """Return the ids of the rows of a kind."""
    return [hold.object_id for hold in holds if hold.kind == kind]


def record_decisions(holds: Sequence[Hold], *, actor: str, now: datetime, note: str) -> None:
    """Record what was decided, an entry for each owner and kind, and tell who listens that the rows changed."""
    ordered = sorted(holds, key=lambda hold: (hold.owner_id, hold.kind))
    for (owner_id, kind), group in groupby(ordered, key=lambda hold: (hold.owner_id, hold.kind)):
        own = list(group)
        record_audit(
            now=now,
            actor=actor,
            tool_call=f"{kind}_{own[0].decision}",
            owner_id=owner_id,
            reasoning=note,
            details={
                "holds": [{"id": hold.pk, "object": hold.object_id, "sha256": hold.content_sha256} for hold in own],
                "count": len(own),
            },
        )
        ids = tuple(hold.object_id for hold in own)
        if kind == Kind.MEMORY:
            send_after_commit(memory_written, owner_id=owner_id, memory_ids=ids)
        elif kind in ROLE_KINDS:
            send_after_commit(role_memory_changed, owner_id=owner_id, entry_ids=ids)
