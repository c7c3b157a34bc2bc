"""What a worker's process does in the tests that kill or race one."""

import json

from memory_app.embeddings.services import EMBED, embed_pending
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import Claim
from tests.kit.clock import NOON


def embed_as_run() -> str:
    """Embed as the next attempt of the one run there is."""
    run = JobRun.objects.get(job=EMBED)
    run.state, run.attempts, run.worker = RunState.RUNNING, run.attempts + 1, "w"
    run.save()
    return json.dumps(embed_pending(now=NOON, claim=Claim(run.pk, EMBED, {}, run.attempts, "w")))
