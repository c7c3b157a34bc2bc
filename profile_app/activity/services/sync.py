"""Reading an owner's sources into the mirrors: on a trade, every half hour, and forced. Source: S3 (MinaraHistorySync).

It never raises for what a source does: a failed account adds no rows, keeps its place and delays no other. Accounts
take turns, a page each, so that a first sync does not keep the others waiting. Nothing is asked in a transaction.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import structlog
from django.conf import settings
from django.db import DataError
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.core.symbols import asset_of_market
from minara_site.kernel.errors import Throttled
from minara_site.kernel.instance.models import InstanceMeta
from minara_site.kernel.jobs.models import JobRun, OwnerSchedule
from minara_site.kernel.jobs.owner_schedule import nudge, one_run
from minara_site.kernel.jobs.services import DROPPED, request_run
from minara_site.kernel.jobs.time_budget import TimeBudget
from minara_site.kernel.ownership import owner_locked
from profile_app.activity.adapters import Page, SourceFailed, SourceRests, gateway, hyperliquid
from profile_app.activity.core.accounts import EVERY, SYNC, AccountSource, Reader, SyncSource
from profile_app.activity.core.figures import ms_of
from profile_app.activity.core.fills import (
    DAY_MS,
    SYMBOL,
    UnreadableRow,
    fields_of,
    read_activities,
    read_fills,
    read_payments,
)
from profile_app.activity.models import Account, FundingPayment, PerpsFill, SyncState
from profile_app.activity.selectors import (
    has_gateway,
    list_accounts,
    list_owners,
    load_states,
    reader_of,
    wait_seconds,
)
from profile_app.activity.services.days import refresh_days
from profile_app.activity.services.mirror import bulk_insert_external_spot, bulk_insert_perps_fills

RUN_SECONDS = 60.0
MAX_PAGES = 1_000
RESTS = "source_rests:"
WALLET = {"wallet_address": ("walletAddress",), "sub_account_id": ("subAccountId",)}
"""How the gateway names the wallet of a fill."""

log = structlog.get_logger(__name__)


@dataclass
class SyncRun:
    """What one run of an owner's sync knows and counts."""

    owner: User
    now: datetime
    added: int = 0
    failed: int = 0

    @property
    def latest_ms(self) -> int:
        """The latest time that a row may have: clocks differ by less than a day."""
        return ms_of(self.now) + DAY_MS

    @cached_property
    def spot_names(self) -> Mapping[str, str]:
        """The names of spot markets by their numbers, asked for once; none while not known."""
        try:
            return hyperliquid.fetch_spot_names()
        except (SourceFailed, SourceRests):
            return {}


class Source(Protocol):
    """Reads and stores what is new of a source, a page at each step.

    Raises SourceRests, UnreadableRow, and SourceFailed, also for a source that does not go on.
    """

    def __call__(self, sync: SyncRun, state: SyncState) -> Iterator[bool]: ...


class Target(NamedTuple):
    """A source of one account; each of `turns` reads and stores a page, until there is none left."""

    reader: Reader
    state: SyncState
    turns: Iterator[bool]


def sync_owner(*, owner_id: int, now: datetime, is_forced: bool = False) -> dict[str, Any] | None:
    """Read what is new of an owner's accounts; forced, also those that failed too often. Returns counts.

    It is due again at once with pages left, else when a source rests no more or in half an hour, and not where there
    is nothing to read.
    """
    with one_run(SYNC, owner_id, now=now) as run:
        if run is None:
            return {"result": DROPPED}
        sync, budget = SyncRun(run.owner, now), TimeBudget.start(RUN_SECONDS)
        rests = {reader: until for reader in Reader if (until := rests_until(reader, now=now))}
        targets = deque(list_targets(sync, is_forced=is_forced))
        total = len(targets)
        while targets and not budget.is_spent:
            target = targets.popleft()
            if target.reader in rests:
                continue
            try:
                if next(target.turns, False):
                    targets.append(target)
            except SourceRests as rest:
                rests[target.reader] = until = now + timedelta(seconds=max(rest.seconds, 1))
                value = {"value": until.isoformat()}
                InstanceMeta.objects.update_or_create(key=f"{RESTS}{target.reader}", defaults=value)
            except (SourceFailed, UnreadableRow, DataError) as problem:
                record_failure(sync, target.state, problem)
        refresh_days(owner_id, sync.owner.time_zone)
        if targets:
            run.next_at = now
        elif list_owners().filter(pk=owner_id).exists():
            run.next_at = min([now + EVERY, *rests.values()])
    return {"read": total, "added": sync.added, "failed": sync.failed, "unfinished": len(targets)}


