"""Verdicts on items of the review queue: over kinds, all or nothing; what a kind does with one its room says."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.access.principal import Principal
from minara_site.console.quarantine.claims import check_unclaimed, end_claims
from minara_site.kernel.errors import Invalid
from minara_site.shell.review import ReviewKind, Undone
from minara_site.web.filters import Text

Chosen = Mapping[ReviewKind, Sequence[str]]
"""Keys of items by their kind."""


def decide_items(
    chosen: Chosen,
    *,
    accepts: bool,
    principal: Principal,
    note: str,
    now: datetime,
) -> list[Text]:
    """Carry out a verdict and end the claims; return what was done, a sentence a kind.

    Raises Claimed, Invalid for several items of which one is accepted by itself alone, and what `ReviewKind.decide`
    raises.
    """
    ids = [f"{kind.name}-{key}" for kind, keys in chosen.items() for key in keys]
    if accepts and len(ids) > 1 and not all(kind.accepts_together for kind in chosen):
        raise Invalid(_("Accept these items one by one."), code="one_by_one")
    with transaction.atomic():
        check_unclaimed(ids, principal=principal, now=now)
        done = [
            kind.decide(
                keys,
                accepts=accepts,
                principal=principal,
                note=note,
                now=now,
            )
            for kind, keys in chosen.items()
        ]
        end_claims(ids, principal=principal)
    return done


def undo_items(
    chosen: Chosen,
    *,
    principal: Principal,
    now: datetime,
) -> list[tuple[ReviewKind, Undone]]:
    """Undo the verdicts that decided on these items, all or nothing."""
    with transaction.atomic():
        return [
            (
                kind,
                kind.undo(key, principal=principal, now=now),
            )
            for kind, keys in chosen.items()
            for key in keys
        ]
