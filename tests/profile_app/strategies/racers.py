"""What the processes of the race do, on one shared database."""

import json
from datetime import timedelta

from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from profile_app.strategies.models import StrategyRun
from profile_app.strategies.services import reconcile
from tests.kit.clock import NOON
from tests.kit.racers import in_processes


def reconcile_at_once(processes: int) -> str:
    """Reconcile from so many processes; return how many runs they closed together."""
    owner = User.objects.get(is_default=True)
    StrategyRun.objects.create(
        owner=owner,
        strategy_id="gone",
        symbols=[],
        allocated_capital_usd=1,
        started_at=NOON - timedelta(hours=1),
        actor="key:x",
    )
    closed = sum(in_processes(*[(close,) for _process in range(processes)]))
    acts = AuditEntry.objects.filter(tool_call="strategy_run_stopped").count()
    return json.dumps({"closed": closed, "acts": acts})


def close() -> int:
    """Return how many runs one reconcile closed."""
    owner = User.objects.get(is_default=True)
    return len(reconcile(owner=owner, running=[], actor="key:x", now=NOON))
