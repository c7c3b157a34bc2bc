"""A cursor never passes a row that commits later: each writer of what a rebuild reads holds its owner (R-11)."""

import ast
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from learning_app.ledger.models import Trade
from minara_site.kernel.conversations.models import Turn
from profile_app.activity.models import PerpsFill, SpotActivity
from tests.kit.api import agent_of
from tests.profile_app.activity import test_sync

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen"), pytest.mark.database]
OPENED = {
    "symbol": "BTC-PERP",
    "side": "long",
    "size_usd": "100",
    "entry_price": "65000",
    "opened_at": "2026-06-12T11:00:00Z",
}
SAID = {"user_message": "hello", "assistant_message": "hi", "tool_calls": [], "completed": True}
LOCK = re.compile(r'FROM "access_user" .*FOR NO KEY UPDATE', re.DOTALL)
WRITERS = {
    "minara_site/kernel/conversations/services.py": "Turn",
    "learning_app/ledger/services.py": "Trade",
    "learning_app/ticks/services/record.py": "Trade",
    "profile_app/activity/services/mirror.py": "PerpsFill SpotActivity",
}
MODELS = {"Turn": Turn, "Trade": Trade, "PerpsFill": PerpsFill, "SpotActivity": SpotActivity}


def makers(path):
    """Return which of the models a module makes rows of."""
    found = set()
    for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
        words = ast.unparse(call.func).split(".")
        if words[0] in MODELS and (len(words) == 1 or words[-1] in {"create", "bulk_create", "get_or_create"}):
            found.add(words[0])
    return found


def test_there_are_no_other_writers():
    found = {}
    for app in ("minara_site", "memory_app", "learning_app", "profile_app"):
        for path in Path(settings.BASE_DIR, app).rglob("*.py"):
            if path.name not in {"demo.py", "models.py"} and "migrations" not in path.parts and (made := makers(path)):
                found[str(path.relative_to(settings.BASE_DIR))] = " ".join(sorted(made))
    assert found == WRITERS


def test_each_holds_its_owner_before_a_number_is_given_out(ana, gateway):
    if not connection.features.has_select_for_update:
        assert settings.DATABASES["default"]["OPTIONS"]["transaction_mode"] == "IMMEDIATE", "one writer at a time"
    type(ana).objects.update(is_default=False)
    ana.is_default = True
    ana.save()
    agent = agent_of(ana)
    session = agent.post("/v1/sessions", {}).json()["data"]["id"]
    gateway.gateway_fills, gateway.activities = test_sync.TestGateway().rows(1), [test_sync.TestGateway().activity(0)]
    cases = (
        ((Turn,), lambda: agent.post(f"/v1/sessions/{session}/turns", SAID)),
        ((Trade,), lambda: agent.post("/v1/trades", OPENED)),
        ((Trade,), lambda: agent.post("/v1/tools/record_trade", {**OPENED, "symbol": "ETH", "reasoning": "Asked for"})),
        ((PerpsFill, SpotActivity), lambda: test_sync.sync(ana)),
    )
    for models, write in cases:
        with CaptureQueriesContext(connection) as captured:
            write()
        told = [query["sql"] for query in captured]
        for model in models:
            wrote = [place for place, sql in enumerate(told) if f'INSERT INTO "{model._meta.db_table}"' in sql]
            assert wrote, model
            if connection.features.has_select_for_update:
                assert any(LOCK.search(sql) for sql in told[: wrote[0]]), model
