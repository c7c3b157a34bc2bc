"""Methodologies as kinds of the review queue: new ones that no person has read, those kept back at the bar (U-19)."""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.services.decide import (
    ACTS,
    lock_all,
    quarantine_all,
    release_all,
    set_reviewed,
)
from learning_app.methodology_pages.pages.events import shape_events
from learning_app.methodology_pages.pages.labels import missing_label, state_label, why_label
from learning_app.methodology_pages.pages.lists import MethodologyRow
from learning_app.methodology_pages.selectors import (
    find_decision,
    find_nearest,
    list_duplicates,
)
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.errors import Conflict, FieldError, Invalid, NotFound
from minara_site.kernel.guard.selectors import find_last_hold, find_refused
from minara_site.shell.review import RecordedReview, ReviewItem, ReviewPane, Verdict
from minara_site.web.filters import Rows, Text
from minara_site.web.moments import number_label

EXCERPT_CHARS = 160


def whole_text(row: Methodology) -> str:
    """Return what a methodology says: its text, the evidence and its phases, a blank line between."""
    phases = [
        "".join(
            [
                f"{number}. {phase['name']}",
                *(f"; {part}" for part in phase.get("criteria") or ()),
                *(f" [{part}]" for part in phase.get("tools_used") or ()),
            ]
        )
        for number, phase in enumerate(row.phases or (), 1)
    ]
    return "\n\n".join(filter(None, [row.methodology, row.evidence, *phases]))


class MethodologyReview(RecordedReview):
    """What both kinds have in common. Items of one writer with the same direction and asset class are similar."""

    tab, label = "methodologies", gettext_lazy("Methodologies")
    kind, decisions = METHODOLOGY_KIND, (*ACTS.values(), "methodology_reviewed")

    @abstractmethod
    def apply(
        self,
        uids: Sequence[str],
        *,
        accepts: bool,
        note: str,
        actor: str,
        now: datetime,
    ) -> Text:
        """Do what a verdict means on rows that wait, and return what was done."""

    @abstractmethod
    def verdicts(self) -> tuple[Verdict, Verdict]:
        """Return what accepting and refusing mean."""

    def find(self, keys: Collection[str]) -> Sequence[Methodology]:
        found = list(Methodology.objects.filter(uid__in=keys))
        if len(found) != len(set(keys)):
            raise NotFound(_("There is no such methodology."))
        return found

    def show_rows(
        self,
        rows: Sequence[Any],
        *,
        principal: Principal,
    ) -> list[ReviewItem]:
        refused = find_refused(METHODOLOGY_KIND, rows)
        for row in (row for row in rows if row.pk in refused):
            row.mask()
        return [
            ReviewItem(
                kind=self.name,
                key=row.uid,
                since=getattr(row, self.since),
                title=row.name,
                word=_("Methodology"),
                note=note_label(row),
                excerpt=row.methodology[:EXCERPT_CHARS],
                view=MethodologyRow(
                    row,
                    is_injected=False,
                    is_refused=row.pk in refused,
                ),
                group=f"{row.actor} {row.direction} {row.asset_class}",
            )
            for row in rows
        ]

    def show(self, item: ReviewItem, *, principal: Principal) -> ReviewPane:
        row: Methodology = item.view.row
        nearest = find_nearest(row)
        evidence = {
            "shown": item.view,
            "row": row,
            "text": whole_text(row),
            "missing": missing_label(row),
            "duplicates": shape_events(list_duplicates(row), principal),
            "nearest": MethodologyRow(nearest[0], is_injected=False, is_refused=False) if nearest else None,
            "similarity": 100 * nearest[1] if nearest else 0,
            "hold": find_last_hold(METHODOLOGY_KIND, row.pk),
            "author": name_actors([row.actor], reader=principal.owner)[row.actor],
        }
        if decision := find_decision(row):
            evidence["decided_why"] = why_label(decision)
        return ReviewPane(
            "learning_app/methodologies/_review.html",
            evidence,
            *self.verdicts(),
        )

    def decided_url(self, row: Any) -> str:
        return reverse("methodologies:one", args=[row.uid])

    def decide(
        self,
        keys: Sequence[str],
        *,
        accepts: bool,
        principal: Principal,
        note: str,
        now: datetime,
    ) -> Text:
        principal.require(Act.METHODOLOGY_DECIDE)
        rows = lock_all(keys)
        waiting = set(self.waiting().filter(uid__in=keys).values_list("uid", flat=True))
        if gone := [row for row in rows if row.uid not in waiting]:
            raise Conflict(decided_label(gone[0], principal), code="decided")
        return self.apply(
            keys,
            accepts=accepts,
            note=note,
            actor=principal.actor,
            now=now,
        )


