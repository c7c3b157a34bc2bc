"""What undoing acts would do, and the history of a row."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from datetime import datetime
from typing import Any

from minara_site.kernel.changes.core import TEXT_VERSION, Plan, Stay, Step, is_same_state, undo_changes
from minara_site.kernel.changes.kinds import Changes, changes_of
from minara_site.kernel.changes.models import Change, ChangeSet, Revision
from minara_site.kernel.db import slices
from minara_site.kernel.ownership import EVERYONE, Owner, lock_owners
from minara_site.kernel.unchanged import UnchangedReason


def plan_undo(
    sets: Any,
    made: Mapping[str, Collection[str]] = {},
    *,
    actor: str,
    now: datetime,
    owner: Owner = EVERYONE,
    kinds: Collection[str] | None = None,
    only: tuple[str, str] | None = None,
    lock: bool = False,
) -> Plan:
    """Return what undoing these sets, and the creation of the rows `made`, would do to the rows of this owner.

    Of each row its changes of these sets are undone from the newest on, as long as it reads what they left; of a row
    that they made its creation. `sets` are ids or a queryset, `made` are keys by kind, whose owners the caller locks.
    Only rows of these `kinds`, where some are named, or `only` the row of this kind and key. `lock` keeps
    rows until the transaction ends.
    """
    changes = Change.objects.done().filter(set__in=sets)
    changes = changes if kinds is None else changes.filter(kind__in=kinds)
    changes = changes if only is None else changes.filter(kind=only[0], key=only[1])
    newest = list(changes.for_owner(owner).order_by("-pk"))
    if lock:
        lock_owners(change.owner_id for change in newest)
    plan = Plan(now, owner is not EVERYONE and changes.exclude(owner=owner).exists())
    for name, kind in changes_of().items():
        steps, stays = plan_rows(
            kind, [each for each in newest if each.kind == name], made.get(name, ()), actor=actor, now=now, lock=lock
        )
        plan.steps.extend(steps)
        plan.stays.extend(stays)
        plan.follows.extend(kind.follows(steps))
    return plan


def plan_rows(
    kind: Changes,
    changes: Iterable[Change],
    made: Collection[str] = (),
    *,
    actor: str,
    now: datetime,
    lock: bool,
) -> tuple[list[Step], list[Stay]]:
    """Return where rows of one kind go whose `changes`, newest first, are undone, and which stay."""
    past: Any = defaultdict(list)
    created = set(made)
    for change in changes:
        if change.before is None:
            created.add(change.key)
        else:
            past[change.key].append(change)
    keys = past.keys() | created
    rows, steps = kind.load(keys, lock=lock), list[Step]()
    reasons = dict.fromkeys(sorted(keys - rows.keys()), UnchangedReason.GONE)
    as_made = {
        change.key: kind.unpack(change.after if change.before is None else change.before)
        for change in reversed(list_changes(kind, created))
    }
    for key, row in rows.items():
        state = kind.state_of(row)
        pairs = [(kind.unpack(change.before), kind.unpack(change.after)) for change in past.get(key, ())]
        target, was_made = undo_changes(state, pairs, kind.beside), as_made.get(key, state)
        is_made = key in created and (kind.whatever_since or is_same_state(target, was_made, kind.beside))
        if is_made:
            target = kind.gone(target, actor=actor, now=now)
        left = pairs[0][1] if pairs else was_made
        if target != state:
            target = kind.sign(state, target, actor=actor)
            steps.append(Step(kind.name, key, row, row.owner_id, state, target))
        elif state.get(TEXT_VERSION) != left.get(TEXT_VERSION):
            reasons[key] = UnchangedReason.EDITED_SINCE
        elif not (is_made and kind.whatever_since):
            reasons[key] = kind.differs
    newest = {key: changes[0].pk for key, changes in past.items()}
    later = [change for change in list_changes(kind, reasons) if change.pk > newest.get(change.key, 0)]
    since = {change.key: change.set for change in later}
    reasons |= kind.may_restore(steps, actor=actor, now=now)
    stays = [Stay(kind.name, key, rows.get(key), reason, since.get(key)) for key, reason in reasons.items()]
    return [step for step in steps if step.key not in reasons], stays


def list_changes(kind: Changes, keys: Iterable[str]) -> list[Change]:
    """Return every change of these rows with its set, the oldest of each first."""
    of_kind = Change.objects.done().filter(kind=kind.name).select_related("set").order_by("pk")
    return [change for some in slices(keys) for change in of_kind.filter(key__in=some)]


def list_history(kind: str, row: Any) -> list[tuple[Any, Any, ChangeSet]]:
    """Return what acts made of a row, newest first: copies before and after, which are masked and judged like it."""
    facet, key = changes_of()[kind], str(row.pk)
    words: Any = dict(Revision.objects.filter(kind=kind, key=key).values_list("number", "texts"))

    def reads(values: Any) -> Any:
        earlier, state = copy(row), facet.unpack(values)
        vars(earlier).update({**state, **words.get(state.get(TEXT_VERSION), {})})
        return earlier

    past = reversed(list_changes(facet, [key]))
    return [(reads(change.before), reads(change.after), change.set) for change in past]
