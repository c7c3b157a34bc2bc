"""What the demos of documents have in common."""

from django.db.models import Q, QuerySet

from minara_site.access.models import User
from minara_site.kernel.demo import DemoLoad, DemoRow
from profile_app.documents.core import Origin
from profile_app.documents.models import Document, DocumentRevision
from profile_app.documents.services import save_document


def store_text(
    load: DemoLoad,
    owner: User,
    row: DemoRow,
    *,
    kind: str,
    name: str,
    content: str,
    origin: Origin,
) -> None:
    """Store a text now, as the audit log has it, then move it to its time and its writer, its owner."""
    saved = save_document(
        owner=owner,
        kind=kind,
        name=name,
        content=content,
        origin=origin,
        actor=load.actor,
        now=load.now,
        is_demo=True,
    )
    at, by_owner = load.ago(row.hours_ago), f"user:{owner.pk}"
    Document.objects.filter(pk=saved.document.pk).update(updated_at=at, actor=by_owner)
    DocumentRevision.objects.filter(document=saved.document).update(created_at=at, actor=by_owner)


def find_changed(documents: "QuerySet[Document]") -> list[int]:
    """Return which of the demo's documents somebody wrote on since, by id."""
    written = Q(version__gt=1) | Q(held_at__isnull=False) | ~Q(draft="", discarded_content="")
    return list(documents.filter(written).values_list("pk", flat=True))
