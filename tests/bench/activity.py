"""Own trades at the size of a busy wallet: storing them, the pages over them, the schedule, and the rebuild's question.

What is stored comes as pages of the exchange, decoded; the reference makes bare rows of the same pages and inserts them.
"""

import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from unittest.mock import patch

from django.test import Client, override_settings
from django.utils import timezone

from minara_site.access.models import User
from minara_site.kernel.db import slices
from minara_site.kernel.jobs.models import JobRun, OwnerSchedule
from minara_site.kernel.jobs.schedule import tick
from profile_app.activity.adapters import Page, hyperliquid
from profile_app.activity.adapters.hyperliquid import PAGE_ROWS
from profile_app.activity.core.accounts import SYNC, AccountSource, SyncSource
from profile_app.activity.core.figures import ms_of
from profile_app.activity.models import Account, PerpsFill, SyncState
from profile_app.activity.services.days import refresh_days
from profile_app.activity.services.sync import SyncRun, read_exchange
from profile_app.portrait.models import FinancialProfile
from profile_app.rebuild.core import Flow
from profile_app.rebuild.services import summary, tags
from tests.bench.figures import Figure, timed
from tests.bench.pages import PLAIN_FILES
from tests.profile_app.activity.trader import Trader

MOST, SOME, FEW = 100_000, 10_000, 1_000
REPLAYS, ROUNDS = 3, 15
WINDOW, NOON_HOUR = timedelta(days=30), 12
OWNERS, FEW_OWNERS, DUE = 10_000, 100, 50
JOBS = (SYNC, *(flow.job for flow in Flow))
MARKETS = ("BTC", "ETH", "SOL", "kPEPE", "xyz:TSLA", "HYPE", "XRP", "DOGE", "@142", "PURR/USDC")
PAGES = ("/profile/", "/profile/activity/")
MIN_SPEED, MAX_REPLAY, MAX_SOME, MAX_MOST, MAX_TICK, MAX_BYTES = 0.4, 0.5, 1.5, 3.0, 2.0, 2.0


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Store fills and replay them, open the pages over few and many, sweep few and many owners, and ask."""
    (scratch / "static").mkdir()  # where collected files would lie
    most, some, few = (6_000, 3_000, 1_000) if small else (MOST, SOME, FEW)
    now = timezone.now()
    stored, accounts = storing_figures(most, now=now, small=small)
    for count in (few, some):
        store_pages(
            accounts.setdefault(count, make_account(f"has{count}", now=now)), make_pages(count, now=now), now=now
        )
    for account in accounts.values():
        refresh_days(account.owner_id, account.owner.time_zone)
    return [
        *stored,
        *page_figures({count: account.owner for count, account in sorted(accounts.items())}, small=small),
        tick_figure(few_owners=10 if small else FEW_OWNERS, owners=200 if small else OWNERS, now=now, small=small),
        question_figure(accounts[few].owner, accounts[most].owner, few, most, now=now),
    ]


def make_pages(count: int, *, now: datetime) -> list[Page]:
    """Return the decoded pages of a wallet that trades ten markets through the window: orders of one to three fills."""
    dice, trader = random.Random(7), Trader()
    prices = {coin: Decimal(dice.randrange(1, 60_000)) for coin in MARKETS}
    begins = ms_of(now - WINDOW)
    while len(trader.rows) < count:
        coin = dice.choice(MARKETS)
        prices[coin] *= 1 + Decimal(dice.randrange(-40, 41)) / 10_000
        prices[coin] = prices[coin].quantize(Decimal("0.0001"))
        at = begins + (ms_of(now) - begins) * len(trader.rows) // count
        parts = min(dice.choice((1, 1, 2, 3)), count - len(trader.rows))
        trader.trade(coin, at, Decimal(dice.choice((-3, -2, -1, 1, 2, 3))), prices[coin], parts=parts)
    return [Page(rows, is_last=False) for rows in slices(trader.rows, PAGE_ROWS)]


def make_account(name: str, *, now: datetime) -> Account:
    """Make an owner with one account, where a day just began: the window then begins with a whole day of fills."""
    zone = f"Etc/GMT+{now.hour}" if now.hour <= NOON_HOUR else f"Etc/GMT-{24 - now.hour}"
    owner = User.objects.create_user(name, password="bench", time_zone=zone)
    address = f"0x{owner.pk:040x}"
    return Account.objects.create(
        owner=owner,
        source=AccountSource.PERPS,
        address=address,
        wallet=address,
        actor=f"user:{owner.pk}",
        created_at=now,
    )


def store_pages(account: Account, pages: Sequence[Page], *, now: datetime) -> int:
    """Store pages as a first sync does; return how many fills were new."""
    sync = SyncRun(account.owner, now)
    sync.spot_names = {"@142": "UBTC/USDC"}
    state = SyncState.objects.filter(owner=account.owner).first() or SyncState(
        owner=account.owner, source=SyncSource.PERPS_FILLS, sub_account_id=account.wallet, last_synced_at=now
    )
    state.last_synced_ts_ms = None
    with patch.object(hyperliquid, "fetch_fills", side_effect=pages):
        turns = read_exchange(sync, state)
        for _page in pages:
            next(turns)
    return sync.added


def insert_bare(account: Account, page: Page, *, now: datetime) -> None:
    """Insert the rows of a page as they lie there, in one transaction."""
    PerpsFill.objects.bulk_create(
        PerpsFill(
            owner_id=account.owner_id,
            account=account,
            sub_account_id=account.wallet,
            oid=str(row["oid"]),
            ts_ms=row["time"],
            symbol=row["coin"],
            asset=row["coin"],
            side=row["side"],
            dir=row["dir"],
            size=row["sz"],
            price=row["px"],
            fee=row["fee"],
            fee_token=row["feeToken"],
            closed_pnl=row["closedPnl"],
            start_position=row["startPosition"],
            raw_json=json.dumps(row),
            fill_uid=str(row["tid"]),
            digest=row["hash"][-40:],
            created_at=now,
        )
        for row in page.rows
    )


def storing_figures(count: int, *, now: datetime, small: bool) -> tuple[list[Figure], dict[int, Account]]:
    """Store new fills, the same again three times, and the same bare; return the figures and whose the fills are."""
    account, bare_account = make_account(f"has{count}", now=now), make_account("bare", now=now)
    pages, added, first, bare = make_pages(count, now=now), 0, 0.0, 0.0
    for page in pages:  # in turns, because the clock of a processor changes
        begun = time.perf_counter()
        added += store_pages(account, [page], now=now)
        first += time.perf_counter() - begun
        bare += timed(partial(insert_bare, bare_account, page, now=now))
    assert added == count
    replays = []
    for _ in range(REPLAYS):
        begun = time.perf_counter()
        added = store_pages(account, pages, now=now)
        replays.append(time.perf_counter() - begun)
        assert added == 0
    PerpsFill.objects.filter(account=bare_account).delete()
    days = timed(lambda: refresh_days(account.owner_id, account.owner.time_zone))
    speed, slowest = bare / first, max(replays) / first
    return [
        Figure(
            name=f"{count:,} new fills, read, compared and stored, speed of bare inserts",
            value=speed,
            unit="x",
            bound=f"at least {MIN_SPEED:g}",
            ok=small or speed >= MIN_SPEED,
            reference=f"{first:.2f} s, bulk_create of the same pages {bare:.2f} s; their days afterwards {days:.2f} s",
        ),
        Figure(
            name=f"the same pages again, the slowest of {REPLAYS}: no new row",
            value=slowest,
            unit="x",
            bound=f"at most {MAX_REPLAY:g}",
            ok=small or slowest <= MAX_REPLAY,
            reference=f"{max(replays):.2f} s, the first time {first:.2f} s",
        ),
    ], {count: account}


def page_figures(owners: dict[int, User], *, small: bool) -> list[Figure]:
    """Open each page in turns for the owners of few, some and most fills; compare the medians."""
    few, some, most = owners
    figures = []
    with override_settings(STORAGES=PLAIN_FILES, ALLOWED_HOSTS=["*"], SECURE_SSL_REDIRECT=False):
        clients = {count: Client() for count in owners}
        for count, client in clients.items():
            client.force_login(owners[count])
        for path in PAGES:
            taken = medians({count: partial(get, client, path) for count, client in clients.items()})
            for count, most_ratio in ((some, MAX_SOME), (most, MAX_MOST)):
                ratio = taken[count] / taken[few]
                figures.append(
                    Figure(
                        name=f"{path} with {count:,} fills in its window, against {few:,}",
                        value=ratio,
                        unit="x",
                        bound=f"at most {most_ratio:g}",
                        ok=small or ratio <= most_ratio,
                        reference=f"{taken[count]:.1f} ms, {taken[few]:.1f} ms",
                    )
                )
    return figures


def get(client: Client, path: str) -> None:
    """Open a page."""
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.status_code)


def medians(asked: dict[int, Callable[[], None]]) -> dict[int, float]:
    """Return the median milliseconds of each, asked in turns after a first round that does not count."""
    rounds = [{key: timed(ask) for key, ask in asked.items()} for _ in range(ROUNDS + 1)][1:]
    return {key: statistics.median(each[key] for each in rounds) * 1000 for key in asked}


def tick_figure(*, few_owners: int, owners: int, now: datetime, small: bool) -> Figure:
    """Tick with as many owners due, first among few, then among many."""
    due = few_owners // 2
    make_schedules(0, few_owners, now=now)
    few = time_ticks(due, now=now)
    make_schedules(few_owners, owners, now=now)
    many = time_ticks(due, now=now)
    return Figure(
        name=f"a tick with {owners:,} owners of whom {due} are due, against {few_owners}",
        value=many / few,
        unit="x",
        bound=f"at most {MAX_TICK:g}",
        ok=small or many / few <= MAX_TICK,
        reference=f"{many:.1f} ms, {few:.1f} ms; {len(JOBS)} rows an owner",
    )


def make_schedules(first: int, last: int, *, now: datetime) -> None:
    """Make owners up to a number, for whom nothing is due."""
    later = now + timedelta(hours=1)
    made = User.objects.bulk_create([User(username=f"due{n}", password="!") for n in range(first, last)])
    OwnerSchedule.objects.bulk_create(
        [OwnerSchedule(owner=owner, job=job, due_at=later, ran_at=now) for owner in made for job in JOBS]
    )


def time_ticks(due: int, *, now: datetime) -> float:
    """Return the median milliseconds of ticks that each find so many owners due."""
    chosen = list(OwnerSchedule.objects.filter(job=SYNC).order_by("pk").values_list("pk", flat=True)[:due])
    taken = []
    for number in range(ROUNDS + 1):
        at = now + timedelta(seconds=number)
        OwnerSchedule.objects.filter(pk__in=chosen).update(due_at=at)
        JobRun.objects.all().delete()
        taken.append(timed(partial(tick, now=at)))
        assert JobRun.objects.filter(job=SYNC, slot=None).count() == due
    return statistics.median(taken[1:]) * 1000


def question_figure(few_owner: User, most_owner: User, few: int, most: int, *, now: datetime) -> Figure:
    """Compare what the summary and the tags are asked when nothing was read yet."""
    sizes = [question_bytes(owner, now=now) for owner in (few_owner, most_owner)]
    ratio = sizes[1] / sizes[0]
    return Figure(
        name=f"bytes of the questions of summary and tags with {most:,} unread fills, against {few:,}",
        value=ratio,
        unit="x",
        bound=f"at most {MAX_BYTES:g}",
        ok=ratio <= MAX_BYTES,
        reference=f"{sizes[1]:,} bytes, {sizes[0]:,} bytes",
    )


def question_bytes(owner: User, *, now: datetime) -> int:
    """Return the bytes of the two questions that have figures of trades."""
    works = [read(owner, FinancialProfile(owner=owner), now=now, is_forced=False) for read in (summary.read, tags.read)]
    return sum(len((work.system + work.content).encode()) for work in works if work)
