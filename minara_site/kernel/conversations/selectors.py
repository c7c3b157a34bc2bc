"""Reads of conversations."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.ownership import Owner

TURNS_READ = 200


def get_session(*, owner: Owner, session_id: str, lock: bool = False) -> Session:
    """Return one session. Raises NotFound also for another owner's."""
    rows = Session.objects.for_owner(owner)
    if lock:
        rows = rows.select_for_update(of=("self",))
    return or_not_found(rows.filter(pk=session_id).first(), _("There is no such session."))


@dataclass(frozen=True, slots=True)
class ToolMarks:
    """What turns said last of tools: their permission tiers, and whether they ask their user first."""

    tiers: Mapping[str, int]
    confirmations: Mapping[str, bool]


def load_tool_marks(*, owner_id: int) -> ToolMarks:
    """Return what the owner's turns said of each tool last; reads those of the newest sessions."""
    turns = Turn.objects.filter(session__owner_id=owner_id)
    newest_first = turns.order_by("-session__created_at", "-session_id", "-sequence")  # two indexes, and no sort
    said = sorted(
        newest_first.values_list("pk", "tool_tiers", "tool_confirmations")[:TURNS_READ],
        key=lambda row: row[0],
    )
    return ToolMarks(
        {tool: tier for _pk, tiers, _asks in said for tool, tier in tiers.items()},
        {tool: asks for _pk, _tiers, confirmations in said for tool, asks in confirmations.items()},
    )
