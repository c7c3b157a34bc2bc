"""The triggers of an owner's live learnings as one fitted index, kept by this process until they change."""

from collections import Counter, OrderedDict
from threading import Lock
from typing import Any

from django.db.models import Count, Max

from learning_app.learnings.models import Learning
from learning_app.similarity.core import TfidfIndex, terms_of

MAX_INDEXES = 32
Version = tuple[Any, ...]

INDEXES: OrderedDict[int, tuple[Version, TfidfIndex[int]]] = OrderedDict()
_lock = Lock()


def load_index(owner_id: int) -> TfidfIndex[int]:
    """Return the index of the triggers as they are now; fitted anew after a change. Three short queries, or four."""
    version = get_version(owner_id)  # before the rows are read: what is written meanwhile makes this one out of date
    with _lock:
        known = INDEXES.get(owner_id)
        if known and known[0] == version:
            INDEXES.move_to_end(owner_id)
            return known[1]
    rows = Learning.objects.filter(owner_id=owner_id).live().order_by("number").values_list("number", "trigger")
    index = TfidfIndex({number: Counter(terms_of(trigger)) for number, trigger in rows.iterator(chunk_size=2_000)})
    with _lock:
        INDEXES[owner_id] = version, index
        INDEXES.move_to_end(owner_id)
        if len(INDEXES) > MAX_INDEXES:
            INDEXES.popitem(last=False)
    return index


def get_version(owner_id: int) -> Version:
    """Return what differs once triggers came or went: stored, deleted, restored, held or released.

    `updated_at` does not move with the counters.
    """
    own = Learning.objects.filter(owner_id=owner_id)
    newest = own.order_by("-number").values_list("number", flat=True).first()
    changed = own.order_by("-updated_at").values_list("updated_at", flat=True).first()
    held = own.filter(held_at__isnull=False).aggregate(count=Count("number"), newest=Max("held_at"))
    return newest, changed, held["count"], held["newest"]
