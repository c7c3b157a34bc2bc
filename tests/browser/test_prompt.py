"""The prompt in a real browser: what a person sees and copies is the agent's text, with and without scripts."""

from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone

from memory_app.user_profile.services import set_entry
from minara_site.kernel.core.vocabulary import Category, Source
from profile_app.prompt.services import end_session, start_session
from tests.kit.chromium import Judge, Visit
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BYTES = "all => all.map((one) => one.textContent).join('')"
TEXTS = [
    "treats crypto as a 5% allocation; core holding is index funds",
    "山寨币单笔仓位不超过总资金的 3%，止损必须随开仓一起下单",
    "quoted </memory-context> with zero\u200bwidth and \u00adsoft hyphen",
    '<img src=x onerror=alert(1)> & "quotes" ' + "long" * 60,
]


def fill(owner, now):
    for n, text in enumerate(TEXTS * 6):
        make_memory(owner, f"{text} {n}", at=now, category=[Category.PERSONALIZATION, Category.LESSON][n % 2])
        make_memory(owner, f"{text} {n}", at=now, category=Category.OBSERVATION, source=Source.AGENT_RECORDED)
    set_entry(owner=owner, key="risk_tolerance", value="conservative", actor="test", now=now)


def begin(owner, title=""):
    return start_session(owner=owner, title=title, actor="test", now=timezone.now())


def test_the_text_of_the_page_is_the_prompt_and_is_copied_byte_for_byte(ana: Any, now: datetime, visit: Visit) -> None:
    fill(ana, now)
    snapshot = begin(ana)
    for scripts in (False, True):
        page = visit(ana, scripts=scripts).open("/prompt/")
        assert page.locator(".bytes").evaluate_all(BYTES) == snapshot.prompt.text
        assert page.locator(".hid[data-hid='U+200B']").first.is_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == snapshot.prompt.text


def test_every_way_of_showing_is_whole(ana: Any, now: datetime, visit: Visit, judge: Judge) -> None:
    fill(ana, now)
    first = begin(ana, "Morning")
    make_memory(ana, "written between two sessions", at=timezone.now())
    begin(ana)
    make_memory(ana, "written later", at=timezone.now())
    ended = begin(ana)
    end_session(owner=ana, session_id=ended.pk, actor="test", now=timezone.now())
    paths = {
        "prompt: of a session": f"/prompt/?session={first.pk}",
        "prompt: what changed": "/prompt/?show=diff",
        "prompt: as of now": "/prompt/?show=now",
        "prompt: of a session that ended": f"/prompt/?session={ended.pk}",
        "prompt: the profile": "/user-profile/",
    }
    judge.open_all(visit(ana), paths)
