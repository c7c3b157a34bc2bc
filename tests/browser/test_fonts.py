"""Dense pages where one family without Chinese letters is all the fonts there are: letters take other room than where
the pages were drawn, and still every target keeps its 24 px and no page scrolls sideways (screens U-26, U-27)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from memory_app.memories.services import delete_memories
from minara_site.access.keys.services import create_key
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import Category, Source
from tests.kit.chromium import NARROW, TARGET_RULES, WIDE, Look, Visit, faults_of
from tests.memory_app.memories.factories import make_many, make_memory
from tests.memory_app.roles.rows import make_thesis

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGES = ("/memories/", "/memories/trash/", "/memories/new/", "/search/?q=number", "/role-memory/outcomes/",
         "/settings/keys/", "/settings/keys/new/")  # fmt: skip


@pytest.fixture
def library(ana: Any) -> None:
    """Rows for the lists."""
    now, person = timezone.now(), Principal(user=ana, role=ana.role)
    make_many(ana, 8, at=now - timedelta(hours=1))
    for source in Source:
        make_memory(ana, "山寨币单笔仓位不超过总资金的 3%", category=Category.LESSON, source=source, at=now)
    gone = [memory.pk for memory in make_many(ana, 3, at=now - timedelta(days=1))]
    delete_memories(principal=person, owner=ana, ids=gone, now=now)
    create_key(user=ana, scopes=["memory:read"], now=now, actor=person.actor, label="laptop")
    make_thesis(ana, decided_at=now - timedelta(days=9))


def families_used(page: Page, selector: str) -> set[str]:
    """Name the fonts in which the texts of these elements are drawn."""
    wire = page.context.new_cdp_session(page)
    wire.send("DOM.enable")
    wire.send("CSS.enable")
    root = wire.send("DOM.getDocument")["root"]["nodeId"]
    nodes = wire.send("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"]
    assert nodes, selector
    drawn = [wire.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"] for node in nodes]
    wire.detach()
    return {font["familyName"] for fonts in drawn for font in fonts}


@pytest.mark.usefixtures("library")
def test_every_target_keeps_its_size_where_one_family_is_all_there_is(
    visit_with_one_family: Visit,
    small_family: str,
    ana: Any,
) -> None:
    console, faults = visit_with_one_family(ana), []
    for language in ("en", "zh-hans"):
        console.speak(language)
        for path in PAGES:
            page = console.open(path)
            menus = page.locator(".row-menu > summary")
            if menus.count():
                menus.last.click()
            for width in (WIDE, NARROW):
                look = Look(width, "light", language)
                faults += [f"{path}: {fault}" for fault in faults_of(page, look, TARGET_RULES)]
        assert families_used(page, "h1, label, .btn") == {small_family}
    assert faults == []
