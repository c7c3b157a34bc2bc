"""What keys ask for waits on the queue of its owner alone, who decides (decisions: who may edit)."""

from typing import Any

import pytest
from django.urls import reverse

from memory_app.memories.models import Memory
from minara_site.kernel.proposals.models import ProposedChange
from tests.kit.api import agent_of
from tests.kit.page import text_of, toasts_of, words_of
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def row(ana: Any) -> Memory:
    memory = make_memory(ana, "I hold for years")
    agent_of(ana).patch(f"/v1/memory/{memory.pk}", {"statement": "I trade weekly"})
    return memory


def address(name: str, *args: Any) -> str:
    return reverse(f"quarantine:{name}", args=args)


def test_its_owner_sees_both_sides_and_approves_or_rejects(page: Any, ana: Any, row: Memory) -> None:
    home = text_of(page.get("/"))
    assert f'href="{address("list")}" aria-label="Review, 1 open"' in home, "the bell leads there"
    shown = words_of(page.get(address("list")))
    for words in ("I hold for years", "I trade weekly", "Change a memory", "proposed by"):
        assert words in shown
    proposal = ProposedChange.objects.get()
    done = page.post(address("verdict"), {"action": "accept", "ids": [f"proposed-{proposal.pk}"]}, follow=True)
    assert toasts_of(done) == ["Approved: it is done as your own act."]
    row.refresh_from_db()
    assert (row.content, row.actor) == ("I trade weekly", f"user:{ana.pk}")
    agent_of(ana).delete(f"/v1/memory/{row.pk}")
    other = ProposedChange.objects.open().get()
    page.post(address("verdict"), {"action": "refuse", "ids": [f"proposed-{other.pk}"]})
    assert page.get(address("one", "proposed", other.pk))["Location"] == reverse("memories:one", args=[row.pk])
    page.post(address("undo", f"proposed-{other.pk}"))
    other.refresh_from_db()
    assert other.state == "open"


def test_nobody_else_sees_or_decides_it(operator_page: Any, ben: Any, row: Memory, client: Any) -> None:
    proposal = ProposedChange.objects.get()
    shown = words_of(operator_page.get(address("list")))
    assert "1 proposed change waits for its owner" in shown
    assert "I trade weekly" not in shown
    client.force_login(ben)
    for visitor in (operator_page, client):
        assert visitor.get(address("one", "proposed", proposal.pk)).status_code == 404
        answer = visitor.post(address("verdict"), {"action": "accept", "ids": [f"proposed-{proposal.pk}"]})
        assert answer.status_code == 404
    row.refresh_from_db()
    assert row.content == "I hold for years"


def test_an_owner_reviews_no_kind_of_operators(page: Any, row: Memory) -> None:
    assert page.get(address("one", "preference", "1")).status_code == 404
    assert page.get(f"{address('list')}?kind=held").status_code == 200
