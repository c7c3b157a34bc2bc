"""Reading an owner's sources into the mirrors: on a trade, every half hour, and forced. Source: S3 (MinaraHistorySync).

It never raises for what a source does: a failed account adds no rows, keeps its place and delays no other. Accounts
take turns, a page each, so that a first sync does not keep the others waiting. Nothing is asked in a transaction.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.errors import Throttled
from minara_site.kernel.instance.models import InstanceMeta
from minara_site.kernel.jobs.models import JobRun, OwnerSchedule
from minara_site.kernel.jobs.owner_schedule import nudge, one_run
from minara_site.kernel.jobs.services import DROPPED, request_run
from minara_site.kernel.jobs.time_budget import TimeBudget
from minara_site.kernel.market.core.values import UnusableError, read_amount
from minara_site.kernel.ownership import lock_owner
from profile_app.activity.adapters import Page, SourceFailed, SourceRests
from profile_app.activity.adapters.gateway import Gateway
from profile_app.activity.adapters.hyperliquid import Hyperliquid
from profile_app.activity.core.accounts import EVERY, FORCED_EVERY, SYNC, AccountSource, Reader, SyncSource
from profile_app.activity.core.figures import ms_of
from profile_app.activity.core.fills import DAY_MS, SYMBOL, UNREADABLE, UnreadableRow, fields_of, read_fills
from profile_app.activity.core.spot import read_activities
from profile_app.activity.models import Account, FundingPayment, PerpsFill, SyncState
from profile_app.activity.selectors import has_gateway, list_accounts, reader_of
from profile_app.activity.services.days import refresh_days
from profile_app.activity.services.mirror import bulk_insert_external_spot, bulk_insert_perps_fills

RUN_SECONDS = 60.0
MAX_PAGES = 1_000
RESTS = "source_rests:"

log = structlog.get_logger(__name__)


@dataclass
class Target:
    """A source of one account, while it is read. `since_ms` is where the next page begins."""

    source: SyncSource
    sub: str
    reader: Reader
    state: SyncState
    account: Account | None = None
    since_ms: int = 0
    cursor: str = ""
    newest_ms: int = 0
    pages: int = 0
    unreadable: int = 0


@dataclass
class SyncRun:
    """What one run of an owner's sync knows and counts."""

    owner: User
    now: datetime
    added: int = 0
    failed: int = 0
    rests: dict[Reader, datetime] = field(default_factory=dict)
    spot_names: Mapping[str, str] | None = None


def sync_owner(*, owner_id: int, now: datetime, is_forced: bool = False) -> dict[str, Any] | None:
    """Read what is new of an owner's accounts; forced, also those that failed too often. Returns counts."""
    owner = User.objects.filter(pk=owner_id).first()
    if owner is None:
        return None
    with one_run(SYNC, owner_id, now=now) as run:
        if run is None:
            return {"result": DROPPED}
        sync, budget = SyncRun(owner, now), TimeBudget.start(RUN_SECONDS)
        targets = deque(list_targets(sync, is_forced=is_forced))
        total = len(targets)
        while targets and not budget.is_spent:
            target = targets.popleft()
            if take_turn(sync, target):
                targets.append(target)
        refresh_days(owner_id, owner.time_zone)
        run.next_at = next_moment(sync, has_more=bool(targets))
    return {"read": total, "added": sync.added, "failed": sync.failed, "unfinished": len(targets)}


def list_targets(sync: SyncRun, *, is_forced: bool) -> list[Target]:
    """Return what is to be read now, what was tried last at the end; what failed too often waits for its probe."""
    config, now = settings.MINARA, sync.now
    states = {(row.source, row.sub_account_id): row for row in SyncState.objects.filter(owner=sync.owner)}
    wanted: list[tuple[SyncSource, str, Reader, Account | None]] = []
    if has_gateway(sync.owner):
        wanted += [
            (SyncSource.PERPS_FILLS, "", Reader.GATEWAY, None),
            (SyncSource.SPOT_ACTIVITIES, "", Reader.GATEWAY, None),
        ]
    for account in list_accounts(owner=sync.owner).order_by("pk"):
        if reader_of(account, sync.owner) is Reader.HYPERLIQUID:
            wanted.append((SyncSource.PERPS_FILLS, account.wallet, Reader.HYPERLIQUID, account))
            wanted.append((SyncSource.PERPS_FUNDING, account.wallet, Reader.HYPERLIQUID, account))
    sync.rests = {reader: until for reader in Reader if (until := rests_until(reader, now=now))}
    cooldown = timedelta(milliseconds=config.history_sync_failure_cooldown_ms)
    found = []
    for source, sub, reader, account in wanted:
        state = states.get((source, sub)) or SyncState(
            owner=sync.owner, source=source, sub_account_id=sub, last_synced_at=now
        )
        is_skipped = state.consecutive_failures >= config.history_sync_max_failures
        if is_skipped and not is_forced and now < state.last_synced_at + cooldown:
            continue
        since = state.last_synced_ts_ms or 0
        found.append(Target(source, sub, reader, state, account, since, newest_ms=since))
    return sorted(found, key=lambda target: (target.state.pk is not None, target.state.last_synced_at))


