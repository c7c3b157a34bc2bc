"""`/quarantine/`: everything that waits for a person, of every kind, and who reviews what (U-19)."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse

from memory_app.memories.models import Memory
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.console.quarantine.claims import CLAIM_SECONDS
from minara_site.console.quarantine.verdicts import decide_items
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.errors import Invalid
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.jobs.models import Lease
from minara_site.shell.review import review_kinds
from tests.console.quarantine.second_kind import LessonReview
from tests.console.quarantine.test_pages import ORDERS, hold_text
from tests.kit.clock import NOON
from tests.kit.fixtures import make_user
from tests.kit.page import toasts_of, undo_of, words_of
from tests.kit.visitor import visitor
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
QUEUE, VERDICT = "/quarantine/", "/quarantine/verdict/"
MORE = {"HX-Request": "true"}


@pytest.fixture
def lessons(monkeypatch):
    """A second kind in the registry."""
    monkeypatch.setitem(review_kinds(), LessonReview.name, LessonReview())


@pytest.fixture
def oscars(db):
    """The browser of another operator."""
    return visitor(make_user("oscar", group="operators"))


def lesson(owner, content="Sell in May", *, at=NOON):
    return make_memory(owner, content, category=Category.LESSON, at=at)


def ids_of(response):
    """Return the items that a page lists, from the top."""
    return re.findall(r'<li class="q-row" id="([\w-]+)"', response.content.decode())


def next_of(response):
    """Return the address of the next page of the list."""
    return re.search(r'id="review-more" href="([^"]+)"', response.content.decode())[1]


def claim(client, item_id, **body):
    kind, _dash, key = item_id.partition("-")
    return client.post(f"/quarantine/claim/{kind}/{key}/", body, headers=MORE)


@pytest.mark.database
@pytest.mark.usefixtures("lessons")
class TestQueue:
    def test_merges_the_oldest_of_all_kinds_page_by_page_and_inserts_shift_nothing(self, operator_page, ana):
        moments = [NOON - timedelta(hours=n // 2) for n in range(120)]  # always two at one moment
        expected = []
        for n, at in enumerate(moments):
            if n % 3:
                letters = chr(ord("a") + n % 26) * (n // 26 + 1)  # none is like another
                expected.append((at, 0, hold_text(ana, f"{letters}\u200b", at=at).pk, "hold"))
            else:
                expected.append((at, 1, lesson(ana, f"lesson {n}", at=at).pk, "lesson"))
        seen, response = [], operator_page.get(QUEUE)
        seen += ids_of(response)
        while len(seen) < len(moments):
            hold_text(ana, "older\u200b", at=NOON - timedelta(days=30, seconds=len(seen)))
            response = operator_page.get(next_of(response), headers=MORE)
            seen += ids_of(response)
        assert seen == [f"{kind}-{pk}" for *_place, pk, kind in sorted(expected)]
        assert "Goal: 2 d. Oldest now: 30 d." in words_of(operator_page.get(QUEUE))

    def test_tabs_narrow_and_one_without_rows_is_not_shown(self, operator_page, ana):
        hold = hold_text(ana)
        assert "Lessons" not in words_of(operator_page.get(QUEUE))
        mine = lesson(ana)
        assert ids_of(operator_page.get(f"{QUEUE}?kind=lessons")) == [f"lesson-{mine.pk}"]
        assert ids_of(operator_page.get(f"{QUEUE}?kind=held")) == [f"hold-{hold.pk}"]

    def test_asks_few_queries_with_thousands_of_rows(self, operator_page, ana, django_assert_max_num_queries):
        made = hold_text(ana)
        fields = {field.attname: getattr(made, field.attname) for field in Hold._meta.fields if not field.primary_key}
        Hold.objects.bulk_create(Hold(**{**fields, "object_id": 10_000 + n}) for n in range(3_000))
        row = lesson(ana)
        fields = {field.attname: getattr(row, field.attname) for field in Memory._meta.fields if not field.primary_key}
        Memory.objects.bulk_create(Memory(**fields) for _n in range(3_000))
        for path in (QUEUE, f"{QUEUE}hold/{made.pk}/", f"{QUEUE}lesson/{row.pk}/", f"{QUEUE}?kind=lessons"):
            with django_assert_max_num_queries(20):
                assert operator_page.get(path).status_code == 200

    def test_similar_items_stand_beneath_the_oldest_of_them(self, operator_page, ana):
        holds = [
            hold_text(
                ana,
                f"Position {n} is hedged\u200b",
                at=NOON - timedelta(hours=9 - n),
            )
            for n in range(3)
        ]
        other = hold_text(ana, "Quite another\u200b", at=NOON - timedelta(hours=8.5))
        response = operator_page.get(QUEUE)
        assert ids_of(response) == [f"hold-{hold.pk}" for hold in (*holds, other)]
        assert "similar × 3" in words_of(response)
        assert f'name="then" value="hold-{holds[1].pk}"' in response.content.decode()
        last = operator_page.get(f"{QUEUE}hold/{holds[2].pk}/").content.decode()
        assert f'name="then" value="hold-{other.pk}"' in last

    def test_a_verdict_on_several_kinds_is_all_or_nothing_and_undone_by_one_toast(self, operator_page, ana):
        hold, mine = hold_text(ana), lesson(ana)
        body = {"action": "refuse", "ids": [f"hold-{hold.pk}", f"lesson-{mine.pk}"]}
        Memory.objects.filter(pk=mine.pk).update(deleted_at=NOON)
        assert toasts_of(operator_page.post(VERDICT, body, follow=True)) == ["Another was faster."]
        assert Hold.objects.get().decision is None
        Memory.objects.filter(pk=mine.pk).update(deleted_at=None)
        done = operator_page.post(VERDICT, body, follow=True)
        assert toasts_of(done) == ["Discarded 1 text. It can be held again for 30 days. Moved 1 lessons."]
        assert "All clear Last cleared by you just now." in words_of(done)
        operator_page.post(undo_of(done))
        assert Memory.objects.live().get() == mine
        assert Hold.objects.open().get().object_id == hold.object_id


class TestVerdict:
    def test_goes_on_to_the_next_unless_that_was_decided_meanwhile(self, operator_page, ana):
        first, second = hold_text(ana), hold_text(ana, "another\u200b")
        for ids, url in ((first, f"{QUEUE}hold/{second.pk}/?kind=held"), (second, f"{QUEUE}?kind=held")):
            body = {"ids": f"hold-{ids.pk}", "action": "refuse", "then": f"hold-{second.pk}"}
            assert operator_page.post(VERDICT, body | {"next": f"{QUEUE}?kind=held"})["Location"] == url

    def test_asks_once_more_and_leaves_such_items_out_of_several(self, operator_page, ana):
        orders, fine = hold_text(ana, ORDERS), hold_text(ana, "fine\u200b")
        body = {"action": "accept", "ids": f"hold-{orders.pk}"}
        assert "Release it anyway?" in words_of(operator_page.post(VERDICT, body))
        several = operator_page.post(
            VERDICT,
            {"action": "accept", "ids": [body["ids"], f"hold-{fine.pk}"]},
            follow=True,
        )
        assert toasts_of(several)[0] == "1 item asks once more: decide on it by itself."
        assert list(Hold.objects.open()) == [orders]
        operator_page.post(VERDICT, body | {"confirmed": "1"})
        assert not Hold.objects.open().exists()

    @pytest.mark.usefixtures("lessons")
    def test_a_kind_may_be_accepted_one_by_one_alone(self, operator_page, ana, monkeypatch):
        monkeypatch.setattr(LessonReview, "accepts_together", False)
        hold, mine, other = hold_text(ana, "fine\u200b"), lesson(ana), lesson(ana, "Buy in October")
        ids = [f"hold-{hold.pk}", f"lesson-{mine.pk}", f"lesson-{other.pk}"]
        assert "These are accepted one by one." not in operator_page.get(QUEUE).content.decode()
        listed = operator_page.get(f"{QUEUE}?kind=lessons").content.decode()
        assert re.search('title="These are accepted one by one." disabled name="action" value="accept"', listed)
        several = operator_page.post(VERDICT, {"action": "accept", "ids": ids, "confirmed": "1"}, follow=True)
        assert toasts_of(several)[0] == "2 items were left out: accept them one by one."
        assert not Hold.objects.open().exists()
        chosen = {review_kinds()["lesson"]: [str(mine.pk), str(other.pk)]}
        with pytest.raises(Invalid):
            decide_items(chosen, accepts=True, principal=Principal(ana, Role.OPERATOR), note="", now=NOON)
        assert ids_of(operator_page.get(QUEUE)) == ids[1:]
        operator_page.post(VERDICT, {"action": "refuse", "ids": ids[1:]})
        assert ids_of(operator_page.get(QUEUE)) == []

    def test_what_is_decided_stands_on_a_page_of_its_own(self, operator_page, ana):
        hold = hold_text(ana)
        operator_page.post(VERDICT, {"action": "refuse", "ids": f"hold-{hold.pk}", "note": "no good"})
        url = reverse("decided:one", args=[hold.pk])
        assert operator_page.get(f"{QUEUE}hold/{hold.pk}/")["Location"] == url
        assert "Discarded by you" in words_of(operator_page.get("/quarantine/decided/?reason=discarded"))
        assert re.search("no good.*Hold again", words_of(operator_page.get(url)))

    def test_refuses_what_it_does_not_know(self, operator_page, ana):
        hold = hold_text(ana)
        bodies = ({}, {"action": "refuse"}, {"action": "burn", "ids": f"hold-{hold.pk}"})
        assert [operator_page.post(VERDICT, body).status_code for body in bodies] == [422] * 3
        for item_id in ("hold-x", "hold-999", "nothing-1", "hold"):
            assert operator_page.post(VERDICT, {"action": "refuse", "ids": item_id}).status_code == 404


@pytest.mark.database
class TestClaim:
    def test_an_item_that_another_person_reviews_is_theirs_for_five_minutes(self, operator_page, oscars, ana):
        hold, other = hold_text(ana), hold_text(ana, "other\u200b", at=NOON + timedelta(seconds=1))
        item_id, url = f"hold-{hold.pk}", f"{QUEUE}hold/{hold.pk}/"
        body = {"action": "refuse", "ids": item_id}
        assert "Yours until 12:05" in words_of(claim(operator_page, item_id))
        assert "olga is reviewing it until 12:05" in words_of(claim(oscars, item_id))
        assert "olga is reviewing it until 12:05" in words_of(oscars.get(url))
        assert f'data-shown-row="hold-{other.pk}"' in oscars.get(QUEUE).content.decode()
        for path, sent in ((VERDICT, body), (VERDICT, body | {"ids": [item_id, f"hold-{other.pk}"]})):
            refused = oscars.post(path, sent)
            assert refused.status_code == 409
            assert toasts_of(refused) == ["olga is reviewing it until 12:05: nothing was changed."]
        asked = oscars.post(VERDICT, body, headers=MORE)
        assert (asked.status_code, asked["HX-Reswap"]) == (409, "none")
        oscars.post(f"/memories/held/{hold.pk}/discard/")
        assert Hold.objects.open().count() == 2
        with time_machine.travel(NOON + timedelta(seconds=CLAIM_SECONDS - 1), tick=False):
            assert oscars.post(VERDICT, body).status_code == 409
        with time_machine.travel(NOON + timedelta(seconds=CLAIM_SECONDS), tick=False):
            assert oscars.post(VERDICT, body).status_code == 303
        assert Hold.objects.open().get() == other

    def test_it_is_renewed_and_ends_with_the_next_item_at_its_verdict_and_when_asked(self, operator_page, ana):
        first, second = (f"hold-{hold_text(ana, text).pk}" for text in ("first\u200b", "second\u200b"))
        claim(operator_page, first)
        with time_machine.travel(NOON + timedelta(minutes=4), tick=False):
            assert "Yours until 12:09" in words_of(claim(operator_page, first))
        claim(operator_page, second)
        assert Lease.objects.get(name__startswith="review:").name == f"review:{second}"
        operator_page.post(VERDICT, {"action": "refuse", "ids": second})
        assert not Lease.objects.filter(name__startswith="review:").exists()
        assert "Yours" not in words_of(claim(operator_page, second))
        claim(operator_page, first)
        assert words_of(claim(operator_page, first, end="1")) == ""

    def test_a_look_alone_claims_nothing(self, operator_page, ana):
        operator_page.get(f"{QUEUE}hold/{hold_text(ana).pk}/")
        assert not Lease.objects.filter(name__startswith="review:").exists()
