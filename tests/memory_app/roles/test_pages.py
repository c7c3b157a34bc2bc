"""`/roles/` and `/role-memory/`: how roles stand, what was decided and learned, and the word of a person."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
import time_machine
from django.urls import reverse

from memory_app.capabilities import ROLE_REFLECTION
from memory_app.roles.core import Classification, SkipReason, Status
from memory_app.roles.models import RoleState
from memory_app.roles.registry import RoleRegistry, install
from minara_site.access.models import AccessEntry
from minara_site.kernel.governance.models import CapabilitySwitch
from minara_site.kernel.governance.services import record_shadow
from minara_site.kernel.jobs.models import JobRun, Lease
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.outcome import Outcome
from minara_site.kernel.market.services import record_points
from tests.kit.clock import NOON
from tests.kit.page import words_of
from tests.kit.tables import table
from tests.kit.visitor import visitor
from tests.memory_app.roles.rows import LESSON, MOMENTUM, THESIS, make_row, make_thesis, make_usage, make_wrong

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]


def path(name: str, *args: Any) -> str:
    return reverse(f"role_memory:{name}", args=args)


def role(name: str = MOMENTUM) -> str:
    return reverse("roles:one", args=[name])


def html(response) -> str:
    """Return the markup with its characters as they are read."""
    return unescape(response.content.decode())


class TestRoles:
    def test_counts_the_readers_own_entries_and_an_operators_of_everybody(self, page, operator_page, ana, ben):
        make_row(ana)
        make_row(ana, hours=2)
        make_wrong(ana)
        make_row(ben)
        assert re.search(
            r"Spot momentum call .*? by a price|2 1 1",
            words_of(page.get(reverse("roles:list"))),
        )
        assert "Figures are your own" in words_of(page.get(reverse("roles:list")))
        assert re.search(
            r"market\.spot\.momentum .*? 3 2 1 ",
            words_of(operator_page.get(reverse("roles:list"))),
        )
        of_ben = words_of(operator_page.get(reverse("roles:list") + "?owner=ben"))
        assert re.search(r"market\.spot\.momentum .*? 1 1 0 ", of_ben)

    def test_says_what_is_missing_without_a_model_or_a_role_and_how_to_declare_one(self, page):
        shown = words_of(page.get(reverse("roles:list")))
        assert "No model can be called: set ANTHROPIC_API_KEY." in shown
        assert "MINARA_SKILL_MODULES" in shown
        assert "MemoryRole(" in shown
        install(RoleRegistry.from_skill_registry(()))
        try:
            assert "Roles come from code" in words_of(page.get(reverse("roles:list")))
        finally:
            install(None)

    def test_one_shows_its_policy_and_its_prompt_verbatim(self, page):
        shown = words_of(page.get(role()))
        assert "price of the asset over 24 h" in shown
        assert "every hour at minute 0" in shown
        assert "from 24 h after the decision" in shown
        assert "after 7 d" in shown
        assert "chased a move that was already exhausted" in shown
        assert "You called the momentum of {asset}: {direction}." in shown
        marked = f"/role-memory/outcomes/?role={THESIS}"
        assert marked in html(page.get(role(THESIS))), "one that people mark leads to what they mark"
        assert "/role-memory/outcomes/?role" not in html(page.get(role()))

    def test_one_shows_how_old_what_waits_is_as_chart_and_as_table(self, page, ana):
        for hours in (2, 30, 31, 60, 200):
            make_row(ana, hours=hours)
        shown = page.get(role())
        rows = re.findall(r"<tr><td>([^<]+)</td><td class=\"n\">(\d+)</td>", html(shown))
        assert [count for _age, count in rows] == ["1", "2", "1", "0", "0", "0", "0", "1"]
        assert rows[0][0] == "under 24 h"
        assert rows[1][0] == "24 h to 2 d"
        assert html(shown).count('class="c-bar"') == html(shown).count('class="c-open"') == 4  # wide and narrow

    def test_one_shows_the_lock_and_to_readers_of_all_owners_the_last_reflection_and_who_was_dropped(
        self, page, operator_page, ana, ben
    ):
        make_row(ben)
        last = {"last_trigger": "cron", "last_triggered_at": NOON, "dropped": 31}
        RoleState.objects.create(
            role_id=MOMENTUM,
            last_result={"result": "done", "right": 3, "skipped": 1},
            **last,
        )
        Lease.objects.create(
            name=f"role:{MOMENTUM}",
            holder="f" * 32,
            expires_at=NOON + timedelta(seconds=20),
        )
        shown = words_of(operator_page.get(role()))
        for words in ("3 right, 1 skipped", "Reflecting now", "31 second callers"):
            assert words in shown
        assert re.search("f{15}… until 12 Jun 2026 12:00:20", shown)
        assert "3 right, 1 skipped" in words_of(operator_page.get(reverse("roles:list")))
        for client, query in ((page, ""), (operator_page, "?owner=ana")):  # of one owner nothing counts another's
            for address in (role(), reverse("roles:list")):
                shown = words_of(client.get(address + query))
                assert "Reflecting now" in shown
                assert not re.search("3 right|second callers", shown)
        Lease.objects.update(expires_at=NOON)
        assert "Lock free" in words_of(page.get(role()))

    def test_one_shows_the_lessons_that_are_known_by_now(self, page, operator_page, ana):
        make_wrong(ana)
        make_wrong(ana, hours=20, lesson="Not known yet.", outcome_at=NOON + timedelta(hours=4))
        for client in (page, operator_page):
            shown = words_of(client.get(role()))
            assert LESSON in shown
            assert "Not known yet." not in shown
        assert AccessEntry.objects.filter(owner=ana, kind="role_memory").exists()

    def test_one_that_is_no_longer_declared_says_so_while_entries_remain(self, page, ana, ben):
        make_row(ana, role_id="market.perps.breakout")
        shown = words_of(page.get(role("market.perps.breakout")))
        assert "No skill declares this role any more" in shown
        assert "No longer declared" in words_of(page.get(reverse("roles:list")))
        assert visitor(ben).get(role("market.perps.breakout")).status_code == 404
        assert page.get(role("never.declared")).status_code == 404
        assert page.get("/roles/No%20Role/").status_code == 404


class TestReflectNow:
    def test_is_refused_with_the_reason_while_no_model_can_be_called(self, operator_page, page, ana):
        make_row(ana)
        shown = html(operator_page.get(role()))
        assert re.search(r"<button[^>]* disabled>.*Reflect now", shown)
        assert "Reflect now" not in html(page.get(role()))

    def test_shows_what_it_takes_leads_to_the_run_and_tells_what_a_shadow_costs(self, operator_page, ana, settings):
        settings.MINARA = settings.MINARA.model_copy(update={"anthropic_api_key": "sk-test"})
        make_row(ana)
        shown = words_of(operator_page.get(role()))
        assert "In shadow" not in shown
        assert re.search(r"Can be judged 1 Costs up to \$[0-9.]+ Budget left \$", shown)
        answer = operator_page.post(reverse("roles:reflect", args=[MOMENTUM]))
        run = JobRun.objects.latest("pk")
        assert (answer.status_code, answer.url) == (303, reverse("jobs:run", args=[run.pk]))
        assert operator_page.post(reverse("roles:reflect", args=["never.declared"])).status_code == 404
        switched = {"capability": "role_reflection", "mode": "shadow", "reason": "first look", "actor": "user:1"}
        CapabilitySwitch.objects.create(**switched, changed_at=NOON)
        assert "In shadow mode the model is paid" in words_of(operator_page.get(role()))


class TestList:
    def test_has_its_empty_states(self, page, ana):
        assert "No decisions recorded" in words_of(page.get(path("list")))
        make_row(ana)
        assert "Nothing matches" in words_of(page.get(path("list") + "?asset=ETH"))

    def test_narrows_by_status_role_asset_class_outcome_and_time(self, page, ana):
        make_row(ana, asset="ETH", decision="ETH rises")
        make_wrong(ana, decision="BTC rises")
        make_row(ana, hours=300, status=Status.SKIPPED, skip_reason=SkipReason.TOO_OLD, decision="BTC was old")
        make_thesis(ana, decision="a thesis holds")

        def found(query: str) -> set[str]:
            shown = words_of(page.get(path("list") + query))
            return {name for name in ("ETH rises", "BTC rises", "BTC was old", "a thesis holds") if name in shown}

        assert found("") == {"ETH rises", "BTC rises", "BTC was old", "a thesis holds"}
        assert found("?status=pending") == {"ETH rises", "a thesis holds"}
        assert found("?status=reflected") == {"BTC rises"}
        assert found("?status=skipped") == {"BTC was old"}
        assert found("?asset=eth-usdt") == {"ETH rises"}
        assert found(f"?role={THESIS}") == {"a thesis holds"}
        assert found("?class=logic_error&outcome=wrong") == {"BTC rises"}
        assert found("?lesson=yes") == {"BTC rises"}
        assert "lesson=yes&role=market.spot.momentum" in html(page.get(reverse("roles:list")))
        assert found("?before=2026-06-05") == {"BTC was old"}
        assert found("?class=nonsense&role=who.knows") == set()

    def test_marks_only_the_lessons_that_the_next_prompt_carries(self, page, ana):
        read = make_wrong(ana)
        held = make_wrong(ana, hours=70, lesson="Held.", lesson_held_at=NOON)
        later = make_wrong(ana, hours=20, lesson="Later.", outcome_at=NOON + timedelta(hours=4))
        shown = html(page.get(path("list")))
        assert f'<tr id="entry-{read.pk}" class="in-prompt">' in shown
        for entry in (held, later):
            assert f'<tr id="entry-{entry.pk}">' in shown
        assert "The guard holds the lesson." in shown

    def test_of_another_owner_is_for_operators_who_leave_a_line(self, page, operator_page, ana, ben, olga):
        make_row(ben, decision="Ben's call")
        assert page.get(path("list") + "?owner=ben").status_code == 404
        assert "Ben's call" not in words_of(page.get(path("list")))
        assert "Ben's call" in words_of(operator_page.get(path("list") + "?owner=ben"))
        assert AccessEntry.objects.get().owner == ben

    def test_goes_on_from_page_to_page(self, page, ana):
        for n in range(120):
            make_row(ana, hours=n / 60, decision=f"call {n}.")
        seen, address = [], path("list")
        while address:
            shown = html(page.get(address))
            seen += re.findall(r"call (\d+)\.", shown)
            more = re.search(r'id="role-memory-more" href="([^"]+)"', shown)
            address = more[1] if more else ""
        assert seen == [str(n) for n in range(120)]

    def test_and_all_pages_stay_within_few_queries(self, page, operator_page, ana, ben, django_assert_max_num_queries):
        entries = [make_wrong(ana, hours=30 + n) for n in range(20)] + [make_thesis(ana), make_thesis(ben)]
        addresses = [
            path("list"),
            path("outcomes"),
            reverse("roles:list"),
            role(),
            path("one", entries[0].pk),
        ]
        for client in (page, operator_page):
            client.get("/")
            for address in (*addresses, path("judge", entries[20].pk)):
                with django_assert_max_num_queries(13, info=address):
                    client.get(address)


WHY = [
    ({"hours": 2}, "Too young to be judged. It waits until 13 Jun 2026 10:10, in 22 h."),
    ({}, "It is due. The next reflection of its role looks for its outcome."),
    ({"outcome": Outcome.WRONG}, "Its outcome is known; the reflection is still to come."),
    ({"last_error": "no answer", "next_try_at": NOON + timedelta(hours=1)}, "The last try failed: no answer. The next"),
    ({"last_error": "no_price", "next_try_at": NOON + timedelta(hours=1)}, "of its window. The next try comes in 1 h."),
    (
        {"last_error": "no_price", "created_at": NOON - timedelta(hours=2), "is_backdated": True},
        "Too young to be judged. It waits until 13 Jun 2026 10:10, in 22 h.",
    ),
    ({"status": Status.SKIPPED, "skip_reason": SkipReason.TOO_OLD}, "Expired: the outcome was not known in time."),
    ({"status": Status.SKIPPED, "skip_reason": SkipReason.NO_PRICE}, "No price was close enough to the decision"),
    ({"held_at": NOON}, "The guard holds this decision."),
    ({"role_id": "gone.role"}, "Its role is no longer declared"),
    ({"status": Status.REFLECTED, "outcome": Outcome.RIGHT, "reflected_at": NOON}, "It was right: there is nothing"),
]


class TestOneDecision:
    @table(("fields", "why"), WHY)
    def test_says_why_it_has_no_lesson(self, page, ana, fields, why):
        assert why in words_of(page.get(path("one", make_row(ana, **fields).pk)))

    @table("kind", [Classification.EXOGENOUS, Classification.VARIANCE])
    def test_of_an_untrainable_class_keeps_its_narrative(self, page, ana, kind):
        entry = make_wrong(ana, classification=kind, lesson="", narrative="News broke.")
        shown = words_of(page.get(path("one", entry.pk)))
        assert "News broke." in shown
        assert {"exogenous": "could not have been known", "variance": "within the noise"}[kind] in shown

    def test_shows_both_stages_with_what_they_cost_to_operators_too(self, page, operator_page, ana):
        entry = make_wrong(ana)
        for task, is_repair in (("roles.stage1", False), ("roles.stage1", True), ("roles.stage2", False)):
            make_usage(task, "0.0042", subject=f"role_memory:{entry.pk}", is_repair=is_repair)
        shown = words_of(page.get(path("one", entry.pk)))
        assert "Stage 1, the class model-x 1,200 $0.0042" in shown
        assert "Stage 1, the class, asked again" in shown
        assert "Stage 2, the lesson model-x" in shown
        assert LESSON in shown
        assert "Written once, and never rewritten" in shown
        assert LESSON in words_of(operator_page.get(path("one", entry.pk)))
        assert AccessEntry.objects.get().object_id == str(entry.pk)

    def test_draws_the_price_with_its_window_twice_and_as_a_table(self, page, ana):
        entry = make_wrong(ana)
        points = [Point("BTC", NOON - timedelta(hours=hours), Decimal(60_000 + hours)) for hours in range(10, 66, 2)]
        record_points(points=points, owner_id=ana.pk, source="t", actor="test", now=NOON)
        shown = page.get(path("one", entry.pk))
        assert html(shown).count('class="c-window"') == 2
        assert html(shown).count('class="c-mark-text"') == 4
        assert "Price of BTC: 60,000 at the entry, 58,500 at the outcome" in html(shown)
        assert "60,040" in words_of(shown)
        assert "a price at most 2.4 h later" in words_of(shown)

    def test_shows_how_late_its_prices_came_and_which_ones_stand_there_since_they_were_corrected(self, page, ana):
        decided_at, ended_at = NOON - timedelta(hours=60), NOON - timedelta(hours=36)
        late, later = {"entry_price_at": decided_at + timedelta(minutes=9)}, {"exit_price_at": ended_at}
        entry, sound = make_wrong(ana, **late, **later, price_corrected_at=NOON), make_wrong(ana)
        shown = words_of(page.get(path("one", entry.pk)))
        assert "9 min after the decision" in shown
        assert "after the window's end" not in shown
        assert "The price was corrected since: it is now —. Outcome and lesson stay." in shown
        for at, price in ((decided_at, 61_000), (ended_at, 59_000)):
            record_points(points=[Point("BTC", at, Decimal(price))], owner_id=ana.pk, source="t", actor="t", now=NOON)
        shown = words_of(page.get(path("one", entry.pk)))
        assert "it is now 61,000 → 59,000. Outcome and lesson stay." in shown
        assert "At the decision 60,000" in shown
        assert "corrected" not in words_of(page.get(path("one", sound.pk)))
        late = {"is_backdated": True, "created_at": decided_at + timedelta(hours=5)}
        backdated = make_wrong(ana, **late, entry_price_at=decided_at + timedelta(hours=7))
        shown = words_of(page.get(path("one", backdated.pk)))
        assert "2 h after its arrival" in shown
        assert "Arrived" in shown
        assert words_of(page.get(path("list"))).count("price corrected") == 1

    def test_says_that_no_price_of_its_asset_is_known_while_it_waits_for_one(self, page, ana):
        said = "No price of XYZ:TSLA is known: without one the decision is skipped."
        waiting = make_row(ana, hours=2, asset="XYZ:TSLA", inputs={"asset": "xyz:TSLA", "direction": "bullish"})
        by_hand = make_thesis(ana, hours=2, asset="XYZ:TSLA")
        assert said in words_of(page.get(path("one", waiting.pk)))
        assert said not in words_of(page.get(path("one", by_hand.pk)))
        record_points(
            points=[Point("XYZ:TSLA", NOON, Decimal(400))], owner_id=ana.pk, source="t", actor="test", now=NOON
        )
        assert said not in words_of(page.get(path("one", waiting.pk)))

    def test_shows_evidence_inputs_provenance_and_shadow(self, page, ana):
        inputs = {"asset": "BTC", "levels": [1, 2], "note": "by hand"}
        piece = {"kind": "news", "label": "Headline", "at": NOON.isoformat(), "text": "ETF flows rise"}
        entry = make_row(ana, inputs=inputs, evidence=[piece, "odd"], is_backdated=True, origin="run 7")
        subject, decision = f"role_memory:{entry.pk}", {"outcome": "wrong", "class": "variance", "lesson": ""}
        paid = {"model": "model-x", "cost_usd": 0, "now": NOON}
        record_shadow(capability=ROLE_REFLECTION, subject=subject, owner_id=ana.pk, decision=decision, **paid)
        shown = words_of(page.get(path("one", entry.pk)))
        assert "No prices yet" in shown
        assert "Outcome Wrong Class random variation (variance)" in shown
        for words in ("[1, 2]", "by hand", "ETF flows rise", "backdated", "run 7", "Shadow mode"):
            assert words in shown

    def test_is_text_and_nothing_else_whatever_it_holds(self, page, ana):
        hostile = "<script>alert(1)</script>{{ 7*7 }}{pnl}\u202e" + "x" * 3000
        piece = {"kind": hostile, "label": hostile, "at": hostile, "text": hostile}
        entry = make_wrong(
            ana,
            decision=hostile,
            inputs={hostile: hostile},
            narrative=hostile,
            lesson=hostile,
            evidence=[piece],
        )
        for address in (path("one", entry.pk), path("list")):
            shown = page.get(address).content.decode()
            assert "<script>alert" not in shown
            assert "{{ 7*7 }}" in shown


class TestOutcomes:
    def test_lists_what_is_old_enough_the_oldest_first(self, page, ana):
        assert "Nothing waits for you" in words_of(page.get(path("outcomes")))
        for hours, words in ((30, "newer"), (60, "older"), (2, "young")):
            make_thesis(ana, hours=hours, decision=words)
        shown = words_of(page.get(path("outcomes")))
        assert "0 marked by you today, 2 left" in shown
        assert shown.index("older") < shown.index("newer")
        assert "young" not in shown

    @table(("correct", "status"), [("yes", Status.REFLECTED), ("no", Status.PENDING)])
    def test_a_word_is_kept_the_next_one_comes_and_it_takes_effect_after_ten_seconds(self, page, ana, correct, status):
        first, second = make_thesis(ana, hours=60), make_thesis(ana, hours=30)
        body = {"correct": correct, "pnl_pct": "−1.5", "note": "fees fell", "next": path("judge", second.pk)}
        answer = page.post(path("mark", first.pk), body)
        assert (answer.status_code, answer.url) == (303, path("judge", second.pk))
        shown = page.get(answer.url)
        assert "1 marked by you today, 1 left" in words_of(shown)
        assert "You can undo this for 10 seconds. After that it is final." in words_of(shown)
        assert f'action="{path("undo", first.pk)}" data-undo' in html(shown)
        for address in (path("judge", first.pk), path("one", first.pk), path("list")):
            assert "Takes effect in a moment." in words_of(page.get(address))
        assert 'name="correct"' not in html(page.get(path("judge", first.pk)))
        assert page.post(path("mark", first.pk), body).status_code == 409
        first.refresh_from_db()
        assert (first.status, first.outcome, first.pnl_pct) == (Status.PENDING, None, None)
        with time_machine.travel(NOON + timedelta(seconds=10), tick=False):  # and no worker runs
            assert "Takes effect" not in words_of(page.get(path("list")))
        first.refresh_from_db()
        assert (first.status, first.pnl_pct, first.outcome_note) == (status, -1.5, "fees fell")

    def test_it_can_be_undone_until_then_and_says_when_it_is_too_late(self, page, ana):
        entry = make_thesis(ana)
        for seconds, said in ((9.9, "Undone"), (10, "the outcome is final")):
            page.post(path("mark", entry.pk), {"correct": "yes"})
            with time_machine.travel(NOON + timedelta(seconds=seconds), tick=False):
                answer = page.post(path("undo", entry.pk), follow=True)
            assert said in words_of(answer)
            assert ('name="correct"' in html(answer)) is (seconds < 10)
        entry.refresh_from_db()
        assert entry.outcome == Outcome.RIGHT

    def test_what_cannot_be_read_comes_back_with_the_form(self, page, ana):
        entry = make_thesis(ana)
        for body in (
            {"correct": "maybe"},
            {"correct": "yes", "pnl_pct": "lots"},
            {"correct": "no", "note": "x" * 501},
        ):
            answer = page.post(path("mark", entry.pk), {"note": "kept", **body})
            assert answer.status_code == 422
            assert "Nothing is stored yet" in words_of(answer)
        entry.refresh_from_db()
        assert entry.outcome is None
        assert 'value="kept"' in html(page.post(path("mark", entry.pk), {"note": "kept"}))

    def test_home_says_how_many_wait(self, page, operator_page, ana, ben):
        make_thesis(ana)
        make_thesis(ben)
        assert "1 outcome to mark" in words_of(page.get("/"))
        assert "2 outcomes to mark" in words_of(operator_page.get("/"))
        assert "to mark" not in words_of(visitor(ana).get("/")).replace("1 outcome to mark", "")

    def test_htmx_gets_the_decision_alone(self, page, ana):
        entry = make_thesis(ana)
        alone = page.get(path("judge", entry.pk), headers={"HX-Request": "true", "HX-Target": "outcome"})
        assert alone.content.decode().lstrip().startswith(f'<header data-shown-row="outcome-{entry.pk}"')
