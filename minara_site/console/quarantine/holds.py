"""Held texts as a kind of the review queue."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.console.quarantine.labels import again_label, decided_label, done_label
from minara_site.console.quarantine.pages import HoldView, owner_kinds, question_of, view_holds
from minara_site.console.quarantine.selectors import decided_with, find_newest_decided, get_hold, get_holds
from minara_site.console.quarantine.services import discard_holds, hold_again, release_holds
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.guard.selectors import list_holds
from minara_site.kernel.ownership import EVERYONE
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.review import ReviewItem, ReviewKind, ReviewPane, Undone, Verdict
from minara_site.web.filters import Rows, Text

COMPARED_CHARS = 400
AGENT_READS = gettext_lazy(
    "The agent of %(name)s reads it from the next session on. The same text is not held again for the same reason."
)
AGENTS_READ = gettext_lazy(
    "Agents may read it from the next session on. The same text is not held again for the same reason."
)
ONLY_ITS_OWNER = gettext_lazy("Only its owner lets this text in.")


class HoldReview(ReviewKind):
    """What the guard holds, of owners and of the instance. Texts that differ in figures and signs alone are similar."""

    name, tab, label = "hold", "held", gettext_lazy("Held texts")
    since = "held_at"
    accept, refuse = gettext_lazy("Release"), gettext_lazy("Discard")
    read_as = "hold"

    def waiting(self) -> Rows:
        """Return what operators may let in; a text that is its owner's to decide is on the list of held texts alone."""
        return list_holds(owner=EVERYONE).exclude(kind__in=owner_kinds()).select_related("owner")

    def find(self, keys: Collection[str]) -> Sequence[Any]:
        return get_holds(owner=EVERYONE, hold_ids=ids_of(keys))

    def show_rows(
        self,
        rows: Sequence[Any],
        *,
        principal: Principal,
    ) -> list[ReviewItem]:
        return [item_of(view) for view in view_holds(rows, principal=principal, queue="decided", query="")]

    def show(self, item: ReviewItem, *, principal: Principal) -> ReviewPane:
        view: HoldView = item.view.with_unconfirmed()
        owner = view.hold.owner
        reads = AGENT_READS % {"name": owner.get_short_name()} if owner else AGENTS_READ
        return ReviewPane(
            "console/quarantine/_review_hold.html",
            {"chosen": view},
            Verdict(
                self.accept,
                "check",
                _("If it is released"),
                view.kind.on_release or reads,
                refusal=ONLY_ITS_OWNER if view.is_for_owner else "",
            ),
            Verdict(
                self.refuse,
                "trash",
                _("If it is discarded"),
                view.held.on_discard if view.held else "",
            ),
            question=view.question,
        )

    def decided_url(self, row: Any) -> str:
        return reverse("decided:one", args=[row.pk])

    def find_questions(self, keys: Sequence[str]) -> dict[str, Text]:
        return {str(hold.pk): question for hold in self.find(keys) if (question := question_of(hold))}

    def decide(
        self,
        keys: Sequence[str],
        *,
        accepts: bool,
        principal: Principal,
        note: str,
        now: datetime,
    ) -> Text:
        ids = ids_of(keys)
        try:
            if accepts:
                return done_label(
                    release_holds(
                        principal=principal,
                        hold_ids=ids,
                        now=now,
                        note=note,
                    )
                )
            owner = principal.reaches(Act.HOLD_DISCARD)
            return done_label(
                discard_holds(
                    principal=principal,
                    owner=owner,
                    hold_ids=ids,
                    now=now,
                    note=note,
                )
            )
        except Conflict as conflict:
            raise Conflict(
                decided_label(principal, ids) or conflict.detail,
                code=conflict.problem_code,
            ) from None

    def undo(self, key: str, *, principal: Principal, now: datetime) -> Undone:
        owner = principal.reaches(Act.HOLD_DISCARD)
        [hold_id] = ids_of([key])
        hold = get_hold(owner=owner, hold_id=hold_id)
        together = decided_with(hold, owner=owner)
        again = hold_again(
            principal=principal,
            owner=owner,
            hold_ids=together,
            now=now,
        )
        [same] = [each for each in again if (each.kind, each.object_id) == (hold.kind, hold.object_id)]
        return Undone(again_label(len(again)), str(same.pk))

    def find_newest_decision(self) -> tuple[str, datetime] | None:
        newest = find_newest_decided()
        return (newest.decided_by, newest.decided_at) if newest and newest.decided_at else None

    def text_table(self, row: Any) -> str:
        return str(row.kind)


def ids_of(keys: Collection[str]) -> list[int]:
    """Return the ids of holds that these keys are. Raises NotFound for what can be none."""
    ids = [parse_number(key) for key in keys]
    if None in ids:
        raise NotFound(_("There is no such hold."))
    return [each for each in ids if each is not None]


def item_of(view: HoldView) -> ReviewItem:
    """Return a hold as the list shows it, the view of it for its pane."""
    owner = view.hold.owner.get_short_name() if view.hold.owner else _("Instance")
    letters = filter(str.isalpha, view.text[:COMPARED_CHARS].casefold())
    return ReviewItem(
        kind=HoldReview.name,
        key=str(view.pk),
        since=view.hold.held_at,
        title=view.title,
        word=_("%(title)s, %(owner)s") % {"title": view.title, "owner": owner},
        note=view.reason,
        excerpt=view.excerpt,
        view=view,
        group="".join(letters),
    )
