"""Where an owner's folder is on this machine, and what was wrong with it. Source: decisions (workspace on disk)."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from django.utils.dateparse import parse_datetime

from minara_site.access.models import User
from minara_site.kernel.ownership import owner_locked
from profile_app.workspace.core.problems import ProblemCode
from profile_app.workspace.core.sync import Copy
from profile_app.workspace.folder import make_folder, read_mark
from profile_app.workspace.models import Workspace
from profile_app.workspace.selectors import is_here, list_workspaces, path_of, usual_path

NOTICE_DAYS = 7
"""How long a page says that the folder's text took the place of another."""
READ_EVERY = timedelta(minutes=1)


def attach_folder(*, owner: User, path: Path | None, now: datetime) -> Workspace:
    """Mark a folder as an owner's on this machine and make it where it is missing; what it held before is not known.

    None is where it is already, here or on another machine, or the usual place. Raises FileProblem.
    """
    with owner_locked(owner.pk):
        known = next(iter(list_workspaces(owner)), None)
        workspace = known if known and is_here(known, owner) else Workspace(owner=owner, created_at=now)
        if path is not None:
            workspace.path = "" if path == usual_path(owner) else str(path)
        elif known:
            workspace.path = known.path
        workspace.mark, workspace.copies, workspace.problems, workspace.read_at = str(uuid4()), {}, [], None
        place = path_of(workspace, owner)
        make_folder(place, workspace.mark)
        _mark, workspace.mark_stamp = read_mark(place)
        workspace.save()
    return workspace


def find_or_adopt(*, owner: User, now: datetime) -> Workspace | None:
    """Return the folder of this machine, None without one. A copy of another machine's becomes a folder of its own.

    Raises FileProblem.
    """
    rows = list_workspaces(owner)
    if rows and is_here(rows[0], owner):
        return rows[0]
    copied = next(
        (row for row in rows if read_mark(path_of(row, owner))[0] == row.mark),
        None,
    )
    return attach_folder(owner=owner, path=path_of(copied, owner), now=now) if copied else None


def find_or_attach(*, owner: User, now: datetime) -> Workspace:
    """Return an owner's workspace; the first one gets its usual folder, unless that is marked as another's already.

    Raises FileProblem.
    """
    found: Workspace | None = Workspace.objects.for_owner(owner).first()
    if found is not None:
        return found
    if not read_mark(usual_path(owner))[0]:
        return attach_folder(owner=owner, path=None, now=now)
    return Workspace.objects.get_or_create(
        owner=owner,
        defaults={"mark": str(uuid4()), "created_at": now},
    )[0]


def problem_record(name: str, code: ProblemCode) -> dict[str, str]:
    """Return a problem as the workspace keeps it; `name` is empty for the folder as a whole."""
    return {"name": name, "code": str(code)}


def store_reading(
    workspace: Workspace,
    copies: Mapping[str, Copy],
    found: Sequence[dict[str, str]],
    *,
    now: datetime,
) -> None:
    """Keep what was wrong, and what the folder holds if that is another than `workspace` says.

    Notices of the last days stay until a file has a problem again.
    """
    named = {each["name"] for each in found}
    notices = [each for each in workspace.problems if is_recent(each, now) and each["name"] not in named]
    marked = [each | {"at": now.isoformat()} if each["code"] == ProblemCode.BOTH_CHANGED else each for each in found]
    problems, read_at = [*marked, *notices], workspace.read_at
    changed = {} if copies == copies_of(workspace) else {"copies": copies}
    if changed or problems != workspace.problems or read_at is None or now - read_at >= READ_EVERY:
        changes = {"problems": problems, "read_at": now, **changed}
        Workspace.objects.filter(pk=workspace.pk, mark=workspace.mark).update(**changes)


def copies_of(workspace: Workspace) -> dict[str, Copy]:
    """Return what a folder was last known to hold, by name."""
    return {name: Copy(*known) for name, known in workspace.copies.items()}


def is_recent(problem: dict[str, str], now: datetime) -> bool:
    """Say whether this is a notice that is still shown."""
    at = parse_datetime(problem.get("at", ""))
    return at is not None and now - at < timedelta(days=NOTICE_DAYS)
