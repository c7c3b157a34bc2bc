"""Methodologies in a real browser: whole whatever they hold, curves with their tables, a quarantine and its undo."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from tests.kit.chromium import Judge, Visit
from tests.learning_app.rows import make_case, make_methodology

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOSTILE = "x" * 900 + " <b>bold</b> {{ 7*7 }} \u202e中文 " + "https://example.com/" + "y" * 400


def test_every_page_is_whole_whatever_it_holds(visit: Visit, judge: Judge, olga: Any, ana: Any) -> None:
    phases = [{"name": "n" * 120, "criteria": [HOSTILE[:300]], "tools_used": ["t" * 300], "depends_on": []}]
    texts = {"name": "W" * 118, "methodology": HOSTILE, "evidence": HOSTILE, "origin": "z" * 250, "phases": phases}
    row = make_methodology(**texts)
    make_case(ana, hints=[row])
    outcomes = [NewOutcome(row.pk, is_correct=bool(number % 4)) for number in range(60)]
    apply_outcomes(outcomes, actor="job:learning.cron", now=timezone.now())
    make_methodology(held_at=timezone.now())
    console = visit(olga)
    paths = {
        "methodologies: all": "/methodologies/",
        "methodologies: one": f"/methodologies/{row.uid}/",
        "methodologies: unread": f"/quarantine/methodology_new/{make_methodology(**texts).uid}/",
    }
    judge.open_all(console, paths)
    console.speak("en")
    page = console.open(f"/methodologies/{row.uid}/")
    page.get_by_text("View as table").first.click()
    expect(page.get_by_role("cell", name="use 60, right: 45 of 60")).to_be_visible()
    page.locator("summary", has_text="Quarantine").click()
    judge(page, "methodologies: asked why")
    page.get_by_label("Why").fill("Fitted to the past")
    page.get_by_role("button", name="Quarantine methodology").click()
    expect(page.locator("h1")).to_contain_text("Quarantined by an operator")
    expect(page.locator("[data-toast='watched']")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("h1")).not_to_contain_text("Quarantined by an operator")
