"""Hostile text in every stored field, on the pages that show it, in a browser that would run it (trust W-06).

The strings of the corpus share memories, so that each meets a page without a page for each. `make test` opens every
list, which shows them all, and one memory of seven; `make soak` opens every memory and every address.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, delete_memories, edit_memory
from memory_app.user_profile.services import set_entry
from minara_site.access.keys.services import create_key
from minara_site.access.models import User
from minara_site.access.principal import Principal
from profile_app.prompt.services import start_session
from tests.kit.chromium import Visit, settle
from tests.kit.shared import corpus
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ALIEN = "main :is(img, iframe, script, object, embed, video, audio, style, link, meta, base, math)"
MEMORY_CHARS, VALUE_CHARS, LABEL_CHARS = 3_900, 1_000, 70
SHARES = pytest.mark.parametrize("share", [7, pytest.param(1, marks=pytest.mark.soak)], ids="one of {}".format)


def packed(texts: list[str], most: int) -> Iterator[str]:
    """Join texts into pieces of at most `most` characters; a longer text is cut."""
    piece = ""
    for text in texts:
        if len(piece) + len(text) + 1 > most:
            yield piece
            piece = ""
        piece = f"{piece}\n{text[:most]}".strip()
    yield piece


@pytest.fixture
def memories(ana: User, share: int) -> list[Memory]:
    """Fill every field that Ana can fill, the smaller ones with a share of the corpus; return what stays."""
    now, person = timezone.now(), Principal(user=ana, role=ana.role)
    texts = [row["text"].replace("\0", " ").strip() for row in corpus("xss")]
    texts = [text.encode(errors="ignore").decode() for text in texts if text]
    memories = [make_memory(ana, text, at=now) for text in packed(texts, MEMORY_CHARS)]
    for memory in memories[::7]:
        changes = Changes(content=memory.content[::-1][:MEMORY_CHARS])
        edit_memory(
            principal=person,
            memory_id=memory.pk,
            changes=changes,
            now=now,
            reason=texts[memory.pk % 99][:200],
        )
    for n, value in enumerate(packed(texts[::share], VALUE_CHARS)):
        set_entry(owner=ana, key=f"key_{n}", value=" ".join(value.split()), actor=person.actor, now=now)
    for label in packed(texts[:: 7 * share], LABEL_CHARS):
        create_key(
            user=ana,
            scopes=["memory:read"],
            now=now,
            actor=person.actor,
            label=" ".join(label.split()),
        )
    ana.display_name = "<img src=x onerror=alert(1)>"
    ana.save()
    gone = make_memory(ana, texts[0], at=now)
    delete_memories(principal=person, owner=ana, ids=[gone.pk], now=now, reason=texts[1][:200])
    start_session(owner=ana, title=texts[2][:80], actor=person.actor, now=now)
    return memories


@SHARES
def test_nothing_runs_and_no_foreign_element_appears(
    visit: Visit,
    ana: User,
    memories: list[Memory],
    share: int,
) -> None:
    console = visit(ana)
    lists = ["/", "/memories/trash/", "/prompt/", "/user-profile/", "/settings/", "/settings/keys/", "/memories/"]
    found = ["/search/?q=alert+onerror+javascript", "/search/?q=script"]
    ones = [f"/memories/{memory.pk}/" for memory in memories[::share]]
    for path in (*ones, f"/memories/{memories[0].pk}/edit/", *found, *lists):
        response = console.page.goto(console.url + path)
        assert response is not None
        assert response.status == 200, path
        more = console.page.locator("a[id$='-more']")
        while more.count():
            more.click()
            settle(console.page)
        assert console.page.locator(ALIEN).count() == 0, path
    listed = [memory.pk for memory in memories if not Memory.objects.get(pk=memory.pk).held_at]
    assert console.page.locator("#memories-rows > tr").count() == len(listed) >= len(memories) - 1


@SHARES
def test_nothing_runs_out_of_an_address(visit: Visit, ana: User, share: int) -> None:
    console = visit(ana)
    paths = ["/memories/", "/search/", "/memories/trash/", "/user-profile/", "/settings/keys/"]
    texts: list[Any] = [row["text"].encode(errors="ignore") for row in corpus("xss")[:: 1 if share == 1 else 8 * share]]
    for n, text in enumerate(texts):
        for path in paths if share == 1 else [paths[n % len(paths)]]:
            url = f"{path}?{urlencode({'q': text, 'sort': text, text: text})}"
            console.page.goto(console.url + url)
            assert console.page.locator(ALIEN).count() == 0, url
