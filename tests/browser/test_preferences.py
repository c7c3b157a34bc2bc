"""Preferences in a real browser: decided without a mouse, a limit refused, every page whole whatever it holds."""

from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from playwright.sync_api import Page, expect

from learning_app.preferences.models import Preference
from tests.browser.test_review import fits, press
from tests.kit.chromium import Judge, Visit
from tests.learning_app.rows import make_preference

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOSTILE = "x" * 900 + " <b>bold</b> {{ 7*7 }} \u202e中文 " + "https://example.com/" + "y" * 400
LIMIT = {"kind": "hard_constraint", "dimension": "risk_limit"}


def states() -> dict[str, str]:
    return dict(Preference.objects.values_list("statement", "state"))


def shows_rows(page: Page, count: int) -> None:
    expect(page.locator("#preferences-rows > tr")).to_have_count(count)


def test_an_owner_decides_without_a_mouse(visit: Visit, ana: Any) -> None:
    rows = ["Prefers limit orders", "Answers briefly", "Looks at the daily chart"]
    for statement in rows:
        make_preference(ana, statement)
    page = visit(ana).open("/profile/preferences/")
    shows_rows(page, 3)
    press(page, "a")
    assert states() == dict.fromkeys(rows, "proposed"), "no row has the cursor yet"
    press(page, "j", "a")
    shows_rows(page, 2)
    expect(page.locator("#preferences-tabs")).to_contain_text("Active 1")
    assert states()[rows[2]] == "active"
    press(page, "j", "k", "r")
    expect(page.get_by_label("Reason").first).to_be_focused()
    page.keyboard.type("One week only")
    press(page, "Enter")
    shows_rows(page, 1)
    assert Preference.objects.get(state="rejected").reason == "One week only"
    expect(page.locator("[data-toast='watched']").last).to_be_visible()
    press(page, "u")
    shows_rows(page, 2)
    assert states() == {rows[0]: "proposed", rows[1]: "proposed", rows[2]: "active"}
    press(page, "j", "x", "j", "x", "r")
    expect(page.locator("h1")).to_have_text("Reject 2 proposals")
    press(page, "Enter")
    expect(page.locator("#toasts")).to_contain_text("Rejected 2 proposals.")


def test_an_owner_activates_a_limit_and_an_operator_refuses_one(visit: Visit, olga: Any, ana: Any) -> None:
    TOTP.activate(olga, generate_totp_secret())  # no page asks for it any more
    make_preference(ana, "Never above 10x", state="active", **LIMIT)
    own, other = make_preference(ana, "Never above 3x", **LIMIT), make_preference(ana, "Never short", **LIMIT)
    page = visit(ana).open(f"/profile/preferences/{own.pk}/")
    press(page, "a")
    expect(page.locator("h1")).to_have_text("Activate a hard constraint")
    expect(page.get_by_label("Type “3x” to confirm")).to_be_focused()
    page.keyboard.type("3")
    press(page, "Enter")
    expect(page.get_by_text("Type exactly: 3x")).to_be_visible()
    page.get_by_label("Type “3x” to confirm").fill("3x")
    press(page, "Enter")
    expect(page.locator("#toasts")).to_contain_text("Activated.")
    page = visit(olga).open(f"/quarantine/preference/{other.pk}/")
    page.set_viewport_size({"width": 1280, "height": 800})
    fits(page, "Where it came from", "In force: Risk limit", "If it is approved", "If it is rejected")
    press(page, "a")
    expect(page.get_by_role("button", name="Approve preference")).to_be_disabled()
    press(page, "r")
    expect(page.locator("#toasts")).to_contain_text("Rejected 1 proposal.")
    assert states() == {"Never above 10x": "active", "Never above 3x": "active", "Never short": "rejected"}


def test_every_page_is_whole_whatever_it_holds(visit: Visit, judge: Judge, olga: Any) -> None:
    named = {"origin": "z" * 250, "reason": "w" * 200}
    soft, limit = make_preference(olga, HOSTILE, **named), make_preference(olga, f"{HOSTILE} 3x", **LIMIT)
    active = make_preference(olga, f"{HOSTILE} 4x", state="active", **LIMIT, **named)
    make_preference(olga, HOSTILE, state="archived", **named)
    console = visit(olga)
    judge.open_all(
        console,
        {
            "preferences: proposed": "/profile/preferences/?owner=all",
            "preferences: archived": "/profile/preferences/?state=archived",
            "preferences: one": f"/profile/preferences/{active.pk}/",
            "preferences: in other words": f"/profile/preferences/{soft.pk}/approve/",
            "preferences: activate": f"/profile/preferences/{limit.pk}/activate/",
            "preferences: archive": f"/profile/preferences/{active.pk}/archive-constraint/",
            "preferences: tell": "/profile/preferences/new/",
            "preferences: review": f"/quarantine/preference/{limit.pk}/",
        },
    )
    console.speak("en")
    page = console.open("/profile/preferences/")
    page.locator("summary", has_text="Reject").first.click()
    judge(page, "preferences: asked why")
