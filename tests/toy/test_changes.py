"""What acts changed, undone by the engine alone: no room says more of notes than their columns (changes.md)."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.changes import services
from minara_site.kernel.changes.models import Change, ChangeSet, SetState
from minara_site.kernel.changes.selectors import list_history, plan_undo
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import Cancelled, Claim
from tests.kit.clock import NOON
from tests.kit.page import text_of, toasts_of, undo_of, words_of
from tests.kit.visitor import visitor
from tests.toy.rows import make

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LATER, EXACT = NOON + timedelta(hours=1), NOON + timedelta(microseconds=123_457)
NOTE = "note"


def archive(owner, *notes, by=None, now=EXACT):
    from minara_site.kernel.ownership import EVERYONE
    from tests.toy.services import archive_notes

    actor = f"user:{(by or owner).pk}"
    return archive_notes(owner=EVERYONE, ids=[note.pk for note in notes], actor=actor, now=now)


def archived():
    from tests.toy.models import Note

    return dict(Note.objects.order_by("pk").values_list("text", "archived_at"))


def rows():
    from tests.toy.models import Note

    return list(Note.objects.order_by("pk").values())


def undo_page(changed):
    return reverse("undo", args=[changed.pk])


def test_an_act_is_undone_and_its_undo_is_undone_to_the_microsecond(page, ana):
    notes, before = make(ana, "one", "two"), rows()
    changed = archive(ana, *notes)
    after = rows()
    done = page.post(undo_page(changed), follow=True)
    assert toasts_of(done) == ["Undone for 2 notes."]
    assert rows() == before
    page.post(undo_of(done))
    assert rows() == after
    acts = list(ChangeSet.objects.order_by("pk").values_list("act", "undoes"))
    assert acts == [("notes_archived", None), ("undone", changed.pk), ("undone", changed.pk + 1)]
    entry = AuditEntry.objects.get(tool_call="notes_unarchived")
    keys = [note.pk for note in notes]
    assert entry.details == {"change_set": changed.pk + 1, "undoes": changed.pk, "count": 2, "ids": keys}


def test_what_changed_nothing_is_no_act_and_equal_moments_of_one_person_are_two_acts(page, ana):
    one, two = make(ana, "one", "two")
    first, _second = archive(ana, one), archive(ana, two)
    assert archive(ana, one, two) is None
    page.post(undo_page(first))
    assert archived() == {"one": None, "two": EXACT}


def test_a_row_that_reads_otherwise_stays_and_the_page_says_why_and_who(page, operator_page, ana, olga):
    one, two = make(ana, "one", "two")
    changed = archive(ana, one, two)
    archive_again(one, olga)
    shown = words_of(page.get(undo_page(changed)))
    assert "What is undone" in shown
    assert "Note: 1" in shown
    assert "What stays as it is" in shown
    assert "its value was changed afterwards, by olga" in shown
    assert toasts_of(page.post(undo_page(changed), follow=True))[-1] == (
        "Undone for 1 note. 1 stays as it is: its value was changed afterwards."
    )
    assert archived() == {"one": LATER, "two": None}
    assert "its value was changed afterwards" in text_of(page.post(undo_page(changed)), 409)


def archive_again(note, by):
    """Let another person take a note out of the archive and put it there again."""
    from tests.toy.models import Note

    watched = services.watch(NOTE, [note := Note.objects.get(pk=note.pk)])
    note.archived_at = LATER
    note.save()
    return services.record("notes_archived", watched, actor=f"user:{by.pk}", at=LATER)


def test_a_column_beside_comes_back_where_it_is_unchanged_and_is_never_in_the_way(page, ana):
    from tests.toy.models import Note

    one, two = make(ana, "one", "two")
    changed = archive(ana, one, two)
    Note.objects.filter(pk=one.pk).update(updated_at=LATER)
    page.post(undo_page(changed))
    assert [(row["archived_at"], row["updated_at"]) for row in rows()] == [(None, LATER), (None, NOON)]


def test_a_purged_row_and_a_plan_that_is_another_by_now_are_left(page, ana):
    one, two = make(ana, "one", "two")
    changed = archive(ana, one, two)
    plan = plan_undo([changed.pk], actor="", now=LATER).sha256
    assert plan == plan_undo([changed.pk], actor=f"user:{ana.pk}", now=NOON).sha256
    one.delete()
    stale = page.post(undo_page(changed), {"plan": plan})
    assert "This changed since you opened it" in text_of(stale, 409)
    assert "it was removed for good" in stale.content.decode()
    assert archived() == {"two": EXACT}
    page.post(undo_page(changed), {"plan": plan_undo([changed.pk], actor="", now=LATER).sha256})
    assert archived() == {"two": None}


def test_each_owner_undoes_their_rows_an_operator_all_and_nobody_else_any(page, operator_page, ana, ben, sam, olga):
    changed = archive(ana, *make(ana, "hers"), *make(ben, "his", "his too"), by=olga)
    shown = words_of(page.get(undo_page(changed)))
    assert "Note: 1" in shown
    assert "What is not yours" in shown
    assert "his" not in shown.replace("This", "").replace("this", "")
    assert toasts_of(page.post(undo_page(changed), follow=True)) == ["Undone for 1 note. What is not yours stays."]
    assert archived() == {"hers": None, "his": EXACT, "his too": EXACT}
    assert visitor(sam).get(undo_page(changed)).status_code == 403
    own = archive(ana, *make(ana, "more"))
    assert visitor(ben).post(undo_page(own)).status_code == 404
    assert visitor(ben).get(reverse("undo", args=[987_654])).status_code == 404
    assert operator_page.post(undo_page(changed)).status_code == 303
    assert operator_page.post(undo_page(own)).status_code == 303
    assert set(archived().values()) == {None}


def test_what_was_made_goes_unless_another_changed_it_and_comes_back_as_it_was(ana, olga):
    made = {NOTE: [str(note.pk) for note in make(ana, "mine", "moved", "moved twice")]}
    from tests.toy.models import Note

    mine, moved, twice = Note.objects.order_by("pk")
    archive(ana, moved, by=olga)
    own = archive(ana, twice)
    sets = ChangeSet.objects.filter(actor=f"user:{ana.pk}")
    plan = plan_undo(sets, made, actor="user:9", now=LATER)
    assert [(step.key, step.after["archived_at"]) for step in plan.steps] == [
        (str(mine.pk), LATER),
        (str(twice.pk), LATER),
    ]
    assert [(stay.key, stay.reason, stay.since.actor) for stay in plan.stays] == [
        (str(moved.pk), "changed_since", f"user:{olga.pk}")
    ]
    before = rows()
    rolled = services.apply_plan(plan, act="rolled", actor="user:9")
    assert archived() == {"mine": LATER, "moved": EXACT, "moved twice": LATER}
    back = services.apply_plan(plan_undo([rolled.pk], actor="", now=LATER), act="undone", actor="user:9", undoes=rolled)
    assert rows() == before
    again = plan_undo(sets, made, actor="user:9", now=LATER)
    assert again.sha256 == plan.sha256, "rolled back, undone, and rolled back again is no special case"
    assert own.pk < rolled.pk < back.pk


def test_an_act_that_was_undone_and_done_again_many_times_is_undone_in_few_queries(page, ana):
    changed = archive(ana, *make(ana, "one"))
    for _time in range(25):
        page.post(undo_page(changed))
        changed = ChangeSet.objects.latest("pk")
    with CaptureQueriesContext(connection) as asked:
        page.get(undo_page(changed))
    assert len(asked) <= 20
    assert archived() == {"one": None}


def test_the_history_of_a_row_has_it_before_and_after_each_act(page, ana):
    [note] = make(ana, "one")
    changed = archive(ana, note)
    page.post(undo_page(changed))
    note.refresh_from_db()
    past = [(before.archived_at, after.archived_at, by.act) for before, after, by in list_history(NOTE, note)]
    assert past == [(EXACT, None, "undone"), (None, EXACT, "notes_archived")]


class TestManyRows:
    """More than one transaction takes: a job moves them in slices, and what it has done stands at any moment."""

    @pytest.fixture
    def many(self, ana):
        return archive(ana, *make(ana, *(f"note {number}" for number in range(1_200))))

    @pytest.fixture
    def running(self, many, page):
        """The undo of many rows, which no worker has begun."""
        assert page.post(undo_page(many))["Location"] == undo_page(many), "it is looked at first"
        form = text_of(page.get(undo_page(many)))
        plan = form.partition('name="plan" value="')[2].partition('"')[0]
        answer = page.post(undo_page(many), {"plan": plan})
        made = ChangeSet.objects.get(undoes=many)
        assert answer["Location"] == undo_page(made)
        assert "It waits for a worker." in words_of(page.get(undo_page(made)))
        return made

    def count(self):
        return sum(at is None for at in archived().values())

    def test_a_worker_that_dies_between_two_slices_leaves_what_is_done_and_another_goes_on(self, running, page, many):
        services.apply_next(running.pk)
        assert self.count() == 500
        assert plan_undo([many.pk], actor="", now=LATER).steps == plan_undo([many.pk], actor="", now=NOON).steps
        assert len(plan_undo([running.pk], actor="", now=LATER).steps) == 500, "others see what is done"
        assert services.apply_set(running.pk, now=LATER) == {"moved": 700, "changed": 0}
        assert self.count() == 1_200
        running.refresh_from_db()
        assert running.state == SetState.DONE
        assert services.apply_set(running.pk, now=LATER) == {"moved": 0, "changed": 0}
        counts = AuditEntry.objects.filter(tool_call="notes_unarchived").order_by("pk").values_list("details__count")
        assert [count for (count,) in counts] == [500, 500, 200]

    def test_a_row_that_changes_meanwhile_stays_and_is_counted(self, running, ana, olga):
        from tests.toy.models import Note

        services.apply_next(running.pk)
        archive_again(last := Note.objects.latest("pk"), olga)
        assert services.apply_set(running.pk, now=LATER) == {"moved": 699, "changed": 1}
        last.refresh_from_db()
        assert last.archived_at == LATER
        assert not Change.objects.filter(set=running, key=str(last.pk)).exists()

    def test_stopped_it_leaves_what_is_done_which_can_be_undone(self, running, page, ana):
        run = JobRun.objects.get(job=services.APPLY)
        assert page.post(undo_page(running)).status_code == 409, "it is still being carried out"
        services.apply_next(running.pk)
        JobRun.objects.filter(pk=run.pk).update(
            state=RunState.RUNNING, attempts=1, worker="w", cancel_requested_at=NOON
        )
        with pytest.raises(Cancelled):
            services.apply_set(running.pk, now=LATER, claim=Claim(run.pk, run.job, run.arguments, 1, "w"))
        running.refresh_from_db()
        assert (running.state, running.changes.count(), self.count()) == (SetState.STOPPED, 500, 500)
        assert "This undo was stopped." in words_of(page.get(undo_page(running)))
        page.post(undo_page(running))
        assert self.count() == 0

    def test_one_that_is_stopped_before_a_worker_begins_changed_nothing(self, running, page, many):
        page.post(undo_page(running), {"stop": "1"})
        shown = page.get(undo_page(running), follow=True)
        assert shown.redirect_chain == [(undo_page(many), 303)]
        assert "Note: 1,200" in words_of(shown)
        running.refresh_from_db()
        assert (running.state, running.changes.count(), self.count()) == (SetState.STOPPED, 0, 0)

    def test_stopping_what_has_ended_changes_nothing(self, running, page, many):
        assert page.post(undo_page(many), {"plan": plan_undo([many.pk], actor="", now=LATER).sha256}).status_code == 409
        services.apply_set(running.pk, now=LATER)
        assert page.post(undo_page(running), {"stop": "1"}).status_code == 303
        running.refresh_from_db()
        assert (running.state, running.changes.count(), self.count()) == (SetState.DONE, 1_200, 1_200)
        part = page.get(undo_page(running), HTTP_HX_REQUEST="true")
        assert "This undo is done." in words_of(part), "the part that a running one asks for"

    def test_who_asked_for_it_and_operators_see_and_stop_it(self, operator_page, page, ana, ben):
        changed = archive(ana, *make(ana, "hers"), *make(ben, *(f"note {number}" for number in range(600))))
        plan = plan_undo([changed.pk], actor="", now=LATER).sha256
        assert operator_page.post(undo_page(changed), {"plan": plan}).status_code == 303
        made = ChangeSet.objects.get(undoes=changed)
        for answer in (page.get(undo_page(made)), page.post(undo_page(made), {"stop": "1"})):
            assert not re.search(r"\b601\b", text_of(answer, 409))  # a request's id may have these digits
        JobRun.objects.filter(job=services.APPLY).update(state=RunState.FAILED)
        assert "An operator can try it again." in words_of(operator_page.get(undo_page(made)))
        assert operator_page.post(undo_page(made), {"stop": "1"}).status_code == 303
        made.refresh_from_db()
        assert made.state == SetState.STOPPED

    def test_what_an_erased_owner_had_is_left_out(self, running, ana):
        from tests.toy.models import Note

        services.apply_next(running.pk)
        services.erase_owner(ana.pk)
        Note.objects.all().delete()
        ana.delete()
        assert services.apply_set(running.pk, now=LATER) == {"moved": 0, "changed": 0}
        assert (ChangeSet.objects.get(pk=running.pk).state, Change.objects.count()) == (SetState.DONE, 0)

    def test_its_page_asks_few_queries_and_shows_the_first_rows(self, many, page):
        with CaptureQueriesContext(connection) as asked:
            shown = words_of(page.get(undo_page(many)))
        assert len(asked) <= 20
        assert "Note: 1,200" in shown
