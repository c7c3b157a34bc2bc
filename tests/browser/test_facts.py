"""Facts in a real browser: a pair is decided and taken back, and each page is sound at both widths, in both themes."""

from typing import Any

import pytest
from playwright.sync_api import expect

from memory_app.facts.models import FactConflict
from memory_app.facts.services import consolidate_pending
from memory_app.memories.core import Source
from memory_app.memories.models import Memory
from tests.kit.chromium import NARROW, WIDE, axe_clean, fits_width
from tests.kit.clock import NOON
from tests.memory_app.facts.factories import DAILY, WEEKLY, make_conflict, make_fact

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGES = ("/facts/", "/facts/?state=retired", "/facts/conflicts/", "/facts/events/")


@pytest.fixture
def conflict(ana: Any) -> FactConflict:
    """Facts in every state, and two pairs that contradict; in the older one a user typed the older fact."""
    typed = make_conflict(ana, "单笔亏损不超过本金的 2%", "单笔亏损不超过本金的 5%")
    Memory.objects.filter(pk=typed.older_id).update(source=Source.USER_MANUAL)
    pair = make_conflict(ana)
    make_fact(ana, "Opened an account at a second exchange for SOL perps", minutes=1, source=Source.CHAT_EXTRACTED)
    make_fact(ana, "opened an account at a second exchange for SOL perps.", minutes=90)
    consolidate_pending(now=NOON)
    make_fact(ana, "a" * 300, minutes=95)
    return pair


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_each_page_is_sound(visit: Any, ana: Any, conflict: FactConflict, width: int) -> None:
    console = visit(ana, width=width)
    for path in (*PAGES, "/facts/?state=pending"):
        page = console.open(path)
        axe_clean(page)
        fits_width(page)
    page = console.open("/memories/?category=fact")
    page.locator(".drop-form > summary").click()
    fits_width(page)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_pair_is_decided_and_taken_back(visit: Any, ana: Any, conflict: FactConflict, scripts: bool) -> None:
    page = visit(ana, scripts=scripts).open("/facts/conflicts/")
    pair = page.locator(f"#conflict-{conflict.pk}")
    pair.get_by_role("button", name="Newer replaces older").click()
    expect(page.locator("#toasts")).to_contain_text("The newer fact replaces the older one.")
    expect(page.locator("#conflicts")).not_to_contain_text(WEEKLY)
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.locator(f"#conflict-{conflict.pk}")).to_contain_text(DAILY)
