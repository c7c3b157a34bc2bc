"""The jobs of exports and imports. Each re-reads its transfer and does nothing when that has moved on."""

import re
from datetime import datetime
from typing import Any

from django.utils import translation

from memory_app.bundle import transfers
from memory_app.bundle.adapters import upload_store
from memory_app.bundle.models import BundleTransfer, Direction, TransferState
from memory_app.bundle.transfer_jobs import apply_transfer, preview_transfer, write_export
from minara_site.kernel.errors import Conflict, MinaraError, Unavailable
from minara_site.kernel.files.services import delete_file
from minara_site.kernel.jobs.services import Claim


def export(
    *,
    now: datetime,
    transfer_id: int,
    claim: Claim | None = None,
) -> dict[str, Any]:
    """Write an export and pack it."""
    transfer = find(transfer_id, Direction.EXPORT, TransferState.WAITING)
    if transfer is None:
        return {}
    with translation.override(transfer.options["language"]):
        try:
            stored, counts = write_export(transfer, now=now, claim=claim)
        except Unavailable:
            raise
        except MinaraError as error:
            end(transfer, TransferState.FAILED, now=now, error=error.detail)
            return {"files": 0}
    is_kept = end(
        transfer,
        TransferState.DONE,
        now=now,
        result=counts,
        file_name=stored.name,
        sha256=stored.sha256,
        size_bytes=stored.size_bytes,
    )
    if not is_kept:
        delete_file(stored.name)
    return {"files": sum(counts["files"].values()), "bytes": stored.size_bytes}


def plan(*, now: datetime, transfer_id: int) -> dict[str, Any]:
    """Read an upload and keep what importing it would do."""
    transfer = find(transfer_id, Direction.IMPORT, TransferState.WAITING)
    if transfer is None:
        return {}
    with translation.override(transfer.options["language"]):
        return show(transfer, now=now)


def show(transfer: BundleTransfer, *, now: datetime, error: str = "") -> dict[str, Any]:
    """Keep the preview of an import, or why there is none."""
    try:
        found = preview_transfer(transfer, now=now)
    except Unavailable:
        raise
    except MinaraError as refusal:
        end(
            transfer,
            TransferState.REFUSED,
            now=now,
            error=text_of(refusal, transfer),
        )
        return {"refused": 1}
    change(
        transfer,
        state=TransferState.SHOWN,
        plan=found.as_json(),
        plan_sha256=found.sha256,
        error=error[:500],
    )
    return dict(found.verdicts)


def apply(
    *,
    now: datetime,
    transfer_id: int,
    claim: Claim | None = None,
) -> dict[str, Any]:
    """Do exactly what was shown; when it is something else by now, show that instead."""
    transfer = find(transfer_id, Direction.IMPORT, TransferState.APPLYING)
    if transfer is None:
        return {}
    with translation.override(transfer.options["language"]):
        try:
            result = apply_transfer(transfer, now=now, claim=claim)
        except Unavailable:
            raise
        except Conflict as conflict:
            return show(transfer, now=now, error=conflict.detail)
        except MinaraError as error:
            end(
                transfer,
                TransferState.FAILED,
                now=now,
                error=text_of(error, transfer),
            )
            return {"failed": 1}
    end(transfer, TransferState.DONE, now=now, result=result)
    return dict(result["verdicts"])


def delete_expired(*, now: datetime) -> dict[str, Any]:
    """Remove the files whose day is over."""
    return dict(transfers.delete_expired_transfers(now=now))


def text_of(error: MinaraError, transfer: BundleTransfer) -> str:
    """Return what is wrong; an upload is called as its owner calls it."""
    folder, name = re.escape(str(upload_store.upload_folder())), re.escape(transfer.file_name)
    return re.sub(
        f"(?:{folder}/[^/]+/)?{name}",
        lambda _found: transfer.given_name,
        error.detail,
    )


def find(
    transfer_id: int,
    direction: Direction,
    state: TransferState,
) -> BundleTransfer | None:
    """Return a transfer that still waits for this job."""
    waiting = BundleTransfer.objects.filter(
        pk=transfer_id,
        direction=direction,
        state=state,
    )
    return waiting.select_related("owner").first()


def end(
    transfer: BundleTransfer,
    state: TransferState,
    *,
    now: datetime,
    error: str = "",
    **fields: Any,
) -> bool:
    """End a transfer that nobody else ended."""
    return change(
        transfer,
        state=state,
        error=error[:500],
        finished_at=now,
        **fields,
    )


def change(transfer: BundleTransfer, **fields: Any) -> bool:
    """Change a transfer that stands as the job found it; say whether it did."""
    return bool(BundleTransfer.objects.filter(pk=transfer.pk, state=transfer.state).update(**fields))
