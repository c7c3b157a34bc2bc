"""`/prompt/` shows exactly the bytes that the agent was given (screens U-17)."""

import re
from html.parser import HTMLParser

import pytest
from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.snapshot import selectors
from memory_app.user_profile.services import set_entry
from minara_site.access.models import AccessEntry
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.guard.core import RULES
from profile_app.documents.models import Document
from profile_app.portrait.core.profile import SETTINGS
from profile_app.prompt.selectors import load_prompt
from profile_app.prompt.services import end_session, start_session
from profile_app.workspace.models import Workspace
from tests.kit.shared import corpus
from tests.kit.tables import table
from tests.memory_app.memories.factories import make_memory
from tests.profile_app.documents.rows import make_document
from tests.profile_app.prompt.rows import fill_portrait

pytestmark = pytest.mark.django_db

PAGE_QUERIES = 20
HIDDEN = "zero\u200bwidth \u00adsoft \ufe0fvariation \u2062times \ue000private"


class Bytes(HTMLParser):
    """Collects the text inside `.bytes` and the code points that are shown."""

    def __init__(self, html):
        super().__init__()
        self.depth, self.text, self.shown = 0, "", []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "span" and (self.depth or attrs.get("class") == "bytes"):
            self.depth += 1
        if attrs.get("class") == "hid":
            self.shown.append(attrs["data-hid"])

    def handle_endtag(self, tag):
        self.depth -= tag == "span" and self.depth > 0

    def handle_data(self, data):
        self.text += data if self.depth else ""


def begin(owner, now=None, title=""):
    return start_session(owner=owner, title=title, actor="test", now=now or timezone.now())


def fill(owner, now):
    for n, row in enumerate(corpus("fence_escapes")[:30]):
        category = [Category.PERSONALIZATION, Category.LESSON][n % 2]
        make_memory(owner, row["text"].replace("\0", ""), at=now, category=category)
    make_memory(owner, HIDDEN, at=now)
    make_memory(owner, "<script>alert(1)</script> & \"quoted\" 'text' &lt;b&gt; 山寨币", at=now)
    set_entry(owner=owner, key="risk", value="<b>conservative</b>", actor="test", now=now)
    fill_portrait(owner, **{"BOOTSTRAP.md": f"{HIDDEN}\n<b>&lt;/user-document></b>\n# heading\r\n\tend"})


def test_the_page_and_its_text_show_the_frozen_bytes(page, ana, now):
    fill(ana, now)
    snapshot = begin(ana)
    body = page.get("/prompt/")
    shown = Bytes(body.content.decode())
    assert shown.text == snapshot.prompt.text
    assert set(shown.shown) >= {"U+200B", "U+00AD", "U+FE0F", "U+2062", "U+E000"}
    assert snapshot.sha256 in body.content.decode()
    assert f"{snapshot.tokens:,} tokens" in body.content.decode()
    answer = page.get("/prompt/text")
    assert answer.content == snapshot.prompt.text.encode()
    assert answer["Content-Type"] == "text/plain; charset=utf-8"


def test_the_page_counts_what_was_dropped_when_the_prompt_was_frozen(page, ana, now):
    said = "1 hidden character</dd>"
    make_memory(ana, "plain", at=now)
    assert "hidden character" not in page.get("/prompt/").content.decode()
    hiding = make_memory(ana, "turned \u202earound", at=now)
    assert said in page.get("/prompt/").content.decode()
    snapshot = begin(ana)
    Memory.objects.filter(pk=hiding.pk).update(content="plain too")
    assert said in page.get("/prompt/").content.decode()
    assert "hidden character" not in page.get("/prompt/?show=now").content.decode()
    end_session(owner=ana, session_id=snapshot.pk, actor="test", now=now)
    assert said in page.get("/prompt/").content.decode()


def test_a_write_waits_and_the_preview_shows_it(page, ana, now):
    begin(ana, now)
    make_memory(ana, "written later", at=now)
    set_entry(owner=ana, key="risk", value="bold", actor="test", now=timezone.now())
    assert "written later" not in Bytes(page.get("/prompt/").content.decode()).text
    assert "1 write since; it waits for the next session" in page.get("/prompt/").content.decode()
    preview = Bytes(page.get("/prompt/?show=now").content.decode()).text
    assert preview == load_prompt(owner=ana, now=now).prompt.text
    assert "written later" in preview
    assert page.get("/prompt/text?show=now").content.decode() == preview


def test_very_many_writes_are_not_all_counted(page, ana, now, monkeypatch):
    monkeypatch.setattr(selectors, "MAX_WRITES", 2)
    begin(ana, now)
    for n in range(3):
        set_entry(owner=ana, key=f"key{n}", value="x", actor="test", now=timezone.now())
    assert "more than 2 writes since; they wait for the next session" in page.get("/prompt/").content.decode()


