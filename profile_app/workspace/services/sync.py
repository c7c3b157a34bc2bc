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
from profile_app.documents.core import MAX_CHARS, WORKSPACE_FILE, Origin
from profile_app.documents.models import Document
from profile_app.documents.selectors import list_revisions
from profile_app.documents.services import save_document
from profile_app.workspace.core.names import MAX_NOTES, FileName, is_spelled_as_note, newest_notes, note_date
from profile_app.workspace.core.problems import FileProblem, ProblemCode, decode_text
from profile_app.workspace.core.sync import Copy, Step, Stored, decide_step, digest
from profile_app.workspace.folder import NO_FILE, Folder, NotHere, open_folder
from profile_app.workspace.models import Workspace
from profile_app.workspace.problems import described
from profile_app.workspace.selectors import find_file, find_workspace, list_done_files, list_files, path_of, today_of
from profile_app.workspace.services.places import (
    copies_of,
    find_or_adopt,
    find_or_attach,
    problem_record,
    store_reading,
)

FOLDER_ACTOR = "folder:workspace"
FORMER_VERSIONS, MAX_FORMER_VERSIONS = 10, 200  # the latter where a folder may be far behind
log = structlog.get_logger()


def sync_workspace(
    *,
    owner: User,
    now: datetime,
    may_write: bool = True,
) -> list[dict[str, str]]:
    """Bring the folder and the database in step; return what is wrong with which file, `{name, code, detail}`.

    Nothing is done where this machine has no folder of this owner. `may_write` False only reads the folder. A dozen
    looks at files while nothing changed. Call it outside of a transaction.
    """
    try:
        workspace = find_or_adopt(owner=owner, now=now)
    except FileProblem as problem:
        return described([problem_record("", problem.code)])
    if workspace is None:
        return []
    try:
        with open_folder(path_of(workspace, owner), workspace.mark) as folder:
            current = Workspace.objects.filter(pk=workspace.pk, mark=workspace.mark).first()
            if current is None:
                return []
            copies = copies_of(current)  # until the folder was locked others wrote there
            found = FolderSync(owner, folder, copies, now, may_write=may_write).run()
            store_reading(current, copies, found, now=now)
    except NotHere:
        return []
    except (FileProblem, OSError) as error:
        code = error.code if isinstance(error, FileProblem) else ProblemCode.UNREADABLE_FOLDER
        found = [problem_record("", code)]
        store_reading(workspace, copies_of(workspace), found, now=now)
    return described(found)


def sync_all(*, now: datetime) -> dict[str, int]:
    """Bring every folder of this machine in step; return how many have a problem."""
    owners = User.objects.filter(is_active=True, pk__in=Workspace.objects.values("owner_id")).order_by("pk")
    return {"problems": sum(bool(sync_workspace(owner=owner, now=now)) for owner in owners.iterator())}


def copy_out_later(documents: Sequence[Document], *, now: datetime) -> None:
    """Hear that other texts are in force: this machine's folder is written after the commit, others within a minute."""
    for document in documents:
        if document.kind == WORKSPACE_FILE and document.actor != FOLDER_ACTOR:  # else the folder has it
            transaction.on_commit(partial(copy_out, document.owner_id), robust=True)


def copy_out(owner_id: int) -> None:
    """Write to the folder what it is behind with; the first write of an owner makes the folder."""
    owner, now = User.objects.get(pk=owner_id), timezone.now()
    try:
        find_or_attach(owner=owner, now=now)
    except FileProblem as problem:
        log.warning("workspace_folder_not_made", owner_id=owner_id, code=problem.code)
        return
    sync_workspace(owner=owner, now=now)