def take_turn(sync: SyncRun, target: Target) -> bool:
    """Read one page of a target and store it; say whether there is more."""
    if target.reader in sync.rests:
        return False
    try:
        page = fetch(target)
        is_over = STORES[target.source](sync, target, page)
    except SourceRests as rest:
        sync.rests[target.reader] = rest_source(target.reader, rest.seconds, now=sync.now)
        return False
    except (SourceFailed, UnreadableRow, UnusableError) as problem:
        record_failure(sync, target, problem)
        return False
    target.pages += 1
    return not is_over


def fetch(target: Target) -> Page:
    """Return the next page of a target. Raises SourceRests or SourceFailed."""
    if target.pages >= MAX_PAGES:
        raise SourceFailed("too_many_pages")
    config = settings.MINARA
    if target.reader is Reader.GATEWAY:
        gateway = Gateway(config.minara_base_url, config.minara_api_key)
        ask = gateway.fetch_fills if target.source is SyncSource.PERPS_FILLS else gateway.fetch_activities
        return ask(since_ms=target.since_ms, cursor=target.cursor)
    exchange = Hyperliquid(config.hyperliquid_info_url)
    ask_wallet = exchange.fetch_fills if target.source is SyncSource.PERPS_FILLS else exchange.fetch_funding
    return ask_wallet(target.sub, since_ms=target.since_ms)


def store_fills(sync: SyncRun, target: Target, page: Page) -> bool:
    """Store a page of fills; say whether it was the last. Raises UnreadableRow, SourceFailed."""
    if target.account is None:
        return store_gateway_fills(sync, target, page)
    fills, unreadable = read_fills(page.rows, wallet=target.sub, latest_ms=latest_ms(sync), names=names_for(sync, page))
    target.unreadable += unreadable
    fills.sort(key=lambda fill: fill.ts_ms)
    is_over = advance(target, page, fills[-1].ts_ms if fills else None)
    with transaction.atomic():
        lock_owner(sync.owner.pk)
        account = Account.objects.live().filter(pk=target.account.pk, is_gateways=False).first()
        if account is None:  # removed meanwhile
            return True
        sync.added += bulk_insert_perps_fills(account, fills, now=sync.now)
        store_progress(sync, target, is_over=is_over)
    return is_over


def advance(target: Target, page: Page, last_ms: int | None) -> bool:
    """Move the place of an exchange's target behind a page; say whether it was the last one.

    The next page begins with the last millisecond of this one. A page that is one millisecond from end to end cannot
    be walked past without loss: that is a gap. Raises SourceFailed for a source that does not go on.
    """
    if last_ms is not None:
        target.newest_ms = max(target.newest_ms, last_ms)
    if page.is_last:
        return True
    if last_ms is None or last_ms < target.since_ms:
        raise SourceFailed("not_newer")
    if last_ms == target.since_ms:
        target.state.gap_at_ms = last_ms
        last_ms += 1
    target.since_ms = last_ms
    return False


def store_gateway_fills(sync: SyncRun, target: Target, page: Page) -> bool:
    """Store a page of the gateway, each row with the account of its wallet. Raises UnreadableRow."""
    by_wallet: dict[tuple[str, str], list[Any]] = {}
    for row in page.rows:
        by_wallet.setdefault(wallet_of(row), []).append(row)
    with transaction.atomic():
        lock_owner(sync.owner.pk)
        for (address, sub), rows in by_wallet.items():
            fills, unreadable = read_fills(rows, wallet=address.lower(), latest_ms=latest_ms(sync))
            fills.sort(key=lambda fill: fill.ts_ms)
            target.unreadable += unreadable
            if fills:
                target.newest_ms = max(target.newest_ms, fills[-1].ts_ms)
                account = gateway_account(sync, address, sub, begins=fills[0].ts_ms)
                sync.added += bulk_insert_perps_fills(account, fills, now=sync.now)
        return walk_on(sync, target, page)


