"""Writes of documents: a version that comes into force, one that waits, drafts. Sources: S3, decisions (trusted input).

What its owner types in the browser and confirms is in force though the guard flags it: that is kept as a release. What
the guard refuses otherwise, or what must wait, is held beside the text in force. Nothing replaces a text that waits but
another that waits.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Verdict, always_waits
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.guard.services import lift_holds, new_hold, place_hold
from minara_site.kernel.ownership import lock_owner, owner_locked
from minara_site.kernel.plain_text import check_text
from profile_app.documents.core import MAX_CHARS, Origin
from profile_app.documents.models import Document, DocumentRevision
from profile_app.documents.selectors import find_document, find_hold, read_record

ORIGINS = {
    "key": Origin.KEY,
    "user": Origin.PAGE,
    "command": Origin.COMMAND,
    "folder": Origin.FOLDER,
}
"""Through what a text that waits came in, by the kind of its actor."""


@dataclass(frozen=True, slots=True)
class SavedDocument:
    """A document as it is now; `hold` says why the new text waits, `is_changed` whether anything was stored."""

    document: Document
    hold: Hold | None = None
    is_changed: bool = True


def save_document(
    *,
    owner: User,
    kind: str,
    name: str,
    content: str,
    origin: Origin,
    actor: str,
    now: datetime,
    expected_version: int | None = None,
    is_confirmed: bool = False,
    must_wait: bool = False,
    check: Callable[[Document], None] | None = None,
    is_demo: bool = False,
    is_audited: bool = True,
) -> SavedDocument:
    """Put a text in force as the next version, or hold it; the text in force already changes nothing.

    `is_confirmed` says that its owner saw what the guard found and wants it; `must_wait` holds it whatever it says.
    `check` looks at the locked document before anything is written, and raises what refuses the write. What a run
    records elsewhere is not `is_audited`. Raises Invalid for a text that cannot be stored, and Conflict (`stale`, with
    the current document) for another version.
    """
    check_text(content, field="content", max_chars=MAX_CHARS[kind])
    with owner_locked(owner.pk):
        document = find_or_new(owner=owner, kind=kind, name=name, now=now, is_demo=is_demo)
        check_version(document, expected_version)
        if check:
            check(document)
        if origin is Origin.PAGE:
            document.draft, document.draft_at = "", None  # what its writer drafted is this text
        if content == document.content and document.version:
            document.save(update_fields=["draft", "draft_at"])
            return SavedDocument(document, is_changed=False)
        if must_wait and document.held_at and content == document.held_content:
            return SavedDocument(document, find_hold(document), is_changed=False)
        verdict = judge_text(document, content)
        if must_wait:
            verdict = always_waits(content, verdict)
        if verdict.is_held and not is_confirmed:
            hold = hold_text(document, content, verdict, actor=actor, now=now)
        else:
            hold = None
            if document.held_at and content == document.held_content and origin is Origin.PAGE:
                document.held_content, document.held_at = "", None  # its owner wrote what waited
                lift_holds(
                    kind=kind,
                    object_ids=[document.pk],
                    actor=actor,
                    now=now,
                )
            put_in_force(
                document,
                content,
                origin=origin,
                actor=actor,
                now=now,
                rules_version=verdict.rules_version,
            )
            if verdict.is_held:
                record_confirmation(document, verdict, actor=actor, now=now)
        record_write(
            document,
            content,
            actor=actor,
            origin=origin,
            is_held=hold is not None,
            now=now,
            is_audited=is_audited,
        )
    return SavedDocument(document, hold)


def check_version(document: Document, expected: int | None) -> None:
    """Raise Conflict unless the document has the version that its writer saw."""
    if expected is not None and expected != document.version:
        detail = _("This changed since you opened it. Reload the page.")
        raise Conflict(
            detail,
            code="stale",
            current=read_record(document, reader=document.owner),
        )


def judge_text(document: Document, content: str) -> Verdict:
    """Return the verdict on a text for this document, stored or not."""
    if document.pk is None:
        return guard.judge(content)
    return judge_stored(document.kind, {document.pk: content})[document.pk]


def accepting_rules(document: Document, content: str) -> str:
    """Return today's rules when they accept a text, else nothing: who reads it judges it, and a re-scan holds it."""
    verdict = judge_text(document, content)
    return "" if verdict.is_held else verdict.rules_version


def put_in_force(
    document: Document,
    content: str,
    *,
    origin: Origin,
    actor: str,
    now: datetime,
    rules_version: str = "",
) -> None:
    """Make a text the next version of a document, and tell its kind. Needs a transaction and the owner's lock."""
    newest = DocumentRevision.objects.filter(document=document).aggregate(Max("number")) if document.pk else {}
    before, number = document.version, (newest.get("number__max") or 0) + 1
    document.content, document.version, document.actor, document.updated_at = content, number, actor, now
    document.rules_version = rules_version or accepting_rules(document, content)
    document.save()
    DocumentRevision.objects.create(
        document=document,
        number=number,
        replaced=before,
        content=content,
        origin=origin,
        actor=actor,
        created_at=now,
    )
    publish(document, now=now)


def publish(document: Document, *, now: datetime) -> None:
    """Tell the kind of a document that another text of it is in force."""
    stored_kinds()[document.kind].accept([document], now=now)