def list_targets(sync: SyncRun, *, is_forced: bool) -> list[Target]:
    """Return what is to be read now, what was tried last at the end; what failed too often waits for its probe."""
    owner, states, targets = sync.owner, load_states(sync.owner), list[Target]()
    wanted = list[tuple[Reader, SyncSource, str]]()
    if has_gateway(owner):
        wanted += [(Reader.GATEWAY, source, "") for source in (SyncSource.PERPS_FILLS, SyncSource.SPOT_ACTIVITIES)]
    for account in list_accounts(owner=owner).order_by("pk"):
        if reader_of(account, owner) is Reader.HYPERLIQUID:
            of_wallet = (SyncSource.PERPS_FILLS, SyncSource.PERPS_FUNDING)
            wanted += [(Reader.HYPERLIQUID, source, account.wallet) for source in of_wallet]
    for reader, source, sub in wanted:
        state = states.get((source, sub)) or SyncState(
            owner=owner, source=source, sub_account_id=sub, last_synced_at=sync.now
        )
        if is_forced or state.probe_at is None or sync.now >= state.probe_at:
            targets.append(Target(reader, state, SOURCES[reader](sync, state)))
    return sorted(targets, key=lambda target: (target.state.pk is not None, target.state.last_synced_at))


def read_exchange(sync: SyncRun, state: SyncState) -> Iterator[bool]:
    """Read the fills or the funding of a wallet.

    The next page begins with the last millisecond of this one. A page that is one millisecond from end to end cannot
    be walked past without loss: that is a gap.
    """
    since = newest = state.last_synced_ts_ms or 0
    for _page in range(MAX_PAGES):
        page, rows, wrong = fetch_rows(sync, state, since_ms=since)
        unreadable = count_new(wrong, since)
        rows.sort(key=lambda row: row.ts_ms)
        last = max([row.ts_ms for row in rows[-1:]] + wrong, default=-1)
        newest = max(newest, last)
        if not page.is_last:
            if last < since:
                raise SourceFailed("not_newer")
            if last == since:
                state.gap_at_ms = last
                last += 1
            since = last
        with owner_locked(sync.owner.pk):
            own = list_accounts(owner=sync.owner).filter(source=AccountSource.PERPS, is_gateways=False)
            account = own.filter(wallet=state.sub_account_id).first()
            if account is None:  # removed meanwhile
                return
            if state.source == SyncSource.PERPS_FUNDING:
                for row in rows:
                    row.account = account
                FundingPayment.objects.bulk_create(rows, ignore_conflicts=True)
            else:
                sync.added += bulk_insert_perps_fills(account, rows, now=sync.now)
            store_progress(sync, state, newest, unreadable, is_over=page.is_last)
        if page.is_last:
            return
        yield True
    raise SourceFailed("too_many_pages")


def fetch_rows(sync: SyncRun, state: SyncState, *, since_ms: int) -> tuple[Page, list[Any], list[int]]:
    """Return a page of the exchange, its fills or payments, and the times of unreadable rows. Raises as its reader."""
    wallet = state.sub_account_id
    if state.source == SyncSource.PERPS_FUNDING:
        page = hyperliquid.fetch_funding(wallet, since_ms=since_ms)
        payments = read_payments(page.rows, latest_ms=sync.latest_ms)
        return page, [FundingPayment(owner=sync.owner, **each) for each in payments], []
    page = hyperliquid.fetch_fills(wallet, since_ms=since_ms)
    fills, unreadable = read_fills(page.rows, wallet=wallet, latest_ms=sync.latest_ms)
    for place, fill in enumerate(fills):
        if fill.symbol.startswith("@"):
            name = sync.spot_names.get(fill.symbol, fill.symbol)
            fills[place] = fill._replace(asset=asset_of_market(name))
    return page, fills, unreadable


def read_gateway(sync: SyncRun, state: SyncState) -> Iterator[bool]:
    """Read fills, or swaps and transfers, of the gateway; the place moves once all pages were read."""
    since, cursor = state.last_synced_ts_ms or 0, ""
    newest, unreadable = since, 0
    for _page in range(MAX_PAGES):
        page = gateway.fetch_page(state.source, since_ms=since, cursor=cursor)
        if not page.is_last and (page.cursor == cursor or not page.rows):
            raise SourceFailed("not_newer")
        cursor = page.cursor
        if state.source == SyncSource.PERPS_FILLS:
            last, wrong = store_gateway_fills(sync, page.rows)
        else:
            found, wrong = read_activities(page.rows, latest_ms=sync.latest_ms)
            last = found[-1]["ts_ms"] if found else 0
            with owner_locked(sync.owner.pk):
                sync.added += bulk_insert_external_spot(sync.owner.pk, found, now=sync.now)
        newest, unreadable = max(newest, last, *wrong), unreadable + count_new(wrong, since)
        if page.is_last:
            store_progress(sync, state, newest, unreadable, is_over=True)
            return
        yield True
    raise SourceFailed("too_many_pages")


SOURCES: dict[Reader, Source] = {Reader.HYPERLIQUID: read_exchange, Reader.GATEWAY: read_gateway}


def count_new(unreadable: Sequence[int], since_ms: int) -> int:
    """Return how many rows were unreadable the first time; those whose time cannot be read count when all is read."""
    return sum(time > since_ms or not since_ms for time in unreadable)


