"""What a reflection by hand would take: how much is due, what it may cost, what the budget leaves, and why not."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils.translation import gettext as _

from memory_app.capabilities import ROLE_REFLECTION
from memory_app.roles.services.requests import estimate_reflection
from minara_site.kernel.capabilities import MODEL_CALLS
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import list_statuses
from minara_site.kernel.governance.table import Capability
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.windows import EVERY
from minara_site.kernel.llm.gateway import what_is_missing
from minara_site.kernel.llm.selectors import load_budget
from minara_site.web.moments import money_label

LEARNING = Category.LEARNING.value


@dataclass(frozen=True, slots=True)
class ReflectForm:
    """What the button promises. `refusal` says why it cannot be pressed, empty when it can.

    In shadow it is paid for and nothing is written.
    """

    due: int
    cost: str
    left: str
    refusal: str
    is_shadow: bool


def load_offer(role_id: str, *, now: datetime) -> ReflectForm:
    """Return what reflecting the due entries of all owners would take."""
    estimate = estimate_reflection(role_id, now=now)
    windows = [standing.totals for standing in load_budget(now=now) if standing.window.category in (LEARNING, EVERY)]
    left = min((each.left for each in windows if each.left is not None), default=None)  # the fullest one decides
    missing = what_is_missing()
    modes = {} if missing else {standing.capability: standing.mode for standing in list_statuses()}
    return ReflectForm(
        due=estimate.due,
        cost=_("not known") if estimate.cost_usd is None else money_label(estimate.cost_usd),
        left=_("no cap") if left is None else money_label(left),
        refusal=missing or refusal_of(left, modes),
        is_shadow=modes.get(ROLE_REFLECTION) is Mode.SHADOW,
    )


def refusal_of(left: Decimal | None, modes: Mapping[Capability, Mode]) -> str:
    """Return why no reflection can be asked for now, empty when one can."""
    if Mode.OFF in (modes[MODEL_CALLS], modes[ROLE_REFLECTION]):
        return _("An operator switched it off under System, Automation.")
    if left is not None and left <= 0:
        return _("The budget of learning is used up for now.")
    return ""
