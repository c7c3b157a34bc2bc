"""Storing what sources say, each row once. Source: S1 (bulkInsertPerpsFills, bulkInsertExternalSpot)."""

from collections.abc import Sequence
from datetime import datetime

from minara_site.kernel.db import slices
from minara_site.kernel.events import external_spot_recorded, perps_fills_recorded, send_after_commit
from profile_app.activity.core.fills import Fill
from profile_app.activity.core.spot import Activity
from profile_app.activity.models import Account, PerpsFill, SpotActivity

COPIED = (
    "oid",
    "ts_ms",
    "symbol",
    "asset",
    "side",
    "dir",
    "size",
    "price",
    "fee",
    "fee_token",
    "closed_pnl",
    "start_position",
    "is_liquidation",
    "digest",
)


def bulk_insert_perps_fills(account: Account, fills: Sequence[Fill], *, now: datetime) -> int:
    """Store the fills that are not there yet and return how many; their days are computed again afterwards.

    A fill that was stored without the exchange's number and comes again with one is the same. Needs a transaction in
    which the owner is locked.
    """
    if not fills:
        return 0
    first, last = min(fill.ts_ms for fill in fills), max(fill.ts_ms for fill in fills)
    stored = PerpsFill.objects.filter(account=account, ts_ms__range=(first, last)).values_list("fill_uid", "digest")
    uids, digests, unnumbered = set[str](), set[str](), set[str]()
    for uid, digest in stored:
        uids.add(uid)
        digests.add(digest)
        if not uid.isdecimal():
            unnumbered.add(digest)
    new = []
    for fill in fills:
        if fill.uid in uids or fill.digest in (unnumbered if fill.has_tid else digests):
            continue
        uids.add(fill.uid)
        digests.add(fill.digest)
        if not fill.has_tid:
            unnumbered.add(fill.digest)
        new.append(fill)
    PerpsFill.objects.bulk_create(
        PerpsFill(
            owner_id=account.owner_id,
            account=account,
            sub_account_id=account.wallet,
            wallet_address=account.address or None,
            raw_json=fill.raw,
            fill_uid=fill.uid,
            created_at=now,
            **{name: getattr(fill, name) for name in COPIED},
        )
        for fill in new
    )
    if new:
        begins = min(fill.ts_ms for fill in new)
        stale = account.stale_from_ms
        account.stale_from_ms = begins if stale is None else min(stale, begins)
        account.save(update_fields=["stale_from_ms"])
        send_after_commit(perps_fills_recorded, owner_id=account.owner_id, count=len(new))
    return len(new)


def bulk_insert_external_spot(owner_id: int, activities: Sequence[Activity], *, now: datetime) -> int:
    """Store the swaps and transfers that are not there yet and return how many. Needs a locked owner, like fills."""
    by_hash = {each.tx_hash: each for each in reversed(activities)}
    for some in slices(list(by_hash)):
        known = SpotActivity.objects.filter(owner_id=owner_id, tx_hash__in=some)
        for tx_hash in known.values_list("tx_hash", flat=True):
            del by_hash[tx_hash]
    new = sorted(by_hash.values(), key=lambda each: each.ts_ms)
    SpotActivity.objects.bulk_create(
        SpotActivity(
            owner_id=owner_id,
            tx_hash=each.tx_hash,
            ts_ms=each.ts_ms,
            type=each.type,
            from_token=each.from_token,
            to_token=each.to_token,
            amount=each.amount,
            value_usd=each.value_usd,
            status=each.status,
            raw_json=each.raw,
            created_at=now,
        )
        for each in new
    )
    if new:
        send_after_commit(external_spot_recorded, owner_id=owner_id, count=len(new))
    return len(new)
