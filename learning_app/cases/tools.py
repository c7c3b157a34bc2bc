"""The tool `record_case`: an agent records a decision that prices will judge. Source: S2."""

from typing import Any

from django.utils import timezone

from learning_app.cases.models import CASE_KIND
from learning_app.cases.schemas import NewCase
from learning_app.cases.services.record import Recorder, list_warnings, record_case
from minara_site.access.principal import Principal
from minara_site.kernel.guard.selectors import written_record
from minara_site.kernel.market.symbols import describe_asset


def record(principal: Principal, args: NewCase, *, reasoning: str) -> dict[str, Any]:
    """Record a case. `held` says that the guard holds its words; it is judged all the same.

    `repeated` says that an equal one of this key is there, `symbol` what the asset was read as, and `warnings` why
    prices may not judge it.
    """
    now = timezone.now()
    by = Recorder(principal.owner.pk, principal.actor, "tool:record_case", is_operator=principal.is_operator)
    case, is_new = record_case(draft=args.as_draft(), by=by, now=now, reasoning=reasoning)
    record = written_record(CASE_KIND, case, is_new=is_new) | {"symbol": describe_asset(case, now=now)}
    warnings = list_warnings(case)
    return record | {"warnings": warnings} if warnings else record
