"""`/v1/memory/{id}/why`: why a memory is there. Shape: `schemas`."""

from typing import Any

from django.utils import timezone
from ninja import Query

from memory_app.memories.prompt_use import explain
from memory_app.memories.selectors import get_memory
from memory_app.why.pages import report_record
from memory_app.why.schemas import WhyOut
from memory_app.why.selectors import load_report
from minara_site.access.access_log import log_opened
from minara_site.access.actors import name_actors
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.guard.masking import masked_for
from minara_site.shell.pages import PageRequest
from minara_site.web.schemas import Data, OwnerQuery

router = ApiRouter(tags=["memory"])


@router.get(
    "/memory/{int:memory_id}/why",
    "Explain where a memory comes from",
    Act.MEMORY_READ,
    Data[WhyOut],
    operation_id="memory_app_memories_api_why",
)
def why(
    request: PageRequest,
    memory_id: int,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Tell where a memory comes from, why the agent does or does not read it, and what hangs on it."""
    principal, now = request.principal, timezone.now()
    memory = get_memory(
        owner=principal.reads(Act.MEMORY_READ, query.owner),
        memory_id=memory_id,
    )
    log_opened(
        principal,
        memory.owner_id,
        kind="memory",
        object_id=memory.pk,
        now=now,
    )
    report = load_report(memory, now=now)
    names = name_actors({memory.actor, *report.actors}, reader=principal.owner)
    record = report_record(memory, report, names=names, principal=principal)
    return {"data": explain(masked_for(principal.owner, memory)) | record}
