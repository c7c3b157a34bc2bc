"""The pages of learnings, as people use them without scripts: find, open, edit, undo, delete, restore, try a message."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from learning_app.learnings.models import Learning
from minara_site.access.models import AccessEntry
from tests.kit.clock import NOON
from tests.kit.page import text_of, undo_of
from tests.kit.visitor import visitor
from tests.learning_app.learnings.rows import make_learning
from tests.learning_app.learnings.test_store import HOSTILE, switch_off

pytestmark = pytest.mark.django_db
MAX_QUERIES = 20


def names_on(page, query=""):
    return re.findall(r'cell-sub mono clip clip-1">(hedge|scan|secret|bens)<', text_of(page.get(f"/learnings/{query}")))


@pytest.fixture
def three(ana):
    counts, redacted = {"success_count": 9, "failure_count": 3, "ignored_count": 30}, {"key": "[redacted]"}
    return [
        make_learning(ana, name="hedge", trigger="hedge the spread", **counts),
        make_learning(ana, name="scan", trigger="scan funding rates", tool_sequence=[], guidance="10 a minute"),
        make_learning(
            ana, name="secret", trigger="call the desk", tool_sequence=[{"tool_name": "a", "args": redacted}]
        ),
    ]


def test_a_user_finds_deletes_and_restores_their_own(page, three, ben):
    make_learning(ben, name="bens")
    assert sorted(names_on(page)) == ["hedge", "scan", "secret"]
    assert names_on(page, "?sort=worked")[0] == "hedge"
    assert names_on(page, "?q=funding") == ["scan"]
    answer = page.post(
        "/learnings/bulk/",
        {"action": "delete", "ids": [three[0].pk, three[1].pk]},
        follow=True,
    )
    said = text_of(answer)
    assert "Deleted 2 learnings." in said
    assert names_on(page) == ["secret"]
    undo = re.search(r'action="(/undo/\d+/)" data-undo', said)[1]
    assert "Undone for 2 learnings." in text_of(page.post(undo, follow=True))
    page.post(f"/learnings/{three[0].uid}/delete/")
    assert names_on(page, "?state=deleted") == ["hedge"]
    assert page.get(f"/learnings/{three[0].uid}/").status_code == 404
    foreign = visitor(ben).post("/learnings/bulk/", {"action": "delete", "ids": [three[1].pk]})
    assert foreign.status_code == 404


def test_one_learning_says_how_it_did_and_what_was_taken_out(page, three):
    shown = text_of(page.get(f"/learnings/{three[0].uid}/"))
    for words in ("hedge the spread", "9", "71 %", "50 %", "decay factor", "&lt;learnings&gt;"):
        assert words in shown, words
    assert "guidance alone" in text_of(page.get(f"/learnings/{three[1].uid}/"))
    assert "1 secret was taken out of the arguments" in text_of(page.get(f"/learnings/{three[2].uid}/"))


def test_guidance_is_edited_with_what_was_typed_kept_and_undone_later(page, three):
    row = three[1]
    path = f"/learnings/{row.uid}/"
    saved = page.post(f"{path}edit/", {"guidance": "20 a minute", "version": 1}, follow=True)
    assert "Guidance saved." in text_of(saved)
    stale = page.post(f"{path}edit/", {"guidance": "my words", "version": 1})
    said = text_of(stale, 409)
    assert "my words" in said
    assert 'value="2"' in said
    empty = page.post(f"{path}edit/", {"guidance": " ", "version": 2})
    assert "Delete it instead" in text_of(empty, 422)
    shown = text_of(page.get(path))
    undo = re.search(r'action="(/undo/\d+/)"', shown)[1]
    page.post(undo)
    row.refresh_from_db()
    assert (row.guidance, row.edited_by) == ("10 a minute", "")
    assert page.post(undo).status_code == 409
    held = page.post(f"{path}edit/", {"guidance": HOSTILE, "version": 3}, follow=True)
    assert "/memories/held/" in held.redirect_chain[-1][0]
    assert names_on(page, "?state=held") == ["scan"]


def test_an_undo_of_an_edit_leaves_a_newer_edit_as_it_is(page, three):
    row = three[1]
    edit = f"/learnings/{row.uid}/edit/"
    done = page.post(edit, {"guidance": "20 a minute", "version": 1}, follow=True)
    page.post(edit, {"guidance": "30 a minute", "version": 2})
    assert page.post(undo_of(done)).status_code == 409
    row.refresh_from_db()
    assert row.guidance == "30 a minute"


def test_a_message_shows_what_would_be_offered_and_why_and_logs_nothing(page, three, ana):
    before = list(Learning.objects.order_by("pk").values())
    shown = text_of(page.get("/learnings/try/?message=hedge+the+funding+spread"))
    offered = [name in shown for name in ("hedge the spread", "scan funding rates", "call the desk")]
    assert offered == [True, True, False]
    assert "needs permission" in shown
    assert "Nothing would be offered" in text_of(page.get("/learnings/try/?message=weather"))
    assert page.get("/learnings/try/?message=").status_code == 422
    assert page.get("/learnings/try/").status_code == 200
    assert list(Learning.objects.order_by("pk").values()) == before


def test_an_operator_reads_everybodys_masked_and_leaves_a_line(operator_page, three, ana, olga):
    key = "sk-ant-api03-" + "Ab1" * 30
    Learning.objects.filter(pk=three[1].pk).update(guidance=f"use {key}", held_at=NOON)
    for path in ("/learnings/?owner=ana", f"/learnings/{three[1].uid}/", "/learnings/try/?owner=ana&message=hedge"):
        answer = operator_page.get(path)
        assert (answer.status_code, key in text_of(answer)) == (200, False), path
    assert set(AccessEntry.objects.filter(owner=ana).values_list("kind", flat=True)) == {"learning", "learnings"}
    assert operator_page.post(f"/learnings/{three[0].uid}/edit/", {"guidance": "x", "version": 1}).status_code == 404
    operator_page.post(f"/learnings/{three[0].uid}/delete/")
    assert visitor(ana).post(f"/learnings/{three[0].uid}/restore/").status_code == 403


def test_switched_off_the_pages_say_so_and_deleting_still_works(page, three, settings):
    switch_off(settings)
    for path in ("/learnings/", f"/learnings/{three[0].uid}/", "/learnings/try/?message=hedge"):
        assert "MINARA_LEARNING_ENABLED is false" in text_of(page.get(path))
    assert page.post(f"/learnings/{three[0].uid}/edit/", {"guidance": "x", "version": 1}).status_code == 409
    deleted = page.post(f"/learnings/{three[0].uid}/delete/", follow=True)
    assert "MINARA_LEARNING_ENABLED is false" in text_of(page.post(undo_of(deleted)), 409)
    three[0].refresh_from_db()
    assert three[0].deleted_at is not None


def test_no_page_asks_once_for_each_row(operator_page, ana):
    for number in range(60):
        make_learning(ana, trigger=f"hedge number {number}", rules_version="older")
    uid = Learning.objects.latest("pk").uid
    for path in ("/learnings/?owner=all", f"/learnings/{uid}/", "/learnings/try/?owner=ana&message=hedge"):
        with CaptureQueriesContext(connection) as asked:
            assert operator_page.get(path).status_code == 200
        assert len(asked) <= MAX_QUERIES, (path, len(asked))
