"""How the queue is listed: its filters, and the form that each reader gets of it."""

from collections import Counter
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from memory_app.memories.listing import MOST_COUNTED, owner_filter
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.ownership import EVERYBODY, Owner
from minara_site.web.filters import Filter, FilterKind, Rows
from minara_site.web.guard_words import REASONS
from minara_site.web.keyset import Order
from minara_site.web.lists import BulkAction, Empty, ListSpec, Sort

ANY_REASON = "all"


def for_reason(rows: Rows, reason: str) -> Rows:
    """Keep the holds of one reason."""
    return rows if reason == ANY_REASON else rows.filter(reason=reason)


REASON = Filter(
    "reason",
    _("Reason"),
    FilterKind.TABS,
    choices=((ANY_REASON, _("All")), *REASONS.items()),
    default=ANY_REASON,
    apply=for_reason,
)
DISCARD = BulkAction("discard", _("Discard"), icon="trash", key="r")
RELEASE = BulkAction("release", _("Release"), icon="check", key="a")
HOLDS = ListSpec(
    name="held",
    caption=_("Held"),
    row="memory_app/held/_row.html",
    columns=(),
    sorts=(
        Sort("oldest", _("oldest first"), Order("held_at", descending=False)),
        Sort("newest", _("newest first"), Order("held_at")),
    ),
    filters=(REASON,),
    bulk=(DISCARD,),
    bulk_url="held:bulk",
    has_actions=False,
    empty=Empty(
        "held",
        _("Nothing was held"),
        _("What looks like an order to the agent, a secret or hidden text waits here until a person decides."),
        action=_("Go to the memories"),
        url="memories:list",
    ),
)


def asked_owner(principal: Principal, name: str | None) -> str:
    """Return the name that chooses whose holds are listed: an operator begins with everybody's."""
    return name or (EVERYBODY if principal.is_operator else "")


def spec_for(principal: Principal, owner: Owner, *, asked: str) -> ListSpec:
    """Return the queue as this reader gets it: operators choose the owner and may release."""
    if not principal.may(Act.HOLD_RELEASE):
        return HOLDS
    whose = replace(owner_filter(principal.owner, owner, asked), default=EVERYBODY)
    return replace(HOLDS, filters=(REASON, whose), bulk=(DISCARD, RELEASE))


def count_tabs(rows: Rows) -> dict[str, int]:
    """Return how many holds wait for each reason; none when they are too many to count. One query."""
    reasons = list(rows.order_by().values_list("reason", flat=True)[: MOST_COUNTED + 1])
    if len(reasons) > MOST_COUNTED:
        return {}
    return {**dict.fromkeys(REASONS, 0), **Counter(reasons), ANY_REASON: len(reasons)}
