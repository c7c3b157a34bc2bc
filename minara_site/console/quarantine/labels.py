"""What the queue says about decisions on held texts once they are made."""

from collections.abc import Sequence
from datetime import datetime
from functools import reduce

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.console.quarantine.selectors import get_holds
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.web.labels import sentences
from minara_site.web.moments import age, number_label


def decided_label(principal: Principal, hold_ids: Sequence[int]) -> str:
    """Return who decided on the first of these that is decided, and when; empty when none is."""
    holds = get_holds(owner=principal.reaches(Act.HOLDS_READ), hold_ids=hold_ids)
    hold = next((each for each in holds if each.decision), None)
    if hold is None or hold.decided_at is None:
        return ""
    words = {
        Decision.RELEASED: _("%(title)s: %(name)s released it %(when)s. Nothing was changed."),
        Decision.DISCARDED: _("%(title)s: %(name)s discarded it %(when)s. Nothing was changed."),
        Decision.REPLACED: _("%(title)s: %(name)s replaced it by a later text %(when)s. Nothing was changed."),
    }[Decision(str(hold.decision))]
    return words % {
        "title": stored_kinds()[hold.kind].title(hold.object_id),
        "name": name_actors([hold.decided_by], reader=principal.owner)[hold.decided_by],
        "when": age(hold.decided_at, timezone.localtime()),
    }


def done_label(holds: Sequence[Hold]) -> str:
    """Return what was decided, and what that means."""
    count = len(holds)
    number = {
        "number": number_label(count),
        "days": settings.MINARA.fin_profile_memory_soft_delete_retention_days,
    }
    if holds[0].decision == Decision.RELEASED:
        done = ngettext("Released %(number)s text.", "Released %(number)s texts.", count) % number
        means = {str(stored_kinds()[hold.kind].on_release or _("The next session can read it.")) for hold in holds}
        return reduce(sentences, [done, *sorted(means)])
    done = ngettext("Discarded %(number)s text.", "Discarded %(number)s texts.", count) % number
    return sentences(
        done,
        ngettext("It can be held again for %(days)d days.", "They can be held again for %(days)d days.", count)
        % number,
    )


def again_label(count: int) -> str:
    """Return what the undo of decisions did."""
    words = ngettext(
        "%(number)s text is held again and waits for a decision. No agent reads it.",
        "%(number)s texts are held again and wait for a decision. No agent reads them.",
        count,
    )
    return words % {"number": number_label(count)}


def midnight() -> datetime:
    """Return when the reader's day began."""
    return timezone.localtime().replace(
        hour=0,
        minute=0,
        second=0,
        microsecond=0,
    )
