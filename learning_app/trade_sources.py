"""The app's sources of round trips: what deployments trade, and what agents record in sessions."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from learning_app.ledger.models import Deployment, Trade
from minara_site.access.models import User
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.kernel.plain_text import parse_number
from minara_site.kernel.trade_sources import TradeLedger


class DeploymentTrades:
    """What each deployment traded, made of its ticks."""

    name, page, key_field = "agents", "ticks:trade", "deployment__uid"

    def list_ledgers(self, owner: Owner, *, limit: int, key: str = "") -> list[TradeLedger]:
        """Return the deployments; the equity before the first trade is that of the first tick. One query."""
        rows = Deployment.objects.for_owner(owner).select_related("version__skill", "state")
        rows = rows.order_by("-created_at", "-pk")
        return [
            TradeLedger(
                self.name,
                row.uid,
                row.name,
                row.owner_id,
                _("deployment of %(skill)s, version %(version)d")
                % {"skill": row.version.skill.name, "version": row.version.number},
                start_usd=row.state.start_equity_usd,
            )
            for row in (rows.filter(uid=key) if key else rows)[:limit]
        ]

    def list_trips(self, owner: Owner) -> "QuerySet[Any]":
        """Return the trades of deployments."""
        return Trade.objects.for_owner(owner).filter(deployment__isnull=False)


class SessionTrades:
    """What the agents of an owner recorded in sessions; the key is the owner's number."""

    name, page, key_field = "sessions", "ticks:trade", "owner_id"

    def list_ledgers(self, owner: Owner, *, limit: int, key: str = "") -> list[TradeLedger]:
        """Return one ledger for each owner with a trade of a session. One query."""
        own = Trade.objects.filter(owner=OuterRef("pk"), deployment=None)
        rows = User.objects.filter(Exists(own)).order_by("-pk")
        if owner is not EVERYONE:
            rows = rows.filter(pk=owner.pk)
        if key:
            rows = rows.filter(pk=parse_number(key) or 0)
        said = _("recorded in sessions")
        return [TradeLedger(self.name, str(row.pk), _("Agents"), row.pk, said) for row in rows[:limit]]

    def list_trips(self, owner: Owner) -> "QuerySet[Any]":
        """Return the trades without a deployment."""
        return Trade.objects.for_owner(owner).filter(deployment=None)


TRADE_SOURCES = (DeploymentTrades(), SessionTrades())
