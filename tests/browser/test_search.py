"""The search page in a real browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

from minara_site.kernel.core.vocabulary import Category, Source
from tests.kit.chromium import Judge, Visit
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXTS = [
    ("Always set slippage to 0.5% on Base and Arbitrum swaps", Category.PREFERENCE, Source.USER_EXPLICIT),
    ("stop-losses on BTC should trail by 8%, not 5%", Category.LESSON, Source.AGENT_RECORDED),
    ("山寨币单笔仓位不超过总资金的 3%，止损必须随开仓一起下单", Category.PREFERENCE, Source.CHAT_EXTRACTED),
    (
        "long ETH from $3,200, closed at $3,450; slippage " + "ate the rest of a long day of trading " * 20,
        Category.LESSON,
        Source.INFERRED,
    ),
]


@pytest.fixture
def library(ana: Any) -> None:
    for content, category, source in TEXTS:
        make_memory(ana, content, category=category, source=source)


@pytest.mark.usefixtures("library")
def test_each_state_is_whole(visit: Visit, judge: Judge, ana: Any) -> None:
    paths = {
        "search: nothing asked": "/search/",
        "search: newest first": "/search/?q=止损&sort=recent",
        "search: nothing found": '/search/?q="unheard of',
    }
    judge.open_all(visit(ana), paths)


@pytest.mark.usefixtures("library")
def test_searches_in_place(visit: Visit, judge_open: Judge, ana: Any) -> None:
    page = visit(ana).open("/search/")
    page.get_by_role("searchbox").fill("btc stop")
    page.keyboard.press("Enter")
    expect(page.locator("#found mark").first).to_have_text("stop")
    assert page.url.endswith("/search/?q=btc%20stop")
    page.get_by_text("Newest").click()
    expect(page.get_by_text("Newest")).to_have_attribute("aria-current", "true")
    page.get_by_text("Why it was found").first.click()
    expect(page.locator("#found dd").first).to_contain_text("btc")
    page.get_by_role("searchbox").fill("slippage btc stop")
    page.keyboard.press("Enter")
    expect(page.locator("#found mark").get_by_text("slippage").first).to_be_visible()
    page.eval_on_selector_all("td details", "all => all.forEach((each) => { each.open = true; })")
    judge_open(page, "search: why each was found")
