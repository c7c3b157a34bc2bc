"""Second factors: enrolment, the second step, recovery codes, and operators who must have one (trust W-11)."""

import base64
import html
import json
import re
from datetime import timedelta

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from minara_site.access.models import User
from minara_site.access.security.factors import factor_exists
from minara_site.access.security.passwords import change_password
from minara_site.access.users import disable_user, enable_user
from minara_site.kernel.audit_log.models import AuditEntry
from tests.access.security.conftest import code_of, sign_in
from tests.access.test_sign_in import FOREIGN
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
START = "2026-06-12T12:00:00Z"
APP, SECURITY = "/settings/security/app/", "/settings/security/"


def form_of(client):
    """Return what the page carries for the app: the sealed secret, and the secret as people type it."""
    page = client.get(APP).content.decode()
    sealed = html.unescape(re.search(r'name="sealed" value="([^"]+)"', page)[1])
    return sealed, re.search(r'id="secret">([^<]+)<', page)[1].replace(" ", "")


def enrol(client):
    """Set up an app; return its secret and the recovery codes that the answer shows."""
    sealed, secret = form_of(client)
    answer = client.post(APP, {"sealed": sealed, "code": code_of(secret)})
    assert answer.status_code == 201
    return secret, re.search(r'id="codes"[^>]*>([^<]+)<', answer.content.decode())[1].split()


def deeply_signed():
    """Return what no browser sends: data of an authenticator that nests 5 000 deep."""
    coded = base64.urlsafe_b64encode(b"a" * 32 + b"\x80" + b"a" * 4 + b"\x81" * 5000).decode()
    made = base64.urlsafe_b64encode(
        b'{"type": "webauthn.get", "challenge": "aa", "origin": "http://localhost"}'
    ).decode()
    response = {"clientDataJSON": made, "authenticatorData": coded, "signature": "aaaa", "userHandle": "MQ"}
    return json.dumps({"id": "aaaa", "rawId": "aaaa", "type": "public-key", "response": response})


class TestApp:
    def test_is_set_up_with_a_picture_a_secret_and_a_first_code(self, browser, ana):
        client, elsewhere = browser("ana"), browser("ana")
        assert 'src="data:image/svg+xml;base64,' in client.get(APP).content.decode()
        _secret, codes = enrol(client)
        assert len({*codes}) == 10
        assert client.get(SECURITY).status_code == 200
        assert elsewhere.get(SECURITY).status_code == 302
        entry = AuditEntry.objects.get(tool_call="second_factor_added")
        assert entry.details == {"factor": Authenticator.objects.get(type="totp").pk, "kind": "totp"}
        assert client.get(APP)["Location"] == SECURITY

    @table("code", ["", "000000", "abc", "１２３４５６", "x" * 50, "\ud800", "12345'--"])
    def test_needs_a_code_that_fits(self, browser, ana, code):
        client = browser("ana")
        sealed, _secret = form_of(client)
        answer = client.post(APP, {"sealed": sealed, "code": code.encode("utf-8", "surrogatepass")})
        assert answer.status_code == 422
        assert not Authenticator.objects.exists()

    def test_takes_no_secret_of_somebody_else(self, browser, ana, ben):
        sealed, secret = form_of(browser("ben"))
        assert browser("ana").post(APP, {"sealed": sealed, "code": code_of(secret)}).status_code == 422
        assert browser("ana").post(APP, {"sealed": secret, "code": code_of(secret)}).status_code == 422

    @pytest.mark.database
    def test_is_stored_encrypted(self, ana, with_app):
        app = with_app(ana)
        with connection.cursor() as cursor:
            cursor.execute("SELECT data FROM mfa_authenticator")
            stored = repr(cursor.fetchall())
        assert not any(text in stored for text in (app.secret, *app.codes))

    def test_of_another_secret_key_fits_no_code(self, browser, ana, with_app, settings):
        app = with_app(ana)
        settings.SECRET_KEY = "another " * 8
        client = browser("ana")
        assert client.post("/mfa", {"code": code_of(app.secret)}).status_code == 422

    def test_is_removed_with_the_codes_and_written_down(self, browser, ana):
        client = browser("ana")
        enrol(client)
        row = Authenticator.objects.get(type="totp")
        path = f"/settings/security/factors/{row.pk}/remove/"
        assert "It is the last one" in client.get(path).content.decode()
        assert client.post(path, {"word": "remove"}).status_code == 303
        assert not Authenticator.objects.exists()
        assert AuditEntry.objects.get(tool_call="second_factor_removed").details["factor"] == row.pk


