"""What people and agents change on learnings: the guidance, deletion and restore. Source: S2."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from learning_app.learnings.core import LEARNING_KIND, MAX_GUIDANCE_CHARS
from learning_app.learnings.models import Learning
from learning_app.learnings.selectors import no_such_learning, require_learning_on, retention
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.changes.services import keep_texts, name_set, record, watch
from minara_site.kernel.core.vocabulary import AGENT_ACTOR
from minara_site.kernel.db import update_rows
from minara_site.kernel.errors import Conflict, Invalid, Refused, invalid_field
from minara_site.kernel.guard.held_at import hold_row
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.guard.services import lift_holds
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import clean_text

MAX_BULK = 5_000
CHANGED = (
    "guidance",
    "text_version",
    "edited_by",
    "version",
    "deleted_at",
    "deleted_by",
    "updated_at",
    "held_at",
    "rules_version",
)


def edit_guidance(
    *,
    principal: Principal,
    owner: Owner,
    uid: str,
    guidance: str,
    version: int | None = None,
    now: datetime,
) -> Learning:
    """Write new guidance; the words before are kept. What the guard refuses is held with its learning.

    Raises NotFound, Invalid, Refused for what a key may not change, Conflict when it changed since this version or
    learning is switched off.
    """
    require_learning_on()
    guidance = clean_text(
        guidance,
        field="guidance",
        max_chars=MAX_GUIDANCE_CHARS,
        min_chars=0,
    )
    with transaction.atomic():
        [row] = lock_all(owner, [uid], now=now)
        check_by_key(principal, [row])
        if version is not None and version != row.version:
            raise Conflict(_("This changed since you opened it. Reload the page."), code="changed")
        if not guidance and not row.tool_sequence:
            problem = _("It has no steps: its guidance cannot be empty. Delete it instead.")
            raise invalid_field("guidance", problem)
        if guidance == row.guidance:
            return row
        watched, earlier, actor = watch(LEARNING_KIND, [row]), {"guidance": row.guidance}, principal.actor
        row.guidance = guidance
        row.edited_by, row.version, row.updated_at = actor, row.version + 1, now
        keep_texts(LEARNING_KIND, row, earlier, actor=actor, now=now)
        save_judged([row], actor=actor, now=now)
        made = record("learning_edited", watched, actor=actor, at=now)
        held = {"held": 1} if row.held_at else {}
        record_audit(
            now=now,
            actor=actor,
            tool_call="learning_edited",
            owner_id=row.owner_id,
            details={"id": row.uid, "sha256": content_digest(guidance)} | held | name_set(made),
        )
    return row


def save_judged(rows: Sequence[Learning], *, actor: str, now: datetime) -> None:
    """Save locked rows: what is deleted waits for nobody any more, what is not is judged. Needs a transaction."""
    lift_holds(
        kind=LEARNING_KIND,
        object_ids=[row.pk for row in rows],
        actor=actor,
        now=now,
    )
    verdicts = judge_stored(LEARNING_KIND, {row.pk: row.guarded_text for row in rows if not row.deleted_at})
    for row in rows:
        if verdict := verdicts.get(row.pk):
            row.rules_version, row.held_at = verdict.rules_version, now if verdict.is_held else None
            if verdict.is_held:
                hold_row(LEARNING_KIND, row, verdict, now=now)
    update_rows(Learning, CHANGED, rows)


def set_deleted(
    *,
    principal: Principal,
    owner: Owner,
    uids: Collection[str],
    is_deleted: bool,
    now: datetime,
) -> list[Learning]:
    """Delete learnings softly or restore them, all or nothing; return those that changed.

    What comes back is judged by today's rules; while learning is switched off nothing does, and what is there can
    still be deleted. Raises NotFound, Invalid, Conflict, Refused for what is not a key's to change.
    """
    if not is_deleted:
        require_learning_on()
    if not 0 < len(set(uids)) <= MAX_BULK:
        raise Invalid(
            _("Choose between 1 and %(max)d learnings.") % {"max": MAX_BULK},
            code="wrong_choice",
        )
    with transaction.atomic():
        rows = [row for row in lock_all(owner, uids, now=now) if bool(row.deleted_at) != is_deleted]
        check_by_key(principal, rows)
        if not (principal.is_operator or all(is_restorable(row.deleted_by, actor=principal.actor) for row in rows)):
            raise Refused(_("An operator deleted this. Only an operator can restore it."), code="not_editable")
        act = "learning_removed" if is_deleted else "learning_restored"
        watched = watch(LEARNING_KIND, rows)
        for row in rows:
            row.deleted_at, row.deleted_by = (now, principal.actor) if is_deleted else (None, "")
            row.updated_at = now
        save_judged(rows, actor=principal.actor, now=now)
        made = record(act, watched, actor=principal.actor, at=now)
        for row in rows:
            record_audit(
                now=now,
                actor=principal.actor,
                tool_call=act,
                owner_id=row.owner_id,
                details={"id": row.uid, "sha256": content_digest(row.guarded_text)} | name_set(made),
            )
    return rows


def lock_all(owner: Owner, uids: Collection[str], *, now: datetime) -> list[Learning]:
    """Lock and return exactly these rows, deleted ones while they can be restored. Raises NotFound."""
    wanted, cutoff = set(uids), now - retention()
    rows = Learning.objects.for_owner(owner).kept(cutoff).filter(uid__in=wanted)
    found = list(rows.order_by("pk").select_for_update(of=("self",)))
    if len(found) != len(wanted):
        raise no_such_learning()
    return found


def check_by_key(principal: Principal, rows: Iterable[Learning]) -> None:
    """Raise Refused where a key would change what a person wrote or deleted."""
    if principal.is_key and not principal.is_operator:
        for row in rows:
            if any(by and not by.startswith(AGENT_ACTOR) for by in (row.edited_by, row.deleted_by)):
                raise Refused(_("A person changed this learning. It can be changed on its page."), code="not_editable")


def is_restorable(deleted_by: str, *, actor: str) -> bool:
    """Say whether its owner may restore what this actor deleted; an operator may restore all."""
    return deleted_by in {"", actor} or deleted_by.startswith(AGENT_ACTOR)
