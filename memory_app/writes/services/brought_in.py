"""What somebody else imports for an owner: whose word it is, and the notice for the owner. Source: decisions."""

from datetime import datetime

from django.db.models import F

from memory_app.writes.models import BroughtIn
from minara_site.access.actors import is_owner
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Source


def source_of_import(owner: User, actor: str) -> Source:
    """Return whose word a file is: the owner's when they import it themselves, and nobody's when another does."""
    return Source.USER_EXPLICIT if is_owner(actor, owner) else Source.INFERRED


def note_brought_in(
    *,
    owner: User,
    run: str,
    actor: str,
    file: str,
    memories: int,
    values: int,
    now: datetime,
) -> None:
    """Add what a slice of an import stored to what its owner is told, unless they import it themselves.

    Needs the transaction of that slice.
    """
    if is_owner(actor, owner) or not memories + values:
        return
    added = {"memories": F("memories") + memories, "values": F("values") + values}
    if not BroughtIn.objects.filter(run=run, owner=owner).update(**added, seen_at=None):
        said = {
            "actor": actor,
            "file": file[:255],
            "memories": memories,
            "values": values,
        }
        BroughtIn.objects.create(owner=owner, run=run, at=now, **said)


def note_seen(run: BroughtIn, *, at: datetime | None) -> None:
    """Note when the owner looked at an import, so that Home tells of it no more; None brings the notice back."""
    BroughtIn.objects.filter(pk=run.pk).update(seen_at=at)
