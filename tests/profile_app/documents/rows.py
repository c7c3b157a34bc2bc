"""Documents in force, whatever the guard thinks of them."""

from datetime import datetime
from typing import Any

from profile_app.documents.core import WORKSPACE_FILE, Origin
from profile_app.documents.models import Document, DocumentRevision
from tests.kit.clock import NOON


def make_document(
    owner: Any,
    content: str = "Weekly charts first.",
    *,
    kind: str = WORKSPACE_FILE,
    name: str = "USER.md",
    at: datetime = NOON,
    **fields: Any,
) -> Document:
    """Store a document with its first version, which its owner typed on its page."""
    document = Document.objects.create(
        owner=owner,
        kind=kind,
        name=name,
        content=content,
        version=1,
        actor=f"user:{owner.pk}",
        updated_at=at,
        **fields,
    )
    typed = {"origin": Origin.PAGE, "actor": document.actor, "created_at": at}
    DocumentRevision.objects.create(document=document, number=1, replaced=0, content=content, **typed)
    return document
