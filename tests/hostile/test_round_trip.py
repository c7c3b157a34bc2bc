"""Naughty strings in every field: stored and read back exactly, or refused with a reason; never changed silently (W-19)."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction

from memory_app.memories.models import Memory
from memory_app.user_profile.models import UserProfileEntry
from minara_site.access.models import ApiKey
from minara_site.kernel.models import Session, Turn
from tests.hostile.inputs import ODD_TEXTS, as_json, naughty, sample
from tests.hostile.knock import Knocker
from tests.kit.tables import table
from tests.kit.world import World

JSON = "application/json"


def texts(seed: int, share: int) -> tuple[str, ...]:
    return (*ODD_TEXTS, "\ud800", "a\udfffb", *sample(naughty(), seed, share=share))


def send(caller: Knocker, method: str, path: str, body: bytes, kind: str, read: Any) -> tuple[int, Any]:
    """Call, and read what was stored before it is taken back."""
    with transaction.atomic():
        answer = caller.client.generic(method, path, body, kind, headers=caller.headers)
        kept = read() if answer.status_code < 400 else None
        transaction.set_rollback(True)
    if answer.status_code == 422 and kind == JSON:
        assert answer.json()["detail"]
    return answer.status_code, kept


def written_value(key: str) -> str:
    """Return the value that was set, whether it stands or waits."""
    entry = UserProfileEntry.objects.get(key=key)
    return str(entry.held_value or entry.value)


DOORS: dict[str, tuple[str, str, Any, Any]] = {
    "statement": ("POST", "/v1/memory", lambda text: {"statement": text}, lambda: Memory.objects.latest("id").content),
    "label": (
        "POST",
        "/v1/memory",
        lambda text: {"statement": "a", "fact_type": text},
        lambda: Memory.objects.latest("id").fact_type,
    ),
    "tool": (
        "POST",
        "/v1/tools/memory_write",
        lambda text: {"category": "fact", "content": text},
        lambda: Memory.objects.latest("id").content,
    ),
    "metadata": (
        "POST",
        "/v1/tools/memory_write",
        lambda text: {"category": "fact", "content": "a", "metadata": {"note": text}},
        lambda: Memory.objects.latest("id").metadata["note"],
    ),
    "profile": ("PUT", "/v1/user-profile/naughty", lambda text: {"value": text}, lambda: written_value("naughty")),
    "title": ("POST", "/v1/sessions", lambda text: {"title": text}, lambda: Session.objects.latest("created_at").title),
    "message": (
        "POST",
        "/v1/sessions/{session_id}/turns",
        lambda text: {"user_message": text, "assistant_message": "a", "tool_calls": [], "completed": True},
        lambda: Turn.objects.latest("id").user_message,
    ),
}
EXACT = {"metadata", "message"}  # kept as they came; the others are trimmed


@pytest.mark.database
@table("door", DOORS)
def test_over_the_api(world: World, ana_key: Knocker, door: str, share: int) -> None:
    method, path, body_of, read = DOORS[door]
    path = path.format(**world.ana.samples)
    for text in texts(len(door), share if door != "statement" or share == 1 else share // 4):
        status, kept = send(ana_key, method, path, as_json(body_of(text)), JSON, read)
        assert status in {200, 201, 202, 422}, (door, text, status)
        if status != 422:
            assert kept == (text if door in EXACT else text.strip()), (door, text)


FORMS: dict[str, tuple[str, dict[str, str], str, Any]] = {
    "statement": (
        "/memories/new/",
        {"fact_type": "", "tickers": ""},
        "statement",
        lambda: Memory.objects.latest("id").content,
    ),
    "label": (
        "/memories/new/",
        {"statement": "a", "tickers": ""},
        "fact_type",
        lambda: Memory.objects.latest("id").fact_type,
    ),
    "profile": ("/user-profile/add/", {"key": "naughty"}, "value", lambda: written_value("naughty")),
    "key": (
        "/settings/keys/new/",
        {"scopes": "memory:read", "expires_days": "30"},
        "label",
        lambda: ApiKey.objects.latest("id").label,
    ),
}


@pytest.mark.database
@table("name", FORMS)
def test_over_the_pages(world: World, ana_page: Knocker, name: str, share: int) -> None:
    path, fields, field, read = FORMS[name]
    for text in texts(len(name), share):
        body = urlencode(fields | {field: text}, errors="surrogatepass").encode()
        status, kept = send(ana_page, "POST", path, body, "application/x-www-form-urlencoded", read)
        assert status in {200, 201, 303, 422}, (name, text, status)
        if status != 422:
            typed = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").replace("\r\n", "\n").strip()
            assert kept == typed, (name, text)


def test_an_edit_over_both(world: World, ana_key: Knocker, ana_page: Knocker, share: int) -> None:
    memory_id = world.ana.samples["of_key"]["memory_id"]

    def read() -> str:
        return Memory.objects.get(pk=memory_id).content

    version = Memory.objects.get(pk=memory_id).version
    for text in texts(1, share):
        status, kept = send(
            ana_key,
            "PATCH",
            f"/v1/memory/{memory_id}",
            as_json({"statement": text}),
            JSON,
            read,
        )
        assert status in {200, 202, 422}
        assert status == 422 or kept == text.strip()
        body = urlencode(
            {"statement": text, "fact_type": "", "tickers": "", "version": version},
            errors="surrogatepass",
        ).encode()
        status, kept = send(
            ana_page,
            "POST",
            f"/memories/{memory_id}/edit/",
            body,
            "application/x-www-form-urlencoded",
            read,
        )
        assert status in {200, 303, 422}, (text, status)


def test_what_is_stored_comes_back_over_the_api(world: World, ana_key: Knocker, share: int) -> None:
    with transaction.atomic():
        for text in sample(naughty(), 5, share=share):
            answer = ana_key.client.generic(
                "POST",
                "/v1/memory",
                as_json({"statement": text}),
                JSON,
                headers=ana_key.headers,
            )
            if answer.status_code == 201:
                item = ana_key.client.get(f"/v1/memory/{answer.json()['id']}", headers=ana_key.headers)
                assert json.loads(item.content)["data"]["content"] == text.strip()
        transaction.set_rollback(True)
