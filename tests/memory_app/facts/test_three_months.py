"""What is marked, carried by prompts and found equals the list of what changed, among three months of real notes."""

import json
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from memory_app.facts.tasks import consolidate
from memory_app.memories.conflicts import find_marks
from memory_app.memories.models import Memory
from memory_app.memories.services import write_memory
from memory_app.memories.services.write import Draft
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from profile_app.prompt.selectors import load_next_prompt
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.shared import shared_path
from tests.memory_app.facts.three_months import changes, rules
from tests.memory_app.importers.test_locomo import conversation_lines
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]

DAYS, WEEK, MONTH = 90, timedelta(days=7), timedelta(days=30)
BEGAN = NOON - timedelta(days=DAYS)
SEED = 41


def write(owner: Any, category: Category, text: str, at: datetime) -> int:
    """Store a text as an agent; a limit as its owner."""
    by = Provenance(Source.AGENT_RECORDED, "key:agent", "")
    return write_memory(owner_id=owner.pk, draft=Draft(category, text, by), now=at).pk


def set_limit(owner: Any, text: str, at: datetime) -> int:
    return make_memory(owner, text, fact_type="constraint.hard", at=at).pk


def plan(owner: Any) -> list[tuple[datetime, Any]]:
    """Return what is written when: the notes, the pairs half of the time apart, and the rules in the middle."""
    conversation = json.loads(shared_path("data/locomo_dev.json").read_text())[0]["conversation"]
    notes = [line["content"] for line in conversation_lines(conversation)]
    every = timedelta(days=DAYS) / len(notes)
    written = [
        (BEGAN + every * place, (write, Category.OBSERVATION, f"{place}. {note}")) for place, note in enumerate(notes)
    ]
    for place, change in enumerate(changes(SEED)):
        at = BEGAN + timedelta(days=1 + 2 * place)
        later = at + timedelta(days=DAYS / 2)
        written += [(at, (write, change.category, change.earlier)), (later, (write, change.category, change.later))]
    for place, rule in enumerate(rules(SEED)):
        at = BEGAN + timedelta(days=40 + 3 * place)
        around = (at - WEEK, at + WEEK)[place % 2]
        written += [(at, (set_limit, rule.limit)), (around, (write, Category.PREFERENCE, rule.against))]
        written += [(around, (write, Category.OBSERVATION, rule.allowed))]
    return sorted(written, key=lambda each: each[0])


def expected(ids: dict[str, int]) -> tuple[dict[int, set[int]], set[int]]:
    """Return with what each of the rows so far is in conflict, and those that no prompt carries."""
    pairs = [(change.earlier, change.later) for change in changes(SEED) if change.is_conflict]
    pairs += [(rule.against, rule.limit) for rule in rules(SEED)]
    sides = [(ids[leaves], ids[stays]) for leaves, stays in pairs if {leaves, stays} <= ids.keys()]
    with_each = {pk: {sum(pair) - pk} for pair in sides for pk in pair}
    return with_each, {leaves for leaves, _stays in sides}


def test_the_list_is_what_is_marked_carried_and_found(ana: Any) -> None:
    ids: dict[str, int] = {}
    for month in (1, 2, 3):
        ends = BEGAN + month * MONTH
        for at, (store, *told) in plan(ana):
            if ends - MONTH <= at < ends:
                ids[told[-1]] = store(ana, *told, at)
        consolidate(now=ends)
        marks, leavers = expected(ids)
        found = find_marks(Memory.objects.live().values_list("pk", flat=True))
        assert {pk: set(mark.others) for pk, mark in found.items()} == marks
        carried = set(load_next_prompt(owner=ana, now=ends).memory_ids)
        assert not carried & leavers
        horizon = Memory.objects.filter(pk__in=carried, category=Category.OBSERVATION).earliest("updated_at").updated_at
        newer = set(Memory.objects.live().filter(updated_at__gt=horizon).values_list("pk", flat=True))
        assert newer - carried == newer & leavers
    assert len(marks) == 2 * (12 + 3)
    agent = agent_of(ana)
    known = [text for text in ids if not text[0].isdigit()]
    for text in known:
        answer = agent.get(f"/v1/memory/search?limit=50&q={quote(text)}").json()["data"]["items"]
        marked = {hit["id"]: set(hit.get("conflict", {"with": ()})["with"]) for hit in answer}
        assert ids[text] in marked
        assert marked == {pk: marks.get(pk, set()) for pk in marked}
