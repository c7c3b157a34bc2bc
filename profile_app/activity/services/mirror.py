"""Storing what sources say, each row once. Source: S1 (bulkInsertPerpsFills, bulkInsertExternalSpot)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from minara_site.kernel.db import slices
from minara_site.kernel.events import external_spot_recorded, perps_fills_recorded, send_after_commit
from profile_app.activity.core.fills import Fill
from profile_app.activity.models import Account, PerpsFill, SpotActivity


def bulk_insert_perps_fills(account: Account, fills: Sequence[Fill], *, now: datetime) -> int:
    """Store the fills that are not there yet and return how many; their days are computed again afterwards.

    A fill that was stored without the exchange's number and comes again with one is the same. Needs a transaction in
    which the owner is locked.
    """
    times = [fill.ts_ms for fill in fills]
    if not times:
        return 0
    rows = PerpsFill.objects.filter(account=account, ts_ms__range=(min(times), max(times)))
    stored = dict(rows.values_list("fill_uid", "digest"))
    said = {(digest, uid.isdecimal()) for uid, digest in stored.items()}
    new = []
    for fill in fills:
        uid, digest, is_numbered = fill.fill_uid, fill.digest, fill.fill_uid.isdecimal()
        if uid in stored or (digest, False) in said or (not is_numbered and (digest, True) in said):
            continue
        stored[uid] = digest
        said.add((digest, is_numbered))
        new.append(fill)
    if new:
        PerpsFill.objects.bulk_create(
            PerpsFill(
                owner_id=account.owner_id,
                account=account,
                sub_account_id=account.wallet,
                wallet_address=account.address or None,
                created_at=now,
                **fill._asdict(),
            )
            for fill in new
        )
        begins, stale = min(fill.ts_ms for fill in new), account.stale_from_ms
        account.stale_from_ms = begins if stale is None else min(stale, begins)
        account.save(update_fields=["stale_from_ms"])
        send_after_commit(perps_fills_recorded, owner_id=account.owner_id, count=len(new))
    return len(new)


def bulk_insert_external_spot(owner_id: int, activities: Sequence[dict[str, Any]], *, now: datetime) -> int:
    """Store the swaps and transfers that are not there yet and return how many. Needs a locked owner, like fills."""
    new: dict[str, dict[str, Any]] = {}
    for each in activities:
        new.setdefault(each["tx_hash"], each)
    for some in slices(list(new)):
        known = SpotActivity.objects.filter(owner_id=owner_id, tx_hash__in=some)
        for tx_hash in known.values_list("tx_hash", flat=True):
            del new[tx_hash]
    if new:
        SpotActivity.objects.bulk_create(
            SpotActivity(owner_id=owner_id, created_at=now, **each) for each in new.values()
        )
        send_after_commit(external_spot_recorded, owner_id=owner_id, count=len(new))
    return len(new)
