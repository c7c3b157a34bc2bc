"""The search lab in a real browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

from memory_app.embeddings.services import embed_pending
from tests.browser.test_search import TEXTS
from tests.kit.chromium import Judge, Visit
from tests.kit.clock import NOON
from tests.memory_app.embeddings.conftest import enable  # noqa: F401 - fixture
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def library(ana: Any, enable: Any) -> None:  # noqa: F811
    """A few memories with vectors."""
    for content, category, source in TEXTS:
        make_memory(ana, content, category=category, source=source)
    enable("local")
    embed_pending(now=NOON)


@pytest.mark.usefixtures("library")
def test_compares_in_place_and_each_state_is_whole(visit: Visit, judge: Judge, ana: Any) -> None:
    console = visit(ana)
    paths = {
        "lab: nothing asked": "/memories/search-lab/",
        "lab: three orders": "/memories/search-lab/?q=stop&fusion=rrf&as_of=2026-06-30",
        "lab: no vectors for operators": "/memories/search-lab/?q=BTC+AND+stop",
    }
    judge.open_all(console, paths)
    console.speak("en")
    page = console.open("/memories/search-lab/")
    page.get_by_role("searchbox").fill("how do I limit losses on BTC")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="By meaning")).to_be_visible()
    expect(page.locator("#found ol")).to_have_count(3)
    page.eval_on_selector_all("#found details", "all => all.forEach((each) => { each.open = true; })")
    judge(page, "lab: every place explained")
