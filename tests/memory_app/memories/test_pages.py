"""The pages of memories, without JavaScript and as HTMX asks for them."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memory_app.facts.services import consolidate_pending
from memory_app.index import selectors
from memory_app.index.adapters.sql import SearchTooSlow
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services import Changes, Draft, delete_memories, edit_memory, restore_memories, write_memory
from minara_site.access.models import AccessEntry, ApiKey, User
from minara_site.kernel import counts
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.changes.services import apply_set
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.shell import owners
from profile_app.prompt.services import end_session, start_session
from tests.kit.clock import NOON
from tests.kit.page import rows_of, toasts_of, undo_of, words_of
from tests.kit.tables import table
from tests.kit.undo import last_set
from tests.memory_app.facts.factories import make_fact
from tests.memory_app.memories.factories import browser, make_many, make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]


@pytest.fixture
def console(operator_page):
    """An operator's browser."""
    return operator_page


def path(name, *args):
    return reverse(f"memories:{name}", args=args)


def contents(response):
    """Return the numbers of `Memory number N` in the order of the list."""
    return [int(n) for n in re.findall(r"Memory number (\d+)</a>", response.content.decode())]


class TestList:
    @pytest.mark.database
    def test_shows_the_newest_change_first_with_source_state_and_cost(self, page, ana):
        make_memory(ana, "Older", at=NOON - timedelta(days=2))
        make_memory(
            ana,
            "Newer",
            category=Category.LESSON,
            source=Source.INFERRED,
            at=NOON - timedelta(hours=1),
        )
        first, second = rows_of(page.get(path("list")), "memory")
        assert first.startswith("lesson Newer in the next prompt Inferred Active")
        assert "1 h ago" in first
        assert second.startswith("personalization Older in the next prompt You wrote Active")

    def test_an_import_is_named_as_one_and_keeps_its_source(self, page, ana):
        memory = make_memory(ana, source=Source.USER_EXPLICIT, origin="import:MEMORY.md:12")
        assert "Imported" in rows_of(page.get(path("list")), "memory")[0]
        shown = words_of(page.get(path("one", memory.pk)))
        assert "You said Imported" in shown
        assert "import:MEMORY.md:12" in shown

    @pytest.mark.database
    def test_a_tab_counts_its_rows_up_to_a_bound(self, page, ana, monkeypatch):
        monkeypatch.setattr(counts, "MAX_COUNTED", 2)
        make_many(ana, 3)
        make_many(ana, 2, deleted_at=NOON)
        tabs = re.search(r'id="memories-tabs".*?</nav>', page.get(path("list")).content.decode())[0]
        counted = dict(re.findall(r">(\w+)(?: <span class=\"n\">(\d+)</span>)?</a>", tabs))
        assert counted == {"Active": "", "Held": "0", "Retired": "0", "Deleted": "2"}

    def test_each_says_what_an_empty_one_means(self, page, ana):
        assert "Nothing yet" in words_of(page.get(path("list")))
        assert "The trash is empty" in words_of(page.get(path("trash")))
        make_memory(ana)
        assert "Nothing matches" in words_of(page.get(path("list") + "?category=alert"))

    @pytest.mark.database
    def test_filters_come_from_the_address(self, page, ana):
        make_memory(ana, "A", category=Category.LESSON, source=Source.INFERRED, at=NOON - timedelta(days=10))
        make_memory(
            ana,
            "B",
            category=Category.ALERT,
            source=Source.AGENT_RECORDED,
            at=NOON - timedelta(days=5),
        )
        make_memory(ana, "C", source=Source.USER_EXPLICIT, origin="import:x.jsonl:1", at=NOON)

        def shown(query):
            return "".join(
                sorted(
                    re.findall(
                        r"\b([ABC])</a>",
                        page.get(path("list") + query).content.decode(),
                    )
                )
            )

        assert shown("") == "ABC"
        assert shown("?category=lesson") == "A"
        assert shown("?category=lesson&category=alert") == "AB"
        assert shown("?source=agent_recorded") == "B"
        assert shown("?source=imported") == "C"
        assert shown("?source=imported&source=inferred") == "AC"
        assert shown("?after=2026-06-07") == "BC"
        assert shown("?before=2026-06-07") == "A"
        assert shown("?after=2026-06-07&before=2026-06-08") == "B"

    @pytest.mark.database
    def test_the_deleted_tab_shows_what_can_be_restored(self, page, ana):
        make_memory(ana, "Live")
        make_memory(ana, "Gone", deleted_at=NOON - timedelta(days=29, hours=23, minutes=59))
        make_memory(ana, "Past its time", deleted_at=NOON - timedelta(days=30))
        response = page.get(path("list") + "?state=deleted")
        assert [row.split()[1] for row in rows_of(response, "memory")] == ["Gone"]
        assert "Active 1 Held 0 Retired 0 Deleted 1" in words_of(response)
        assert 'value="restore"' in response.content.decode()
        assert 'value="delete"' not in response.content.decode()

    def test_what_an_agent_noted_can_be_corrected_and_deleted_but_not_edited(self, page, ana):
        lesson = make_memory(ana, category=Category.LESSON)
        body = page.get(path("list")).content.decode()
        assert 'name="ids"' in body
        assert f"{path('new')}?corrects={lesson.pk}" in body
        assert path("delete", lesson.pk) in body
        assert path("edit", lesson.pk) not in body

    def test_what_its_owner_deleted_before_says_so_here_and_on_its_page(self, page, ana):
        noted = {"source": Source.AGENT_RECORDED, "category": Category.LESSON, "actor": "key:abcd1234"}
        page.post(path("delete", make_memory(ana, **noted).pk))
        again = make_memory(ana, **noted)
        assert "You deleted this before" in rows_of(page.get(path("list")), "memory")[0]
        said = "You deleted this before A memory of the same words was deleted on 12 Jun 2026 12:00"
        assert said in words_of(page.get(path("one", again.pk)))

    def test_what_came_with_the_demo_says_so(self, page, ana):
        make_memory(ana, is_demo=True)
        assert "demo, in the next prompt" in rows_of(page.get(path("list")), "memory")[0]

    def test_hidden_characters_and_markup_are_shown(self, page, ana):
        make_memory(ana, "<b>bold</b> and\u200bhidden")
        body = page.get(path("list")).content.decode()
        assert "&lt;b&gt;bold&lt;/b&gt;" in body
        assert 'data-hid="U+200B"' in body


