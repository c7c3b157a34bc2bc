"""What the processes of the race do, on one shared database: sixteen write a note of one deployment."""

import json

from django.utils import timezone

from learning_app.ledger.models import Deployment
from learning_app.lessons.models import ReflectionNote
from learning_app.lessons.services.notes import store_note
from minara_site.access.models import User
from minara_site.kernel.ownership import owner_locked
from tests.kit.racers import in_processes
from tests.learning_app.lessons.rows import build_note, make_deployment


def write_notes(processes: int) -> str:
    """Let so many notes of one deployment be written at once; return their states, the newest first."""
    make_deployment(User.objects.get(is_default=True))
    in_processes(*[(write_note, number) for number in range(processes)])
    notes = ReflectionNote.objects.order_by("-generated_at", "-pk")
    return json.dumps([[note.status for note in notes], len({note.content_hash for note in notes})])


def write_note(number: int) -> None:
    """Write one note as the job does."""
    deployment = Deployment.objects.select_related("owner", "skill").get()
    with owner_locked(deployment.owner_id):
        at = timezone.now()
        store_note(build_note(deployment, f"### Sizing\n- Lesson {number}.", generated_at=at, created_at=at))
