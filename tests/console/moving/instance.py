"""What happens in processes of an instance that is moved: it is filled, its move is killed, and what it holds is read."""

import json
import os
import signal
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from memory_app.index.documents import index_problems
from minara_site.access.models import User
from minara_site.console.moving import services
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.verification import verify_chain
from tests.kit.large import make_large
from tests.kit.world import build_world


def fill() -> int:
    """Make one of everything, and many of what there is much of; the newest user goes again."""
    build_world()
    count = make_large(people=3, memories=240, cases=30, methods=10)
    User.objects.create(username="gone").delete()
    return count


def move_and_die(url: str, table: str) -> None:
    """End as a power cut does: the rows of this table are copied and not yet committed."""
    note = services.note

    def note_or_die(target: Any, name: str, content: Any) -> Any:
        if name == table:
            os.kill(os.getpid(), signal.SIGKILL)
        return note(target, name, content)

    services.note = note_or_die
    files = {alias: Path(database["NAME"]) for alias, database in settings.DATABASES.items()}
    services.move_instance(files, url, report=lambda what, done, total: None)


def look() -> str:
    """Return every row but the queue's as Django reads it, and what works: search, audit chain, triggers, new ids."""
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.app_label != "django_q"]
    rows = {model._meta.db_table: sorted(map(list, model.objects.values_list()), key=str) for model in models}
    try:
        with transaction.atomic():
            AuditEntry.objects.update(at=timezone.now())
        refusal = ""
    except DatabaseError as error:
        refusal = str(error).partition("\n")[0]
    newest = User.objects.order_by("pk").last()
    with transaction.atomic():
        distance = User.objects.create(username="next").pk - newest.pk
        transaction.set_rollback(True)
    found = verify_chain()
    works = [index_problems(), found.broken, found.seals > 0, refusal, distance]
    return json.dumps({"rows": rows, "works": works}, default=as_text, sort_keys=True)


def as_text(value: Any) -> str:
    """Return what JSON does not have: bytes in hex, all else as Python writes it."""
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else repr(value)
