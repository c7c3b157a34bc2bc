"""The tool `record_case`: an agent records a decision that prices will judge. Source: S2."""

from typing import Any

from django.utils import timezone

from learning_app.cases.models import CASE_KIND
from learning_app.cases.schemas import NewCase
from learning_app.cases.services.record import record_case
from minara_site.access.principal import Principal
from minara_site.kernel.guard.selectors import written_record
from minara_site.kernel.market.symbols import describe_asset


def record(principal: Principal, args: NewCase, *, reasoning: str) -> dict[str, Any]:
    """Record a case. `held` says that the guard holds its words; it is judged all the same.

    `repeated` says that an equal one of this key is there, `symbol` what the asset was read as.
    """
    now = timezone.now()
    case, is_new = record_case(
        owner_id=principal.owner.pk,
        draft=args.as_draft(),
        actor=principal.actor,
        origin="tool:record_case",
        is_replay=principal.is_operator,
        now=now,
        reasoning=reasoning,
    )
    return written_record(CASE_KIND, case, is_new=is_new) | {"symbol": describe_asset(case, now=now)}
