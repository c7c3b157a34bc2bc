"""Tries to sign in are counted before anything is checked (trust W-10)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connections
from django.test import Client
from django.utils import timezone

from minara_site.access.security.lockout import neighbourhood
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.limits.tasks import delete_ended
from tests.access.security.conftest import HOME, PASSWORD, code_of, sign_in
from tests.access.security.test_factors import enrol
from tests.kit.tables import table

pytestmark = pytest.mark.usefixtures("frozen")
START = "2026-06-12T12:00:10Z"


def statuses(client, tries, **more):
    return [sign_in(client, password="wrong", **more).status_code for _ in range(tries)]


@pytest.mark.django_db
class TestOneName:
    def test_is_locked_for_15_minutes_after_five_wrong_passwords(self, client, ana):
        with time_machine.travel(START, tick=False) as clock:
            assert statuses(client, 5) == [422] * 5
            answer = sign_in(client)
            assert (answer.status_code, answer["Retry-After"]) == (429, "900")
            assert "15 minutes" in answer.content.decode()
            clock.shift(timedelta(minutes=14, seconds=55))
            answer = sign_in(client)
            assert (answer.status_code, answer["Retry-After"]) == (429, "5")
            clock.shift(timedelta(seconds=10))
            assert sign_in(client).status_code == 302

    def test_is_locked_wherever_the_burst_lies_in_a_window(self, client, ana):
        with time_machine.travel("2026-06-12T12:14:58Z", tick=False) as clock:
            statuses(client, 5)
            clock.shift(timedelta(minutes=14))
            assert sign_in(client).status_code == 429

    def test_is_open_after_15_minutes_also_when_the_worker_has_cleaned_up(self, client, ana):
        with time_machine.travel(START, tick=False) as clock:
            statuses(client, 5)
            clock.shift(timedelta(minutes=15, seconds=1))
            delete_ended(now=timezone.now())
            assert statuses(client, 4) == [422] * 4
            assert sign_in(client).status_code == 302

    def test_is_open_at_another_address_and_for_another_name(self, client, ana, ben):
        statuses(client, 6)
        assert sign_in(client, address="192.0.2.8").status_code == 302
        client.post("/logout")
        assert sign_in(client, "ben").status_code == 302

    def test_counts_as_one_in_any_spelling(self, client, ana):
        for name in ("ana", "ANA", " Ana ", "aNa", "anA"):
            assert sign_in(client, name, "wrong").status_code == 422
        assert sign_in(client).status_code == 429

    @pytest.mark.database
    def test_is_forgiven_by_a_success(self, client, ana):
        for _ in range(3):
            assert statuses(client, 4) == [422] * 4
            assert sign_in(client).status_code == 302
            client.post("/logout")

    def test_is_not_opened_by_a_header_that_anybody_can_write(self, client, ana):
        for number in range(5):
            client.post(
                "/login",
                {"login": "ana", "password": "wrong"},
                headers={"X-Forwarded-For": f"198.51.100.{number}", "X-Real-IP": f"198.51.100.{number}"},
                REMOTE_ADDR=HOME,
            )
        assert sign_in(client).status_code == 429

    def test_counts_unknown_names_alike(self, client, db):
        assert statuses(client, 6, name="nobody") == [422] * 5 + [429]


@pytest.mark.django_db
class TestSpraying:
    def test_a_thousand_tries_over_a_hundred_names_end_after_20(self, client):
        answers = [sign_in(client, f"name{number}", f"password {number}") for number in range(40)]
        assert [answer.status_code for answer in answers] == [422] * 20 + [429] * 20

    @pytest.mark.database
    def test_an_own_account_does_not_wipe_out_what_was_tried(self, client, ben):
        for number in range(19):
            assert sign_in(client, f"name{number}", "x").status_code == 422
        assert sign_in(client, "ben").status_code == 302
        client.post("/logout")
        assert sign_in(client, "name20", "x").status_code == 422
        assert sign_in(client, "name21", "x").status_code == 429
        assert sign_in(client, "ben").status_code == 429

    def test_many_people_of_one_office_come_in(self, client, ana):
        for _ in range(22):  # two more than the tries that end a spraying
            assert sign_in(client).status_code == 302
            client.post("/logout")

    def test_one_machine_cannot_leave_its_network(self):
        assert neighbourhood("2001:db8::1") == neighbourhood("2001:db8::ffff:2") != neighbourhood("2001:db8:0:1::1")
        assert neighbourhood("192.0.2.1") == "192.0.2.1"


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_tries_at_the_same_moment_do_not_slip_through(ana):
    def try_once(_number):
        try:
            return sign_in(Client(), password="wrong").status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(try_once, range(12)))
    assert (found.count(422), found.count(429)) == (5, 7)


@pytest.mark.django_db
@table(("name", "group"), [("ana", "known"), ("nobody", "unknown"), ("default", "no password")])
def test_every_refusal_hashes_once(client, ana, monkeypatch, name, group):
    """So that names cannot be told apart by time; the same hasher runs with the same work factor."""
    hashed = []
    encode = MD5PasswordHasher.encode

    def counting(self, password, salt, **more):
        hashed.append(password)
        return encode(self, password, salt, **more)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counting)
    assert sign_in(client, name, "wrong").status_code == 422
    assert len(hashed) == 1, group


def wrong_codes(app):
    """Return codes that the app does not show about now."""
    right = {code_of(app.secret, later=n) for n in (-1, 0, 1)}
    return [code for code in (f"{number:06}" for number in range(50)) if code not in right]


@pytest.mark.django_db
@pytest.mark.database
def test_five_wrong_tries_inside_a_session_end_it_however_slow_and_lock_no_other_door(browser, ana, with_app):
    with time_machine.travel(START, tick=False) as clock:
        app = with_app(ana)
        thief, owner = browser("ana"), browser("ana")
        for client, code in zip((thief, owner), app.codes[:2], strict=True):
            assert client.post("/mfa", {"code": code}).status_code == 302
        typed = {"old_password": "wrong", "new_password1": "staple tango rhubarb", "new_password2": "x"}
        assert thief.post("/settings/security/password/", typed).status_code == 422
        wrong = wrong_codes(app)
        for proof in (
            {"password": "wrong"},
            {"password": "wrong", "code": app.codes[2]},
            {"password": PASSWORD, "code": wrong[0]},
        ):
            clock.shift(timedelta(hours=1))
            assert thief.post("/reauthenticate", proof).status_code == 422
        answer = thief.post("/reauthenticate", {"password": PASSWORD, "code": wrong[1]})
        assert (answer.status_code, "You are signed out here" in answer.content.decode()) == (401, True)
        assert thief.get("/settings/")["Location"].startswith("/login")
        assert owner.post("/reauthenticate", {"password": PASSWORD, "code": app.codes[2]}).status_code == 303
        assert browser("ana").post("/mfa", {"code": code_of(app.secret)}).status_code == 302
        entry = AuditEntry.objects.get(tool_call="session_ended_unproven")
        assert (entry.owner_id, entry.actor) == (ana.pk, f"user:{ana.pk}")


@pytest.mark.django_db
class TestCodes:
    def test_five_wrong_ones_lock_the_second_step_from_anywhere(self, browser, ana, with_app):
        app = with_app(ana)
        wrong = wrong_codes(app)
        for number in range(5):
            client = browser("ana", address=f"192.0.2.{number}")
            assert client.post("/mfa", {"code": wrong[number]}).status_code == 422
        answer = client.post("/mfa", {"code": code_of(app.secret)})
        assert answer.status_code == 429
        assert int(answer["Retry-After"]) > 0
        assert client.get("/settings/").status_code == 302

    @pytest.mark.database
    def test_a_code_opens_once(self, browser, ana, with_app):
        app = with_app(ana)
        with time_machine.travel(START, tick=False) as clock:
            code = code_of(app.secret)
            assert browser("ana").post("/mfa", {"code": code}).status_code == 302
            assert browser("ana").post("/mfa", {"code": code}).status_code == 422
            clock.shift(timedelta(seconds=45))  # it would still fit: clocks may be off by half a minute
            assert browser("ana").post("/mfa", {"code": code}).status_code == 422
            assert browser("ana").post("/mfa", {"code": code_of(app.secret)}).status_code == 302

    def test_the_code_that_set_an_app_up_opens_nothing(self, browser, ana):
        with time_machine.travel(START, tick=False):
            client = browser("ana")
            secret, _codes = enrol(client)
            assert browser("ana").post("/mfa", {"code": code_of(secret)}).status_code == 422
            assert browser("ana").post("/mfa", {"code": code_of(secret, later=1)}).status_code == 302
