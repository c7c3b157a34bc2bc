"""Proposed changes as a kind of the review queue: each waits for its owner alone."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.errors import NotFound
from minara_site.kernel.plain_text import parse_number
from minara_site.kernel.proposals.kinds import proposed_kinds
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import decide, find_refusal, undo_decision
from minara_site.shell.review import ReviewItem, ReviewKind, ReviewPane, Undone, Verdict
from minara_site.web.filters import Rows, Text

EXCERPT_CHARS = 160


class ProposedReview(ReviewKind):
    """What keys of the reader ask for. Approved one by one, as the reader's own act."""

    name, tab, label = "proposed", "proposed", gettext_lazy("Proposed changes")
    since = "created_at"
    accept, refuse = gettext_lazy("Approve"), gettext_lazy("Reject")
    accepts_together = False
    is_own = True

    def waiting(self) -> Rows:
        return ProposedChange.objects.open().select_related("owner")

    def waiting_for(self, principal: Principal) -> Rows:
        return self.waiting().filter(owner=principal.owner)

    def find(self, keys: Collection[str]) -> Sequence[ProposedChange]:
        ids = list(filter(None, map(parse_number, keys)))
        found = list(ProposedChange.objects.filter(pk__in=ids).select_related("owner"))
        if len(found) != len(set(keys)):
            raise NotFound(_("There is no such proposal."))
        return found

    def find_for(self, keys: Collection[str], principal: Principal) -> Sequence[ProposedChange]:
        found = self.find(keys)
        if {row.owner_id for row in found} != {principal.owner.pk}:
            raise NotFound(_("There is no such proposal."))
        return found

    def show_rows(self, rows: Sequence[Any], *, principal: Principal) -> list[ReviewItem]:
        names = name_actors({row.actor for row in rows}, reader=principal.owner)
        return [item_of(row, names[row.actor]) for row in rows]

    def show(self, item: ReviewItem, *, principal: Principal) -> ReviewPane:
        row, author = item.view
        kind = proposed_kinds()[row.kind]
        evidence = {
            "row": row,
            "author": author,
            "url": kind.url(row.key),
            "before": kind.text_of(kind.read(row.owner, row.key) or {}),
            "after": kind.text_of(row.after),
        }
        return ReviewPane(
            "shell/proposed.html",
            evidence,
            Verdict(
                _("Approve"),
                "check",
                _("You want this too"),
                _("It is done as your own act. You can undo it."),
                refusal=find_refusal(row),
            ),
            Verdict(_("Reject"), "trash", _("You do not want it"), _("Nothing changes. The agent learns that.")),
        )

    def decided_url(self, row: Any) -> str:
        return proposed_kinds()[row.kind].url(row.key)

    def decide(
        self,
        keys: Sequence[str],
        *,
        accepts: bool,
        principal: Principal,
        note: str,
        now: datetime,
    ) -> Text:
        principal.require(Act.REVIEW_OWN)
        for row in self.find_for(keys, principal):
            if accepts and proposed_kinds()[row.kind].asks_fresh:
                principal.require(Act.DOCUMENT_RELEASE)
            decide(proposal_id=row.pk, principal=principal, is_approved=accepts, note=note, now=now)
        return _("Approved: it is done as your own act.") if accepts else _("Rejected. Nothing was changed.")

    def undo(self, key: str, *, principal: Principal, now: datetime) -> Undone:
        [row] = self.find_for([key], principal)
        undo_decision(proposal_id=row.pk, principal=principal, now=now)
        return Undone(_("The proposal waits again."), key)

    def find_newest_decision(self) -> tuple[str, datetime] | None:
        return None


def item_of(row: ProposedChange, author: str) -> ReviewItem:
    """Return a proposal as an item."""
    kind = proposed_kinds()[row.kind]
    return ReviewItem(
        kind=ProposedReview.name,
        key=str(row.pk),
        since=row.created_at,
        title=kind.title(row.key),
        word=kind.actions[row.action],
        note=_("proposed by %(name)s") % {"name": author},
        excerpt=(kind.text_of(row.after) or kind.title(row.key))[:EXCERPT_CHARS],
        view=(row, author),
    )
