"""A trading case in a real browser: support reveals its amounts with a reason and masks them again; axe on each state."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from minara_site.kernel.market.models import PricePoint
from tests.kit.chromium import Judge, Visit
from tests.learning_app.rows import make_case, make_methodology

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOUR = timedelta(hours=1)
HOSTILE = "x" * 900 + " <b>bold</b> {{ 7*7 }} \u202e中文 " + "https://example.com/" + "y" * 400


def test_support_reveals_amounts_with_a_reason_and_masks_them_again(
    visit: Visit,
    judge: Judge,
    ana: Any,
    sam: Any,
) -> None:
    decided_at = timezone.now() - 30 * HOUR
    row = make_methodology(name=HOSTILE[:120])
    case = make_case(ana, decided_at=decided_at, hints=[row], decision=f"Short $12,400. {HOSTILE}", trade_ref="z" * 120)
    PricePoint.objects.bulk_create(
        PricePoint(
            symbol="BTC",
            at=decided_at + hour * HOUR,
            price=100 + hour,
            source="t",
            recorded_at=decided_at,
        )
        for hour in range(28)
    )
    page = visit(sam).open("/")
    page.get_by_label("Find a case").fill(f"#{case.pk}")
    page.get_by_role("button", name="Find case").click()
    assert page.url.endswith(f"/trading-cases/{case.pk}/")
    words = page.locator("#h-words").locator("xpath=../..")
    expect(words).to_contain_text("masked")
    judge(page, "cases: a masked case")
    page.get_by_text("Reveal amounts").click()
    judge(page, "cases: a case with the form of a reveal")
    page.get_by_role("textbox", name="Reason").fill("ticket 77")
    page.get_by_role("button", name="Reveal for 15 minutes").click()
    expect(words).to_contain_text("$12,400")
    judge(page, "cases: a revealed case")
    page.get_by_role("button", name="Mask again").click()
    expect(words).not_to_contain_text("$12,400")
