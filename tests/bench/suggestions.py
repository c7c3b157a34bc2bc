"""Suggestions among many learnings of one owner, and what the loop costs the recording of a turn.

The warm reference is scikit-learn's cosine over the same fitted matrix; the cold one reads the same
rows. A turn is recorded with and without the loop in turns, so that both meet the same machine.
"""

import random
import statistics
from functools import partial
from pathlib import Path
from unittest.mock import patch

from django.test.utils import override_settings
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import linear_kernel

from learning_app.learnings.index import INDEXES
from learning_app.learnings.models import Learning
from learning_app.learnings.selectors import find_suggested
from learning_app.similarity.core import terms_of
from minara_site.access.models import User
from minara_site.kernel.conversations.services import record_turn
from tests.bench.figures import Figure, percentile, timed
from tests.bench.pages import PLAIN_FILES
from tests.kit.api import agent_of
from tests.learning_app.learnings.rows import make_many, random_trigger

MANY, SMALL = 10_000, 300
MAX_WARM, MAX_COLD, MAX_TURN = 3.0, 5.0, 1.3
MESSAGES, COLD_ROUNDS, TURNS = 200, 7, 300


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure the three ratios."""
    owner, number = User.objects.get(is_default=True), SMALL if small else MANY
    make_many(owner, number)
    dice = random.Random(3)
    messages = [random_trigger(dice) for _number in range(20 if small else MESSAGES)]
    triggers = list(Learning.objects.order_by("pk").values_list("trigger", flat=True))
    vectorizer = TfidfVectorizer(analyzer=lambda text: list(terms_of(text)))
    matrix = vectorizer.fit_transform(triggers)

    def suggest(message: str) -> None:
        find_suggested(owner_id=owner.pk, message=message, limit=3)

    def compare(message: str) -> None:
        linear_kernel(vectorizer.transform([message]), matrix)

    suggest(messages[0])
    compare(messages[0])
    ours, theirs = [], []
    for message in messages:
        ours.append(timed(lambda message=message: suggest(message)) * 1000)
        theirs.append(timed(lambda message=message: compare(message)) * 1000)
    warm, reference = percentile(ours, 0.95), percentile(theirs, 0.95)
    cold, read = cold_times(owner, messages[0])
    looped, plain = turn_times(owner, 20 if small else TURNS)
    return [
        figure(f"suggestion among {number:,} learnings, p95, against scikit-learn", warm, reference, MAX_WARM, small),
        figure(f"a cold one among {number:,}, against reading the rows", cold, read, MAX_COLD, small),
        figure("the request that records a turn, against the same without the loop", looped, plain, MAX_TURN, small),
    ]


def cold_times(owner: User, message: str) -> tuple[float, float]:
    """Return the median milliseconds of a suggestion without an index, and of reading what it is made of."""

    def suggest() -> None:
        INDEXES.clear()
        find_suggested(owner_id=owner.pk, message=message, limit=3)

    def read() -> None:
        list(Learning.objects.filter(owner=owner).live().order_by("number").values())

    times = [(timed(suggest) * 1000, timed(read) * 1000) for _round in range(COLD_ROUNDS)]
    return statistics.median(ours for ours, _read in times), statistics.median(read for _ours, read in times)


@override_settings(STORAGES=PLAIN_FILES, ALLOWED_HOSTS=["*"], SECURE_SSL_REDIRECT=False)
def turn_times(owner: User, count: int) -> tuple[float, float]:
    """Return the median milliseconds of the request that records a turn, with the loop and without it."""
    agent = agent_of(owner)
    calls = [{"name": f"tool_{number}", "args": {"symbol": "BTC"}, "ok": True} for number in range(5)]
    said = {"user_message": "open a long on BTC with a stop", "assistant_message": "Done.", "completed": True}
    without_loop = partial(record_turn, is_announced=False)

    def post(session_id: str) -> float:
        agent.get(f"/v1/sessions/{session_id}/suggestions?message=open+a+long+with+a+stop")
        path, body = f"/v1/sessions/{session_id}/turns", said | {"tool_calls": calls}
        return timed(lambda: agent.post(path, body)) * 1000

    looped, plain = (agent.post("/v1/sessions", {}).json()["data"]["id"] for _number in range(2))
    times = []
    for _number in range(count):
        with patch("profile_app.prompt.api.record_turn", without_loop):
            without = post(plain)
        times.append((post(looped), without))
    return statistics.median(ours for ours, _plain in times), statistics.median(without for _ours, without in times)


def figure(name: str, ours: float, reference: float, bound: float, small: bool) -> Figure:
    """Return a ratio with both times."""
    ratio = ours / reference
    said = f"{ours:.2f} ms, reference {reference:.2f} ms"
    return Figure(name, ratio, "x", bound=f"at most {bound:g}", ok=small or ratio <= bound, reference=said)
