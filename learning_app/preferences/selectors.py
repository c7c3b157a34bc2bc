"""Reads of preferences: one, lists, the limits in force, and their record. Shapes: the contract."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from learning_app.preferences.core import ACTIVATED, ENDED, PREFERENCE_KIND
from learning_app.preferences.core.mining import TURN_ORIGIN
from learning_app.preferences.models import Preference, PreferenceQuerySet
from learning_app.vocabulary import PreferenceKind
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.changes.models import Revision
from minara_site.kernel.changes.selectors import list_history as list_past
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import parse_number

HISTORY_ACTS = (
    "preference_proposed",
    "preference_repeated",
    "preference_approved",
    "preference_rejected",
    "preference_archived",
    "preference_undone",
    "undone",
    "constraint_activated",
    "constraint_archived",
    "preference_held",
    "preference_released",
    "preference_discarded",
    "write_rollback",
    "write_rollback_undone",
)
MAX_HISTORY, MAX_READ, MAX_RUNS = 50, 500, 100


def get_preference(*, owner: Owner, preference_id: int) -> Preference:
    """Return one preference, a held one too. Raises NotFound also for another owner's."""
    found: Preference | None = Preference.objects.for_owner(owner).filter(pk=preference_id).first()
    if found is None:
        raise preference_missing()
    return found


def preference_missing() -> NotFound:
    """Return the refusal of an unknown id."""
    return NotFound(_("There is no such preference."))


def list_preferences(*, owner: Owner) -> PreferenceQuerySet:
    """Return the preferences of an owner that the guard does not hold, unordered."""
    return Preference.objects.for_owner(owner).filter(held_at__isnull=True)


def list_active_constraints(*, owner_id: int) -> list[Preference]:
    """Return the hard constraints in force, by dimension; today's guard accepts them. One query."""
    return accepted(Preference.objects.filter(owner_id=owner_id).active().hard().order_by("dimension", "pk"))


def list_active(*, owner_id: int, limit: int) -> list[Preference]:
    """Return soft preferences in force that today's guard accepts, the newest first. One query."""
    active = Preference.objects.filter(owner_id=owner_id, kind=PreferenceKind.SOFT_PREFERENCE).active()
    return accepted(active.order_by("-decided_at", "-pk")[:limit])


def current_limits(row: Preference) -> list[Preference]:
    """Return the hard constraints in force of the same owner and dimension beside this one: the current limit."""
    limits = list_active_constraints(owner_id=row.owner_id)
    return [each for each in limits if each.dimension == row.dimension and each != row]


def list_in_force(row: Preference, *, limit: int) -> list[Preference]:
    """Return the newest active preferences of the same owner and dimension beside this one. One query."""
    active = Preference.objects.filter(owner_id=row.owner_id, dimension=row.dimension).active().exclude(pk=row.pk)
    return accepted(active.order_by("-decided_at", "-pk")[:limit])


def find_bridged(row: Preference) -> Any | None:
    """Return the memory that stands for a preference, deleted or not; None where none was written yet. One query.

    Memories are a table of memory_app, which stands above this app: reached by its name, never imported.
    """
    return stored_kinds()["memory"].model.objects.bridged(row.pk).order_by("-pk").first()


def is_bridge_waiting(row: Preference) -> bool:
    """Say whether the job that follows a preference has still to run for it. One query."""
    topics = [f"topic:{ACTIVATED}", f"topic:{ENDED}"]
    runs = JobRun.objects.filter(
        state__in=[RunState.QUEUED, RunState.RUNNING],
        requested_by__in=topics,
    )
    return any(row.pk in ids for ids in runs.order_by("-pk").values_list("arguments__ids", flat=True)[:MAX_RUNS])


def find_said(row: Preference) -> Turn | None:
    """Return the turn that a preference was mined out of, its session with it. One query, none for another one."""
    session_id, _colon, number = row.origin.removeprefix(TURN_ORIGIN).rpartition(":")
    sequence = parse_number(number)
    if not row.origin.startswith(TURN_ORIGIN) or sequence is None:
        return None
    turns = Turn.objects.filter(
        session__owner_id=row.owner_id,
        session_id=session_id,
        sequence=sequence,
    )
    return turns.select_related("session").only("user_message", "sequence", "session__title").first()


def list_history(row: Preference) -> list[AuditEntry]:
    """Return the newest acts on a preference, of acts on several too; at most 500 of these are read. One query."""
    acts = AuditEntry.objects.filter(
        owner_id=row.owner_id,
        tool_call__in=HISTORY_ACTS,
        at__gte=row.created_at,
    )
    of_several = Q(details__has_any_keys=["ids", "holds", "preferences"])
    found = acts.filter(Q(details__id=row.pk) | of_several).order_by("-at", "-pk")[:MAX_READ]
    return [entry for entry in found if is_about(entry, row)][:MAX_HISTORY]


def find_statement_before(row: Preference) -> str:
    """Return what a preference said before its last decision; empty where that changed no words. Two queries."""
    if row.text_version == 1:
        return ""
    past = list_past(PREFERENCE_KIND, row)
    if not past:  # of the demo
        first = Revision.objects.get(kind=PREFERENCE_KIND, key=str(row.pk), number=1)
        return str(first.texts["statement"])
    earlier, _now, made = past[0]
    return "" if made.undoes_id or earlier.statement == row.statement else str(earlier.statement)


def is_about(entry: AuditEntry, row: Preference) -> bool:
    """Say whether an act was done on this preference; the ids of a roll-back are those of memories."""
    details = entry.details
    if "rollback" in details:
        return row.pk in details.get("preferences", ())
    holds = (hold["object"] for hold in details.get("holds", ()))
    return row.pk in [details.get("id"), *details.get("ids", ()), *holds]


def find_writers(rows: Iterable[Any]) -> dict[int, str]:
    """Return by preference who wrote the words that it says now. One query at most."""
    rows = list(rows)
    edited = {str(row.pk): row.text_version for row in rows if row.text_version > 1}
    kept = Revision.objects.filter(kind=PREFERENCE_KIND, key__in=edited) if edited else ()
    writers = {int(each.key): each.actor for each in kept if each.number == edited[each.key]}
    return {row.pk: writers.get(row.pk, row.actor) for row in rows}


def accepted(rows: Iterable[Preference]) -> list[Preference]:
    """Return the rows that today's guard accepts, in their order."""
    found = list(rows)
    refused = find_refused(PREFERENCE_KIND, found)
    return [row for row in found if row.pk not in refused]


def is_refused(row: Preference) -> bool:
    """Say whether no agent reads it: it is held, or today's rules refuse it."""
    return row.held_at is not None or bool(find_refused(PREFERENCE_KIND, [row]))


def preference_record(row: Preference) -> dict[str, Any]:
    """Return a preference as API and commands answer it (contract)."""
    return {
        "id": row.pk,
        "dimension": row.dimension,
        "kind": row.kind,
        "statement": row.statement,
        "state": row.state,
        "source": row.source,
        "evidence_count": row.evidence_count,
        "origin": row.origin or None,
        "version": row.version,
        "decided_at": row.decided_at,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
