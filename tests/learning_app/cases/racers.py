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
    """Count the same cases from three sides at once; return what each counted, and what the counters say."""
    owner = User.objects.get(is_default=True)
    method = make_methodology()
    for number in range(count):
        make_case(owner, asset=f"COIN{number}", hours=10 * number + 10, horizon=5, hints=[method], had_price=False)
    stated = in_processes((state,), (state,))
    for number in range(count):
        at = NOON - timedelta(hours=10 * number + 10)
        post_prices(f"COIN{number}", (at, "100"), (at + timedelta(hours=5), "90" if number % 2 else "102"))
    taken = [*stated, *in_processes((resolve,), (resolve,))]
    method.refresh_from_db()
    events = LifecycleEvent.objects.filter(kind="outcome_recorded")
    return json.dumps(
        {
            "taken": sum(taken),
            "used": method.times_used,
            "right": method.times_correct,
            "events": events.count(),
            "cases_with_events": events.values("case_id").distinct().count(),
            "reversed": events.filter(details__has_key="reverses").count(),
            "uncredited": CaseHint.objects.filter(credited_at__isnull=True).count(),
            "pending": TradingCase.objects.pending().count(),
            "graduated": LifecycleEvent.objects.filter(kind="graduated").count(),
        }
    )


def resolve() -> int:
    """Return how many outcomes one pass credited."""
    return sum(resolve_batch(batch, actor="test", now=NOON).outcomes for batch in list_due_batches(now=NOON))


def state() -> int:
    """Say of every case that the methodology was right, as far as nobody was faster; return of how many."""
    uid, done = Methodology.objects.values_list("uid", flat=True).get(), 0
    for pk in list(TradingCase.objects.order_by("-pk").values_list("pk", flat=True)):
        try:
            state_outcome(uid=uid, is_correct=True, case_id=pk, actor="user:1", now=NOON)
        except Conflict:
            continue
        done += 1
    return done