@pytest.mark.database
class TestSearching:
    def test_the_box_narrows_the_list_and_marks_what_it_found(self, page, ana):
        make_memory(ana, "Trail BTC stops by 8%", at=NOON - timedelta(days=1))
        make_memory(ana, "山寨币止损必须随开仓一起下单")
        make_memory(ana, "Nothing of the kind")
        response = page.get(path("list"), {"q": "stop OR 止损"})
        assert [row.split()[1] for row in rows_of(response, "memory")] == ["山寨币", "Trail"]
        assert "<mark>stops</mark>" in response.content.decode()
        assert "<mark>止损</mark>" in response.content.decode()

    def test_filters_go_together_with_it(self, page, ana):
        make_memory(ana, "BTC lesson", category=Category.LESSON)
        make_memory(ana, "BTC alert", category=Category.ALERT)
        assert len(rows_of(page.get(path("list"), {"q": "btc", "category": "lesson"}), "memory")) == 1
        assert len(rows_of(page.get(path("list"), {"q": "btc category:alert"}), "memory")) == 1
        assert "There is no category “mood”." in words_of(page.get(path("list"), {"q": "btc category:mood"}))

    def test_deleted_ones_are_found_where_they_are(self, page, ana):
        make_memory(ana, "BTC lives")
        make_memory(ana, "BTC is gone", deleted_at=NOON)
        assert len(rows_of(page.get(path("list"), {"q": "btc"}), "memory")) == 1
        assert len(rows_of(page.get(path("list"), {"q": "btc", "state": "deleted"}), "memory")) == 1
        assert "<mark>BTC</mark> is gone" in page.get(path("trash"), {"q": "btc"}).content.decode()


class TestReading:
    """The note at the end of a row: whether the agent reads it, and why not."""

    def note(self, page, text):
        return next(row for row in rows_of(page.get(path("list")), "memory") if text in row)

    def edge(self, page, memory):
        return f'<tr id="memory-{memory.pk}" class="in-prompt">' in page.get(path("list")).content.decode()

    def test_without_a_session_the_next_one_counts(self, page, ana):
        make_many(ana, 70, category=Category.OBSERVATION, source=Source.CHAT_EXTRACTED)
        response = page.get(path("list"))
        assert "50 are in the prompt" in words_of(response)
        assert "in the next prompt" in rows_of(response, "memory")[49]
        more = unescape(re.search(r'id="memories-more" href="([^"]+)"', response.content.decode())[1])
        assert "left out: older than the newest 50" in rows_of(page.get(more), "memory")[0]
        for asked in ({}, {"HX-Request": "true"}):  # the note speaks of the whole list, not of the rows that came last
            assert "50 are in the prompt" in words_of(page.get(more, headers=asked))

    def test_a_running_session_counts_as_it_was_frozen(self, page, ana):
        frozen = make_memory(ana, "Frozen", at=NOON - timedelta(days=1))
        edited = make_memory(ana, "Edited", at=NOON - timedelta(days=1))
        session = start_session(owner=ana, title="", actor="test", now=NOON - timedelta(hours=1)).session
        late = make_memory(ana, "Late", at=NOON - timedelta(minutes=1))
        edit_memory(
            principal=browser(ana),
            memory_id=edited.pk,
            changes=Changes(content="Edited twice"),
            now=NOON,
        )
        assert "in the prompt You wrote" in self.note(page, "Frozen")
        assert "in the prompt with its older words" in self.note(page, "Edited")
        assert "since the session began" in self.note(page, "Late")
        assert [self.edge(page, memory) for memory in (frozen, edited, late)] == [True, True, False]
        end_session(owner=ana, session_id=session.pk, actor="test", now=NOON)
        assert "in the next prompt" in self.note(page, "Late")

    def test_a_deleted_memory_stays_in_the_running_session(self, page, ana):
        memory = make_memory(ana, at=NOON - timedelta(days=1))
        start_session(owner=ana, title="", actor="test", now=NOON - timedelta(hours=1))
        delete_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=NOON)
        assert "in the prompt until the session ends" in rows_of(page.get(path("list") + "?state=deleted"), "memory")[0]

    def test_what_was_restored_or_imported_later_is_not_called_too_old(self, page, ana):
        """Its words are older than the session; it was not there when the prompt was frozen."""
        memory = make_memory(
            ana,
            "Restored",
            at=NOON - timedelta(days=9),
            deleted_at=NOON - timedelta(days=1),
        )
        start_session(owner=ana, title="", actor="test", now=NOON - timedelta(hours=1))
        restore_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=NOON)
        assert "since the session began" in self.note(page, "Restored")

    def test_beside_a_full_prompt_the_older_ones_are_called_too_old(self, page, ana):
        rows = make_many(ana, 71, at=NOON - timedelta(days=1))
        start_session(owner=ana, title="", actor="test", now=NOON - timedelta(hours=1))
        assert "left out: older than the newest 50" in words_of(page.get(path("one", rows[-1].pk)))

    def test_a_retired_fact_is_left_out(self, page, ana):
        make_memory(ana, category=Category.FACT, source=Source.AGENT_RECORDED, fact_state="retired", retired_at=NOON)
        assert rows_of(page.get(path("list")), "memory") == []
        assert "left out: retired" in rows_of(page.get(path("list") + "?state=retired"), "memory")[0]