class TestSecondStep:
    def test_asks_for_a_code_after_the_password(self, browser, ana, with_app):
        app = with_app(ana)
        client = browser()
        answer = sign_in(client, next="/memories/?q=a")
        assert answer["Location"] == "/mfa"
        before = client.session.session_key
        assert client.get("/settings/")["Location"] == "/login?next=%2Fsettings%2F"
        assert not AuditEntry.objects.filter(tool_call="signed_in").exists()
        assert client.get("/mfa").status_code == 200
        answer = client.post("/mfa", {"code": code_of(app.secret)})
        assert (answer.status_code, answer["Location"]) == (302, "/memories/?q=a")
        assert client.session.session_key != before
        assert client.get("/settings/").status_code == 200
        assert AuditEntry.objects.get(tool_call="signed_in").owner == ana

    @pytest.mark.database
    def test_takes_each_recovery_code_once(self, browser, ana, with_app):
        codes = with_app(ana).codes
        assert browser("ana").post("/mfa", {"code": codes[0]}).status_code == 302
        assert browser("ana").post("/mfa", {"code": codes[0]}).status_code == 422
        client = browser("ana")
        assert client.post("/mfa", {"code": f"{codes[1][:4]} {codes[1][4:]}"}).status_code == 302
        assert "8 codes left" in client.get(SECURITY).content.decode()

    def test_is_nothing_without_the_password(self, browser, ana, with_app):
        app = with_app(ana)
        client = browser()
        assert client.get("/mfa")["Location"] == "/login"
        assert client.post("/mfa", {"code": code_of(app.secret)})["Location"] == "/login"

    def test_ends_with_the_password_it_was_begun_with(self, browser, ana, with_app):
        codes = with_app(ana).codes
        client = browser("ana")
        change_password(user=ana, password="staple of four words", session_key="", now=timezone.now(), actor="test")
        assert client.post("/mfa", {"code": codes[0]})["Location"] == "/login"
        assert client.get("/mfa")["Location"] == "/login"

    def test_brings_nobody_in_who_was_disabled_meanwhile(self, browser, ana, with_app):
        codes = with_app(ana).codes
        client = browser("ana")
        disable_user(username="ana", now=timezone.now(), actor="test")
        assert client.post("/mfa", {"code": codes[0]})["Location"] == "/login"
        enable_user(username="ana", now=timezone.now(), actor="test")
        assert client.get("/settings/")["Location"] == "/login?next=%2Fsettings%2F"

    def test_ends_after_a_quarter_of_an_hour(self, browser, ana, with_app):
        app = with_app(ana)
        with time_machine.travel(START, tick=False) as clock:
            client = browser("ana")
            clock.shift(timedelta(minutes=16))
            assert client.post("/mfa", {"code": code_of(app.secret)})["Location"] == "/login"

    @table("credential", ["{}", "[]", "1", '"a"', "null", "{", '{"response": 1}', '{"id": "a", "rawId": "a", "response": {"userHandle": "MQ"}, "type": "public-key"}', "[" * 100_000, deeply_signed()])  # fmt: skip
    def test_refuses_a_made_up_passkey(self, browser, ana, with_app, credential):
        with_app(ana)
        client = browser("ana")
        client.post("/login/passkey/options/")
        assert client.post("/mfa", {"credential": credential}).status_code == 422
        signed_in = browser()
        signed_in.post("/login/passkey/options/")
        assert signed_in.post("/login/passkey/", {"credential": credential}).status_code == 422
        ready = browser()
        ready.force_login(ana)
        ready.post("/settings/security/passkeys/options/")
        assert ready.post("/settings/security/passkeys/new/", {"credential": credential}).status_code == 422
        assert ready.post("/reauthenticate", {"credential": credential}).status_code == 422

    @table("address", FOREIGN[::6])  # all of them at the first step: tests/access/test_sign_in.py
    def test_never_leads_elsewhere(self, browser, ana, with_app, address):
        codes = with_app(ana).codes
        client = browser()
        assert sign_in(client, next=address)["Location"] == "/mfa"
        assert client.get("/mfa", {"next": address}).status_code == 200
        assert client.post("/mfa", {"code": codes[0], "next": address})["Location"] == "/"
        page = client.get("/reauthenticate", {"next": address}).content.decode()
        assert f'name="next" value="{html.escape(address)}"' not in page
        proof = {"password": "correct horse battery", "code": codes[1]}
        answer = client.post("/reauthenticate", {**proof, "next": address})
        assert answer["Location"] == SECURITY


