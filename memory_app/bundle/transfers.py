"""Exports and imports in the browser: ask for one, confirm it, forget its file. Jobs do the work (screens U-22)."""

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import translation
from django.utils.translation import get_language, gettext as _

from memory_app.bundle.adapters import upload_store
from memory_app.bundle.models import BundleTransfer, Direction, TransferState
from memory_app.writes.core.entries import IMPORT, count_ids
from memory_app.writes.selectors.plans import entries_of
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, Gone, Invalid, Refused
from minara_site.kernel.files.services import delete_expired_files, delete_file, keep_file
from minara_site.kernel.jobs.services import request_run

KEPT = timedelta(hours=24)
MAX_UPLOADS = 20  # of one person that are kept
UNFINISHED = (TransferState.WAITING, TransferState.SHOWN, TransferState.APPLYING)
EXPORT_JOB, PLAN_JOB, APPLY_JOB, FORGET_JOB = "bundle.export", "bundle.plan", "bundle.apply", "bundle.forget"
EXPIRED_AS = {  # what was stored stays stored; of an import that broke off nobody says that nothing was
    (Direction.IMPORT, TransferState.DONE): TransferState.DONE,
    (Direction.IMPORT, TransferState.APPLYING): TransferState.FAILED,
    (Direction.IMPORT, TransferState.FAILED): TransferState.FAILED,
}
TREE = "minara"  # the format of our own tree, and of the sources' database: the file itself says which


def start_export(
    *,
    principal: Principal,
    owner: User,
    sign: bool,
    include_constraints: bool,
    now: datetime,
) -> BundleTransfer:
    """Ask a worker for an export; the file can be downloaded for a day. One for somebody else is never signed."""
    is_signed = sign and principal.owner.pk == owner.pk
    options = {
        "sign": is_signed,
        "include_constraints": include_constraints,
        "language": get_language(),
    }
    with transaction.atomic():
        record = BundleTransfer.objects.create(
            owner=owner,
            direction=Direction.EXPORT,
            format=TREE,
            options=options,
            actor=principal.actor,
            created_at=now,
            expires_at=now + KEPT,
        )
        return ask_for(record, EXPORT_JOB, principal=principal, now=now)


def receive_upload(
    *,
    principal: Principal,
    owner: User,
    source_format: str,
    given_name: str,
    chunks: Iterable[bytes],
    now: datetime,
) -> BundleTransfer:
    """Keep an upload for a day and ask a worker what importing it would do.

    Raises Invalid for its size, and where as many as one person may have wait already.
    """
    kept = BundleTransfer.objects.filter(
        actor=principal.actor,
        direction=Direction.IMPORT,
        expires_at__gt=now,
    )
    if kept.exclude(file_name="").count() >= MAX_UPLOADS:
        raise Invalid(_("Your uploads of the last day fill the room that they have. Try again later."))
    stored, is_zip = upload_store.store_upload(chunks, now=now, expires_at=now + KEPT)
    try:
        with transaction.atomic():
            record = BundleTransfer.objects.create(
                owner=owner,
                direction=Direction.IMPORT,
                format=source_format,
                options={
                    "is_zip": is_zip,
                    "approve": False,
                    "language": get_language(),
                },
                actor=principal.actor,
                given_name=given_name,
                file_name=stored.name,
                sha256=stored.sha256,
                size_bytes=stored.size_bytes,
                created_at=now,
                expires_at=now + KEPT,
            )
            return ask_for(record, PLAN_JOB, principal=principal, now=now)
    except BaseException:
        delete_file(stored.name)
        raise


def approve_constraints(
    *,
    principal: Principal,
    transfer: BundleTransfer,
    plan_sha256: str,
    now: datetime,
) -> BundleTransfer:
    """Take their owner's word for the hard constraints of an import, and show what it would do then.

    Raises Refused, Conflict, Gone.
    """
    check_owner(principal, transfer)
    check_shown(transfer, plan_sha256, now=now)
    options = {**transfer.options, "approve": True, "approved_by": principal.actor}
    fields = {"options": options, "plan": None, "plan_sha256": "", "error": ""}
    details = {
        "transfer": transfer.pk,
        "sha256": transfer.sha256,
        "plan_sha256": plan_sha256,
    }
    with transaction.atomic():
        moved = move_on(
            transfer,
            PLAN_JOB,
            principal=principal,
            now=now,
            state=TransferState.WAITING,
            **fields,
        )
        record_audit(
            now=now,
            actor=principal.actor,
            tool_call="constraints_approved",
            owner_id=transfer.owner_id,
            details=details,
        )
    return moved


def start_apply(
    *,
    principal: Principal,
    transfer: BundleTransfer,
    plan_sha256: str,
    now: datetime,
) -> BundleTransfer:
    """Ask a worker to do exactly what was shown; of two clicks one counts. Raises Refused, Conflict, Gone."""
    if transfer.options["approve"]:
        check_owner(principal, transfer)
    check_shown(transfer, plan_sha256, now=now)
    run = transfer.options.get("run") or secrets.token_hex(8)  # one that stopped halfway goes on under its name
    options = {**transfer.options, "applied_by": principal.actor, "run": run}
    fields = {"options": options, "error": "", "expires_at": now + KEPT}
    keep_file(transfer.file_name, until=now + KEPT)
    return move_on(
        transfer,
        APPLY_JOB,
        principal=principal,
        now=now,
        state=TransferState.APPLYING,
        **fields,
    )


