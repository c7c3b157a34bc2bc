"""The list of memories at a million rows: deep pages, queries, and Django admin's changelist on the same table."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.memories.pages.lists import MEMORIES
from minara_site.access.keys.services import create_key
from minara_site.access.models import OPERATORS_GROUP, User
from minara_site.access.policy import Scope
from minara_site.web.keyset import Order, paginate
from tests.bench.figures import Figure, timed
from tests.bench.texts import make_owners

ROWS, OWNERS, DEEP_PAGE = 1_000_000, 1_000, 5_000
FEW_ROWS, FEW_OWNERS, SHALLOW_PAGE = 20_000, 100, 100
PAGE_SIZE = 50
ROUNDS, ADMIN_ROUNDS = 15, 5
MAX_RATIO, MAX_QUERIES, MIN_TIMES = 1.3, 13, 10
PAGE_PATH, API_PATH = "/memories/?owner=all", "/v1/memory?owner=all&limit=50"
PLAIN_FILES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
FILL = """
    INSERT INTO memories (owner_id, category, content, source, fact_type, tickers, actor, origin, content_hash,
                          version, is_demo, created_at, updated_at)
    WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < %s)
    SELECT %s + n %% %s,
           CASE n %% 4 WHEN 0 THEN 'observation' WHEN 1 THEN 'preference' WHEN 2 THEN 'lesson' ELSE 'alert' END,
           'memory ' || n || ': the user prefers limit orders on base when funding is above ' || (n %% 97),
           'agent_recorded', '', '[]', 'bench', '', printf('%%064x', n), 1, 0,
           datetime(1577836800 + n * 60, 'unixepoch'), datetime(1577836800 + n * 60, 'unixepoch')
    FROM numbers
"""


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Build the table, then time first and deep pages of ours and of the admin."""
    rows, owners, deep = (FEW_ROWS, FEW_OWNERS, SHALLOW_PAGE) if small else (ROWS, OWNERS, DEEP_PAGE)
    (scratch / "static").mkdir()  # where collected files would lie
    operator = build(rows, owners)
    ours, queries = time_ours(operator, deep)
    admin = time_admin(scratch, deep)
    where = f"{rows:,} rows of {owners:,} owners"
    figures = []
    for name in ("page", "api"):
        first, last = ours[f"{name} first"], ours[f"{name} deep"]
        figures += [
            Figure(f"memory list, {name}, first", first, "ms", reference=where),
            Figure(
                f"memory list, {name}, page {deep:,} against the first",
                last / first,
                "x",
                f"at most {MAX_RATIO}",
                last / first <= MAX_RATIO,
                f"{last:.1f} ms",
            ),
        ]
    slowest = max(ours["page first"], ours["page deep"])
    times = min(admin.values()) / slowest
    return [
        *figures,
        Figure("memory list, page, queries", queries, "", f"at most {MAX_QUERIES}", queries <= MAX_QUERIES, where),
        Figure(
            "memory list, page, times faster than the admin's changelist",
            times,
            "x",
            f"at least {MIN_TIMES}",
            times >= MIN_TIMES,
            f"admin first {admin['first']:.0f} ms, page {deep:,} {admin['deep']:.0f} ms",
        ),
    ]


def build(rows: int, owners: int) -> User:
    """Fill the table and return an operator."""
    operator, *_others = make_owners(owners)
    operator.groups.add(Group.objects.get(name=OPERATORS_GROUP))
    operator.is_staff = operator.is_superuser = True  # for the admin; our own pages do not look at them
    operator.save()
    with connection.cursor() as cursor:
        cursor.execute(FILL, [rows, operator.pk, owners])
    return operator


@override_settings(STORAGES=PLAIN_FILES)
def time_ours(operator: User, deep: int) -> tuple[dict[str, float], int]:
    """Return the median milliseconds of first and deep pages, and the queries of a page."""
    client = Client(SERVER_NAME="localhost")
    client.force_login(operator)
    key = create_key(
        user=operator,
        scopes=[Scope.MEMORY_READ, Scope.OPERATOR],
        now=timezone.now(),
        actor="bench",
    )
    bearer = {"Authorization": f"Bearer {key.text}"}
    page_cursor = cursor_of(deep, MEMORIES.sorts[0].order, MEMORIES.name)
    api_cursor = cursor_of(deep, Order("updated_at"), "v1/memory")
    asked = {
        "page first": lambda: get(client, PAGE_PATH),
        "page deep": lambda: get(client, f"{PAGE_PATH}&cursor={page_cursor}"),
        "api first": lambda: get(client, API_PATH, headers=bearer),
        "api deep": lambda: get(client, f"{API_PATH}&cursor={api_cursor}", headers=bearer),
    }
    with CaptureQueriesContext(connection) as queries:
        asked["page deep"]()
        count = len(queries)
    return medians(asked), count


def cursor_of(page: int, order: Order, scope: str) -> str:
    """Return the cursor of this page, 1 being the first."""
    before = Memory.objects.live().only("id", order.field)
    cursor = paginate(before, order, limit=(page - 1) * PAGE_SIZE, scope=scope).next_cursor
    assert cursor
    return cursor


def get(client: Client, path: str, **how: Any) -> None:
    """Ask for a path and insist on an answer with rows."""
    answer = client.get(path, **how)
    assert answer.status_code == 200, (path, answer.status_code)
    assert answer.content.count(b"limit orders on base") >= PAGE_SIZE, path


def medians(asked: dict[str, Callable[[], None]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median milliseconds of each request, asked in turns after a first round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for round_ in range(rounds + 1):
        for name, ask in asked.items():
            taken = timed(ask)
            if round_:
                seconds[name].append(taken)
    return {name: statistics.median(taken) * 1000 for name, taken in seconds.items()}


def time_admin(scratch: Path, deep: int) -> dict[str, float]:
    """Measure the admin in a process of its own, because it needs settings of its own."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.bench.admin_settings", "MINARA_DATA_DIR": str(scratch)}
    command = f"import django; django.setup(); from tests.bench.pages import measure_admin; measure_admin({deep})"
    done = subprocess.run(
        [sys.executable, "-c", command],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@override_settings(STORAGES=PLAIN_FILES)
def measure_admin(deep: int) -> None:
    """Print the medians of the admin's first and deep page as JSON."""
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(is_superuser=True))
    path = "/admin/memory_app/memory/"
    asked = {"first": lambda: get(client, path), "deep": lambda: get(client, f"{path}?p={deep}")}
    print(json.dumps(medians(asked, ADMIN_ROUNDS)))
