"""Undoing the last act on a row, as a person does from a toast."""

from datetime import datetime, timedelta
from typing import Any

from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.changes.models import Change, ChangeSet
from minara_site.shell.undo import undo_set
from tests.kit.clock import NOON


def last_set(kind: str, row: Any) -> ChangeSet:
    """Return the set that changed a row last."""
    change: Change = Change.objects.filter(kind=kind, key=str(row.pk)).select_related("set").latest("pk")
    return change.set


def undo_last(kind: str, row: Any, *, by: User, now: datetime = NOON + timedelta(hours=1)) -> ChangeSet:
    """Undo what was done last to a row, with all that was done in the same act, and read the row anew."""
    made, _plan = undo_set(last_set(kind, row).pk, principal=Principal(by, by.role), now=now)
    row.refresh_from_db()
    return made
