"""Reads of the turns of a session and of what was taken from them."""

from collections.abc import Sequence

from django.db.models import Max, Q

from learning_app.learnings.core import turn_origin
from memory_app.memories.models import Memory
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.core.vocabulary import Category
from profile_app.portrait.selectors.profile import load_profile

TURNS_OF_PAGE = 20


def load_turns(session: Session, *, turn: int) -> tuple[list[Turn], int, int]:
    """Return the turns of the page that has one, the last page for a later one, in their order.

    With the session's last turn and the last one read for memories: sequences, 0 for none. Three queries: sequences
    have no gaps.
    """
    cursor = int(load_profile(session.owner_id).last_indexed_chat_id or 0)
    found = session.turns.aggregate(last=Max("sequence"), last_read=Max("sequence", filter=Q(pk__lte=cursor)))
    last = found["last"] or 0
    before = max(min(turn, last) - 1, 0) // TURNS_OF_PAGE * TURNS_OF_PAGE
    turns = session.turns.filter(sequence__gt=before).order_by("sequence")[:TURNS_OF_PAGE]
    return list(turns), last, found["last_read"] or 0


def find_facts(session: Session, turns: Sequence[Turn]) -> dict[str, list[Memory]]:
    """Return by origin what rebuilds took from these turns and agents read. One query."""
    origins = [turn_origin(session.pk, turn.sequence) for turn in turns]
    rows = Memory.objects.filter(owner_id=session.owner_id, category=Category.PERSONALIZATION, origin__in=origins)
    facts: dict[str, list[Memory]] = {}
    for memory in rows.live().order_by("pk"):
        facts.setdefault(memory.origin, []).append(memory)
    return facts
