"""Two hundred turns over real candles: the second pass is suggested what the first one did, ranked as scikit-learn ranks."""

from urllib.parse import urlencode

import pytest

from learning_app.learnings.models import Learning
from learning_app.learnings.services.review import review_turns
from minara_site.kernel.conversations.models import Turn
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.learning_app.audit.test_real_prices import read_candles, signals
from tests.learning_app.learnings.test_suggest import scikit_ranks

TURNS = 200
RULES = {
    "rsi": ("RSI turned up through 30", ("get_candles", "rsi", "memory_search", "record_case")),
    "cross": ("SMA 20 crossed above SMA 100", ("get_candles", "sma", "sma", "record_case")),
    "breakout": ("close above the highest of 100 candles", ("get_candles", "highest", "get_volume", "record_case")),
}
ASKED = "{words} on ETH/BTC at {price:.6f}: is this a long?"


def say_what_was_done(asked):
    """Answer as a model that reads the turn: the rule by its words, the tools as they were called."""
    [name] = [name for name, (words, _tools) in RULES.items() if words in asked.content]
    words, tools = RULES[name]
    steps = [{"tool_name": tool, "args": {}} for tool in tools]
    return {
        "score": 9,
        "summary": "Judged a signal.",
        "suggested_trigger": f"{words} on a pair: is this a long",
        "suggested_tool_sequence": steps,
        "name": f"judge_{name}",
        "guidance": "",
    }


@pytest.mark.django_db
def test_a_second_pass_over_the_same_candles_is_suggested_what_the_first_one_did(ana, models):
    models.answer = say_what_was_done
    agent = agent_of(ana)
    _known_at, closes = read_candles()
    found = [call for call in signals(closes) if call[1] in RULES]
    chosen = [found[number % len(found)] for number in range(TURNS)]
    session = agent.post("/v1/sessions", {}).json()["data"]["id"]

    def ask(place, name):
        message = ASKED.format(words=RULES[name][0], price=float(closes[place]))
        data = agent.get(f"/v1/sessions/{session}/suggestions?" + urlencode({"message": message})).json()["data"]
        return message, data["items"]

    def act(place, name, message):
        calls = [
            {"name": tool, "args": {"symbol": "ETH/BTC", "until": place}, "ok": True, "tier": 1}
            for tool in RULES[name][1]
        ]
        turn = {"user_message": message, "assistant_message": "Long.", "tool_calls": calls, "completed": True}
        assert agent.post(f"/v1/sessions/{session}/turns", turn).status_code == 202
        review_turns([Turn.objects.latest("pk").pk], now=NOON)

    for place, name, _direction in chosen:
        act(place, name, ASKED.format(words=RULES[name][0], price=float(closes[place])))
    counted = {row.name: row.success_count for row in Learning.objects.all()}
    assert counted == {f"judge_{name}": sum(call[1] == name for call in chosen) for name in RULES}
    for place, name, _direction in chosen:
        message, items = ask(place, name)
        assert [step["tool_name"] for step in items[0]["tool_sequence"]] == list(RULES[name][1])
        assert not items[0]["needs_permission"]
        act(place, name, message)
    rows = list(Learning.objects.order_by("pk"))
    assert {row.name: row.success_count for row in rows} == {name: 2 * count for name, count in counted.items()}
    other = agent.post("/v1/sessions", {}).json()["data"]["id"]
    for words, _tools in RULES.values():
        query = urlencode({"message": f"{words} on ETH/BTC"})
        items = agent.get(f"/v1/sessions/{other}/suggestions?{query}").json()["data"]["items"]
        expected = scikit_ranks(rows, f"{words} on ETH/BTC")
        assert [item["id"] for item in items] == [Learning.objects.get(pk=pk).uid for pk, _rank in expected[:3]]