class TestOne:
    def test_shows_the_text_its_provenance_and_what_deleting_changes(self, page, ana):
        memory = make_memory(ana, "Trail BTC by 8%", tickers=["BTC"], fact_type="risk", origin="")
        shown = words_of(page.get(path("one", memory.pk)))
        for words in (
            f"Memory {memory.pk} Active",
            "personalization You wrote in the next prompt version 1",
            "[personalization] Trail BTC by 8%",
            "Written by you",
            "Out of typed by hand",
            "Label risk",
            "Tickers BTC",
            memory.content_hash[:12],
            "If you delete it The next session reads another memory in its place",
            "It can be restored for 30 days.",
        ):
            assert words in shown

    def test_says_that_deleting_a_retired_fact_changes_nothing_for_the_agent(self, console, olga):
        fact = make_memory(olga, category=Category.FACT, fact_state="retired", retired_at=NOON)
        assert "a retired fact is not read" in words_of(console.get(path("one", fact.pk)))

    def test_says_to_its_owner_alone_that_what_they_delete_comes_back_as_a_proposal(self, page, console, ana):
        memory, own = make_memory(ana, source=Source.AGENT_RECORDED), make_memory(ana, "Typed by hand")
        said = "writes these words again within that time only proposes"
        views = (page, memory), (console, memory), (page, own)
        assert [said in words_of(view.get(path("one", row.pk))) for view, row in views] == [True, False, False]

    def test_history_shows_each_change_and_lets_its_owner_revert(self, page, ana):
        memory = make_memory(ana, "Trail BTC by 5%", at=NOON - timedelta(days=1))
        changes = Changes(content="Trail BTC by 8%")
        edit_memory(
            principal=browser(ana),
            memory_id=memory.pk,
            changes=changes,
            now=NOON,
            reason="too tight",
        )
        response = page.get(path("one", memory.pk))
        assert "Trail BTC by <del>5</del><ins>8</ins>%" in response.content.decode()
        assert "Version 2 you: “too tight”" in words_of(response)
        assert f"{path('revert', memory.pk, 1)}?version=2" in response.content.decode()
        assert path("revert", memory.pk, 2) not in response.content.decode()

    def test_a_deleted_one_says_who_when_and_how_long_and_offers_to_restore(self, page, ana, olga):
        memory = make_memory(ana)
        when = NOON - timedelta(days=2)
        delete_memories(principal=browser(olga), owner=ana, ids=[memory.pk], now=when, reason="outdated")
        shown = words_of(page.get(path("one", memory.pk)))
        assert "Deleted, 28 d left" in shown
        assert "Deleted by olga, 10 Jun 2026 12:00" in shown
        assert "outdated" in shown
        assert "Restore" in shown
        assert path("edit", memory.pk) not in page.get(path("one", memory.pk)).content.decode()

    def test_past_its_retention_it_is_gone(self, page, ana):
        memory = make_memory(ana, deleted_at=NOON - timedelta(days=30))
        assert page.get(path("one", memory.pk)).status_code == 404

    @table(
        ("actor", "name"),
        [
            ("key:abcd1234", "API key abcd1234"),
            ("job:profile.rebuild", "the job profile.rebuild"),
            ("command:import", "the command line"),
            ("user:999999", "a user who is gone"),
            ("system", "system"),
        ],
    )
    def test_every_kind_of_writer_has_a_name(self, page, ana, actor, name):
        memory = make_memory(ana, source=Source.INFERRED)
        Memory.objects.update(actor=actor)
        shown = words_of(page.get(path("one", memory.pk)))
        assert f"Written by {name} " in shown
        assert "Out of not recorded" in shown

    def test_a_key_is_called_by_its_label_and_says_why_it_wrote(self, page, ana):
        ApiKey.objects.create(
            prefix="abcd1234",
            secret_sha256="0" * 64,
            user=ana,
            label="Hermes",
            created_at=NOON,
        )
        provenance = Provenance(Source.AGENT_RECORDED, "key:abcd1234", "")
        draft = Draft(Category.LESSON, "Trail BTC by 8%", provenance)
        memory = write_memory(owner_id=ana.pk, draft=draft, now=NOON, reasoning="Ana said so twice")
        shown = words_of(page.get(path("one", memory.pk)))
        assert "Written by Hermes, API key abcd1234 Why Ana said so twice" in shown


class TestTelling:
    def test_stores_what_the_user_states_as_theirs(self, page, ana):
        response = page.post(
            path("new"),
            {"statement": "I hold ETH\r\nfor years", "tickers": "eth, btc;EUR/USD", "fact_type": "habit"},
        )
        memory = Memory.objects.get()
        assert (response.status_code, response["Location"]) == (303, path("one", memory.pk))
        assert (memory.owner, memory.category, memory.source) == (ana, "personalization", "user_manual")
        assert (memory.content, memory.tickers) == ("I hold ETH\nfor years", ["ETH", "BTC", "EUR/USD"])
        assert (memory.fact_type, memory.actor, memory.origin) == ("habit", f"user:{ana.pk}", "")
        shown = page.get(response["Location"])
        assert toasts_of(shown) == ["Stored. The next session reads it."]
        page.post(undo_of(shown))
        assert not Memory.objects.live().exists()

    @table(
        ("wrong", "field"),
        [
            ({"statement": "   "}, "statement"),
            ({"statement": "a\0b"}, "statement"),
            ({"tickers": "no-ticker!"}, "tickers"),
            ({"fact_type": "x" * 65}, "fact_type"),
        ],
    )
    def test_an_error_stands_beside_its_field_and_nothing_typed_is_lost(self, page, wrong, field):
        typed = {"statement": "My statement", "tickers": "BTC", "fact_type": "habit"} | wrong
        response = page.post(path("new"), typed)
        body = response.content.decode()
        assert response.status_code == 422
        assert f'id="id_{field}_error"' in body
        assert re.search(rf'<(?:textarea|input)[^>]*name="{field}"[^>]*aria-invalid="true"', body)
        for name in {"tickers", "fact_type"} - {field}:
            assert f'value="{typed[name]}"' in body
        if field != "statement":
            assert "My statement</textarea>" in body
        assert not Memory.objects.exists()

    def test_four_thousand_characters_fit_however_the_browser_ends_its_lines(self, page):
        assert page.post(path("new"), {"statement": "ab\r\n" * 1333 + "c"}).status_code == 303
        assert len(Memory.objects.get().content) == 4000

    def test_a_form_without_a_statement_is_refused_and_not_shown_anew(self, page, ana):
        assert page.post(path("new")).status_code == 422
        assert page.post(path("edit", make_memory(ana).pk)).status_code == 422

    def test_counts_characters_and_tokens(self, page):
        response = page.post(path("count"), {"statement": "止损 BTC"}, headers={"HX-Request": "true"})
        assert words_of(response) == "6 characters, about 3 tokens"

    def test_correcting_writes_a_memory_of_ones_own(self, page, ana):
        lesson = make_memory(ana, "Trail by 5%", category=Category.LESSON, source=Source.INFERRED, tickers=["BTC"])
        form = page.get(path("new") + f"?corrects={lesson.pk}").content.decode()
        assert "Trail by 5%</textarea>" in form
        assert 'value="BTC"' in form
        response = page.post(path("new") + f"?corrects={lesson.pk}", {"statement": "Trail by 8%"})
        assert toasts_of(page.get(response["Location"]))[0].startswith(f"Yours takes the place of memory {lesson.pk}")
        memory = Memory.objects.exclude(pk=lesson.pk).get()
        assert (memory.source, memory.origin) == ("user_manual", f"memory:{lesson.pk}")
        assert f"memory {lesson.pk} , which it corrects" in words_of(page.get(path("one", memory.pk)))
        lesson.refresh_from_db()
        assert lesson.content == "Trail by 5%"

    @pytest.mark.database
    @table("is_settled", [True, False])
    def test_correcting_a_fact_says_what_it_retires_shows_both_and_is_undone(self, page, ana, is_settled):
        fact = make_fact(ana, "Prefers daily charts")
        if is_settled:
            consolidate_pending(now=NOON)
        before = Memory.objects.values().get()
        make_many(ana, 60, at=NOON + timedelta(days=1))
        response = page.post(path("new") + f"?corrects={fact.pk}", {"statement": "Prefers weekly charts"})
        shown = page.get(response["Location"])
        assert toasts_of(shown) == [f"Memory {fact.pk} is retired in favour of yours."]
        pair = "Prefers weekly charts You wrote Active fact Prefers daily charts Agent Retired"
        assert pair in words_of(shown)
        back = page.post(undo_of(shown), {"next": path("list")})
        assert toasts_of(page.get(back["Location"])) == ["Undone for 2 memories."]
        assert Memory.objects.values().get(pk=fact.pk) == before
        assert Memory.objects.get(content="Prefers weekly charts").deleted_at == NOON
        assert page.post(undo_of(shown)).status_code == 409

    @table("asked", ["x", "", "-1", "9" * 30])
    def test_nothing_else_can_be_corrected(self, page, asked):
        assert page.get(path("new") + f"?corrects={asked}").status_code == 404


