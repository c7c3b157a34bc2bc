"""Decisions on what the guard holds: release, discard and hold again, all or nothing. Source: decisions (holds)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.console.quarantine.selectors import UNDOABLE, get_holds
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import FieldError, Invalid, Refused
from minara_site.kernel.guard.kinds import WAITS, StoredKind, stored_kinds
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import find_open_holds
from minara_site.kernel.guard.services import reopen_holds, settle_holds
from minara_site.kernel.ownership import EVERYONE, Owner

MAX_BULK = 5_000  # as many as a list lets a person choose


def release_holds(
    *,
    principal: Principal,
    hold_ids: Sequence[int],
    now: datetime,
    note: str = "",
    owner: Owner = EVERYONE,
) -> list[Hold]:
    """Let agents read texts as they were written, all or nothing. The rules accept these very texts from now on.

    `owner` is whose holds the caller reaches. Raises Refused also for a text that only its owner lets in, NotFound,
    Invalid for too many, NotFresh, and Conflict when one was decided before.
    """
    return decide(
        owner,
        Decision.RELEASED,
        hold_ids,
        principal=principal,
        now=now,
        note=note,
    )


def discard_holds(
    *,
    principal: Principal,
    owner: Owner,
    hold_ids: Sequence[int],
    now: datetime,
    note: str = "",
) -> list[Hold]:
    """Refuse texts, all or nothing; what becomes of each its kind says (`StoredKind.discard`).

    `owner` is whose holds the caller reaches. Raises what `release_holds` raises.
    """
    return decide(
        owner,
        Decision.DISCARDED,
        hold_ids,
        principal=principal,
        now=now,
        note=note,
    )


def decide(
    owner: Owner,
    decision: Decision,
    hold_ids: Sequence[int],
    *,
    principal: Principal,
    now: datetime,
    note: str,
) -> list[Hold]:
    """Record a decision, and apply it kind by kind."""
    if not 0 < len(set(hold_ids)) <= MAX_BULK:
        problem = _("Choose between 1 and %(max)d texts.") % {"max": MAX_BULK}
        raise Invalid(problem, errors=(FieldError("ids", problem),))
    with transaction.atomic():
        holds = get_holds(owner=owner, hold_ids=hold_ids)
        chosen = by_kind(holds)
        for kind, own in chosen:
            require_decision(principal, kind, own.values(), decision)
        rows = lock_rows(chosen)
        settle_holds(
            holds,
            decision=decision,
            actor=principal.actor,
            now=now,
            note=note,
        )
        for kind, own in chosen:
            if decision is Decision.RELEASED:
                kind.release(own, rows[kind.model], now=now)
            else:
                kind.discard(
                    own,
                    rows[kind.model],
                    actor=principal.actor,
                    reason=note,
                    now=now,
                )
        record_decisions(holds, actor=principal.actor, now=now, note=note)
    return holds


def hold_again(
    *,
    principal: Principal,
    owner: Owner,
    hold_ids: Sequence[int],
    now: datetime,
) -> list[Hold]:
    """Undo releases and discards, all or nothing; return the holds that wait anew. Agents read none of the texts.

    Raises Refused, NotFound, and Conflict when a text is not what was decided on any more.
    """
    with transaction.atomic():
        rows = lock_rows(by_kind(get_holds(owner=owner, hold_ids=hold_ids)))
        holds = get_holds(owner=owner, hold_ids=hold_ids)  # as they are now that nobody else decides
        for hold in holds:
            if hold.decision in UNDOABLE:
                require_decision(
                    principal,
                    stored_kinds()[hold.kind],
                    [hold],
                    Decision(hold.decision),
                )
        chosen = by_kind(holds)
        for kind, own in chosen:
            if waiting := find_open_holds(kind.name, own):
                kind.refuse_again(next(iter(waiting.values())), WAITS)
        again = reopen_holds(holds, actor=principal.actor, now=now)
        for kind, own in chosen:
            kind.hold_again(
                own,
                rows[kind.model],
                actor=principal.actor,
                now=now,
            )
        record_decisions(again, actor=principal.actor, now=now, note="")
    return again


def require_decision(
    principal: Principal,
    kind: StoredKind,
    holds: Iterable[Hold],
    decision: Decision,
) -> None:
    """Raise Refused or NotFresh unless the caller may decide so on these texts of a kind; who may, may undo it."""
    act = Act(kind.release_act if decision is Decision.RELEASED else kind.discard_act)
    is_others = any(hold.owner_id != principal.owner.pk for hold in holds)
    if is_others and principal.may(act) and not principal.reads_others(act):
        raise Refused(_("Only its owner lets this text in, on its page after a fresh sign-in."), code="only_its_owner")
    principal.require(act)


def by_kind(holds: Sequence[Hold]) -> list[tuple[StoredKind, dict[int, Hold]]]:
    """Return the holds of each kind by the id of their row, in the order in which the apps list kinds."""
    found: defaultdict[str, dict[int, Hold]] = defaultdict(dict)
    for hold in holds:
        found[hold.kind][hold.object_id] = hold
    return [(kind, found[kind.name]) for kind in stored_kinds().values() if kind.name in found]


def lock_rows(chosen: Sequence[tuple[StoredKind, dict[int, Hold]]]) -> dict[Any, dict[int, Any]]:
    """Lock the rows of these holds and return them by table and id: kinds of one table in one go."""
    ids: defaultdict[Any, set[int]] = defaultdict(set)
    for kind, own in chosen:
        ids[kind.model] |= own.keys()
    kinds = {kind.model: kind for kind, _own in chosen}
    return {model: kinds[model].lock(sorted(wanted)) for model, wanted in ids.items()}


def record_decisions(
    holds: Sequence[Hold],
    *,
    actor: str,
    now: datetime,
    note: str,
) -> None:
    """Record what was decided or is held again, an entry for each owner and kind, and publish that rows changed."""
    ordered = sorted(holds, key=lambda hold: (hold.owner_id or 0, hold.kind))
    for (owner_id, kind), group in groupby(
        ordered,
        key=lambda hold: (hold.owner_id, hold.kind),
    ):
        own = list(group)
        record_audit(
            now=now,
            actor=actor,
            tool_call=f"{kind}_{own[0].decision or 'held'}",
            owner_id=owner_id,
            reasoning=note,
            details={
                "holds": [
                    {
                        "id": hold.pk,
                        "object": hold.object_id,
                        "sha256": hold.content_sha256,
                    }
                    for hold in own
                ],
                "count": len(own),
            },
        )
        stored_kinds()[kind].publish_changes(owner_id, [hold.object_id for hold in own])
