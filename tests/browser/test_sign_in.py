"""Passkeys with a real browser and an authenticator of its own, and the back button after signing out."""

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def touched():
    """Give a page an authenticator that is always touched and knows its person."""

    def add(console):
        wire = console.context.new_cdp_session(console.page)
        wire.send("WebAuthn.enable")
        options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
        wire.send(
            "WebAuthn.addVirtualAuthenticator",
            {"options": {**options, "isUserVerified": True, "automaticPresenceSimulation": True}},
        )
        return wire

    return add


def test_passkeys_are_offered_only_where_browsers_know_them(visit, ana, live_server):
    page = visit(None).page
    for host, count in (("localhost", 1), ("127.0.0.1", 0)):
        page.goto(live_server.url.replace("localhost", host).replace("127.0.0.1", host) + "/login")
        expect(page.get_by_role("button", name="Use a passkey")).to_have_count(count)
        expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()


def test_the_button_waits_for_the_script_that_serves_it(visit):
    console, held = visit(None), {}
    page = console.page
    page.route("**/js/passkeys*.js", lambda request: held.update(script=request))
    page.goto(f"{console.url}/login", wait_until="commit")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    button = page.get_by_text("Use a passkey")
    expect(button).to_have_count(1)
    expect(button).not_to_be_visible()
    held["script"].continue_()
    expect(button).to_be_visible()


def test_a_passkey_is_added_signs_in_confirms_and_is_the_second_step(visit, olga, touched):
    console = visit(olga)
    touched(console)
    page = console.open("/")
    page.get_by_role("link", name="Add a passkey or an authenticator app").click()
    page.get_by_role("link", name="Add a passkey", exact=True).click()
    page.get_by_label("Name").fill("My laptop")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    assert Authenticator.objects.get(type="webauthn").wrap().name == "My laptop"
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_text("My laptop", exact=True)).to_be_visible()
    console.open("/reauthenticate?next=/settings/keys/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(f"{console.url}/settings/keys/")
    page.get_by_role("button", name="Sign out").first.click()
    expect(page).to_have_url(f"{console.url}/login")

    page.go_back()  # nothing of the person is shown again
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()

    console.open("/login?next=/settings/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(f"{console.url}/settings/")
    page.get_by_role("button", name="Sign out").first.click()
    expect(page).to_have_url(f"{console.url}/login")

    page.get_by_label("User name").fill("olga")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{console.url}/mfa")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(f"{console.url}/")
    Authenticator.objects.all().delete()
    page.get_by_role("button", name="Sign out").first.click()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="This passkey opens nothing here")).to_be_visible()