class TestEditing:
    @pytest.fixture
    def memory(self, ana):
        return make_memory(
            ana,
            "Trail BTC by 5%",
            tickers=["BTC"],
            fact_type="risk",
            at=NOON - timedelta(days=1),
        )

    def typed(self, **changes):
        return {"statement": "Trail BTC by 8%", "tickers": "BTC", "fact_type": "risk", "version": "1"} | changes

    def test_the_form_holds_what_is_stored(self, page, memory):
        body = page.get(path("edit", memory.pk)).content.decode()
        assert "Trail BTC by 5%</textarea>" in body
        assert re.search(r'name="version"[^>]*value="1"', body)
        assert re.search(r'name="tickers"[^>]*value="BTC"', body)

    def test_saves_and_leads_to_the_memory_with_an_undo(self, page, memory):
        response = page.post(path("edit", memory.pk), self.typed(reason="too tight"))
        assert (response.status_code, response["Location"]) == (303, path("one", memory.pk))
        shown = page.get(response["Location"])
        assert toasts_of(shown) == ["Saved as version 2."]
        assert "too tight" in words_of(shown)
        assert page.post(unescape(undo_of(shown))).status_code == 303
        memory.refresh_from_db()
        assert (memory.content, memory.version) == ("Trail BTC by 5%", 3)

    def test_says_when_nothing_changed(self, page, memory):
        response = page.post(path("edit", memory.pk), self.typed(statement="Trail BTC by 5%"))
        assert toasts_of(page.get(response["Location"])) == ["Nothing changed."]

    def test_in_a_row_it_answers_the_form_until_it_is_right_and_then_the_row(self, page, memory):
        in_row = {
            "HX-Request": "true",
            "HX-Target": f"memory-{memory.pk}",
            "HX-Current-URL": f"http://testserver{path('list')}?category=personalization",
        }
        form = page.get(path("edit", memory.pk), headers=in_row).content.decode()
        assert form.lstrip().startswith("<tr")
        assert 'colspan="7"' in form
        refused = page.post(path("edit", memory.pk), self.typed(statement=""), headers=in_row)
        assert refused.status_code == 422
        assert refused.content.decode().lstrip().startswith("<tr")
        saved = page.post(path("edit", memory.pk), self.typed(), headers=in_row).content.decode()
        assert saved.lstrip().startswith(f'<tr id="memory-{memory.pk}"')
        assert "Trail BTC by 8%" in saved
        assert 'id="toasts"' in saved
        assert '<span id="memories-total" hx-swap-oob="true">1</span>' in saved

    def test_on_its_page_it_answers_the_form_and_then_goes_there(self, page, memory):
        in_panel = {"HX-Request": "true", "HX-Target": "text"}
        form = page.get(path("edit", memory.pk), headers=in_panel).content.decode()
        assert '<form class="panel panel-body stack" id="text"' in form
        saved = page.post(path("edit", memory.pk), self.typed(), headers=in_panel)
        assert saved["HX-Redirect"] == path("one", memory.pk)

    @table("version", ["", "x", "0", "-1", "9" * 40])
    def test_a_form_without_its_version_changes_nothing(self, page, memory, version):
        response = page.post(path("edit", memory.pk), self.typed(version=version))
        assert response.status_code == 422
        memory.refresh_from_db()
        assert memory.version == 1

    def test_what_the_agent_noticed_cannot_be_edited(self, page, ana):
        lesson = make_memory(ana, category=Category.LESSON)
        for method in (page.get, page.post):
            response = method(path("edit", lesson.pk), self.typed())
            assert response.status_code == 403
            assert "Only what you typed yourself" in words_of(response)

    def test_a_deleted_one_is_restored_before_it_is_edited(self, page, ana):
        gone = make_memory(ana, deleted_at=NOON)
        assert page.get(path("edit", gone.pk))["Location"] == path("one", gone.pk)


