"""The list of agent files and the page of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q
from django.db.models.functions import Length
from django.urls import reverse
from django.utils.http import urlencode

from minara_site.access.models import User
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.guard.masking import masked_for
from profile_app.documents.core import MAX_CHARS, WORKSPACE_FILE
from profile_app.documents.models import Document
from profile_app.documents.pages import count_text, shape_versions, shape_waiting
from profile_app.documents.selectors import load_texts_in_force
from profile_app.workspace.core.identity import parse_identity
from profile_app.workspace.core.names import (
    IDENTITY_FILES,
    MAX_NOTES_IN_PROMPT,
    MEMORY_FOLDER,
    FileName,
    Placement,
    is_done,
    newest_notes,
    note_date,
    note_name,
    placement_of,
    sort_key,
)
from profile_app.workspace.pages.labels import OLD_NOTE, PLACES, Label, purpose_label
from profile_app.workspace.selectors import (
    count_live_sessions,
    list_files,
    list_present,
    list_workspaces,
    load_problems,
    path_of,
    today_of,
)

MAX_FILE_CHARS = MAX_CHARS[WORKSPACE_FILE]
NOTES_SHOWN = 30


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file in the list. `is_read` says that the next prompt carries it; `tokens` is None where nobody counted."""

    name: str
    url: str
    purpose: Label
    place: Label
    is_read: bool
    is_there: bool
    chars: int
    tokens: int | None
    version: int
    updated_at: datetime | None
    is_waiting: bool
    has_draft: bool


@dataclass(frozen=True, slots=True)
class EditCost:
    """What an edit of the cached beginning costs: running sessions, and the tokens that are cached anew."""

    sessions: int
    tokens: int


def list_context(owner: User, reader: User, *, now: datetime) -> dict[str, Any]:
    """Return what the list shows: files, notes, what sessions carried, the folder with its problems. Five queries."""
    whose = owner_query(owner, reader)
    rows = list_files(owner).annotate(chars=Length("content"))
    light = rows.defer("content", "held_content", "discarded_content", "draft")
    files = {row.name: row for row in rows.exclude(name__startswith=f"{MEMORY_FOLDER}/").defer("discarded_content")}
    filled = light.filter(name__startswith=f"{MEMORY_FOLDER}/").exclude(content="", held_at__isnull=True, draft="")
    notes = sorted(
        filled.order_by("-name")[: NOTES_SHOWN + 1],
        key=lambda row: row.name,
        reverse=True,
    )
    window = newest_notes(
        [row.name for row in notes if row.chars],
        limit=MAX_NOTES_IN_PROMPT,
        today=today_of(owner, now),
    )
    identity = files.get(FileName.IDENTITY)
    workspace = next(iter(list_workspaces(owner)), None)
    return {
        "rows": [
            file_row(
                name,
                files.get(name),
                whose=whose,
                window=window,
            )
            for name in FileName
        ],
        "notes": [file_row(row.name, row, whose=whose, window=window) for row in notes[:NOTES_SHOWN]],
        "has_more_notes": len(notes) > NOTES_SHOWN,
        "done": [
            file_row(
                name,
                files[name],
                whose=whose,
                window=(),
            )
            for name in sorted(files, key=sort_key)
            if is_done(name)
        ],
        "identity": parse_identity(masked_for(reader, identity).content) if identity else None,
        "folder": str(path_of(workspace, owner)) if workspace else "",
        "read_at": workspace.read_at if workspace else None,
        "problems": load_problems(owner),
        "is_empty": not notes and not any(row.content or row.held_at for row in files.values()),
    }


def file_row(
    name: str,
    document: Document | None,
    *,
    whose: str,
    window: Sequence[str],
) -> FileRow:
    """Return a file as the list shows it; one that is not there yet is a row too."""
    placement = placement_of(name) or Placement.NEVER
    is_note = note_date(name) is not None
    chars: int = getattr(document, "chars", 0)
    is_read = bool(chars) and (name in window if is_note else placement not in {Placement.SHOWN, Placement.NEVER})
    is_counted = document is not None and not is_note
    return FileRow(
        name=name,
        url=reverse("workspace:one", args=[name]) + whose,
        purpose=purpose_label(name),
        place=OLD_NOTE if is_note and chars and not is_read else PLACES[placement],
        is_read=is_read,
        is_there=bool(chars),
        chars=chars,
        tokens=estimate_tokens(document.content) if is_counted and document else None,
        version=document.version if document else 0,
        updated_at=document.updated_at if document and document.version else None,
        is_waiting=bool(document and document.held_at),
        has_draft=bool(document and document.draft_at),
    )


def file_context(
    name: str,
    document: Document | None,
    owner: User,
    reader: User,
    *,
    below: int | None,
    now: datetime,
) -> dict[str, Any]:
    """Return what the page of one file shows, without its form. Nine queries at most."""
    is_own, whose = owner.pk == reader.pk, owner_query(owner, reader)
    placement = placement_of(name) or Placement.NEVER
    versions = (
        shape_versions(document, reader=reader, restore_url=partial(restore_url, document), below=below)
        if document
        else []
    )
    window = note_window(owner, now) if note_date(name) else []
    is_old = bool(note_date(name) and document and document.content and name not in window)
    return {
        "name": name,
        "document": masked_for(reader, document) if document else None,
        "purpose": purpose_label(name),
        "place": OLD_NOTE if is_old else PLACES[placement],
        "is_own": is_own,
        "is_done": is_done(name),
        "is_identity": name in IDENTITY_FILES,
        "is_memory": name == FileName.MEMORY,
        "owner_name": "" if is_own else owner.username,
        "whose": whose,
        "waiting": shape_waiting(document, reader=reader) if document else None,
        "versions": versions,
        "cost": load_cost(owner) if name in IDENTITY_FILES else None,
        "problems": [each for each in load_problems(owner) if each["name"] == name],
    }


def note_window(owner: User, now: datetime) -> list[str]:
    """Return the notes that the next prompt carries."""
    names = list_present(owner).filter(~Q(content=""), name__startswith=f"{MEMORY_FOLDER}/")
    newest = names.filter(name__lte=note_name(today_of(owner, now))).order_by("-name")
    return list(newest.values_list("name", flat=True)[:MAX_NOTES_IN_PROMPT])


def load_cost(owner: User) -> EditCost:
    """Return what an edit of SOUL.md or AGENTS.md costs. Two queries."""
    texts = load_texts_in_force(owner=owner, kind=WORKSPACE_FILE, names=IDENTITY_FILES)
    return EditCost(count_live_sessions(owner), sum(map(estimate_tokens, texts.values())))


def counted(text: str, document: Document | None) -> dict[str, Any]:
    """Return how long the text of a file is, what it costs, and what the guard finds in it."""
    return count_text(text, document, kind=WORKSPACE_FILE, tokens=estimate_tokens(text[:MAX_FILE_CHARS]))


def restore_url(document: Document, number: int) -> str:
    """Return where a version is put in force again, unless another one comes in between."""
    return f"{reverse('workspace:restore', args=[document.name, number])}?version={document.version}"


def owner_query(owner: User, reader: User) -> str:
    """Return what names the owner in an address, empty for one's own."""
    return "" if owner.pk == reader.pk else f"?{urlencode({'owner': owner.username})}"
