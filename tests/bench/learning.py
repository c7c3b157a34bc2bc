"""Resolving, attributing and judging trading cases, verifying them, and the list of methodologies, as they grow.

The reference writes the same values into the same rows with plain statements, as many a transaction: what no way of
doing this can do without. Of `verify` it reads the rows that nobody can verify without. Memory is the peak of the
process while it resolves.
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
from learning_app.cases.services.places import store_hints
from learning_app.cases.services.resolve import BATCH, RESOLVED
from learning_app.cases.services.settle import SETTLED
from learning_app.cases.services.verify import verify
from learning_app.court.models import Block, Control
from learning_app.court.services.controls import WEIGHTS
from learning_app.methodologies.models import LifecycleEvent, Methodology, Tally
from minara_site.access.models import OPERATORS_GROUP, User
from minara_site.kernel.db import slices, update_rows
from minara_site.kernel.market.models import PriceBar
from tests.bench.figures import Figure, timed
from tests.bench.pages import PLAIN_FILES
from tests.kit.clock import NOON
from tests.learning_app.rows import build_case, build_methodology

COUNTED = ("times_used", "times_correct", "confidence", "quarantine", "updated_at")
MANY, FEW, SMALL = 100_000, 10_000, 500
VERIFIED, EVENTS = 300_000, 1_000_000
METHODS = 50
MAX_RATIO, MAX_MEMORY_RATIO, MAX_LIST_RATIO, MAX_QUERIES = 4.0, 1.25, 1.3, 20
MAX_CONTROLS = 4
"""New control rows a symbol and horizon."""
MANY_METHODS, FEW_METHODS = 100_000, 1_000
ASSETS = ("BTC", "ETH", "SOL", "XRP")
STEP, HORIZON = timedelta(minutes=5), 24
ROUNDS, SLICE = 15, 5_000


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Resolve cases twice, ten times as many the second time; verify them; then open the list at both sizes."""
    (scratch / "static").mkdir()
    owner = User.objects.get(is_default=True)
    few, many = (SMALL, 2 * SMALL) if small else (FEW, MANY)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA mmap_size = 0")  # else pages of the file count as memory of the process
    fill_prices(many if small else VERIFIED)
    _seconds, _bare, little = resolve(owner, begin_anew(), few)
    methods = begin_anew()
    seconds, bare, much = resolve(owner, methods, many)
    ratio = seconds / bare
    figures = [
        Figure(
            f"resolving, attributing and judging {many:,} cases, against the bare updates",
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
        control_figure(),
        verify_figure(owner, methods, small=small),
    ]
    begin_anew()
    return [*figures, *list_figures(small=small)]


def fill_prices(cases: int) -> None:
    """Store candles of five minutes as long as cases are decided, their windows last and their controls."""
    count = max(2_000, cases // 4) + 10 * 24 * 12 + 12
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


def record(owner: User, methods: list[Methodology], count: int) -> None:
    """Record so many cases, four every five minutes, each with a hint; what counts is decided as always."""
    first = NOON - STEP * (max(2_000, count // 4) + 10 * HORIZON * 12)
    for start in range(0, count, SLICE):
        cases = [
            build_case(owner, decided_at=first + STEP * (number // 4), asset=ASSETS[number % 4], horizon=HORIZON)
            for number in range(start, min(start + SLICE, count))
        ]
        TradingCase.objects.bulk_create(cases)
        with transaction.atomic():
            store_hints([(case, [methods[case.pk % METHODS]]) for case in cases])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def resolve(owner: User, methods: list[Methodology], count: int) -> tuple[float, float, float]:
    """Resolve so many cases; return the seconds, those of the bare updates, and the peak memory in MB."""
    record(owner, methods, count)
    reset_peak()
    seconds = timed(lambda: run_cron(now=NOON, requested_by="bench"))
    peak = peak_mb()
    assert not TradingCase.objects.pending().exists()
    return seconds, write_bare(), peak


def write_bare() -> float:
    """Write the values that cases, hints, blocks, tallies, controls and methodologies have, with an event a case."""
    seconds = 0.0
    rows = TradingCase.objects.order_by("window_ends_at", "pk")
    total = rows.count()
    for start in range(0, total, BATCH):
        cases = list(rows[start : start + BATCH])
        hints = list(CaseHint.objects.filter(case__in=cases).select_related("methodology", "block"))
        touched = [hint.methodology for hint in hints]
        blocks = [hint.block for hint in hints if hint.block]
        tallies = list(Tally.objects.filter(methodology__in=touched))
        controls = list(Control.objects.filter(cases__in=cases).distinct())
        said = {"kind": "outcome_recorded", "at": NOON, "actor": "bench", "is_demo": True}
        events = [LifecycleEvent(methodology=row, **said) for row in touched]

        def write(cases=cases, hints=hints, touched=touched, events=events, rest=(blocks, tallies, controls)) -> None:
            blocks, tallies, controls = rest
            with transaction.atomic():
                update_rows(TradingCase, RESOLVED, cases)
                update_rows(CaseHint, ("credited_at", "word"), hints)
                update_rows(Methodology, COUNTED, touched)
                LifecycleEvent.objects.bulk_create(events)
                update_rows(Block, SETTLED, blocks)
                update_rows(Tally, ("used", "right", "own_used", "own_right", "own_log_e"), tallies)
                update_rows(Control, WEIGHTS, controls)

        seconds += timed(write)
    LifecycleEvent.objects.filter(is_demo=True).delete()  # only these may go
    return seconds


def control_figure() -> Figure:
    """Count the controls of a symbol in a horizon of time, however many methodologies there are."""
    span = Control.objects.filter(symbol=ASSETS[0]).order_by("grid_at").values_list("grid_at", flat=True)
    found: list[datetime] = list(span)
    most = max(sum(start <= at < start + timedelta(hours=HORIZON) for at in found) for start in found)
    return Figure(
        f"new control rows a symbol and horizon, of {METHODS} methodologies",
        most,
        "",
        bound=f"at most {MAX_CONTROLS}",
        ok=most <= MAX_CONTROLS,
    )


def verify_figure(owner: User, methods: list[Methodology], *, small: bool) -> Figure:
    """Verify what was resolved with as many events more, against reading events, cases, hints and their candles."""
    if not small:
        record(owner, methods, VERIFIED - MANY)
        run_cron(now=NOON, requested_by="bench")
        fill_events(methods, EVENTS - LifecycleEvent.objects.count())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    assert list(verify(apply=False, now=NOON)) == []
    seconds, bare = timed(lambda: list(verify(apply=False, now=NOON))), timed(read_bare)
    ratio = seconds / bare
    events, cases = LifecycleEvent.objects.count(), TradingCase.objects.count()
    return Figure(
        f"verify over {events:,} events and {cases:,} cases, against reading them",
        ratio,
        "x",
        bound=f"at most {MAX_RATIO:g}",
        ok=small or ratio <= MAX_RATIO,
        reference=f"{seconds:.1f} s, reading {bare:.1f} s",
    )


def fill_events(methods: list[Methodology], count: int) -> None:
    """Add outcomes without a case, as committees and operators leave them, and the counters that they make."""
    for some in slices(range(count), SLICE):
        LifecycleEvent.objects.bulk_create(
            LifecycleEvent(
                methodology=methods[number % METHODS],
                kind="outcome_recorded",
                at=NOON,
                actor="bench",
                details={"correct": number % 3 > 0},
            )
            for number in some
        )
    for row in Methodology.objects.filter(pk__in=[row.pk for row in methods]):
        outcomes = LifecycleEvent.objects.filter(methodology=row, kind="outcome_recorded")
        row.times_used = outcomes.count()
        row.times_correct = outcomes.filter(details__correct=True).count()
        row.confidence = row.trust.bound
        row.save()


def read_bare() -> None:
    """Read every event, case and hint, and the candles at both ends of each case."""
    for rows in (LifecycleEvent.objects.order_by("methodology", "pk"), CaseHint.objects.order_by("case")):
        for _row in rows.iterator(chunk_size=2_000):
            pass
    cases = TradingCase.objects.defer("decision").order_by("window_ends_at", "pk")
    for some in slices(cases.iterator(chunk_size=2_000)):
        for asset in ASSETS:
            ends = [case.entry_price_at for case in some if case.asset == asset]
            ends += [case.exit_price_at for case in some if case.asset == asset]
            bars = PriceBar.objects.filter(owner=None, symbol=asset, closes_at__in=[at for at in ends if at])
            list(bars)


def begin_anew() -> list[Methodology]:
    """Delete cases and methodologies with what came of them, and return new methodologies."""
    for model in (CaseHint, TradingCase, Methodology, Control):
        model.objects.all().delete()
    Methodology.objects.bulk_create(build_methodology(number) for number in range(METHODS))
    return list(Methodology.objects.order_by("pk"))


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
