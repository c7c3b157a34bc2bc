"""An agent records a call, the market answers, and one actionable lesson stands in its next prompt: real processes."""

import json
import urllib.error
import urllib.request
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.kit.messages_api import Asked, serve
from tests.kit.site import Site, free_port, wait_until

pytestmark = pytest.mark.processes

ROLE = "market.spot.momentum"
LESSON = "Wait for the close above the range before entering. Halve the size while funding is high."


def judge(asked: Asked) -> dict[str, str]:
    """Answer as a model would: Stage 1 finds an error of logic, Stage 2 the lesson."""
    if "lesson" in asked.tool["input_schema"]["properties"]:
        return {"lesson": LESSON}
    return {"class": "logic_error", "narrative": "It bought a breakout whose volume had already faded."}


class Agent:
    """An agent with a key, over HTTP."""

    def __init__(self, port: int, key: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return what is in its answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=self.headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error


def test_a_call_that_went_wrong_teaches_the_next_session(site: Site) -> None:
    with serve() as models:
        models.answer = judge
        site.environment.update(models.environment)
        create = ("user", "create", "ana", "--role", "operator", "--password-stdin")
        assert site.run(*create, typed="four plain words here\n")[0] == 0
        scopes = "learning:read,learning:write,trading:write,memory:read,operator"
        key = site.run("key", "create", "--user", "ana", "--scopes", scopes)[1].splitlines()[-1]
        port = free_port()
        site.start("up", "--port", str(port), "--workers", "1")
        wait_until(lambda: site.get(port, "/readyz") == 200)
        agent = Agent(port, key)

        # an operator replays what the agent decided
        decided_at = timezone.now() - timedelta(hours=30)
        decision = {
            "role_id": ROLE,
            "inputs": {"asset": "BTC", "direction": "bullish"},
            "decision": "Long BTC on the breakout.",
            "decided_at": decided_at.isoformat(),
        }
        entry_id = agent.call("POST", "/v1/role-memory", decision)["id"]
        assert agent.call("GET", f"/v1/role-memory/{entry_id}")["status"] == "pending"

        # the market answers, in prices that the agent has seen anyway
        prices = ((timedelta(minutes=1), "60000"), (timedelta(hours=24, minutes=2), "54000"))
        later = (timedelta(hours=24, minutes=9), "66000")
        points = [
            {"symbol": "BTC", "price": price, "ts": (decided_at + after).isoformat()}
            for after, price in (*prices, later)
        ]
        agent.call("POST", "/v1/prices", points)
        reflected = wait_until(lambda: is_reflected(agent.call("GET", f"/v1/role-memory/{entry_id}")))
        assert (reflected["outcome"], reflected["class"]) == ("wrong", "logic_error")
        assert reflected["pnl_pct"] == pytest.approx(-10)
        assert reflected["lesson"] == LESSON

        # it is paid for within the budget, and written once however often somebody asks
        paid = site.query("SELECT COUNT(*), SUM(cost_usd) FROM llm_usage WHERE category = 'learning'")[0]
        spent = site.query("SELECT spent_usd FROM budget_windows WHERE category = 'learning' ORDER BY \"window\"")
        assert paid[0] == models.calls == 2
        assert [float(each) for (each,) in spent] == [pytest.approx(float(paid[1]))] * 2
        run_id = agent.call("POST", f"/v1/roles/{ROLE}/reflect", {})["run_id"]
        wait_until(lambda: site.query(f"SELECT 1 FROM job_runs WHERE id = {run_id} AND state = 'succeeded'"))
        assert models.calls == 2
        assert agent.call("GET", f"/v1/role-memory/{entry_id}") == reflected

        # and the next session reads it
        lessons = agent.call("GET", f"/v1/roles/{ROLE}/lessons")["items"]
        assert [each["lesson"] for each in lessons] == [LESSON]
        session = agent.call("POST", "/v1/sessions", {})["id"]
        prompt = agent.call("GET", f"/v1/sessions/{session}/prompt")
        assert f"[{ROLE}] {LESSON}" in prompt["memory_context"].splitlines()


def is_reflected(entry: dict[str, Any]) -> dict[str, Any] | None:
    """Return the entry once it is."""
    return entry if entry["status"] == "reflected" else None
