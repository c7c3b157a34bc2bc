"""What a process does that is killed between the answer of the model and the write, on a stored database."""

import json
import os
import signal
from datetime import timedelta

from django.conf import settings
from django.db import connections

from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.conversations.services import NewTurn, record_turn, start_session
from minara_site.kernel.jobs.models import Lease
from profile_app.portrait.selectors.profile import load_profile
from profile_app.rebuild.core import Flow
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.services.run import rebuild
from tests.kit.clock import NOON
from tests.kit.messages_api import KEY, serve
from tests.kit.racers import FORK

SAID = "I never sell Bitcoin."


def killed_before_the_write() -> str:
    """Let a process ask and die with the answer on its way, then run again; return what was stored after each."""
    owner = User.objects.get(is_default=True)
    session = start_session(owner_id=owner.pk, title="", actor="key:abcd1234", now=NOON)
    record_turn(owner=owner, session_id=session.pk, actor="key:abcd1234", now=NOON, turn=NewTurn(SAID, "Noted."))
    with serve() as models:
        settings.MINARA = settings.MINARA.model_copy(
            update={"anthropic_api_key": KEY, "anthropic_base_url": models.url}
        )
        connections.close_all()
        process = FORK.Process(target=rebuild, args=(Flow.MEMORIES,), kwargs={"owner_id": owner.pk, "now": NOON})

        def answer(_asked: object) -> dict[str, object]:
            if process.is_alive():
                os.kill(process.pid or 0, signal.SIGKILL)
                process.join()
            return {"facts": [{"statement": SAID, "turn": 1, "quote": SAID, "fact_type": "preference"}]}

        models.answer = answer
        process.start()
        process.join()
        stored = [outcome(owner)]
        Lease.objects.all().delete()  # as it ends by itself
        rebuild(Flow.MEMORIES, owner_id=owner.pk, now=NOON + timedelta(hours=1))
        return json.dumps([*stored, outcome(owner), len(models.asked)])


def outcome(owner: User) -> list[object]:
    """Return what runs, cursor and memories say."""
    return [
        list(RebuildRun.objects.order_by("pk").values_list("outcome", flat=True)),
        load_profile(owner.pk).last_indexed_chat_id != "",
        Memory.objects.count(),
    ]