class FolderSync:
    """One reading of an opened folder; `copies` is what it was known to hold, and is brought up to date."""

    def __init__(
        self,
        owner: User,
        folder: Folder,
        copies: dict[str, Copy],
        now: datetime,
        *,
        may_write: bool,
    ) -> None:
        self.owner, self.folder, self.copies, self.now, self.may_write = owner, folder, copies, now, may_write
        self.problems: list[dict[str, str]] = []

    def run(self) -> list[dict[str, str]]:
        """Look at every file, and return what is wrong with which."""
        rows = list_files(self.owner).values_list("name", "pk", "version")
        known = {name: (key, version) for name, key, version in rows}
        for name in (*FileName, *self.find_notes({*known, *self.copies})):
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
        candidates = {
            *known,
            *(name for name in spelled if (day := note_date(name)) and day <= today),
        }
        return newest_notes(candidates, limit=MAX_NOTES)

    def look(self, name: str, known: tuple[int, int] | None) -> None:
        """Look whether a file changed here or there, and bring it in step. Raises FileProblem."""
        stamp, copy = self.folder.stamp(name), self.copies.get(name)
        is_unknown = known is None and copy is None
        if (is_unknown and stamp == NO_FILE) or (copy and known and copy[1:] == (stamp, *known)):
            return
        if name == FileName.BOOTSTRAP and self.finish_rename():
            return
        self.bring_in_step(name, stamp)

    def bring_in_step(self, name: str, stamp: str) -> None:
        """Read a file and do with it what the table says. Raises FileProblem.

        What today's guard takes out of force stays in the folder.
        """
        document = find_file(self.owner, name)
        data = self.folder.read(name)
        text = decode_text(data, max_chars=MAX_CHARS[WORKSPACE_FILE])
        step = decide_step(digest(data), stored_of(document, self.copies.get(name)))
        if step is Step.NOTHING:
            self.remember(name, document, digest(data), stamp)
        elif step is Step.WRITE and document is None and self.may_write:  # deleted for good, here or on another machine
            self.folder.remove(name)
            self.remember(name, None, "", NO_FILE)
        elif step is Step.WRITE and document and self.may_write and document.actor != RESCAN_ACTOR:
            content = document.content.encode()
            self.remember(
                name,
                document,
                digest(content),
                self.folder.write(name, content),
            )
        elif step in {Step.READ, Step.READ_OVER}:
            self.take_in(
                name,
                text,
                document,
                digest(data),
                stamp,
                is_over=step is Step.READ_OVER,
            )

    def take_in(
        self,
        name: str,
        text: str,
        document: Document | None,
        disk: str,
        stamp: str,
        *,
        is_over: bool,
    ) -> None:
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
            self.remember(name, saved.document, disk, stamp)

    def remember(
        self,
        name: str,
        document: Document | None,
        disk: str,
        stamp: str,
    ) -> None:
        """Keep what the folder holds, and the version that it was compared with; another in force is seen by that."""
        self.copies.pop(name, None)
        if document:
            self.copies[name] = Copy(disk, stamp, document.pk, document.version)

    def finish_rename(self) -> bool:
        """Rename a BOOTSTRAP.md that a session has carried and that is still called so; say whether it was one.

        One that was compared since is for the next session, whatever it says.
        """
        disk = digest(self.folder.read(FileName.BOOTSTRAP))
        stored = find_file(self.owner, FileName.BOOTSTRAP)
        copy = self.copies.get(FileName.BOOTSTRAP)
        is_compared = copy and stored and copy[2:] == (stored.pk, stored.version)
        if not disk or stored is None or is_compared or disk == hash_of(stored.content):
            return False
        for done in list_done_files(self.owner):
            if hash_of(done.content) == disk and self.folder.stamp(done.name) == NO_FILE:
                if self.may_write:
                    self.folder.rename(FileName.BOOTSTRAP, done.name)
                return True
        return False


def stored_of(document: Document | None, copy: Copy | None) -> Stored:
    """Return what the database knows of a file; former versions only where they can matter."""
    folder = copy.sha256 if copy else None
    if document is None:
        return Stored(folder=folder)
    content = hash_of(document.content)
    most = FORMER_VERSIONS if copy else MAX_FORMER_VERSIONS
    former = list_revisions(document).values_list("content", flat=True)[:most] if content != folder else ()
    return Stored(
        content=content,
        folder=folder,
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
