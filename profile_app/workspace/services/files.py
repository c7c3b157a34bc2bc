"""Writes of agent files by people and keys: what each may write, and additions to MEMORY.md. Source: issue 20."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from django.utils.translation import gettext as _

from minara_site.access.access_log import log_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import is_named_key
from minara_site.kernel.errors import Conflict, NotFound, Refused, invalid_field, or_not_found
from profile_app.documents.core import WORKSPACE_FILE, Origin
from profile_app.documents.models import Document
from profile_app.documents.selectors import get_version_text
from profile_app.documents.services import SavedDocument, save_document, save_draft
from profile_app.workspace.core.names import OWN_WORDS, FileName, is_done, note_date, placement_of
from profile_app.workspace.core.schedule import schedule_of
from profile_app.workspace.problems import unknown_name_label
from profile_app.workspace.selectors import find_file, today_of


def open_files(
    *,
    principal: Principal,
    owner_name: str | None,
    now: datetime,
    name: str = "",
) -> User:
    """Return whose files are read, and log the reading of somebody else's. Raises NotFound."""
    owner = principal.reads(Act.WORKSPACE_READ, owner_name)
    if not isinstance(owner, User):
        raise NotFound(_("Name one owner: agent files belong to one person."))
    log_access(
        principal=principal,
        owner_ids=[owner.pk],
        kind="workspace",
        object_id=name,
        now=now,
    )
    return owner


def write_file(
    *,
    owner: User,
    name: str,
    content: str,
    origin: Origin,
    actor: str,
    now: datetime,
    expected_version: int | None = None,
    is_confirmed: bool = False,
) -> SavedDocument:
    """Put the text of a file in force, or let it wait. Raises what `save_document` raises.

    Invalid also for a name that no file has and for a note of a day to come. What a named key writes as its owner's own
    words always waits. With a key (by `origin`) HEARTBEAT.md keeps its schedule, else Refused.
    """
    check_writable(owner, name, now=now)
    is_key = origin is Origin.KEY
    return save_document(
        owner=owner,
        kind=WORKSPACE_FILE,
        name=name,
        content=content,
        origin=origin,
        actor=actor,
        now=now,
        expected_version=expected_version,
        is_confirmed=is_confirmed,
        must_wait=is_named_key(actor) and name in OWN_WORDS,
        check=(lambda stored: check_schedule(stored, content)) if is_key and name == FileName.HEARTBEAT else None,
    )


def restore_version(
    *,
    owner: User,
    name: str,
    number: int,
    actor: str,
    now: datetime,
    expected_version: int | None,
) -> SavedDocument:
    """Put an earlier text in force again, as a new version; 0 is no text. Raises NotFound.

    What the guard refuses today waits.
    """
    document = or_not_found(find_file(owner, name), unknown_name_label())
    content = get_version_text(document, number)
    return write_file(
        owner=owner,
        name=name,
        content=content,
        origin=Origin.REVERT,
        actor=actor,
        now=now,
        expected_version=expected_version,
    )


def check_writable(owner: User, name: str, *, now: datetime) -> None:
    """Raise Invalid for a name that no file has, that only the application writes, or of a day to come."""
    problem = None
    if placement_of(name) is None:
        problem = unknown_name_label()
    elif is_done(name):
        problem = _("A session has carried this file; it stays as it was. Write BOOTSTRAP.md for the next one.")
    elif (day := note_date(name)) and day > today_of(owner, now):
        problem = _("This day is not here yet. Write a note of today or of a day before.")
    if problem:
        raise invalid_field("name", problem)


def check_schedule(stored: Document, content: str) -> None:
    """Raise Refused unless the section `## Schedule` is as it was."""
    if schedule_of(content) != schedule_of(stored.content):
        problem = _(
            "Keep the section ## Schedule of HEARTBEAT.md as it is; everything else can be rewritten. Its owner "
            "changes it on the page of the file."
        )
        raise Refused(problem, code="schedule_kept")


def draft_file(
    *,
    owner: User,
    name: str,
    draft: str,
    version: int,
    now: datetime,
) -> Document:
    """Keep what an owner is writing of a file; no prompt carries it. Raises Invalid."""
    check_writable(owner, name, now=now)
    return save_draft(
        owner=owner,
        kind=WORKSPACE_FILE,
        name=name,
        draft=draft,
        version=version,
        now=now,
    )


def remove_made(
    *,
    owner: User,
    made: Mapping[str, int],
    actor: str,
    now: datetime,
) -> int:
    """Empty the default files that still have the version that a set-up gave them; return how many."""
    removed = 0
    for name, version in made.items():
        with suppress(Conflict):
            write_file(
                owner=owner,
                name=name,
                content="",
                origin=Origin.REVERT,
                actor=actor,
                now=now,
                expected_version=version,
            )
            removed += 1
    return removed
