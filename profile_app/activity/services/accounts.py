"""Own accounts: added, removed, restored. Source: trades.md (a wallet counts once)."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.vocabulary import AGENT_ACTOR
from minara_site.kernel.errors import Conflict, Refused, invalid_field
from minara_site.kernel.jobs.owner_schedule import nudge
from minara_site.kernel.ownership import owner_locked
from profile_app.activity.core.accounts import MAX_ACCOUNTS, SYNC, AccountSource
from profile_app.activity.models import Account, FillDay, FundingPayment, OwnTrip, PerpsFill, SyncState
from profile_app.activity.selectors import get_account, list_accounts
from profile_app.portrait.core.wallets import AddressProblem, check_address
from profile_app.portrait.services.profile import ADDRESS_PROBLEMS, label_problem

SLICE = 5_000


def add_account(
    *,
    owner: User,
    source: AccountSource,
    address: str,
    label: str,
    actor: str,
    now: datetime,
) -> tuple[Account, bool]:
    """Return the account of an address and whether it is new, or was removed; a second spelling is the same one.

    Raises Invalid for what is no address or label, and for one account too many.
    """
    checked, label = check_address(address.strip()), label.strip()
    if isinstance(checked, AddressProblem):
        raise invalid_field("address", str(ADDRESS_PROBLEMS[checked]))
    if problem := label_problem(label):
        raise invalid_field("label", problem)
    with owner_locked(owner.pk):
        row: Account | None = Account.objects.for_owner(owner).filter(source=source, wallet=checked.lower()).first()
        if row is None:
            row = Account(
                owner=owner, source=source, address=checked, wallet=checked.lower(), actor=actor, created_at=now
            )
        elif row.removed_at is None:
            return row, False
        row.label = label
        store_act("account_added", row, actor=actor, now=now)
    return row, True


def remove_account(*, owner: User, account_id: int, actor: str, now: datetime) -> None:
    """Take an account out of every figure, until it is restored or retention deletes it.

    Raises NotFound, and Refused for a key where a person added it.
    """
    with owner_locked(owner.pk):
        row = get_account(owner=owner, account_id=account_id)
        if actor.startswith(AGENT_ACTOR) and not row.actor.startswith(AGENT_ACTOR):
            problem = _("A person added this account. They can remove it on the page Activity.")
            raise Refused(problem, code="not_editable")
        store_act("account_removed", row, actor=actor, now=now, is_removed=True)


def restore_account(*, owner: User, account_id: int, actor: str, now: datetime) -> None:
    """Bring a removed account back with its fills. Raises NotFound, Conflict when it is there, and Invalid."""
    with owner_locked(owner.pk):
        row = get_account(owner=owner, account_id=account_id, is_removed=True)
        if row.removed_at is None:
            raise Conflict(_("This account was not removed."), code="changed")
        store_act("account_restored", row, actor=actor, now=now)


def store_act(act: str, row: Account, *, actor: str, now: datetime, is_removed: bool = False) -> None:
    """Store an account of a locked owner, record the act without its address, and let it be read.

    Raises Invalid for one account too many; those of the gateway do not count.
    """
    others = list_accounts(owner=row.owner).filter(is_gateways=False)
    if not is_removed and not row.is_gateways and others.count() >= MAX_ACCOUNTS:
        raise invalid_field("address", _("You have %(max)d accounts. Remove one first.") % {"max": MAX_ACCOUNTS})
    row.removed_at = now if is_removed else None
    row.save()
    details = {"id": row.pk, "source": row.source}
    record_audit(now=now, actor=actor, tool_call=act, owner_id=row.owner_id, details=details)
    if not is_removed:
        nudge(SYNC, row.owner_id, now=now)


def purge(*, now: datetime) -> dict[str, int]:
    """Delete accounts that were removed as long ago as deleted memories are kept, with all of their rows, in slices."""
    kept = timedelta(days=settings.MINARA.fin_profile_memory_soft_delete_retention_days)
    expired = list(Account.objects.filter(removed_at__lte=now - kept).order_by("pk"))
    for row in expired:
        account = Account.objects.filter(pk=row.pk, removed_at=row.removed_at)  # not one that is restored meanwhile
        for model in (OwnTrip, PerpsFill, FillDay, FundingPayment):
            rows: Any = model.objects.filter(account__in=account)
            while ids := list(rows.values_list("pk", flat=True)[:SLICE]):
                rows.filter(pk__in=ids).delete()
        if row.source == AccountSource.PERPS and account.exists():
            SyncState.objects.filter(owner=row.owner_id, sub_account_id=row.wallet).delete()
        account.delete()
    return {"deleted": len(expired)}
