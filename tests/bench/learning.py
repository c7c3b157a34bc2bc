"""Resolving and attributing trading cases, and the list of methodologies, as both grow.

The reference writes the same values into the same rows with plain statements, as many a transaction: what no way of
doing this can do without. Memory is the peak of the process while it resolves.
"""

import ctypes
import gc
import statistics
from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.resolve import BATCH, RESOLVED
from learning_app.methodologies.models import LifecycleEvent, Methodology
from minara_site.access.models import OPERATORS_GROUP, User
from minara_site.kernel.db import update_rows
from minara_site.kernel.market.models import PriceBar
from tests.bench.figures import Figure, timed
from tests.bench.pages import PLAIN_FILES
from tests.kit.clock import NOON
from tests.learning_app.rows import build_case, build_methodology

COUNTED = ("times_used", "times_correct", "confidence", "quarantine", "updated_at")
MANY, FEW, SMALL = 100_000, 10_000, 500
METHODS = 50
MAX_RATIO, MAX_MEMORY_RATIO, MAX_LIST_RATIO, MAX_QUERIES = 4.0, 1.25, 1.3, 20
MANY_METHODS, FEW_METHODS = 100_000, 1_000
ASSETS = ("BTC", "ETH", "SOL", "XRP")
STEP = timedelta(minutes=5)
ROUNDS, SLICE = 15, 5_000


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Resolve cases twice, ten times as many the second time; then open the list at both sizes."""
    (scratch / "static").mkdir()
    owner = User.objects.get(is_default=True)
    few, many = (SMALL, 2 * SMALL) if small else (FEW, MANY)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA mmap_size = 0")  # else pages of the file count as memory of the process
    fill_prices(many)
    methods = [build_methodology(number) for number in range(METHODS)]
    Methodology.objects.bulk_create(methods)
    methods = list(Methodology.objects.order_by("pk"))
    _seconds, _bare, little = resolve(owner, methods, few)
    seconds, bare, much = resolve(owner, methods, many)
    ratio = seconds / bare
    return [
        Figure(
            f"resolving and attributing {many:,} cases, against the bare updates",
            ratio,
            "x",
            bound=f"at most {MAX_RATIO:g}",
            ok=small or ratio <= MAX_RATIO,
            reference=f"{seconds:.1f} s, bare {bare:.1f} s; {seconds * 1e6 / many:.0f} µs a case",
        ),
        Figure(
            f"memory of {many:,} cases against {few:,}",
            much / little,
            "x",
            bound=f"at most {MAX_MEMORY_RATIO:g}",
            ok=small or much / little <= MAX_MEMORY_RATIO,
            reference=f"peak {much:.0f} MB, {little:.0f} MB",
        ),
        *list_figures(small=small),
    ]


def fill_prices(cases: int) -> None:
    """Store candles of five minutes as long as cases are decided and their windows last."""
    count = max(2_000, cases // 4) + 24 * 12 + 12
    price = 100.0
    rows = []
    for number in range(count):
        closes_at = NOON - STEP * (count - number)
        price = 100.0 if not 1 < price < 10_000 else price * (1.012 if number * 7919 % 13 < 6 else 0.99)
        prices = dict.fromkeys(("open", "high", "low", "close"), price)
        times = {"opens_at": closes_at - STEP, "closes_at": closes_at, "recorded_at": NOON}
        rows += [
            PriceBar(
                symbol=asset,
                interval_seconds=300,
                source="bench",
                **prices,
                **times,
            )
            for asset in ASSETS
        ]
    PriceBar.objects.bulk_create(rows, batch_size=5_000)


def resolve(owner: User, methods: list[Methodology], count: int) -> tuple[float, float, float]:
    """Resolve so many cases; return the seconds, those of the bare updates, and the peak memory in MB."""
    first = NOON - STEP * (max(2_000, count // 4) + 24 * 12)
    blocks: dict[int, datetime] = {}
    for start in range(0, count, SLICE):
        cases = [
            build_case(owner, decided_at=first + STEP * (number // 4), asset=ASSETS[number % 4], horizon=24)
            for number in range(start, min(start + SLICE, count))
        ]
        TradingCase.objects.bulk_create(cases)
        CaseHint.objects.bulk_create(build_hint(case, methods[case.pk % METHODS], blocks) for case in cases)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    reset_peak()
    seconds = timed(lambda: run_cron(now=NOON, requested_by="bench"))
    peak = peak_mb()
    assert not TradingCase.objects.pending().exists()
    bare = write_bare()
    TradingCase.objects.all().delete()
    return seconds, bare, peak


def build_hint(case: TradingCase, row: Methodology, blocks: dict[int, datetime]) -> CaseHint:
    """Return the hint of a case; it opens a block of the court, or joins one, as when it is recorded."""
    begun = blocks.get(row.pk)
    if begun is None or case.decided_at >= begun + timedelta(hours=24):
        begun = blocks[row.pk] = case.decided_at
    hint = CaseHint(case_id=case.pk, methodology=row, position=0, is_credited=True)
    if case.decided_at == begun:
        hint.block_at, hint.block_ends_at = begun, case.window_ends_at
    return hint


def write_bare() -> float:
    """Write the values that cases, hints and methodologies have, with an event a case, and nothing else."""
    seconds = 0.0
    rows = TradingCase.objects.order_by("window_ends_at", "pk")
    total = rows.count()
    for start in range(0, total, BATCH):
        cases = list(rows[start : start + BATCH])
        hints = list(CaseHint.objects.filter(case__in=cases).select_related("methodology"))
        touched = [hint.methodology for hint in hints if hint.credited_at]
        events = [LifecycleEvent(methodology=row, kind="outcome_recorded", at=NOON, actor="bench") for row in touched]

        def write(cases=cases, hints=hints, touched=touched, events=events) -> None:
            with transaction.atomic():
                update_rows(TradingCase, RESOLVED, cases)
                update_rows(CaseHint, ("credited_at", "is_judged"), hints)
                update_rows(Methodology, COUNTED, touched)
                LifecycleEvent.objects.bulk_create(events)

        seconds += timed(write)
    return seconds


def reset_peak() -> None:
    """Give back what was made ready before, and let the peak of this process count from now."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """Return the peak memory of this process in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def list_figures(*, small: bool) -> list[Figure]:
    """Open the list of methodologies with few and with many rows, as an operator does."""
    operator = User.objects.create_user("bench-operator", password="bench")
    operator.groups.add(Group.objects.get(name=OPERATORS_GROUP))
    few, many = (100, 500) if small else (FEW_METHODS, MANY_METHODS)
    with override_settings(STORAGES=PLAIN_FILES, ALLOWED_HOSTS=["*"], SECURE_SSL_REDIRECT=False):
        client = Client()
        client.force_login(operator)
        times, queries = {}, 0
        for count in (few, many):
            missing = count - Methodology.objects.count()
            rows = (build_methodology(METHODS + count + number) for number in range(missing))
            Methodology.objects.bulk_create(rows, batch_size=5_000)
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
            client.get("/methodologies/")
            with CaptureQueriesContext(connection) as asked:
                assert client.get("/methodologies/").status_code == 200
            queries = max(queries, len(asked))
            times[count] = statistics.median(timed(lambda: client.get("/methodologies/")) for _ in range(ROUNDS)) * 1000
    ratio = times[many] / times[few]
    return [
        Figure(
            f"list of methodologies at {many:,} rows against {few:,}",
            ratio,
            "x",
            bound=f"at most {MAX_LIST_RATIO:g}",
            ok=small or ratio <= MAX_LIST_RATIO,
            reference=f"{times[many]:.1f} ms, {times[few]:.1f} ms",
        ),
        Figure("queries of that page", queries, "", bound=f"at most {MAX_QUERIES}", ok=queries <= MAX_QUERIES),
    ]
