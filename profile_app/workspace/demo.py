"""The demo's agent files; where an owner has one of that name, theirs stays."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from profile_app.documents.core import WORKSPACE_FILE, Origin
from profile_app.documents.demo import find_changed, store_text
from profile_app.documents.models import Document
from profile_app.workspace.core.names import note_name
from profile_app.workspace.selectors import find_file, today_of
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
        name = note_name(today_of(owner, load.ago(row.hours_ago))) if row.name == NOTE else row.name
        if find_file(owner, name):
            return
        store_text(
            load,
            owner,
            row,
            kind=WORKSPACE_FILE,
            name=name,
            content=row.content.lstrip("\n"),
            origin=Origin.SETUP,
        )

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        files = Document.objects.filter(is_demo=True, kind=WORKSPACE_FILE)
        kept = find_changed(files)
        gone = files.exclude(pk__in=kept)
        removed = RemovedRows(_("Agent files"), gone.count(), len(kept))
        for document in gone.select_related("owner"):
            remove_copy_later(document)
        gone.delete()
        files.update(is_demo=False)
        return [removed]
