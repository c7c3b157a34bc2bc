"""Asking a model about one thing after another, until no model can be asked or somebody switched it off meanwhile."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import structlog
from django.utils.translation import gettext as _

from learning_app.cases.core.judging import CASE_FIELDS, describe_case
from learning_app.cases.models import TradingCase
from learning_app.cases.selectors import find_refused
from minara_site.kernel.errors import Refused, Throttled, Unavailable
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.table import Capability
from minara_site.kernel.jobs.leases import KeptLease
from minara_site.kernel.jobs.services import Claim, report_progress
from minara_site.kernel.llm.gateway import AnswerInvalid

CHANGED, IN_SHADOW, INVALID = "changed_meanwhile", "in_shadow", "invalid_answers"
"""What can become of a question of either kind, as the heartbeat counts it."""

T = TypeVar("T")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of the learning cron; `counts` is a Counter, and says why a model was asked no more (`stopped`)."""

    actor: str
    now: datetime
    counts: dict[str, Any]
    lease: KeptLease
    claim: Claim | None = None


def ask_each(
    run: Pass,
    capability: Capability,
    items: Sequence[T],
    act: Callable[[Pass, T], str],
) -> None:
    """Ask about each, and count by name what came of it; what is left when it stops is the next pass's."""
    mode = mode_of(capability)
    for done, item in enumerate(items, 1):
        if run.lease.lost.is_set() or mode_of(capability) is not mode:
            run.counts["stopped"] = _("It was switched meanwhile, or another pass is running.")
            return
        try:
            outcome = act(run, item)
        except AnswerInvalid:
            log.warning("learning_answer_invalid", capability=capability.name)
            outcome = INVALID
        except (Unavailable, Throttled, Refused) as stop:
            log.warning(
                "learning_questions_stopped",
                capability=capability.name,
                reason=stop.problem_code,
            )
            run.counts["stopped"] = stop.detail
            return
        run.counts[outcome] += 1
        report_progress(run.claim, done, len(items))


def describe_cases(cases: Collection[TradingCase]) -> list[dict[str, object]]:
    """Return cases as a model reads them; what the guard refuses is there without its words."""
    refused = find_refused(list(cases))
    return [
        describe_case(
            {name: getattr(case, name) for name in CASE_FIELDS},
            "" if case.pk in refused else case.decision,
        )
        for case in cases
    ]