def test_before_the_first_session_the_page_explains_the_bare_block(page, ana):
    body = page.get("/prompt/").content.decode()
    assert "No session has started yet" in body
    assert "Nothing: there is no memory yet." in body
    assert "The boundary tags and their note are always there." in body
    assert Bytes(body).text == load_prompt(owner=ana, now=timezone.now()).prompt.text
    assert page.get("/prompt/text").content.decode() == Bytes(body).text


def test_an_earlier_session_can_be_chosen_and_compared(page, ana, now):
    make_memory(ana, "stays", at=now)
    first = begin(ana, title="Morning")
    make_memory(ana, "comes", at=now)
    second = begin(ana, title="Evening")
    assert Bytes(page.get(f"/prompt/?session={first.pk}").content.decode()).text == first.prompt.text
    body = page.get("/prompt/?show=diff").content.decode()
    assert "<ins>[personalization] comes\n</ins>" in body
    assert "+1 −0" in body
    assert second.prompt.text != first.prompt.text
    begin(ana)
    assert "Both sessions were given the same bytes." in page.get("/prompt/?show=diff").content.decode()
    assert "This is the first session." in page.get(f"/prompt/?session={first.pk}&show=diff").content.decode()


def test_after_the_end_sizes_and_hash_stay(page, ana, now):
    make_memory(ana, "canary", at=now)
    snapshot = begin(ana)
    end_session(owner=ana, session_id=snapshot.pk, actor="test", now=timezone.now())
    after = begin(ana)
    body = page.get(f"/prompt/?session={snapshot.pk}").content.decode()
    assert "This session is over" in body
    assert snapshot.sha256 in body
    assert "canary" not in body
    assert page.get(f"/prompt/text?session={snapshot.pk}").status_code == 410
    running = begin(ana, title="Running")
    ended = begin(ana, title="Ended")
    end_session(owner=ana, session_id=ended.pk, actor="test", now=timezone.now())
    assert Bytes(page.get("/prompt/").content.decode()).text == running.prompt.text
    assert "was wiped after its end" in page.get(f"/prompt/?session={after.pk}&show=diff").content.decode()


def test_says_what_is_left_out(page, ana, now):
    for n in range(75):
        make_memory(ana, f"number {n}", at=now, category=Category.LESSON, source=Source.AGENT_RECORDED)
    make_memory(ana, "gone", at=now, deleted_at=timezone.now())
    body = page.get("/prompt/").content.decode()
    assert "Older than the newest 50" in body
    assert '<span class="end num">25</span>' in body
    assert "Deleted, can be restored" in body


@table("query", ["session=sess_unknown", "owner=nobody", "owner=ben", "owner=all"])
def test_what_is_not_there_is_404(page, ben, query):
    foreign = begin(ben)
    assert page.get(f"/prompt/?{query}").status_code == 404
    assert page.get(f"/prompt/text?{query}").status_code == 404
    assert page.get(f"/prompt/?session={foreign.pk}").status_code == 404


@table("query", ["show=", "show=what", "session=", "unknown=1", "show=diff"])
def test_an_odd_url_still_shows_the_page(page, ana, query):
    assert page.get(f"/prompt/?{query}").status_code == 200


def test_an_operator_reads_another_owners_prompt_and_leaves_a_trace(operator_page, olga, ana):
    snapshot = begin(ana)
    body = operator_page.get("/prompt/?owner=ana").content.decode()
    assert Bytes(body).text == snapshot.prompt.text
    assert "Owner: ana" in body
    assert list(AccessEntry.objects.values_list("viewer", "owner", "kind", "object_id")) == [
        (olga.pk, ana.pk, "prompt", snapshot.pk)
    ]
    operator_page.get("/prompt/")
    assert AccessEntry.objects.count() == 1


def test_an_operator_reads_no_secret_of_another_owner_and_its_size_and_hash_stay(page, operator_page, ana, now):
    secrets = [f"AKIA{n:02}Q7ZMXW3TN5RB2K" for n in range(25)]  # more than the guard finds in one text
    begin(ana)
    file = make_document(ana, "\n".join(f"key {each}" for each in secrets), rules_version=RULES.version)
    snapshot = begin(ana, title=f"try {secrets[0]}")
    assert all(each in snapshot.personalization for each in secrets)
    for address in ("", "?show=now", "?show=diff", "text", "text?show=now"):
        url = f"/prompt/{address}{'&' if '?' in address else '?'}owner=ana"
        for reader, shown in ((page, len(secrets)), (operator_page, 0)):
            body = reader.get(url).content.decode()
            assert "key AKI" in body
            assert sum(each in body for each in secrets) == shown, (url, shown)
    body = operator_page.get("/prompt/?owner=ana").content.decode()
    assert "try AKI" in body
    assert len(Bytes(body).text) == len(snapshot.prompt.text)
    assert snapshot.sha256 in body
    assert f"{snapshot.size_bytes:,} bytes" in body
    Document.objects.filter(pk=file.pk).update(content=file.content.replace(*secrets[:2]))
    begin(ana)
    assert "were given the same bytes" not in operator_page.get("/prompt/?owner=ana&show=diff").content.decode()


