"""Institution runs in a real browser: the page follows a run to its end by itself; axe on each state."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from learning_app.institution.models import InstitutionRun
from minara_site.kernel.market.models import PricePoint
from tests.kit.chromium import Judge, Visit
from tests.learning_app.rows import make_methodology, make_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOUR = timedelta(hours=1)
HOSTILE = "x" * 400 + " <b>bold</b> {{ 7*7 }} \u202e中文 " + "https://example.com/" + "y" * 400


def test_a_run_is_followed_to_its_end_and_its_decision_is_read(visit: Visit, judge: Judge, ana: Any, sam: Any) -> None:
    now = timezone.now()
    PricePoint.objects.bulk_create(
        PricePoint(symbol="BTC", at=now - hour * HOUR, price=100 + hour % 24, source="t", recorded_at=now)
        for hour in range(240)
    )
    method = make_methodology(name=HOSTILE[:120])
    decided = make_run(ana, at=now - 200 * HOUR, said=HOSTILE, cited=[method.uid])
    running = make_run(ana, at=now, said=HOSTILE, is_open=True)
    page = visit(ana).open(f"/institution/{running.uid}/")
    expect(page.locator("#progress")).to_contain_text("6 of 14 answers")
    expect(page.get_by_role("button", name="Cancel run")).to_be_visible()
    judge(page, "institution: a run that works, with the button that cancels it")
    InstitutionRun.objects.filter(pk=running.pk).update(state="failed", error=HOSTILE[:300], ended_at=now)
    expect(page.get_by_text("It ended without a decision")).to_be_visible(timeout=10_000)
    judge(page, "institution: a run that failed")
    page = visit(sam).open("/")
    page.get_by_role("link", name="Institution runs").click()
    judge(page, "institution: the list of support")
    page.locator(f"a[href='/institution/{decided.uid}/']").click()
    expect(page.get_by_role("heading", name="Ladder")).to_be_visible()
    judge(page, "institution: a decided run")
    page.get_by_role("navigation", name="Window of the chart").get_by_role("link", name="30 d", exact=True).click()
    expect(page.locator(".seg a[aria-current]")).to_have_text("30 d")
