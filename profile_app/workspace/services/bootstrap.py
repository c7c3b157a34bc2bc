"""BOOTSTRAP.md is carried by exactly one session. Source: S3 (runs exactly once), decisions (BOOTSTRAP.md)."""

from datetime import datetime

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit
from profile_app.documents.core import WORKSPACE_FILE, Origin
from profile_app.documents.models import Document, DocumentRevision
from profile_app.documents.services import put_in_force
from profile_app.workspace.core.names import FileName, done_name

BOOTSTRAP_ACTOR = "job:session.start"


def claim_bootstrap(*, owner: User, now: datetime) -> None:
    """Move the text of BOOTSTRAP.md to a file of its moment, so that no other session carries it.

    In the transaction that freezes the session's prompt and under the owner's lock. What waits beside the text, its
    draft and its versions stay with BOOTSTRAP.md. The folder's file is renamed after the commit, or when it is read.
    """
    carried = Document.objects.for_owner(owner).get(kind=WORKSPACE_FILE, name=FileName.BOOTSTRAP)
    name, origin = done_name(now), Origin.SERVICE
    made = {"content": carried.content, "actor": BOOTSTRAP_ACTOR}
    done = Document.objects.create(
        owner=owner,
        kind=WORKSPACE_FILE,
        name=name,
        version=1,
        updated_at=now,
        rules_version=carried.rules_version,
        is_demo=carried.is_demo,
        **made,
    )
    DocumentRevision.objects.create(
        document=done,
        number=1,
        replaced=0,
        origin=origin,
        created_at=now,
        **made,
    )
    put_in_force(carried, "", origin=origin, actor=BOOTSTRAP_ACTOR, now=now)
    details = {"name": name}
    record_audit(
        now=now,
        actor=BOOTSTRAP_ACTOR,
        tool_call="bootstrap_carried",
        owner_id=owner.pk,
        details=details,
    )
