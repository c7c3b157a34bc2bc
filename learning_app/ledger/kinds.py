"""The reasons of a trade as a kind of stored text. A trade is a record: with a discarded reason it stays, held."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from learning_app.ledger.core import TRADE_KIND
from learning_app.ledger.models import Trade
from minara_site.kernel.events import send_after_commit, trade_outcome_updated
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.kinds import Label


class TradeKind(HeldAtKind):
    """Why a trade was opened and closed."""

    name = TRADE_KIND
    label = _("Trade")
    model = Trade
    on_release = _("Pages of its asset and the agents of its owner read the reasons again.")

    def on_discard(self) -> Label:
        return _("It leaves the queue; the trade stays, without its reasons. They can be held again at any time.")

    def accept(self, rows: Sequence[Any], *, now: datetime) -> None:
        super().accept(rows, now=now)
        for row in rows:
            self.publish_changes(row.owner_id, [row.pk])

    def publish_changes(self, owner_id: int, ids: Sequence[int]) -> None:
        send_after_commit(trade_outcome_updated, owner_id=owner_id, trade_ids=tuple(ids))

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Keep them: what was traded does not change with its reasons."""
        return 0
