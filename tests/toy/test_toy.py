"""Whoever adds a stored kind with its page, API calls and tool writes one app: nothing in the middle learns its name."""

import re
import token
import tokenize
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from minara_site.access.models import AccessEntry
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.rescan import count_outdated, rescan
from tests.contracts import test_kinds
from tests.contracts.test_kinds import ATTACK, SECRET, SEEN
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.page import rows_of, words_of
from tests.kit.site import APPS, ROOT
from tests.toy.rows import make

HERE = Path(__file__).parent
PAGE = "/notes/"


@pytest.mark.django_db
@pytest.mark.database
def test_a_key_writes_and_reads_notes_and_an_operator_decides_what_is_held(ana, ben, page, operator_page):
    agent = agent_of(ana)
    assert agent.post("/v1/notes", {"text": "I prefer low leverage"}).status_code == 201
    refused = agent.post("/v1/notes", {"text": ATTACK})
    assert (refused.status_code, refused.json()["held"]["reason"]) == (202, "injection")
    start, end = refused.json()["held"]["span"]
    assert ATTACK[start:end].startswith("Ignore all previous instructions")
    by_tool = agent.tool("note_write", {"text": "Sell in May", "reasoning": "the user said so"}).json()["data"]
    held_by_tool = agent.tool("note_write", {"text": f"{ATTACK} {SECRET}"}).json()["data"]
    assert "held" not in by_tool
    assert held_by_tool["held"]["span"] == [start, end]

    def read():
        return [each["text"] for each in agent.get("/v1/notes").json()["data"]["items"]]

    assert read() == ["Sell in May", "I prefer low leverage"]
    assert agent_of(ben).get("/v1/notes").json()["data"]["items"] == []

    queue = operator_page.get("/quarantine/").content.decode()
    first, second = Hold.objects.filter(kind="note").order_by("pk")
    assert f"hold-{first.pk}" in queue
    assert f"hold-{second.pk}" in queue
    shown = operator_page.get(reverse("quarantine:one", args=["hold", second.pk])).content.decode()
    assert "It is kept under Discarded for 30 days" in shown
    assert SEEN not in shown
    assert SEEN in page.get(reverse("held:one", args=[second.pk])).content.decode()
    operator_page.post(reverse("held:release", args=[first.pk]), {"confirmed": "1"})
    page.post(reverse("held:discard", args=[second.pk]))
    assert read() == ["Sell in May", ATTACK, "I prefer low leverage"]
    make(ana, f"{ATTACK} Now.")
    assert len(read()) == 3, "today's rules refuse it before a scan has held it"
    assert rescan(now=NOON)["held"] == 1
    assert len(read()) == 3

    acts = {
        "note_written": "Note written",
        "note_held": "Notes held again by a new scan",
        "note_released": "Held notes released",
        "note_discarded": "Held notes discarded",
    }
    for act, label in acts.items():
        rows = rows_of(operator_page.get(f"/ops/audit-log/?act={act}"), "entry")
        assert rows, act
        assert all(label in row for row in rows), act
    assert AuditEntry.objects.filter(tool_call="note_written", reasoning="the user said so").exists()


class TestTheKinds(test_kinds.TestKinds):
    """What every kind must do, with one more among them: the line that stores a text of it is all that it takes."""

    @pytest.fixture(autouse=True)
    def one_more(self, monkeypatch):
        monkeypatch.setitem(test_kinds.STORE, "note", lambda owner, text: make(owner, text)[0])


@pytest.mark.django_db
def test_lists_ones_own_rows_with_counted_tabs_search_and_an_empty_state(page, ana, ben):
    assert "No notes" in words_of(page.get(PAGE))
    make(ana, "a terse one", ATTACK)
    make(ben, "not yours")
    assert count_outdated().number == 3
    rescan(now=NOON)
    shown = words_of(page.get(PAGE))
    assert "a terse one" in shown
    assert "All 2" in shown
    assert "Held 1" in shown
    assert "not yours" not in shown
    assert "a terse one" not in words_of(page.get(f"{PAGE}?state=held"))
    assert "Nothing matches" in words_of(page.get(f"{PAGE}?q=xyz"))
    assert page.get(f"{PAGE}?owner={ben.username}").status_code == 404
    assert not AccessEntry.objects.exists()
    assert f'href="{PAGE}"' in page.get("/memories/").content.decode(), "the entry Memories has it as a tab"


@pytest.mark.django_db
def test_lets_an_operator_choose_the_owner_logs_it_and_asks_few_queries(operator_page, page, ana, ben, olga):
    make(ana, f"hers {SECRET}")
    make(ben, *(f"his {n}" for n in range(20)))
    answer = operator_page.get(f"{PAGE}?owner={ana.username}")
    assert "Notes of ana" in words_of(answer)
    assert "hers" in words_of(answer)
    assert SEEN not in answer.content.decode()
    assert "his 1" not in words_of(answer)
    assert set(AccessEntry.objects.values_list("owner", "viewer", "kind")) == {(ana.pk, olga.pk, "notes")}
    with CaptureQueriesContext(connection) as asked:
        everyone = words_of(operator_page.get(f"{PAGE}?owner=all"))
    assert len(asked) <= 20
    assert "hers" in everyone
    assert "his 19" in everyone
    assert "notes in a list" in words_of(page.get("/privacy/looks/?kind=notes"))


LAYOUT = {token.NEWLINE, token.NL, token.INDENT, token.DEDENT, token.COMMENT, token.ENDMARKER}


def weigh(path):
    """Count the tokens of a module; layout and comments are none."""
    with tokenize.open(path) as file:
        return sum(each.type not in LAYOUT for each in tokenize.generate_tokens(file.readline))


def test_is_small_and_no_module_of_the_product_names_it():
    parts = [path for path in HERE.rglob("*.py") if not path.name.startswith(("conftest", "rows", "test_"))]
    weight = {path.name: weigh(path) for path in parts}
    assert sum(weight.values()) < 2_050, weight  # with an act on notes and its undo
    assert weight["pages.py"] < 400
    named = re.compile(r"\btoys?\b|toy_notes|NoteKind|note_written", re.IGNORECASE)
    modules = [
        path for app in (*APPS, "templates") for path in (ROOT / app).rglob("*.*") if path.suffix in {".py", ".html"}
    ]
    assert [path for path in modules if named.search(path.read_text("utf-8"))] == []
