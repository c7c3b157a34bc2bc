"""Documents as kinds of stored text. Who may release is each kind's own word: their owner, or an operator."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from minara_site.access.actors import is_owner
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.guard.kinds import CHANGED, DELETED, KEEPS_FORMER, HeldText, StoredKind, kept_label
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import find_expired_discards
from minara_site.web.labels import sentences
from profile_app.documents.core import CUSTOM_PROMPT, PROFILE_SUMMARY, WORKSPACE_FILE
from profile_app.documents.models import Document
from profile_app.documents.services import (
    discard_text,
    hold_discarded,
    hold_released,
    lock_documents,
    release_text,
    rescan_documents,
)


class DocumentTextKind(StoredKind):
    """The text of a document that waits beside the one in force. `on_accepted` hears of documents that changed."""

    model = Document

    def title_of(self, document: Document) -> str:
        """Return what a document is called."""
        return document.name

    def url_of(self, document: Document) -> str:
        """Return the page of a document."""
        return ""

    def url(self, object_id: int) -> str:
        """Return the page of a document by its id, empty when it is gone. One query."""
        document = Document.objects.filter(pk=object_id).first()
        return self.url_of(document) if document else ""

    def load_texts(self, holds: Mapping[int, Hold]) -> dict[int, HeldText]:
        documents = Document.objects.filter(pk__in=holds).select_related("owner")
        return {each.pk: self.held_text(each, holds[each.pk]) for each in documents}

    def held_text(self, document: Document, hold: Hold) -> HeldText:
        """Return the text of a document that a hold is, or was, about."""
        return HeldText(
            text=decided_text(document, hold),
            title=self.title_of(document),
            on_discard=sentences(str(KEEPS_FORMER), kept_label()) if document.content else kept_label(),
            replaces=document.content or None,
            url=self.url_of(document),
            edit_url=self.url_of(document),
            is_by_person=is_owner(hold.actor, document.owner),
        )

    def lock(self, ids: Collection[int]) -> dict[int, Any]:
        return dict(lock_documents(ids))

    def release(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        now: datetime,
    ) -> None:
        for object_id, hold in holds.items():
            release_text(rows[object_id], actor=hold.actor, now=now)

    def discard(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        reason: str,
        now: datetime,
    ) -> None:
        """Put the held texts aside; those in force stay."""
        for object_id in holds.keys() & rows.keys():
            discard_text(rows[object_id])

    def hold_again(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        now: datetime,
    ) -> None:
        """Let the texts wait again; what a released one replaced is in force again."""
        for object_id, hold in holds.items():
            if object_id not in rows:
                self.refuse_again(hold, DELETED)
            document, is_discarded = rows[object_id], hold.decision == Decision.DISCARDED
            self.check_unchanged(hold, decided_text(document, hold))
            if document.held_at or not (is_discarded or document.updated_at == hold.decided_at):
                self.refuse_again(hold, CHANGED)
            if is_discarded:
                hold_discarded(document, held_at=hold.held_at)
            else:
                hold_released(document, held_at=hold.held_at, now=now)

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Remove texts that were discarded by then; one that was discarded later stays."""
        ids = find_expired_discards(self.name, cutoff=cutoff)
        recent = Hold.objects.decided(Decision.DISCARDED).filter(kind=self.name, decided_at__gt=cutoff)
        ids -= set(recent.values_list("object_id", flat=True))
        rows = self.lock(ids)
        return int(Document.objects.filter(pk__in=rows).exclude(discarded_content="").update(discarded_content=""))

    def rescan(
        self,
        ids: Collection[int],
        *,
        now: datetime,
        actor: str,
    ) -> tuple[int, int]:
        """Judge the texts in force, of every kind of document."""
        found = lock_documents(ids)
        refused = rescan_documents(found.values(), now=now, actor=actor)
        for document in refused:
            details, act = {"name": document.name}, f"{document.kind}_held"
            record_audit(
                now=now,
                actor=actor,
                tool_call=act,
                owner_id=document.owner_id,
                details=details,
            )
        return len(found), len(refused)


def decided_text(document: Document, hold: Hold) -> str:
    """Return the text of a document that a hold is, or was, about."""
    if hold.decision is None:
        return document.held_content
    return document.discarded_content if hold.decision == Decision.DISCARDED else document.content


class OwnDocumentKind(DocumentTextKind):
    """A text that steers the agent: only its owner lets it in, after a fresh sign-in."""

    release_act: ClassVar[str] = "document_release"


class WorkspaceFileKind(OwnDocumentKind):
    """The text of a workspace file."""

    name, label = WORKSPACE_FILE, _("Agent file")

    def url_of(self, document: Document) -> str:
        return reverse("workspace:one", args=[document.name])


class ProfileTextKind(DocumentTextKind):
    """A text of the profile, called what its kind is called."""

    def title_of(self, document: Document) -> str:
        return str(self.label)

    def url_of(self, document: Document) -> str:
        return reverse("profile:page")


class CustomPromptKind(ProfileTextKind, OwnDocumentKind):
    """The user's own instructions."""

    name, label = CUSTOM_PROMPT, _("Custom prompt")


class ProfileSummaryKind(ProfileTextKind):
    """What a rebuild wrote about a user's trades."""

    name, label = PROFILE_SUMMARY, _("Trading summary")
