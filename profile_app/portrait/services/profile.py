"""Writes of the financial profile: settings, reference wallets, custom prompt. Source: S3 (financial_profile).

The custom prompt and the summaries are documents: they keep the versions, and what waits; the row has what is in force.
"""

from collections.abc import Sequence
from datetime import datetime

from minara_site.access.models import User
from minara_site.kernel.ownership import lock_owner
from profile_app.documents.core import CUSTOM_PROMPT, PROFILE_SUMMARY
from profile_app.documents.models import Document
from profile_app.portrait.models import FinancialProfile

PLATFORM_SUMMARY, REFERENCE_SUMMARY = "platform_wallet_summary", "reference_wallets_summary"
"""The names of the two summaries, which are the columns' too."""


def lock_profile(owner: User, now: datetime) -> FinancialProfile:
    """Return the owner's row, made where there is none, under the owner's lock. Needs a transaction."""
    lock_owner(owner.pk)
    return get_locked(owner.pk, now)


def get_locked(owner_id: int, now: datetime) -> FinancialProfile:
    """Return the row of an owner who is locked, made where there is none."""
    moments = {"created_at": now, "updated_at": now}
    profile: FinancialProfile = FinancialProfile.objects.get_or_create(owner_id=owner_id, defaults=moments)[0]
    return profile


def copy_texts_in_force(documents: Sequence[Document], *, now: datetime) -> None:
    """Copy the custom prompt and the summaries into the row; documents call it whenever another text is in force."""
    for document in documents:
        column = {CUSTOM_PROMPT: CUSTOM_PROMPT}.get(document.kind, document.name)
        if document.kind == PROFILE_SUMMARY and column not in {PLATFORM_SUMMARY, REFERENCE_SUMMARY}:
            continue
        profile = get_locked(document.owner_id, now)
        setattr(profile, column, document.content)
        profile.updated_at = now
        profile.save(update_fields=[column, "updated_at"])
