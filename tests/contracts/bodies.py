"""A valid body for every door that changes something. A new door without one gets an empty body."""

import json
from typing import Any
from urllib.parse import urlencode

JSON: dict[str, dict[str, Any]] = {
    "POST /v1/memory": {"statement": "I hold ETH for years"},
    "POST /v1/memory/bulk": {"action": "delete", "ids": ["memory_id"]},
    "PATCH /v1/memory/{int:memory_id}": {"statement": "I hold BTC for years"},
    "POST /v1/role-memory": {"role_id": "analysis.thesis.review", "inputs": {}, "decision": "The thesis holds"},
    "POST /v1/role-memory/{int:entry_id}/outcome": {"correct": True},
    "POST /v1/methodologies": {
        "name": "Buy the dip",
        "asset_class": "layer_1",
        "methodology": "Buy when the oscillator turns up from below thirty.",
        "direction": "bullish",
        "primary_signal": "momentum",
        "timeframe": "long",
    },
    "POST /v1/methodologies/{uid}/outcomes": {"correct": True},
    "POST /v1/methodologies/{uid}/quarantine": {"reason": "Three losses in a row"},
    "POST /v1/methodologies/{uid}/release": {"reason": "Looked at again"},
    "POST /v1/trading-cases": {"asset": "BTC", "decision": "Buy the dip", "direction": "bullish", "horizon_hours": 24},
    "POST /v1/strategy-runs": {"strategy_id": "grid-7", "symbols": ["BTC"], "allocated_capital_usd": "500"},
    "POST /v1/strategy-runs/{int:strategy_run_id}/stop": {"stop_reason": "user_manual"},
    "POST /v1/strategy-runs/reconcile": {"running": ["grid-7"]},
    "POST /v1/trades": {
        "symbol": "BTC-PERP",
        "side": "long",
        "size_usd": "1000",
        "entry_price": "65200",
        "opened_at": "2026-06-01T12:00:00Z",
        "reason": "Higher lows",
    },
    "POST /v1/deployments": {"name": "momentum", "skill": {"name": "breakouts", "config": {"strategy": "Buy highs."}}},
    "POST /v1/deployments/{deployment_id}/ticks": {
        "tick_at": "2026-06-12T11:59:00Z",
        "portfolio": {
            "equity_usd": "10000",
            "positions": [
                {
                    "symbol": "BTC",
                    "side": "long",
                    "size_base": "0.01",
                    "size_usd": "652",
                    "entry_price": "65200",
                    "mark_price": "65200",
                }
            ],
        },
        "proposed_action": {"action": "open", "symbol": "BTC", "side": "long", "reason": "Higher lows"},
        "engine": {"kind": "executed"},
    },
    "POST /v1/institution/runs": {"tickers": ["BTC"]},
    "POST /v1/preferences": {
        "dimension": "venue",
        "kind": "soft_preference",
        "statement": "Prefers limit orders above $2,000",
    },
    "POST /v1/preferences/{int:preference_id}/approve": {"statement": "Prefers limit orders"},
    "POST /v1/preferences/{int:preference_id}/reject": {"reason": "That was one week only"},
    "POST /v1/preferences/{int:preference_id}/archive": {"reason": "Fees are lower now"},
    "POST /v1/learnings": {"name": "open_long", "trigger": "open a long", "guidance": "set the stop first"},
    "PATCH /v1/learnings/{learning_uid}": {"guidance": "set the stop first"},
    "POST /v1/prices": {"symbol": "BTC", "price": "61250.5", "ts": "2026-06-01T12:00:00Z"},
    "POST /v1/tools/{name}": {"limit": 5},
    "PUT /v1/user-profile/{key}": {"value": "Europe/Rome"},
    "POST /v1/profile/onboarding": {"risk": "balanced", "markets": ["memes"], "capital": "25k USD"},
    "PUT /v1/profile/tags/{tag_name}": {"value": "aggressive"},
    "PUT /v1/profile/settings": {"include_tags": False},
    "PUT /v1/profile/prompt": {"custom_prompt": "Numbers first, then your view"},
    "POST /v1/profile/accounts": {
        "source": "perps",
        "address": "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "label": "main",
    },
    "PUT /v1/profile/reference-wallets": {
        "wallets": [{"address": "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "label": "slow fund"}]
    },
    "PUT /v1/workspace/{path:file_name}": {"content": "Weekly charts, then your view"},
    "POST /v1/sessions": {"title": "Morning"},
    "POST /v1/sessions/{session_id}/turns": {
        "user_message": "hello",
        "assistant_message": "hi",
        "tool_calls": [],
        "completed": True,
    },
}
FORMS: dict[str, dict[str, Any]] = {
    "POST /profile/activity/add/": {"source": "perps", "address": "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"},
    "POST /settings/theme/": {"theme": "dark"},
    "POST /ops/budgets/<str:category>/<str:window>/raise/": {"cap_usd": "50", "reason": "A backlog"},
    "POST /ops/jobs/start/": {"job": "memories.purge_expired"},
    "POST /settings/keys/new/": {"label": "laptop", "scopes": ["memory:read"], "expires_days": "30"},
    "POST /settings/keys/<str:prefix>/revoke/": {"word": "revoke"},
    "POST /settings/security/factors/<int:factor_id>/remove/": {"word": "remove"},
    "POST /settings/security/codes/": {"word": "replace"},
    "POST /ops/users/<int:user_id>/second-factor/reset/": {"word": "reset"},
    "POST /ops/users/invite/": {"username": "newcomer", "role": "user"},
    "POST /ops/users/<int:user_id>/role/": {"role": "support"},
    "POST /ops/users/<int:user_id>/disable/": {"word": "disable"},
    "POST /ops/users/<int:user_id>/keys/<str:prefix>/revoke/": {"word": "revoke"},
    "POST /ledger/deployments/<str:deployment_id>/": {
        "enabled": "on",
        "recent_trades": "5",
        "cadence": "daily",
        "every_n": "5",
        "compare": "off",
    },
    "POST /ledger/trades/<str:trade_uid>/note/": {"text": "Entered too early, again"},
    "POST /ledger/trips/<int:trip_id>/note/": {"text": "Entered too early, again"},
    "POST /trading-cases/<int:case_id>/note/": {"text": "Entered too early, again"},
    "POST /trading-cases/<int:case_id>/reveal/": {"reason": "ticket 8841"},
    "POST /ledger/trades/<str:trade_uid>/reveal/": {"reason": "ticket 8841"},
    "POST /ledger/trips/<int:trip_id>/reveal/": {"reason": "ticket 8841"},
    "POST /institution/new/": {"tickers": "BTC"},
    "POST /facts/conflicts/<int:conflict_id>/<str:kind>/": {"older": "older_id", "newer": "newer_id"},
    "POST /ops/export/": {"sign": "on"},
    "POST /ops/import/<int:import_id>/constraints/": {"plan": "0" * 64, "word": "hard constraints"},
    "POST /ops/import/<int:import_id>/apply/": {"plan": "0"},
    "POST /memories/new/": {"statement": "I hold ETH for years", "tickers": "ETH"},
    "POST /memories/count/": {"statement": "I hold ETH for years"},
    "POST /memories/held/bulk/": {"action": "discard", "ids": ["hold_id"]},
    "POST /memories/held/<int:hold_id>/release/": {"note": "a false alarm"},
    "POST /memories/held/<int:own_hold_id>/let-in/": {"note": "my own words"},
    "POST /memories/held/<int:hold_id>/discard/": {"note": "no good"},
    "POST /quarantine/verdict/": {"action": "accept", "ids": "review_items", "confirmed": "1"},
    "POST /audit/run/": {"window_days": "30"},
    "POST /audit/findings/acknowledge/": {"codes": ["cron_behind"], "note": "Known since Monday"},
    "POST /methodologies/bulk/": {"action": "quarantine", "ids": ["uid"], "reason": "Three losses in a row"},
    "POST /methodologies/<str:uid>/quarantine/": {"reason": "Three losses in a row"},
    "POST /learnings/bulk/": {"action": "delete", "ids": ["learning_id"]},
    "POST /learnings/<str:learning_uid>/edit/": {"guidance": "set the stop first", "version": "2"},
    "POST /onboarding/<str:question>/": {"answer": "active"},
    "POST /onboarding/<str:question>/preview/": {"answer": "active"},
    "POST /profile/tags/<str:tag_name>/declare/": {"value": "aggressive"},
    "POST /profile/prompt/": {"custom_prompt": "Numbers first, then your view", "version": "prompt_version"},
    "POST /profile/prompt/warn/": {"custom_prompt": "Numbers first, then your view"},
    "POST /profile/prompt/draft/": {"draft": "Numbers fi"},
    "POST /profile/settings/": {"setting": "include_tags", "value": "0"},
    "POST /profile/wallets/add/": {"address": "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "label": "slow fund"},
    "POST /profile/wallets/<str:address>/label/": {"label": "slow fund"},
    "POST /workspace/MEMORY.md/additions/": {"lines": ["missing_line"], "version": "file_now"},
    "POST /workspace/<path:file_name>/save/": {"content": "Weekly charts, then your view", "version": "file_now"},
    "POST /workspace/<path:file_name>/warn/": {"content": "Weekly charts, then your view"},
    "POST /workspace/<path:file_name>/draft/": {"draft": "Weekly ch"},
    "POST /profile/preferences/new/": {
        "dimension": "timeframe",
        "kind": "soft_preference",
        "statement": "I look at the daily chart alone",
    },
    "POST /profile/preferences/count/": {"statement": "I look at the daily chart alone"},
    "POST /profile/preferences/bulk/": {"action": "reject", "ids": ["preference_id"], "reason": "That was one week"},
    "POST /profile/preferences/<int:preference_id>/reject/": {
        "reason": "That was one week only",
        "version": "preference_version",
    },
    "POST /profile/preferences/<int:preference_id>/activate/": {"typed": "3x", "version": "preference_version"},
    "POST /profile/preferences/<int:preference_id>/archive-constraint/": {
        "typed": "3x",
        "version": "preference_version",
    },
    "POST /ops/scan-rules/": {"text": "I hold ETH for years"},
    "POST /memories/bulk/": {"action": "delete", "ids": ["memory_id"]},
    "POST /memories/<int:memory_id>/edit/": {"statement": "I hold BTC for years", "version": "2"},
    "POST /memories/<int:memory_id>/delete/": {"reason": "It is wrong"},
    "POST /memories/<int:memory_id>/restore/": {"reason": "It was right"},
    "POST /settings/": {"display_name": "Somebody", "time_zone": "UTC", "theme": "dark", "density": "compact"},
    "POST /settings/security/password/": {
        "old_password": "correct horse battery",
        "new_password1": "staple tango rhubarb",
        "new_password2": "staple tango rhubarb",
    },
    "POST /role-memory/<int:entry_id>/outcome/": {"correct": "yes"},
    "POST /user-profile/warn/": {"key": "home_language", "value": "Italian"},
    "POST /user-profile/add/": {"key": "home_language", "value": "Italian"},
    "POST /user-profile/<str:key>/edit/": {"value": "Europe/Rome", "updated_at": "entry_stamp"},
}
QUERIES = {"memories/<int:memory_id>/history/<int:version>/revert/": "?version=2", "v1/edges": "?entity=BTC"}


def body_of(method: str, route: str, samples: dict[str, Any], **more: Any) -> str | None:
    """Return the body, with `samples` in the place of their names and `more` beside it; None for a door without."""
    name = f"{method} /{route}"
    template = JSON.get(name, FORMS.get(name))
    if template is None:
        return None
    filled = {field: put(value, samples) for field, value in template.items()} | more
    return json.dumps(filled) if name in JSON else urlencode(filled, doseq=True)


def put(value: Any, samples: dict[str, Any]) -> Any:
    """Return the value with the names of samples replaced."""
    if isinstance(value, list):
        return [put(each, samples) for each in value]
    return samples.get(value, value) if isinstance(value, str) else value
