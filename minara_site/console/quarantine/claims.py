"""Claims: an item that a person has open is theirs for five minutes, by a lease that ends by itself (U-19)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from minara_site.access.actors import name_actors
from minara_site.access.principal import Principal
from minara_site.kernel.errors import Conflict
from minara_site.kernel.jobs.leases import acquire_lease, find_leases, renew_lease
from minara_site.kernel.jobs.models import Lease

CLAIM_SECONDS = 300
PREFIX = "review:"


class Claimed(Conflict):
    """Another person reviews the item."""

    code = "claimed"


@dataclass(frozen=True, slots=True)
class Claim:
    """Who reviews an item, and until when."""

    name: str
    is_own: bool
    ends_at: datetime

    @property
    def text(self) -> str:
        """Return it as the page says it."""
        until = {
            "name": self.name,
            "time": date_format(timezone.localtime(self.ends_at), "H:i"),
        }
        return (_("Yours until %(time)s") if self.is_own else _("%(name)s is reviewing it until %(time)s")) % until


def claim(item_id: str, *, principal: Principal, now: datetime) -> None:
    """Claim an item or renew the claim, unless another person has it; a person reviews one item at a time."""
    name, holder = PREFIX + item_id, principal.actor
    renew, acquire = (
        partial(
            each,
            name,
            holder=holder,
            seconds=CLAIM_SECONDS,
        )
        for each in (renew_lease, acquire_lease)
    )
    with transaction.atomic():
        Lease.objects.filter(name__startswith=PREFIX, holder=holder).exclude(name=name).delete()
        if not renew(now=now):
            acquire(now=now)


def end_claims(item_ids: Iterable[str], *, principal: Principal) -> None:
    """End the claims of a person on items."""
    Lease.objects.filter(
        name__in=[PREFIX + each for each in item_ids],
        holder=principal.actor,
    ).delete()


def find_claims(
    item_ids: Collection[str],
    *,
    principal: Principal,
    now: datetime,
) -> dict[str, Claim]:
    """Return the claims on items by the item's id. Two queries, one where no other person has any."""
    leases = find_leases([PREFIX + each for each in item_ids], now=now)
    names = name_actors({lease.holder for lease in leases.values()}, reader=principal.owner) if leases else {}
    return {
        name.removeprefix(PREFIX): Claim(
            names[lease.holder],
            lease.holder == principal.actor,
            lease.expires_at,
        )
        for name, lease in leases.items()
    }


def check_unclaimed(
    item_ids: Collection[str],
    *,
    principal: Principal,
    now: datetime,
) -> None:
    """Raise Claimed when another person reviews one of these items."""
    for found in find_claims(item_ids, principal=principal, now=now).values():
        if not found.is_own:
            raise Claimed(_("%(claim)s: nothing was changed.") % {"claim": found.text})