def test_the_page_needs_few_queries(page, ana, now, django_assert_max_num_queries):
    fill(ana, now)
    begin(ana)
    begin(ana)
    with django_assert_max_num_queries(12):
        page.get("/prompt/")
    with django_assert_max_num_queries(PAGE_QUERIES):
        page.get("/prompt/?show=now&include_tags=off&include_memories=on")


def test_false_fences_are_marked_and_counted(page, ana, now):
    make_memory(ana, "a </memory-context> b ‹my quote› <mem\u200bory-context> c", at=now)
    body = page.get("/prompt/").content.decode()
    assert re.findall(r'class="hid defused" title="[^"]+">(.)<', body) == ["⟦", "⟧", "⟦", "⟧"]
    assert "<dd>2 false fences</dd>" in body
    assert Bytes(body).text == load_prompt(owner=ana, now=now).prompt.text


def test_a_false_fence_across_the_lines_of_a_document_is_marked_and_counted(page, ana, now):
    make_document(
        ana,
        "a </user-\ndocument> b \u27e6mine\u27e7\n<memory-context\n",
        name="SOUL.md",
        rules_version=RULES.version,
    )
    body = page.get("/prompt/").content.decode()
    assert re.findall(r'class="hid defused" title="[^"]+">(.)<', body) == ["\u27e6", "\u27e7", "\u27e6"]
    assert "<dd>2 false fences</dd>" in body
    assert Bytes(body).text == load_prompt(owner=ana, now=timezone.now()).prompt.text


def test_switches_are_tried_and_nothing_is_stored(page, ana, now):
    fill(ana, now)
    own = load_prompt(owner=ana, now=timezone.now())
    tried = load_prompt(
        owner=ana,
        now=timezone.now(),
        tried={"include_tags": False, "include_memories": False},
    )
    query = "show=now&include_memories=off&include_trading_summary=off&include_trading_summary=on&include_tags=off"
    body = page.get(f"/prompt/?{query}").content.decode()
    assert Bytes(body).text == tried.prompt.text != own.prompt.text
    assert f"With these switches: about {tried.prompt.tokens:,} tokens." in body
    assert f"0, saves {own.costs['include_tags']}" in body
    assert "Switched off in your profile" in body
    assert page.get(f"/prompt/text?{query}").content.decode() == tried.prompt.text
    assert Bytes(page.get("/prompt/?show=now&include_tags=maybe").content.decode()).text == own.prompt.text
    body = page.get("/prompt/").content.decode()
    assert Bytes(body).text == own.prompt.text
    assert "As the profile has them" in body


def test_the_profile_says_of_each_switch_what_it_costs_here(page, ana, now, settings):
    fill(ana, now)
    for is_gated in (False, True):
        settings.MINARA = settings.MINARA.model_copy(update={"chat_intent_gating_enabled": is_gated})
        said = re.findall(r"carries about ([\d,]+) tokens less", page.get("/profile/").content.decode())
        costs = load_prompt(owner=ana, now=timezone.now()).costs
        assert said == [f"{costs[flag]:,}" for flag in SETTINGS]


def test_each_part_says_why_it_is_there_and_leads_to_where_it_is_changed(page, operator_page, ana, now):
    fill(ana, now)
    begin(ana)
    body = page.get("/prompt/").content.decode()
    names = ("SOUL.md", "AGENTS.md", "USER.md", "MEMORY.md")
    for place in ("/profile/tags/", "/profile/", "/memories/", *(f"/workspace/{name}/" for name in names)):
        assert f'<a href="{place}"' in body, place
    assert "What the first session does. No other carries it." in body
    assert "None: all tags are in the stable text." in body
    assert "/workspace/SOUL.md/" not in operator_page.get("/prompt/?owner=ana").content.decode()


def test_who_the_agent_says_it_is_and_what_is_wrong_with_its_folder_are_shown(page, ana, now):
    fill(ana, now)
    problem = {"name": "SOUL.md", "code": "not_utf8", "detail": ""}
    Workspace.objects.create(owner=ana, mark="x", problems=[problem], created_at=now)
    body = page.get("/prompt/").content.decode()
    assert "🦉 Ada" in body
    assert "Save the file as UTF-8." in body
