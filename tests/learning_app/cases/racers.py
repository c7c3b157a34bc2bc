"""What the processes of the race do, on one shared database."""

import json
from datetime import timedelta

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.cases.services.resolve import list_due_batches, resolve_batch
from learning_app.cases.services.state_outcome import state_outcome
from learning_app.methodologies.models import LifecycleEvent, Methodology
from minara_site.access.models import User
from minara_site.kernel.errors import Conflict
from tests.kit.clock import NOON
from tests.kit.racers import in_processes
from tests.learning_app.rows import make_case, make_methodology, post_prices


def two_passes_and_an_operator(count: int) -> str:
    """Credit the same cases from three sides at once; return what each credited, and what the counters say."""
    owner = User.objects.get(is_default=True)
    post_prices("BTC", *((NOON - timedelta(hours=n), str(1000 - 20 * n)) for n in range(30)))
    method = make_methodology()
    for _number in range(count):
        make_case(owner, hours=10, horizon=5, hints=[method])
    taken = in_processes((resolve,), (resolve,), (state, count))
    method.refresh_from_db()
    events = LifecycleEvent.objects.filter(kind="outcome_recorded")
    return json.dumps(
        {
            "taken": sum(taken),
            "used": method.times_used,
            "right": method.times_correct,
            "events": events.count(),
            "cases_with_events": events.values("case_id").distinct().count(),
            "uncredited": CaseHint.objects.filter(credited_at__isnull=True).count(),
            "pending": TradingCase.objects.pending().count(),
            "graduated": LifecycleEvent.objects.filter(kind="graduated").count(),
        }
    )


def resolve() -> int:
    """Return how many outcomes one pass credited."""
    return sum(resolve_batch(batch, actor="test", now=NOON).outcomes for batch in list_due_batches(now=NOON))


def state(count: int) -> int:
    """Credit every case as an operator, as far as nobody was faster; return how many."""
    uid, done = Methodology.objects.values_list("uid", flat=True).get(), 0
    for pk in list(TradingCase.objects.order_by("-pk").values_list("pk", flat=True)):
        try:
            state_outcome(uid=uid, is_correct=True, case_id=pk, actor="user:1", now=NOON)
        except Conflict:
            continue
        done += 1
    return done
