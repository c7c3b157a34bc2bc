"""What the processes of the race do, on one shared database: sixteen write a note, one ticks beside a model."""

import json
import threading

from django.conf import settings
from django.db import connections
from django.utils import timezone

from learning_app.ledger.models import Deployment
from learning_app.lessons.models import ReflectionNote
from learning_app.lessons.services import REFLECT, request_reflection
from learning_app.lessons.services.notes import store_note
from minara_site.access.models import User
from minara_site.kernel.jobs import runner
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.ownership import owner_locked
from tests.kit.clock import NOON
from tests.kit.messages_api import KEY, serve
from tests.kit.racers import FORK, LONGEST_WAIT_SECONDS, in_processes
from tests.learning_app.lessons.rows import HOUR, SAID, add_trades, build_note, make_deployment


def write_notes(processes: int) -> str:
    """Let so many notes of one deployment be written at once; return their states, the newest first."""
    make_deployment(User.objects.get(is_default=True))
    in_processes(*[(write_note, number) for number in range(processes)])
    notes = ReflectionNote.objects.order_by("-generated_at", "-pk")
    return json.dumps([[note.status for note in notes], len({note.content_hash for note in notes})])


def tick_beside_a_model() -> str:
    """Let a worker ask a model that does not answer yet, and take the owner's lock meanwhile; return what is stored."""
    deployment = make_deployment(User.objects.get(is_default=True))
    add_trades(deployment, 5, -3)
    asked = {"deployment_id": deployment.pk, "until": NOON, "trigger": "per_n_trades", "now": timezone.now()}
    request_reflection(**asked)
    run = JobRun.objects.get(job=REFLECT)
    with serve() as models:
        chosen = {"anthropic_api_key": KEY, "anthropic_base_url": models.url}
        settings.MINARA = settings.MINARA.model_copy(update=chosen)
        models.answer, models.gate = SAID, threading.Event()
        connections.close_all()
        worker = FORK.Process(target=runner.execute, args=(run.pk,))
        worker.start()
        models.reached.wait(LONGEST_WAIT_SECONDS)
        with owner_locked(deployment.owner_id):
            request_reflection(**asked | {"until": NOON + HOUR})
            add_trades(deployment, 9, closed_at=NOON + HOUR)
        stored = [ReflectionNote.objects.count(), JobRun.objects.filter(job=REFLECT).count()]
        models.gate.set()
        worker.join()
    return json.dumps([stored, list(ReflectionNote.objects.values_list("status", "trades_considered"))])


def write_note(number: int) -> None:
    """Write one note as the job does."""
    deployment = Deployment.objects.select_related("owner", "version__skill").get()
    with owner_locked(deployment.owner_id):
        at = timezone.now()
        store_note(build_note(deployment, f"### Sizing\n- Lesson {number}.", generated_at=at, created_at=at))