def wallet_of(row: Any) -> tuple[str, str]:
    """Return the address and the number of the sub-wallet of a gateway's row. Raises UnreadableRow without its time."""
    fields: Mapping[str, Any] = row if isinstance(row, dict) else {}
    if not fields_of(row)["time"]:
        raise UnreadableRow("time")
    address = str(fields.get("wallet_address") or fields.get("walletAddress") or "")[:80]
    sub = str(fields.get("sub_account_id") or fields.get("subAccountId") or "")[:80]
    is_address = address.isprintable() and SYMBOL.fullmatch(address[:40])
    return address if is_address else "", sub if sub.isprintable() else ""


def gateway_account(sync: SyncRun, address: str, sub: str, *, begins: int) -> Account:
    """Return the account of a gateway's wallet, which the exchange is asked for no more.

    What the exchange gave from the gateway's first row on goes: a wallet counts once.
    """
    account, is_new = Account.objects.get_or_create(
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
    if not is_new and not account.is_gateways:
        PerpsFill.objects.filter(account=account, ts_ms__gte=begins).delete()
        account.is_gateways, account.stale_from_ms = True, 0
        account.save(update_fields=["is_gateways", "stale_from_ms"])
    return account


def walk_on(sync: SyncRun, target: Target, page: Page) -> bool:
    """Go to the gateway's next page; its place moves once all pages were read. Raises SourceFailed."""
    if not page.is_last and (page.cursor == target.cursor or not page.rows):
        raise SourceFailed("not_newer")
    target.cursor = page.cursor
    if page.is_last:
        store_progress(sync, target, is_over=True)
    return page.is_last


def store_activities(sync: SyncRun, target: Target, page: Page) -> bool:
    """Store a page of swaps and transfers; say whether it was the last. Raises UnreadableRow, SourceFailed."""
    found, unreadable = read_activities(page.rows, latest_ms=latest_ms(sync))
    target.unreadable += unreadable
    if found:
        target.newest_ms = max(target.newest_ms, found[-1].ts_ms)
    with transaction.atomic():
        lock_owner(sync.owner.pk)
        sync.added += bulk_insert_external_spot(sync.owner.pk, found, now=sync.now)
        return walk_on(sync, target, page)


def store_funding(sync: SyncRun, target: Target, page: Page) -> bool:
    """Store a page of funding; say whether it was the last. Raises UnreadableRow, UnusableError, SourceFailed."""
    assert target.account is not None
    found = [read_payment(row, latest_ms(sync)) for row in page.rows]
    is_over = advance(target, page, max((ts_ms for ts_ms, _symbol, _usd in found), default=None))
    with transaction.atomic():
        lock_owner(sync.owner.pk)
        if not Account.objects.live().filter(pk=target.account.pk).exists():
            return True
        FundingPayment.objects.bulk_create(
            [
                FundingPayment(owner=sync.owner, account=target.account, ts_ms=ts_ms, symbol=symbol, amount_usd=usd)
                for ts_ms, symbol, usd in found
            ],
            ignore_conflicts=True,
        )
        store_progress(sync, target, is_over=is_over)
    return is_over


def read_payment(row: Any, latest: int) -> tuple[int, str, Any]:
    """Return the time, the market and the amount of a row of funding. Raises UnreadableRow or UnusableError."""
    delta = row.get("delta") if isinstance(row, dict) else None
    if not isinstance(delta, dict):
        raise UnreadableRow("delta")
    time, symbol = read_amount(row.get("time"), "time"), str(delta.get("coin"))
    if not 0 < time <= latest:
        raise UnreadableRow("time")
    return int(time), symbol if SYMBOL.fullmatch(symbol) else UNREADABLE, read_amount(delta.get("usdc"), "usdc")


STORES: dict[SyncSource, Callable[[SyncRun, Target, Page], bool]] = {
    SyncSource.PERPS_FILLS: store_fills,
    SyncSource.SPOT_ACTIVITIES: store_activities,
    SyncSource.PERPS_FUNDING: store_funding,
}


def latest_ms(sync: SyncRun) -> int:
    """Return the latest time that a row may have: clocks differ by less than a day."""
    return ms_of(sync.now) + DAY_MS


def names_for(sync: SyncRun, page: Page) -> Mapping[str, str]:
    """Return the names of spot markets, asked for once where a page has their numbers; none while not known."""
    if not any(isinstance(row, dict) and str(row.get("coin")).startswith("@") for row in page.rows):
        return {}
    if sync.spot_names is None:
        try:
            sync.spot_names = Hyperliquid(settings.MINARA.hyperliquid_info_url).fetch_spot_names()
        except (SourceFailed, SourceRests):
            sync.spot_names = {}
    return sync.spot_names


def store_progress(sync: SyncRun, target: Target, *, is_over: bool) -> None:
    """Store up to where a source was read; at the end that it answered. Needs a transaction."""
    state = target.state
    state.last_synced_ts_ms = target.newest_ms or None
    state.last_synced_at = sync.now
    if is_over:
        state.last_success_at, state.consecutive_failures, state.last_error = sync.now, 0, None
        state.unreadable = target.unreadable
    state.save()


def record_failure(sync: SyncRun, target: Target, problem: Exception) -> None:
    """Count that a source failed for an account: its place stays, and what was stored."""
    sync.failed += 1
    state, code = target.state, str(problem)
    if isinstance(problem, UnreadableRow):
        code = f"unreadable: {code}"
    state.last_error, state.last_synced_at = code[:80], sync.now
    state.consecutive_failures += 1
    state.save()
    log.warning("history_not_synced", owner=sync.owner.pk, source=target.source, failures=state.consecutive_failures)


def rest_source(reader: Reader, seconds: int, *, now: datetime) -> datetime:
    """Let a source rest for all processes; return until when."""
    until = now + timedelta(seconds=max(seconds, 1))
    InstanceMeta.objects.update_or_create(key=f"{RESTS}{reader}", defaults={"value": until.isoformat()})
    return until


def rests_until(reader: Reader, *, now: datetime) -> datetime | None:
    """Return until when a source rests, None when it may be asked. A clock that was set back lets it rest a day."""
    row = InstanceMeta.objects.filter(key=f"{RESTS}{reader}").first()
    until = datetime.fromisoformat(row.value) if row else None
    return until if until and now < until <= now + timedelta(days=1) else None


def next_moment(sync: SyncRun, *, has_more: bool) -> datetime | None:
    """Return when an owner is due again: at once with pages left, else when a source rests no more or in half an hour.

    None where there is nothing to read.
    """
    if has_more:
        return sync.now
    has_any = has_gateway(sync.owner) or list_accounts(owner=sync.owner).exists()
    return min([sync.now + EVERY, *sync.rests.values()]) if has_any else None


def request_sync(*, owner: User, actor: str, now: datetime) -> JobRun:
    """Ask for a sync at once, also of what failed too often; once a minute. Raises Throttled."""
    with transaction.atomic():
        lock_owner(owner.pk)
        row, _is_new = OwnerSchedule.objects.get_or_create(owner=owner, job=SYNC)
        if row.ran_at and (wait := (row.ran_at + FORCED_EVERY - now).total_seconds()) > 0:
            detail = _("It was read less than a minute ago. Wait %(seconds)d seconds.") % {"seconds": ceil(wait)}
            raise Throttled(detail, retry_after_seconds=ceil(wait))
        OwnerSchedule.objects.filter(pk=row.pk).update(ran_at=now)
        return request_run(SYNC, {"owner_id": owner.pk, "is_forced": True}, now=now, requested_by=actor)


def nudge_sync(owner_id: int, *, now: datetime) -> None:
    """Ask for a sync soon, at most one in HISTORY_SYNC_MIN_INTERVAL_MS: a trade says that its owner is active."""
    interval = timedelta(milliseconds=settings.MINARA.history_sync_min_interval_ms)
    nudge(SYNC, owner_id, now=now, interval=interval)


def run_if_stale(*, now: datetime) -> dict[str, int]:
    """Ask for a sync of each owner with accounts for whom none is due: no missed event strands a mirror."""
    due = OwnerSchedule.objects.filter(job=SYNC, due_at__isnull=False).values("owner")
    stale = Account.objects.live().exclude(owner__in=due).values_list("owner", flat=True).distinct()
    default = User.objects.filter(is_default=True).exclude(pk__in=due).first()
    owners = {*stale, *([default.pk] if default and has_gateway(default) else [])}
    for owner_id in owners:
        nudge_sync(owner_id, now=now)
    return {"nudged": len(owners)}
