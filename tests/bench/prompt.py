"""The assembly of a prompt at 10 000 memories and full files, against 1 000 memories and against its own SQL run bare."""

from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from profile_app.documents.core import CUSTOM_PROMPT, MAX_CHARS, WORKSPACE_FILE, Origin
from profile_app.documents.services import save_document
from profile_app.prompt.selectors import load_next_prompt
from tests.bench.figures import Figure, percentile, timed
from tests.bench.texts import CATEGORIES, make_texts, make_times

FEW, MANY, ROUNDS = 1_000, 10_000, 100
MAX_GROWTH, MAX_OF_SQL = 1.5, 3.0
FILES = ("SOUL.md", "AGENTS.md", "USER.md", "MEMORY.md")


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure two owners in turn, both with files as long as they may be."""
    now, shrink = timezone.now(), 20 if small else 1
    few, many = (make_owner(f"bench{count}", count // shrink, now=now) for count in (FEW, MANY))
    asked = record_sql(many, now)
    for _warm in range(3):
        for owner in (few, many):
            load_next_prompt(owner=owner, now=now)
    of_few, of_many, bare = [], [], []
    for _round in range(ROUNDS // shrink):
        of_few.append(timed(lambda: load_next_prompt(owner=few, now=now)))
        of_many.append(timed(lambda: load_next_prompt(owner=many, now=now)))
        bare.append(timed(lambda: replay(asked)))
    fewer, more, sql = (percentile(each, 0.95) for each in (of_few, of_many, bare))
    size = load_next_prompt(owner=many, now=now).size_bytes
    return [
        Figure(
            name=f"prompt at {MANY // shrink:,} memories and full files, p95",
            value=more / fewer,
            unit=f"x that at {FEW // shrink:,}",
            bound=f"at most {MAX_GROWTH:g}",
            ok=more / fewer <= MAX_GROWTH,
            reference=f"{more * 1_000:.1f} ms against {fewer * 1_000:.1f} ms; {size:,} bytes",
        ),
        Figure(
            name="the same, against its SQL",
            value=more / sql,
            unit="x its SQL run bare",
            bound=f"at most {MAX_OF_SQL:g}",
            ok=more / sql <= MAX_OF_SQL,
            reference=f"{len(asked)} queries in {sql * 1_000:.1f} ms",
        ),
    ]


def make_owner(name: str, count: int, *, now: Any) -> User:
    """Make an owner with so many memories and every file full."""
    owner = User.objects.create_user(name)
    written = Provenance(Source.AGENT_RECORDED, "bench")
    drafts = (
        Draft(Category(CATEGORIES[number % len(CATEGORIES)]), text, written, written_at=at)
        for number, (text, at) in enumerate(zip(make_texts(count), make_times(count), strict=True))
    )
    write_memories(owner_id=owner.pk, drafts=drafts, now=now, actor="bench", tool_call="memory_write")
    notes = [f"memory/2026-01-0{day}.md" for day in (1, 2, 3)]
    kinds = {**dict.fromkeys([*FILES, *notes], WORKSPACE_FILE), CUSTOM_PROMPT: CUSTOM_PROMPT}
    for file, kind in kinds.items():
        content = "\n".join(f"- {file} {text}" for text in make_texts(800))[: MAX_CHARS[kind]]
        document = {"owner": owner, "kind": kind, "name": file, "content": content}
        save_document(**document, origin=Origin.PAGE, actor=f"user:{owner.pk}", now=now, is_confirmed=True)
    return owner


def record_sql(owner: User, now: Any) -> list[tuple[str, Any]]:
    """Return what the assembly asks the database."""
    asked: list[tuple[str, Any]] = []

    def keep(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        load_next_prompt(owner=owner, now=now)
    return asked


def replay(asked: list[tuple[str, Any]]) -> None:
    """Ask the same again and read every row."""
    with connection.cursor() as cursor:
        for sql, params in asked:
            cursor.execute(sql, params)
            cursor.fetchall()