class TestReasonsOfTheProduct:
    """What services note is a code, said in the language of whoever reads it."""

    def test_a_revert_names_its_version_in_the_readers_language(self, page, ana):
        memory = make_memory(ana, "Before")
        edit_memory(principal=browser(ana), memory_id=memory.pk, changes=Changes(content="After"), now=NOON)
        page.post(path("revert", memory.pk, 1) + "?version=2")
        shown = page.get(path("one", memory.pk))
        assert "“Back to version 1”" in words_of(shown)
        page.post(unescape(undo_of(shown)))
        assert Memory.objects.get().content == "After"
        ana.language = "zh-hans"
        ana.save()
        shown = words_of(page.get(path("one", memory.pk)))
        assert "“还原到版本 1”" in shown
        assert "version:1" not in words_of(page.get("/"))

    def test_an_undo_says_so(self, page, ana):
        memory = make_memory(ana)
        first = delete_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=NOON).change_set
        page.post(reverse("undo", args=[first]))
        page.post(reverse("undo", args=[last_set("memory", memory).pk]))
        assert Memory.objects.get().deleted_at == NOON
        assert "you" in rows_of(page.get(path("trash")), "memory")[0]


class TestConflict:
    @pytest.fixture
    def memory(self, ana):
        """A memory that somebody changed while Ana typed."""
        memory = make_memory(ana, "Trail BTC by 5%", tickers=["BTC"], at=NOON - timedelta(days=1))
        changes = Changes(content="Trail BTC by 8%", fact_type="risk")
        edit_memory(principal=browser(ana), memory_id=memory.pk, changes=changes, now=NOON)
        return memory

    def post(self, page, memory, statement, **headers):
        typed = {"statement": statement, "tickers": "ETH", "fact_type": "", "version": "1", "reason": "mine"}
        return page.post(path("edit", memory.pk), typed, headers=headers)

    def test_shows_mine_theirs_and_base_and_loses_nothing(self, page, memory):
        response = self.post(page, memory, "Trail BTC by 6%")
        body = response.content.decode()
        assert response.status_code == 409
        assert "Trail BTC by <del>5</del><ins>6</ins>%" in body
        assert "Trail BTC by <del>5</del><ins>8</ins>%" in body
        assert "Both changed the same words" in words_of(response)
        assert "Trail BTC by 6%</textarea>" in body
        assert 'name="tickers" value="ETH"' in body
        memory.refresh_from_db()
        assert (memory.content, memory.version) == ("Trail BTC by 8%", 2)

    def test_offers_both_changes_where_they_fit_together(self, page, memory):
        response = self.post(page, memory, "Trail BTC and ETH by 5%")
        body = response.content.decode()
        assert "Both changes fit together" in words_of(response)
        assert "Trail BTC and ETH by 8%</textarea>" in body
        assert re.search(r'name="fact_type" value="risk"', body)

    def test_saving_mine_makes_a_version_on_top_of_theirs(self, page, ana, memory):
        response = self.post(page, memory, "Trail BTC by 6%")
        panel = response.content.decode().split('<h2 id="my-text">')[1].split("Save yours")[0]
        mine = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', panel))
        mine.pop("csrfmiddlewaretoken")
        typed = {"statement": "Trail BTC by 6%", "fact_type": "", "tickers": "ETH", "reason": "mine"}
        assert mine == typed | {"version": "2", "sure": ""}
        assert page.post(path("edit", memory.pk), mine).status_code == 303
        memory.refresh_from_db()
        assert (memory.content, memory.version) == ("Trail BTC by 6%", 3)
        assert set(memory.revisions.values_list("content", flat=True)) == {"Trail BTC by 5%", "Trail BTC by 8%"}

    def test_under_htmx_it_takes_the_place_of_the_page(self, page, memory):
        response = self.post(page, memory, "Mine", **{"HX-Request": "true", "HX-Target": f"memory-{memory.pk}"})
        assert (response.status_code, response["HX-Retarget"]) == (409, "#main")
        assert response.content.decode().lstrip().startswith('<div class="page-head">')

    def test_a_memory_deleted_meanwhile_lets_the_text_be_kept_as_a_new_one(self, page, ana, memory):
        delete_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=NOON)
        response = self.post(page, memory, "Trail BTC by 6%")
        assert response.status_code == 409
        assert "deleted while you typed" in words_of(response)
        assert f'action="{path("new")}"' in response.content.decode()
        assert "Trail BTC by 6%</textarea>" in response.content.decode()
        memory.refresh_from_db()
        assert memory.content == "Trail BTC by 8%"

    def test_reverting_a_memory_that_changed_meanwhile_shows_it_as_it_is(self, page, memory):
        response = page.post(path("revert", memory.pk, 1) + "?version=1")
        assert response.status_code == 409
        assert "This changed since you opened it" in words_of(response)
        assert "Trail BTC by 8%" in words_of(response)
        memory.refresh_from_db()
        assert memory.version == 2

    @table("query", ["", "?version=", "?version=x", "?version=-1", f"?version={'9' * 30}"])
    def test_reverting_needs_the_version_that_was_seen(self, page, memory, query):
        assert page.post(path("revert", memory.pk, 1) + query).status_code == 400


