"""The page behind an invitation."""

import logging

import pytest
from django.urls import reverse
from django.utils import timezone
from structlog.stdlib import ProcessorFormatter

from minara_site.access.invitations.services import invite
from minara_site.access.models import Invitation
from minara_site.access.policy import Role
from minara_site.access.users import get_user
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
PASSWORD = "staple tango rhubarb"
FORM = {"display_name": "Kim L", "password": PASSWORD, "password_again": PASSWORD}


@pytest.fixture
def token(db):
    return invite(username="kim", role=Role.USER, now=timezone.now(), actor="test").token


def get(client, token):
    return client.get(reverse("access:invitation", args=[token]))


def post(client, token, **changes):
    return client.post(reverse("access:accept_invitation"), FORM | {"token": token} | changes)


def test_lets_somebody_choose_a_password_and_sign_in(client, token):
    page = get(client, token)
    assert page.status_code == 200
    assert "<b>kim</b>" in page.content.decode()
    assert page["Referrer-Policy"] == "strict-origin"
    response = post(client, token)
    assert (response.status_code, response["Location"]) == (303, "/login")
    assert "Sign in as kim" in client.get("/login").content.decode()
    assert client.post("/login", {"login": "kim", "password": PASSWORD}).status_code == 302
    assert client.get("/").status_code == 200


def test_who_is_still_signed_in_here_signs_in_anew(client, token):
    client.force_login(get_user("kim"))
    response = post(client, token)
    assert (response.status_code, response["Location"]) == (303, "/login")
    assert "Sign in as kim" in client.get("/login").content.decode()


def test_says_what_to_do_with_a_link_that_is_over_or_unknown(client, token):
    for path in (get, post):
        assert path(client, "x" * 43).status_code == 404
    assert post(client, "").status_code == 404
    post(client, token)
    for path in (get, post):
        response = path(client, token)
        assert response.status_code == 410
        assert "ask an operator" in response.content.decode()
    Invitation.objects.update(used_at=None, expires_at=timezone.now())
    assert "has ended" in get(client, token).content.decode()


@table(
    "wrong",
    [
        {"password": "short", "password_again": "short"},
        {"password_again": "something else"},
        {"password": "", "password_again": ""},
        {"password": "kim kim kim", "password_again": "kim kim kim"},
        {"display_name": "x" * 81},
        {"display_name": "a\0b"},
    ],
)
def test_shows_the_form_again_with_the_reason(client, token, wrong):
    response = post(client, token, **wrong)
    assert response.status_code == 422
    page = response.content.decode()
    assert 'role="alert"' in page
    assert PASSWORD not in page
    assert not get_user("kim").has_usable_password()
    assert post(client, token).status_code == 303


def test_no_log_names_a_live_link(client, token, caplog, capsys):
    assert client.post(reverse("access:invitation", args=[token])).status_code == 405
    assert client.post("/invite/", FORM | {"token": token, "password": "short"}).status_code == 422
    assert client.get(f"/invite/{token}/more/").status_code == 404
    assert client.get(f"/invite/{token}/", headers={"Host": "elsewhere.example"}).status_code == 400
    written = caplog.text + "".join(capsys.readouterr())
    assert written.count("request_failed") == 4
    assert token not in written


@table("miscopied", ["{}", '"{}"', "{} .", "<{}>"])
@table("door", ["invite", "welcome"])
def test_no_log_names_most_of_a_live_link(client, token, caplog, capsys, door, miscopied):
    part = token[:-1]
    assert client.get(f"/{door}/{miscopied.format(part)}/").status_code == 404
    written = caplog.text + "".join(capsys.readouterr())
    assert "request_failed" in written
    assert part not in written


def test_no_log_of_django_names_a_live_link(token):
    formatters = [each.formatter for each in logging.getLogger().handlers]
    formatter = next(each for each in formatters if isinstance(each, ProcessorFormatter))
    record = logging.LogRecord("django.request", logging.ERROR, "", 0, "Failed: %s", (f"/invite/{token}/",), None)
    assert "Failed: /invite/…/" in formatter.format(record)
