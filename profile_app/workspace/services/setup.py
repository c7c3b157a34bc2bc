"""`minara setup`: an owner's folder, and default files where none are. Source: S3 (layout), contract (commands)."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.errors import Invalid
from minara_site.kernel.ownership import owner_locked
from profile_app.documents.core import WORKSPACE_FILE, Origin
from profile_app.documents.services import save_document
from profile_app.workspace.core.names import FileName, sort_key
from profile_app.workspace.core.problems import FileProblem
from profile_app.workspace.folder import has_files, read_mark
from profile_app.workspace.models import Workspace
from profile_app.workspace.problems import described, detail_of
from profile_app.workspace.selectors import is_here, list_done_files, list_files, list_workspaces, path_of
from profile_app.workspace.services.places import attach_folder
from profile_app.workspace.services.sync import sync_workspace


@dataclass(frozen=True, slots=True)
class SetUp:
    """What a set-up did: where the folder is, files made and read, texts that wait for their owner, problems."""

    path: Path
    made: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)


def set_up(
    *,
    owner: User,
    path: Path | None,
    actor: str,
    now: datetime,
    may_move: bool = True,
) -> SetUp:
    """Make or mark the folder of an owner, take in what it holds, and add default files where none are.

    A folder that somebody names and that holds files already is read only: nothing but the mark is written there.
    `may_move` False makes none beside a folder that is on another machine. Twice changes nothing. Raises Invalid for a
    folder that cannot be used.
    """
    known = next(iter(list_workspaces(owner)), None)
    before = versions_of(owner)
    wanted = path.expanduser().resolve() if path else None
    if wanted and Workspace.objects.filter(mark=read_mark(wanted)[0]).exclude(owner=owner).exists():
        raise Invalid(_("This folder holds the agent files of another user. Choose another one."))
    workspace = known
    if workspace is None or (may_move and not is_current(workspace, owner, wanted)):
        try:
            workspace = attach_folder(owner=owner, path=wanted, now=now)
        except FileProblem as problem:
            raise Invalid(detail_of(problem.code)) from problem
        record_audit(
            now=now,
            actor=actor,
            tool_call="workspace_attached",
            owner_id=owner.pk,
        )
    place = path_of(workspace, owner)
    is_theirs = bool(workspace.path) and has_files(place)
    sync_workspace(owner=owner, now=now, may_write=not is_theirs)
    read = sorted(
        (name for name, number in versions_of(owner).items() if before.get(name) != number),
        key=sort_key,
    )
    made = [] if is_theirs else scaffold(owner=owner, actor=actor, now=now, has_bootstrap=known is None)
    workspace.refresh_from_db()
    return SetUp(
        place,
        made,
        read,
        list_waiting(owner),
        described(workspace.problems),
    )


def scaffold(
    *,
    owner: User,
    actor: str,
    now: datetime,
    has_bootstrap: bool,
) -> list[str]:
    """Write the default files where an owner has no text; return their names. BOOTSTRAP.md on the first set-up only."""
    names = set(FileName)
    if not has_bootstrap or list_done_files(owner).exists():
        names -= {FileName.BOOTSTRAP}
    made: list[str] = []
    with owner_locked(owner.pk):
        stored = list_files(owner).exclude(content="", held_content="")
        for name in sorted(
            names - set(stored.values_list("name", flat=True)),
            key=sort_key,
        ):
            text = default_text(FileName(name))
            save_document(
                owner=owner,
                kind=WORKSPACE_FILE,
                name=name,
                content=text,
                origin=Origin.SETUP,
                actor=actor,
                now=now,
            )
            made.append(name)
    return made


def default_text(name: FileName) -> str:
    """Return the default text of a file."""
    return str(load_toml("profile_app.workspace", "defaults.toml")[name]["text"])


def is_current(workspace: Workspace, owner: User, wanted: Path | None) -> bool:
    """Say whether the folder is this workspace's, and where it is wanted."""
    return wanted in {None, path_of(workspace, owner)} and is_here(workspace, owner)


def versions_of(owner: User) -> dict[str, int]:
    """Return the version of each file that has had a text in force."""
    rows = list_files(owner).filter(version__gt=0)
    return dict(rows.values_list("name", "version"))


def list_waiting(owner: User) -> list[str]:
    """Return the files of which a text waits for its owner."""
    rows = list_files(owner).filter(held_at__isnull=False)
    return sorted(rows.values_list("name", flat=True), key=sort_key)
