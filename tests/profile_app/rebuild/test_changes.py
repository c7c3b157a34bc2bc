"""`/profile/changes/`: what others wrote about its owner, until when it is new, and what they do about each line."""

import re
from datetime import timedelta

import pytest
import time_machine

from memory_app.memories.models import Memory
from memory_app.memories.services import delete_memories
from memory_app.writes.models import WriteRollback
from memory_app.writes.selectors.plans import preview_undo
from memory_app.writes.services import undo_roll_back
from minara_site.access.models import AccessEntry
from minara_site.kernel.core.vocabulary import Source
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag
from profile_app.rebuild.core import Flow
from profile_app.rebuild.models import ChangesVisit
from tests.kit.clock import NOON
from tests.kit.page import toasts_of, undo_of, words_of
from tests.learning_app.learnings.rows import make_learning
from tests.learning_app.rows import make_preference
from tests.memory_app.memories.factories import browser, make_many, make_memory
from tests.profile_app.rebuild.test_run import add_trades, fact, run, talk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen"), pytest.mark.database]
PAGE, MINUTE = "/profile/changes/", timedelta(minutes=1)
FEES, STOPS = "Keep fees low", "Wants stops below 8 %"


@pytest.fixture
def rebuilt(ana, answers):
    """Three runs of Ana: two memories, a tag and a summary."""
    talk(ana, f"{FEES}. {STOPS}")
    answers.memories = {"facts": [fact(FEES, 1, FEES), fact(STOPS, 1, STOPS)]}
    answers.tags = {"tags": [{"dimension": "risk", "values": ["conservative"], "evidence": "small positions"}]}
    add_trades(ana, 4)
    return {flow: run(ana, flow)["run"] for flow in (Flow.MEMORIES, Flow.TAGS, Flow.SUMMARY)}


def acts_of(text):
    """Return where each button or link of the lines leads, by what it says."""
    main = text[text.index("<main") :]
    forms = re.findall(
        r'<form class="inline" method="post" action="([^"]+)">.*?</svg>\s*(\w+)\s*</button>', main, re.DOTALL
    )
    links = re.findall(r'<a class="btn btn-s" href="([^"]+)">.*?</svg>\s*([\w ]+?)\s*</a>', main, re.DOTALL)
    return {(word, url.replace("&amp;", "&")) for url, word in forms + links}


def post(page, text, word, part):
    """Do what a line offers, the one whose address has this part; return the answer."""
    [url] = [url for said, url in acts_of(text) if said == word and part in url]
    return page.post(url, {"next": PAGE})


class TestLines:
    """Each line leads to its evidence, and is kept, corrected, forgotten or undone."""

    def test_say_what_was_written_out_of_what(self, ana, rebuilt, page):
        text = page.get(PAGE).text
        words = words_of(text)
        for said in (FEES, STOPS, "small positions", "Conservative", "Trades BTC every day.", "1 turn read"):
            assert said in words
        one = words_of(page.get(f"{PAGE}?run={rebuilt[Flow.SUMMARY]}").text)
        assert "pnl_before_fees_usd" in one
        assert FEES not in one
        assert [page.get(f"{PAGE}?run={run}").status_code for run in ("999", "x", "9" * 22)] == [404] * 3

    def test_keep_makes_a_line_its_owners_and_is_undone(self, ana, rebuilt, page):
        memory, text = Memory.objects.get(content=FEES), page.get(PAGE).text
        url, keep = f"/memories/{memory.pk}/", f'action="/memories/{memory.pk}/keep/"'
        own = page.get(url).text
        assert keep in own
        assert "turn 1 of a conversation" in words_of(own)
        answer = post(page, text, "Keep", url)
        assert answer.headers["Location"] == PAGE
        memory.refresh_from_db()
        assert memory.source == Source.USER_EXPLICIT
        shown = page.get(PAGE)
        assert ("Keep", f"{url}keep/") not in acts_of(shown.text)
        assert toasts_of(shown) == ["Kept. It is your own word now."]
        assert keep not in page.get(url).text
        page.post(undo_of(shown))
        memory.refresh_from_db()
        assert memory.source == Source.INFERRED
        post(page, text, "Keep", "/profile/tags/")
        assert UserTag.objects.get(owner=ana).source == TagSource.USER

    def test_wrong_opens_the_words_for_correction(self, ana, rebuilt, page):
        memory, text = Memory.objects.get(content=STOPS), page.get(PAGE).text
        links = {url for word, url in acts_of(text) if word == "Wrong"}
        assert f"/memories/new/?corrects={memory.pk}" in links
        assert STOPS in page.get(f"/memories/new/?corrects={memory.pk}").text
        [tag] = [url for url in links if "/profile/tags/" in url]
        assert re.search(r'<details class="tag-more" open>', page.get(tag).text)

    def test_undo_takes_one_line_away_and_leaves_its_siblings(self, ana, rebuilt, page):
        memory = Memory.objects.get(content=FEES)
        text = page.get(PAGE).text
        [url] = [url for word, url in acts_of(text) if word == "Undo" and f"kind=memory&key={memory.pk}" in url]
        assert page.post(f"{url.partition('?')[0]}?kind=%00&key=1").status_code == 404
        post(page, text, "Undo", f"kind=memory&key={memory.pk}")
        assert list(Memory.objects.filter(deleted_at=None).values_list("content", flat=True)) == [STOPS]
        words = words_of(page.get(PAGE).text)
        assert STOPS in words
        assert FEES not in words
        post(page, page.get(PAGE).text, "Undo", "kind=tag")
        assert not UserTag.objects.filter(owner=ana).exists()

    def test_what_was_taken_away_does_not_come_back(self, ana, answers, rebuilt, page):
        text = page.get(PAGE).text
        for memory in Memory.objects.filter(owner=ana):
            post(
                page,
                text,
                *(("Forget", f"/{memory.pk}/") if memory.content == FEES else ("Undo", f"=memory&key={memory.pk}")),
            )
        post(page, text, "Forget", "/profile/tags/risk/")
        talk(ana, f"{FEES}. {STOPS}")
        for flow in (Flow.MEMORIES, Flow.TAGS):
            run(ana, flow, is_forced=True)
        assert not Memory.objects.filter(owner=ana, deleted_at=None).exists()
        assert not UserTag.objects.filter(owner=ana).exists()