class TestRemoving:
    def test_deletes_at_once_and_offers_one_undo(self, page, ana):
        memory = make_memory(ana)
        response = page.post(path("delete", memory.pk), {"next": path("list") + "?category=personalization"})
        assert (response.status_code, response["Location"]) == (303, "/memories/?category=personalization")
        shown = page.get(response["Location"])
        assert toasts_of(shown) == ["Deleted 1 memory. It can be restored for 30 days."]
        back = page.post(undo_of(shown), {"next": path("list")})
        assert toasts_of(page.get(back["Location"])) == ["Undone for 1 memory."]
        assert Memory.objects.get().deleted_at is None

    def test_from_its_own_page_one_stays_there(self, page, ana):
        memory = make_memory(ana)
        assert page.post(path("delete", memory.pk))["Location"] == path("one", memory.pk)
        assert page.post(path("restore", memory.pk))["Location"] == path("one", memory.pk)
        assert Memory.objects.get().deleted_at is None

    def test_twice_says_that_nothing_changed(self, page, ana):
        memory = make_memory(ana, deleted_at=NOON)
        shown = page.get(page.post(path("delete", memory.pk))["Location"])
        assert toasts_of(shown) == ["Nothing changed; it was so already."]
        assert "data-undo" not in shown.content.decode()

    def test_from_a_row_the_row_leaves_and_the_message_comes(self, page, ana):
        one, _two = make_many(ana, 2)
        in_row = {
            "HX-Request": "true",
            "HX-Target": f"memory-{one.pk}",
            "HX-Current-URL": f"http://testserver{path('list')}",
        }
        body = page.post(path("delete", one.pk), headers=in_row).content.decode()
        assert "<tr" not in body
        assert '<span id="memories-note" hx-swap-oob="true">1 is in the prompt</span>' in body
        assert "Deleted 1 memory." in body
        in_trash = in_row | {"HX-Current-URL": f"http://testserver{path('trash')}"}
        body = page.post(path("restore", one.pk), headers=in_trash).content.decode()
        assert '<span id="trash-total" hx-swap-oob="true">0</span>' in body
        assert "Restored 1 memory." in body

    def test_the_address_alone_asks_first(self, page, ana):
        memory = make_memory(ana, "Trail BTC")
        response = page.get(path("delete", memory.pk))
        assert "Delete 1 memory?" in words_of(response)
        assert "Trail BTC" in words_of(response)
        assert Memory.objects.get().deleted_at is None


class TestBulk:
    def post(self, page, memories=(), **fields):
        ids = [memory.pk for memory in memories]
        return page.post(path("bulk"), {"action": "delete", "ids": ids, "next": path("list")} | fields)

    def test_restores_what_is_checked_in_the_trash(self, page, ana):
        memories = make_many(ana, 3, deleted_at=NOON)
        shown = page.get(self.post(page, memories[:2], action="restore", next=path("trash"))["Location"])
        assert toasts_of(shown) == ["Restored 2 memories."]
        assert contents(shown) == [2]

    @pytest.mark.database
    def test_one_foreign_or_unknown_id_changes_nothing(self, page, ana, ben):
        memories = make_many(ana, 9)
        for pk in (make_memory(ben).pk, 2**60, "9" * 18, "x", "-1", "1e3"):
            assert self.post(page, [*memories, Memory(pk=pk)]).status_code == 404
        assert not Memory.objects.deleted().exists()

    @pytest.mark.database
    def test_all_that_match_are_those_of_the_filter(self, page, ana, ben):
        make_many(ana, 3, at=NOON - timedelta(days=5))
        new = make_many(ana, 55)
        make_many(ben, 3)
        shown = page.get(self.post(page, all="1", filter="after=2026-06-10")["Location"])
        assert toasts_of(shown) == ["Deleted 55 memories. They can be restored for 30 days."]
        assert set(Memory.objects.deleted().values_list("pk", flat=True)) == {memory.pk for memory in new}

    def test_of_all_in_the_trash_what_an_operator_deleted_stays_and_is_named(self, page, ana, olga):
        mine, lesson = make_memory(ana, category=Category.LESSON), make_memory(ana, "No", category=Category.LESSON)
        delete_memories(principal=browser(ana), owner=ana, ids=[mine.pk], now=NOON)
        delete_memories(principal=browser(olga), owner=ana, ids=[lesson.pk], now=NOON)
        body = page.get(path("trash")).content.decode()
        assert path("restore", mine.pk) in body
        assert path("restore", lesson.pk) not in body
        shown = page.get(self.post(page, action="restore", all="1", filter="state=deleted")["Location"])
        assert toasts_of(shown) == ["Restored 1 memory. 1 stays in the trash: only an operator can restore it."]

    @pytest.mark.database
    def test_five_thousand_at_once_with_one_undo(self, page, ana):
        proto = make_memory(ana)
        Memory.objects.bulk_create(
            Memory(
                **{f.attname: getattr(proto, f.attname) for f in Memory._meta.fields if f.attname != "id"}
                | {"content": f"Row {n}"}
            )
            for n in range(4_999)
        )
        shown = page.get(self.post(page, all="1", filter="")["Location"])
        assert toasts_of(shown) == ["Deleted 5,000 memories. They can be restored for 30 days."]
        assert Memory.objects.deleted().count() == 5_000
        asked = page.post(undo_of(shown), follow=True)
        assert "5,000" in words_of(asked)
        [plan] = re.findall(r'name="plan" value="(\w+)"', asked.content.decode())
        page.post(undo_of(shown), {"plan": plan})
        apply_set(ChangeSet.objects.get(act="undone").pk, now=NOON)
        assert Memory.objects.live().count() == 5_000
        assert sum(entry.details["count"] for entry in AuditEntry.objects.filter(tool_call="memory_restored")) == 5_000

    @table("fields", [{"ids": []}, {"action": "purge"}, {"action": ""}, {"all": "1", "filter": "category=alert"}])
    def test_refuses_what_makes_no_sense(self, page, ana, fields):
        make_memory(ana)
        assert self.post(page, **fields).status_code == 422
        assert Memory.objects.live().count() == 1


class TestTrash:
    @pytest.mark.database
    def test_says_who_deleted_it_when_and_how_long_it_stays(self, page, ana, olga):
        mine, theirs = make_memory(ana, "Mine"), make_memory(ana, "Theirs", category=Category.LESSON)
        delete_memories(principal=browser(ana), owner=ana, ids=[mine.pk], now=NOON - timedelta(days=3))
        delete_memories(
            principal=browser(olga),
            owner=ana,
            ids=[theirs.pk],
            now=NOON - timedelta(hours=2),
            reason="wrong",
        )
        first, second = rows_of(page.get(path("trash")), "memory")
        assert first.startswith("lesson Theirs You wrote olga wrong 2 h ago 30 d")
        assert second.startswith("personalization Mine You wrote you 3 d ago 27 d")

    def test_the_last_minutes_are_counted_too(self, page, ana):
        make_memory(ana, deleted_at=NOON - timedelta(days=29, hours=23, minutes=50))
        assert rows_of(page.get(path("trash")), "memory")[0].endswith("29 d ago 10 min Open Restore")

    @pytest.mark.database
    def test_shows_first_what_goes_first_when_asked(self, page, ana):
        make_memory(ana, "Soon", deleted_at=NOON - timedelta(days=20))
        make_memory(ana, "Later", deleted_at=NOON)
        assert "Soon" in rows_of(page.get(path("trash") + "?sort=oldest"), "memory")[0]


