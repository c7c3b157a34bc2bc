"""BOOTSTRAP.md is carried by exactly one session. Source: S3 (runs exactly once), decisions (BOOTSTRAP.md)."""

from datetime import datetime
from functools import partial

from django.db import transaction

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit
from profile_app.documents.core import WORKSPACE_FILE
from profile_app.documents.selectors import list_documents
from profile_app.workspace.core.names import FileName, done_name
from profile_app.workspace.services.sync import rename_on_disk

BOOTSTRAP_ACTOR = "job:session.start"


def claim_bootstrap(*, owner: User, now: datetime) -> bool:
    """Say whether this session is the one that carries BOOTSTRAP.md; from then on it has another name.

    In the caller's transaction, which freezes the session's prompt: of two sessions that start together one wins. The
    folder's file is renamed after the commit, or by the next reading of the folder.
    """
    rows = list_documents(owner=owner, kind=WORKSPACE_FILE).order_by()
    name = done_name(now)
    if not rows.filter(name=FileName.BOOTSTRAP).exclude(content="").update(name=name):
        return False
    details = {"name": name}
    record_audit(now=now, actor=BOOTSTRAP_ACTOR, tool_call="bootstrap_carried", owner_id=owner.pk, details=details)
    transaction.on_commit(partial(rename_on_disk, owner.pk), robust=True)
    return True
