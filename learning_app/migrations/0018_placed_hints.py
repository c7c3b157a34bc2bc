"""Hints that a job of the release before left without their blocks are formed again."""

from django.db import migrations
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from minara_site.kernel.jobs.router import QUEUE

ANEW = "learning.judge_anew"


def form_again(apps, schema_editor):
    alias, now = schema_editor.connection.alias, timezone.now()
    if alias == QUEUE:
        return

    def rows(app, model):
        return apps.get_model(app, model).objects.using(alias)

    hints, blocks = rows("learning_app", "CaseHint"), rows("learning_app", "Block")
    lost = hints.filter(Q(why="", block=None) | Q(own_why="", own_block=None))
    if not lost.exists():
        return
    cases = rows("learning_app", "TradingCase").filter(pk=OuterRef("case_id"))
    of_block = hints.filter(Q(block=OuterRef("pk")) | Q(own_block=OuterRef("pk")))
    blocks.filter(Exists(cases), ~Exists(of_block)).delete()
    lost.update(why="unformed", own_why="unformed", block=None, own_block=None)
    run = {"job": ANEW, "arguments": {}, "state": "queued", "requested_by": "upgrade"}
    rows("kernel", "JobRun").create(**run, created_at=now, enqueued_at=now)


class Migration(migrations.Migration):
    dependencies = [("learning_app", "0017_audit_findings"), ("kernel", "0020_confirmed_prices")]

    operations = [migrations.RunPython(form_again, migrations.RunPython.noop)]