class NewMethodologyReview(MethodologyReview):
    """Methodologies that no person has read. Read, they go on collecting evidence."""

    name, since = "methodology_new", "created_at"
    accept, refuse = gettext_lazy("Mark as read"), gettext_lazy("Quarantine")
    refuse_needs_reason = True

    def waiting(self) -> Rows:
        return Methodology.objects.unread()

    def verdicts(self) -> tuple[Verdict, Verdict]:
        return (
            Verdict(
                self.accept,
                "eye",
                _("If it is marked as read"),
                _("It stays in quarantine and collects evidence; its outcomes decide whether prompts carry it."),
            ),
            Verdict(
                _("Quarantine methodology"),
                "held",
                _("If it is quarantined"),
                _("Outcomes alone do not bring it into prompts: an operator releases it at the bar. Say why."),
                needs_reason=True,
            ),
        )

    def apply(
        self,
        uids: Sequence[str],
        *,
        accepts: bool,
        note: str,
        actor: str,
        now: datetime,
    ) -> Text:
        if accepts:
            count = len(
                set_reviewed(
                    uids=uids,
                    is_reviewed=True,
                    actor=actor,
                    now=now,
                )
            )
            read = ngettext("Marked %(count)s methodology as read.", "Marked %(count)s methodologies as read.", count)
            return read % {"count": number_label(count)}
        if not note:
            problem = _("Say why it is quarantined.")
            raise Invalid(
                problem,
                code="reason_missing",
                errors=(FieldError("note", problem),),
            )
        count = len(
            quarantine_all(
                uids=uids,
                reason=note,
                actor=actor,
                now=now,
            )
        )
        text = ngettext("Quarantined %(count)s methodology.", "Quarantined %(count)s methodologies.", count)
        return text % {"count": number_label(count)}


class KeptBackReview(MethodologyReview):
    """Methodologies at the bar that a person, the scan or the judge quarantined. Kept, they wait for a next outcome."""

    name, since = "methodology_kept_back", "updated_at"
    accept, refuse = gettext_lazy("Release"), gettext_lazy("Keep in quarantine")

    def waiting(self) -> Rows:
        return Methodology.objects.kept_back()

    def verdicts(self) -> tuple[Verdict, Verdict]:
        return (
            Verdict(
                _("Release methodology"),
                "check",
                _("If it is released"),
                _("Prompts may carry it from the next message on, and its outcomes decide how long."),
            ),
            Verdict(
                self.refuse,
                "held",
                _("If it is kept in quarantine"),
                _("No prompt carries it. It waits here again after its next outcome."),
            ),
        )

    def apply(
        self,
        uids: Sequence[str],
        *,
        accepts: bool,
        note: str,
        actor: str,
        now: datetime,
    ) -> Text:
        if not accepts:
            count = len(
                set_reviewed(
                    uids=uids,
                    is_reviewed=True,
                    actor=actor,
                    now=now,
                )
            )
            kept = ngettext(
                "Kept %(count)s methodology in quarantine.",
                "Kept %(count)s methodologies in quarantine.",
                count,
            )
            return kept % {"count": number_label(count)}
        count = len(
            release_all(
                uids=uids,
                reason=note,
                actor=actor,
                now=now,
            )
        )
        text = ngettext("Released %(count)s methodology.", "Released %(count)s methodologies.", count)
        return text % {"count": number_label(count)}


def note_label(row: Methodology) -> str:
    """Return what to know of a methodology at a glance."""
    counts = {"right": number_label(row.times_correct), "used": number_label(row.times_used)}
    if row.quarantined_by:
        return _("%(state)s, right %(right)s of %(used)s") % {"state": state_label(row)[1], **counts}
    return _("new, right %(right)s of %(used)s") % counts if row.times_used else _("new, no outcome yet")


def decided_label(row: Methodology, principal: Principal) -> str:
    """Return who was faster with a methodology that does not wait any more, as far as that is known."""
    event = find_decision(row)
    if event is None or event.at != row.reviewed_at:
        return _("“%(name)s” does not wait any more. Nothing was changed.") % {"name": row.name}
    names = {
        "name": row.name,
        "who": name_actors([event.actor], reader=principal.owner)[event.actor],
    }
    return _("“%(name)s” was decided by %(who)s. Nothing was changed.") % names
