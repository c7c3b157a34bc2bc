"""A real conversation is read turn by turn, and each memory leads back to the words that say it."""

import json
import re
from html import unescape

import pytest

from memory_app.memories.models import Memory
from minara_site.kernel.conversations.models import Turn
from profile_app.rebuild.core import Flow
from profile_app.rebuild.services.run import rebuild
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.page import text_of, words_of
from tests.kit.shared import shared_path

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]


def pairs_of(conversation):
    """Yield what one speaker said and the other answered."""
    for number in range(1, 40):
        said = [turn["text"] for turn in conversation.get(f"session_{number}", ())]
        yield from zip(said[::2], said[1::2], strict=False)


def facts_of(asked):
    """Return a fact out of every fifth of the turns that are asked about."""
    turns = json.loads(asked.content.split("\n")[1])["turns"][::5]
    return {
        "facts": [
            {"statement": f"Said: {each['user'][:200]}", "turn": each["turn"], "quote": each["user"][:60].upper()}
            for each in turns
        ]
    }


def test_each_memory_of_a_real_conversation_leads_to_its_turn(ana, page, answers, models):
    conversation = json.loads(shared_path("data/locomo_dev.json").read_text())[0]["conversation"]
    agent, pairs = agent_of(ana), list(pairs_of(conversation))
    session = agent.post("/v1/sessions", {"title": "LoCoMo"}).json()["data"]["id"]
    for user, answer in pairs:
        turn = {"user_message": user, "assistant_message": answer, "tool_calls": [], "completed": True}
        assert agent.post(f"/v1/sessions/{session}/turns", turn).status_code == 202
    answers.memories = facts_of
    while Turn.objects.count() > 20 * models.calls:
        rebuild(Flow.MEMORIES, owner_id=ana.pk, now=NOON, is_forced=True)
    memories = Memory.objects.for_owner(ana).filter(origin__startswith="turn:")
    assert len(memories) > len(pairs) // 6
    for memory in memories:
        [link] = re.findall(r'href="(/conversations/[^"]+)"', text_of(page.get(f"/memories/{memory.pk}/why/")))
        address, _hash, anchor = unescape(link).partition("#")
        part = text_of(page.get(address)).split(f'id="{anchor}"')[1].split("</article>")[0]
        assert f'href="/memories/{memory.pk}/"' in part
        assert "<mark>" in part
        assert words_of(memory.metadata["quote"]).lower() in words_of(part).lower()
