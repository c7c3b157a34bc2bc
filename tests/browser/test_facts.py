"""Facts in a real browser: a pair is decided and taken back."""

from typing import Any

import pytest
from playwright.sync_api import expect

from memory_app.facts.services import consolidate_pending
from memory_app.memories.models import FactConflict, Memory
from minara_site.kernel.core.vocabulary import Source
from tests.kit.chromium import Judge, Visit
from tests.kit.clock import NOON
from tests.memory_app.facts.factories import DAILY, WEEKLY, make_conflict, make_fact

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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


def test_each_page_is_whole(visit: Visit, judge: Judge, ana: Any, conflict: FactConflict) -> None:
    paths = {
        "facts: settled": "/facts/",
        "facts: retired": "/facts/?state=retired",
        "facts: pending": "/facts/?state=pending",
        "facts: pairs": "/facts/conflicts/",
        "facts: events": "/facts/events/",
    }
    judge.open_all(visit(ana), paths)


def test_a_pair_is_decided_and_taken_back(visit: Visit, judge_open: Judge, ana: Any, conflict: FactConflict) -> None:
    console = visit(ana)
    page = console.open("/facts/conflicts/")
    pair = page.locator(f"#conflict-{conflict.pk}")
    pair.get_by_role("button", name="Newer replaces older").click()
    expect(page.locator("#toasts")).to_contain_text("The newer fact replaces the older one.")
    expect(page.locator("#conflicts")).not_to_contain_text(WEEKLY)
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.locator(f"#conflict-{conflict.pk}")).to_contain_text(DAILY)
    page = console.open("/memories/?category=fact")
    page.locator(".drop-form > summary").click()
    judge_open(page, "facts: the filters of the memories")
