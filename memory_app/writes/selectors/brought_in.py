"""What others imported for an owner, and what became of it."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memory_app.memories.models import Memory
from memory_app.memories.selectors import retention_cutoff
from memory_app.writes.models import BroughtIn, WriteRollback
from memory_app.writes.selectors.anomalies import list_rows_of
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.errors import or_not_found

MAX_RUNS = 20


@dataclass(frozen=True, slots=True)
class BroughtInRow:
    """An import by somebody else, with their name."""

    run: BroughtIn
    who: str


def list_brought_in(owner: User, *, unseen: bool = False) -> list[BroughtInRow]:
    """Return what others imported for this owner, the newest first; `unseen` keeps what they have not looked at.

    Three queries at most.
    """
    rows = BroughtIn.objects.for_owner(owner).order_by("-at", "-pk")
    runs = list((rows.filter(seen_at=None) if unseen else rows)[:MAX_RUNS])
    names = name_actors({run.actor for run in runs}, reader=owner) if runs else {}
    return [BroughtInRow(run, names[run.actor]) for run in runs]


def get_brought_in(owner: User, brought_in_id: int) -> BroughtIn:
    """Return one import by somebody else for this owner. Raises NotFound."""
    return or_not_found(
        BroughtIn.objects.for_owner(owner).filter(pk=brought_in_id).first(), _("There is no such import.")
    )


def list_memories_of(run: BroughtIn, *, now: datetime) -> "QuerySet[Memory]":
    """Return the memories that an import stored and that can still be opened, for the list to order."""
    return list_rows_of(run.writer).filter(owner=run.owner).exclude(deleted_at__lte=retention_cutoff(now))


def find_own_roll_back(run: BroughtIn) -> WriteRollback | None:
    """Return the roll-back of an import by its owner that stands, None without one. Operators' are theirs to undo."""
    own = WriteRollback.objects.filter(
        writer=run.writer,
        actor=f"user:{run.owner_id}",
        undoes=None,
        undone_by=None,
    )
    return own.order_by("-pk").first()
