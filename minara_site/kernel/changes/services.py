"""Recording what an act changed, keeping earlier words, and carrying out plans."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from time import monotonic, sleep
from typing import Any

from django.db import transaction
from django.db.models import Q

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.audit_log.table import load_acts
from minara_site.kernel.changes.core import Plan, State, Step
from minara_site.kernel.changes.kinds import changes_of
from minara_site.kernel.changes.models import Change, ChangeSet, Revision, SetState
from minara_site.kernel.changes.selectors import plan_rows
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.db import slices
from minara_site.kernel.jobs.services import Cancelled, Claim, report_progress, request_run
from minara_site.kernel.ownership import lock_owners

UNDONE, APPLY = "undone", "changes.apply"
AT_ONCE, WITH_TEXTS = 500, 200
"""How many rows one transaction moves: of states, and of kinds whose words are judged when they come back."""
Watched = Sequence[tuple[str, Any, State]]


def watch(kind: str, rows: Sequence[Any]) -> Watched:
    """Return locked rows with what they read now: `record` compares with it once the act has changed them."""
    facet = changes_of()[kind]
    return [(kind, row, facet.state_of(row)) for row in rows]


def made_rows(kind: str, rows: Sequence[Any]) -> Watched:
    """Return rows that the act makes beside what it changes: an undo of it undoes their creation."""
    return [(kind, row, {}) for row in rows]


def record(act: str, watched: Watched, **about: Any) -> ChangeSet | None:
    """Store what an act changed on rows, in its transaction; None when it changed nothing.

    `about` are columns of the set: actor, at, reason, run. An act that only makes rows needs no set: its audit entry,
    or its run, names them.
    """
    kinds = changes_of()
    steps = [
        Step(kind, str(row.pk), row, row.owner_id, before, after)
        for kind, row, before in watched
        if before != (after := kinds[kind].state_of(row))
    ]
    return store_set(steps, act=act, **about) if steps else None


def name_set(made: ChangeSet | None) -> dict[str, int]:
    """Return what the audit entries of an act say of its set."""
    return {"change_set": made.pk} if made else {}


def store_set(steps: Sequence[Step], *, reason: str = "", **columns: Any) -> ChangeSet:
    """Store a set with its changes; secrets are taken out of the reason."""
    kinds = changes_of()
    made = ChangeSet.objects.create(reason=redact_text(reason)[:200], **columns)
    changes = [
        Change(
            set=made,
            kind=step.kind,
            key=step.key,
            owner_id=step.owner_id,
            before=kinds[step.kind].pack(step.before) if step.before else None,
            after=kinds[step.kind].pack(step.after),
        )
        for step in steps
    ]
    Change.objects.bulk_create(changes, batch_size=AT_ONCE)
    return made


def keep_texts(kind: str, row: Any, earlier: dict[str, Any], *, actor: str, now: datetime) -> None:
    """Keep the words that an act gave to a locked row as its next version, unsaved; the `earlier` ones as the first."""
    about = {"kind": kind, "key": str(row.pk), "owner_id": row.owner_id}
    kept = Revision.objects.filter(kind=kind, key=str(row.pk)).count()
    row.text_version = (kept or 1) + 1
    texts = {name: getattr(row, name) for name in earlier}
    first = Revision(**about, number=1, texts=earlier, actor=row.actor, at=row.created_at)
    newest = Revision(**about, number=row.text_version, texts=texts, actor=actor, at=now)
    Revision.objects.bulk_create([newest] if kept else [first, newest])


def delete_texts(kind: str, keys: Collection[Any]) -> None:
    """Delete the earlier words of rows that are purged, in that transaction; changes keep their states."""
    Revision.objects.filter(kind=kind, key__in=map(str, keys)).delete()


def erase_owner(owner_id: int) -> None:
    """Delete the reasons of acts by an owner or on their rows, before these go and take changes and words along."""
    ChangeSet.objects.filter(Q(changes__owner=owner_id) | Q(actor=f"user:{owner_id}")).update(reason="")


def apply_plan(plan: Plan, *, in_one: bool = False, **about: Any) -> ChangeSet:
    """Carry out a plan as a set, in the transaction that holds its rows; `about` are columns of the set.

    More than AT_ONCE rows are stored, and a job moves them, unless all is to be `in_one` transaction.
    """
    is_large = len(plan.steps) > AT_ONCE and not in_one
    made = store_set(plan.steps, at=plan.at, state=SetState.RUNNING if is_large else SetState.DONE, **about)
    if is_large:
        request_run(APPLY, {"set_id": made.pk}, now=plan.at, requested_by=made.actor)
        return made
    for kind, steps in groupby(plan.steps, key=attrgetter("kind")):
        for some in slices(steps):
            move(kind, some, made=made)
    return made


def apply_set(set_id: int, *, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Carry out a running set in slices; return how many rows moved, and how many had changed meanwhile.

    It waits between two as long as the last one took, so that others can write. Stopped, it leaves what is done.
    """
    changes, done = Change.objects.filter(set=set_id), 0
    total = changes.count()
    try:
        while True:
            report_progress(claim, done, total)
            begun = monotonic()
            with transaction.atomic():
                moved = apply_next(set_id)
            if moved is None:
                break
            done += moved
            sleep(monotonic() - begun)
    except Cancelled:
        stop(set_id)
        raise
    return {"moved": done, "changed": total - changes.count()}


