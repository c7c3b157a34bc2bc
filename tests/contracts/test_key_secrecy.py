"""The text of a key is in one answer and nowhere else: no log line, page, error, address or row (trust W-12)."""

import io
import json
import logging
import re

import pytest
from django.core.management import call_command

from minara_site.access.keys.core import checksum
from tests.contracts.permissions import OPERATIONS, PAGES
from tests.kit.rows import all_rows
from tests.kit.world import fill

KEY = re.compile(r"mnr_live_[0-9a-z]{8}_[0-9A-Za-z]{49}")


@pytest.fixture
def everything_said(caplog, capfd):
    """Return all log records and all output so far."""
    caplog.set_level(logging.DEBUG)

    def said():
        captured = capfd.readouterr()
        records = [json.dumps(vars(record), default=repr) for record in caplog.records]
        return "\n".join([*records, captured.out, captured.err])

    return said


def knock_everywhere(world, text):
    """Use the key at every door, rightly and wrongly; return all answers."""
    body = text.rpartition("_")[0] + "_" + "A" * 43
    wrong = body + checksum(body)
    doors = [("GET", route) for route, row in PAGES.items() if "GET" in row.methods] + [
        tuple(name.split(" /")) for name in OPERATIONS
    ]
    for method, route in doors:
        for key in (text, wrong, text + "x"):
            yield world.wire.send(method, fill(route, world.ana.samples), "{", Authorization=f"Bearer {key}")


def test_a_canary_key_is_never_seen_again(world, everything_said, monkeypatch):
    out = io.StringIO()
    call_command("key", "create", "--user", "ana", "--scopes", "memory:read,memory:write", stdout=out)
    by_command = out.getvalue().splitlines()[-1]
    form = "label=x&scopes=memory:read&scopes=memory:write&expires_days=30"
    page = world.callers["ana"].call("POST", "/settings/keys/new/", form).content.decode()
    (by_page,) = set(KEY.findall(page))

    answers = [answer for text in (by_command, by_page) for answer in knock_everywhere(world, text)]
    answers.append(world.callers["ana"].call("GET", "/settings/keys/"))

    def fail(*args, **kwargs):
        raise RuntimeError("boom")

    monkeypatch.setattr("memory_app.memories.api.list_memories", fail)
    failure = world.wire.send("GET", "/v1/memory", Authorization=f"Bearer {by_page}")
    assert failure.status_code == 500
    answers.append(failure)

    shown = "\n".join(f"{answer.headers}\n{answer.content!r}" for answer in answers)
    stored = repr(all_rows())
    said = everything_said()
    assert "api_failure" in said
    for text in (by_command, by_page):
        secret = text.rpartition("_")[2][:43]
        for place, content in (("an answer", shown), ("the database", stored), ("the log", said)):
            assert text not in content, place
            assert secret not in content, place
