"""Reads of prompts: what a session was given, and what one would be given now."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from memory_app.memories.prompt_rows import load_personalization_rows
from memory_app.snapshot.core import LeftOut
from memory_app.snapshot.selectors import count_left_out, load_memory_block
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.errors import Gone, NotFound
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import storable_problem
from profile_app.prompt.core import Prompt, assemble_prompt, render_personalization
from profile_app.prompt.models import TEXTS, SessionSnapshot


@dataclass(frozen=True)
class Assembled:
    """A prompt and what it leaves out."""

    prompt: Prompt
    left_out: tuple[LeftOut, ...]


def load_next_prompt(*, owner: Owner, now: datetime) -> Prompt:
    """Return what a session of this owner that begins now would read. Six queries."""
    rows = load_personalization_rows(owner=owner)
    memory = load_memory_block(owner=owner, without=[row.id for row in rows], as_of=now)
    return assemble_prompt(personalization=render_personalization(rows), memory=memory)


def load_prompt(*, owner: Owner, now: datetime) -> Assembled:
    """Return the prompt of a session that begins now, and what it leaves out."""
    prompt = load_next_prompt(owner=owner, now=now)
    return Assembled(prompt, count_left_out(owner=owner, carried=len(prompt.memory_ids), now=now))


def list_sessions(*, owner: Owner) -> "QuerySet[Session]":
    """Return the sessions with their snapshots, unordered and without the texts: the list orders them."""
    sessions: QuerySet[Session] = Session.objects.for_owner(owner).select_related("snapshot")
    return sessions.defer(*(f"snapshot__{text}" for text in TEXTS))


def get_snapshot(*, owner: Owner, session_id: str) -> SessionSnapshot:
    """Return the snapshot of a session. Raises NotFound also for another owner's."""
    snapshots = SessionSnapshot.objects.for_owner(owner).select_related("session")
    is_id = storable_problem(session_id) is None
    snapshot: SessionSnapshot | None = snapshots.filter(pk=session_id).first() if is_id else None
    if snapshot is None:
        raise NotFound(_("There is no such session."))
    return snapshot


def get_frozen_prompt(*, owner: Owner, session_id: str) -> SessionSnapshot:
    """Return the snapshot of a running session. Raises NotFound, and Gone when its texts have been wiped."""
    snapshot = get_snapshot(owner=owner, session_id=session_id)
    if snapshot.is_wiped:
        raise Gone(_("This session is over and its prompt has been wiped. Start a new session."), code="prompt_wiped")
    return snapshot


def find_current(*, owner: Owner) -> SessionSnapshot | None:
    """Return the snapshot of the newest running session; without one, that of the session that ended last."""
    snapshots = SessionSnapshot.objects.for_owner(owner).select_related("session")
    running_first = F("wiped_at").desc(nulls_first=True)
    return snapshots.order_by(running_first, "-session__created_at", "-session_id").first()


def list_newest_snapshots(*, owner: Owner, limit: int) -> list[SessionSnapshot]:
    """Return the snapshots of the newest sessions, the newest first, without their texts."""
    snapshots = SessionSnapshot.objects.for_owner(owner).select_related("session").defer(*TEXTS)
    return list(snapshots.order_by("-session__created_at", "-session_id")[:limit])


def find_previous(snapshot: SessionSnapshot) -> SessionSnapshot | None:
    """Return the snapshot of the session that its owner began before this one."""
    session = snapshot.session
    earlier = SessionSnapshot.objects.filter(
        session__owner_id=session.owner_id, session__created_at__lt=session.created_at
    )
    return earlier.order_by("-session__created_at", "-session_id").first()