def undo_replaced(act: str, kind: str, holds: Mapping[int, Any], *, actor: str, now: datetime) -> None:
    """Undo what rows replaced by acts of the moment of their release, which is taken back; the rows themselves stay.

    `holds` are the decisions of the guard by the row's id. What changed since stays as it is. Needs a transaction.
    """
    made_by = {"changes__kind": kind, "changes__key__in": list(map(str, holds)), "changes__before__isnull": True}
    released = [hold.decided_at for hold in holds.values()]
    for made in ChangeSet.objects.filter(act=act, at__in=released, undone_by=None, **made_by).order_by("pk"):
        changes = made.changes.filter(before__isnull=False).order_by("-pk")
        steps, stays = plan_rows(changes_of()[kind], changes, actor=actor, now=now, lock=True)
        if steps:
            apply_plan(Plan(now, steps=steps, stays=stays), act=UNDONE, actor=actor, undoes=made)


def lock_running(set_id: int) -> ChangeSet | None:
    """Lock a set that is still running, until the transaction ends; None for another."""
    sets = ChangeSet.objects.select_related("undoes").select_for_update(of=("self",))
    return sets.filter(pk=set_id, state=SetState.RUNNING).first()


def stop(set_id: int) -> None:
    """End a set that is still running: what is done stays, and can be undone."""
    with transaction.atomic():
        if made := lock_running(set_id):
            made.changes.filter(pk__gt=made.position).delete()
            made.state = SetState.STOPPED
            made.save()


def apply_next(set_id: int) -> int | None:
    """Move the next rows of a running set that read as planned and return how many; the changes of others are deleted.

    After the last rows the set is done: None. Needs a transaction.
    """
    if (made := lock_running(set_id)) is None:
        return None
    left = list(made.changes.filter(pk__gt=made.position).order_by("pk")[:AT_ONCE])
    if not left:
        made.state = SetState.DONE
        made.save()
        return None
    kind = changes_of()[left[0].kind]
    changes = [change for change in left if change.kind == kind.name][: WITH_TEXTS if kind.texts else AT_ONCE]
    lock_owners(change.owner_id for change in changes)
    for change in changes:  # done, not undone
        change.before, change.after = change.after, change.before
    moves, stays = plan_rows(kind, changes, actor=made.actor, now=made.at, lock=True)
    move(kind.name, moves, made=made)
    made.changes.filter(kind=kind.name, key__in=[stay.key for stay in stays]).delete()
    made.position = changes[-1].pk
    made.save()
    return len(moves)


def move(kind: str, steps: Sequence[Step], *, made: ChangeSet) -> None:
    """Give locked rows of one kind what they are to read, with their earlier words, and store them.

    An undo is told in the audit log for each owner of rows, in the name of the undo of its act: ids and their count.
    """
    facet = changes_of()[kind]
    texts = facet.load_texts(steps)
    for step in steps:
        vars(step.row).update({**step.after, **texts.get(step.key, {})})
    facet.restore(steps, made=made)
    if not made.undoes or made.act != UNDONE:
        return
    act = load_acts().get(made.undoes.act)
    for owner_id in dict.fromkeys(step.owner_id for step in steps):
        own = [step for step in steps if step.owner_id == owner_id]
        record_audit(
            now=made.at,
            actor=made.actor,
            tool_call=(act and act.undone_as) or UNDONE,
            owner_id=owner_id,
            details={"change_set": made.pk, "undoes": made.undoes_id, "count": len(own), **facet.name_rows(own)},
        )
