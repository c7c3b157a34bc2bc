"""A correction of a preference: its owner's own words take its place. Sources: screens (correct this), decisions."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from learning_app.preferences.core import ACTIVATED, ENDED, PREFERENCE_KIND, PREFERENCE_ORIGIN
from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import (
    ACTIVE,
    ARCHIVED,
    DECIDED,
    WHAT_IT_IS,
    lock,
    lock_one,
    only_its_owner,
)
from learning_app.preferences.services.propose import PreferenceDraft, audit, build_row
from learning_app.vocabulary import PreferenceSource, PreferenceState
from minara_site.access.models import User
from minara_site.kernel.changes.services import made_rows, name_set, record, undo_replaced, watch
from minara_site.kernel.db import update_rows
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.jobs.topics import announce
from minara_site.kernel.ownership import owner_locked
from minara_site.kernel.plain_text import parse_number

CORRECT = "preference_corrected"


def correct_preference(
    *,
    preference_id: int,
    owner: User,
    statement: str,
    actor: str,
    now: datetime,
) -> Preference:
    """Store other words of the owner for a soft preference in force: they are active, and it is archived, as one act.

    While the guard holds them it stays as it is. Raises NotFound, Invalid, Refused for a limit, and Conflict.
    """
    with owner_locked(owner.pk):
        old = lock_one(owner, preference_id, version=None)
        if old.is_hard:
            raise only_its_owner()
        if old.state != ACTIVE:
            raise Conflict(str(WHAT_IT_IS[PreferenceState(old.state)]), code="not_active")
        draft = PreferenceDraft(old.dimension, old.kind, statement)
        origin = f"{PREFERENCE_ORIGIN}{old.pk}"
        row = build_row(owner.pk, draft, source=PreferenceSource.USER, actor=actor, origin=origin, now=now)
        hold = store_judged(PREFERENCE_KIND, row, now=now)
        audit(row, row, "preference_proposed", {"held": 1} if hold else {}, now=now, reasoning="")
        if not hold:
            replace(old, row, now=now)
    return row


def replace_corrected(released: Iterable[Preference], *, now: datetime) -> None:
    """Let corrections that the guard held replace what they correct, where that is still in force."""
    for row in released:
        corrects = parse_number(row.origin, after=PREFERENCE_ORIGIN)
        if corrects is None or row.state != "proposed":
            continue
        old = lock(Preference.objects.filter(pk=corrects, owner_id=row.owner_id)).first()
        if old is not None and old.state == ACTIVE and not old.is_hard:
            replace(old, row, now=now)


def replace(old: Preference, row: Preference, *, now: datetime) -> None:
    """Archive a preference and put its owner's own words in force in its place, as one act."""
    watched = [*watch(PREFERENCE_KIND, [row, old]), *made_rows(PREFERENCE_KIND, [row])]
    for each, state in ((old, ARCHIVED), (row, ACTIVE)):
        each.state, each.reason = state, ""
        each.decided_by, each.decided_at, each.updated_at = row.actor, now, now
        each.version += 1
    update_rows(Preference, DECIDED, [old, row])
    details = name_set(record(CORRECT, watched, actor=row.actor, at=now))
    audit(old, row, "preference_archived", details, now=now, reasoning="")
    audit(row, row, "preference_approved", details, now=now, reasoning="")
    announce(ENDED, [old.pk], now=now)
    announce(ACTIVATED, [row.pk], now=now)


def restore_corrected(holds: Mapping[int, Hold], *, actor: str, now: datetime) -> None:
    """Put back in force what the release of these corrections replaced: the release is taken back."""
    undo_replaced(CORRECT, PREFERENCE_KIND, holds, actor=actor, now=now)