class TestRecoveryCodes:
    def test_are_renewed_and_shown_once(self, browser, ana):
        client = browser("ana")
        _secret, before = enrol(client)
        answer = client.post("/settings/security/codes/", {"word": "replace"})
        page = answer.content.decode()
        new = re.search(r'id="codes"[^>]*>([^<]+)<', page)[1].split()
        assert answer.status_code == 201
        assert 'download="minara-recovery-codes.txt"' in page
        assert not {*new} & {*before}
        assert browser("ana").post("/mfa", {"code": before[0]}).status_code == 422
        assert browser("ana").post("/mfa", {"code": new[0]}).status_code == 302
        assert AuditEntry.objects.filter(tool_call="recovery_codes_renewed").count() == 1
        assert not any(code in client.get(SECURITY).content.decode() for code in new)

    def test_need_a_factor_to_stand_in_for(self, browser, ana):
        client = browser("ana")
        assert client.get("/settings/security/codes/").status_code == 409
        assert client.post("/settings/security/codes/").status_code == 409


class TestFreshSignIn:
    def test_is_asked_for_after_ten_minutes_and_leads_back(self, browser, ana):
        with time_machine.travel(START, tick=False) as clock:
            client = browser("ana")
            clock.shift(timedelta(minutes=9, seconds=59))
            assert client.get("/settings/keys/new/").status_code == 200
            clock.shift(timedelta(seconds=1))
            answer = client.get("/settings/keys/new/")
            assert answer["Location"] == "/reauthenticate?next=%2Fsettings%2Fkeys%2Fnew%2F"
            page = client.get(answer["Location"]).content.decode()
            assert 'name="next" value="/settings/keys/new/"' in page
            wrong = client.post("/reauthenticate", {"password": "x", "next": "/settings/keys/new/"})
            assert wrong.status_code == 422
            answer = client.post(
                "/reauthenticate",
                {"password": "correct horse battery", "next": "/settings/keys/new/"},
            )
            assert (answer.status_code, answer["Location"]) == (303, "/settings/keys/new/")
            assert client.get("/settings/keys/new/").status_code == 200

    def test_a_form_that_lay_open_does_nothing(self, browser, ana):
        with time_machine.travel(START, tick=False) as clock:
            client = browser("ana")
            clock.shift(timedelta(minutes=11))
            form = {"label": "x", "scopes": ["memory:read"], "expires_days": "30"}
            answer = client.post(
                "/settings/keys/new/",
                form,
                headers={"Referer": "http://testserver/settings/keys/new/"},
            )
            assert answer["Location"] == "/reauthenticate?next=%2Fsettings%2Fkeys%2Fnew%2F"
            assert not ana.api_keys.exists()

    def test_asks_for_password_and_code_of_whoever_has_a_second_factor(self, browser, ana, with_app):
        app = with_app(ana)
        with time_machine.travel(START, tick=False) as clock:
            client = browser("ana")
            client.post("/mfa", {"code": code_of(app.secret)})
            clock.shift(timedelta(minutes=11))
            assert client.get(APP)["Location"].startswith("/reauthenticate")
            for half in ({"password": "correct horse battery"}, {"code": app.codes[0]}):
                assert client.post("/reauthenticate", half).status_code == 422
                assert client.get(APP)["Location"].startswith("/reauthenticate")
            both = {"password": "correct horse battery", "code": app.codes[0]}  # beside no password it was not spent
            assert client.post("/reauthenticate", both).status_code == 303
            assert client.get("/settings/security/codes/").status_code == 200

    def test_looking_asks_for_none(self, browser, ana):
        with time_machine.travel(START, tick=False) as clock:
            client = browser("ana")
            clock.shift(timedelta(days=1))
            for path in (SECURITY, "/settings/keys/", "/settings/"):
                assert client.get(path).status_code == 200


