"""Reads of conversations."""

from django.utils.translation import gettext as _

from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.errors import NotFound
from minara_site.kernel.ownership import Owner

TURNS_READ = 200


def get_session(*, owner: Owner, session_id: str, lock: bool = False) -> Session:
    """Return one session. Raises NotFound also for another owner's."""
    rows = Session.objects.for_owner(owner)
    if lock:
        rows = rows.select_for_update(of=("self",))
    session: Session | None = rows.filter(pk=session_id).first()
    if session is None:
        raise NotFound(_("There is no such session."))
    return session


def load_tool_tiers(*, owner_id: int) -> dict[str, int]:
    """Return the permission tier of each tool as the owner's turns said it last; reads those of the newest sessions."""
    turns = Turn.objects.filter(session__owner_id=owner_id)
    newest_first = turns.order_by("-session__created_at", "-session_id", "-sequence")  # two indexes, and no sort
    said = sorted(newest_first.values_list("pk", "tool_tiers")[:TURNS_READ])
    return {tool: tier for _pk, tiers in said for tool, tier in tiers.items()}
