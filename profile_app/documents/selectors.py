"""Reads of documents: those in force, one with its versions, what waits."""

from collections.abc import Collection
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.selectors import find_open_holds, find_refused
from minara_site.kernel.ownership import Owner
from profile_app.documents.models import Document, DocumentRevision


def find_document(*, owner: Owner, kind: str, name: str) -> Document | None:
    """Return a document, None where there never was one."""
    return Document.objects.for_owner(owner).filter(kind=kind, name=name).first()


def list_documents(*, owner: Owner, kind: str) -> "QuerySet[Document]":
    """Return the documents of a kind by name, those that say nothing too."""
    return Document.objects.for_owner(owner).filter(kind=kind).order_by("name")


def load_texts_in_force(
    *,
    owner: Owner,
    kind: str,
    names: Collection[str],
) -> dict[str, str]:
    """Return the texts that prompts may carry, by name: in force, not empty, accepted by today's guard."""
    rows = list_documents(owner=owner, kind=kind).filter(name__in=names).exclude(content="")
    return accepted_texts(
        kind,
        [DocumentText(*row) for row in rows.values_list(*DocumentText._fields)],
    )


class DocumentText(NamedTuple):
    """A text in force, as prompts need it."""

    pk: int
    name: str
    content: str
    rules_version: str


def accepted_texts(kind: str, rows: Collection[DocumentText]) -> dict[str, str]:
    """Return the texts by name, without those that today's guard refuses."""
    refused = find_refused(kind, rows, text=lambda row: row.content)
    return {row.name: row.content for row in rows if row.pk not in refused}


def list_revisions(document: Document) -> "QuerySet[DocumentRevision]":
    """Return the versions of a document, the newest first."""
    revisions: QuerySet[DocumentRevision] = DocumentRevision.objects.filter(document=document)
    return revisions.order_by("-number")


def get_revision(document: Document, number: int) -> DocumentRevision:
    """Return one version. Raises NotFound."""
    return or_not_found(list_revisions(document).filter(number=number).first(), _("There is no such version."))


def get_version_text(document: Document, number: int) -> str:
    """Return the text of one version, none for 0. Raises NotFound."""
    return get_revision(document, number).content if number else ""


def find_hold(document: Document) -> Hold | None:
    """Return why a text waits beside the document, None when none does."""
    return find_open_holds(document.kind, [document.pk]).get(document.pk) if document.held_at else None


def read_record(document: Document, *, reader: User) -> dict[str, Any]:
    """Return a document as the API answers it, without a text that today's guard refuses: its job will hold it."""
    refused = find_refused(document.kind, [document], text=lambda row: row.content)
    return document_record(masked_for(reader, document)) | ({"content": ""} if refused else {})


def document_record(document: Document, *, is_full: bool = True) -> dict[str, Any]:
    """Return a document as the API answers it."""
    said = {"content": document.content} if is_full else {}
    return {
        "name": document.name,
        "version": document.version,
        **said,
        "updated_at": document.updated_at,
    }
