"""What people let in: the fences and the pages have to hold without the guard too."""

from django.utils import timezone

from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.console.quarantine.pages import owner_kinds
from minara_site.console.quarantine.services import MAX_BULK, release_holds
from minara_site.kernel.guard.models import Hold


def let_in_everything() -> None:
    """Release every text that the guard holds."""
    operator = Principal(user=User.objects.latest("pk"), role=Role.OPERATOR)
    for hold in Hold.objects.open().filter(kind__in=owner_kinds()).select_related("owner"):
        own = Principal(user=hold.owner, role=Role.USER, is_fresh=True)
        release_holds(principal=own, owner=hold.owner, hold_ids=[hold.pk], now=timezone.now())
    waiting = list(Hold.objects.open().values_list("pk", flat=True))
    for start in range(0, len(waiting), MAX_BULK):
        release_holds(principal=operator, hold_ids=waiting[start : start + MAX_BULK], now=timezone.now())
