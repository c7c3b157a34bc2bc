"""The app's source of round trips: own accounts."""

from typing import Any

from django.db.models import Case, F, OuterRef, QuerySet, Subquery, Value, When
from django.utils.translation import gettext as _

from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import parse_number
from minara_site.kernel.trade_sources import TradeLedger
from profile_app.activity.core.accounts import AccountSource, SyncSource
from profile_app.activity.models import OwnTrip, SyncState
from profile_app.activity.selectors import list_accounts

SHOWN_CHARS = 6


class OwnTrades:
    """What an owner trades in accounts of their own, read from the exchange."""

    name, page, key_field = "accounts", "ledger:trip", "account_id"

    def list_ledgers(self, owner: Owner, *, limit: int, key: str = "") -> list[TradeLedger]:
        """Return the accounts with derivatives, named by their label or the ends of the address. One query."""
        states = SyncState.objects.filter(source=SyncSource.PERPS_FILLS, owner=OuterRef("owner"))
        read_at = states.filter(sub_account_id=OuterRef("sub")).values("last_success_at")[:1]
        rows = list_accounts(owner=owner).filter(source=AccountSource.PERPS).order_by("-created_at", "-pk")
        rows = rows.annotate(sub=Case(When(is_gateways=True, then=Value("")), default=F("wallet")))
        if key:
            rows = rows.filter(pk=parse_number(key) or 0)
        return [
            TradeLedger(
                self.name,
                str(row.pk),
                row.label or f"{row.wallet[:SHOWN_CHARS]}…{row.wallet[-SHOWN_CHARS + 2 :]}",
                row.owner_id,
                _("own account"),
                read_at=row.read_at,
            )
            for row in rows.annotate(read_at=Subquery(read_at))[:limit]
        ]

    def list_trips(self, owner: Owner) -> "QuerySet[Any]":
        """Return the trips of accounts that were not removed."""
        return OwnTrip.objects.for_owner(owner).filter(account__removed_at__isnull=True)


TRADE_SOURCES = (OwnTrades(),)
