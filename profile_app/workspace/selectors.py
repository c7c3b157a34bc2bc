"""Reads of agent files: what prompts carry, who the agent is, the list with its folder."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import CharField, Q, QuerySet

from memory_app.memories.core import HARD_CONSTRAINT, FactState
from memory_app.memories.hidden import hides_memories
from memory_app.memories.models import Memory
from memory_app.memories.selectors import newest_accepted
from minara_site.access.models import User
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.core.vocabulary import USER_WRITTEN
from minara_site.kernel.errors import NotFound
from minara_site.kernel.ownership import Owner
from minara_site.kernel.prepared import OWNER_ID, Parameter, Prepared
from minara_site.web.moments import zone_of
from profile_app.documents.core import WORKSPACE_FILE
from profile_app.documents.models import Document
from profile_app.documents.selectors import (
    DocumentText,
    accepted_texts,
    find_document,
    list_documents,
    load_texts_in_force,
)
from profile_app.workspace.core.identity import AgentIdentity, parse_identity
from profile_app.workspace.core.names import (
    MAX_NOTES_IN_PROMPT,
    MEMORY_FOLDER,
    FileName,
    full_name,
    note_name,
    placement_of,
)
from profile_app.workspace.core.proposals import find_missing
from profile_app.workspace.folder import UNREADABLE_MARK, read_mark
from profile_app.workspace.models import Workspace
from profile_app.workspace.problems import described, unknown_name_label

GONE_AFTER = timedelta(hours=1)
MAX_PROPOSED, MAX_COMPARED = 200, 2_000

PROMPT_FILES = (FileName.SOUL, FileName.AGENTS, FileName.BOOTSTRAP, FileName.USER, FileName.MEMORY, FileName.IDENTITY)


@dataclass(frozen=True, slots=True)
class PromptFiles:
    """The texts that a prompt carries and who its agent is, each empty without one.

    `notes` are (name, text), the newest first.
    """

    soul: str = ""
    agents: str = ""
    bootstrap: str = ""
    user: str = ""
    memory: str = ""
    identity: str = ""
    notes: tuple[tuple[str, str], ...] = ()


def load_prompt_files(*, owner: User, today: date) -> PromptFiles:
    """Return the texts in force that the guard accepts, with the newest notes of no later day. One query."""
    texts = accepted_texts(
        WORKSPACE_FILE,
        FILES_AND_NOTES.ask(owner_id=owner.pk, newest_note=note_name(today)),
    )
    soul, agents, bootstrap, user, memory, identity = (texts.pop(name, "") for name in PROMPT_FILES)
    return PromptFiles(
        soul,
        agents,
        bootstrap,
        user,
        memory,
        identity,
        notes=tuple(sorted(texts.items(), reverse=True)),
    )


def files_and_notes() -> "list[QuerySet[Any, Any]]":
    """Return the files that prompts carry, and the newest notes until a day."""
    filled = Document.objects.filter(owner_id=OWNER_ID, kind=WORKSPACE_FILE).exclude(content="")
    rows = filled.values_list(*DocumentText._fields)
    notes = rows.filter(
        name__startswith=f"{MEMORY_FOLDER}/",
        name__lte=Parameter("newest_note", CharField()),
    )
    return [rows.filter(name__in=PROMPT_FILES), notes.order_by("-name")[:MAX_NOTES_IN_PROMPT]]


FILES_AND_NOTES = Prepared(DocumentText, files_and_notes)


def load_identity(owner: User) -> AgentIdentity:
    """Return who the agent of an owner says it is. One query."""
    texts = load_texts_in_force(
        owner=owner,
        kind=WORKSPACE_FILE,
        names=[FileName.IDENTITY],
    )
    return parse_identity(texts.get(FileName.IDENTITY, ""))


def today_of(owner: User, now: datetime) -> date:
    """Return the day that it is for an owner."""
    return now.astimezone(zone_of(owner.time_zone)).date()


def list_done_files(owner: Owner) -> "QuerySet[Document]":
    """Return what sessions have carried of BOOTSTRAP.md, the newest first."""
    return list_files(owner).filter(name__startswith="BOOTSTRAP.done.").order_by("-name")


def usual_path(owner: User) -> Path:
    """Return where an owner's folder is unless a set-up names another place."""
    return Path(settings.DATA_DIR) / "workspace" / ("default" if owner.is_default else f"u{owner.pk}")


def path_of(workspace: Workspace, owner: User) -> Path:
    """Return where a workspace's folder is."""
    return Path(workspace.path) if workspace.path else usual_path(owner)


def list_workspaces(owner: User) -> list[Workspace]:
    """Return the folders of an owner on all machines, this machine's first, then the newest."""
    rows = Workspace.objects.for_owner(owner).order_by("-pk")
    return sorted(rows, key=lambda row: not is_here(row, owner))


def is_here(workspace: Workspace, owner: User) -> bool:
    """Say whether this folder is on this machine, or something that cannot be read is in its place."""
    mark, stamp = read_mark(path_of(workspace, owner))
    is_ours = mark == workspace.mark and workspace.mark_stamp in {"", stamp}
    return is_ours or mark == UNREADABLE_MARK


def find_workspace(owner: User) -> Workspace | None:
    """Return the folder that an owner has on this machine, None without one."""
    return next(
        (row for row in list_workspaces(owner)[:1] if is_here(row, owner)),
        None,
    )


def load_problems(owner: User) -> list[dict[str, str]]:
    """Return what was wrong with the owner's folders when each was read last. One query.

    A folder that is read no more, as the others are, is on a machine that is gone.
    """
    rows = Workspace.objects.for_owner(owner)
    newest = max((row.read_at for row in rows if row.read_at), default=None)
    current = [row for row in rows if row.read_at is None or newest - row.read_at < GONE_AFTER]
    return described(list({(each["name"], each["code"]): each for row in current for each in row.problems}.values()))


def find_file(owner: Owner, name: str) -> Document | None:
    """Return the document of a file, None where there never was one."""
    return find_document(owner=owner, kind=WORKSPACE_FILE, name=name)


def list_files(owner: Owner) -> "QuerySet[Document]":
    """Return the documents of all files."""
    return list_documents(owner=owner, kind=WORKSPACE_FILE)


def list_present(owner: Owner) -> "QuerySet[Document]":
    """Return the files that say something, or of which a text waits."""
    return list_files(owner).exclude(content="", held_at__isnull=True)


def count_live_sessions(owner: Owner) -> int:
    """Return how many sessions of an owner run."""
    return int(Session.objects.for_owner(owner).open().count())


def find_missing_lines(owner: User, text: str) -> list[str]:
    """Return the settled facts and the memories in their owner's words that MEMORY.md lacks, the newest first.

    None while the owner hides memories. Limits are in prompts on their own and are left out.
    """
    if hides_memories(owner):
        return []
    rows = Memory.objects.for_owner(owner).live().exclude(fact_type=HARD_CONSTRAINT)
    wanted = Q(fact_state=FactState.SETTLED) | Q(source__in=USER_WRITTEN, fact_state__isnull=True)
    found = newest_accepted(rows.filter(wanted), MAX_COMPARED)
    return find_missing(text, [row.content for row in found])[:MAX_PROPOSED]


def get_text(*, owner: Owner, said: str) -> str:
    """Return the text in force of a file that somebody names at a terminal, empty without one. Raises NotFound."""
    name = full_name(said)
    if placement_of(name) is None:
        raise NotFound(unknown_name_label())
    document = find_file(owner, name)
    return document.content if document else ""
