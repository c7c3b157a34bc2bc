"""A browser that exports and imports, and the worker behind it."""

import io
import json
import re
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from memory_app.bundle.models import BundleTransfer
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memory
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.runner import run_claimed
from minara_site.kernel.jobs.services import claim_run


def work() -> None:
    """Do what waits for a worker, through the runner."""
    waiting = JobRun.objects.filter(state=RunState.QUEUED, job__startswith="bundle.").order_by("pk")
    for run_id in list(waiting.values_list("pk", flat=True)):
        claim = claim_run(run_id, worker="host:1:1", now=timezone.now())
        assert claim is not None
        run_claimed(claim)
    assert not JobRun.objects.filter(state=RunState.FAILED).exists(), list(JobRun.objects.values("job", "error"))


def write(owner: Any, content: str, **fields: Any) -> Memory:
    provenance = Provenance(Source.USER_EXPLICIT, f"user:{owner.pk}")
    draft = Draft(category=Category.OBSERVATION, content=content, provenance=provenance, **fields)
    return write_memory(owner_id=owner.pk, draft=draft, now=timezone.now())


def packed(members: dict[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def lines(*texts: str) -> bytes:
    return "\n".join(json.dumps({"content": text}) for text in texts).encode()


def upload(
    client: Any,
    content: bytes,
    *,
    source_format: str = "jsonl",
    name: str = "a.jsonl",
    query: str = "",
) -> Any:
    """Upload a file as a browser does, let the worker read it, and return the answer."""
    file = SimpleUploadedFile(name, content)
    answer = client.post(f"/ops/import/{query}", {"format": source_format, "file": file})
    work()
    return answer


def newest() -> BundleTransfer:
    return BundleTransfer.objects.latest("pk")


def apply(client: Any, transfer: BundleTransfer, **data: str) -> Any:
    """Confirm an import with the hash that its page carries."""
    page = client.get(f"/ops/import/{transfer.pk}/apply/").content.decode()
    plan = re.search(r'name="plan" value="([0-9a-f]{64})"', page)
    return client.post(f"/ops/import/{transfer.pk}/apply/", {"plan": plan[1] if plan else "", **data})


def take_away(client: Any, transfer: BundleTransfer) -> bytes:
    """Download an export."""
    answer = client.get(f"/ops/export/{transfer.pk}/download/")
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)
