"""How PostgreSQL runs what the pages, the API and the search ask, where the tables that grow are large: by EXPLAIN.

Every row of two tenants' world is there many times, a tenth of them theirs and the others of a thousand owners.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.db import connection
from django.test.utils import override_settings
from django.utils import timezone
from psycopg.errors import QueryCanceled

from minara_site.access.models import AccessEntry
from tests.bench.figures import Figure
from tests.bench.pages import PLAIN_FILES
from tests.bench.texts import make_owners
from tests.contracts.permissions import OPEN
from tests.contracts.sweep import ROUTES, expected
from tests.kit.world import ANAS_WORD, World, build_world, fill, parameters
from tests.memory_app.roles.rows import make_usage

ROWS, FEW_ROWS, OWNERS = 1_000_000, 2_000, 1_000
OF_METHOD = "(SELECT min(number) FROM methodologies) + n % 10000"
MANY = {  # what tells two rows of a table apart; of these there are as many as rows are asked for
    "memories": {"content": "content || ' no' || n % 997", "content_hash": "md5(n::text)"},
    "methodology_cases": {},
    "audit_log": {},
    "search_log": {},
}
SOME = {  # of these a fifth
    "access_log": {},
    "conversation_turns": {"session_id": "left('sess_' || md5((n % 10000)::text), 27)", "sequence": "100 + n"},
    "holds": {"object_id": "10000000 + n", "decision": "'released'", "decided_at": "held_at", "decided_by": "'user:1'"},
    "institution_runs": {"uid": "left(md5(n::text), 20)"},
    "job_runs": {
        "slot": "NULL",
        "not_before": "NULL",
        "state": "CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'succeeded' END",
        "finished_at": "now() - n * interval '5 minutes'",
    },
    "learned_preferences": {
        "kind": "'soft_preference'",
        "state": "(ARRAY['proposed', 'active', 'rejected', 'archived'])[1 + n % 4]",
        "decided_at": "created_at",
    },
    "learnings": {"id": "left(md5(n::text), 20)"},
    "llm_usage": {"reservation_id": "NULL"},
    "memory_consolidation_events": {"undoes_id": "NULL"},
    "memory_deletions": {"memory_id": "(SELECT min(id) FROM memories) + 100 + n"},
    "memory_edges": {"src_id": "10000000 + n"},
    "memory_revisions": {"memory_id": "(SELECT min(id) FROM memories) + 100 + n"},
    "methodology_case_hints": {
        "case_id": "(SELECT min(id) FROM methodology_cases) + 100 + n",
        "methodology_id": OF_METHOD,
    },
    "methodology_lifecycle_events": {"methodology_id": OF_METHOD},
    "price_points": {"owner_id": "NULL"},
    "role_memory": {
        "role_id": "'role.' || n % 20",
        "status": "CASE WHEN n % 50 = 0 THEN 'pending' WHEN n % 2 = 0 THEN 'reflected' ELSE 'skipped' END",
        "outcome": "'right'",
        "reflected_at": "CASE WHEN n % 50 <> 0 AND n % 2 = 0 THEN decided_at END",
    },
}
FEW = {  # and of these a hundredth: how many methods a desk has, and talks
    "methodologies": {"id": "left(md5(n::text), 20)", "dedup_key": "md5(n::text)"},
    "sessions": {"id": "left('sess_' || md5(n::text), 27)"},
}
TABLES = {**dict.fromkeys(MANY, 1), **dict.fromkeys(SOME, 5), **dict.fromkeys(FEW, 100)}
COLUMNS = """SELECT column_name, data_type, is_nullable FROM information_schema.columns
    WHERE table_name = %s AND table_schema = 'public' AND is_identity = 'NO' AND is_generated = 'NEVER'"""
MULTIPLY = """INSERT INTO {table} ({columns}) SELECT {values} FROM (
    SELECT kept.*, row_number() OVER () AS n
    FROM {table} kept, generate_series(1, 1 + {rows} / (SELECT count(*) FROM {table}))
) every LIMIT {rows}"""
INDEX = """INSERT INTO search_document (kind, object_id, owner_id, owner, body, category, words)
    SELECT 'memory', id, owner_id, 'u' || owner_id, 'holds position no' || id % 997, category,
           format('''u%s'':1A ''%s'':2B ''hold'':3 ''posit'':4 ''no%s'':5', owner_id, category, id % 997)::tsvector
    FROM memories ON CONFLICT DO NOTHING"""
SEARCHES = ("position", "no12", "position+-no12&category=personalization", ANAS_WORD)
READ_AT_MOST = 50_000  # rows of such a table, by a sequential scan: some first rows may lie anywhere


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Fill the tables, ask for everything that reads, and count the statements that read big tables as they lie."""
    rows = FEW_ROWS if small else ROWS
    with override_settings(STORAGES=PLAIN_FILES, ALLOWED_HOSTS=["*"], SECURE_SSL_REDIRECT=False):
        world = build_world()
        make_usage("bench.task", "0.01")
        AccessEntry.objects.create(
            at=timezone.now(),
            viewer=world.ben.user,
            owner=world.ana.user,
            kind="memory",
            object_id="1",
        )
        fill_tables(rows)
        plans = [plan for caller, path in reads(world) for plan in look_at(world, caller, path)]
    scans = [f"{tables}: {statement}" for statement, tables in plans if tables]
    print(*scans, sep="\n", file=sys.stderr)
    return [
        Figure(
            name=f"sequential scans of a big table, {rows:,} memories, cases, audit rows and searches, a fifth of the rest",
            value=len(scans),
            unit="statements",
            bound="none",
            ok=None if small else not scans,
            reference=f"plans of {len(plans):,} statements",
        )
    ]


def fill_tables(rows: int) -> None:
    """Multiply what stands in the tables, index the memories, and let the server count."""
    first = make_owners(OWNERS)[0].pk
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        for table, own in (FEW | MANY | SOME).items():
            cursor.execute(COLUMNS, [table])
            every = TABLES[table]  # so that all of them cover the same two years
            values = {name: value_of(name, kind, null == "YES", first, every) for name, kind, null in cursor.fetchall()}
            columns, written = ", ".join(f'"{name}"' for name in values), ", ".join((values | own).values())
            cursor.execute(MULTIPLY.format(table=table, columns=columns, values=written, rows=rows // every))
        cursor.execute(INDEX)
        cursor.execute("RESET ALL")
        cursor.execute("VACUUM ANALYZE")


def value_of(column: str, kind: str, is_nullable: bool, first_owner: int, every: int) -> str:
    """Return the expression for a column: owners in turn, moments some minutes apart, all else as it is."""
    if column == "owner_id":
        return f"CASE WHEN n % 10 = 0 THEN owner_id ELSE {first_owner} + n % {OWNERS} END"
    if kind.startswith("timestamp") and not is_nullable:
        return f"\"{column}\" - n * interval '{every} minutes'"
    return f'"{column}"'


def reads(world: World) -> Iterator[tuple[str, str]]:
    """Yield caller and path of everything that may be read, of one owner and of all."""
    for caller in ("ana", "olga", "sam", "key_read", "key_operator"):
        is_operator = caller in {"olga", "key_operator"}
        for route in ROUTES:
            if expected(caller, "GET", route) is OPEN:
                yield caller, fill(route, world.ana.samples)
                if is_operator and not parameters(route):
                    yield caller, f"/{route}?owner=all"
        for query in SEARCHES if caller.startswith("key") else ():
            yield caller, f"/v1/memory/search?q={query}"
            if is_operator:
                yield caller, f"/v1/memory/search?q={query}&owner=all"


def look_at(world: World, caller: str, path: str) -> Iterator[tuple[str, str]]:
    """Ask, and yield of each statement what it is and the big tables that it reads as they lie."""
    with explained() as plans:
        response = world.callers[caller].call("GET", path)
        if response.streaming:
            b"".join(response)
    for sql, plan in plans:
        yield f"{path} as {caller}: {sql}", ", ".join(sorted(scanned(plan)))


@contextmanager
def explained() -> Iterator[list[tuple[str, Any]]]:
    """Collect the statements that only read, each with its plan and what it read."""
    plans: list[tuple[str, Any]] = []

    def explain(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().startswith(("SELECT", "WITH")) and "INSERT" not in sql and "UPDATE" not in sql:
            with suppress(QueryCanceled), connection.connection.transaction():  # a search has a time limit of its own
                found = connection.connection.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", params)
                plans.append((sql, found.fetchone()[0][0]["Plan"]))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        yield plans


def scanned(node: dict[str, Any]) -> set[str]:
    """Return the big tables of which a plan reads too many rows as they lie."""
    found = set[str]().union(*(scanned(child) for child in node.get("Plans", ())))
    if node["Node Type"] == "Seq Scan" and node["Relation Name"] in {"search_document", *MANY, *SOME}:
        read = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        found |= {f"{node['Relation Name']} ({read:,.0f} rows)"} if read > READ_AT_MOST else set()
    return found
