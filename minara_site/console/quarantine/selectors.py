"""Reads of the queue: holds, and the texts that they are about, of whatever kind."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import BigIntegerField
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.kinds import HeldText, stored_kinds
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.ownership import Owner

UNDOABLE = frozenset({Decision.RELEASED, Decision.DISCARDED})


def get_hold(*, owner: Owner, hold_id: int) -> Hold:
    """Return one hold, open or decided. Raises NotFound also for another owner's."""
    return get_holds(owner=owner, hold_ids=[hold_id])[0]


def get_holds(*, owner: Owner, hold_ids: Iterable[int]) -> list[Hold]:
    """Return exactly these holds. Raises NotFound when one is unknown to this reader."""
    wanted = set(hold_ids)
    fitting = [pk for pk in wanted if pk <= BigIntegerField.MAX_BIGINT]  # SQLite fails on a larger number
    found = list(Hold.objects.for_owner(owner).filter(pk__in=fitting).select_related("owner").order_by("pk"))
    if len(found) != len(wanted):
        raise NotFound(_("There is no such hold."))
    return found


def load_texts(holds: Sequence[Hold]) -> dict[int, HeldText]:
    """Return the texts that wait or can be held again, by the id of the hold. At most two queries a kind.

    Of what was decided that is the text that was decided on, while its row still says that.
    """
    by_kind: defaultdict[str, dict[int, Hold]] = defaultdict(dict)
    for hold in holds:
        if hold.decision is None or (hold.decision in UNDOABLE and hold.undone_at is None):
            by_kind[hold.kind][hold.object_id] = hold
    kinds = stored_kinds()
    return {
        own[object_id].pk: text
        for name, own in by_kind.items()
        for object_id, text in kinds[name].load_texts(own).items()
        if own[object_id].decision is None or content_digest(text.text) == own[object_id].content_sha256
    }


def decided_with(hold: Hold, *, owner: Owner) -> list[int]:
    """Return the ids of the holds that were decided by the same act and count still; of itself without others."""
    if hold.decision is None:
        return [hold.pk]
    together = Hold.objects.for_owner(owner).decided(Decision(hold.decision))
    same_act = together.filter(decided_by=hold.decided_by, decided_at=hold.decided_at)
    return list(same_act.values_list("pk", flat=True)) or [hold.pk]


def count_decided(actor: str, *, since: datetime) -> int:
    """Return how many texts somebody has released or discarded since a moment, those held again left out."""
    decided = Hold.objects.filter(
        decided_by=actor,
        decided_at__gte=since,
        decision__in=UNDOABLE,
        undone_at=None,
    )
    return int(decided.count())


def find_newest_decided() -> Hold | None:
    """Return the hold on which a person decided last."""
    newest = [Hold.objects.decided(each).order_by("-decided_at", "-pk").first() for each in UNDOABLE]
    return max(
        filter(None, newest),
        key=lambda hold: (hold.decided_at, hold.pk),
        default=None,
    )
