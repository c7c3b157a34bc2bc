"""What the processes of the tests do."""

import json
from typing import Any

from django.test import Client
from django.utils import timezone

from minara_site.access.keys.services import create_key
from minara_site.access.policy import Scope
from tests.kit.fixtures import make_user
from tests.kit.racers import in_processes


def post_from_five() -> str:
    """Let five processes send the same call ten times each, all at once; return what each call answered."""
    key = create_key(
        user=make_user("ana"),
        scopes=[Scope.MEMORY_WRITE],
        now=timezone.now(),
        actor="test",
    ).text
    return json.dumps([each for found in in_processes(*[(post_often, key, 10)] * 5) for each in found])


def post_often(key: str, times: int) -> list[tuple[int, bool, Any]]:
    """Send the same call this often; return status, whether it was a replay, and the id of what it made."""
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "burst-1"}
    client, body, seen = Client(headers={"Host": "localhost"}), {"statement": "Prefers bonds"}, []
    for _time in range(times):
        answer = client.post("/v1/memory", body, "application/json", headers=headers)
        seen.append((answer.status_code, "Idempotency-Replayed" in answer, answer.json().get("id")))
    return seen