class TestVisits:
    """What is new stays so until half an hour after the last look."""

    def test_a_visit_ends_after_rest(self, ana, page):
        make_memory(ana, content="Noted by an agent", actor="key:abcd1234", at=NOON - MINUTE)
        for after, is_new in ((0, True), (29, True), (58, True), (89, False), (90, False)):
            with time_machine.travel(NOON + after * MINUTE, tick=False):
                assert ("Noted by an agent" in words_of(page.get(PAGE).text)) is is_new, after
        assert "Noted by an agent" in words_of(page.get(f"{PAGE}?show=all").text)

    def test_own_words_are_no_news_and_what_is_gone_is_not_shown(self, ana, page):
        make_memory(ana, content="Typed by me", actor=f"user:{ana.pk}")
        gone = make_memory(ana, content="Noted and forgotten", actor="key:abcd1234")
        delete_memories(principal=browser(ana), owner=ana, ids=[gone.pk], now=NOON)
        assert "Nothing new" in words_of(page.get(PAGE).text)

    def test_preferences_and_learnings_of_others_are_news_with_what_can_be_done(self, ana, page):
        proposed = make_preference(ana, "Prefers limit orders.", actor="job:preferences.mine")
        limit = make_preference(ana, "At most 5x.", kind="hard_constraint", actor="key:abcd1234")
        make_preference(ana, "Typed by me.", actor=f"user:{ana.pk}")
        learned = make_learning(ana, trigger="asked for the depth of a market", actor="job:learnings.review")
        text = page.get(PAGE).text
        for said in (proposed.statement, limit.statement, learned.trigger):
            assert said in words_of(text)
        assert "Typed by me." not in words_of(text)
        assert not [url for _word, url in acts_of(text) if f"/preferences/{limit.pk}/" in url]
        post(page, text, "Keep", f"/preferences/{proposed.pk}/")
        post(page, text, "Forget", f"/learnings/{learned.uid}/")
        proposed.refresh_from_db()
        assert proposed.state == "active"
        left = words_of(page.get(PAGE).text)
        assert learned.trigger not in left
        assert proposed.statement not in left, "its owner decided"


def test_an_operator_reads_and_does_nothing(ana, rebuilt, olga, operator_page):
    text = operator_page.get(f"{PAGE}?owner=ana").text
    assert STOPS in words_of(text)
    assert not acts_of(text)
    assert AccessEntry.objects.filter(viewer=olga, owner=ana).exists()
    assert not ChangesVisit.objects.exists()


def test_thousands_of_rows_are_read_in_few_queries(ana, rebuilt, page, django_assert_max_num_queries):
    make_many(ana, 1_000, word="Noted", actor="key:abcd1234")
    with django_assert_max_num_queries(20):
        text = page.get(PAGE).text
    assert "Only the newest are shown" in text


def test_operators_roll_runs_back_since_a_moment_and_undo_that(ben, rebuilt, answers, olga, operator_page):
    talk(ben, STOPS)
    answers.memories = {"facts": [fact(STOPS, 1, STOPS)]}
    run(ben, Flow.MEMORIES, after=MINUTE)
    assert "Rebuilds" in words_of(operator_page.get("/ops/writes/").text)
    listed = operator_page.get("/ops/writes/rows/", {"writer": Flow.TAGS.actor}).text
    assert f'"/profile/changes/?run={rebuilt[Flow.TAGS]}&amp;owner=ana"' in listed
    assert "1 row changed" in words_of(listed)
    operator, made = browser(olga), []
    for flow, since, left in ((Flow.MEMORIES, MINUTE, 2), (Flow.MEMORIES, 0 * MINUTE, 0), (Flow.TAGS, 0 * MINUTE, 0)):
        asked = {"writer": flow.actor, "since": (NOON + since).isoformat()}
        shown = operator_page.get("/ops/writes/roll-back/", asked).text
        apply_url = re.search(r'href="(/ops/writes/roll-back/apply/[^"]*)"', shown)[1].replace("&amp;", "&")
        typed = re.search(r'name="plan" value="(\w{64})"', operator_page.get(apply_url).text)[1]
        answer = {"plan": typed, "reason": "A wrong model", "word": flow.actor}
        operator_page.post(apply_url, answer)
        rows = UserTag.objects.all() if flow is Flow.TAGS else Memory.objects.filter(deleted_at=None)
        assert rows.count() == left, (flow, since)
        made.append(WriteRollback.objects.latest("pk"))
    sha256 = preview_undo(made[1], actor=operator.actor).sha256
    undo_roll_back(principal=operator, rollback_id=made[1].pk, sha256=sha256, reason="", now=NOON)
    assert Memory.objects.filter(deleted_at=None).count() == 2, "those of the second roll-back alone"