class TestOperators:
    def test_have_their_first_session_to_enrol(self, browser, olga):
        with time_machine.travel(START, tick=False) as clock:
            client = browser("olga")
            assert "your first sign-in without it ends at" in client.get("/").content.decode()
            assert "your first sign-in without it ends at" not in client.get(f"{SECURITY}app/").content.decode()
            due = User.objects.get(pk=olga.pk).second_factor_due_at
            for _ in range(28):
                clock.shift(timedelta(minutes=25))
                assert client.get("/v1/memory?limit=1").status_code == 200
            assert client.get("/ops/jobs/").status_code == 200
            clock.shift(timedelta(minutes=20))
            again = browser("olga")
            assert User.objects.get(pk=olga.pk).second_factor_due_at == due
            for path in ("/", "/ops/jobs/", "/memories/", "/settings/"):
                assert again.get(path)["Location"] == SECURITY
            assert again.post("/settings/theme/", {"theme": "dark"})["Location"] == SECURITY
            refused = again.get("/v1/memory")
            assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_required")
            assert again.get("/healthz").status_code == 200
            assert "Set up a second factor to continue" in again.get(SECURITY).content.decode()
            enrol(again)
            assert again.get("/ops/jobs/").status_code == 200
            assert "second factor to go on" not in again.get(SECURITY).content.decode()
            assert again.post("/logout")["Location"] == "/login"

    def test_their_keys_go_on(self, browser, olga, now, client):
        from minara_site.access.keys.services import create_key

        User.objects.filter(pk=olga.pk).update(second_factor_due_at=now - timedelta(days=400))
        with time_machine.travel(now, tick=False):
            key = create_key(user=olga, scopes=["memory:read"], now=now, actor="test")
            assert client.get("/v1/memory", headers={"Authorization": f"Bearer {key.text}"}).status_code == 200

    def test_become_it_with_the_same_time_before_them(self, browser, ana):
        client = browser("ana")
        assert "second factor" not in client.get("/").content.decode()
        ana.groups.add(Group.objects.get(name="operators"))
        assert "your first sign-in without it ends at" in client.get("/").content.decode()
        assert User.objects.get(pk=ana.pk).second_factor_due_at is not None

    def test_keep_their_last_factor(self, browser, olga):
        client = browser("olga")
        enrol(client)
        row = Authenticator.objects.get(type="totp")
        path = f"/settings/security/factors/{row.pk}/remove/"
        assert "Remove it" not in client.get(path).content.decode()
        assert client.post(path, {"word": "remove"}).status_code == 409
        assert Authenticator.objects.filter(pk=row.pk).exists()

    def test_who_lost_theirs_are_helped_from_the_command_line(self, browser, olga, with_app, capsys):
        with_app(olga)
        client = browser()
        client.force_login(olga)
        call_command("user", "reset-second-factor", "olga")
        assert "Took every second factor from olga" in capsys.readouterr().out
        assert client.get("/").status_code == 302
        assert not Authenticator.objects.exists()
        assert AuditEntry.objects.filter(tool_call="second_factor_reset", owner_id=olga.pk).count() == 1
        assert browser("olga").get("/")["Location"] == SECURITY


@pytest.mark.database
def test_a_person_and_their_factor_are_read_in_one_query(ana, olga, with_app, django_assert_num_queries):
    with_app(ana)
    with django_assert_num_queries(1):
        users = {user.username: user.has_factor for user in User.objects.annotate(has_factor=factor_exists())}
    assert (users["ana"], users["olga"]) == (True, False)
