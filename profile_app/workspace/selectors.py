"""Reads of agent files: what prompts carry, who the agent is, the list with its folder."""

from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from minara_site.access.models import User
from minara_site.kernel.ownership import Owner
from profile_app.documents.core import WORKSPACE_FILE
from profile_app.documents.models import Document
from profile_app.documents.selectors import list_documents, load_texts_in_force
from profile_app.workspace.core.identity import AgentIdentity, parse_identity
from profile_app.workspace.core.names import (
    MAX_NOTES,
    MAX_NOTES_IN_PROMPT,
    MEMORY_FOLDER,
    FileName,
    newest_notes,
)

PROMPT_FILES = (FileName.SOUL, FileName.AGENTS, FileName.BOOTSTRAP, FileName.USER, FileName.MEMORY)


@dataclass(frozen=True, slots=True)
class PromptFiles:
    """The texts that a prompt carries, each empty without one; `notes` are (name, text), the newest first."""

    soul: str = ""
    agents: str = ""
    bootstrap: str = ""
    user: str = ""
    memory: str = ""
    notes: tuple[tuple[str, str], ...] = ()


def load_prompt_files(*, owner: User, today: date) -> PromptFiles:
    """Return the texts in force that the guard accepts, with the newest notes of no later day. Two queries."""
    filled = list_documents(owner=owner, kind=WORKSPACE_FILE).filter(name__startswith=f"{MEMORY_FOLDER}/")
    names = filled.exclude(content="").order_by("-name").values_list("name", flat=True)
    notes = newest_notes(names[:MAX_NOTES], limit=MAX_NOTES_IN_PROMPT, today=today)
    texts = load_texts_in_force(owner=owner, kind=WORKSPACE_FILE, names=[*PROMPT_FILES, *notes])
    soul, agents, bootstrap, user, memory = (texts.get(name, "") for name in PROMPT_FILES)
    return PromptFiles(
        soul, agents, bootstrap, user, memory, tuple((name, texts[name]) for name in notes if name in texts)
    )


def load_identity(owner: User) -> AgentIdentity:
    """Return who the agent of an owner says it is. One query."""
    texts = load_texts_in_force(owner=owner, kind=WORKSPACE_FILE, names=[FileName.IDENTITY])
    return parse_identity(texts.get(FileName.IDENTITY, ""))


def today_of(owner: User, now: datetime) -> date:
    """Return the day that it is for an owner."""
    return now.astimezone(ZoneInfo(owner.time_zone)).date()


def list_done_files(owner: Owner) -> "QuerySet[Document]":
    """Return what sessions have carried of BOOTSTRAP.md, the newest first."""
    return list_documents(owner=owner, kind=WORKSPACE_FILE).filter(name__startswith="BOOTSTRAP.done.").order_by("-name")
