"""Writes of prompts: freeze one at the start of a session, wipe it after the end."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction

from memory_app.snapshot.services import record_carried
from minara_site.access.models import User
from minara_site.kernel.conversations import services as conversations
from minara_site.kernel.conversations.models import USUAL_TIER, Session
from minara_site.kernel.conversations.services import idle_after
from minara_site.kernel.ownership import Owner, lock_owner
from profile_app.prompt.models import TEXTS, SessionSnapshot
from profile_app.prompt.selectors import load_prompt
from profile_app.workspace.services.bootstrap import claim_bootstrap
from profile_app.workspace.services.sync import sync_workspace

RETIRED_PER_RUN = 1_000


def start_session(
    *,
    owner: User,
    title: str,
    actor: str,
    now: datetime,
    max_tier: int = USUAL_TIER,
) -> SessionSnapshot:
    """Begin a session and freeze its prompt: whatever is written later waits for the next. Raises Invalid.

    What an editor changed in the owner's folder is read first; what is wrong with it stops nothing. One session alone
    carries BOOTSTRAP.md: the one that finds it under the owner's lock.
    """
    warnings = sync_workspace(owner=owner, now=now)
    assembled = load_prompt(owner=owner, now=now)
    with transaction.atomic():
        if assembled.prompt.has_bootstrap:
            lock_owner(owner.pk)
            assembled = load_prompt(owner=owner, now=now)
        if assembled.prompt.has_bootstrap:
            claim_bootstrap(owner=owner, now=now)
        prompt = assembled.prompt
        session = conversations.start_session(
            owner_id=owner.pk,
            title=title,
            actor=actor,
            now=now,
            max_tier=max_tier,
        )
        snapshot: SessionSnapshot = SessionSnapshot.objects.create(
            session=session,
            prefix=prompt.prefix,
            personalization=prompt.personalization,
            memory_context=prompt.memory_context,
            sections=[asdict(each) for each in prompt.sections],
            left_out=[[each.reason, each.count, each.ids] for each in assembled.left_out],
            memory_ids=prompt.memory_ids,
            lesson_ids=prompt.lesson_ids,
            sha256=prompt.sha256,
            size_bytes=prompt.size_bytes,
            tokens=prompt.tokens,
            frozen_at=now,
        )
        record_carried(session_id=session.pk, memory_ids=prompt.memory_ids, now=now)
    snapshot.warnings = warnings
    return snapshot


def end_session(
    *,
    owner: Owner,
    session_id: str,
    actor: str,
    now: datetime,
) -> Session:
    """End a session and wipe its prompt at once; doing it twice changes nothing more. Raises NotFound."""
    with transaction.atomic():
        session = conversations.end_session(
            owner=owner,
            session_id=session_id,
            actor=actor,
            now=now,
        )
        wipe_snapshot(session_id, now=now)
    return session


def retire_idle_snapshots(*, now: datetime) -> dict[str, int]:
    """End the sessions that have been idle for 24 hours and wipe their prompts; return how many.

    One short transaction per session, so that a dead worker leaves whole ones. Runs as a job.
    """
    idle = Session.objects.idle_since(now - idle_after()).order_by("last_active_at").values_list("pk", flat=True)
    return {"retired": sum(retire_session(pk, now=now) for pk in idle[:RETIRED_PER_RUN])}


def retire_session(session_id: str, *, now: datetime) -> bool:
    """End one idle session and wipe its prompt; say whether it still was idle."""
    with transaction.atomic():
        is_ended = conversations.end_idle_session(
            session_id=session_id,
            actor="job:prompt.retire_idle_snapshots",
            now=now,
        )
        if is_ended:
            wipe_snapshot(session_id, now=now)
    return is_ended


def wipe_snapshot(session_id: str, *, now: datetime) -> None:
    """Empty the texts; ids, hashes and sizes stay."""
    unwiped = SessionSnapshot.objects.filter(pk=session_id, wiped_at__isnull=True)
    unwiped.update(**dict.fromkeys(TEXTS, ""), wiped_at=now)
