"""The triggers of an owner's learnings as one fitted index, kept by this process until they change.

What the guard holds is in it too; whoever finds something reads its row anew, and leaves out what is not live.
"""

import time
from collections import Counter, OrderedDict
from threading import Lock
from typing import Any, NamedTuple

from learning_app.learnings.models import Learning
from learning_app.similarity.core import TfidfIndex, terms_of

MAX_INDEXES = 32
MAX_AGE_SECONDS = 60
"""What a version does not tell, such as a row deleted by hand, counts after this time at the latest."""
Version = tuple[Any, ...]


class Fitted(NamedTuple):
    """An index, what it was fitted to, and when by the monotonic clock."""

    version: Version
    fitted: TfidfIndex[int]
    fitted_at: float


INDEXES: OrderedDict[int, Fitted] = OrderedDict()
_lock = Lock()


def load_index(owner_id: int) -> TfidfIndex[int]:
    """Return the index of the triggers as they are now; fitted anew after a change. Two short queries, or three."""
    version = get_version(owner_id)  # before the rows are read: what is written meanwhile makes this one out of date
    with _lock:
        known = INDEXES.get(owner_id)
        if known and known.version == version and time.monotonic() - known.fitted_at < MAX_AGE_SECONDS:
            INDEXES.move_to_end(owner_id)
            return known.fitted
    rows = (
        Learning.objects.filter(owner_id=owner_id, deleted_at__isnull=True)
        .order_by("number")
        .values_list("number", "trigger")
    )
    index = TfidfIndex({number: Counter(terms_of(trigger)) for number, trigger in rows.iterator(chunk_size=2_000)})
    with _lock:
        INDEXES[owner_id] = Fitted(version, index, time.monotonic())
        INDEXES.move_to_end(owner_id)
        if len(INDEXES) > MAX_INDEXES:
            INDEXES.popitem(last=False)
    return index


def get_version(owner_id: int) -> Version:
    """Return what differs once triggers were stored, deleted or restored; counters and holds do not move it."""
    own = Learning.objects.filter(owner_id=owner_id)
    newest = own.order_by("-number").values_list("number", flat=True).first()
    changed = own.order_by("-updated_at").values_list("updated_at", flat=True).first()
    return newest, changed
