"""The demo's measurements of capital, for operators."""

from decimal import Decimal

from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, delete_rows, read_rows
from profile_app.capital.core import tier_of
from profile_app.capital.models import CapitalMetrics, CapitalReading


class DemoReading(DemoRow):
    """One measurement in USD. `missing` says which part was not read and kept its value."""

    spot_holdings_usd: Decimal
    perp_value_usd: Decimal
    missing: list[str] = []


class CapitalPart(DemoPart[DemoReading]):
    """Measurements; the last one is what an owner has, unless they have one of their own."""

    name, rows = "capital", read_rows(DemoReading, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoReading) -> None:
        at, total = load.ago(row.hours_ago), row.spot_holdings_usd + row.perp_value_usd
        values = row.model_dump(exclude={"hours_ago"}) | {"capital_total_usd": total, "tier": tier_of(total)}
        load.mark(CapitalReading.objects.create(owner=owner, at=at, **values))
        is_last = any(row is rows[-1] for rows in self.rows.values())
        if is_last and not CapitalMetrics.objects.filter(pk=owner.pk).exists():
            moments = {"spot_read_at": at, "perp_read_at": at, "updated_at": at}
            load.mark(CapitalMetrics.objects.create(owner=owner, **values, **moments))

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete the measurements; what an owner has stays where it was measured since."""
        load.marked(CapitalMetrics).filter(updated_at__lte=load.loaded_at).delete()
        return [delete_rows(_("Measurements of capital"), load.marked(CapitalReading))]
