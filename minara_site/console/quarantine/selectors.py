"""Reads of the queue: holds, and the texts that they are about, of whatever kind."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import BigIntegerField
from django.utils.translation import gettext as _

from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.kinds import HeldText, stored_kinds
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.ownership import Owner


def get_hold(*, owner: Owner, hold_id: int) -> Hold:
    """Return one hold, open or decided. Raises NotFound also for another owner's."""
    return get_holds(owner=owner, hold_ids=[hold_id])[0]


def get_holds(*, owner: Owner, hold_ids: Iterable[int]) -> list[Hold]:
    """Return exactly these holds. Raises NotFound when one is unknown to this reader."""
    wanted = set(hold_ids)
    fitting = [pk for pk in wanted if pk <= BigIntegerField.MAX_BIGINT]  # SQLite fails on a larger number
    found = list(Hold.objects.for_owner(owner).filter(pk__in=fitting).order_by("pk"))
    if len(found) != len(wanted):
        raise NotFound(_("There is no such hold."))
    return found


def load_texts(holds: Sequence[Hold]) -> dict[int, HeldText]:
    """Return the texts of open holds, by the id of the hold; decided ones have none. At most two queries a kind."""
    by_kind: defaultdict[str, dict[int, Hold]] = defaultdict(dict)
    for hold in holds:
        if hold.decision is None:
            by_kind[hold.kind][hold.object_id] = hold
    kinds = stored_kinds()
    return {
        own[object_id].pk: text
        for name, own in by_kind.items()
        for object_id, text in kinds[name].load_texts(own).items()
    }
