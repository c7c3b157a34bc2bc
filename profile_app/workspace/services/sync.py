"""The two-way copy between an owner's folder and the database. Source: decisions (workspace on disk).

Prompts read the database. What an editor changed in the folder becomes a version; what changed here is written out.
Nothing here raises for what is wrong with a file: the problem is kept, and the other files go on.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

import structlog
from django.db import transaction
from django.utils import timezone

from minara_site.access.models import User
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard.rescan import ACTOR as RESCAN_ACTOR
from minara_site.kernel.ownership import lock_owner
from profile_app.documents.core import MAX_CHARS, WORKSPACE_FILE, Origin
from profile_app.documents.models import Document
from profile_app.documents.selectors import find_document, list_documents, list_revisions
from profile_app.documents.services import save_document
from profile_app.workspace.core.names import MAX_NOTES, FileName, is_spelled_as_note, newest_notes, note_date
from profile_app.workspace.core.problems import FileProblem, ProblemCode, decode_text
from profile_app.workspace.core.sync import Step, Stored, decide_step, digest
from profile_app.workspace.folder import NO_FILE, Folder, NotHere, open_folder
from profile_app.workspace.models import Workspace
from profile_app.workspace.problems import described
from profile_app.workspace.selectors import find_workspace, list_done_files, path_of, today_of
from profile_app.workspace.services.places import find_or_attach, problem_record, store_problems

FOLDER_ACTOR = "folder:workspace"
FORMER_VERSIONS = 10
log = structlog.get_logger()


def sync_workspace(*, owner: User, now: datetime, may_write: bool = True) -> list[dict[str, str]]:
    """Bring the folder and the database in step; return what is wrong with which file, `{name, code, detail}`.

    Nothing is done where this machine has no folder of this owner. `may_write` False only reads the folder. A dozen
    looks at files while nothing changed. Call it outside of a transaction.
    """
    workspace = find_workspace(owner)
    if workspace is None:
        return []
    try:
        with open_folder(path_of(workspace, owner), workspace.mark) as folder:
            found = FolderSync(owner, folder, now, may_write=may_write).run()
    except NotHere:
        return []
    except (FileProblem, OSError) as error:
        code = error.code if isinstance(error, FileProblem) else ProblemCode.UNREADABLE_FOLDER
        found = [problem_record("", code)]
    store_problems(workspace, found, now=now)
    return described(found)


def sync_all(*, now: datetime) -> dict[str, int]:
    """Bring every folder of this machine in step; return how many have a problem."""
    workspaces = Workspace.objects.select_related("owner").filter(owner__is_active=True).order_by("pk")
    return {"problems": sum(bool(sync_workspace(owner=each.owner, now=now)) for each in workspaces.iterator())}


def copy_out_later(documents: Sequence[Document], *, now: datetime) -> None:
    """Hear that other texts are in force: the folder is behind, and is written after the commit."""
    for document in documents:
        if document.kind != WORKSPACE_FILE:
            continue
        document.folder_stamp = ""
        Document.objects.filter(pk=document.pk).update(folder_stamp="")
        if document.actor != FOLDER_ACTOR:  # else the folder has it
            transaction.on_commit(partial(copy_out, document.owner_id), robust=True)


def copy_out(owner_id: int) -> None:
    """Write to the folder what it is behind with; the first write of an owner makes the folder."""
    owner, now = User.objects.get(pk=owner_id), timezone.now()
    if not list_documents(owner=owner, kind=WORKSPACE_FILE).filter(folder_stamp="").exists():
        return
    try:
        find_or_attach(owner=owner, now=now)
    except FileProblem as problem:
        log.warning("workspace_folder_not_made", owner_id=owner_id, code=problem.code)
        return
    sync_workspace(owner=owner, now=now)


class FolderSync:
    """One reading of an opened folder."""

    def __init__(self, owner: User, folder: Folder, now: datetime, *, may_write: bool) -> None:
        self.owner, self.folder, self.now, self.may_write = owner, folder, now, may_write
        self.problems: list[dict[str, str]] = []

    def run(self) -> list[dict[str, str]]:
        """Look at every file, and return what is wrong with which."""
        rows = list_documents(owner=self.owner, kind=WORKSPACE_FILE).values_list("name", "folder_stamp")
        known: dict[str, str] = dict(rows)  # by name: a stamp, empty while the folder may be behind
        for name in (*FileName, *self.find_notes(known)):
            try:
                self.look(name, known.get(name))
            except FileProblem as problem:
                self.report(name, problem.code)
        return self.problems

    def report(self, name: str, code: ProblemCode) -> None:
        """Remember what is wrong with a file."""
        self.problems.append(problem_record(name, code))

    def find_notes(self, known: Collection[str]) -> list[str]:
        """Return the notes to look at: the newest that the folder or the database has."""
        try:
            found = self.folder.list_notes()
        except (FileProblem, OSError) as error:
            code = error.code if isinstance(error, FileProblem) else ProblemCode.UNREADABLE
            self.report("memory/", code)
            return []
        today = today_of(self.owner, self.now)
        spelled = [name for name in found if is_spelled_as_note(name)]
        for name in sorted(spelled)[-MAX_NOTES:]:
            day = note_date(name)
            if day is None:
                self.report(name, ProblemCode.IMPOSSIBLE_DATE)
            elif day > today and name not in known:
                self.report(name, ProblemCode.FUTURE_NOTE)
        candidates = {*known, *(name for name in spelled if (day := note_date(name)) and day <= today)}
        return newest_notes(candidates, limit=MAX_NOTES)

    def look(self, name: str, known: str | None) -> None:
        """Look whether a file changed, and bring it in step. Raises FileProblem."""
        stamp = self.folder.stamp(name)
        if (known is None and stamp == NO_FILE) or known == stamp:
            return
        if name == FileName.BOOTSTRAP and self.finish_rename():
            return
        self.bring_in_step(name, stamp)

    def bring_in_step(self, name: str, stamp: str) -> None:
        """Read a file and do with it what the table says. Raises FileProblem.

        What today's guard takes out of force stays in the folder.
        """
        document = find_document(owner=self.owner, kind=WORKSPACE_FILE, name=name)
        data = self.folder.read(name)
        text = decode_text(data, max_chars=MAX_CHARS[WORKSPACE_FILE])
        step = decide_step(digest(data), stored_of(document))
        if step is Step.NOTHING and document:
            self.remember(document, digest(data), stamp)
        elif step is Step.WRITE and document and self.may_write and document.actor != RESCAN_ACTOR:
            content = document.content.encode()
            self.remember(document, digest(content), self.folder.write(name, content))
        elif step in {Step.READ, Step.READ_OVER}:
            self.take_in(name, text, document, digest(data), stamp, is_over=step is Step.READ_OVER)

    def take_in(self, name: str, text: str, document: Document | None, disk: str, stamp: str, *, is_over: bool) -> None:
        """Make what the folder says a version, or let it wait where the guard refuses it."""
        try:
            saved = save_document(
                owner=self.owner,
                kind=WORKSPACE_FILE,
                name=name,
                content=text,
                origin=Origin.FOLDER,
                actor=FOLDER_ACTOR,
                now=self.now,
                expected_version=document.version if document else 0,
            )
        except Conflict:  # somebody saved it a moment ago: the next reading compares again
            return
        if is_over and saved.hold is None:
            self.report(name, ProblemCode.BOTH_CHANGED)
        if saved.hold is None:
            self.remember(saved.document, disk, stamp)

    def remember(self, document: Document, disk: str, stamp: str) -> None:
        """Keep what the folder holds; the stamp only while no other text came into force meanwhile."""
        rows = Document.objects.filter(pk=document.pk)
        with transaction.atomic():
            lock_owner(self.owner.pk)
            rows.update(folder_sha256=disk)
            rows.filter(version=document.version).update(folder_stamp=stamp)

    def finish_rename(self) -> bool:
        """Rename a BOOTSTRAP.md that a session has carried and that is still called so; say whether it was one.

        One with a stamp was read since: it is for the next session, whatever it says.
        """
        disk = digest(self.folder.read(FileName.BOOTSTRAP))
        stored = find_document(owner=self.owner, kind=WORKSPACE_FILE, name=FileName.BOOTSTRAP)
        if not disk or stored is None or stored.folder_stamp or disk == hash_of(stored.content):
            return False
        for done in list_done_files(self.owner):
            if hash_of(done.content) == disk and self.folder.stamp(done.name) == NO_FILE:
                if self.may_write:
                    self.folder.rename(FileName.BOOTSTRAP, done.name)
                return True
        return False


def stored_of(document: Document | None) -> Stored:
    """Return what the database knows of a file; former versions only where they can matter."""
    if document is None:
        return Stored()
    content = hash_of(document.content)
    is_changed = content != document.folder_sha256
    former = list_revisions(document).values_list("content", flat=True)[:FORMER_VERSIONS] if is_changed else ()
    return Stored(
        content=content,
        folder=document.folder_sha256,
        waiting=hash_of(document.held_content) if document.held_at else "",
        discarded=hash_of(document.discarded_content),
        former={hash_of(each) for each in former},
    )


def hash_of(text: str) -> str:
    """Return the hash of a text as a file has it."""
    return digest(text.encode())


def remove_copy_later(document: Document) -> None:
    """Remove the copy of a document that is deleted for good, after the commit, unless an editor changed it."""
    owner, name, content = document.owner, document.name, document.content
    transaction.on_commit(partial(remove_copy, owner, name, hash_of(content)), robust=True)


def remove_copy(owner: User, name: str, copied: str) -> None:
    """Remove a file from the folder while it says this."""
    workspace = find_workspace(owner)
    if workspace is None:
        return
    with suppress(NotHere, FileProblem, OSError), open_folder(path_of(workspace, owner), workspace.mark) as folder:
        if digest(folder.read(name)) == copied:
            folder.remove(name)
