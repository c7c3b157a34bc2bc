"""Reads of learnings: one, a list, what is suggested for a message and why, and what is similar. Source: S2."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.conf import settings
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.core.ranking import MIN_COSINE, Counters
from learning_app.learnings.index import load_index
from learning_app.learnings.models import Learning, LearningQuerySet
from learning_app.similarity.core import TfidfIndex, Vector, count_terms
from minara_site.access.actors import name_writers
from minara_site.access.models import User
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.ownership import Owner

MAX_QUERY_CHARS = 4_000
FIRST_READ = 80
"""So many of the most similar are read first; twice as many each time that a further one may still rank higher."""
COUNTED = ("number", "success_count", "failure_count", "ignored_count")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A learning with its similarity and its rank among what is offered."""

    row: Learning
    cosine: float
    rank: float


def is_learning_on() -> bool:
    """Say whether turns are reviewed, and learnings stored and suggested."""
    return bool(settings.MINARA.minara_learning_enabled)


def require_learning_on() -> None:
    """Raise Conflict while learning is switched off."""
    if not is_learning_on():
        raise Conflict(_("Learning is switched off: MINARA_LEARNING_ENABLED is false."), code="learning_off")


def retention() -> timedelta:
    """Return how long a deleted learning can be restored."""
    return timedelta(days=settings.MINARA.fin_profile_memory_soft_delete_retention_days)


def get_learning(*, owner: Owner, uid: str) -> Learning:
    """Return one learning that is not deleted, with its owner. Raises NotFound also for another owner's."""
    rows = Learning.objects.for_owner(owner).filter(deleted_at__isnull=True).select_related("owner")
    row: Learning | None = rows.filter(uid=uid).first()
    if row is None:
        raise no_such_learning()
    return row


def no_such_learning() -> NotFound:
    """Return the refusal of what is not there, or another's."""
    return NotFound(_("There is no such learning."))


def list_learnings(*, owner: Owner) -> LearningQuerySet:
    """Return the learnings that are not deleted, those that the guard holds among them, unordered."""
    return Learning.objects.for_owner(owner).filter(deleted_at__isnull=True)


def find_suggested(
    *,
    owner_id: int,
    message: str,
    context: str = "",
    limit: int,
    is_forbidden: Callable[[str], bool] | None = None,
    as_of: datetime | None = None,
) -> list[Ranked]:
    """Return what is offered for a message, best first: similar enough, by rank, of equal ones the older.

    The `context` is what went before: its words count less than those of the message. The same rows and words give the
    same list. What `is_forbidden` says yes to is left out, and with `as_of` what was stored later.
    """
    index = load_index(owner_id)
    query, before = count_terms(message[:MAX_QUERY_CHARS]), count_terms(context[:MAX_QUERY_CHARS])
    cosines = index.cosines(query, before)
    near = np.flatnonzero(cosines >= MIN_COSINE)
    near = near[np.argsort(-cosines[near], kind="stable")]
    wanted = limit
    while True:
        best = find_best(index, cosines, near, wanted)
        live = Learning.objects.live() if as_of is None else Learning.objects.live().filter(created_at__lte=as_of)
        rows = live.in_bulk([number for number, _cosine, _rank in best])
        refused = find_refused(LEARNING_KIND, rows.values())
        refused |= {pk for pk, row in rows.items() if is_forbidden and is_forbidden(row.guarded_text)}
        found = [
            Ranked(
                rows[each[0]],
                *each[1:],
            )
            for each in best
            if each[0] in rows and each[0] not in refused
        ]
        if len(found) >= limit or len(best) < wanted:
            return found[:limit]
        wanted *= 4


def find_best(
    index: TfidfIndex[int],
    cosines: Vector,
    near: NDArray[np.intp],
    limit: int,
) -> list[tuple[int, float, float]]:
    """Return number, cosine and rank of the best; `near` are the places of the similar ones by their cosines.

    A rank is below its cosine: once the next cosine is not above the last rank, no other can rank higher.
    """
    best: list[tuple[int, float, float]] = []
    start, size = 0, FIRST_READ
    while limit and start < len(near) and (len(best) < limit or cosines[near[start]] > best[-1][2]):
        chosen = {index.keys[place]: float(cosines[place]) for place in near[start : start + size]}
        live = Learning.objects.live().filter(pk__in=list(chosen)).values_list(*COUNTED)
        if rows := list(live):
            numbers, *counts = np.array(rows).T
            similar = np.array([chosen[number] for number in numbers.tolist()])
            found = zip(
                numbers.tolist(),
                similar.tolist(),
                Counters(*counts).rank(similar).tolist(),
                strict=True,
            )
            best = sorted(
                [*best, *found],
                key=lambda each: (-each[2], each[0]),
            )[:limit]
        start, size = start + size, 2 * size
    return best


def find_similar(row: Learning, *, limit: int) -> list[tuple[Learning, float]]:
    """Return the owner's other learnings with the most similar triggers, with their cosine, best first."""
    index = load_index(row.owner_id)
    cosines = dict(
        zip(
            index.keys,
            index.cosines(count_terms(row.trigger)).tolist(),
            strict=True,
        )
    )
    near = sorted(
        ((number, cosine) for number, cosine in cosines.items() if cosine >= MIN_COSINE and number != row.pk),
        key=lambda pair: (-pair[1], pair[0]),
    )[:limit]
    rows = Learning.objects.live().in_bulk([number for number, _cosine in near])
    return [(rows[number], cosine) for number, cosine in near if number in rows]


def records_of(rows: Sequence[Learning], *, reader: User) -> list[dict[str, Any]]:
    """Return learnings as the API answers them, with whose word each is. Two queries at most."""
    named = ("name", "trigger", "tool_sequence", "guidance", "origin", "created_at", "updated_at")
    counted = ("success_count", "failure_count", "ignored_count", "last_used_at", "version")
    return [
        {
            "id": row.uid,
            "writer": writer,
            **{name: getattr(row, name) for name in (*named, *counted)},
        }
        | {"state": "held" if row.held_at else "live"}
        for row, writer in zip(rows, name_writers(rows, reader=reader), strict=True)
    ]
