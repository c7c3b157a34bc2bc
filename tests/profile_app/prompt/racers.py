"""Sessions that begin at once, each in a process of its own."""

import json

from django.utils import timezone

from minara_site.access.models import User
from profile_app.prompt.services import start_session
from tests.kit.racers import in_processes
from tests.profile_app.prompt.rows import BOOTSTRAP, fill_portrait


def first_sessions(number: int) -> str:
    """Begin so many first sessions of one owner; return which carried BOOTSTRAP.md."""
    owner = User.objects.create_user("racer")
    fill_portrait(owner, **{"BOOTSTRAP.md": BOOTSTRAP})
    return json.dumps(in_processes(*[(begin_one, owner.pk)] * number))


def begin_one(owner_id: int) -> bool:
    """Begin a session."""
    owner = User.objects.get(pk=owner_id)
    snapshot = start_session(owner=owner, title="", actor="test", now=timezone.now())
    return BOOTSTRAP in snapshot.prefix
