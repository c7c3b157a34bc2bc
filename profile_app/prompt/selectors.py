"""Reads of prompts: what a session was given, and what one would be given now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from learning_app.preferences.limits import Limit, limits_of, load_limit_rows
from learning_app.preferences.selectors import list_active
from memory_app.memories.core.prompt import MemoryRow
from memory_app.memories.models import Memory
from memory_app.memories.prompt_rows import LeftOutRows, load_prompt_rows
from memory_app.snapshot.core import LeftOut
from memory_app.snapshot.selectors import count_left_out, load_memory_block
from minara_site.access.models import User
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.errors import Gone, or_not_found
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import storable_problem
from profile_app.documents.core import CUSTOM_PROMPT
from profile_app.portrait.core.profile import INCLUDE_MEMORIES
from profile_app.portrait.core.sections import Portrait, PreferenceRow, costs_of
from profile_app.portrait.selectors.profile import load_profile_texts, load_settings
from profile_app.portrait.selectors.tags import stable_tags
from profile_app.prompt.core import Prompt, assemble_prompt
from profile_app.prompt.core.blocks import memory_documents, render_personalization, render_prefix
from profile_app.prompt.models import TEXTS, SessionSnapshot
from profile_app.workspace.selectors import PromptFiles, load_prompt_files, today_of

MAX_PREFERENCES = 50


@dataclass(frozen=True)
class Assembled:
    """A prompt and what it leaves out; by which switches, how its owner has them, and what each costs when on."""

    prompt: Prompt
    left_out: tuple[LeftOut, ...]
    switches: Mapping[str, bool]
    own_switches: Mapping[str, bool]
    costs: Mapping[str, int]


def load_next_prompt(*, owner: User, now: datetime) -> Prompt:
    """Return what a session of this owner that begins now would read. At most 14 queries."""
    switches = load_settings(owner.pk)
    return assemble(load_texts(owner, switches, now=now), switches, now=now)


def load_prompt(
    *,
    owner: User,
    now: datetime,
    tried: Mapping[str, bool] | None = None,
) -> Assembled:
    """Return the prompt of a session that begins now, and what it leaves out; `tried` flags instead of the owner's."""
    own = load_settings(owner.pk)
    used = {**own, **(tried or {})}
    texts = load_texts(owner, used, now=now)
    prompt = assemble(texts, used, now=now)
    is_hidden = not used[INCLUDE_MEMORIES]
    left_out = count_left_out(
        owner=owner,
        carried=len(prompt.memory_ids),
        is_hidden=is_hidden,
        left_out=texts.left_out,
        now=now,
    )
    return Assembled(
        prompt,
        left_out,
        used,
        own,
        costs_of(texts.portrait),
    )


@dataclass(frozen=True)
class PromptTexts:
    """What a prompt may carry of its owner."""

    owner: User
    files: PromptFiles
    portrait: Portrait
    limits: Sequence[Limit]
    observations: Sequence[MemoryRow]
    left_out: LeftOutRows


def load_texts(
    owner: User,
    switches: Mapping[str, bool],
    *,
    now: datetime,
) -> PromptTexts:
    """Read what the owner wrote or is known by. With intent gating the core of it alone (S3)."""
    is_gated = settings.MINARA.chat_intent_gating_enabled
    files = load_prompt_files(owner=owner, today=today_of(owner, now))
    texts = load_profile_texts(owner.pk)
    limits, is_hidden = load_limit_rows(owner.pk), not switches[INCLUDE_MEMORIES]
    memories = load_prompt_rows(owner=owner, is_hidden=is_hidden, limits=limits)
    portrait = Portrait(
        summaries=texts,
        tags=stable_tags(owner.pk),
        memories=memories.personalization,
        preferences=load_preferences(owner.pk, memories.left_out) if is_gated else (),
        custom_prompt=texts.get(CUSTOM_PROMPT, ""),
        user_file=files.user,
    )
    return PromptTexts(owner, files, portrait, limits_of(limits, owner.pk), memories.observations, memories.left_out)


def load_preferences(owner_id: int, left_out: LeftOutRows) -> list[PreferenceRow]:
    """Return the soft preferences in force, the newest first; not those whose memories are left out."""
    rows = list_active(owner_id=owner_id, limit=MAX_PREFERENCES)
    gone = {row.preference_id for row in Memory.objects.filter(pk__in=left_out)} if left_out else ()
    return [PreferenceRow(row.dimension, row.statement) for row in rows if row.pk not in gone]


def assemble(
    texts: PromptTexts,
    switches: Mapping[str, bool],
    *,
    now: datetime,
) -> Prompt:
    """Return the prompt of these texts with the memories that go with them.

    A memory that says what a preference of its section says is carried by that line: no text is there twice.
    """
    files, stated = texts.files, {row.statement for row in texts.portrait.preferences}
    repeated = [row for row in texts.observations if row.category == Category.PREFERENCE and row.content in stated]
    prompt = assemble_prompt(
        prefix=render_prefix(
            soul=files.soul,
            agents=files.agents,
            bootstrap=files.bootstrap,
        ),
        personalization=render_personalization(texts.portrait, switches, texts.limits),
        memory=load_memory_block(
            owner=texts.owner,
            observations=[row for row in texts.observations if row not in repeated],
            documents=memory_documents(files.memory, files.notes),
            limits=texts.limits,
            as_of=now,
        ),
    )
    return replace(
        prompt,
        memory_ids=(
            *prompt.memory_ids,
            *(row.id for row in repeated),
            *(memory_id for limit in texts.limits for memory_id in limit.memory_ids),
        ),
    )


def masked_prompt(prompt: Prompt) -> Prompt:
    """Return a prompt as a reader other than its owner may see it; every character keeps its place."""
    texts: dict[str, Any] = {name: mask(getattr(prompt, name)) for name in TEXTS}
    return replace(prompt, **texts)


def list_sessions(*, owner: Owner) -> "QuerySet[Session]":
    """Return the sessions with their snapshots, unordered and without the texts: the list orders them."""
    sessions: QuerySet[Session] = Session.objects.for_owner(owner).select_related("snapshot")
    return sessions.defer(*(f"snapshot__{text}" for text in TEXTS))


def get_snapshot(*, owner: Owner, session_id: str) -> SessionSnapshot:
    """Return the snapshot of a session. Raises NotFound also for another owner's."""
    snapshots = SessionSnapshot.objects.for_owner(owner).select_related("session")
    is_id = storable_problem(session_id) is None
    return or_not_found(snapshots.filter(pk=session_id).first() if is_id else None, _("There is no such session."))


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
        session__owner_id=session.owner_id,
        session__created_at__lt=session.created_at,
    )
    return earlier.order_by("-session__created_at", "-session_id").first()
