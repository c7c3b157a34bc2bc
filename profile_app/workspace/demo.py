"""The demo's agent files; where an owner has one of that name, theirs stays."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from profile_app.documents.core import WORKSPACE_FILE, Origin
from profile_app.documents.models import Document, DocumentRevision
from profile_app.documents.selectors import find_document
from profile_app.documents.services import save_document
from profile_app.workspace.core.names import note_name
from profile_app.workspace.selectors import today_of
from profile_app.workspace.services import remove_copy_later

NOTE = "memory/note.md"


class DemoFile(DemoRow):
    """A file; the name `memory/note.md` is that of its day."""

    name: str
    content: str


class WorkspacePart(DemoPart[DemoFile]):
    """Agent files with one version each."""

    name, rows = "workspace", read_rows(DemoFile, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoFile) -> None:
        at = load.ago(row.hours_ago)
        name = note_name(today_of(owner, at)) if row.name == NOTE else row.name
        if find_document(owner=owner, kind=WORKSPACE_FILE, name=name):
            return
        saved = save_document(
            owner=owner,
            kind=WORKSPACE_FILE,
            name=name,
            content=row.content.lstrip("\n"),
            origin=Origin.SETUP,
            actor=load.actor,
            now=load.now,
            is_demo=True,
        )
        by_owner = f"user:{owner.pk}"  # the story: they wrote it
        Document.objects.filter(pk=saved.document.pk).update(updated_at=at, actor=by_owner)
        DocumentRevision.objects.filter(document=saved.document).update(created_at=at, actor=by_owner)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        files = Document.objects.filter(is_demo=True, kind=WORKSPACE_FILE)
        written = files.filter(Q(version__gt=1) | Q(held_at__isnull=False) | ~Q(draft="", discarded_content=""))
        kept = list(written.values_list("pk", flat=True))
        gone = files.exclude(pk__in=kept)
        removed = RemovedRows(_("Agent files"), gone.count(), len(kept))
        for document in gone.select_related("owner"):
            remove_copy_later(document)
        gone.delete()
        files.update(is_demo=False)
        return [removed]