def hold_text(
    document: Document,
    content: str,
    verdict: Verdict,
    *,
    actor: str,
    now: datetime,
) -> Hold:
    """Let a text wait beside the one in force. Needs a transaction and the owner's lock."""
    document.held_content, document.held_at = content, now
    if not document.version:
        document.rules_version = verdict.rules_version
    document.save()
    return place_hold(
        kind=document.kind,
        object_id=document.pk,
        owner_id=document.owner_id,
        text=content,
        verdict=verdict,
        actor=actor,
        now=now,
    )


def record_confirmation(
    document: Document,
    verdict: Verdict,
    *,
    actor: str,
    now: datetime,
) -> None:
    """Keep that the owner let a text in that the guard flags, so that the same text is not held again."""
    hold = new_hold(
        kind=document.kind,
        object_id=document.pk,
        owner_id=document.owner_id,
        text=document.content,
        verdict=verdict,
        actor=actor,
        now=now,
    )
    hold.decision, hold.decided_at, hold.decided_by = Decision.RELEASED, now, actor
    hold.save(force_insert=True)


NEVER_CARRIED = frozenset({"IDENTITY.md", "TOOLS.md", "HEARTBEAT.md"})
"""The agent files that are in no prompt. Source: S3 (file inventory)."""


def record_write(
    document: Document,
    content: str,
    *,
    actor: str,
    origin: Origin,
    is_held: bool,
    now: datetime,
    is_audited: bool,
) -> None:
    """Record a write by name and hash; one that no prompt carries says so, as one that is held does."""
    if not is_audited:
        return
    record_audit(
        now=now,
        actor=actor,
        tool_call=f"{document.kind}_written",
        owner_id=document.owner_id,
        details={
            "id": document.pk,
            "name": document.name,
            "version": document.version,
            "origin": origin,
            "sha256": content_digest(content),
            **({"held": 1} if is_held else {"never_carried": 1} if document.name in NEVER_CARRIED else {}),
        },
    )


def save_draft(
    *,
    owner: User,
    kind: str,
    name: str,
    draft: str,
    version: int,
    now: datetime,
) -> Document:
    """Keep what an owner is writing out of a version; no prompt carries it. Raises Invalid.

    An empty one, or the text in force, ends the draft.
    """
    check_text(draft, field="content", max_chars=MAX_CHARS[kind])
    with owner_locked(owner.pk):
        document = find_or_new(owner=owner, kind=kind, name=name, now=now)
        kept = "" if draft == document.content else draft
        document.draft, document.draft_at = kept, now if kept else None
        document.draft_version = min(version, document.version)
        document.save()
    return document


def find_or_new(*, owner: User, kind: str, name: str, now: datetime, is_demo: bool = False) -> Document:
    """Return a document, unsaved where there is none."""
    found = find_document(owner=owner, kind=kind, name=name)
    return found or Document(owner=owner, kind=kind, name=name, updated_at=now, is_demo=is_demo)


def lock_documents(ids: Collection[int]) -> dict[int, Document]:
    """Lock the owners of documents and return these by id. Needs a transaction."""
    owner_ids = Document.objects.filter(pk__in=ids).values_list("owner_id", flat=True)
    for owner_id in sorted(set(owner_ids)):
        lock_owner(owner_id)
    rows = Document.objects.filter(pk__in=ids).order_by("pk").select_related("owner")
    return {row.pk: row for row in rows}


def release_text(document: Document, *, actor: str, now: datetime) -> None:
    """Put the text that waits in force, as its writer's. Needs the locked row and its hold decided."""
    content, document.held_content, document.held_at = document.held_content, "", None
    origin = ORIGINS.get(actor.partition(":")[0], Origin.SERVICE)
    put_in_force(document, content, origin=origin, actor=actor, now=now)


def discard_text(document: Document) -> None:
    """Put the text that waits aside; the one in force stays. Needs the locked row and its hold decided."""
    document.discarded_content, document.held_content, document.held_at = document.held_content, "", None
    document.save()


def hold_discarded(document: Document, *, held_at: datetime) -> None:
    """Let the text that was discarded wait again. Needs the locked row."""
    document.held_content, document.discarded_content, document.held_at = document.discarded_content, "", held_at
    document.save()


def hold_released(document: Document, *, held_at: datetime, now: datetime) -> None:
    """Let the text in force wait again; what it replaced is in force again. Needs the locked row."""
    revisions = DocumentRevision.objects.filter(document=document)
    released = revisions.get(number=document.version)
    before = revisions.filter(number=released.replaced).first()
    document.held_content, document.held_at = document.content, held_at
    document.content, document.version = (before.content, before.number) if before else ("", 0)
    document.actor, document.updated_at = (before.actor, before.created_at) if before else ("", held_at)
    document.rules_version = accepting_rules(document, document.content)
    document.save()
    publish(document, now=now)


def rescan_documents(
    documents: Collection[Document],
    *,
    now: datetime,
    actor: str,
) -> list[Document]:
    """Judge texts in force by today's rules and return those that are held by it. Needs the locked rows."""
    refused = []
    for document in documents:
        verdict = judge_text(document, document.content) if document.content else None
        if verdict and verdict.is_held:
            content, is_free = document.content, document.held_at is None
            today = guard.RULES.version
            put_in_force(
                document,
                "",
                origin=Origin.SERVICE,
                actor=actor,
                now=now,
                rules_version=today,
            )
            if is_free:  # else one waits already, and the versions keep this one
                hold_text(document, content, verdict, actor=actor, now=now)
            refused.append(document)
        else:
            document.rules_version = guard.RULES.version
            document.save()
    return refused
