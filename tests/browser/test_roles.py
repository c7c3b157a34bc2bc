"""Roles and role memory in a real browser: outcomes marked without a mouse, charts with their tables, axe."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from memory_app.roles.models import RoleMemory
from minara_site.kernel.market.models import PricePoint
from minara_site.kernel.market.outcome import Outcome
from tests.kit.chromium import Judge, Visit
from tests.memory_app.roles.rows import make_thesis, make_wrong

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOSTILE = "x" * 900 + " <b>bold</b> {{ 7*7 }} \u202e中文 " + "https://example.com/" + "y" * 400


@pytest.fixture
def theses(ana: Any) -> list[RoleMemory]:
    """Four decisions that wait for a word, the oldest first."""
    now = timezone.now()
    return [
        make_thesis(
            ana,
            decided_at=now - timedelta(days=9 - n),
            decision=f"thesis {n}",
        )
        for n in range(4)
    ]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def shown(page: Page) -> Any:
    return page.locator("#outcome header h2")


def title(entry: RoleMemory) -> str:
    return f"Decision {entry.pk}"


def test_outcomes_are_marked_without_a_mouse(visit: Visit, ana: Any, theses: list[RoleMemory]) -> None:
    page = visit(ana).open("/role-memory/outcomes/")
    expect(shown(page)).to_have_text(title(theses[0]))
    press(page, "a")  # the next one comes by itself
    expect(shown(page)).to_have_text(title(theses[1]))
    expect(page.locator("#toasts")).to_contain_text("Marked as right.")
    press(page, "j")
    expect(shown(page)).to_have_text(title(theses[2]))
    page.get_by_label("Note, optional").press_sequentially("a bad idea")  # keys are off while somebody types
    page.get_by_label("Profit or loss in percent").fill("-4.2")
    press(page, "Tab", "Tab")
    press(page, "r")
    expect(shown(page)).to_have_text(title(theses[3]))
    expect(page.locator("#outcomes-waiting span")).to_have_text("2 marked by you today, 2 left")
    press(page, "k")
    expect(shown(page)).to_have_text(title(theses[1]))
    for entry in theses:
        entry.refresh_from_db()
    assert [entry.mark and entry.mark["outcome"] for entry in theses] == [Outcome.RIGHT, None, Outcome.WRONG, None]
    assert (theses[2].mark["note"], theses[2].mark["pnl_pct"]) == ("a bad idea", -4.2)


def test_every_page_is_whole_whatever_it_holds(visit: Visit, judge: Judge, ana: Any, theses: list[RoleMemory]) -> None:
    now = timezone.now()
    texts = {"decision": HOSTILE, "narrative": HOSTILE, "lesson": HOSTILE, "origin": "z" * 250}
    piece = {"kind": "k" * 300, "label": HOSTILE, "at": None, "text": HOSTILE}
    times = {"entry_price_at": now - timedelta(hours=60), "exit_price_at": now - timedelta(hours=36)}
    entry = make_wrong(
        ana,
        **texts,
        **times,
        decided_at=times["entry_price_at"],
        inputs={"n" * 64: HOSTILE, "b": [1]},
        evidence=[piece],
    )
    PricePoint.objects.bulk_create(
        PricePoint(
            owner=ana,
            symbol="BTC",
            at=now - timedelta(hours=hours),
            price=60_000 + hours,
            source="t",
            recorded_at=now,
        )
        for hours in range(30, 66)
    )
    paths = {
        "roles: all": "/roles/",
        "roles: one": "/roles/market.spot.momentum/",
        "roles: role memory": "/role-memory/",
        "roles: outcomes": "/role-memory/outcomes/",
        "roles: one outcome": f"/role-memory/outcomes/{theses[0].pk}/",
        "roles: one entry": f"/role-memory/{entry.pk}/",
    }
    console = visit(ana)
    judge.open_all(console, paths)
    console.speak("en")
    page = console.open(f"/role-memory/{entry.pk}/")
    page.get_by_text("View as table").click()
    expect(page.get_by_role("cell", name="60,036")).to_be_visible()
    judge(page, "roles: a chart as a table")
