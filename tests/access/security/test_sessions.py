"""How long a session lives, and who ends it (trust W-09)."""

from datetime import timedelta

import pytest
import time_machine
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from minara_site.access.adapters import ClosedAccountAdapter
from minara_site.access.security.core import BROWSERS, SYSTEMS, first_named
from minara_site.access.security.sessions import BEGUN
from minara_site.access.tasks import clear_expired_sessions
from minara_site.access.users import disable_user, end_sessions_of
from minara_site.kernel.audit_log.models import AuditEntry
from tests.access.security.conftest import sign_in
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
START = "2026-06-12T12:00:00Z"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1"
NEW = "staple of four plain words"


def is_in(client):
    return client.get("/settings/").status_code == 200


class TestLife:
    @table(
        ("name", "idle", "step", "absolute"),
        [
            ("ana", timedelta(days=14), timedelta(days=7), timedelta(days=30)),
            ("olga", timedelta(minutes=30), timedelta(minutes=25), timedelta(hours=12)),
        ],
    )
    def test_ends_when_idle_and_at_last(self, browser, ana, olga, name, idle, step, absolute):
        with time_machine.travel(START, tick=False) as clock:
            idler = browser(name)
            clock.shift(idle - timedelta(seconds=1))
            assert is_in(idler)
            clock.shift(idle)
            assert not is_in(idler)
        with time_machine.travel(START, tick=False) as clock:
            busy = browser(name)
            for _ in range(int(absolute / step)):
                clock.shift(step)
                assert busy.get("/v1/memory?limit=1").status_code == 200
            assert is_in(busy)
            clock.shift(absolute % step)
            assert not is_in(busy)
            assert not UserSession.objects.filter(session_key=busy.session.session_key).exists()

    def test_of_somebody_who_becomes_operator_is_an_operators_at_once(self, browser, ana):
        with time_machine.travel(START, tick=False) as clock:
            client = browser("ana")
            ana.groups.add(Group.objects.get(name="operators"))
            clock.shift(timedelta(minutes=29))
            assert client.get("/ops/jobs/").status_code == 200
            clock.shift(timedelta(minutes=30))
            assert not is_in(client)

    def test_without_a_beginning_is_over(self, browser, ana):
        client = browser("ana")
        session = client.session
        del session[BEGUN]
        session.save()
        assert not is_in(client)

    def test_is_noted_once_a_minute(self, browser, ana, django_assert_num_queries):
        with time_machine.travel(START, tick=False) as clock:
            client = browser("ana")
            first = UserSession.objects.get()
            clock.shift(timedelta(seconds=59))
            with django_assert_num_queries(2):
                client.get("/mfa")  # a page that asks for nothing but who is there
            assert UserSession.objects.get().last_seen_at == first.last_seen_at
            clock.shift(timedelta(seconds=2))
            client.get("/mfa")
            assert UserSession.objects.get().last_seen_at == first.last_seen_at + timedelta(seconds=61)

    @pytest.mark.database
    def test_takes_a_new_key_at_every_proof_of_who_is_there(self, browser, ana):
        client = browser("ana")
        keys = [client.session.session_key]
        client.post("/reauthenticate", {"password": "correct horse battery"})
        keys.append(client.session.session_key)
        assert len(set(keys)) == 2
        assert [row.session_key for row in UserSession.objects.all()] == keys[1:]
        assert not Session.objects.filter(pk=keys[0]).exists()

    def test_one_that_was_ended_meanwhile_takes_no_new_key(self, browser, ana, now, monkeypatch):
        client = browser("ana")

        def prove(*_asked):
            end_sessions_of(username="ana", now=now, actor="test")
            return True

        monkeypatch.setattr(ClosedAccountAdapter, "reauthenticate", prove)
        client.post("/reauthenticate", {"password": "correct horse battery"})
        assert not Session.objects.exists()
        assert not is_in(client)

    @pytest.mark.database
    def test_none_takes_a_new_key_while_all_are_ended(self, browser, ana, now):
        browser("ana")
        with CaptureQueriesContext(connection) as queries:
            end_sessions_of(username="ana", now=now, actor="test")
        read = next(each["sql"] for each in queries if "usersessions" in each["sql"])
        assert ("FOR UPDATE" in read) is connection.features.has_select_for_update


