"""What was recorded before one bet counted once is marked, so that a job forms it and judges it anew."""

from datetime import UTC, datetime, timedelta

from django.db import migrations
from django.db.models import F
from django.utils import timezone

from minara_site.kernel.jobs.router import QUEUE

ANEW, REJUDGE, LATE = "learning.judge_anew", "learning.rejudge", timedelta(minutes=15)


def mark_old(apps, schema_editor):
    alias, now = schema_editor.connection.alias, timezone.now()
    if alias == QUEUE:
        return

    def rows(app, model):
        return apps.get_model(app, model).objects.using(alias)

    cases, hints = rows("learning_app", "TradingCase"), rows("learning_app", "CaseHint")
    methods = rows("learning_app", "Methodology")
    methods.update(
        log_evidence=None,
        max_log_evidence=None,
        independent_cases=0,
        beats_chance=False,
        survives_store=False,
        decay_at=None,
    )
    cases.filter(backdated=False, created_at__gt=F("decided_at") + LATE).update(replayed=True, is_instances=True)
    cases.filter(judged_by="instance").update(had_price=True)
    cases.filter(hint_rows__block_at__isnull=False).update(had_price=True)
    hints.update(why="unformed", own_why="unformed")
    judged = cases.exclude(outcome_state="pending").filter(is_demo=False)
    symbols = list(judged.order_by("asset").values_list("asset", flat=True).distinct())
    changed = apps.get_model("kernel", "ChangedPrices")
    first = datetime(1970, 1, 2, tzinfo=UTC)
    rows("kernel", "ChangedPrices").bulk_create(
        changed(reader=REJUDGE, symbol=symbol, first_at=first, last_at=now) for symbol in symbols
    )
    if cases.exists():
        run = {"job": ANEW, "arguments": {}, "state": "queued", "requested_by": "upgrade"}
        rows("kernel", "JobRun").create(**run, created_at=now, enqueued_at=now)


class Migration(migrations.Migration):
    dependencies = [("learning_app", "0014_court"), ("kernel", "0019_changed_prices")]

    operations = [migrations.RunPython(mark_old, migrations.RunPython.noop)]
