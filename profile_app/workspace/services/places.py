"""Where an owner's folder is on this machine, and what was wrong with it. Source: decisions (workspace on disk)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from django.db import transaction
from django.utils.dateparse import parse_datetime

from minara_site.access.models import User
from minara_site.kernel.ownership import lock_owner
from profile_app.documents.core import WORKSPACE_FILE
from profile_app.documents.selectors import list_documents
from profile_app.workspace.core.problems import ProblemCode
from profile_app.workspace.folder import make_folder, read_mark
from profile_app.workspace.models import Workspace
from profile_app.workspace.selectors import path_of, usual_path

NOTICE_DAYS = 7
"""How long a page says that the folder's text took the place of another."""
READ_EVERY = timedelta(minutes=1)


def attach_folder(*, owner: User, path: Path | None, now: datetime) -> Workspace:
    """Mark a folder as an owner's and make it where it is missing; what it held before is not known then.

    None is the usual place, or where it is already. Raises FileProblem.
    """
    with transaction.atomic():
        lock_owner(owner.pk)
        workspace = Workspace.objects.for_owner(owner).first() or Workspace(owner=owner, created_at=now)
        if path is not None:
            workspace.path = "" if path == usual_path(owner) else str(path)
        workspace.mark, workspace.problems, workspace.read_at = str(uuid4()), [], None
        make_folder(path_of(workspace, owner), workspace.mark)
        workspace.save()
        list_documents(owner=owner, kind=WORKSPACE_FILE).update(folder_sha256="", folder_stamp="")
    return workspace


def find_or_attach(*, owner: User, now: datetime) -> Workspace:
    """Return an owner's workspace; the first one gets its usual folder, unless that is marked as another's already.

    Raises FileProblem.
    """
    found: Workspace | None = Workspace.objects.for_owner(owner).first()
    if found is not None:
        return found
    if not read_mark(usual_path(owner)):
        return attach_folder(owner=owner, path=None, now=now)
    return Workspace.objects.get_or_create(owner=owner, defaults={"mark": str(uuid4()), "created_at": now})[0]


def problem_record(name: str, code: ProblemCode) -> dict[str, str]:
    """Return a problem as the workspace keeps it; `name` is empty for the folder as a whole."""
    return {"name": name, "code": str(code)}


def store_problems(workspace: Workspace, found: Sequence[dict[str, str]], *, now: datetime) -> None:
    """Keep what was wrong at this reading; notices of the last days stay until their file has a problem again."""
    named = {each["name"] for each in found}
    notices = [each for each in workspace.problems if is_recent(each, now) and each["name"] not in named]
    marked = [each | {"at": now.isoformat()} if each["code"] == ProblemCode.BOTH_CHANGED else each for each in found]
    problems, read_at = [*marked, *notices], workspace.read_at
    if problems != workspace.problems or read_at is None or now - read_at >= READ_EVERY:
        Workspace.objects.filter(pk=workspace.pk, mark=workspace.mark).update(problems=problems, read_at=now)


def is_recent(problem: dict[str, str], now: datetime) -> bool:
    """Say whether this is a notice that is still shown."""
    at = parse_datetime(problem.get("at", ""))
    return at is not None and now - at < timedelta(days=NOTICE_DAYS)
