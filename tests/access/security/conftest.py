"""Real sign-ins, and the codes that an authenticator app would show."""

import time
from types import SimpleNamespace

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client

from minara_site.access.security.factors import add_app

PASSWORD = "correct horse battery"
HOME = "192.0.2.7"


def code_of(secret, *, later=0):
    """Return the code that the app shows now, or so many half minutes later."""
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + later))


def sign_in(client, name="ana", password=PASSWORD, *, address=HOME, **more):
    """Type name and password."""
    return client.post("/login", {"login": name, "password": password, **more}, REMOTE_ADDR=address)


def new_secret():
    from allauth.mfa.totp.internal.auth import generate_totp_secret

    return generate_totp_secret()


@pytest.fixture
def with_app(now):
    """Give somebody an authenticator app; return its secret and the recovery codes."""

    def give(user):
        secret = new_secret()
        codes = add_app(user=user, secret=secret, session_key="", now=now, actor="test")
        return SimpleNamespace(secret=secret, codes=codes)

    return give


@pytest.fixture
def browser():
    """Open a browser of its own, signed in by typing when somebody is named."""

    def open_browser(name="", **more):
        client = Client()
        if name:
            assert sign_in(client, name, **more).status_code == 302
        return client

    return open_browser
