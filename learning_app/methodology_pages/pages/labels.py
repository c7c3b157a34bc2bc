"""Methodologies in words: their state, what happened to them, and why no prompt carries one."""

from django.conf import settings
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from learning_app.court.services.evidence import DECAYED, JUDGED_ANEW, MARK_LOST
from learning_app.methodologies.core.lifecycle import count_missing
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.querysets import is_court_enforced, trust_rules
from learning_app.vocabulary import LifecycleKind, QuarantinedBy
from minara_site.web.filters import Text
from minara_site.web.moments import number_label

QUARANTINED: dict[QuarantinedBy, Text] = {
    QuarantinedBy.RULE: gettext_lazy("Quarantined"),
    QuarantinedBy.OPERATOR: gettext_lazy("Quarantined by an operator"),
    QuarantinedBy.SCAN: gettext_lazy("Quarantined by the guard"),
    QuarantinedBy.JUDGE: gettext_lazy("Quarantined by the judge"),
}
LIFECYCLE: dict[LifecycleKind, Text] = {
    LifecycleKind.CREATED: gettext_lazy("Created"),
    LifecycleKind.DEDUPLICATED: gettext_lazy("Seen again"),
    LifecycleKind.OUTCOME_RECORDED: gettext_lazy("Outcome recorded"),
    LifecycleKind.GRADUATED: gettext_lazy("Graduated"),
    LifecycleKind.DEMOTED: gettext_lazy("Demoted"),
    LifecycleKind.QUARANTINED: gettext_lazy("Quarantined"),
    LifecycleKind.RELEASED: gettext_lazy("Released"),
    LifecycleKind.REFLECTION_ADJUSTED: gettext_lazy("Verdict of the judge"),
    LifecycleKind.REQUANTIZED_BY_JUDGE: gettext_lazy("Quarantined by the judge"),
    LifecycleKind.SYNTHESIS_AUTO_DEMOTE: gettext_lazy("Demoted by the learning cron"),
    LifecycleKind.MARKET_STRESS_FREEZE: gettext_lazy("Market stress: no verdicts"),
    LifecycleKind.IMPORTED: gettext_lazy("Imported"),
    LifecycleKind.REWORDED: gettext_lazy("Text changed"),
}


def state_label(row: Methodology) -> tuple[str, Text]:
    """Return the shape of a methodology's state badge, and its word."""
    if row.held_at:
        return "held", gettext_lazy("Held")
    if not row.quarantine:
        return "active", gettext_lazy("Graduated")
    by = QuarantinedBy(row.quarantined_by)
    return "pending" if by is QuarantinedBy.RULE else "held", QUARANTINED[by]


def why_label(event: LifecycleEvent) -> str:
    """Return why something happened, empty where nobody said so."""
    details = event.details
    if number := details.get("rollback"):
        why = _("Undo of roll-back %(number)d") if "undo" in details else _("Roll-back %(number)d of its writer")
        return why % {"number": number}
    known = {
        "scan": _("The guard refuses its text."),
        DECAYED: _("Recent results no longer support it."),
        MARK_LOST: _("It lost a mark: what counts for it changed."),
        JUDGED_ANEW: _("Its cases were counted anew, each bet once."),
        "demo_removed": _("The demo was removed, and the outcomes of its cases with it."),
    }
    return event.reason_text or next((words for key, words in known.items() if key in details), "")


def missing_label(row: Methodology) -> str:
    """Return what a methodology lacks to reach the graduation bar; empty at the bar."""
    missing = count_missing(row.trust, trust_rules())
    if missing is None:
        return _("No number of right outcomes that can happen would bring it to the bar.")
    if not missing:
        return ""
    text = ngettext(
        "It needs at least %(count)s more right outcome to reach the bar.",
        "It needs at least %(count)s more right outcomes to reach the bar.",
        missing,
    )
    return text % {"count": number_label(missing)}


def why_not_injected(row: Methodology) -> str:
    """Return why no prompt carries a methodology that is not injected now."""
    config = settings.MINARA
    if row.held_at:
        return _("the guard holds its text")
    if row.quarantine:
        return _("it is in quarantine")
    if row.confidence < config.injection_threshold:
        return _("its bound fell below %(bar)s") % {"bar": f"{config.injection_threshold:.2f}"}
    if is_court_enforced() and not row.beats_chance:
        return _("it is not shown to be better than chance yet")
    if is_court_enforced() and row.decay_at:
        return _("recent results no longer support it")
    return _("today's guard rules refuse its text")