def store_gateway_fills(sync: SyncRun, rows: Sequence[Any]) -> tuple[int, list[int]]:
    """Store fills, each with the account of its wallet; return the newest time and the times of unreadable rows.

    The exchange is asked for a wallet of the gateway no more, and what it gave from the gateway's first row on goes: a
    wallet counts once. Raises UnreadableRow.
    """
    by_wallet = defaultdict[tuple[str, str], list[Any]](list)
    for row in rows:
        said = fields_of(row, WALLET)
        address = said["wallet_address"]
        is_address = address.isprintable() and SYMBOL.fullmatch(address[:40])
        sub = said["sub_account_id"] if said["sub_account_id"].isprintable() else ""
        by_wallet[address[:80] if is_address else "", sub[:80]].append(row)
    added, newest, unreadable = 0, 0, list[int]()
    with owner_locked(sync.owner.pk):
        for (address, sub), some in by_wallet.items():
            fills, wrong = read_fills(some, wallet=address.lower(), latest_ms=sync.latest_ms)
            unreadable += wrong
            if not fills:
                continue
            fills.sort(key=lambda fill: fill.ts_ms)
            account, _is_new = Account.objects.get_or_create(
                owner=sync.owner,
                source=AccountSource.PERPS,
                wallet=(address or sub).lower(),
                defaults={
                    "address": address,
                    "is_gateways": True,
                    "actor": f"job:{SYNC}",
                    "created_at": sync.now,
                },
            )
            if not account.is_gateways:
                PerpsFill.objects.filter(account=account, ts_ms__gte=fills[0].ts_ms).delete()
                account.is_gateways, account.stale_from_ms = True, 0
                account.save(update_fields=["is_gateways", "stale_from_ms"])
            added += bulk_insert_perps_fills(account, fills, now=sync.now)
            newest = max(newest, fills[-1].ts_ms)
    sync.added += added
    return newest, unreadable


def store_progress(sync: SyncRun, state: SyncState, newest_ms: int, unreadable: int, *, is_over: bool) -> None:
    """Store up to where a source was read, and how many rows of it were unreadable; at its end, that it answered."""
    state.last_synced_ts_ms, state.last_synced_at = newest_ms or None, sync.now
    state.unreadable += unreadable
    if is_over:
        state.last_success_at, state.consecutive_failures, state.last_error = sync.now, 0, None
    state.save()


def record_failure(sync: SyncRun, state: SyncState, problem: Exception) -> None:
    """Count that a source failed for an account: its place stays, and what was stored."""
    sync.failed += 1
    state.last_error = "not_storable" if isinstance(problem, DataError) else str(problem)[:80]
    state.last_synced_at = sync.now
    state.consecutive_failures += 1
    state.save()
    log.warning("history_not_synced", owner=sync.owner.pk, source=state.source, failures=state.consecutive_failures)


def rests_until(reader: Reader, *, now: datetime) -> datetime | None:
    """Return until when a source rests, None when it may be asked. A clock that was set back lets it rest a day."""
    row = InstanceMeta.objects.filter(key=f"{RESTS}{reader}").first()
    until = datetime.fromisoformat(row.value) if row else None
    return until if until and now < until <= now + timedelta(days=1) else None


def request_sync(*, owner: User, actor: str, now: datetime) -> JobRun:
    """Ask for a sync at once, also of what failed too often; once a minute. Raises Throttled."""
    with owner_locked(owner.pk):
        row, _is_new = OwnerSchedule.objects.get_or_create(owner=owner, job=SYNC)
        if wait := wait_seconds(row, now=now):
            detail = _("It was read less than a minute ago. Wait %(seconds)d seconds.") % {"seconds": wait}
            raise Throttled(detail, retry_after_seconds=wait)
        row.ran_at = now
        row.save(update_fields=["ran_at"])
        return request_run(SYNC, {"owner_id": owner.pk, "is_forced": True}, now=now, requested_by=actor)


def nudge_sync(owner_id: int, *, now: datetime) -> None:
    """Ask for a sync soon, at most one in HISTORY_SYNC_MIN_INTERVAL_MS: a trade says that its owner is active."""
    interval = timedelta(milliseconds=settings.MINARA.history_sync_min_interval_ms)
    nudge(SYNC, owner_id, now=now, interval=interval)


def on_trade_recorded(sender: object, *, owner_id: int, **facts: Any) -> None:
    """Nudge the sync of an owner who has something to read: they are likely active elsewhere too (S3)."""
    if list_owners().filter(pk=owner_id).exists():
        nudge_sync(owner_id, now=timezone.now())


def run_if_stale(*, now: datetime) -> dict[str, int]:
    """Ask for a sync of each owner with accounts for whom none is due: no missed event strands a mirror."""
    due = OwnerSchedule.objects.filter(job=SYNC, due_at__isnull=False).values("owner")
    stale = list(list_owners().exclude(pk__in=due).values_list("pk", flat=True))
    for owner_id in stale:
        nudge_sync(owner_id, now=now)
    return {"nudged": len(stale)}