class TestOperators:
    @pytest.mark.database
    def test_see_their_own_rows_until_they_name_an_owner(self, console, page, ana, ben, olga):
        for user in (ana, ben, olga):
            make_memory(user, f"Of {user.username}")

        def shown(query):
            return sorted(re.findall(r"Of (\w+)</a>", console.get(path("list") + query).content.decode()))

        assert shown("") == ["olga"]
        assert shown("?owner=ben") == ["ben"]
        assert shown("?owner=all") == ["ana", "ben", "olga"]
        assert shown("?owner=ana&owner=ben") == ["ben"]
        assert console.get(path("list") + "?owner=nobody").status_code == 404
        assert {page.get(path("list") + f"?owner={name}").status_code for name in ("ben", "nobody", "all")} == {404}

    def test_the_filter_form_holds_one_owner_and_sends_one(self, console, ana, olga):
        listed = console.get(path("list") + "?owner=all&owner=ana&category=alert").context["page"]
        owner = next(field for field in listed.fields if field.name == "owner")
        assert (owner.value, [name for name, _ in owner.options]) == ("ana", ["all", "ana", "default", "olga"])
        assert listed.kept_by_form == [("category", "alert")]
        assert [(chip.label, chip.without) for chip in listed.chips] == [
            ("Category", "/memories/?owner=all&owner=ana"),
            ("Owner", "/memories/?category=alert"),
        ]

    def test_the_list_names_owners_and_keeps_the_choice(self, console, ana):
        make_many(ana, 60)
        response = console.get(path("list") + "?owner=ana")
        assert "Memories of ana" in words_of(response)
        assert rows_of(response, "memory")[0].startswith(
            "personalization Memory number 0 in the next prompt Owner wrote"
        )
        assert re.search(r'id="memories-more" href="[^"]*owner=ana', response.content.decode())
        assert "Owner ana" in words_of(response)
        gone = make_memory(ana, deleted_at=NOON)
        trash = console.get(path("trash") + "?owner=ana")
        assert "Trash of ana" in words_of(trash)
        assert path("restore", gone.pk) in trash.content.decode()

    def test_opening_a_foreign_memory_leaves_a_line_for_its_owner(self, console, ana, olga):
        memory = make_memory(ana)
        own = make_memory(olga)
        console.get(path("one", own.pk))
        assert not AccessEntry.objects.exists()
        assert "owner ana" in words_of(console.get(path("one", memory.pk)))
        entry = AccessEntry.objects.get()
        assert (entry.viewer, entry.owner, entry.kind, entry.object_id) == (olga, ana, "memory", str(memory.pk))

    @pytest.mark.database
    @table(
        "address", ["/memories/?owner=all&q=memory", "/memories/?state=deleted&owner=all", "/memories/trash/?owner=all"]
    )
    def test_a_list_of_others_leaves_a_line_for_each_owner_shown(self, console, ana, ben, olga, address):
        for user in (ana, olga):
            make_many(user, 2)
            make_many(user, 2, deleted_at=NOON)
        console.get(address)
        entry = AccessEntry.objects.get()
        assert (entry.viewer, entry.owner, entry.kind, entry.object_id, entry.at) == (olga, ana, "memories", "", NOON)

    def test_a_page_that_is_searched_leaves_lines_too(self, console, ana, olga):
        make_memory(ana, "about slippage")
        assert "slippage" in words_of(console.get("/search/?q=slippage&owner=all"))
        entry = AccessEntry.objects.get()
        assert (entry.viewer, entry.owner, entry.kind) == (olga, ana, "memories")

    def test_no_chip_names_the_owner_that_stands_without_one(self, console, ana, olga):
        make_memory(olga)
        assert "Remove filter" not in console.get(path("list")).content.decode()
        assert "Remove filter: Owner ana" in console.get(path("list") + "?owner=ana").content.decode()

    def test_an_owner_beyond_the_choices_is_not_called_ignored(self, console, ana, ben, monkeypatch):
        monkeypatch.setattr(owners, "MAX_OWNERS", 1)
        make_memory(ben)
        for address in (path("list"), path("trash")):
            shown = words_of(console.get(address + "?owner=ben"))
            assert "Owner ben" in shown
            assert "ignored" not in shown

    def test_the_default_user_keeps_that_name_in_addresses(self, console, ana):
        User.objects.filter(is_default=True).update(is_default=False)
        User.objects.filter(pk=ana.pk).update(is_default=True)
        make_memory(ana)
        shown = words_of(console.get(path("list") + "?owner=default"))
        assert "Owner ana" in shown
        assert "ignored" not in shown

    def test_are_not_offered_to_edit_or_revert_others_text(self, console, ana):
        memory = make_memory(ana, "Before")
        edit_memory(principal=browser(ana), memory_id=memory.pk, changes=Changes(content="After"), now=NOON)
        body = console.get(path("one", memory.pk)).content.decode()
        assert path("edit", memory.pk) not in body
        assert path("revert", memory.pk, 1) not in body
        assert "corrects=" not in body

    @table("act", ["delete", "restore"])
    def test_give_a_reason_for_what_is_not_theirs(self, console, ana, act):
        memory = make_memory(ana, category=Category.LESSON, deleted_at=NOON if act == "restore" else None)
        assert "It belongs to ana" in words_of(console.get(path(act, memory.pk)))
        refused = console.post(path(act, memory.pk), {"reason": " "})
        assert refused.status_code == 422
        assert 'id="id_reason_error"' in refused.content.decode()
        assert console.post(path(act, memory.pk), {"reason": "x" * 201}).status_code == 422
        assert not AuditEntry.objects.exists()
        assert console.post(path(act, memory.pk), {"reason": "it is wrong"}).status_code == 303
        entry = AuditEntry.objects.get()
        assert (entry.owner_id, entry.reasoning) == (ana.pk, "it is wrong")
        assert (Memory.objects.get().deleted_at is None) is (act == "restore")

    def test_give_a_reason_for_many_too(self, console, ana, olga):
        memories = [*make_many(ana, 2, category=Category.LESSON), make_memory(olga)]
        ids = [memory.pk for memory in memories]
        asked = console.post(
            path("bulk"),
            {"action": "delete", "ids": ids, "next": path("list") + "?owner=all"},
        )
        assert asked.status_code == 422
        assert "Delete 3 memories?" in words_of(asked)
        kept = re.findall(r'name="(ids|action|next)" value="([^"]+)"', asked.content.decode())
        again = {
            "action": "delete",
            "next": dict(kept)["next"],
            "ids": [value for name, value in kept if name == "ids"],
        }
        assert console.post(path("bulk"), again | {"reason": ""}).status_code == 422
        done = console.post(path("bulk"), again | {"reason": "spam"})
        assert done["Location"] == path("list") + "?owner=all"
        assert Memory.objects.deleted().count() == 3
        assert set(AuditEntry.objects.values_list("reasoning", flat=True)) == {"spam"}
        assert console.post(undo_of(console.get(done["Location"]))).status_code == 303
        assert Memory.objects.live().count() == 3

    @pytest.mark.database
    def test_all_that_match_are_those_of_the_chosen_owner(self, console, ana, ben):
        make_many(ana, 3, category=Category.LESSON)
        make_many(ben, 3)
        console.post(path("bulk"), {"action": "delete", "all": "1", "filter": "owner=ana", "reason": "spam"})
        assert set(Memory.objects.deleted().values_list("owner", flat=True)) == {ana.pk}
        assert Memory.objects.deleted().count() == 3

    def test_their_own_rows_need_no_reason(self, console, olga):
        memory = make_memory(olga)
        assert console.post(path("delete", memory.pk)).status_code == 303


