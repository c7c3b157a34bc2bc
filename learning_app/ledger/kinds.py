"""Texts of the ledger as kinds of stored text. With a discarded text its row stays, held: it is a record."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _, ngettext_lazy

from learning_app.ledger.core import DEPLOYMENT_KIND, SKILL_KIND, SNAPSHOT_KIND, TRADE_KIND
from learning_app.ledger.models import DecisionSnapshot, Deployment, SkillVersion, Trade
from minara_site.kernel.changes.kinds import Changes
from minara_site.kernel.events import send_after_commit, trade_outcome_updated
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.kinds import Label
from minara_site.kernel.guard.masking import mask


class RecordKind(HeldAtKind):
    """A text of a row that stays, whatever becomes of its text."""

    def on_discard(self) -> Label:
        return _("It leaves the queue; the record stays, without this text. It can be held again at any time.")

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Keep them: what happened does not change with its words."""
        return 0


class TradeKind(RecordKind):
    """Why a trade was opened and closed."""

    name = TRADE_KIND
    label = _("Trade")
    model = Trade
    on_release = _("Pages of its asset and the agents of its owner read the reasons again.")

    def accept(self, rows: Sequence[Any], *, now: datetime) -> None:
        super().accept(rows, now=now)
        for row in rows:
            self.publish_changes(row.owner_id, [row.pk])

    def publish_changes(self, owner_id: int, ids: Sequence[int]) -> None:
        send_after_commit(trade_outcome_updated, owner_id=owner_id, trade_ids=tuple(ids))


class DeploymentChanges(Changes):
    """Which version of which skill a trading agent runs. Its creation is not undone."""

    name, model, label = DEPLOYMENT_KIND, Deployment, _("Trading agent")
    columns, id_column = ("version_id",), "uid"
    undone = ngettext_lazy("Undone for %(number)s trading agent.", "Undone for %(number)s trading agents.", "count")

    def title_of(self, row: Deployment) -> str:
        return mask(row.name)

    def url_of(self, row: Deployment) -> str:
        return reverse("ticks:deployment", args=[row.uid])


class SnapshotKind(RecordKind):
    """Why an agent decided as it did at a tick."""

    name = SNAPSHOT_KIND
    label = _("Decision of a trading agent")
    model = DecisionSnapshot
    on_release = _("The agent reads it with its next context, while it is its last decision.")


class SkillVersionKind(RecordKind):
    """Strategy and avoid rules of a trader's skill."""

    name = SKILL_KIND
    label = _("Skill of a trading agent")
    model = SkillVersion
    on_release = _("The agents that run it read strategy and avoid rules with their next tick.")