def check_owner(principal: Principal, transfer: BundleTransfer) -> None:
    """Raise Refused for everybody but the owner: nobody else lets their hard constraints in (decisions)."""
    if principal.owner.pk != transfer.owner_id:
        raise Refused(_("Your account type may not do this."), code="role")


def check_shown(transfer: BundleTransfer, plan_sha256: str, *, now: datetime) -> None:
    """Raise Gone after its day, Conflict unless this is the plan that it shows."""
    if transfer.expires_at <= now:
        raise Gone(_("The file was kept for a day. Choose it again."))
    if transfer.plan_sha256 != plan_sha256:
        raise Conflict(_("This changed since you opened it: preview again."), code="stale")


def move_on(
    transfer: BundleTransfer,
    job: str,
    *,
    principal: Principal,
    now: datetime,
    state: TransferState,
    **fields: Any,
) -> BundleTransfer:
    """Leave the preview that this person saw for the next state, with the job that belongs to it. Raises Conflict."""
    with transaction.atomic():
        shown = BundleTransfer.objects.filter(
            pk=transfer.pk,
            state=TransferState.SHOWN,
            plan_sha256=transfer.plan_sha256,
        )
        if not shown.update(state=state, **fields):
            raise Conflict(_("This changed since you opened it: preview again."), code="moved_on")
        return ask_for(
            BundleTransfer.objects.get(pk=transfer.pk),
            job,
            principal=principal,
            now=now,
        )


def ask_for(
    record: BundleTransfer,
    job: str,
    *,
    principal: Principal,
    now: datetime,
) -> BundleTransfer:
    """Ask for the job of a transfer and remember its run. Needs a transaction."""
    run = request_run(
        job,
        {"transfer_id": record.pk},
        now=now,
        requested_by=principal.actor,
    )
    record.run_id = run.pk
    record.save(update_fields=["run_id"])
    return record


def record_download(
    *,
    principal: Principal,
    transfer: BundleTransfer,
    now: datetime,
) -> None:
    """Keep who took an export away."""
    details = {
        "transfer": transfer.pk,
        "sha256": transfer.sha256,
        "size": transfer.size_bytes,
    }
    record_audit(
        now=now,
        actor=principal.actor,
        tool_call="export_downloaded",
        owner_id=transfer.owner_id,
        details=details,
    )


def remove_file(
    *,
    principal: Principal,
    transfer: BundleTransfer,
    now: datetime,
) -> None:
    """Remove an export, or an upload with its preview, before its day is over. Raises Conflict."""
    with transaction.atomic():
        mine = BundleTransfer.objects.filter(
            pk=transfer.pk,
            state=transfer.state,
            expires_at__gt=now,
        )
        is_read = bool(transfer.file_name) and transfer.state in {TransferState.WAITING, TransferState.APPLYING}
        if is_read or not mine.update(**last_word(transfer), plan=None, file_name="", expires_at=now):
            raise Conflict(_("A worker has it, or its file is gone already. Reload the page."), code="moved_on")
        details = {"transfer": transfer.pk, "sha256": transfer.sha256}
        record_audit(
            now=now,
            actor=principal.actor,
            tool_call="transfer_removed",
            owner_id=transfer.owner_id,
            details=details,
        )
        transaction.on_commit(partial(delete_file, transfer.file_name))


def delete_expired_transfers(*, now: datetime) -> dict[str, int]:
    """Remove the files and previews whose day is over, and what a dead worker left; return how many."""
    forgotten = 0
    over = BundleTransfer.objects.filter(expires_at__lte=now)
    over = over.filter(~Q(file_name="") | Q(state__in=UNFINISHED))
    for transfer in over.defer("plan").order_by("pk").iterator():
        mine = BundleTransfer.objects.filter(pk=transfer.pk, state=transfer.state)
        forgotten += mine.update(**last_word(transfer), plan=None, file_name="")
        delete_file(transfer.file_name)
    strays = delete_expired_files(now=now) + upload_store.remove_strays(older_than=(now - KEPT).timestamp())
    return {"forgotten": forgotten, "strays": strays}


def last_word(transfer: BundleTransfer) -> dict[str, Any]:
    """Return how a transfer ends whose day is over; one that stored something before it stopped says how much."""
    state = EXPIRED_AS.get(
        (Direction(transfer.direction), TransferState(transfer.state)),
        TransferState.EXPIRED,
    )
    run = transfer.options.get("run") if state != transfer.state else None
    stored = sum(count_ids(entry.details) for entry in entries_of(f"{IMPORT}{run}")) if run else 0
    if not stored:
        return {"state": state}
    with translation.override(transfer.options["language"]):
        told = _(
            "It stopped halfway and was not finished within a day. %(count)d entries were stored before it stopped."
        )
        return {"state": TransferState.FAILED, "error": told % {"count": stored}}