class TestList:
    def test_shows_where_somebody_is_signed_in(self, browser, ana, ben):
        browser("ben")
        here = browser("ana")
        there = browser()
        there.defaults["HTTP_USER_AGENT"] = FIREFOX
        sign_in(there, address="203.0.113.9")
        page = here.get("/settings/security/").content.decode()
        assert "Firefox on Windows" in page
        assert "203.0.113.9" in page
        assert page.count("This one") == 1
        assert page.count("/end/") == 2  # the other one, and all others
        page = here.get("/settings/security/", headers={"Accept-Language": "zh-hans"}).content.decode()
        assert "203.0.113.9</span>，" in page

    def test_ends_one_and_writes_it_down(self, browser, ana):
        here, there = browser("ana"), browser("ana")
        row = UserSession.objects.get(session_key=there.session.session_key)
        assert here.post(f"/settings/security/sign-ins/{row.pk}/end/").status_code == 303
        assert not is_in(there)
        assert is_in(here)
        assert AuditEntry.objects.get(tool_call="sign_in_ended").details == {"session": row.pk}

    @pytest.mark.database
    def test_ends_all_others(self, browser, ana, ben):
        here, others, stranger = browser("ana"), [browser("ana"), browser("ana")], browser("ben")
        assert here.post("/settings/security/sign-ins/end/").status_code == 303
        assert [is_in(each) for each in (*others, here, stranger)] == [False, False, True, True]
        assert AuditEntry.objects.get(tool_call="sessions_ended").details == {"ended": 2}

    @table(
        ("agent", "words"),
        [
            (FIREFOX, ("Firefox", "Windows")),
            (SAFARI, ("Safari", "iPhone")),
            ("Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36 Edg/140.0", ("Edge", "Linux")),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/140.0 Safari/537.36", ("Chrome", "macOS")),
            ("curl/8", ("", "")),
        ],
    )
    def test_says_it_in_plain_words(self, agent, words):
        assert (first_named(BROWSERS, agent), first_named(SYSTEMS, agent)) == words


class TestEnding:
    def test_a_new_password_ends_the_others(self, browser, ana):
        here, there = browser("ana"), browser("ana")
        typed = {"old_password": "correct horse battery", "new_password1": NEW, "new_password2": NEW}
        assert here.post("/settings/security/password/", typed).status_code == 303
        assert (is_in(here), is_in(there)) == (True, False)
        assert UserSession.objects.count() == Session.objects.count() == 1
        entry = AuditEntry.objects.get(tool_call="password_changed")
        assert (entry.owner_id, entry.actor) == (ana.pk, f"user:{ana.pk}")
        assert sign_in(there).status_code == 422
        assert sign_in(there, password=NEW).status_code == 302

    @table(("act", "recorded"), [(disable_user, "user_disabled"), (end_sessions_of, "sessions_ended")])
    def test_an_operator_ends_them_at_once(self, browser, ana, ben, now, act, recorded):
        clients, stranger = [browser("ana"), browser("ana")], browser("ben")
        act(username="ana", now=now, actor="test")
        assert [is_in(each) for each in (*clients, stranger)] == [False, False, True]
        assert UserSession.objects.count() == 1
        assert AuditEntry.objects.get(tool_call=recorded).owner_id == ana.pk

    def test_signing_out_leaves_nothing(self, browser, ana):
        client = browser("ana")
        client.post("/logout")
        assert not UserSession.objects.exists()
        assert not Session.objects.exists()

    @pytest.mark.database
    def test_expired_ones_leave_with_their_traces_and_no_others(self, browser, ana):
        with time_machine.travel(START, tick=False) as clock:
            browser("ana")
            clock.shift(timedelta(days=15))
            now = timezone.now()
            for key, expires_at in (("old", now - timedelta(seconds=1)), ("live", now)):
                Session.objects.create(session_key=key, session_data="x", expire_date=expires_at)
            assert clear_expired_sessions(now=now) == {"deleted": 2}
            assert Session.objects.get().session_key == "live"
            assert not UserSession.objects.exists()
