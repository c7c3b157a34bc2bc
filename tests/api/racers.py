"""What the processes of the race do."""

import json

from django.test import Client
from django.utils import timezone

from minara_site.access.keys.services import create_key
from minara_site.access.models import User
from minara_site.access.policy import Scope
from tests.kit.racers import in_processes, meet


def record_from_five(bodies: str) -> str:
    """Let five processes send each of the calls ten times, all at once; return status and id of each answer by path."""
    owner, calls = User.objects.get(is_default=True), json.loads(bodies)
    key = create_key(user=owner, scopes=[Scope.LEARNING_WRITE], now=timezone.now(), actor="test").text
    found = in_processes(*[(record_ten, key, calls)] * 5)
    return json.dumps({path: [answer for answers in found for answer in answers[path]] for path in calls})


def record_ten(key: str, calls: dict[str, object]) -> dict[str, list[tuple[int, int]]]:
    """Send each call ten times, the first of them together with the others."""
    client = Client(headers={"Host": "localhost", "Authorization": f"Bearer {key}"})
    found: dict[str, list[tuple[int, int]]] = {}
    for path, body in calls.items():
        meet()
        answers = [client.post(path, body, "application/json") for _time in range(10)]
        found[path] = [(answer.status_code, answer.json()["data"]["id"]) for answer in answers]
    return found