@pytest.mark.database
class TestSlowSearch:
    """What a search narrows is read within the time limit of the search (trust W-20)."""

    @pytest.fixture(autouse=True)
    def slow(self, monkeypatch):
        """Make every look into the index that is limited run into the limit."""

        def stop(execute, sql, *rest):
            if "search_document" in sql:
                raise SearchTooSlow
            return execute(sql, *rest)

        monkeypatch.setattr(selectors, "time_limit", lambda using: connections[using].execute_wrapper(stop))

    @table("name", ["list", "trash"])
    def test_stops_lists(self, page, name):
        assert page.get(path(name) + "?q=memory").status_code == 503
        assert page.get(path(name)).status_code == 200

    def test_stops_the_choice_of_all_that_match(self, page, ana):
        make_many(ana, 2)
        assert page.post(path("bulk"), {"action": "delete", "all": "1", "filter": "q=memory"}).status_code == 503
        assert not Memory.objects.deleted().exists()

    def test_stops_the_count_behind_a_row(self, page, ana):
        memory = make_memory(ana)
        asked = {"HX-Request": "true", "HX-Current-URL": "http://testserver/memories/?q=memory"}
        assert page.post(path("delete", memory.pk), headers=asked).status_code == 503


class TestCost:
    """At most thirteen queries for a page, one more for a search with its bound on time (screens U-35)."""

    pytestmark = pytest.mark.database

    def count(self, page, address):
        with CaptureQueriesContext(connection) as queries:
            page.get(address)
        nested = ("SAVEPOINT", "RELEASE", "SET LOCAL statement_timeout = DEFAULT")  # in the test's transaction alone
        return len([one for one in queries if not one["sql"].startswith(nested)])

    def test_of_the_lists(self, page, console, ana, ben):
        make_many(ana, 60)
        make_many(ben, 60)
        for memory in make_many(ana, 60):
            delete_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=NOON)
        for query in ("", "?category=lesson&after=2026-01-01", "?state=deleted"):
            assert self.count(page, path("list") + query) <= 13, query
        assert self.count(page, path("list") + "?q=memory") <= 14
        assert self.count(page, path("trash")) <= 13
        assert self.count(console, path("list") + "?owner=all") <= 13

    def test_of_one(self, page, ana):
        memory = make_memory(ana)
        for n in range(20):
            edit_memory(
                principal=browser(ana),
                memory_id=memory.pk,
                changes=Changes(content=f"Text {n}"),
                now=NOON,
            )
        assert self.count(page, path("one", memory.pk)) <= 13


class TestLongHistory:
    """Fifty versions at a time, each piece with a link to the one below it."""

    @pytest.fixture
    def memory(self, ana):
        memory = make_memory(ana, "version 120", version=120)
        MemoryRevision.objects.bulk_create(
            MemoryRevision(memory=memory, version=n, content=f"version {n}", actor="user:1", replaced_at=NOON)
            for n in range(1, 120)
        )
        return memory

    def pieces(self, page, memory):
        """Follow the links to the oldest piece and return the body of each."""
        bodies, address = [], path("one", memory.pk)
        while address and len(bodies) < 9:
            bodies.append(page.get(address).content.decode())
            link = re.search(r'href="(\?below=\d+)#history"', bodies[-1])
            address = path("one", memory.pk) + link[1] if link else ""
        return bodies

    def test_shows_every_version_once(self, page, memory):
        bodies = self.pieces(page, memory)
        shown = [[int(number) for number in re.findall(r"<b>Version (\d+)</b>", body)] for body in bodies]
        assert shown == [[*range(120, 70, -1)], [*range(70, 20, -1)], [*range(20, 0, -1)]]
        assert "version <del>20</del><ins>21</ins>" in bodies[1]

    def test_an_old_version_can_be_written_again_from_its_piece(self, page, memory):
        revert = f"{path('revert', memory.pk, 3)}?version=120"
        first, _second, last = self.pieces(page, memory)
        assert revert in last
        assert revert not in first
        assert page.post(revert).status_code == 303
        memory.refresh_from_db()
        assert (memory.content, memory.version) == ("version 3", 121)
        assert "“Back to version 3”" in words_of(page.get(path("one", memory.pk)))

    @table("below", ["0", "1", "x", "9" * 30, "9" * 18, "-1", ""])
    def test_an_odd_place_is_no_error(self, page, memory, below):
        assert page.get(f"{path('one', memory.pk)}?below={below}").status_code == 200
