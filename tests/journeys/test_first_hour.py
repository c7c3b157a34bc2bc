"""The first hour of a stranger with a fresh instance: operator, import, search, edit, restore, prompt, agent."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.access.setup import issue_setup_link
from tests.journeys.reader import Reader
from tests.kit.shared import shared_path
from tests.memory_app.importers.test_locomo import conversation_lines

pytestmark = pytest.mark.django_db
PASSWORD = "four plain words here"


def bring(path: Path, source_format: str) -> str:
    """Import at the shell and return the last line."""
    out = StringIO()
    call_command("import", str(path), "--from", source_format, "--apply", stdout=out)
    return out.getvalue().splitlines()[-1]


def make_workspace(folder: Path) -> Path:
    """Write a workspace as people have it."""
    (folder / "memory").mkdir(parents=True)
    (folder / "SOUL.md").write_text("# Soul\nBe brief.\n")
    (folder / "MEMORY.md").write_text(
        "# Memory\n\n## Preferences\n- Always set slippage to 0.5%\n- 山寨币仓位不超过 20%\n"
    )
    (folder / "USER.md").write_text("# User\n- **Name:** Ana\n- **Timezone:** Europe/Lisbon\n\nTrades before work.\n")
    (folder / "memory" / "2026-06-11.md").write_text("# Thursday\n- Closed the ETH long at $3450\n")
    return folder


def call(key: str, method: str, path: str, body: Any = None) -> Any:
    """Send a request as an agent does; return what is in the answer."""
    headers = {"Authorization": f"Bearer {key}"}
    data = json.dumps(body) if body is not None else ""
    answer = Client().generic(method, path, data, content_type="application/json", headers=headers)
    assert answer.status_code < 300, answer.content
    return answer.json()


def test_a_stranger_becomes_operator_and_their_agent_remembers(tmp_path: Path) -> None:
    person = Reader()
    token = issue_setup_link(now=timezone.now())
    person.open(f"/welcome/{token}/").press(
        "Begin",
        username="ana",
        display_name="Ana",
        password=PASSWORD,
        password_again=PASSWORD,
    )
    assert person.path == "/"
    assert "0 of 5 done" in person.text
    assert User.objects.get(is_default=True).username == "ana"

    # brings a workspace and a conversation
    workspace = make_workspace(tmp_path / "workspace")
    assert bring(workspace, "openclaw") == (
        "Stored 6 new for ana; 0 duplicate, 0 rejected. 1 other file was left alone."
    )
    turns = conversation_lines(json.loads(shared_path("data/locomo_dev.json").read_text())[0]["conversation"])
    export = tmp_path / "conversation.jsonl"
    export.write_text("\n".join(map(json.dumps, turns)))
    assert bring(export, "jsonl").startswith("Stored ")
    assert "1 of 5 done" in person.open("/").text

    # browses and searches, in two languages
    assert "Always set slippage to 0.5%" in person.open("/memories/?category=preference").text
    assert "Always set slippage to 0.5%" in person.open("/search/?q=slippage").text
    assert "仓位不超过 20%" in person.open("/search/?q=山寨币").text
    assert "Trades before work." in person.open("/memories/?source=imported&category=personalization").text
    assert "Europe/Lisbon" in person.open("/user-profile/").text

    # says something, corrects it, deletes it, takes that back
    person.open("/").follow("Tell the agent one thing").press("Store", statement="No leverage above 5x")
    person.follow("Edit").press("Save", statement="No leverage above 3x")
    assert "Saved as version 2." in person.text
    person.press("Delete")
    assert not Memory.objects.live().filter(content="No leverage above 3x").exists()
    person.open("/memories/trash/").follow("No leverage").press("Restore")
    assert Memory.objects.live().filter(content="No leverage above 3x").exists()

    # looks at what the agent will read
    person.open("/").press("Open")
    person.open("/prompt/?show=now")
    assert "No leverage above 3x" in person.text
    assert "timezone: Europe/Lisbon" in person.text

    # makes a key
    person.open("/settings/keys/new/").press(
        "Make the key",
        label="laptop",
        check=("memory:write", "learning:write"),
        expires_days="90",
        networks="",
    )
    key = re.search(r"mnr_\w+", person.text)
    assert key is not None

    # and the agent uses it
    written = call(key[0], "POST", "/v1/memory", {"statement": "Wants limit orders above $2,000"})
    found = call(key[0], "GET", "/v1/memory/search?q=limit%20orders")
    assert found["data"]["items"][0]["id"] == written["id"]
    session = call(key[0], "POST", "/v1/sessions", {"title": "first"})["data"]["id"]
    prompt = call(key[0], "GET", f"/v1/sessions/{session}/prompt")["data"]
    assert "Wants limit orders above $2,000" in prompt["personalization"]
    assert "- timezone: Europe/Lisbon" in prompt["memory_context"]

    # home knows all of it
    assert "4 of 5 done" in person.open("/").text
    assert re.search(r"Wrote 1 memory ?, by laptop, API key", person.text)
    assert "Wants limit orders above $2,000" in person.open("/memories/").text


def test_a_stranger_looks_at_the_demo_and_sends_it_away() -> None:
    person = Reader()
    token = issue_setup_link(now=timezone.now())
    person.open(f"/welcome/{token}/").press(
        "Begin",
        username="ana",
        display_name="",
        password=PASSWORD,
        password_again=PASSWORD,
    )
    person.press("Load the demo")
    assert "Loaded a demo of" in person.text
    for path, words in {
        "/memories/": "demo",
        "/memories/trash/": "Remind me about the dentist",
        "/memories/?owner=demo-mei": "突破要等日线收盘确认",
        "/search/?q=funding": "funding",
        "/search/?q=止损": "止损",
        "/user-profile/": "risk_tolerance",
        "/prompt/": "always set slippage to 0.5%",
        "/settings/": "Olga Petrova",
    }.items():
        assert words in person.open(path).text, path
    person.open("/demo/remove/").press("Remove the demo permanently", word="demo")
    assert "Removed the demo" in person.text
    assert not Memory.objects.exists()
    assert User.objects.filter(username__startswith="demo-").count() == 0
