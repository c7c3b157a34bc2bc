"""What people decide on preferences: approve, edit and approve, reject, archive. Sources: decisions, S1, U-20.

A hard constraint comes into force, and ends, only by its owner's own act with a typed value (R-19): on a page that asks
for a fresh sign-in, or for `default` at a terminal. No other module sets a state to active, but `kinds.py` where a
decision on a soft one is undone, and `correct.py` where its owner's own words replace a soft one.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.preferences.core import (
    ACTIVATED,
    ENDED,
    MAX_REASON_CHARS,
    MAX_STATEMENT_CHARS,
    MOVES,
    PREFERENCE_KIND,
    typed_value_of,
)
from learning_app.preferences.limits import check_places
from learning_app.preferences.models import Preference
from learning_app.preferences.selectors import is_refused, preference_missing
from learning_app.vocabulary import PreferenceState
from minara_site.access.actors import is_owner
from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.changes.services import keep_texts, name_set, record, watch
from minara_site.kernel.core.vocabulary import AGENT_ACTOR, GATEWAY_ACTOR, PERSONS, is_named_key
from minara_site.kernel.db import update_rows
from minara_site.kernel.errors import Conflict, FieldError, Invalid, Refused
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.labels import SENTENCES
from minara_site.kernel.jobs.topics import announce
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import clean_text

ACTIVE, REJECTED, ARCHIVED = PreferenceState.ACTIVE, PreferenceState.REJECTED, PreferenceState.ARCHIVED
MAX_TOGETHER = 200
"""As many preferences are rejected in one act."""
WHAT_IT_IS = {
    PreferenceState.PROPOSED: gettext_lazy("It waits for a decision. Nothing was changed."),
    PreferenceState.ACTIVE: gettext_lazy("It is active already. Nothing was changed."),
    PreferenceState.REJECTED: gettext_lazy("It was rejected. Nothing was changed."),
    PreferenceState.ARCHIVED: gettext_lazy("It is archived. Nothing was changed."),
}
DECIDED = (
    "state",
    "statement",
    "rules_version",
    "reason",
    "decided_by",
    "decided_at",
    "text_version",
    "version",
    "updated_at",
)


def approve(
    *,
    preference_id: int,
    owner: Owner,
    statement: str | None = None,
    version: int | None = None,
    actor: str,
    now: datetime,
    run: str | None = None,
) -> Preference:
    """Put a soft preference in force, with another statement where one is given; `run` is that of an import.

    Raises NotFound, Invalid (also `held`: the guard refuses the new statement), Refused (`hard_constraint`,
    `needs_person` for a key), and
    Conflict for a stale version, for what is held, and for a state from which no approval leads.
    """
    with transaction.atomic():
        row = lock_one(owner, preference_id, version=version)
        if row.is_hard:
            raise only_its_owner()
        if is_named_key(actor):
            raise needs_person()
        return decide(
            [row],
            ACTIVE,
            act="preference_approved",
            statement=statement,
            actor=actor,
            now=now,
            run=run,
        )[0]


def reject(
    *,
    preference_id: int,
    owner: Owner,
    reason: str = "",
    version: int | None = None,
    actor: str,
    now: datetime,
) -> Preference:
    """Reject a proposal of either kind. Raises NotFound, Invalid, Conflict, Refused (`needs_person`)."""
    with transaction.atomic():
        row = lock_one(owner, preference_id, version=version)
        if row.state == PreferenceState.PROPOSED:
            check_by_key(row, actor)
        return decide(
            [row],
            REJECTED,
            act="preference_rejected",
            reason=reason,
            actor=actor,
            now=now,
        )[0]


def reject_all(
    *,
    ids: Collection[int],
    owner: Owner,
    reason: str = "",
    actor: str,
    now: datetime,
) -> list[Preference]:
    """Reject proposals, all or none. Raises NotFound unless all are there, Invalid, Conflict."""
    chosen = set(ids)
    if not 1 <= len(chosen) <= MAX_TOGETHER:
        raise Invalid(
            _("Choose 1 to %(most)d preferences.") % {"most": MAX_TOGETHER},
            code="too_many",
        )
    with transaction.atomic():
        rows = list(lock(Preference.objects.for_owner(owner).filter(pk__in=chosen)))
        if len(rows) < len(chosen):
            raise preference_missing()
        return decide(
            rows,
            REJECTED,
            act="preference_rejected",
            reason=reason,
            actor=actor,
            now=now,
        )


def archive(
    *,
    preference_id: int,
    owner: Owner,
    reason: str = "",
    version: int | None = None,
    actor: str,
    now: datetime,
) -> Preference:
    """End an active soft preference and keep its row.

    Raises NotFound, Invalid, Conflict, and Refused for a hard one and for a key that may not (`needs_person`).
    """
    with transaction.atomic():
        row = lock_one(owner, preference_id, version=version)
        if row.state == ACTIVE and not row.is_hard:
            check_by_key(row, actor)
        return decide(
            [row],
            ARCHIVED,
            act="preference_archived",
            reason=reason,
            actor=actor,
            now=now,
        )[0]


def activate_constraint(
    *,
    preference_id: int,
    owner: User,
    typed: str,
    statement: str | None = None,
    version: int | None = None,
    actor: str,
    now: datetime,
) -> Preference:
    """Put a hard constraint in force as its owner, who typed its value; a new statement where one is given.

    Its surfaces are the page that asks for a fresh sign-in and the terminal. Raises what `approve` raises, Invalid for
    another typed value, Refused when somebody else acts, and Conflict for a soft preference and past MAX_LIMITS.
    """
    with transaction.atomic():
        check_places(owner.pk)
        row = lock_constraint(owner, preference_id, version=version, actor=actor)
        act = "constraint_activated"
        return decide(
            [row],
            ACTIVE,
            act=act,
            statement=statement,
            typed=typed,
            actor=actor,
            now=now,
        )[0]


def archive_constraint(
    *,
    preference_id: int,
    owner: User,
    typed: str,
    reason: str = "",
    version: int | None = None,
    actor: str,
    now: datetime,
) -> Preference:
    """End an active hard constraint as its owner, who typed its value. Raises what `activate_constraint` raises."""
    with transaction.atomic():
        row = lock_constraint(owner, preference_id, version=version, actor=actor)
        act = "constraint_archived"
        return decide(
            [row],
            ARCHIVED,
            act=act,
            reason=reason,
            typed=typed,
            actor=actor,
            now=now,
        )[0]


def decide(
    rows: Sequence[Preference],
    state: PreferenceState,
    *,
    act: str,
    reason: str = "",
    statement: str | None = None,
    typed: str | None = None,
    actor: str,
    now: datetime,
    run: str | None = None,
) -> list[Preference]:
    """Give locked preferences another state, all or none; a typed value makes it their owner's own act.

    Besides, only an undo sets or ends `active`, of a soft one. Raises Refused for a hard constraint that would come
    into force or end without its owner's act, Conflict (`held`), and Invalid.
    """
    reason = clean_text(
        reason,
        field="reason",
        max_chars=MAX_REASON_CHARS,
        min_chars=0,
    )
    watched = watch(PREFERENCE_KIND, rows)
    for row in rows:
        if state not in MOVES[PreferenceState(row.state)]:
            raise Conflict(str(WHAT_IT_IS[PreferenceState(row.state)]), code=row.state)
        if statement is not None and statement.strip() != row.statement:
            earlier = {"statement": row.statement}
            row.statement, row.rules_version = clean_statement(statement), guard.RULES.version
            keep_texts(PREFERENCE_KIND, row, earlier, actor=actor, now=now)
        if typed is not None:
            value = typed_value_of(row.statement, row.dimension)
            if typed.strip().casefold() != value.casefold():
                problem = _("Type exactly: %(value)s") % {"value": value}
                raise Invalid(
                    problem,
                    code="typed_value",
                    errors=(FieldError("typed", problem),),
                )
        if row.is_hard and ACTIVE in (state, row.state) and typed is None:
            raise only_its_owner()
        if state is ACTIVE and is_refused(row):
            raise Conflict(_("The guard holds its text. Decide on the held text first."), code="held")
        row.state, row.reason = state, reason
        row.decided_by, row.decided_at, row.updated_at = actor, now, now
        row.version += 1
    update_rows(Preference, DECIDED, rows)
    made = record(act, watched, actor=actor, at=now, reason=reason, run=run)
    for owner_id, own in groupby(sorted(rows, key=attrgetter("owner_id", "pk")), attrgetter("owner_id")):
        ids = [row.pk for row in own]
        details: dict[str, Any] = {"id": ids[0]} if len(ids) == 1 else {"count": len(ids), "ids": ids}
        record_audit(
            now=now,
            actor=actor,
            tool_call=act,
            owner_id=owner_id,
            reasoning=reason,
            details=details | name_set(made),
        )
    if topic := {ARCHIVED: ENDED, ACTIVE: ACTIVATED}.get(state):
        announce(topic, [row.pk for row in rows], now=now)
    return list(rows)


def announce_each(topic: str, ids: Iterable[int], *, now: datetime) -> None:
    """Announce preferences, if there are any."""
    if found := list(ids):
        announce(topic, found, now=now)


def lock(rows: Any) -> Any:
    """Lock rows in the order in which every writer locks."""
    return rows.order_by("pk").select_for_update(of=("self",))


def lock_one(owner: Owner, preference_id: int, *, version: int | None) -> Preference:
    """Lock and return one preference. Raises NotFound, and Conflict (`stale`) for another version."""
    row: Preference | None = lock(Preference.objects.for_owner(owner).filter(pk=preference_id)).first()
    if row is None:
        raise preference_missing()
    if version is not None and version != row.version:
        detail = _("This changed since you opened it. Reload the page.")
        raise Conflict(
            detail,
            code="stale",
            current={"version": row.version, "state": str(row.state)},
        )
    return row


def lock_constraint(
    owner: User,
    preference_id: int,
    *,
    version: int | None,
    actor: str,
) -> Preference:
    """Lock and return a hard constraint of its owner, who acts. Raises NotFound, Conflict, Refused."""
    row = lock_one(owner, preference_id, version=version)
    if not row.is_hard:
        raise Conflict(_("It is no hard constraint. Approve or archive it like any preference."), code="soft")
    if not is_owner(actor, owner):
        raise only_its_owner()
    return row


def only_its_owner() -> Refused:
    """Return the refusal of a hard constraint."""
    detail = _("Only its owner activates or archives a hard constraint, on its page after a fresh sign-in.")
    return Refused(detail, code="hard_constraint")


def check_by_key(row: Preference, actor: str) -> None:
    """Raise Refused where a key would decide on what no key proposed, or what a person decided."""
    is_decided = row.decided_by.startswith((*PERSONS, GATEWAY_ACTOR))
    if is_named_key(actor) and (is_decided or not row.actor.startswith(AGENT_ACTOR)):
        raise needs_person()


def needs_person() -> Refused:
    """Return the refusal of a key that would speak for its owner."""
    detail = _("Only a person decides that. Nothing was changed. Tell the user: it waits under Profile, Preferences.")
    return Refused(detail, code="needs_person")


def clean_statement(statement: str) -> str:
    """Return other words for a preference. Raises Invalid, also for what the guard refuses."""
    text = clean_text(statement, field="statement", max_chars=MAX_STATEMENT_CHARS)
    if findings := guard.judge(text).findings:
        why = _("%(why)s Say it in other words. Nothing was changed.")
        problem = why % {"why": SENTENCES[findings[0].reason]}
        raise Invalid(
            problem,
            code="held",
            errors=(FieldError("statement", problem),),
        )
    return text
