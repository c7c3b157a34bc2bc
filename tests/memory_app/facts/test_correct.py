"""Correct means replace: the person's words take the place of the row, one undo brings it back (decisions)."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse

from learning_app.preferences.models import Preference
from memory_app.memories.models import Memory
from memory_app.memories.tasks import bridge_preferences
from minara_site.console.quarantine.services import hold_again
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.ownership import EVERYONE
from profile_app.prompt.selectors import load_next_prompt
from tests.console.quarantine.one_hold import discard_hold, release_hold
from tests.kit.clock import NOON
from tests.kit.page import text_of, toasts_of, undo_of, words_of
from tests.kit.tables import Faults, taken_back
from tests.kit.undo import undo_last
from tests.learning_app.rows import make_preference
from tests.memory_app.memories.factories import browser, make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("frozen")]

LATER = NOON + timedelta(hours=1)
HELD = "charts\u200b, monthly"


def noted(owner: Any, category: Category = Category.OBSERVATION, **fields: Any) -> Memory:
    state = {"fact_state": "pending"} if category is Category.FACT else {}
    agent = {"source": Source.AGENT_RECORDED, "actor": "key:agent"}
    return make_memory(owner, "prefers weekly charts", category=category, **{**agent, **state, **fields})


def correct(page: Any, memory: Memory, statement: str = "prefers monthly charts", **fields: Any) -> Any:
    body = {"statement": statement, "tickers": "", "fact_type": "", **fields}
    return page.post(f"{reverse('memories:new')}?corrects={memory.pk}", body)


def correct_anyway(page: Any, memory: Memory) -> None:
    """Correct it in words that the guard holds, as somebody who was told so."""
    asked = correct(page, memory, HELD)
    assert asked.status_code == 422
    [token] = re.findall(r'name="anyway" value="([^"]+)"', asked.content.decode())
    correct(page, memory, HELD, anyway=token)


def typed() -> Memory:
    return Memory.objects.get(category=Category.PERSONALIZATION, source=Source.USER_MANUAL)


def states(*rows: Memory) -> list[str]:
    for row in rows:
        row.refresh_from_db()
    return [str(row.state) for row in rows]


def test_of_every_category_the_words_replace_the_row_and_one_undo_brings_it_back(page: Any, ana: Any) -> None:
    faults = Faults()
    for category in Category:
        with faults.row(category), taken_back("default"):
            old = noted(ana, category)
            answer = correct(page, old)
            new, gone = typed(), "retired" if category is Category.FACT else "deleted"
            assert states(old, new) == [gone, "live"]
            prompt = load_next_prompt(owner=ana, now=LATER).text
            assert ("weekly" in prompt, "monthly" in prompt) == (False, True)
            shown = page.get(answer["Location"])
            assert "prefers weekly charts" in words_of(shown), "both are shown"
            [made] = ChangeSet.objects.all()
            assert (made.act, made.actor) == ("memory_corrected", f"user:{ana.pk}")
            page.post(undo_of(shown))
            assert states(old, new) == ["live", "deleted"]
            for time in range(2):
                undo_last("memory", new, by=ana, now=LATER + timedelta(minutes=time))
                assert states(old, new) == [[gone, "live"], ["live", "deleted"]][time]
    faults.show()


def test_the_trash_says_by_what_it_was_corrected(page: Any, ana: Any) -> None:
    correct(page, noted(ana))
    assert f"Corrected by memory {typed().pk}" in words_of(page.get(reverse("memories:trash")))


def test_keeping_both_is_the_second_choice(page: Any, ana: Any) -> None:
    old = noted(ana)
    shown = text_of(page.get(f"{reverse('memories:new')}?corrects={old.pk}"))
    assert shown.index("Replace it") < shown.index("Keep both")
    answer = correct(page, old, both="1")
    new = typed()
    assert states(old, new) == ["live", "live"]
    assert not ChangeSet.objects.exists()
    assert "Both are kept" in words_of(page.get(answer["Location"]))
    assert f"kept beside memory {old.pk}" in words_of(page.get(reverse("memories:one", args=[new.pk])))


def test_what_changed_since_stays(page: Any, ana: Any) -> None:
    old = noted(ana)
    correct(page, old)
    new = typed()
    page.post(reverse("memories:restore", args=[old.pk]))
    made = ChangeSet.objects.get(act="memory_corrected")
    page.post(reverse("undo", args=[made.pk]))
    assert states(old, new) == ["live", "deleted"], "the old one was back already"


class TestHeld:
    """While the guard holds the words the old row stays."""

    @pytest.fixture
    def old(self, page: Any, ana: Any) -> Memory:
        row = noted(ana)
        correct_anyway(page, row)
        assert states(row, typed()) == ["live", "held"]
        return row

    def test_released_they_replace_it_as_their_owners_act_each_time(self, ana: Any, olga: Any, old: Memory) -> None:
        hold = Hold.objects.get()
        for _time in range(2):
            release_hold(principal=browser(olga), hold_id=hold.pk, now=LATER)
            assert states(old, typed()) == ["deleted", "live"]
            made = ChangeSet.objects.filter(act="memory_corrected").latest("pk")
            assert made.actor == f"user:{ana.pk}"
            [hold] = hold_again(principal=browser(olga), owner=EVERYONE, hold_ids=[hold.pk], now=LATER)
            assert states(old, typed()) == ["live", "held"]

    def test_discarded_nothing_happens(self, olga: Any, old: Memory) -> None:
        discard_hold(principal=browser(olga), owner=EVERYONE, hold_id=Hold.objects.get().pk, now=LATER)
        assert states(old, typed()) == ["live", "deleted"]


class TestPreference:
    """The row of a preference replaces the preference itself."""

    @pytest.fixture
    def preference(self, ana: Any) -> Preference:
        row = make_preference(ana, "prefers weekly charts", dimension="style", state="active")
        bridge_preferences(ids=[row.pk], now=NOON)
        return row

    def bridged(self, row: Preference) -> Memory:
        memory: Memory = Memory.objects.get(origin=f"preference:{row.pk}")
        return memory

    def test_the_new_words_are_in_force_at_once_and_one_undo_restores_both(
        self, page: Any, ana: Any, preference: Preference
    ) -> None:
        old = self.bridged(preference)
        answer = correct(page, old)
        new = Preference.objects.get(origin=f"preference:{preference.pk}")
        preference.refresh_from_db()
        assert (preference.state, new.state, new.source, new.decided_by) == (
            "archived",
            "active",
            "user",
            f"user:{ana.pk}",
        )
        prompt = load_next_prompt(owner=ana, now=LATER).text
        assert ("weekly" in prompt, "monthly" in prompt) == (False, True)
        assert (self.bridged(new).source, self.bridged(new).actor) == (Source.USER_MANUAL, f"user:{ana.pk}")
        shown = page.get(answer["Location"])
        assert answer["Location"] == reverse("preferences:one", args=[new.pk])
        page.post(undo_of(shown))
        bridge_preferences(ids=[preference.pk, new.pk], now=LATER)
        preference.refresh_from_db()
        new.refresh_from_db()
        assert (preference.state, new.state) == ("active", "rejected")
        prompt = load_next_prompt(owner=ana, now=LATER).text
        assert ("weekly" in prompt, "monthly" in prompt) == (True, False)

    def test_held_words_replace_it_once_they_are_released(
        self, page: Any, ana: Any, olga: Any, preference: Preference
    ) -> None:
        old = self.bridged(preference)
        correct_anyway(page, old)
        preference.refresh_from_db()
        assert (preference.state, states(old)) == ("active", ["live"])
        hold = Hold.objects.get()
        release_hold(principal=browser(olga), hold_id=hold.pk, now=LATER)
        preference.refresh_from_db()
        new = Preference.objects.get(origin=f"preference:{preference.pk}")
        assert (preference.state, new.state, new.decided_by) == ("archived", "active", f"user:{ana.pk}")
        hold_again(principal=browser(olga), owner=EVERYONE, hold_ids=[hold.pk], now=LATER)
        preference.refresh_from_db()
        assert preference.state == "active"

    def test_a_limit_leads_to_its_own_page(self, page: Any, ana: Any) -> None:
        limit = make_preference(ana, "Never above 3x", kind="hard_constraint", dimension="risk_limit", state="active")
        bridge_preferences(ids=[limit.pk], now=NOON)
        answer = correct(page, self.bridged(limit))
        assert answer["Location"] == reverse("preferences:one", args=[limit.pk])
        limit.refresh_from_db()
        assert limit.state == "active"


def test_what_its_owner_typed_is_edited_and_a_limit_is_ended_by_no_undo(page: Any, ana: Any) -> None:
    own = make_memory(ana, "typed")
    assert correct(page, own)["Location"] == reverse("memories:edit", args=[own.pk])
    limit = make_memory(ana, "Never above 3x", fact_type="constraint.hard")
    shown = page.post(reverse("memories:delete", args=[limit.pk]), {"sure": "1"}, follow=True)
    assert "Deleted 1 memory." in toasts_of(shown)[0]
    assert states(limit) == ["deleted"]
    with pytest.raises(Conflict) as refused:
        undo_last("memory", limit, by=ana)
    assert "types its value" in str(refused.value.detail)
    page.post(reverse("memories:restore", args=[limit.pk]))
    assert states(limit) == ["live"]
